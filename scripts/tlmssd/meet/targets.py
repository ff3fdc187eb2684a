"""The targets of a scenario, and whether the runs of several seeds meet them."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tlmssd.quantities import quantity_text
from tlmssd.result import Result
from tlmssd.statistics import mean_bounds


@dataclass(frozen=True)
class Target:
    """One of `targets`: a metric, of one load or (`load` empty) of all, and its limit in `unit`."""

    load: str
    metric: str
    limit: float
    at_most: bool
    unit: str

    @property
    def name(self) -> str:
        """'web read.p99'."""
        return f"{self.load} {self.metric}".strip()

    @property
    def limit_text(self) -> str:
        """'at most 1.00 ms'."""
        return f"at {'most' if self.at_most else 'least'} {quantity_text(self.limit, self.unit)}"

    def holds(self, value: float) -> bool:
        """Whether a value meets it; what was not measured (NaN) does not."""
        return value <= self.limit if self.at_most else value >= self.limit


@dataclass(frozen=True)
class Reading:
    """What a target's metric came to, a value for each seed."""

    target: Target
    values: tuple[float, ...]

    @property
    def mean(self) -> float:
        """Over seeds; NaN where one of them has no value."""
        return float(np.mean(self.values))

    @property
    def bound(self) -> float:
        """What the true mean does not go beyond with 95 % (Student's t, one side), on the side that
        the target forbids; the value itself of a single seed."""
        low, high = mean_bounds(self.values)
        return high if self.target.at_most else low

    @property
    def is_met(self) -> bool:
        """Whether the mean meets it."""
        return self.target.holds(self.mean)

    @property
    def is_surely_met(self) -> bool:
        """Whether the bound does."""
        return self.target.holds(self.bound)

    @property
    def times_beyond(self) -> float:
        """How many times worse than its limit the mean is; infinite without a value, or beside a
        limit of 0."""
        return self._times(self.mean)

    @property
    def distance(self) -> float:
        """By how many times its limit the mean is beyond it (0.2: 20 %
        worse); 0 where it meets it, infinite without a value, or beside a limit of 0."""
        return self._distance(self.mean)

    @property
    def distance_of_bound(self) -> float:
        """The same of the bound."""
        return self._distance(self.bound)

    def _distance(self, value: float) -> float:
        if self.target.holds(value):
            return 0.0
        return self._times(value) - 1

    def _times(self, value: float) -> float:
        limit = self.target.limit
        above, below = (value, limit) if self.target.at_most else (limit, value)
        return above / below if below > 0 and above >= 0 else math.inf

    @property
    def text(self) -> str:
        """The mean with its unit."""
        return quantity_text(self.mean, self.target.unit)


def readings(results: Sequence[Result]) -> list[Reading]:
    """Of each target of the scenario, in its order, from the runs of several seeds."""
    by_seed = [result.report.get("targets", []) for result in results]
    return [
        Reading(_target(told[0]), tuple(_value(one["value"]) for one in told))
        for told in zip(*by_seed, strict=True)
    ]


def of_missed(told: Sequence[Reading], missed: Sequence[Reading]) -> list[Reading]:
    """What is told of the targets that were missed."""
    targets = {reading.target for reading in missed}
    return [reading for reading in told if reading.target in targets]


def _target(told: dict) -> Target:
    at_most = "at_most" in told
    limit = told["at_most" if at_most else "at_least"]
    return Target(told.get("load") or "", told["metric"], float(limit), at_most, told["unit"])


def _value(value: float | None) -> float:
    return math.nan if value is None else float(value)
