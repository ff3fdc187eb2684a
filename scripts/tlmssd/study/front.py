"""The best points of a study: the Pareto front of its objectives, means over seeds."""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

from tlmssd.study.session import Row, mean_of_seeds
from tlmssd.study.study import Objective, Point, Study


@dataclass(frozen=True)
class Best:
    """A point that no other beats: its number, design, and the mean of each objective."""

    number: int
    point: Point
    values: dict[str, float]


def front(study: Study, rows: Sequence[Row]) -> list[Best]:
    """Feasible points that no other beats, the best by the first objective first.

    A design that is there more than once, as in a search, counts once; of others with the same
    values all are there. `rows`: of all runs, those of a point one behind the other. Empty without
    objectives.
    """
    if not study.objectives:
        return []
    found: dict[Point, Best] = {}
    for number, runs in itertools.groupby(rows, key=lambda row: row.number):
        each = list(runs)
        mean = mean_of_seeds(each)
        if mean["status"] != "ok" or mean["violation"] > 0:
            continue
        values = {goal.metric: mean[goal.metric] for goal in study.objectives}
        if not any(map(math.isnan, values.values())):
            found.setdefault(each[0].point, Best(number, each[0].point, values))
    return _undominated(study.objectives, list(found.values()))


def _undominated(objectives: Sequence[Objective], points: Sequence[Best]) -> list[Best]:
    """Those that no other beats, by ascending cost of the first objective."""

    def costs(best: Best) -> tuple[float, ...]:
        return tuple(
            -best.values[goal.metric] if goal.maximize else best.values[goal.metric]
            for goal in objectives
        )

    kept: list[tuple[tuple[float, ...], Best]] = []
    for cost, best in sorted(((costs(one), one) for one in points), key=lambda pair: pair[0]):
        beaten = any(
            other != cost and all(a <= b for a, b in zip(other, cost, strict=True))
            for other, _ in kept
        )
        if not beaten:
            kept.append((cost, best))
    return [best for _, best in kept]


def repeats(rows: Sequence[Row]) -> int:
    """How many points have the design of an earlier one."""
    points = {row.number: row.point for row in rows}
    return len(points) - len(set(points.values()))
