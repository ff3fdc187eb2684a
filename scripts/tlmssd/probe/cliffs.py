"""What long writes show: the pSLC's cliff, and the spare flash.

A drive with pSLC writes fast until it is full, and then as fast as it can fold. The pSLC shrinks as
the drive fills; two cliffs at different fills tell its static from its dynamic part, if it shrinks
in a straight line between a quarter and three quarters (as consumer drives do, see
docs/modelling.md). A full drive that is overwritten at random writes at one speed until its spare
blocks are used up; collection begins there.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from tlmssd.probe.findings import LIKELY, WEAK, Curve, Finding, not_visible
from tlmssd.probe.plan import SPARE_WRITE
from tlmssd.probe.results import Point, Results
from tlmssd.quantities import quantity_text

DROP = 1.6
"""A cliff is a fall of the bandwidth by this factor or more."""
USED = 0.92
"""Share of the pSLC that is written when folding begins to hold writes up: the last blocks are kept
back, commonly a tenth of them."""
HELD_BACK = 0.94
"""Share of the spare flash that is used when collection shows: the rest is the reserve of free and
open blocks."""
BEYOND = 1.6
"""A fall before so many times what the write buffer takes is the buffer's."""
STEADY, LASTS = 0.5, 0.7
"""Before a pSLC's cliff hardly a piece is slower than this share of the speed there, behind it
hardly one is as fast."""
LEAST_SHARE = 0.05
"""Of the capacity: an earlier fall may be the write buffer's, where that is not known."""
STATIC_SHOWN = 1.3
"""By so much the cliff of a fuller drive is larger than the dynamic part explains."""
FULL_UNTIL, GONE_AT = 0.25, 0.75
GONE = 0.1
"""Share of the dynamic part below which what is seen is static."""
STATIC_BITS = (3, 4)
"""What a static SLC block costs in native blocks: bits per cell, of TLC or QLC. Writes do not tell
which."""
HALF_FULL = 0.5
"""Of the drive: on a fuller one less than half of the dynamic part is left to be seen."""
KEPT = 1.2
"""So much larger a pSLC may be than is seen: one of few blocks keeps back more of them."""
SMALL_DRIVE, RESERVED = 16 << 30, 0.055
"""B; and the share of a smaller drive that the reserve may take: its blocks are few, and some for
each die are kept free or open, however little spare flash there is."""
ROUNDED = 1e-3
"""Of shares in the names of jobs."""
UNKNOWN = 0.15
"""Share of the spare flash from which on it is weak what depends on the bits per cell."""


@dataclass(frozen=True)
class Step:
    """A fall of the bandwidth: after how many bytes, from and to how many bytes per second."""

    at: float
    before: float
    after: float
    piece: int


def cliff_findings(
    results: Results, buffer: float, held: float, through: bool = False
) -> list[Finding]:
    """The pSLC and the spare flash; `buffer`: bytes that the write buffer makes fast, `held`: those
    that it holds, in B; `through`: whether each write waits for flash."""
    spare_points = results.group("spare")
    steps = _falls(spare_points)
    pslc = _pslc(results.group("cliff"), steps, buffer)
    static = pslc.details.get("static", 0.0) if pslc.visible else 0.0
    fill = results.group("fill")
    if fill and spare_points and fill[0].bytes < 0.98 * spare_points[0].numbers[1]:
        why = "the drive was not full: filling it takes longer than the probe may"
        return [pslc, not_visible("spare", "spare flash", why)]
    known = pslc.details.get("static known", pslc.confidence != WEAK)
    spare = _spare(spare_points, steps, static, buffer, held, known)
    return [pslc, _padded(spare, results.group("grain")) if through and spare.visible else spare]


def _padded(spare: Finding, grain: Sequence[Point]) -> Finding:
    """A write that waits for flash may take a whole program there, and part of the map with it: by
    how much more, the bandwidth of large writes over small ones says at most."""
    rates = {point.numbers[0]: point.bandwidth for point in grain}
    waste = max(rates.values()) / rates[SPARE_WRITE] if SPARE_WRITE in rates else 1.0
    evidence = (
        f"{spare.evidence}; each write waits for flash and may take up to {waste:.1f} times its "
        "size there"
    )
    high = spare.high * max(waste, 1.0)
    return replace(spare, confidence=WEAK, evidence=evidence, high=high)


def _falls(points: Sequence[Point]) -> list[Step]:
    """Falls of the bandwidth over pieces written one after another; the deepest first."""
    if len(points) < 8:
        return []
    rates = np.log([point.bandwidth for point in points])
    found = []
    for place in range(1, len(rates) - 1):
        before = float(np.median(rates[max(0, place - 4) : place]))
        after = float(np.median(rates[place + 1 : place + 5]))
        if before - after > math.log(DROP) and _is_sharpest(rates, place, before - after):
            at = _crossing(points, place, math.exp(before), math.exp(after))
            found.append(Step(at, math.exp(before), math.exp(after), place))
    return found


def _is_sharpest(rates: np.ndarray, place: int, fall: float) -> bool:
    """Of neighbouring places that see the same fall, the one where it happens."""
    for other in range(max(1, place - 3), min(len(rates) - 1, place + 4)):
        before = float(np.median(rates[max(0, other - 4) : other]))
        after = float(np.median(rates[other + 1 : other + 5]))
        if (before - after, -other) > (fall, -place):
            return False
    return True


def _crossing(points: Sequence[Point], place: int, before: float, after: float) -> float:
    """Bytes written at the fall: of the piece that crosses it, the part that went fast."""
    first = max(place - 1, 0)
    done = sum(point.bytes for point in points[:first])
    for point in points[first : place + 2]:
        share = (1 / after - 1 / point.bandwidth) / (1 / after - 1 / before)
        done += point.bytes * min(max(share, 0.0), 1.0)
    return done


def _pslc(points: Sequence[Point], spare_steps: Sequence[Step], buffer: float) -> Finding:
    key, what = "pslc", "pSLC (as large as it can be)"
    if len(points) < 8:
        return not_visible(key, what, "the cliff's writes were not run")
    first = [point for point in points if point.name.startswith("cliff-1")]
    second = [point for point in points if point.name.startswith("cliff-2")]
    capacity = first[0].numbers[3]
    data = _over_bytes(points)
    names = "Written in order after a rest"
    fall = _cliff(first, buffer)
    if fall is None or fall.before < 2 * fall.after:
        why = "the bandwidth of writes in order does not fall: no pSLC, or more than was written"
        curve = Curve(names, "written", "bandwidth", data, (), "B", "B/s", False)
        return not_visible(key, what, why, curve)
    curve = Curve(names, "written", "bandwidth", data, (fall.at,), "B", "B/s", False)
    if not buffer and fall.at < LEAST_SHARE * capacity:
        why = f"the fall after {quantity_text(fall.at, 'B')} may be the write buffer's"
        return not_visible(key, what, why, curve)
    filled = first[0].numbers[-1]
    again = _cliff(second, buffer)
    at_once = fall.at - buffer
    fill_2 = _filled_after(first, [*first, *second])
    static, dynamic = _parts(
        (filled, at_once),
        (fill_2, again.at - buffer) if again else None,
        _static_of_full(spare_steps, fall, buffer),
        capacity,
    )
    size = static + dynamic
    evidence = (
        f"{quantity_text(fall.before, 'B/s')} for {quantity_text(at_once, 'B')} when "
        f"{100 * filled:.0f} % full, then {quantity_text(fall.after, 'B/s')}"
    )
    if again:
        evidence += f"; {quantity_text(again.at - buffer, 'B')} when {100 * fill_2:.0f} % full"
    left = _left(filled, at_once / capacity)
    if filled > HALF_FULL and 0 < left < GONE:
        evidence += ": always there, or what is left of a part that shrinks as the drive fills"
    else:
        evidence += (
            f": about {quantity_text(static, 'B')} always and {quantity_text(dynamic, 'B')} while "
            "there is room"
        )
    details = {
        "cliff": at_once, "static": static, "dynamic": dynamic, "fast": fall.before,
        "slow": fall.after, "filled": filled, "capacity": capacity,
    }  # fmt: skip
    low, high = 0.9 * size, KEPT * size
    sure = LIKELY if again and buffer else WEAK
    if filled > HALF_FULL:
        # All of it may be static, or all dynamic.
        least = at_once / USED
        details["static known"] = sure == LIKELY and left == 0
        sure, low, high = WEAK, 0.9 * least, max(high, KEPT * least / max(left, GONE))
        evidence += (
            "; when so full, a drive has little of its dynamic part left, and how large it is "
            "hardly shows"
        )
    if not buffer:
        # Flash that keeps up with the host has time to fold meanwhile.
        low *= 1 - fall.after / fall.before
        evidence += "; some of it may have been folded by then, for flash is faster than the host"
    return Finding(key, what, size, "B", sure, evidence, low, high, curve, details)


def _filled_after(first: Sequence[Point], both: Sequence[Point]) -> float:
    """Share of the drive that holds data behind the first of both series. Where there is no room
    for the writes of both, they overwrite what is there."""
    _, _, begin, capacity, filled = first[0].numbers
    planned = both[-1].numbers[2] + both[1].numbers[2] - 2 * begin
    if filled + planned / capacity > 1 + ROUNDED:
        return filled
    return filled + sum(point.bytes for point in first) / capacity


def _left(fill: float, written: float) -> float:
    """Share of the dynamic part that there is when so much is full and so much was written more."""
    return min(max((GONE_AT - fill - written) / (GONE_AT - FULL_UNTIL), 0.0), 1.0)


def _cliff(points: Sequence[Point], buffer: float) -> Step | None:
    """The deepest fall of the bandwidth that is not the write buffer's, and lasts: where collection
    comes and goes, writes are as fast as before again and again."""
    least = max(BEYOND * buffer, buffer + 2 * points[0].bytes) if points else 0.0
    falls = [step for step in _falls(points) if step.at > least]
    rates = np.array([point.bandwidth for point in points])
    skip = int(buffer // points[0].bytes) + 1 if points else 0

    def lasts(step: Step) -> bool:
        ahead = rates[min(skip, step.piece - 1) : step.piece]
        behind = rates[step.piece + 1 :]
        steady = np.percentile(ahead, 10) > STEADY * step.before
        return bool(steady and np.percentile(behind, 90) < LASTS * step.before)

    falls = [step for step in falls if lasts(step)]
    return max(falls, key=lambda step: step.before / step.after, default=None)


def _over_bytes(points: Sequence[Point]) -> dict[str, list[tuple[float, float]]]:
    data, written = [], 0.0
    for point in points:
        written += point.bytes
        data.append((written, point.bandwidth))
    return {"writes": data}


def _static_of_full(steps: Sequence[Step], cliff: Step, buffer: float) -> float | None:
    """The static part, from a full drive: what goes fast there, at the pSLC's own speed, before
    native blocks are written; when collection begins, the bandwidth falls once more."""
    later = [step for step in steps if step.at > BEYOND * buffer]
    for step in later[:-1]:
        if step.before > 0.7 * cliff.before and step.before > 2 * step.after:
            return max(step.at - buffer, 0.0)
    return None


def _parts(
    first: tuple[float, float],
    second: tuple[float, float] | None,
    full: float | None,
    capacity: float,
) -> tuple[float, float]:
    """Static and dynamic size from cliffs (fill, bytes): x = s + d (gone - f - x / U) / range.

    The first cliff is the large one and rests on many blocks. The second is of few, so that it only
    tells whether there is a static part, where it is clearly more than the dynamic part leaves.
    """

    def row(fill: float, at: float) -> tuple[float, float]:
        return at / USED, _left(fill, at / capacity)

    used, share = row(*first)
    if share < GONE:
        return used, 0.0
    if full is not None:
        static = min(full / USED, used)
        return static, (used - static) / share
    if second:
        used_2, share_2 = row(*second)
        if used_2 > STATIC_SHOWN * used * share_2 / share and share - share_2 > 0.2:
            static = (used_2 * share - used * share_2) / (share - share_2)
            return min(static, used), max(used - static, 0.0) / share
    return 0.0, used / share


def _spare(
    points: Sequence[Point], steps: Sequence[Step], static: float, buffer: float, held: float,
    known_static: bool,
) -> Finding:  # fmt: skip
    key, what = "spare", "spare flash"
    if len(points) < 20:
        why = "the whole drive was not overwritten (that destroys its data, and is not the default)"
        return not_visible(key, what, why)
    capacity = points[0].numbers[1]
    data = {"random writes": _over_bytes(points)["writes"]}
    rates = np.log([point.bandwidth for point in points])
    last = float(np.median(rates[len(rates) // 2 :]))
    known = max(BEYOND * (static + buffer), buffer + 2 * points[0].bytes)
    before = [step for step in steps if step.at > known and math.log(step.before) - last > 0.5]
    title = "A full drive, overwritten at random"
    if not before:
        curve = Curve(title, "written", "bandwidth", data, (), "B", "B/s", False)
        why = "the bandwidth does not fall in the course: blocks are merged at once, not collected"
        if rates[0] - last > 0.5:
            why = "the bandwidth falls at once: collection was under way before"
        return not_visible(key, what, why, curve)
    step = before[0]
    onset = step.at
    # What lies in the buffer or in static SLC blocks has taken no native ones yet; the blocks of
    # the latter are spare, too.
    native = (onset - held - static) / HELD_BACK
    least, most = (native + bits * static for bits in STATIC_BITS)
    spare = (least + most) / 2
    curve = Curve(title, "written", "bandwidth", data, (onset,), "B", "B/s", False)
    evidence = (
        f"{quantity_text(step.before, 'B/s')} until {quantity_text(onset, 'B')} were overwritten "
        f"({100 * onset / capacity:.1f} % of the drive), {quantity_text(math.exp(last), 'B/s')} in "
        "the end; what the drive keeps in reserve does not show"
    )
    if static:
        evidence += (
            "; blocks that are always in SLC mode come on top: "
            f"{quantity_text(least - native, 'B')} of TLC, "
            f"{quantity_text(most - native, 'B')} of QLC"
        )
    details = {
        "onset": onset, "native": native, "share": spare / capacity, "steady": math.exp(last),
    }  # fmt: skip
    sure, low, high = LIKELY, 0.8 * least, 1.3 * most
    if capacity < SMALL_DRIVE:
        reserve = RESERVED * capacity
        high = max(high, most + reserve)
        if reserve > spare:
            sure = WEAK
            evidence += "; on a drive of few blocks the reserve may be more than that"
    if most - least > UNKNOWN * spare:
        sure = WEAK
    if static and not known_static:
        sure, low = WEAK, 0.8 * (native + static)
    if not buffer and len(before) > 1:
        sure, high = WEAK, 1.3 * before[-1].at / HELD_BACK
        evidence += "; a write buffer that does not show may be what falls first"
    return Finding(key, what, spare, "B", sure, evidence, low, high, curve, details)
