"""Data that the host writes more than once, and reads redirected to where the same data lie."""


def draw(d):
    """After what it does not go with, the capacity and the host's software."""
    f = d.facts
    if f.log_structured or f.file_cache or not d.chance(0.25):
        d.leave_out("contents")
    else:
        d.put("contents", "duplicates", d.pick(0, 0.1, 0.5, 0.9, 1))
        d.section("contents", 0.7, pool=[1, 3, 20, 300, 4095], theta=[0, 0.8, 1, 2])
    _draw_redirection(d)


def _draw_redirection(d):
    f, redirection = d.facts, "firmware.redirection"
    several = f.channels * f.ways * f.dies_per_way > 1 and not f.striped and d.policy("firmware.mapping") == "page"
    alone = all(d.policy(path) == "none" for path in ("firmware.replicas", "firmware.parity"))
    if not several or not alone or not d.chance(0.3):
        d.leave_out(redirection)
        return
    d.choose(redirection, "duplicates", "selective")
    d.put(redirection, "contents", d.pick(1, 8, 100))
    d.put(redirection, "places", d.pick(1, 30, 1000))
    d.put(redirection, "list", d.pick(1, 50, 1000))
    if d.policy(redirection) == "selective":
        d.put(redirection, "capacity", d.pick(4, 16, 40) * 3 * 16384)
    d.section(redirection, 0.4, leave=("capacity",), writes=[1, 2, 5], uses=[0, 1, 20], dies=[2, 3, 16], hash_time=[0, 10**6, 10**9],
              hash_queue=[0, 4, 1000], content_entry=[1, 32], place_entry=[1, 12])
