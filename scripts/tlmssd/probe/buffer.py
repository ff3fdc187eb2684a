"""The write buffer, from bursts of writes, and what ends a write.

Bursts after a rest run at the host's speed until the buffer is full, and at that of the flash from
there on. What has gone in by then (the knee), less what flash took meanwhile, is the buffer. How
much it took shows behind the knee, unless the host is so fast that it keeps flash from the drive's
memory until then: bursts at a pace leave room for it. Where the pace and what flash takes are
together no more than the host moved alone, neither waits for the other.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from tlmssd.latency import Histogram
from tlmssd.probe.findings import LIKELY, SURE, WEAK, Curve, Finding, not_visible
from tlmssd.probe.results import Point, Results
from tlmssd.probe.writes import written_through
from tlmssd.quantities import quantity_text

DEPTH = 8
"""Queue depth of the bursts."""
LEAST_COMMANDS = 64
"""Smaller bursts are over before there are 8 at a time."""
SLOWER = 1.25
"""Writes that take this much longer than those into an empty buffer wait for room."""
STEADY = 1.04
"""Two pieces of a burst go at one speed when they differ by less."""
OFTEN = 0.85
"""Usual slow writes that would be faster than all of them by more than this are what tells."""
FEW = 0.15
"""Slow writes that take less than this share of the time are no sign of a full buffer."""
CLOSE, CLOSE_UNSTEADY = 0.7, 0.5
"""Flash that is nearly as fast as the host leaves little to see of the buffer; and less where it
gets slower and slower, as it does when collection begins."""
MOST_SHARE = 0.05
"""Of the capacity: what is slower only behind so many bytes waits for collection. Real buffers are
a thousandth of their drives."""
LASTING = 0.5
"""Behind a full buffer this share of the writes waits, in every longer burst."""
FAST_HOST = 2e9
"""Bytes per second that may take the drive's memory from its flash."""
BEHIND, BEYOND = 1.1, 1.5
"""A paced burst that takes this much longer than its pace asks for has filled the buffer; it has
written on for long enough when it is this much larger than what went in at the pace."""
PACE_SHARE = 0.5
"""Of a pace that flash may take at most: the nearer it is, the less exact is what is left."""
AGREE = 1.12
"""Two paces agree on a buffer when they differ by less."""
SLOW = 0.1
"""Flash that takes less than this share of what the host writes can not put the buffer far off."""
EXACT = 0.08
"""Relative error of a buffer whose knee and flash are known."""
LEAST_STRIPES = 4
"""A buffer of fewer stripes is not told from what the dies are programming."""


def buffer_findings(results: Results, stripe: float) -> list[Finding]:
    """Size of the write buffer, and what ends a write; `stripe` in B, 0 where it is not known."""
    names = ("buffer", "write buffer"), ("policy", "what ends a write")
    long, short = _bursts(results, "burst"), _bursts(results, "short")
    if len(long) < 4:
        return [not_visible(key, what, "the bursts were not run") for key, what in names]
    data = {"bursts": [(point.bytes, point.mean) for point in long]}
    curve = Curve("Bursts after a rest, 8 at a time", "size", "mean latency", data)
    single = min((point.percentile(50) for point in results.group("single")), default=math.nan)
    through = written_through(results)
    took = f"a single write after a rest takes {quantity_text(single, 'ns')}"
    policy = Finding(*names[1], "write-back", "", SURE, f"{took}: it is not in flash yet")
    most = MOST_SHARE * _capacity(results)
    fill = _shown(long, long, most)
    if fill is None or fill.knee < long[0].bytes:
        small = _shown(short, long, most)
        fill = small if small and small.fast > 2 * small.slow else fill
    if through or fill is None:
        why = "writes of a burst do not get slower for good behind some size: no buffer fills up"
        if most < long[-1].bytes:
            why += f", or only behind {quantity_text(most, 'B')}"
        if through:
            why = "a write waits until its data are in flash"
        if not through:
            return [not_visible(*names[0], f"{why} within {_largest(long)}", curve), policy]
        policy = Finding(*names[1], "write-through", "", LIKELY, f"{why}, and {took}")
        return [not_visible(*names[0], why, curve), policy]
    return [_buffer_size(fill, _paced_rooms(results, fill), stripe, curve), policy]


@dataclass(frozen=True)
class _Filling:
    """Bursts that fill a buffer: so many bytes go in fast (`knee`), at `fast` bytes per second, the
    rest at `slow`, which stays the same or not (`steady`); `room`: what went in beyond what flash
    had taken."""

    knee: float
    fast: float
    slow: float
    room: float
    steady: bool


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


def _shown(bursts: Sequence[Point], others: Sequence[Point], most: float) -> _Filling | None:
    """What bursts show of a buffer of at most so many bytes; None where they show none. `others`
    tell whether writes go on waiting where it takes all of these."""
    for fill in _fillings(bursts):
        longer = bursts if BEYOND * fill.knee < bursts[-1].bytes else others
        if fill.knee <= most and _lasts(fill, longer):
            return fill
    return None


def _fillings(bursts: Sequence[Point]) -> Iterator[_Filling]:
    """What each burst that may be the first to fill the buffer shows of it; the first of all may
    only have met something else, such as a batch of programs.

    From the one that fills it on, ever more writes wait; those that wait for something else at the
    beginning of a burst become a smaller share.
    """
    if len(bursts) < 3:
        return
    shares = _waiting(bursts)
    later = [place for place, one in enumerate(shares) if one and min(shares[place:]) > 0.9 * one]
    for number, place in enumerate(later):
        if number == 0 or place + 2 < len(bursts):
            yield _filling(bursts, later[number:])


def _filling(bursts: Sequence[Point], later: Sequence[int]) -> _Filling:
    """The same of the first of `later`, the places of bursts in which writes wait.

    Where longer bursts go on at one speed, their times by size lie on a line, which meets no time
    at all where the room of the buffer lies: whatever the course of single writes. Else (collection
    sets in, or a pSLC ends) the fast and the slow writes of the first burst that has both tell it.
    """
    size = np.array([point.bytes for point in bursts])
    time = np.array([point.commands * point.mean / DEPTH * 1e-9 for point in bursts])
    each = size[0] / bursts[0].commands
    fast = DEPTH * each / _fast_latency(bursts) * 1e9
    slopes = np.diff(size) / np.diff(time)
    first = later[0]
    steady = slopes[first : first + 2]
    if len(steady) == 2 and steady.max() < STEADY * steady.min() and fast > SLOWER * steady.max():
        slow = float(steady.mean())
        room = float(size[first] - slow * time[first])
        if 0 < room < size[first]:
            return _Filling(room / (1 - slow / fast), fast, slow, room, True)
    found = _by_writes(bursts, bursts[first], float(time[first]), fast)
    if found.slow > CLOSE * fast and len(later) > 1 and slopes[first] < found.slow / 2:
        # This one has only just filled it.
        found = _by_writes(bursts, bursts[later[1]], float(time[later[1]]), fast)
    return found


def _by_writes(bursts: Sequence[Point], point: Point, seconds: float, fast: float) -> _Filling:
    """What the fast and the slow writes of one burst tell."""
    each = point.bytes / point.commands
    late = _slow(bursts, point)
    latency, counts = point.histogram.latency_ns[late], point.histogram.counts[late]
    rest = float(counts.sum()) * each
    knee = point.bytes - rest
    slow = rest / (seconds - knee / fast)
    # Few that take very long wait for something else.
    usual = latency <= 2 * _middle(Histogram(latency, counts))
    often = DEPTH * each / float(np.average(latency[usual], weights=counts[usual])) * 1e9
    slow = slow if slow > OFTEN * often else often
    return _Filling(knee, fast, slow, knee * (1 - slow / fast), False)


def _waiting(bursts: Sequence[Point]) -> list[float]:
    """Shares of the writes of each burst that wait for room."""
    return [
        float(point.histogram.counts[_slow(bursts, point)].sum()) / point.commands
        for point in bursts
    ]


def _lasts(fill: _Filling, bursts: Sequence[Point]) -> bool:
    """Whether writes wait behind the knee in longer bursts as well, nearly all of them. Where only
    some do, a full buffer is not what they wait for: a batch of programs, the map's pages."""
    shares = zip(bursts, _waiting(bursts), strict=True)
    longer = [(point, share) for point, share in shares if point.bytes > BEYOND * fill.knee][:3]
    return all(share > LASTING * (1 - fill.knee / point.bytes) for point, share in longer)


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


def _paced_rooms(results: Results, fill: _Filling) -> list[float]:
    """The buffer as bursts at a pace show it, in B, of the fastest pace first: only of those that
    leave flash the drive's memory, and that are clearly faster than it."""
    by_pace: dict[float, list[Point]] = {}
    for point in sorted(results.group("paced"), key=lambda point: point.numbers):
        by_pace.setdefault(point.numbers[0], []).append(point)
    rooms = []
    for pace, points in sorted(by_pace.items(), reverse=True):
        full = [
            _full(point, pace) for point in points if point.seconds * pace > BEHIND * point.bytes
        ]
        enough = [one for one in full if one.bytes > BEYOND * one.knee]
        if not enough:
            continue
        # What holds flash up now and then (an erase, collection) only makes it look slower.
        slow = max(one.slow for one in enough[:2])
        if slow < PACE_SHARE * pace and pace + slow < fill.fast:
            rooms.append(enough[0].knee * (1 - slow / pace))
    return rooms


@dataclass(frozen=True)
class _Full:
    """A paced burst that has filled the buffer: of its `bytes`, `knee` went in at the pace, the
    rest at `slow` bytes per second."""

    bytes: float
    knee: float
    slow: float


def _full(point: Point, pace: float) -> _Full:
    """Writes that wait for room come DEPTH at a time: they take that long, and the others hardly
    anything."""
    each = point.bytes / point.commands
    waiting = point.histogram.latency_ns > 0.5e9 * DEPTH * each / point.bandwidth
    rest = float(point.histogram.counts[waiting].sum()) * each
    knee = point.bytes - rest
    return _Full(point.bytes, knee, rest / max(point.seconds - knee / pace, 1e-9))


def _buffer_size(fill: _Filling, paced: Sequence[float], stripe: float, curve: Curve) -> Finding:
    """What flash is programming still occupies its place: about a stripe."""
    key, what = "buffer", "write buffer"
    size = min(fill.room + stripe, fill.knee)
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

    def found(value: float, sure: str, least: float, most: float, more: str = "") -> Finding:
        return Finding(key, what, value, "B", sure, evidence + more, least, most, marked, details)

    low, high = (1 - EXACT) * size, (1 + EXACT) * size
    if share > (CLOSE if fill.steady else CLOSE_UNSTEADY):
        why = ", but flash is nearly as fast as the host: it may be anything below"
        return found(size, WEAK, 0.0, fill.knee, why)
    if share < SLOW:
        return found(size, SURE if size > 8 * stripe else LIKELY, low, max(high, fill.knee))
    if fill.fast < FAST_HOST:
        if stripe:
            return found(size, LIKELY, low, (1 + 2 * EXACT) * size)
        return found(size, WEAK if share > 0.25 else LIKELY, low, max(high, fill.knee))
    most = (1 + EXACT) * fill.knee
    if not paced:
        why = ", unless so fast a host keeps flash from the drive's memory"
        return found(size, WEAK, low, most, why)
    within = [min(max(room + stripe, size), fill.knee) for room in paced]
    text = " and ".join(quantity_text(room + stripe, "B") for room in paced)
    more = f"; bursts at a pace, which leave flash the drive's memory, show {text}"
    if max(paced) < AGREE * min(paced) and within[0] == paced[0] + stripe:
        least, most = (1 - EXACT) * min(within), (1 + EXACT) * max(within)
        return found(within[0], LIKELY, least, most, more)
    return found(within[0], WEAK, low, most, more)
