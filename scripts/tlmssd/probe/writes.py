"""What writes by size show: the unit that is written anew as a whole.

Below the mapped unit (of the map, or a block-mapped region, which Ryu & Park call a
management block) every write costs a whole one, so that commands per second stay the same; from it
on bytes per second do.
"""

import math
from collections.abc import Sequence
from dataclasses import replace

from tlmssd.probe.findings import LIKELY, SURE, WEAK, Curve, Finding, not_visible
from tlmssd.probe.results import Results
from tlmssd.quantities import quantity_text

THROUGH = 1.5
"""A single write that takes so many times as long as a read has waited for its program."""
BEND = 0.4
"""Growth of the bandwidth per doubling of the size is 1 below the unit (in proportion) and less
from there on: by so much at least."""
HALF, CLEAR = 0.55, 0.35
"""Growth just beyond the unit: with more than the first the next size is nearer to it; with less
than the second, and as near to 1 before, it is clear."""
HELD = 0.8
"""Random writes of this share of the fastest bandwidth do not wait for flash."""
MOST_UNIT = 64 * 1024
"""Of mapping, in B, that is usual."""
STILL, MORE = 0.75, 1.7
"""Beyond the unit bandwidth grows by the second in all, or nowhere by the first per doubling."""


def grain_finding(results: Results, command_rate: float) -> Finding:
    """The unit that is written as a whole; `command_rate`: reads per second at most."""
    points = results.group("grain")
    key, what = "grain", "unit that is written as a whole (mapping page or block-mapped region)"
    points = sorted(points, key=lambda point: point.numbers[0])
    if len(points) < 4:
        return not_visible(key, what, "the random writes by size were not run")
    sizes = [point.numbers[0] for point in points]
    rates = [point.bandwidth for point in points]
    data = {"random writes": list(zip(sizes, rates, strict=True))}
    slopes = [math.log2(after / before) for before, after in zip(rates, rates[1:], strict=False)]
    title = "Random writes, 32 at a time"
    curve = Curve(title, "size", "bandwidth", data, y_unit="B/s")
    place = _bend(slopes, rates)
    if place is None and max(slopes) > 1 - BEND:
        why = (
            "bandwidth grows with the size, but nowhere in proportion up to a size and then no more"
        )
        return not_visible(key, what, why, curve)
    if place is None:
        evidence = f"bandwidth hardly depends on the size from {quantity_text(sizes[0], 'B')} on"
        mark = replace(curve, marks=(sizes[0],))
        value = sizes[0]
        into = max((point.bandwidth for point in results.group("burst")), default=math.inf)
        if max(rates[:2]) < HELD * into:
            return Finding(key, what, value, "B", LIKELY, evidence, 0.0, value, mark)
        evidence += (
            ", as fast as the host can write at all: flash does not show, and it may be more"
        )
        return Finding(key, what, value, "B", WEAK, evidence, 0.0, MOST_UNIT, mark)
    partly = slopes[place + 1] > HALF
    grain = sizes[place + 1 + partly]
    curve = replace(curve, marks=(grain,))
    evidence = (
        f"up to {quantity_text(sizes[place + 1], 'B')} each doubling of the size gives "
        f"{2 ** slopes[place]:.2f} times the bandwidth, from there on "
        f"{2 ** slopes[place + 1]:.2f} times"
    )
    weak = ""
    if points[place].iops > 0.8 * command_rate > 0:
        weak = "below it commands are as many as the drive can take at all"
    elif written_through(results):
        weak = "a write that waits for flash may cost a whole page, whatever the map's unit"
    elif partly or slopes[place] < 1 - CLEAR:
        weak = "it bends by and by"
    if weak:
        evidence = f"{evidence}; {weak}: it may be less"
        return Finding(key, what, grain, "B", WEAK, evidence, 0.0, 2 * grain, curve)
    clear = slopes[place + 1] < CLEAR and 1 - CLEAR < slopes[place] < 1 + CLEAR
    sure = SURE if clear and min(slopes[: place + 1]) > 1 - BEND else LIKELY
    return Finding(key, what, grain, "B", sure, evidence, grain, grain, curve)


def _bend(slopes: Sequence[float], rates: Sequence[float]) -> int | None:
    """The first place where bandwidth that grew with the size (1: in proportion) grows no more."""
    for place, (before, after) in enumerate(zip(slopes, slopes[1:], strict=False)):
        again = max(slopes[place + 1 :]) > STILL and max(rates) > MORE * rates[place + 1]
        if before > 1 - BEND and before - after > BEND and not again:
            return place
    return None


def written_through(results: Results) -> bool:
    """Whether the fastest of all writes takes longer than a read, as flash does."""
    writes = [point.percentile(50) for point in results.group("single")]
    writes += [point.least for point in results.group("burst")]
    read = min((point.percentile(50) for point in results.group("size")), default=math.nan)
    return bool(writes) and min(writes) > THROUGH * read
