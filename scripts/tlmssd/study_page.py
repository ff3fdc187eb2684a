"""study.html: a study to look at, in one file that works offline.

Pareto front, effects of each axis, heat maps, parallel coordinates, latencies of chosen points, and
a table; a click on a point anywhere leads to its figures and the scenario that runs it again.
"""

import difflib
import html
import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from tlmssd.latency import Histogram
from tlmssd.output import write_text
from tlmssd.pictures import study_charts
from tlmssd.pictures.assets import asset
from tlmssd.pictures.page import Cell, Page
from tlmssd.result import Result
from tlmssd.store import Store
from tlmssd.study_data import Column, StudyData
from tlmssd.study_effects import Effects
from tlmssd.study_points import Point, places_of, points_of

LATENCIES = 200
"""Points at most whose latencies are put into the page, the front and the best first."""
CURVE = 60
"""Places of a curve of latencies."""


def write_page(out: Path, store: Store) -> None:
    """Writes `out`/study.html from `out`/results.parquet; runs' files come from `store`.

    Runs that are no longer in the store are shown without latencies and whole scenario.
    """
    data = StudyData.read(out / "results.parquet")
    write_text(out / "study.html", page_of(data, store))


def page_of(data: StudyData, store: Store) -> str:
    """The HTML of the page."""
    page = Page(data.title, _lead(data))
    points = list(points_of(data))
    _add_failures(page, data)
    for text in data.cautions:
        page.text(text, "warn")
    if not data.good.empty and data.metrics:
        _add_pictures(page, data)
    page.heading("Point", anchor="point")
    page.text("Click a point in a picture, or its number in the table.", "note")
    page.raw('<div id="details"></div>')
    page.heading("All points")
    page.table(*_table(data, points), filtered=True)
    page.script(asset("study.js"), study=_content(data, points, store))
    return page.render()


def _lead(data: StudyData) -> str:
    points = data.rows["point"].nunique()
    seeds = data.rows["seed"].nunique()
    per_point = f", {seeds} seeds each" if seeds > 1 else ""
    good = int((data.rows["status"] == "ok").sum())
    failed = len(data.rows) - good
    text = f"{points} points{per_point}: {good} runs with results"
    return f"{text}, {failed} that failed. Base scenario: {data.base}." if failed else (
        f"{text}. Base scenario: {data.base}.")  # fmt: skip


def _add_failures(page: Page, data: StudyData) -> None:
    failed = data.rows[data.rows["status"] != "ok"]
    for (status, reason), part in list(failed.groupby(["status", "reason"]))[:8]:
        page.text(f"{len(part)} runs {status}: {reason}", "warn")
    if count := failed["point"].nunique():
        points = f"{count} points have" if count > 1 else "1 point has"
        page.text(
            f"{points} failed: without the results of all of its runs a point is in no picture.",
            "note",
        )


def _add_pictures(page: Page, data: StudyData) -> None:
    legend = study_charts.legend("feasible" in data.rows)
    page.heading("Trade-off")
    page.raw(_selects(("x", "across"), ("y", "up"), options=data.objectives()))
    page.raw('<p class="note" id="no-front"></p>')
    _template(page, study_charts.scatter(), "Two metrics of every point", 380, legend)
    page.heading("What each axis does")
    page.raw(_selects(("effect", "metric"), options=data.objectives()))
    page.raw('<p class="note" id="how-effects"></p>')
    page.grid(True)
    _template(page, study_charts.shares(), "Which axis matters", 32 * len(data.axes) + 82)
    for axis in data.axes:
        _template(page, study_charts.effect(), axis.name, 220)
    page.grid(False)
    if len(data.axes) > 1:
        page.heading("Two axes at once")
        page.raw(_selects(("map-x", "across"), ("map-y", "up"), options=data.axes))
        page.raw(_selects(("map-metric", "metric"), options=data.objectives()))
        page.raw('<p class="note" id="how-map"></p>')
        _template(page, study_charts.heat_map(), "Mean over all points of both levels", 320)
    page.heading("All axes and metrics at once")
    page.text("Each line is a point; each row goes from the least value to the largest.", "note")
    height = 52 * (len(data.axes) + len(data.metrics)) + 20
    _template(page, study_charts.parallel(), "Parallel coordinates", height, legend)
    page.heading("Latencies of chosen points")
    page.raw('<div class="tools" id="operation"></div><ul class="legend" id="chosen"></ul>')
    _template(page, study_charts.latency(), "At first those on the front; add others below", 340)


def _template(
    page: Page, chart: object, caption: str, height: int, legend: dict | None = None
) -> None:
    """A chart that the page's script fills in."""
    page.chart(chart, caption, height, legend, template=True)


def _selects(*fields: tuple[str, str], options: Sequence[Column]) -> str:
    parts = []
    for name, label in fields:
        choices = "".join(
            f'<option value="{html.escape(one.name)}">{html.escape(one.name)}</option>'
            for one in options
        )
        parts.append(f'<label>{label} <select id="{name}">{choices}</select></label>')
    return f'<div class="tools">{"".join(parts)}</div>'


def _table(data: StudyData, points: Sequence[Point]) -> tuple[list[str], list[list[Cell]]]:
    columns = ["point", *(axis.name for axis in data.axes), *(m.name for m in data.metrics)]
    has_reason = len(data.good) < len(data.rows)
    rows: list[list[Cell]] = []
    for point in points:
        row: list[Cell] = [(float(point.number), str(point.number), f"#point-{point.number}")]
        row += [_axis_cell(data, axis, point.runs[0][axis.name]) for axis in data.axes]
        row += [(point.mean(metric), point.text(metric)) for metric in data.metrics]
        rows.append(row + ([point.reason] if has_reason else []))
    return columns + (["reason"] if has_reason else []), rows


def _axis_cell(data: StudyData, axis: Column, value: object) -> Cell:
    text = data.value_text(axis, value)
    return text if isinstance(value, str) or value is None else (float(value), text)


def _content(data: StudyData, points: Sequence[Point], store: Store) -> dict[str, Any]:
    """What the page's script draws from."""
    texts = _Scenarios()
    levels = [data.levels(axis) for axis in data.axes]
    level_texts = [[str(level) for level in column] for column in levels]
    places = [places_of(data.rows[axis.name]) for axis in data.axes]
    made = []
    for point in points:
        content = _point(data, point, texts, store)
        content["levels"] = [column[point.place] for column in level_texts]
        content["places"] = [column[point.place] for column in places]
        made.append(content)
    return {
        "base": data.base,
        "scenario": texts.first,
        "axes": [_axis_content(*pair) for pair in zip(data.axes, levels, strict=True)],
        "metrics": [_metric_content(data, metric) for metric in data.objectives()],
        "points": made,
        "latencies": _latencies(data, points, store),
    }


def _metric_content(data: StudyData, metric: Column) -> dict[str, Any]:
    found = Effects.of(data, metric)
    return {
        "name": metric.name,
        "unit": metric.unit,
        "more": metric.more_is_better,
        "grid": found.is_grid,
        "how": found.how,
        "effects": [found.means(axis) for axis in data.axes],
        "explained": [found.explained(axis) for axis in data.axes],
        "unexplained": found.unexplained,
    }


def _axis_content(axis: Column, levels: pd.Series) -> dict[str, Any]:
    return {"name": axis.name, "levels": [str(level) for level in levels.cat.categories]}


def _point(data: StudyData, point: Point, texts: "_Scenarios", store: Store) -> dict[str, Any]:
    return {
        "point": point.number,
        "ok": bool(point.good),
        "feasible": point.feasible,
        "axes": [data.value_text(axis, point.runs[0][axis.name]) for axis in data.axes],
        "means": {metric.name: point.mean(metric) for metric in data.metrics},
        "spread": {metric.name: point.spread(metric) for metric in data.metrics},
        "texts": {metric.name: point.text(metric) for metric in data.metrics},
        "runs": [
            {
                **{key: run[key] for key in ("seed", "settings", "status", "reason")},
                "scenario": texts.edits(store.run(run["run"]) / "scenario.yaml")
                if run["run"]
                else None,
            }
            for run in point.runs
        ],
    }


class _Scenarios:
    """Resolved scenarios as the first one and edits of it: they are long and alike."""

    def __init__(self) -> None:
        self.first: list[str] = []

    def edits(self, path: Path) -> list[tuple[int, int, list[str]]] | None:
        """Replacements (from line, to line, lines) that make the first scenario into this one."""
        try:
            lines = path.read_text(encoding="utf-8").splitlines()
        except OSError:
            return None
        self.first = self.first or lines
        if len(lines) == len(self.first):
            pairs = enumerate(zip(self.first, lines, strict=True))
            return [(i, i + 1, [new]) for i, (old, new) in pairs if old != new]
        match = difflib.SequenceMatcher(None, self.first, lines, autojunk=False)
        return [(a, b, lines[c:d]) for tag, a, b, c, d in match.get_opcodes() if tag != "equal"]


def _latencies(
    data: StudyData, points: Sequence[Point], store: Store
) -> dict[str, dict[int, list[list[float]]]]:
    """Curves (latency in s, share of slower commands) by operation and point, seeds pooled."""
    curves: dict[str, dict[int, list[list[float]]]] = {}
    by_number = {point.number: point for point in points}
    for number in _worth_curves(data):
        folders = [store.run(run["run"]) for run in by_number[number].good]
        results = [Result(folder) for folder in folders if (folder / "report.json").is_file()]
        for operation in dict.fromkeys(name for result in results for name in result.operations):
            parts = [one.histogram(operation) for one in results if operation in one.operations]
            curves.setdefault(operation, {})[number] = _curve(Histogram.pooled(parts))
    return curves


def _worth_curves(data: StudyData) -> Iterable[int]:
    """Points in the order of their worth: the best of each metric, then all others.

    Metrics of which it is not known which way is better have no best.
    """
    means = data.means()
    ranks = [
        means[metric.name].rank(ascending=not metric.more_is_better)
        for metric in data.objectives()
        if metric.more_is_better is not None
    ]
    if not ranks:
        return [int(number) for number in means.index[:LATENCIES]]
    best = pd.concat(ranks, axis=1).min(axis=1).sort_values(kind="stable")
    return [int(number) for number in best.index[:LATENCIES]]


def _curve(histogram: Histogram) -> list[list[float]]:
    frame = histogram.frame()
    least = 0.5 / histogram.commands
    slower = (1 - frame["share"]).clip(lower=least)
    places: dict[int, list[float]] = {}
    step = max(-math.log(least) / CURVE, 1e-9)
    for latency, share in zip(frame["latency"], slower, strict=True):
        places.setdefault(int(-math.log(share) / step), [float(f"{latency * 1e-9:.5g}"), share])
    start = [float(f"{frame['latency'].iloc[0] * 1e-9:.5g}"), 1.0]
    end = [float(f"{frame['latency'].iloc[-1] * 1e-9:.5g}"), least]
    return [[x, float(f"{y:.4g}")] for x, y in [start, *places.values(), end]]
