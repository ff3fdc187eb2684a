"""Pictures of latencies: distributions over one another, and where the time goes."""

from collections.abc import Mapping

import altair as alt
import pandas as pd

from tlmssd.causes import cause_colour, cause_words, in_order
from tlmssd.latency import Histogram
from tlmssd.pictures.axes import PERCENT_LABEL, round_times, time_axis

TAIL_LABEL = "datum.value >= 1 ? '0' : format(100 * (1 - datum.value), '.12~g') + ' %'"


def distribution_data(lines: Mapping[str, Mapping[str, Histogram]]) -> pd.DataFrame:
    """Rows side, line, latency (ns), share, slower (share of commands that are slower)."""
    parts = []
    for side, histograms in lines.items():
        for line, histogram in histograms.items():
            frame = histogram.frame()
            least = 0.5 / histogram.commands
            slower = (1 - frame["share"]).clip(lower=least)
            parts.append(frame.assign(side=side, line=f"{side} {line}", slower=slower))
    return pd.concat(parts, ignore_index=True)[["side", "line", "latency", "share", "slower"]]


def cdf(data: pd.DataFrame, colours: Mapping[str, str], tail: bool = False) -> alt.Chart:
    """Share of commands that are done after a time; with `tail`, stretched towards the slowest."""
    field, scale, label = "share", alt.Scale(domain=[0, 1]), PERCENT_LABEL
    if tail:
        scale = alt.Scale(type="log", reverse=True, domain=[float(data["slower"].min()), 1])
        field, label = "slower", TAIL_LABEL
    axis = alt.Axis(title="commands done", labelExpr=label, **({"values": _TAILS} if tail else {}))
    return (
        alt.Chart(data)
        .mark_line(interpolate="step-after", strokeWidth=1.8, opacity=0.8, clip=True)
        .encode(
            x=alt.X("latency:Q", scale=alt.Scale(type="log", nice=False), axis=_latency_axis()),
            y=alt.Y(f"{field}:Q", scale=scale, axis=axis),
            color=_colour("side", colours),
            detail="line:N",
        )
    )


_TAILS = [1, 0.5, 0.1, 0.01, 0.001, 0.0001, 0.00001]


def _latency_axis() -> alt.Axis:
    return time_axis(
        "latency", values=round_times(range(0, 14)), labelOverlap="greedy", labelSeparation=12
    )


def stacked_causes(ledgers: Mapping[str, Mapping[str, float]]) -> tuple[alt.Chart, dict[str, str]]:
    """A bar for each name, of causes in ns; and the legend, in words, of those that can be seen."""
    rows = [
        {"name": name, "cause": cause, "what": cause_words(cause), "ns": spent}
        for name, causes in ledgers.items()
        for cause, spent in causes.items()
    ]
    data = pd.DataFrame(rows)
    longest = data.groupby("name")["ns"].sum().max()
    seen = set(data.loc[data["ns"] > 0.004 * longest, "cause"])
    order = in_order(set(data["cause"]))
    data["order"] = data["cause"].map(order.index)
    colours = {cause_words(cause): cause_colour(cause) for cause in order}
    chart = (
        alt.Chart(data)
        .mark_bar()
        .encode(
            y=alt.Y("name:N", sort=list(ledgers), title=None),
            x=alt.X("ns:Q", axis=time_axis("time of a command")),
            color=_colour("what", colours),
            order="order:Q",
            tooltip=[
                "name:N",
                alt.Tooltip("what:N", title="cause"),
                alt.Tooltip("ns:Q", format=",.0f", title="ns"),
            ],
        )
    )
    words = [cause_words(cause) for cause in order if cause in seen]
    return chart, {one: colours[one] for one in words}


def _colour(field: str, colours: Mapping[str, str]) -> alt.Color:
    scale = alt.Scale(domain=list(colours), range=list(colours.values()))
    return alt.Color(f"{field}:N", scale=scale, legend=None)
