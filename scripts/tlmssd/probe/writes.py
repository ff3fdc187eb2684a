"""What writes inside a region show: the unit that is written anew as a whole, and the write buffer.

By size: below the mapped unit (of the map, or a block-mapped region, which Ryu & Park call a
management block) every write costs a whole one, so that commands per second stay the same; from it
on bytes per second do.
Bursts after a rest run at the host's speed until the buffer is full, and at that of the flash from
there on.
"""

import math
from collections.abc import Sequence

import numpy as np

from tlmssd.probe.findings import LIKELY, SURE, WEAK, Curve, Finding, not_visible
from tlmssd.probe.results import Point, Results
from tlmssd.quantities import quantity_text

DEPTH = 8
"""Queue depth of the bursts."""
LEAST_COMMANDS = 64
"""Smaller bursts are over before there are 8 at a time."""
SLOWER = 1.25
"""Writes that take this much longer than those into an empty buffer wait for room."""
BEND = 0.4
"""Growth of the bandwidth per doubling of the size is 1 below the unit (in proportion) and less
from there on: by so much at least."""


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
    bends = [
        before - after if before > 1 - BEND else 0.0
        for before, after in zip(slopes, slopes[1:], strict=False)
    ]
    place = int(np.argmax(bends))
    title = "Random writes, 32 at a time"
    if max(slopes) > 1 - BEND and bends[place] < BEND:
        why = f"bandwidth still grows at {quantity_text(sizes[-1], 'B')}, the largest size"
        return not_visible(key, what, why, Curve(title, "size", "bandwidth", data, y_unit="B/s"))
    if bends[place] < BEND:
        evidence = f"bandwidth hardly depends on the size from {quantity_text(sizes[0], 'B')} on"
        mark = Curve(title, "size", "bandwidth", data, (sizes[0],), y_unit="B/s")
        value = sizes[0]
        return Finding(key, what, value, "B", LIKELY, evidence, 0.0, value, mark)
    grain = sizes[place + 1]
    curve = Curve(title, "size", "bandwidth", data, (grain,), y_unit="B/s")
    limited = points[place].iops > 0.8 * command_rate > 0
    evidence = (
        f"up to {quantity_text(grain, 'B')} each doubling of the size gives "
        f"{2 ** slopes[place]:.2f} times the bandwidth, from there on "
        f"{2 ** slopes[place + 1]:.2f} times"
    )
    if limited:
        evidence += "; below it commands are as many as the drive can take at all: it may be less"
        return Finding(key, what, grain, "B", WEAK, evidence, 0.0, grain, curve)
    sure = SURE if slopes[place] - slopes[place + 1] > 0.5 else LIKELY
    return Finding(key, what, grain, "B", sure, evidence, grain, grain, curve)


def buffer_findings(results: Results, stripe: float) -> list[Finding]:
    """Size of the write buffer, and what ends a write; `stripe` in B, 0 where it is not known."""
    names = ("buffer", "write buffer"), ("policy", "what ends a write")
    bursts = sorted(results.group("burst"), key=lambda point: point.numbers[0])
    bursts = [point for point in bursts if point.commands >= LEAST_COMMANDS]
    if len(bursts) < 4:
        return [not_visible(key, what, "the bursts were not run") for key, what in names]
    fast_latency = float(np.median([point.percentile(50) for point in bursts[:3]]))
    slow_latency = _slow_latency(bursts, fast_latency)
    data = {"bursts": [(point.bytes, point.mean) for point in bursts]}
    title = "Bursts after a rest, 8 at a time"
    single = min((point.percentile(50) for point in results.group("single")), default=math.nan)
    took = quantity_text(single, "ns")
    if slow_latency is None:
        curve = Curve(title, "size", "mean latency", data)
        why = "writes of a burst take the same time whatever its size: no buffer fills up"
        through = f"{why}, and a single write takes {took} even after a rest"
        return [
            not_visible(*names[0], why, curve),
            Finding(*names[1], "write-through", "", LIKELY, through),
        ]
    size, knee = _size(bursts, fast_latency, slow_latency, stripe)
    curve = Curve(title, "size", "mean latency", data, (knee,))
    each = bursts[0].bytes / bursts[0].commands
    both = (fast_latency, slow_latency)
    rates = [quantity_text(DEPTH * each / latency * 1e9, "B/s") for latency in both]
    evidence = (
        f"{quantity_text(knee, 'B')} of a burst go in at {rates[0]}, the rest at {rates[1]}; "
        "what flash takes meanwhile is deducted"
    )
    done = f"a single write after a rest takes {took}: it is not in flash yet"
    details = {"knee": knee, "fast": fast_latency, "slow": slow_latency}
    sure = SURE if slow_latency > 2 * fast_latency else LIKELY
    return [
        Finding(*names[0], size, "B", sure, evidence, 0.92 * size, 1.08 * size, curve, details),
        Finding(*names[1], "write-back", "", SURE, done),
    ]


def _size(bursts: Sequence[Point], fast: float, slow: float, stripe: float) -> tuple[float, float]:
    """The buffer, and how much of a burst goes in fast: from the bursts just beyond that.

    Flash takes some of it while it comes, but what it is programming still occupies its place:
    about a stripe. Later bursts may find a buffer that has not emptied yet.
    """
    border = math.sqrt(fast * slow)
    went_in = []
    for point in bursts:
        inside = point.count_below(border) * point.bytes / point.commands
        if inside < 0.97 * point.bytes:
            went_in.append(inside)
    knee = float(np.median(went_in[:3]))
    return knee * max(1 - fast / slow, 0.05) + stripe, knee


def _slow_latency(bursts: Sequence[Point], fast: float) -> float | None:
    """What a write takes that waits for room: the mean of the slow ones of the first burst that has
    enough of them; None when no burst has."""
    for point in bursts:
        slow = point.histogram.latency_ns > SLOWER * fast
        latency, counts = point.histogram.latency_ns[slow], point.histogram.counts[slow]
        if counts.sum() > 0.25 * point.commands:
            return float(np.average(latency, weights=counts))
    return None
