"""What each axis of a study does to a metric: means of its levels, and their intervals.

Where the points with results are a full grid, the mean over all points with a level compares like
with like; its interval is that over seeds. In other designs (points that failed, samples, searches)
levels differ in the other axes, too, and plain means confound them. There the means are those of a
fit by least squares of one effect for each level of each axis (main effects), at the average over
the levels of all other axes (adjusted means; Searle, Speed & Milliken, American Statistician 34,
1980), or over the points where others go together. On a full grid all are the same. The fit's
intervals are of what it leaves of the points' means: interactions, seeds and which points were
drawn. What it does not determine is not shown.
"""

import math
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from tlmssd.statistics import mean_interval, student
from tlmssd.study_data import Column, StudyData

LEAST = 1e-7
"""Below such a share of the largest what is left of a vector is rounding."""


@dataclass(frozen=True)
class Effects:
    """Effects on one metric; a design that is there more than once, as in a search, counts once.

    `is_grid`: of the points that know it, each combination of values is there. `missing`: axes
    whose levels the fit does not determine.
    """

    data: StudyData
    metric: Column
    known: pd.Series
    levels: dict[str, pd.Series]
    is_grid: bool
    missing: tuple[Column, ...] = ()
    _fit: "_Fit | None" = field(default=None, repr=False)

    @staticmethod
    def of(data: StudyData, metric: Column) -> "Effects":
        """Fits where the points are no full grid."""
        known = data.means()[metric.name].dropna()
        first = data.rows.drop_duplicates("point").set_index("point").loc[known.index]
        names = [axis.name for axis in data.axes]
        # The same runs again are no more evidence than once.
        first = first.drop_duplicates(names)
        known = known.loc[first.index]
        sizes = [first[name].nunique(dropna=False) for name in names]
        levels = {axis.name: _of_points(data, axis, known.index) for axis in data.axes}
        if len(first) == math.prod(sizes):
            return Effects(data, metric, known, levels, True)
        fit = _Fit(known.to_numpy(), list(levels.values()))
        missing = tuple(
            axis for axis, means in zip(data.axes, fit.means, strict=True) if means is None
        )
        return Effects(data, metric, known, levels, False, missing, fit)

    def means(self, axis: Column) -> list[dict]:
        """Level, mean, low and high (95 %, Student's t; NaN where unknown) of every level."""
        if self.is_grid:
            return self._over_seeds(axis)
        found = self._fit.means[self.data.axes.index(axis)] or []
        names = self.levels[axis.name].cat.categories
        return [
            {"level": str(name), "mean": mean, "low": mean - far, "high": mean + far}
            for name, (mean, far) in zip(names, found, strict=False)
        ]

    def _over_seeds(self, axis: Column) -> list[dict]:
        good = self.data.good
        good = good[good["point"].isin(self.known.index)]
        # No columns, which would take the place of metrics of the same names.
        level = pd.Series(self.levels[axis.name].reindex(good["point"]).array, good.index)
        by_seed = good[self.metric.name].groupby([level, good["seed"]], observed=True, dropna=False)
        found = {}
        for level, sample in by_seed.mean().groupby(level=0, observed=True):
            low, high = mean_interval(sample.to_numpy())
            found[level] = {
                "level": str(level), "mean": float(sample.mean()), "low": low, "high": high,
            }  # fmt: skip
        return [found[name] for name in self.levels[axis.name].cat.categories]

    def explained(self, axis: Column) -> float:
        """Share of the metric's variance between points that the axis explains by itself.

        Corrected for chance: of a full grid the squares between the axis' levels less what seeds
        would make of them (without seeds: what all axes' main effects leave), else what the fit
        loses without the axis. NaN without any variance, or where it is not determined.
        """
        total = float(((self.known - self.known.mean()) ** 2).sum())
        if not total:
            return math.nan
        if not self.is_grid:
            return math.nan if axis in self.missing else self._fit.share(
                self.data.axes.index(axis), total
            )  # fmt: skip
        squares, freedom = self._between(axis)
        return min(max((squares - freedom * self._chance(total)) / total, 0.0), 1.0)

    @property
    def unexplained(self) -> float:
        """Share of the variance between points that no axis explains: what axes do only together,
        and chance. NaN where the part of an axis is not known.

        Of a full grid what the axes leave; else what the fit does, as what it explains may be in
        the shares of several axes, or of none.
        """
        shares = [self.explained(axis) for axis in self.data.axes]
        if self.is_grid or any(map(math.isnan, shares)):
            return min(max(1 - sum(shares), 0.0), 1.0)
        return self._fit.unexplained

    def _between(self, axis: Column) -> tuple[float, int]:
        """Sum of squares between the levels of an axis of a full grid, and its freedom."""
        groups = self.known.groupby(self.levels[axis.name], observed=True)
        off = (groups.mean() - self.known.mean()) ** 2
        return float((off * groups.size()).sum()), len(off) - 1

    def _chance(self, total: float) -> float:
        """Variance of a point's mean by chance, of a full grid; NaN where nothing tells it.

        Interactions repeat with every seed: they are no chance where seeds tell what is.
        """
        runs = self.data.good
        runs = runs[runs["point"].isin(self.known.index)]
        values, seeds = runs[self.metric.name], runs.groupby("point").size()
        off = values - values.groupby(runs["point"]).transform("mean")
        freedom = len(values) - len(seeds)
        if runs.groupby("seed").size().eq(len(seeds)).all():
            # What a seed does to all points alike makes no difference between them.
            off -= off.groupby(runs["seed"]).transform("mean")
            freedom -= runs["seed"].nunique() - 1
        if freedom > 0:
            return float((off**2).sum()) / freedom / float(seeds.mean())
        parts = [self._between(axis) for axis in self.data.axes]
        left = max(total - sum(squares for squares, _ in parts), 0.0)
        freedom = len(self.known) - 1 - sum(freedom for _, freedom in parts)
        return left / freedom if freedom > 0 else math.nan

    @property
    def how(self) -> str:
        """How the means were obtained, in words."""
        if self.is_grid:
            return (
                "Mean over all points with this level; lines are 95 % confidence intervals over "
                "seeds."
            )
        said = f"The {len(self.known)} designs are no full grid of all values. "
        if len(self.missing) == len(self.levels):
            return said + (
                "A fit of one effect for each level is not determined by them, and plain means "
                "would confound the axes: no means are shown. More points, or a grid, would tell."
            )
        said += (
            "Shown are adjusted means: of a fit of one effect for each level (least squares), at "
            "the average of all other axes; lines are 95 % confidence intervals by what the fit "
            "leaves, interactions of axes and which points there are included. Of the variance an "
            "axis has what the fit loses without it: what the points do not tell apart may be in "
            "the shares of several axes, or of none, which need not add up to 100 %."
        )
        if self.missing:
            names = ", ".join(axis.name for axis in self.missing)
            said += f" The points do not determine: {names}."
        return said


def _of_points(data: StudyData, axis: Column, points: pd.Index) -> pd.Series:
    """The level of every point, of those levels that these points have."""
    first = ~data.rows["point"].duplicated()
    found = data.levels(axis)[first]
    found.index = pd.Index(data.rows["point"][first])
    return found.loc[points].cat.remove_unused_categories()


class _Fit:
    """Main effects by least squares: of each factor, one column for each level.

    `means`: of every factor, of every level, the mean at the average of all others and half its
    interval; None of factors that the points do not determine.
    """

    def __init__(self, values: np.ndarray, factors: list[pd.Series]):
        self._values = values
        self._blocks = [
            (one.cat.codes.to_numpy()[:, None] == np.arange(len(one.cat.categories))).astype(float)
            for one in factors
        ]
        self._matrix = self._columns(self._blocks)
        self._inverse, self._left, self._freedom = self._solve(self._matrix)
        self.means = [self._means_of(number) for number in range(len(factors))]

    def _columns(self, blocks: list[np.ndarray]) -> np.ndarray:
        return np.hstack([np.ones((len(self._values), 1)), *blocks])

    def _solve(self, matrix: np.ndarray) -> tuple[np.ndarray, float, int]:
        """Generalised inverse of the normal equations, sum of squares that is left, freedom."""
        normal = matrix.T @ matrix
        inverse = np.linalg.pinv(normal, rcond=LEAST / 100, hermitian=True)
        rank = int(round(float(np.trace(inverse @ normal))))
        centred = self._values - self._values.mean()
        left = centred - matrix @ (inverse @ (matrix.T @ centred))
        return inverse, float(left @ left), len(self._values) - rank

    def _means_of(self, number: int) -> list[tuple[float, float]] | None:
        if self._freedom < 1:
            return None
        normal = self._matrix.T @ self._matrix
        equal = [np.full(block.shape[1], 1 / block.shape[1]) for block in self._blocks]
        begin = 1 + sum(block.shape[1] for block in self._blocks[:number])
        size = self._blocks[number].shape[1]
        for average in (np.concatenate([[1.0], *equal]), self._matrix.mean(axis=0)):
            rows = np.tile(average, (size, 1))
            rows[:, begin : begin + size] = np.eye(size)
            if np.abs(rows - rows @ self._inverse @ normal).max() < LEAST:
                break
        else:
            return None
        centre = self._values.mean()
        means = centre + rows @ (self._inverse @ (self._matrix.T @ (self._values - centre)))
        variance = np.einsum("ij,jk,ik->i", rows, self._inverse, rows) * self._left / self._freedom
        far = student(self._freedom) * np.sqrt(variance)
        return list(zip(means.tolist(), far.tolist(), strict=True))

    @property
    def unexplained(self) -> float:
        """Share of the variance that it leaves, corrected for chance: 1 less the adjusted R²."""
        variance = float(self._values.var(ddof=1))
        return min(self._left / self._freedom / variance, 1.0) if variance else math.nan

    def share(self, number: int, total: float) -> float:
        """Share of `total` that the fit explains by a factor beyond all others and chance."""
        if not total:
            return math.nan
        others = [*self._blocks[:number], *self._blocks[number + 1 :]]
        _, left, freedom = self._solve(self._columns(others))
        chance = (freedom - self._freedom) * self._left / self._freedom
        return min(max((left - self._left - chance) / total, 0.0), 1.0)
