"""Rows as a table: results.parquet and results.csv, the same bytes for the same study.

Columns: point (from 1), one for each axis (numbers in the axis's unit where all are, else texts),
seed (none: the base's own), status, reason, run (key in the store), settings (for `tlmssd run
BASE`), one for each metric (base units; empty where the status is not ok), feasible (with
constraints: whether the point has results with every seed, and all of them hold every constraint).
The metadata of the Parquet fields say what a column is (role: axis or metric), its unit, and its
goal; those of the file the title, the base and what is said against the study.
"""

import itertools
import json
import os
import shlex
from collections.abc import Iterable, Sequence
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as parquet

from tlmssd.output import whole
from tlmssd.study.axes import Axis
from tlmssd.study.check import Checked
from tlmssd.study.session import Row
from tlmssd.study.study import Study


def table(study: Study, checked: Checked, rows: Sequence[Row], cautions: Sequence[str]) -> pa.Table:
    """The rows of a study as an Arrow table with units in its fields' metadata, and `cautions`,
    what is said against the study, in its own."""
    columns: list[tuple[pa.Field, list]] = [
        (pa.field("point", pa.int64()), [row.number for row in rows])
    ]
    for place, axis in enumerate(study.axes):
        columns.append(_axis_column(axis, [row.point.choices[place] for row in rows]))
    columns += [
        (pa.field("seed", pa.uint64()), [row.seed for row in rows]),
        (pa.field("status", pa.string()), [row.status for row in rows]),
        (pa.field("reason", pa.string()), [row.reason for row in rows]),
        (pa.field("run", pa.string()), [row.key for row in rows]),
        (pa.field("settings", pa.string()), [_settings(study, row) for row in rows]),
    ]
    goals = {objective.metric: objective.maximize for objective in study.objectives}
    for metric in study.metrics:
        about = {"role": "metric", "unit": checked.unit_of(metric)}
        about["expression"] = metric.expression.text
        if metric.name in goals:
            about["goal"] = "maximize" if goals[metric.name] else "minimize"
        values = [row.values.get(metric.name) for row in rows]
        columns.append((pa.field(metric.name, pa.float64(), metadata=about), values))
    if study.constraints:
        kept = {number for number, runs in _points(rows) if all(run.feasible for run in runs)}
        feasible = [row.number in kept if row.status == "ok" else None for row in rows]
        columns.append((pa.field("feasible", pa.bool_()), feasible))
    about = {"title": study.title, "base": os.path.normpath(study.base)}
    about["cautions"] = list(cautions)
    schema = pa.schema([field for field, _ in columns], metadata={"tlmssd": json.dumps(about)})
    arrays = [pa.array(values, field.type, from_pandas=True) for field, values in columns]
    return pa.Table.from_arrays(arrays, schema=schema)


def _points(rows: Sequence[Row]) -> Iterable[tuple[int, Iterable[Row]]]:
    return itertools.groupby(rows, key=lambda row: row.number)


def _axis_column(axis: Axis, choices: list) -> tuple[pa.Field, list]:
    values = [axis.value(choice) for choice in choices]
    kind = pa.string()
    if axis.unit is not None:
        whole = all(float(value).is_integer() for value in values)
        kind = pa.int64() if whole and not axis.span else pa.float64()
        values = [int(value) if kind == pa.int64() else value for value in values]
    about = {"role": "axis", "unit": axis.unit or ""}
    return pa.field(axis.name, kind, metadata=about), values


def _settings(study: Study, row: Row) -> str:
    pairs = study.settings_of(row.point, row.seed)
    return " ".join(f"--set {shlex.quote(f'{path}={value}')}" for path, value in pairs)


def write_tables(rows: pa.Table, folder: Path) -> None:
    """results.parquet and results.csv in `folder`; each appears when it is whole."""
    for name, write in (("results.parquet", parquet.write_table), ("results.csv", _write_csv)):
        with whole(folder / name) as draft:
            write(rows, draft)


def _write_csv(rows: pa.Table, path: Path) -> None:
    frame = rows.to_pandas(
        types_mapper={pa.int64(): pd.Int64Dtype(), pa.uint64(): pd.UInt64Dtype()}.get
    )
    frame.to_csv(path, index=False, lineterminator="\n")
