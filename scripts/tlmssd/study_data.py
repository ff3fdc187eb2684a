"""A study's table, made ready for pictures: points with their runs, levels of axes."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import pyarrow.parquet as parquet

from tlmssd.errors import InputError
from tlmssd.metrics import canonical, higher_is_better
from tlmssd.quantities import quantity_text
from tlmssd.study.expressions import parse

LEVELS = 8
"""Axes with more values than this are cut into groups of as many points each."""
GROUPS = 5


@dataclass(frozen=True)
class Column:
    """An axis or a metric: name, unit, and for metrics which way is better, if that is known."""

    name: str
    unit: str
    more_is_better: bool | None = None
    has_goal: bool = False


@dataclass(frozen=True)
class StudyData:
    """Rows of results.parquet, one for each run, and what their columns are.

    `records` has the same rows as plain Python, whose seeds are exact; `cautions` are sentences
    about what makes the study hard to believe, or of no use.
    """

    title: str
    base: str
    rows: pd.DataFrame
    records: list[dict]
    axes: tuple[Column, ...]
    metrics: tuple[Column, ...]
    cautions: tuple[str, ...] = ()

    @staticmethod
    def read(path: Path) -> "StudyData":
        """Raises InputError where the file is not a study's table."""
        try:
            table = parquet.read_table(path)
            about = json.loads(table.schema.metadata[b"tlmssd"])
        except (OSError, KeyError, TypeError, ValueError) as error:
            raise InputError(f"{path}: not the results of a study: {error}") from error
        axes, metrics = [], []
        for field in table.schema:
            notes = {k.decode(): v.decode() for k, v in (field.metadata or {}).items()}
            if notes.get("role") == "axis":
                axes.append(Column(field.name, notes["unit"]))
            elif notes.get("role") == "metric":
                metrics.append(_metric(field.name, notes))
        rows, records = table.to_pandas(), table.to_pylist()
        columns = tuple(axes), tuple(metrics)
        cautions = tuple(about.get("cautions", ()))
        return StudyData(about["title"], about["base"], rows, records, *columns, cautions)

    @property
    def good(self) -> pd.DataFrame:
        """Runs of the points all of whose runs have results: without one of them it has failed."""
        sound = self.rows["status"] == "ok"
        return self.rows[sound.groupby(self.rows["point"]).transform("all")]

    def objectives(self) -> list[Column]:
        """Metrics by how much they matter: those with a goal first, in their order."""
        return sorted(self.metrics, key=lambda metric: not metric.has_goal)

    def means(self) -> pd.DataFrame:
        """Mean of every metric for each point, by its number; NaN unless all of its runs know it.

        Only of points with results.
        """
        groups = self.good.groupby("point")[[metric.name for metric in self.metrics]]
        return groups.mean().where(groups.count().eq(groups.size(), axis=0))

    def value_text(self, column: Column, value: object) -> str:
        """A value of an axis or a metric with its unit."""
        if isinstance(value, str) or value is None:
            return value or "-"
        return quantity_text(float(value), column.unit)

    def levels(self, axis: Column) -> pd.Series:
        """The level of `axis` for every row, as an ordered category of texts."""
        values = self.rows[axis.name]
        distinct = (
            sorted(values.dropna().unique()) if _is_numeric(values) else list(values.unique())
        )
        if _is_numeric(values) and len(distinct) > LEVELS:
            groups = pd.qcut(values, GROUPS, duplicates="drop")
            # The first range begins a little below the least value.
            ends = [(max(part.left, distinct[0]), part.right) for part in groups.cat.categories]
            names = [" to ".join(self.value_text(axis, end) for end in pair) for pair in ends]
            return groups.cat.rename_categories(_different(names))
        names = _different([self.value_text(axis, value) for value in distinct])
        named = dict(zip(distinct, names, strict=True))
        return pd.Series(pd.Categorical(values.map(named), names, ordered=True), values.index)


def _metric(name: str, notes: dict[str, str]) -> Column:
    goal = notes.get("goal")
    if goal:
        return Column(name, notes["unit"], goal == "maximize", True)
    figure = notes.get("expression", name)
    if "expression" in notes:  # of several figures nothing is known
        expression = parse(figure)
        figure = expression.names[0] if expression.is_name else ""
    return Column(name, notes["unit"], higher_is_better(canonical(figure)), False)


def _is_numeric(values: pd.Series) -> bool:
    return pd.api.types.is_numeric_dtype(values)


def _different(names: Sequence[str]) -> list[str]:
    """The same texts, with a number behind those that are there twice."""
    return [
        f"{name} ({names[:i].count(name) + 1})" if names.count(name) > 1 else name
        for i, name in enumerate(names)
    ]
