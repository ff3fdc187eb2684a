"""Placement handles, and the loads that use them."""


def draw(d):
    """After blocks in SLC mode and the cache, which they do not go with. Refused where a parallel unit has too few
    blocks for all that are open, of which nothing is known here."""
    f, streams = d.facts, "firmware.streams"
    f.handles = 1
    possible = d.policy("firmware.pslc") == "none" and d.policy("firmware.mapping") in ("page", "dftl") \
        and d.policy("firmware.cache") == "none"
    if not possible or not d.chance(0.25):
        d.leave_out(streams)
        return
    mixed = d.policy("firmware.wear") == "static" or any(
        d.policy(path) != "none" for path in ("firmware.placement", "firmware.partition", "firmware.replicas"))
    d.choose(streams, "initially-isolated", *(() if mixed else ("persistently-isolated",)))
    f.handles = d.put(streams, "handles", d.pick(2, 2, 3, 4))
    least = (f.handles + 1) * f.program_bytes * f.lanes
    if least > f.buffer:
        f.buffer = d.put("firmware.buffer", "capacity", least * d.pick(1, 2))


def draw_load(d, path):
    """The handle of a load's writes. Two volumes are the most that a trace of the campaign has."""
    if d.facts.handles == 1 or not d.chance(0.6):
        return
    last = d.facts.handles - 1
    ranges = f"0-50%:{last},50%-100%:{d.whole(0, last)}"
    volume = ["volume"] if d.has(path, "trace") else []
    d.put(path, "stream", d.pick(str(last), str(d.whole(0, last)), ranges, *volume))
