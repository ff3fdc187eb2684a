"""The pictures of a study's page: templates whose data and units the page's script fills in."""

import altair as alt

from tlmssd.pictures.axes import INK, SIDE_COLOURS, round_times

FRONT, POINT, REFUSED = SIDE_COLOURS[1], SIDE_COLOURS[0], "#b5b5b5"
KINDS = {"Pareto front": FRONT, "other points": POINT, "against a constraint": REFUSED}
IN_LINES = "split(datum.label, '\\n')"
"""A long name, which the page's script has broken into lines."""


def legend(constrained: bool) -> dict[str, str]:
    """Colours of the kinds of points; the last only where there are constraints."""
    return KINDS if constrained else {name: KINDS[name] for name in list(KINDS)[:2]}


def unit_label(value: str, unit: str) -> str:
    """A Vega expression that writes `value` (an expression) in `unit` (a signal's name)."""
    number = f"format({value}, '.4~g')"
    time = (
        f"(abs({value}) >= 1 || {value} == 0 ? {number} + ' s'"
        f" : abs({value}) >= 1e-3 ? format({value} * 1e3, '.4~g') + ' ms'"
        f" : abs({value}) >= 1e-6 ? format({value} * 1e6, '.4~g') + ' us'"
        f" : format({value} * 1e9, '.4~g') + ' ns')"
    )
    # 44 k/s and 155 MB/s: a prefix joins a unit of bytes, all else stands apart.
    scaled = f"replace(format({value}, '.3~s'), regexp('([a-zA-Z])$'), ' $1')"
    joined = f"{unit} == '1/s' ? '/s' : {unit} == ''"
    large = f"{scaled} + ({joined} || {unit}[0] == 'B' ? {unit} : ' ' + {unit})"
    small = f"{number} + ({joined} ? '' : ' ' + {unit})"
    plain = f"(abs({value}) >= 1e4 ? {large} : {small})"
    share = f"format(100 * {value}, '.4~g') + ' %'"
    return f"{unit} == 's' ? {time} : {unit} == 'share' ? {share} : {plain}"


def _axis(unit: str, **more) -> alt.Axis:
    label = unit_label("datum.value", unit)
    return alt.Axis(**{"title": None, "labelExpr": label, "tickCount": 5, **more})


def _unit(name: str) -> alt.Parameter:
    return alt.param(name=name, value="")


def scatter() -> alt.LayerChart:
    """Two metrics of every point, and the front of those that no other beats in both."""
    scale = alt.Scale(domain=list(KINDS), range=list(KINDS.values()))
    plain = alt.Scale(zero=False, nice=True)
    x = alt.X("x:Q", scale=plain, axis=_axis("xUnit"))
    y = alt.Y("y:Q", scale=plain, axis=_axis("yUnit"))
    points = alt.Chart(alt.NamedData("points")).mark_point(size=60, filled=True, cursor="pointer")
    line = alt.Chart(alt.NamedData("front")).mark_line(
        interpolate="step-after", color=FRONT, strokeWidth=1.2, opacity=0.7
    )
    errors = alt.Chart(alt.NamedData("points")).mark_rule(opacity=0.35)
    colour = alt.Color("kind:N", scale=scale, legend=None)
    return alt.layer(
        line.encode(x=x, y=y, order="x:Q"),
        errors.encode(x="xLow:Q", x2="xHigh:Q", y=y, color=colour),
        errors.encode(x=x, y="yLow:Q", y2="yHigh:Q", color=colour),
        points.encode(x=x, y=y, color=colour, tooltip=["about:N"]),
    ).add_params(_unit("xUnit"), _unit("yUnit"))


def effect() -> alt.LayerChart:
    """Mean of a metric at each level of an axis, over all other axes; the line is its interval."""
    y = alt.Y("mean:Q", scale=alt.Scale(zero=False), axis=_axis("yUnit"))
    x = alt.X("level:N", sort=None, axis=alt.Axis(title=None, labelAngle=-25, labelLimit=110))
    base = alt.Chart(alt.NamedData("levels"))
    return alt.layer(
        base.mark_line(color=POINT, opacity=0.5).encode(x=x, y=y),
        base.mark_rule(color=INK, strokeWidth=1.4).encode(x=x, y="low:Q", y2="high:Q"),
        base.mark_point(color=POINT, filled=True, size=55).encode(x=x, y=y, tooltip=["about:N"]),
    ).add_params(_unit("yUnit"))


def shares() -> alt.Chart:
    """How much of a metric's variance each axis explains by itself, and what none does."""
    axis = alt.Axis(title="variance explained", format=".0%", tickCount=5)
    return (
        alt.Chart(alt.NamedData("shares"))
        .mark_bar(color=POINT)
        .encode(
            y=alt.Y("axis:N", sort=None, title=None),
            x=alt.X("share:Q", scale=alt.Scale(domain=[0, 1]), axis=axis),
            tooltip=["axis:N", alt.Tooltip("share:Q", format=".1%")],
        )
    )


def heat_map() -> alt.LayerChart:
    """Mean of a metric for every pair of levels of two axes."""
    base = alt.Chart(alt.NamedData("cells")).encode(
        x=alt.X("x:N", sort=None, axis=alt.Axis(title=None, labelAngle=-25, labelLimit=110)),
        y=alt.Y("y:N", sort=None, axis=alt.Axis(title=None, labelLimit=110)),
    )
    cells = base.mark_rect(invalid=None).encode(
        opacity=alt.condition("datum.points", alt.value(1), alt.value(0)),
        color=alt.Color(
            "value:Q", scale=alt.Scale(scheme="viridis", zero=False, nice=False), legend=None
        ),
        tooltip=["about:N"],
    )
    ink = alt.condition("datum.bright", alt.value("#111"), alt.value("#fff"))
    texts = base.mark_text(fontSize=11).encode(text="text:N", color=ink)
    return alt.layer(cells, texts)


def parallel() -> alt.LayerChart:
    """Every point as a line through all axes and metrics, one row each; from least to largest."""
    axis = alt.Axis(title=None, labelExpr=IN_LINES, labelLimit=200, grid=True)
    y = alt.Y("row:N", sort=None, axis=axis)
    x = alt.X("place:Q", scale=alt.Scale(domain=[-0.02, 1.02], nice=False), axis=None)
    scale = alt.Scale(domain=list(KINDS), range=list(KINDS.values()))
    lines = (
        alt.Chart(alt.NamedData("lines"))
        .mark_line(strokeWidth=1.3, cursor="pointer")
        .encode(
            x=x,
            y=y,
            detail="point:N",
            order="order:Q",
            color=alt.Color("kind:N", scale=scale, legend=None),
            opacity=alt.Opacity("opacity:Q", scale=None),
            tooltip=["about:N"],
        )
    )
    ends = alt.Chart(alt.NamedData("ends"))
    texts = [
        ends.transform_filter(alt.datum.side == side)
        .mark_text(align=align, dy=-9, fontSize=11, color=INK)
        .encode(x=x, y=y, text="text:N")
        for side, align in (("least", "left"), ("most", "right"))
    ]
    return alt.layer(lines, *texts)


def latency() -> alt.Chart:
    """Latencies of chosen points: share of commands that are done, stretched to the slowest."""
    label = "datum.value >= 1 ? '0' : format(100 * (1 - datum.value), '.12~g') + ' %'"
    axis = alt.Axis(
        title="commands done", labelExpr=label, values=[1, 0.5, 0.1, 0.01, 0.001, 0.0001, 0.00001]
    )
    palette = alt.Scale(range=SIDE_COLOURS)
    times = _axis(
        "xUnit", values=round_times(range(-9, 5)), labelOverlap="greedy", labelSeparation=12
    )
    return (
        alt.Chart(alt.NamedData("lines"))
        .mark_line(strokeWidth=1.8)
        .encode(
            x=alt.X("latency:Q", scale=alt.Scale(type="log", nice=False), axis=times),
            y=alt.Y("slower:Q", scale=alt.Scale(type="log", reverse=True, nice=False), axis=axis),
            color=alt.Color("name:N", sort=None, scale=palette, legend=None),
            order="order:Q",
            tooltip=["name:N"],
        )
        .add_params(_unit("xUnit"))
    )
