"""Numbers with their units, as people read them: 4.2 ms, 37.9 k/s, 1.5 GiB."""

import math

DECIMAL_BYTES = "decimal B"
"""Unit of bytes that are counted in powers of ten, as what a drive can be written (TBW)."""

_TIME = ((1e9, "s"), (1e6, "ms"), (1e3, "us"), (1.0, "ns"))
_METRIC = ((1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, ""))
_DECIMAL = tuple((factor, f"{prefix}B") for factor, prefix in ((1e12, "T"), *_METRIC))
_BINARY = ((2.0**40, "TiB"), (2.0**30, "GiB"), (2.0**20, "MiB"), (2.0**10, "KiB"), (1.0, "B"))


def quantity_text(value: float, unit: str, digits: int = 3, signed: bool = False) -> str:
    """A value of report.json ('ns', 's', 'B', 'B/s', '1/s', 'share', ...) with a fitting prefix."""
    if value is None or math.isnan(value):
        return "-"
    sign = "+" if signed and value > 0 else ""
    if unit == "s" and value:
        value, unit = value * 1e9, "ns"
    if unit == "share":
        return f"{sign}{_number(value * 100, digits)} %"
    if unit == "ns":
        # A hundredth of a nanosecond is nothing that anybody asks for.
        return sign + (_scaled(value, _TIME, digits) if abs(value) >= 5e-3 else "0 ns")
    if unit == DECIMAL_BYTES:
        return sign + _scaled(value, _DECIMAL, digits)
    if unit == "B":
        return sign + _scaled(value, _BINARY, digits)
    if unit in ("B/s", "1/s"):
        text = _scaled(value, _METRIC, digits)
        return sign + (text + "/s" if unit == "1/s" else _bytes_rate(text))
    text = _number(value, digits) if abs(value) < 1e5 else _scaled(value, _METRIC, digits)
    return f"{sign}{text} {unit}".rstrip()


def percent_text(share: float, signed: bool = True) -> str:
    """A relative difference: +12 %, -0.4 %."""
    if math.isnan(share):
        return "-"
    if math.isinf(share):
        return "from 0"
    percent = 100 * share
    if abs(percent) < 0.05:
        return "0 %"
    sign = "+" if signed and share > 0 else ""
    return f"{sign}{percent:.0f} %" if abs(percent) >= 10 else f"{sign}{percent:.1f} %"


def runs_text(count: int) -> str:
    """How many runs something was measured with: '1 run', '5 seeds'."""
    return "1 run" if count == 1 else f"{count} seeds"


def _bytes_rate(text: str) -> str:
    return text + ("B/s" if text[-1].isalpha() else " B/s")


def _number(value: float, digits: int) -> str:
    if value == int(value) and abs(value) < 10**digits:
        return str(int(value))
    if abs(value) >= 10**digits:
        return f"{value:.0f}"
    text = f"{value:#.{digits}g}"
    # Next to nothing is said with a power of ten; 1.0e+2 is 100 rounded up.
    return (f"{value:.0f}" if "e+" in text else text).rstrip(".")


def _scaled(value: float, prefixes: tuple, digits: int) -> str:
    for factor, prefix in prefixes:
        # What would be rounded to 1000 of a prefix is 1 of the next.
        if abs(value) >= factor * (1 - 0.5 * 10.0**-digits):
            return f"{_number(value / factor, digits)} {prefix}".rstrip()
    factor, prefix = prefixes[-1]
    return f"{_number(value / factor, digits)} {prefix}".rstrip()
