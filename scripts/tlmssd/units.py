"""Quantities with units: as scenarios write them, and as tables hold them (in base units)."""

import math
import re
from fractions import Fraction

from tlmssd.errors import InputError

MICRO = Fraction(1, 10**6)
TIMES = {
    "ps": Fraction(1, 10**12),
    "ns": Fraction(1, 10**9),
    "us": MICRO,
    "\u00b5s": MICRO,  # the micro sign
    "\u03bcs": MICRO,  # the Greek letter
    "ms": Fraction(1, 1000),
    "s": 1,
    "min": 60,
    "h": 3600,
    "d": 86400,
}
BYTES = {"B": 1, "kB": 10**3, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
BYTES |= {"KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40}
BASES: dict[str, tuple[Fraction | int, str]] = {
    **{unit: (factor, "s") for unit, factor in TIMES.items()},
    **{unit: (factor, "B") for unit, factor in BYTES.items()},
    **{f"{unit}/s": (factor, "B/s") for unit, factor in BYTES.items()},
    **{"Hz": (1, "Hz"), "kHz": (10**3, "Hz"), "MHz": (10**6, "Hz"), "GHz": (10**9, "Hz")},
    **{"MT/s": (10**6, "Hz"), "GT/s": (10**9, "Hz"), "%": (Fraction(1, 100), ""), "x": (1, "")},
    **{"y": (365 * 86400, "s"), "C": (1, "C")},
}
"""Unit to its factor, which is exact, and base unit; what is not here is its own base."""

QUANTITY = re.compile(
    r"\s*([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)"
    r"\s*([A-Za-z%\u00b5\u03bc][A-Za-z/]*)?\s*"
)


def split(text: str) -> tuple[float, str] | None:
    """Number and unit of '20 %' or '4 KiB'; None when it is not a quantity."""
    match = QUANTITY.fullmatch(text)
    return (float(match[1]), match[2] or "") if match else None


def in_base(value: float, unit: str) -> tuple[float, str]:
    """A value in its base unit: (4.2, 'ms') is (0.0042, 's').

    Equal quantities are equal numbers in whatever units they are written: the decimal number that
    stands for the value is taken, and rounded once.
    """
    factor, base = BASES.get(unit, (1, unit))
    if factor == 1 or not math.isfinite(value):
        return float(value), base
    try:
        return float(Fraction(repr(float(value))) * factor), base
    except OverflowError:
        return math.copysign(math.inf, value), base


def kind(unit: str) -> str:
    """The base unit; '%' and 'x' are of a kind of their own."""
    return "share" if unit in ("%", "x") else BASES[unit][1]


def parse(text: str) -> float:
    """The value of a quantity in base units; raises InputError when it is none."""
    found = split(text)
    if found is None or (found[1] and found[1] not in BASES):
        raise InputError(f"'{text}' is not a quantity; write a number with a unit, such as '5 ms'")
    return in_base(*found)[0]
