"""Every resource in turn made faster, with the same seeds, and what that does to the metric.

The effect of a step is the ratio of the metric with and without it, for each seed by itself, so
that what the seed does to both cancels out; the mean and its confidence interval (Student's t,
95 %) are of the logarithms. Where the metric is 0 with some seed, as the time of a cause may be,
the effect is the ratio of the means over seeds, and its spread that of both (delta method).
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tlmssd.drive import Drive
from tlmssd.errors import InputError, RunFailed
from tlmssd.statistics import mean_interval
from tlmssd.whatif.cost import extra_cost
from tlmssd.whatif.resources import Resource, Step, resources
from tlmssd.whatif.seeded_runs import Run, SeededRuns

LEAST = 1e-6
"""The ratio that stands for a metric that is 0 with every seed."""


@dataclass(frozen=True)
class Effect:
    """Logarithms of the metric's ratio, one for each seed: negative, it got smaller."""

    logs: tuple[float, ...]

    @property
    def mean(self) -> float:
        """Relative change of the metric: -0.3 is 30 % less."""
        return math.expm1(float(np.mean(self.logs)))

    @property
    def interval(self) -> tuple[float, float] | None:
        """Relative changes between which the true one lies with 95 %; None with a single seed."""
        if len(self.logs) < 2:
            return None
        low, high = mean_interval(self.logs)
        return math.expm1(low), math.expm1(high)

    @property
    def removes(self) -> bool:
        """Whether nothing is left of the metric."""
        return self.mean < 2 * LEAST - 1

    @property
    def is_certain(self) -> bool:
        """Whether the interval leaves no doubt about its sign."""
        interval = self.interval
        return interval is not None and (interval[0] > 0 or interval[1] < 0)

    @property
    def is_doubtful(self) -> bool:
        """Whether seeds leave a doubt about its sign; a single seed says nothing of that."""
        return self.interval is not None and not self.is_certain

    def is_within(self, share: float) -> bool:
        """Whether the interval leaves no room for changes larger than this, in either direction."""
        interval = self.interval
        return interval is not None and 1 / (1 + share) - 1 <= interval[0] <= interval[1] <= share


@dataclass(frozen=True)
class Trial:
    """A step that was tried: its effect, or why there is none."""

    step: Step
    effect: Effect | None
    reason: str
    cost: float | None


@dataclass(frozen=True)
class Finding:
    """A resource with its steps, the smallest first."""

    resource: Resource
    trials: tuple[Trial, ...]

    @property
    def largest(self) -> Trial | None:
        """The largest step with an effect."""
        tried = [trial for trial in self.trials if trial.effect]
        return tried[-1] if tried else None

    def gains(self, more_is_better: bool) -> list[float]:
        """How much better the largest step makes the metric, a logarithm for each seed.

        Where that step had to be longer than was asked for, only so much of its effect counts; a
        resource without any effect gains nothing.
        """
        if self.largest is None:
            return []
        factor = self.largest.step.weight * (1 if more_is_better else -1)
        return [factor * value for value in self.largest.effect.logs]

    def gain(self, more_is_better: bool) -> float:
        """The mean of gains(), what ranks it."""
        gains = self.gains(more_is_better)
        return float(np.mean(gains)) if gains else -math.inf


class Bench(SeededRuns):
    """Runs of one scenario, and a metric of theirs."""

    def __init__(self, scenario: Path, metric: str, settings: Mapping[str, str],
                 seeds: int, run: Run):  # fmt: skip
        super().__init__(scenario, settings, seeds, run)
        self.metric = metric

    def values(self, settings: Mapping[str, str]) -> list[float]:
        """The metric for each seed; raises InputError or RunFailed where a run has no results, or
        commands failed in it."""
        return [result.value(self.metric) for result in self.results(settings)]

    def base(self) -> list[float]:
        """The metric of the drive as it is; raises InputError if a ratio of it means nothing."""
        values = self.values({})
        mean = float(np.mean(values))
        if not (math.isfinite(mean) and mean > 0 and min(values) >= 0):
            found = "has no value" if math.isnan(mean) else f"is {mean:g}"
            raise InputError(
                f"--metric {self.metric}: it {found} in {self.scenario}; what-if compares "
                "by ratios and needs a metric above 0"
            )
        return values

    def effect(
        self, settings: Mapping[str, str], control: Mapping[str, str] | None = None
    ) -> Effect:
        """Effect against `control`, by default the drive as it is; raises as values() does."""
        with_it = np.array(self.values(settings))
        without = np.array(self.values(control or {}))
        for values in (with_it, without):
            if not (np.isfinite(values) & (values >= 0)).all():
                raise RunFailed(f"the metric became {values.min():g}")
        return Effect(tuple(_logs(with_it, without)))


def find(bench: Bench, shares: Sequence[float]) -> list[Finding]:
    """Tries every resource that the drive has, in the order of resources()."""
    steps = {resource.name: _steps(resource, bench.drive, shares) for resource in resources()}
    bench.fetch([{}, *(step.settings for found in steps.values() for step in found)])
    bench.base()
    return [
        Finding(resource, tuple(_trial(bench, step) for step in steps[resource.name]))
        for resource in resources()
        if steps[resource.name]
    ]


def _steps(resource: Resource, drive: Drive, shares: Sequence[float]) -> list[Step]:
    if not resource.needs(drive):
        return []
    found: list[Step] = []
    for share in sorted(shares):
        step = resource.step(drive, share)
        if step:
            found = [other for other in found if other.settings != step.settings] + [step]
    return found


def _trial(bench: Bench, step: Step) -> Trial:
    cost = extra_cost(bench.drive, step.settings)
    try:
        return Trial(step, bench.effect(step.settings), "", cost)
    except (InputError, RunFailed) as error:
        return Trial(step, None, str(error), cost)


def _logs(with_it: np.ndarray, without: np.ndarray) -> list[float]:
    """Logarithms of the ratio by seed; raises RunFailed where there is nothing to divide by."""
    if with_it.min() > 0 and without.min() > 0:
        return np.log(with_it / without).tolist()
    after, before = float(with_it.mean()), float(without.mean())
    if not before:
        raise RunFailed("the metric became 0")
    if not after:
        return [math.log(LEAST)] * len(with_it)
    return (math.log(after / before) + with_it / after - without / before).tolist()
