"""What the values of a few seeds say of the mean behind them: Student's t, at one confidence."""

import math
from collections.abc import Sequence

import numpy as np
from scipy import stats

CONFIDENCE = 0.95


def student(freedom: float) -> float:
    """Standard errors to either side of an estimate, between which the truth lies with 95 %."""
    return float(stats.t.ppf((1 + CONFIDENCE) / 2, freedom))


def mean_bounds(sample: Sequence[float] | np.ndarray) -> tuple[float, float]:
    """What the mean is not below, and not above, each by itself with 95 % confidence; the value of
    a single one twice."""
    mean = float(np.mean(sample))
    if len(sample) < 2:
        return mean, mean
    error = float(np.std(sample, ddof=1)) / math.sqrt(len(sample))
    width = float(stats.t.ppf(CONFIDENCE, len(sample) - 1)) * error
    return mean - width, mean + width


def mean_interval(sample: Sequence[float] | np.ndarray) -> tuple[float, float]:
    """Bounds of the mean with 95 % confidence; NaN for a single value."""
    if len(sample) < 2:
        return math.nan, math.nan
    width = student(len(sample) - 1) * (float(np.std(sample, ddof=1)) / math.sqrt(len(sample)))
    return float(np.mean(sample)) - width, float(np.mean(sample)) + width
