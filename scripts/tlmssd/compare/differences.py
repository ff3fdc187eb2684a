"""Metrics side by side, and whether they differ beyond the spread over seeds.

With two or more runs on both sides a difference is beyond the spread when Welch's test and
Student's both tell the means apart at 95 %: of few runs against many the former alone has too many
false alarms, and the latter where the sides do not spread alike. With three or more of the same
seeds on both, when the test of pairs does (Student's t of the differences seed by seed), for what a
seed does to both sides then cancels out. With one run on a side, when it lies outside the interval
in which the other's next run is expected with 95 % (prediction interval of a normal distribution).
With one run on both sides nothing is known about the spread.

Of equals, one metric in twenty is told apart by chance at most. With one run on a side it is about
one in twelve, for not every figure has a normal distribution: of equal drives (60 seeds, 377
metrics) 8.6 % against three runs and 7.1 % against five, parts of percentiles up to 19 %.
"""

import math
import re
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass

import numpy as np
from scipy import stats

from tlmssd import metrics
from tlmssd.compare.loads import MERGED, compared_loads, tell_apart
from tlmssd.compare.sides import Side, are_paired
from tlmssd.metrics import OPERATIONS, Metric, higher_is_better
from tlmssd.quantities import DECIMAL_BYTES
from tlmssd.statistics import CONFIDENCE, student

ROUNDING = 1e-12
"""Share of the values below which spreads and differences come from adding them up."""
MAIN = ("iops", "bandwidth", "mean", "p50", "p90", "p99", "p99.9", "max")
HIDDEN = ("seed", "checks.")
OF_LOADS = "loads."
NUMBERED = re.compile(r"_\d+(?=\.)")


@dataclass(frozen=True)
class Value:
    """A metric on one side: mean, standard deviation over seeds (NaN of a single run), runs."""

    mean: float
    deviation: float
    count: int


@dataclass(frozen=True)
class Change:
    """A side against the first: difference, share of the first, and whether seeds explain it.

    `beyond` is None when it cannot be known; `better` is None for what is neither good nor bad.
    """

    difference: float
    share: float
    beyond: bool | None
    better: bool | None


@dataclass(frozen=True)
class Row:
    """One metric: its value on every side, and the change of every side but the first.

    `is_main`: it is one of those that are shown first.
    """

    name: str
    unit: str
    values: tuple[Value, ...]
    changes: tuple[Change, ...]
    is_main: bool

    @property
    def shown_unit(self) -> str:
        """As `unit`, but of what a drive can be written, which is told in powers of ten (TBW)."""
        return DECIMAL_BYTES if self.name == "lifetime.written" else self.unit

    @property
    def is_nothing(self) -> bool:
        """Whether it is 0 wherever it is known."""
        return all(not value.mean or math.isnan(value.mean) for value in self.values)


def compare_metrics(sides: Sequence[Side]) -> list[Row]:
    """A row for every metric that any side has, in the order of the reports.

    Modules of which there are several (dies, cores) are one metric, their mean: `nand_die_*`.
    Where loads are told apart, those of each come before those of all together; otherwise they are
    the same, and left out.
    """
    apart = tell_apart(sides)
    compared = {load for side in sides[1:] for load in compared_loads(sides[0], side, apart)}
    known = [[_merged(result.figures) for result in side.results] for side in sides]
    pairs = [are_paired(sides[0], side) for side in sides[1:]]
    names: dict[str, str] = {}
    for runs in known:
        for run in runs:
            names.update({name: figure.unit for name, figure in run.items()})
    hidden = HIDDEN if apart else (*HIDDEN, OF_LOADS)
    ordered = sorted(names, key=lambda name: not name.startswith(OF_LOADS)) if apart else names
    rows = []
    for name in ordered:
        if name.startswith(hidden):
            continue
        samples = [
            [figure.value for run in runs if (figure := metrics.find(run, name))] for runs in known
        ]
        # Where a run lacks the metric, values of one place are not of one seed any more.
        whole = [len(sample) == len(runs) for sample, runs in zip(samples, known, strict=True)]
        first, *others = samples
        changes = tuple(
            _change(name, first, other, paired and whole[0] and has_all)
            for other, paired, has_all in zip(others, pairs, whole[1:], strict=True)
        )
        values = tuple(_value(sample) for sample in samples)
        rows.append(Row(name, names[name], values, changes, _is_main(name, compared)))
    return rows


def _is_main(name: str, compared: Set[str]) -> bool:
    """Of the drive, and of the loads that are compared by themselves (or MERGED)."""
    if name.startswith(("write_amplification", "lifetime.", "cliff.")):
        return True
    prefixes = ("" if load == MERGED else f"{OF_LOADS}{load}." for load in compared)
    return any(
        name.startswith(prefix) and _is_main_of_load(name.removeprefix(prefix))
        for prefix in prefixes
    )


def _is_main_of_load(name: str) -> bool:
    operation, _, figure = name.partition(".")
    return figure in MAIN if operation in OPERATIONS else name in ("iops", "bandwidth")


def _merged(figures: Mapping[str, Metric]) -> dict[str, Metric]:
    groups: dict[str, list[Metric]] = {}
    for name, figure in figures.items():
        one = name if name.startswith(OF_LOADS) else NUMBERED.sub("_*", name)
        groups.setdefault(one, []).append(figure)
    return {
        name: Metric(float(np.mean([part.value for part in parts])), parts[0].unit)
        for name, parts in groups.items()
    }


def _value(sample: Sequence[float]) -> Value:
    if not sample:
        return Value(math.nan, math.nan, 0)
    deviation = _deviation(sample) if len(sample) > 1 else math.nan
    return Value(float(np.mean(sample)), deviation, len(sample))


def _deviation(sample: Sequence[float]) -> float:
    """Standard deviation of two values or more; 0 where they are equal."""
    return _unless_rounding(float(np.std(sample, ddof=1)), sample)


def _difference(first: Sequence[float], other: Sequence[float]) -> float:
    return _unless_rounding(float(np.mean(other)) - float(np.mean(first)), (*first, *other))


def _unless_rounding(value: float, of: Sequence[float]) -> float:
    return 0.0 if abs(value) < ROUNDING * max(map(abs, of)) else value


def _change(name: str, first: Sequence[float], other: Sequence[float], paired: bool) -> Change:
    if not first or not other:
        return Change(math.nan, math.nan, None, None)
    base = float(np.mean(first))
    difference = _difference(first, other)
    if math.isnan(difference):
        return Change(math.nan, math.nan, None, None)
    share = difference / abs(base) if base else math.copysign(math.inf, difference)
    direction = higher_is_better(name)
    better = None if direction is None or not difference else (difference > 0) == direction
    if not difference:
        share = 0.0
    return Change(difference, share, is_beyond_spread(first, other, paired), better)


def is_beyond_spread(
    first: Sequence[float], other: Sequence[float], paired: bool = False
) -> bool | None:
    """Whether two samples differ by more than their spread explains; None if nothing is known.

    `paired`: they have the same seeds in the same order, and no run lacks the metric.
    """
    if not all(math.isfinite(value) for value in (*first, *other)):
        return None
    difference = abs(_difference(first, other))
    if len(first) == 1 and len(other) == 1:
        return None if difference else False
    deviations = [_deviation(part) for part in (first, other) if len(part) > 1]
    if not any(deviations):
        return difference > 0
    if paired:
        return _differ_in_pairs(first, other)
    if len(deviations) > 1:
        sides = (
            float(np.mean(first)), deviations[0], len(first),
            float(np.mean(other)), deviations[1], len(other),
        )  # fmt: skip
        tests = [stats.ttest_ind_from_stats(*sides, equal_var=alike) for alike in (False, True)]
        return all(test.pvalue < 1 - CONFIDENCE for test in tests)
    several = max(len(first), len(other))
    width = student(several - 1) * deviations[0]
    return bool(difference > width * math.sqrt(1 + 1 / several))


def _differ_in_pairs(first: Sequence[float], other: Sequence[float]) -> bool:
    differences = np.subtract(other, first)
    error = _unless_rounding(float(np.std(differences, ddof=1)), (*first, *other))
    width = student(len(first) - 1) * error / math.sqrt(len(first))
    return bool(abs(_difference(first, other)) > width)
