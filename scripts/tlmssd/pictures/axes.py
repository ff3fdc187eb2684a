"""Axes that say their units: latencies in ns are labelled 100 us, 4 ms; rates 37 k."""

import math

import altair as alt

TIME_LABEL = (
    "abs(datum.value) >= 1e9 ? format(datum.value / 1e9, '.12~g') + ' s'"
    " : abs(datum.value) >= 1e6 ? format(datum.value / 1e6, '.12~g') + ' ms'"
    " : abs(datum.value) >= 1e3 ? format(datum.value / 1e3, '.12~g') + ' us'"
    " : format(datum.value, '.12~g') + (datum.value == 0 ? '' : ' ns')"
)
NUMBER_LABEL = "format(datum.value, abs(datum.value) >= 1e4 ? '.3~s' : '.12~g')"
PERCENT_LABEL = "format(100 * datum.value, '.12~g') + ' %'"

BYTES_LABEL = (
    "datum.value == 0 ? '0'"
    " : abs(datum.value) >= 1073741824 ? format(datum.value / 1073741824, '.4~g') + ' GiB'"
    " : abs(datum.value) >= 1048576 ? format(datum.value / 1048576, '.4~g') + ' MiB'"
    " : abs(datum.value) >= 1024 ? format(datum.value / 1024, '.4~g') + ' KiB'"
    " : format(datum.value, '.4~g') + ' B'"
)

INK = "currentColor"
"""The colour of a page's text, light or dark as its reader likes; black in a picture of its own."""

SIDE_COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", INK]
"""Okabe and Ito's palette, in which no two are alike for colour-blind readers."""


def axis_of(unit: str, title: str, **more) -> alt.Axis:
    """An axis for values in a unit of report.json."""
    if unit == "s":
        more["labelExpr"] = NUMBER_LABEL + " + ' s'"
    elif unit == "B":
        more["labelExpr"] = BYTES_LABEL
    else:
        more["labelExpr"] = {"ns": TIME_LABEL, "share": PERCENT_LABEL}.get(unit, NUMBER_LABEL)
        if unit and unit not in ("ns", "share"):
            title = f"{title} ({unit})"
    return alt.Axis(title=title, **more)


def time_axis(title: str, **more) -> alt.Axis:
    """An axis for latencies in ns."""
    return axis_of("ns", title, **more)


def round_bytes(least: float, most: float, count: int = 8) -> list[float]:
    """Ticks of an axis of bytes, `count` at most: powers of two on a logarithmic axis."""
    first, last = math.floor(math.log2(least)), math.ceil(math.log2(most))
    step = max(1, math.ceil((last - first) / count))
    return [2.0**exponent for exponent in range(first, last + 1, step)]


def even_bytes(most: float, count: int = 6) -> list[float]:
    """The same of a linear axis from 0: multiples of a power of two."""
    step = 2.0 ** math.ceil(math.log2(max(most, 1.0) / count))
    return [number * step for number in range(math.floor(most / step) + 1)]


def round_times(exponents: range) -> list[float]:
    """Ticks for logarithmic axes: 1, 2, 5, 10, 20, ..."""
    return [float(f"{digit}e{exponent}") for exponent in exponents for digit in (1, 2, 5)]


def side_colour(number: int) -> str:
    """Colour of the first, second, ... of several things that are compared."""
    return SIDE_COLOURS[number % len(SIDE_COLOURS)]


def colours(names: list[str]) -> dict[str, str]:
    """A colour for each of several things that are compared."""
    return {name: side_colour(number) for number, name in enumerate(names)}
