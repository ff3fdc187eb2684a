"""Quantities with units, as scenarios write them: to base units and back, exactly."""

import re
from fractions import Fraction

_SIZE = {"TiB": 2**40, "GiB": 2**30, "MiB": 2**20, "KiB": 2**10, "B": 1,
         "TB": 10**12, "GB": 10**9, "MB": 10**6, "kB": 10**3, "KB": 10**3}
_TIME = {"d": 86400 * 10**12, "h": 3600 * 10**12, "min": 60 * 10**12, "s": 10**12,
         "ms": 10**9, "us": 10**6, "ns": 10**3, "ps": 1}
_DURATION = {"y": 365 * 86400, "d": 86400, "h": 3600, "min": 60, "s": 1}
_FREQUENCY = {"GHz": 10**9, "MHz": 10**6, "kHz": 10**3, "Hz": 1, "GT/s": 10**9, "MT/s": 10**6}
_BANDWIDTH = {"GB/s": 10**9, "MB/s": 10**6, "kB/s": 10**3, "KB/s": 10**3, "B/s": 1,
              "GiB/s": 2**30, "MiB/s": 2**20, "KiB/s": 2**10}
_SHARE = {"x": Fraction(1), "%": Fraction(1, 100)}
UNITS = {"size": _SIZE, "time": _TIME, "duration": _DURATION, "frequency": _FREQUENCY,
         "bandwidth": _BANDWIDTH, "share": _SHARE}
# Units that a number is written in when it is a whole number of them, largest first.
_WRITTEN = {"size": ("GiB", "MiB", "KiB", "B"), "time": ("s", "ms", "us", "ns", "ps"),
            "duration": ("y", "d", "h", "min", "s"), "frequency": ("GHz", "MHz", "kHz", "Hz"),
            "bandwidth": ("GB/s", "MB/s", "kB/s", "B/s")}


def parse(kind, text):
    """The value of `text` in base units: bytes, ps, s, Hz, B/s, a share of 1, degrees C."""
    number, unit = re.fullmatch(r"\s*([-+0-9.eE]+)\s*(\S*)\s*", str(text)).groups()
    value = Fraction(number)
    if kind == "temperature":
        value -= Fraction("273.15") if unit == "K" else 0
    elif kind in UNITS:
        value *= UNITS[kind][unit]
    return int(value) if value.denominator == 1 else float(value)


def is_quantity(kind):
    return kind in UNITS or kind in ("temperature", "size or share")


def write(kind, value):
    """`value` in base units as a scenario writes it."""
    if kind == "size or share":
        kind = "share" if isinstance(value, float) else "size"
    if kind == "share":
        return f"{value * 100:.10g} %"
    if kind == "temperature":
        return f"{value:.10g} C"
    for unit in _WRITTEN[kind][:-1]:
        if value and value % UNITS[kind][unit] == 0:
            return f"{value // UNITS[kind][unit]} {unit}"
    return f"{round(value)} {_WRITTEN[kind][-1]}"
