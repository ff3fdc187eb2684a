"""The page of a probe: each finding with its evidence and its picture."""

from collections.abc import Sequence

import altair as alt
import pandas as pd

from tlmssd.pictures.axes import axis_of, colours, even_bytes, round_bytes
from tlmssd.pictures.page import Page
from tlmssd.probe.findings import Curve, Finding
from tlmssd.quantities import quantity_text


def value_text(finding: Finding) -> str:
    """The value with its unit, or that there is none."""
    if finding.value is None:
        return "not visible"
    if isinstance(finding.value, str):
        return finding.value
    text = quantity_text(finding.value, finding.unit)
    if finding.low is not None and finding.high is not None and finding.low < finding.high:
        low, high = (quantity_text(end, finding.unit) for end in (finding.low, finding.high))
        return f"{text} ({low} to {high})"
    return text


def page_of(findings: Sequence[Finding], title: str) -> str:
    """The page as one HTML file."""
    page = Page(title, "What fio's results of the probe's jobs show of the inside of a drive.")
    page.table(
        ["quantity", "found", "confidence", "evidence"],
        [[f.what, value_text(f), f.confidence, f.evidence] for f in findings],
    )
    for finding in findings:
        if finding.curve:
            page.heading(finding.what[0].upper() + finding.what[1:])
            page.text(f"{value_text(finding)} ({finding.confidence}): {finding.evidence}.")
            chart, legend = _chart(finding.curve)
            page.chart(chart, finding.curve.title, 260, legend)
    return page.render()


def _chart(curve: Curve) -> tuple[alt.LayerChart, dict[str, str]]:
    palette = colours(list(curve.series))
    rows = [
        {"series": name, "x": x, "y": y}
        for name, points in curve.series.items()
        for x, y in points
        if x > 0 and y > 0
    ]
    kind = alt.Scale(type="log", nice=False) if curve.logarithmic else alt.Scale(nice=False)
    scale = alt.Scale(domain=list(palette), range=list(palette.values()))
    ticks = {}
    if curve.x_unit == "B" and rows:
        sizes = [row["x"] for row in rows]
        ticks["values"] = (
            round_bytes(min(sizes), max(sizes)) if curve.logarithmic else even_bytes(max(sizes))
        )
    x = alt.X("x:Q", scale=kind, axis=axis_of(curve.x_unit, curve.x, **ticks))
    y = alt.Y("y:Q", scale=alt.Scale(type="log", nice=False), axis=axis_of(curve.y_unit, curve.y))
    color = alt.Color("series:N", scale=scale, legend=None)
    lines = alt.Chart(pd.DataFrame(rows)).mark_line(point=True).encode(x=x, y=y, color=color)
    marks = pd.DataFrame({"x": [mark for mark in curve.marks if mark > 0]})
    if marks.empty:
        return alt.layer(lines), palette if len(palette) > 1 else {}
    rules = alt.Chart(marks).mark_rule(strokeDash=[5, 3], color="#d55e00").encode(x="x:Q")
    return alt.layer(lines, rules), palette if len(palette) > 1 else {}
