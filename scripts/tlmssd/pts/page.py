"""The tests' tables and figures as one HTML page."""

from pathlib import Path

import altair as alt
import pandas as pd

from tlmssd.pictures.axes import INK, axis_of, colours
from tlmssd.pictures.page import Page
from tlmssd.pts.measure import WINDOW, Measured
from tlmssd.quantities import quantity_text

NOTE = (
    "After SNIA's Solid State Storage Performance Test Specification. The drive is written twice "
    "over in sequence, then with the test's writes until they are steady, in rounds of its "
    "capacity; access patterns take thousands of commands where the specification takes minutes, "
    "behind a head of seconds that is not measured. "
    "Write saturation and cross stimulus recovery begin with an empty drive."
)
FIGURES = {
    "iops": ("IOPS", "1/s"),
    "bandwidth": ("bandwidth", "B/s"),
    "latency": ("mean latency", "ns"),
}


def page_of(drive: Path, results: list[Measured]) -> str:
    """The HTML of the page."""
    page = Page(f"SNIA PTS: {drive.stem}", NOTE)
    for measured in results:
        page.heading(measured.test.title)
        for window in measured.windows:
            word = "steady" if window.met else "not steady"
            page.text(
                f"{window.label}: {word} over the last {WINDOW} of {measured.rounds} rounds: "
                f"average {quantity_text(window.average, measured.test.unit)}, range "
                f"{window.range * 100:.1f} % (at most 20 %), slope {window.slope * 100:+.1f} % "
                "(at most 10 %)",
                "" if window.met else "why",
            )
        if measured.reason and measured.steady is False:
            page.text(measured.reason, "why")
        _add_tables(page, measured)
        if f"{measured.test.name}-rounds" in measured.tables:
            _add_rounds(page, measured)
        elif f"{measured.test.name}-series" in measured.tables:
            _add_series(page, measured)
        else:
            _add_idle(page, measured)
    return page.render()


def _add_tables(page: Page, measured: Measured) -> None:
    name = measured.test.name
    for table, frame in measured.tables.items():
        if table.endswith(("-rounds", "-series", "-steps")):
            continue
        page.text(
            {f"{name}-p99.9": "p99.9", f"{name}-max": "maximum"}.get(table, "average"), "note"
        )
        rows = [
            [
                value
                if isinstance(value, str)
                else (value, quantity_text(value, measured.test.unit))
                for value in row
            ]
            for row in frame.itertuples(index=False)
        ]
        page.table(list(frame.columns), rows)


def _add_rounds(page: Page, measured: Measured) -> None:
    """Convergence of what must be steady; the tables as lines over the block size."""
    figure = measured.test.figure
    what, unit = FIGURES[figure]
    rows = measured.tables[f"{measured.test.name}-rounds"]
    tracked = [window.label for window in measured.windows]
    wanted = rows[rows["pattern"].str.startswith("0/100 ")][["round", "pattern", figure]]
    names = list(wanted["pattern"].unique())
    palette = colours(names)
    lines = _lines(wanted, "round", figure, "pattern", palette, what, unit, "round", whole=True)
    bounds = []
    for window in measured.windows:
        first = measured.rounds - WINDOW + 1
        bounds += [
            {"round": at, figure: window.average * factor, "line": f"{window.label} {factor}"}
            for at in (first, measured.rounds)
            for factor in (0.9, 1.0, 1.1)
        ]
    window_lines = (
        alt.Chart(pd.DataFrame(bounds))
        .mark_line(color=INK, strokeDash=[4, 3])
        .encode(x="round:Q", y=f"{figure}:Q", detail="line:N")
    )
    caption = (
        "Steady state convergence: writes by round; dashed the average of "
        f"{', '.join(tracked)} and 10 % around it"
    )
    page.chart(lines + window_lines, caption, legend=palette)
    last = rows[rows["round"] > measured.rounds - WINDOW].copy()
    split = last["pattern"].str.split(" ", n=1, expand=True)
    last["mix"] = split[0]
    last["block"] = split[1].str.removesuffix(" KiB").astype(float)
    of_mix = last.groupby(["mix", "block"], sort=False)[figure].mean().reset_index()
    palette = colours(list(of_mix["mix"].unique()))
    if of_mix["block"].nunique() > 1:
        chart = _lines(
            of_mix, "block", figure, "mix", palette, what, unit, "block size (KiB)", log=True
        )
        page.chart(chart, f"{what} by block size and share of reads and writes", legend=palette)


def _lines(
    data: pd.DataFrame, x: str, y: str, by: str, palette: dict[str, str], what: str, unit: str,
    across: str, log: bool = False, whole: bool = False,
) -> alt.Chart:  # fmt: skip
    scale = alt.Scale(type="log") if log else alt.Scale(zero=False, nice=False)
    axis = alt.Axis(title=across, **({"tickMinStep": 1, "format": "d"} if whole else {}))
    return (
        alt.Chart(data)
        .mark_line(point=True)
        .encode(
            x=alt.X(f"{x}:Q", scale=scale, axis=axis),
            y=alt.Y(
                f"{y}:Q", scale=alt.Scale(type="log" if log else "linear"), axis=axis_of(unit, what)
            ),
            color=alt.Color(
                f"{by}:N",
                scale=alt.Scale(domain=list(palette), range=list(palette.values())),
                legend=None,
            ),
            tooltip=[f"{by}:N", f"{x}:Q", f"{y}:Q"],
        )
    )


def _add_series(page: Page, measured: Measured) -> None:
    frame = measured.tables[f"{measured.test.name}-series"]
    what, unit = FIGURES[measured.test.figure]
    data = frame.assign(GiB=frame["written_bytes"] / 2**30)
    for x, across in (("time_s", "time (s)"), ("GiB", "written (GiB)")):
        chart = alt.Chart(data).mark_line().encode(
            x=alt.X(f"{x}:Q", title=across),
            y=alt.Y(f"{measured.test.figure}:Q", axis=axis_of(unit, what)),
        )  # fmt: skip
        page.chart(chart, f"{what} over {across.split(' (')[0]}")
    chart = alt.Chart(data).mark_line().encode(
        x=alt.X("time_s:Q", title="time (s)"),
        y=alt.Y("latency_ns:Q", axis=axis_of("ns", "mean latency")),
    )  # fmt: skip
    page.chart(chart, "Mean latency over time")


def _add_idle(page: Page, measured: Measured) -> None:
    rows = measured.tables["host-idle-steps"].reset_index(names="step")
    rows["state"] = rows["round"].str.split(" ").str[0]
    palette = colours(list(rows["state"].unique()))
    chart = (
        alt.Chart(rows)
        .mark_point(filled=True)
        .encode(
            x=alt.X("step:Q", title="writes, in turns"),
            y=alt.Y("iops:Q", axis=axis_of("1/s", "IOPS")),
            color=alt.Color(
                "state:N",
                scale=alt.Scale(domain=list(palette), range=list(palette.values())),
                legend=None,
            ),
            tooltip=["round:N", "pattern:N", "iops:Q"],
        )
    )
    page.chart(
        chart,
        "IOPS of each turn: before, after growing idle times, and without them again",
        legend=palette,
    )
