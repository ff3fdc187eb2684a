"""Statements about a drive, and whether the emulated one bears them out.

What a study concludes is rarely a figure, but that one setting is faster than another, that more
depth helps no more, that bandwidth falls at some place. Each is looked for in the measurements and
then in the emulation.
"""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise

from tlmssd.quantities import quantity_text
from tlmssd.validate.card import Line

APART = 1.15
"""Measurements that differ by less are not told apart."""
CLIFF = 1.5
"""A fall of the bandwidth from one job to the next by this factor is a cliff."""
NUMBERED = re.compile(r"(.*?)(\d+)([a-z]*)$")
"""Names that differ in their last number."""
AT_DEPTH = re.compile(r"(.*)qd[-_]?(\d+)(.*)", re.IGNORECASE)
"""Names that differ in their queue depth."""


@dataclass(frozen=True)
class Statement:
    """Something that the measurements say; `holds`: the emulation says so, too."""

    kind: str
    text: str
    holds: bool


def statements_of(lines: Sequence[Line]) -> list[Statement]:
    """Orderings, effects of queue depth and positions of cliffs, among jobs of one direction."""
    found = []
    for direction in dict.fromkeys(line.direction for line in lines):
        rates = {
            line.job: line
            for line in lines
            if line.direction == direction and line.kind == "bandwidth"
        }
        latencies = {
            line.job: line for line in lines if line.direction == direction and line.kind == "mean"
        }
        found += _orders(rates, direction, "bandwidth", True)
        found += _orders(latencies, direction, "mean latency", False)
        for series in _series(rates, AT_DEPTH):
            found += _depths(series, direction)
        for series in _series(rates, NUMBERED):
            found += _cliffs(series, direction)
    return found


def _orders(
    lines: Mapping[str, Line], direction: str, what: str, more_is_better: bool
) -> Iterator[Statement]:
    for first, second in combinations(lines.values(), 2):
        ratio = first.measured / second.measured
        if abs(math.log(ratio)) < math.log(APART):
            continue
        high, low = (first, second) if ratio > 1 else (second, first)
        word = "more" if more_is_better else "longer"
        text = f"{what} of {direction}s: {high.job} {word} than {low.job}"
        yield Statement("order", text, high.emulated > low.emulated)


def _series(lines: Mapping[str, Line], names: re.Pattern) -> list[list[tuple[float, Line]]]:
    """Jobs whose names differ in one number alone, by that number."""
    series: dict[tuple[str, str], list[tuple[float, Line]]] = {}
    for job, line in lines.items():
        match = names.fullmatch(job)
        if match:
            series.setdefault((match[1], match[3]), []).append((float(match[2]), line))
    ordered = [sorted(part, key=lambda pair: pair[0]) for part in series.values()]
    return [part for part in ordered if len(part) > 1]


def _depths(series: Sequence[tuple[float, Line]], direction: str) -> Iterator[Statement]:
    """What more depth brings; the growth is to be met within a quarter."""
    for (low, before), (high, after) in pairwise(series):
        measured = after.measured / before.measured
        emulated = after.emulated / before.emulated
        text = (
            f"queue depth {low:g} to {high:g} multiplies {direction}s by {measured:.2f} "
            f"(emulated {emulated:.2f})"
        )
        yield Statement("queue depth", text, abs(math.log(emulated / measured)) < math.log(1.25))


def _cliffs(series: Sequence[tuple[float, Line]], direction: str) -> Iterator[Statement]:
    """Where the bandwidth falls from one job to the next."""
    if len(series) < 4:
        return

    def deepest(values: Sequence[float]) -> tuple[float, int]:
        return max(
            (before / after, place) for place, (before, after) in enumerate(pairwise(values))
        )

    fall, place = deepest([line.measured for _, line in series])
    if fall < CLIFF:
        return
    emulated_fall, emulated_place = deepest([line.emulated for _, line in series])
    low, high = series[place][1], series[place + 1][1]
    text = (
        f"{direction}s fall from {quantity_text(low.measured, 'B/s')} ({low.job}) to "
        f"{quantity_text(high.measured, 'B/s')} ({high.job})"
    )
    yield Statement("cliff", text, emulated_place == place and emulated_fall > 1 + (fall - 1) / 2)
