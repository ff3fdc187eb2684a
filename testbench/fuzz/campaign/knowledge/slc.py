"""Blocks in SLC mode, and what may use them: promotion; beside them replicas and partitions."""

import math


def draw(d):
    f, pslc = d.facts, "firmware.pslc"
    possible = f.has_slc and f.by_page and not f.striped and f.bits > 1
    if possible and d.chance(0.6):
        d.choose(pslc)
    f.pslc = d.policy(pslc) != "none"
    if f.pslc:
        # A group's block in SLC mode, in every group.
        block = f.groups * f.group_planes * (f.pages // f.bits) * f.page
        kinds = d.pick(("static",), ("dynamic",), ("static", "dynamic"))
        if "static" in kinds:
            d.put(pslc, "static", block * d.whole(1, 2))
        if "dynamic" in kinds:
            d.put(pslc, "dynamic", block * d.whole(1, 8) if d.chance(0.7) else 0.1)
        below = d.pick(0, 0.1, 0.5)
        if d.chance(0.4):
            d.put(pslc, "fold_below", below)
            d.put(pslc, "fold_until", min(1, below + d.pick(0.1, 0.2)))
        d.section(pslc, 0.25, leave=("fold_below", "fold_until", "static", "dynamic", "full_until", "gone_at",
                                     "of_free_space", "fold_by", "cold_from", "cold_until"))
        if d.chance(0.3):
            d.put(pslc, "full_until", d.pick(0, 0.2, 0.5))
            d.put(pslc, "gone_at", d.pick(0.5, 0.75, 2))
        if d.chance(0.3):
            most = f.pages / (f.pages - f.pages // f.bits)
            d.put(pslc, "of_free_space", d.pick(0, 0.5, 1, math.floor(1e4 * most) / 1e4))
        if d.policy(pslc) == "cold-bypass" and d.chance(0.6):
            d.put(pslc, "cold_from", d.pick(0, 0.3))
            d.put(pslc, "cold_until", d.pick(0.6, 1))
        if d.chance(0.3):
            d.put(pslc, "fold_by", "copyback" if d.policy("firmware.ecc") == "none" else "controller")
        if d.chance(0.4):
            d.choose("firmware.pslc.promotion")
    else:
        d.leave_out(pslc)
    _draw_pacing(d)
    d.section("firmware.pslc.promotion", 0.4, keep_free=[0.5, 0.8, 1], reads=[1, 2, 5])
    _draw_copies(d)


def _draw_pacing(d):
    """Refused where collection in the background has too few spare blocks, of which nothing is known here."""
    if d.policy("firmware.pslc") == "none" and d.policy("firmware.mapping") in ("page", "dftl"):
        if d.chance(0.15):
            d.choose("firmware.pacing")
        d.section("firmware.pacing", 0.4)
    else:
        d.leave_out("firmware.pacing")


def _draw_copies(d):
    f = d.facts
    dies = f.channels * f.ways * f.dies_per_way
    several = dies > 1 and not f.striped and d.policy("firmware.mapping") == "page"
    for path, reads in (("firmware.replicas", [1, 2, 3]), ("firmware.partition", [1, 2])):
        if several and d.chance(0.15):
            d.choose(path)
        d.section(path, 0.4, reads=reads, capacity=[n * 3 * 16384 for n in (2, 4, 16, 40)],
                  read_dies=[0.5, 0.34 if dies > 2 else 0.5, 0.75 if dies > 3 else 0.5])
    if d.policy("firmware.replicas") != "none" and not d.has("firmware.replicas", "capacity"):
        d.put("firmware.replicas", "capacity", 2**18 * 3)
