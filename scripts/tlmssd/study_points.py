"""The points of a study as plain Python: runs, means over seeds, what the page says of them.

Plain, because a page of thousands of points is made of many small questions.
"""

import itertools
import math
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from tlmssd.quantities import quantity_text
from tlmssd.study_data import Column, StudyData


@dataclass(frozen=True)
class Point:
    """A point: its number, the place of its first row in the table, and all its rows."""

    number: int
    place: int
    runs: Sequence[dict[str, Any]]

    @property
    def good(self) -> Sequence[dict[str, Any]]:
        """Its runs, if all of them have results: without one of them it has failed."""
        return self.runs if all(run["status"] == "ok" for run in self.runs) else []

    @property
    def feasible(self) -> bool:
        """Whether it has results and all of them hold every constraint."""
        return bool(self.good) and all(run.get("feasible") is not False for run in self.good)

    @property
    def reason(self) -> str:
        """Why runs have no results; empty where all have."""
        return "; ".join(sorted({run["reason"] or run["status"] for run in self.runs} - {"ok"}))

    def values(self, metric: Column) -> list[float]:
        """The metric of the runs that know it."""
        found = [run[metric.name] for run in self.good]
        return [value for value in found if value is not None and math.isfinite(value)]

    def mean(self, metric: Column) -> float:
        """Mean over seeds; NaN unless all runs know it."""
        values = self.values(metric)
        return statistics.fmean(values) if values and len(values) == len(self.runs) else math.nan

    def spread(self, metric: Column) -> float:
        """Standard deviation over seeds; NaN of fewer than two."""
        values = self.values(metric)
        return statistics.stdev(values) if len(values) > 1 else math.nan

    def text(self, metric: Column) -> str:
        """Mean and standard deviation with units."""
        text, spread = quantity_text(self.mean(metric), metric.unit), self.spread(metric)
        if text == "-" or not spread > 0:
            return text
        return f"{text} ± {quantity_text(spread, metric.unit, 2)}"


def points_of(data: StudyData) -> Iterator[Point]:
    """The points in the order of the table."""
    place = 0
    for number, runs in itertools.groupby(data.records, key=lambda run: run["point"]):
        found = list(runs)
        yield Point(number, place, found)
        place += len(found)


def places_of(values: pd.Series) -> list[float]:
    """Where each value lies between the least (0) and the largest (1) of its axis."""
    if pd.api.types.is_numeric_dtype(values):
        low, high = float(values.min()), float(values.max())
        width = high - low
        return [(float(value) - low) / width if width else 0.5 for value in values]
    codes, distinct = pd.factorize(values)
    most = len(distinct) - 1
    return [float(code) / most if most else 0.5 for code in codes]
