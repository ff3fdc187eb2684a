"""Figures over seeds: their mean, its 95 % interval (Student's t), and arithmetic between them seed by seed.

Two variants of a comparison run with the same seeds, so the same chance befalls both: ratios and differences are taken seed by seed
(common random numbers), and only what is left of the spread widens the interval.
"""

import itertools
import math
from dataclasses import dataclass

import numpy
from scipy import stats

CONFIDENCE = 0.95
LEAST_SEEDS = 5  # fewer decide nothing


@dataclass(frozen=True)
class Sample:
    """One figure for each seed; `certain`: nothing in it depends on chance, so that one value is all there is to know."""

    values: tuple[float, ...]
    certain: bool = False

    @property
    def mean(self):
        return float(numpy.mean(self.values))

    @property
    def half(self):
        """Half the width of the mean's 95 % interval; infinite where seeds are too few to tell."""
        if self.certain:
            return 0.0
        if len(self.values) < 2:
            return math.inf
        width = stats.t.ppf((1 + CONFIDENCE) / 2, len(self.values) - 1)
        return float(width * numpy.std(self.values, ddof=1) / math.sqrt(len(self.values)))

    @property
    def low(self):
        return self.mean - self.half

    @property
    def high(self):
        return self.mean + self.half

    @property
    def is_known(self):
        """Whether it is a number, from seeds enough."""
        return all(math.isfinite(value) for value in self.values) and (self.certain or len(self.values) >= LEAST_SEEDS)

    def map(self, function):
        """`function` of every seed's value."""
        return Sample(tuple(function(value) for value in self.values), self.certain)

    def __truediv__(self, other):
        return combined(divided, self, sample(other))

    def __sub__(self, other):
        return combined(lambda a, b: a - b, self, sample(other))

    def __mul__(self, other):
        return combined(lambda a, b: a * b, self, sample(other))

    def __add__(self, other):
        return combined(lambda a, b: a + b, self, sample(other))

    def text(self, form=".2f", unit=""):
        """The mean and half its interval: '1.05 ± 0.02'."""
        behind = f" {unit}" if unit else ""
        if self.certain:
            return f"{self.mean:{form}}{behind}"
        half = f"{self.half:{form.lstrip('+')}}" if math.isfinite(self.half) else "?"
        return f"{self.mean:{form}} ± {half}{behind}"


def sample(value):
    """A Sample, of a plain number one that is certain."""
    return value if isinstance(value, Sample) else Sample((float(value),), True)


def combined(function, *samples):
    """A Sample of `function` of the samples' values, seed by seed; what is certain is the same for all."""
    chance = [one for one in samples if not one.certain]
    if not chance:
        return Sample((function(*(one.values[0] for one in samples)),), True)
    count = len(chance[0].values)
    if any(len(one.values) != count for one in chance):
        raise ValueError("samples of different seeds cannot be compared seed by seed")
    return Sample(tuple(function(*(one.values[0] if one.certain else one.values[n] for one in samples)) for n in range(count)))


def largest(*samples):
    """Seed by seed."""
    return combined(lambda *values: max(values), *samples)


def divided(a, b):
    return a / b if b else math.nan


def rank_correlation(samples, published):
    """Sample of Spearman's coefficient between several figures and the published ones: +1 where the order is the same."""
    return combined(lambda *values: float(stats.spearmanr(values, published).statistic), *samples)


def chance_correlation(count):
    """The rank correlation that a random order of so many reaches in one case of twenty, from all permutations (up to nine)."""
    return float(stats.scoreatpercentile(_coefficients(count), 95))


def _coefficients(count):
    order = numpy.arange(count)
    spread = count * (count * count - 1)
    return [1 - 6 * float(((numpy.array(p) - order) ** 2).sum()) / spread for p in itertools.permutations(range(count))]
