"""The page of a calibration: values, profiles, residuals."""

from typing import TYPE_CHECKING

import altair as alt
import pandas as pd

from tlmssd.calibrate.terminal import figure_text
from tlmssd.pictures.axes import PERCENT_LABEL, SIDE_COLOURS
from tlmssd.pictures.page import Cell, Page
from tlmssd.quantities import percent_text

if TYPE_CHECKING:
    from tlmssd.calibrate import Calibration
    from tlmssd.calibrate.profile import Profile

KINDS = {"fitted": SIDE_COLOURS[0], "held out": SIDE_COLOURS[1]}


def page_of(found: "Calibration") -> str:
    """The page as one HTML file."""
    page = Page(
        found.study.title,
        f"{found.runs} runs; {found.fit_text}.",
    )
    if found.caution:
        page.text(found.caution, "warn")
    page.heading("What the measurements say about each parameter")
    page.table(
        ["parameter", "value", "what is known"],
        [[p.parameter.name, p.parameter.text(p.place), p.sentence()] for p in found.profiles],
    )
    page.text(
        "Each curve: how much worse the fit gets when the parameter is held at another value and "
        "all others follow. Below 1 a value is as good as the best (95 %); the interval is shaded. "
        "Dots were run, the line between them is drawn. A flat curve: the measurements do not "
        "determine the parameter.",
        "note",
    )
    page.grid(True)
    for profile in found.profiles:
        page.chart(_profile(profile), profile.parameter.name, 180)
    page.grid(False)
    page.heading("Measured and emulated")
    page.chart(_residuals(found), "Difference of every figure", _height(found), KINDS)
    rows: list[list[Cell]] = [
        [
            r.job,
            r.figure,
            (r.measured, figure_text(r.figure, r.measured)),
            (r.emulated, figure_text(r.figure, r.emulated)),
            (r.difference, percent_text(r.difference)),
            (r.sigma, percent_text(r.sigma, signed=False)),
            "held out" if r.held_out else "fitted",
        ]
        for r in found.residuals
    ]
    head = ["job", "figure", "measured", "emulated", "difference", "1 sigma", "used"]
    page.table(head, rows, filtered=True)
    return page.render()


def _profile(profile: "Profile") -> alt.LayerChart:
    data = profile_line(profile)
    kind = "log" if profile.parameter.logarithmic else "linear"
    title = f"{profile.parameter.name.rsplit('.', 1)[-1]} ({profile.parameter.unit or '1'})"
    x = alt.X("value:Q", scale=alt.Scale(type=kind, nice=False, zero=False), title=title)
    y = alt.Y("rise:Q", scale=alt.Scale(domain=[0, 6]), title="rise of the loss (1: 95 %)")
    line = alt.Chart(data).mark_line(color=SIDE_COLOURS[0]).encode(x=x, y=y)
    points = alt.Chart(data[data["run"]]).mark_point(filled=True, color=SIDE_COLOURS[0])
    bound = alt.Chart(pd.DataFrame({"rise": [1.0]})).mark_rule(strokeDash=[4, 3]).encode(y="rise:Q")
    layers = [points.encode(x=x, y=y, tooltip=["value:Q", "rise:Q"]), bound]
    if not profile.parameter.choices:
        ends = pd.DataFrame(
            {
                "value": [data["value"].min() if profile.low is None else profile.low],
                "end": [data["value"].max() if profile.high is None else profile.high],
            }
        )
        band = alt.Chart(ends).mark_rect(color=SIDE_COLOURS[0], opacity=0.12)
        layers = [band.encode(x=x, x2="end:Q"), line, *layers]
    return alt.layer(*layers)


def profile_line(profile: "Profile") -> pd.DataFrame:
    """The points that were run and, where the interval ends, the bound: value, rise, run.

    Between two points the loss is no straight line: the interval says where it crosses.
    """
    rows = [(value, rise, True) for value, rise in profile.points]
    if not profile.parameter.choices:
        told = {value for value, _ in profile.points}
        ends = {profile.low, profile.high} - {None} - told
        rows += [(value, 1.0, False) for value in ends]
    data = pd.DataFrame(sorted(rows), columns=["value", "rise", "run"])
    data["rise"] = data["rise"].clip(upper=6)
    return data


def _residuals(found: "Calibration") -> alt.Chart:
    data = pd.DataFrame(
        {
            "job": r.job,
            "figure": r.figure,
            "difference": max(min(r.difference, 1.0), -1.0),
            "used": "held out" if r.held_out else "fitted",
        }
        for r in found.residuals
    )
    scale = alt.Scale(domain=list(KINDS), range=list(KINDS.values()))
    axis = alt.Axis(title="emulated against measured", labelExpr=PERCENT_LABEL)
    return (
        alt.Chart(data)
        .mark_tick(thickness=2.5)
        .encode(
            x=alt.X("difference:Q", axis=axis),
            y=alt.Y("job:N", sort=None, title=None),
            color=alt.Color("used:N", scale=scale, legend=None),
            tooltip=["job:N", "figure:N", alt.Tooltip("difference:Q", format="+.1%")],
        )
    )


def _height(found: "Calibration") -> int:
    return 18 * len({r.job for r in found.residuals}) + 40
