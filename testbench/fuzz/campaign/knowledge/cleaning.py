"""Garbage collection, wear levelling, refresh, and where refreshed data go."""

_US, _MS, _S = 10**6, 10**9, 10**12


def draw(d):
    gc = "firmware.gc"
    if d.chance(0.6) and not d.facts.has_logs:
        d.choose(gc)
    low = d.pick(0, 0.1, 0.3, 0.6)
    if d.chance(0.5):
        d.put(gc, "background_start", low)
        d.put(gc, "background_stop", min(1, low + d.pick(0, 0.1, 0.3)))
    d.facts.idle_after = d.put(gc, "idle_after", d.pick(1, _US, 10 * _US, 5 * _MS, _S)) if d.chance(0.3) else 0
    d.section(gc, 0.2, leave=("background_start", "background_stop", "idle_after"), low_water=[1, 2, 3],
              window=[1, 4, 64])
    if d.chance(0.5):
        d.choose("firmware.wear")
    d.section("firmware.wear", 0.5, threshold=[1, 2, 8, 64])
    if d.chance(0.3):
        d.choose("firmware.refresh")
    d.section("firmware.refresh", 0.4, reads=[0, 20, 500, 100000], patrol=[0, 3600, 86400, 10**6],
              region_reads=[10, 200, 50000], errors=[0, 1, 30])
    if d.policy("firmware.refresh") != "none" and d.facts.by_page and d.chance(0.4):
        d.choose("firmware.placement")
    d.section("firmware.placement", 0.4)
