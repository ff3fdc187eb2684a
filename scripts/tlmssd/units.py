"""Quantities with units: as scenarios write them, and as tables hold them (in base units)."""

import re

from tlmssd.errors import InputError

TIMES = {
    "ps": 1e-12,
    "ns": 1e-9,
    "us": 1e-6,
    "\u00b5s": 1e-6,  # the micro sign
    "\u03bcs": 1e-6,  # the Greek letter
    "ms": 1e-3,
    "s": 1.0,
    "min": 60.0,
    "h": 3600.0,
    "d": 86400.0,
}
BYTES = {"B": 1.0, "kB": 1e3, "KB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12}
BYTES |= {"KiB": 2.0**10, "MiB": 2.0**20, "GiB": 2.0**30, "TiB": 2.0**40}
BASES: dict[str, tuple[float, str]] = {
    **{unit: (factor, "s") for unit, factor in TIMES.items()},
    **{unit: (factor, "B") for unit, factor in BYTES.items()},
    **{f"{unit}/s": (factor, "B/s") for unit, factor in BYTES.items()},
    **{"Hz": (1.0, "Hz"), "kHz": (1e3, "Hz"), "MHz": (1e6, "Hz"), "GHz": (1e9, "Hz")},
    **{"MT/s": (1e6, "Hz"), "GT/s": (1e9, "Hz"), "%": (0.01, ""), "x": (1.0, "")},
    **{"y": (365 * 86400.0, "s"), "C": (1.0, "C")},
}
"""Unit to its factor and base unit; what is not here is its own base."""

QUANTITY = re.compile(
    r"\s*([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)"
    r"\s*([A-Za-z%\u00b5\u03bc][A-Za-z/]*)?\s*"
)


def split(text: str) -> tuple[float, str] | None:
    """Number and unit of '20 %' or '4 KiB'; None when it is not a quantity."""
    match = QUANTITY.fullmatch(text)
    return (float(match[1]), match[2] or "") if match else None


def in_base(value: float, unit: str) -> tuple[float, str]:
    """A value in its base unit: (4.2, 'ms') is (0.0042, 's')."""
    factor, base = BASES.get(unit, (1.0, unit))
    return value * factor, base


def kind(unit: str) -> str:
    """The base unit; '%' and 'x' are of a kind of their own."""
    return "share" if unit in ("%", "x") else BASES[unit][1]


def parse(text: str) -> float:
    """The value of a quantity in base units; raises InputError when it is none."""
    found = split(text)
    if found is None or (found[1] and found[1] not in BASES):
        raise InputError(f"'{text}' is not a quantity; write a number with a unit, such as '5 ms'")
    return in_base(*found)[0]
