"""What writes inside a region show: the unit that is written anew as a whole, and the write buffer.

By size: below the mapped unit (of the map, or a block-mapped region, which Ryu & Park call a
management block) every write costs a whole one, so that commands per second stay the same; from it
on bytes per second do.
Bursts after a rest run at the host's speed until the buffer is full, and at that of the flash from
there on.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from tlmssd.latency import Histogram
from tlmssd.probe.findings import LIKELY, SURE, WEAK, Curve, Finding, not_visible
from tlmssd.probe.results import Point, Results
from tlmssd.quantities import quantity_text

DEPTH = 8
"""Queue depth of the bursts."""
LEAST_COMMANDS = 64
"""Smaller bursts are over before there are 8 at a time."""
SLOWER = 1.25
"""Writes that take this much longer than those into an empty buffer wait for room."""
STEADY = 1.04
"""Two pieces of a burst go at one speed when they differ by less."""
THROUGH = 1.5
"""A single write that takes so many times as long as a read has waited for its program."""
FEW = 0.15
"""Slow writes that take less than this share of the time are no sign of a full buffer."""
CLOSE = 0.7
"""Flash that is nearly as fast as the host leaves little to see of the buffer."""
MOST_SHARE = 0.1
"""Of the capacity: what is slower only behind so many bytes waits for collection."""
FAST_HOST = 2e9
"""Bytes per second that may take the drive's memory from its flash."""
LEAST_STRIPES = 4
"""A buffer of fewer stripes is not told from what the dies are programming."""
BEND = 0.4
"""Growth of the bandwidth per doubling of the size is 1 below the unit (in proportion) and less
from there on: by so much at least."""
HALF, CLEAR = 0.55, 0.35
"""Growth just beyond the unit: with more than the first the next size is nearer to it; with less
than the second, and as near to 1 before, it is clear."""
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
        return Finding(key, what, value, "B", LIKELY, evidence, 0.0, value, mark)
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
    elif _written_through(results):
        weak = "a write that waits for flash may cost a whole page, whatever the map's unit"
    elif partly or slopes[place] < 1 - CLEAR:
        weak = "it bends by and by"
    if weak:
        evidence = f"{evidence}; {weak}: it may be less"
        return Finding(key, what, grain, "B", WEAK, evidence, 0.0, grain, curve)
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


def _written_through(results: Results) -> bool:
    """Whether the fastest of all writes takes longer than a read, as flash does."""
    writes = [point.percentile(50) for point in results.group("single")]
    writes += [point.least for point in results.group("burst")]
    read = min((point.percentile(50) for point in results.group("size")), default=math.nan)
    return bool(writes) and min(writes) > THROUGH * read


def buffer_findings(results: Results, stripe: float) -> list[Finding]:
    """Size of the write buffer, and what ends a write; `stripe` in B, 0 where it is not known."""
    names = ("buffer", "write buffer"), ("policy", "what ends a write")
    long, short = _bursts(results, "burst"), _bursts(results, "short")
    if len(long) < 4:
        return [not_visible(key, what, "the bursts were not run") for key, what in names]
    data = {"bursts": [(point.bytes, point.mean) for point in long]}
    curve = Curve("Bursts after a rest, 8 at a time", "size", "mean latency", data)
    single = min((point.percentile(50) for point in results.group("single")), default=math.nan)
    through = _written_through(results)
    took = f"a single write after a rest takes {quantity_text(single, 'ns')}"
    policy = Finding(*names[1], "write-back", "", SURE, f"{took}: it is not in flash yet")
    fill = _filling(long)
    if fill is None or fill.knee < long[0].bytes:
        small = _filling(short)
        fill = small if small and small.fast > 2 * small.slow else fill
    most = MOST_SHARE * _capacity(results)
    if fill and fill.knee > most:
        fill = None
    if through or fill is None:
        why = "writes of a burst take the same time whatever its size: no buffer fills up"
        if most < long[-1].bytes:
            why += f", or only behind {quantity_text(most, 'B')}"
        if through:
            why = "a write waits until its data are in flash"
        if not through:
            return [not_visible(*names[0], f"{why} within {_largest(long)}", curve), policy]
        policy = Finding(*names[1], "write-through", "", LIKELY, f"{why}, and {took}")
        return [not_visible(*names[0], why, curve), policy]
    return [_buffer_size(fill, stripe, curve), policy]


@dataclass(frozen=True)
class _Filling:
    """Bursts that fill a buffer: so many bytes go in fast (`knee`), at `fast` bytes per second, the
    rest at `slow`; `room`: what went in beyond what flash had taken."""

    knee: float
    fast: float
    slow: float
    room: float


def _bursts(results: Results, name: str) -> list[Point]:
    points = sorted(results.group(name), key=lambda point: point.numbers[0])
    return [point for point in points if point.commands >= LEAST_COMMANDS]


def _capacity(results: Results) -> float:
    """Of the drive, where a job's name says it."""
    for group, place in (("cliff", 3), ("spare", 1)):
        for point in results.group(group):
            return point.numbers[place]
    return math.inf


def _largest(bursts: Sequence[Point]) -> str:
    return quantity_text(bursts[-1].bytes, "B")


def _filling(bursts: Sequence[Point]) -> _Filling | None:
    """What bursts show of a buffer that fills up; None where none does.

    Where longer bursts go on at one speed, their times by size lie on a line, which meets no time
    at all where the room of the buffer lies: whatever the course of single writes. Else (collection
    sets in, or a pSLC ends) the fast and the slow writes of the first burst that has both tell it.
    """
    if len(bursts) < 3:
        return None
    waits = [float(point.histogram.counts[_slow(bursts, point)].sum()) for point in bursts]
    shares = [wait / point.commands for wait, point in zip(waits, bursts, strict=True)]
    # From the first that fills it on, ever more writes wait; those that wait for something else at
    # the beginning of a burst become a smaller share.
    later = [place for place, one in enumerate(shares) if one and min(shares[place:]) > 0.9 * one]
    if not later:
        return None
    first = later[0]
    size = np.array([point.bytes for point in bursts])
    time = np.array([point.commands * point.mean / DEPTH * 1e-9 for point in bursts])
    each = size[0] / bursts[0].commands
    fast = DEPTH * each / _fast_latency(bursts) * 1e9
    slopes = np.diff(size) / np.diff(time)
    steady = slopes[first : first + 2]
    if len(steady) == 2 and steady.max() < STEADY * steady.min() and fast > SLOWER * steady.max():
        slow = float(steady.mean())
        room = float(size[first] - slow * time[first])
        if 0 < room < size[first]:
            return _Filling(room / (1 - slow / fast), fast, slow, room)
    point = bursts[first]
    late = _slow(bursts, point)
    latency, counts = point.histogram.latency_ns[late], point.histogram.counts[late]
    usual = latency <= 2 * _middle(Histogram(latency, counts))
    slow = DEPTH * each / float(np.average(latency[usual], weights=counts[usual])) * 1e9
    knee = float(point.bytes - counts.sum() * each)
    return _Filling(knee, fast, slow, knee * (1 - slow / fast))


def _fast_latency(bursts: Sequence[Point]) -> float:
    """What a write takes that finds room, in ns: the usual one of the smallest bursts, or where
    these fill the buffer already, that of their fast ones."""
    usual = float(np.median([_middle(point.histogram) for point in bursts[:3]]))
    early = bursts[0].percentile(25)
    return early if usual > 2 * early else usual


def _middle(histogram: Histogram) -> float:
    """The bin of the median, in ns: not between two bins, of which one may hold all writes."""
    place = np.searchsorted(np.cumsum(histogram.counts), 0.5 * histogram.commands)
    return float(histogram.latency_ns[place])


def _slow(bursts: Sequence[Point], point: Point) -> np.ndarray:
    """Which latencies of a burst's histogram are of writes that wait for room; none where these are
    few."""
    histogram = point.histogram
    late = histogram.latency_ns > SLOWER * _fast_latency(bursts)
    took = histogram.latency_ns * histogram.counts
    few = took[late].sum() < FEW * took.sum() or histogram.counts[late].sum() < 12
    return np.zeros_like(late) if few else late


def _buffer_size(fill: _Filling, stripe: float, curve: Curve) -> Finding:
    """What flash is programming still occupies its place: about a stripe."""
    key, what = "buffer", "write buffer"
    size = fill.room + stripe
    marked = replace(curve, marks=(fill.knee,))
    rates = [quantity_text(rate, "B/s") for rate in (fill.fast, fill.slow)]
    evidence = (
        f"{quantity_text(fill.knee, 'B')} of a burst go in at {rates[0]}, the rest at {rates[1]}; "
        "what flash takes meanwhile is deducted"
    )
    share = fill.slow / fill.fast
    if size < LEAST_STRIPES * stripe * (2 if share > 0.5 else 1):
        why = f"{evidence}: hardly more than what the dies are programming is left"
        return not_visible(key, what, why, marked)
    details = {"knee": fill.knee, "fast": fill.fast, "slow": fill.slow}
    sure = SURE if share < 0.1 and size > 8 * stripe else LIKELY
    high = max(1.08 * size, fill.knee) if share < 0.3 else 1.15 * size
    if share > CLOSE or (share > 0.25 and not stripe):
        sure = WEAK
    elif share > 0.1 and fill.fast > FAST_HOST:
        sure = LIKELY if share < 0.3 else WEAK
        evidence += ", unless so fast a host keeps flash from the drive's memory"
        high = fill.knee
    return Finding(key, what, size, "B", sure, evidence, 0.92 * size, high, marked, details)
