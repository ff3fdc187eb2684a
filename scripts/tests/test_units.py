"""Quantities: what a unit is worth, and how a value is said."""

import contextlib
import json
import math
from decimal import Decimal
from fractions import Fraction

import pytest
from reports import operation, report

from tests.conftest import carry_out
from tlmssd import units
from tlmssd.errors import InputError
from tlmssd.quantities import percent_text, quantity_text
from tlmssd.runs import Runner
from tlmssd.study.axes import read_axis
from tlmssd.study.document import read_document
from tlmssd.study.expressions import parse
from tlmssd.study.figures import VIOLATIONS, Reader

KNOWN = {
    "s": {"ps": 1e-12, "ns": 1e-9, "us": 1e-6, "\u00b5s": 1e-6, "\u03bcs": 1e-6, "ms": 1e-3,
          "s": 1, "min": 60, "h": 3600, "d": 24 * 3600, "y": 365 * 24 * 3600},
    "B": {"B": 1, "kB": 1000, "KB": 1000, "MB": 1000**2, "GB": 1000**3, "TB": 1000**4,
          "KiB": 1024, "MiB": 1024**2, "GiB": 1024**3, "TiB": 1024**4},
    "Hz": {"Hz": 1, "kHz": 1e3, "MHz": 1e6, "GHz": 1e9, "MT/s": 1e6, "GT/s": 1e9},
    "": {"%": 0.01, "x": 1},
    "C": {"C": 1},
}  # fmt: skip
"""By base unit, as the user's guide and the standards (SI, IEC 80000-13) have them."""
KNOWN["B/s"] = {f"{unit}/s": factor for unit, factor in KNOWN["B"].items()}


@pytest.mark.parametrize("base", KNOWN)
def test_every_unit_is_worth_what_it_is(base):
    for unit, factor in KNOWN[base].items():
        value, found = units.in_base(2.5, unit)
        assert found == base
        assert value == pytest.approx(2.5 * factor, rel=1e-12), unit
        assert units.parse(f"2.5 {unit}") == value
        assert parse(f"iops * 2.5 {unit}").value(lambda name: 4.0) == pytest.approx(4 * value)


@pytest.mark.parametrize("number", [*range(1, 100), 125, 0.3, 2.5, 1.0625, 5000])
def test_equal_quantities_are_equal_in_whatever_unit(number):
    """As is the number that stands for them: 35 % was a little more than 0.35."""
    for unit, power in (("ps", 12), ("ns", 9), ("us", 6), ("ms", 3)):
        seconds = Fraction(str(number)) / 10**power
        assert units.parse(f"{number} {unit}") == float(f"{number}e-{power}")
        for other, factor in units.TIMES.items():
            same = seconds / factor
            if same == Fraction(text := f"{Decimal(same.numerator) / same.denominator:f}"):
                assert units.parse(f"{text} {other}") == units.parse(f"{number} {unit}"), other
    assert units.parse(f"{number} %") == float(f"{number}e-2")


def test_a_limit_is_held_by_what_is_equal_to_it(tmp_path):
    """In a report 5000 ns were more than 5 us, and 35 % of a scenario more than 0.35."""
    text = report(1, read=operation(5000.0, {"sense": 5000.0}, {"sense": 5000.0}))
    scenario = {"spare": "35 %", "erase": "200 us"}
    limits = [
        f"{name} {compares} {limit}"
        for name, limit in (
            ("read.p50", "5 us"), ("read.p50", "0.005 ms"), ("scenario.spare", "0.35"),
            ("scenario.spare", "35 %"), ("scenario.erase", "0.2 ms"), ("scenario.erase", "200 us"),
        )
        for compares in ("<=", ">=", "==")
    ]  # fmt: skip
    reader = Reader((), tuple(map(parse, limits)))
    found = reader(tmp_path, json.dumps(text).encode(), scenario)[VIOLATIONS]
    assert dict(zip(limits, found, strict=True)) == dict.fromkeys(limits, 0)


def test_what_is_beyond_all_numbers_is_infinite():
    assert units.in_base(1e308, "h") == (math.inf, "s")
    assert units.in_base(-1e308, "h") == (-math.inf, "s")


PARAMETERS = {
    "s": "ssd.host.link_latency",
    "B": "firmware.buffer.capacity",
    "B/s": "ssd.dram.bandwidth",
    "Hz": "ssd.cpu.clock",
    "C": "ssd.flash.reliability.temperature",
}
"""One in each base unit that the program has."""


@pytest.mark.parametrize("base", PARAMETERS)
def test_the_program_s_units_are_these(base, folder):
    """It names those that it takes, and takes all that are here, for as much."""
    with Runner() as runner:
        resolver = runner.resolver(folder / "small.yaml")
        with pytest.raises(InputError) as refused:
            resolver.resolve(((PARAMETERS[base], "5 parsecs"),))
        named = str(refused.value).partition("; use ")[2].replace(" or ", ", ").split(", ")
        assert set(named) - {"K"} <= set(KNOWN[base])  # K is C but for where it begins
        for unit in KNOWN[base]:
            if unit in ("y", "TB/s", "TiB/s"):
                continue  # of times beyond a run, and beyond any drive
            with contextlib.suppress(OutOfRange):
                node = resolved(resolver, base, f"3 {unit}")
                assert units.parse(str(node)) == pytest.approx(units.parse(f"3 {unit}"))


class OutOfRange(Exception):
    """The unit is known; so much of it is not allowed."""


def resolved(resolver, base: str, text: str):
    """What the program makes of a value."""
    try:
        node = resolver.resolve(((PARAMETERS[base], text),))
    except InputError as error:
        assert "is not a unit" not in str(error), error
        raise OutOfRange from error
    for word in PARAMETERS[base].split("."):
        node = node[word]
    return node


def test_micro_signs_are_units_of_axes_and_expressions(folder):
    """They were words."""
    for micro in ("\u00b5", "\u03bc"):
        text = f"ssd.host.link_latency: [50 {micro}s, 60{micro}s]\n"
        (folder / "axis.yaml").write_text(text, encoding="utf-8")
        ((name, entry),) = read_document(folder / "axis.yaml").items()
        axis = read_axis(name, entry, True)
        assert [axis.value(choice) for choice in axis.choices] == [50, 60]
        assert parse(f"read.p99 < 5 {micro}s").violation(lambda name: 4e-6) == pytest.approx(-0.2)


def test_no_unit_is_left_out_of_this():
    assert set(units.BASES) == {unit for table in KNOWN.values() for unit in table}
    with pytest.raises(InputError, match="is not a quantity"):
        units.parse("5 parsecs")


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (0.25, "share", "25 %"), (0.0123, "share", "1.23 %"),
        (1500, "ns", "1.50 us"), (4.2e-3, "s", "4.20 ms"), (61, "s", "61 s"), (0.001, "ns", "0 ns"),
        (999.9, "ns", "1.00 us"), (-2e6, "ns", "-2 ms"),
        (1024, "B", "1 KiB"), (1.5 * 2**20, "B", "1.50 MiB"), (2**30, "B", "1 GiB"),
        (2**40, "B", "1 TiB"), (1000, "B", "1000 B"), (512, "B", "512 B"),
        (2e9, "B/s", "2 GB/s"), (3.5e6, "B/s", "3.50 MB/s"), (700, "B/s", "700 B/s"),
        (37900, "1/s", "37.9 k/s"), (5, "1/s", "5/s"),
        (1.5, "", "1.50"), (123456, "", "123 k"), (40, "C", "40 C"), (math.nan, "ns", "-"),
    ],
)  # fmt: skip
def test_a_value_is_said_with_a_fitting_prefix(value, unit, text):
    assert quantity_text(value, unit) == text


def test_a_relative_difference_is_said_in_per_cent():
    shares = (0.123, -0.0042, 0.0004, -2.5, math.inf, math.nan)
    said = ["+12 %", "-0.4 %", "0 %", "-250 %", "from 0", "-"]
    assert [percent_text(share) for share in shares] == said
    assert percent_text(0.123, signed=False) == "12 %"


def test_figures_and_parameters_are_in_base_units(tmp_path):
    """Latencies of a report are in ns, and a limit in ms is one in s."""
    text = report(1, read=operation(2e6, {"sense": 2e6}, {"sense": 2e6}))
    scenario = {"ssd": {"cpu": {"clock": "500 MHz"}, "flash": {"channels": 4, "parts": ["20 %"]}}}
    asked = {
        "read.p50": 2e-3, "read.ledger.sense": 2e-3, "bandwidth": 4096 / 2e-3,
        "statistics.flash.die_1.busy": 0.4, "scenario.ssd.cpu.clock": 5e8,
        "scenario.ssd.flash.channels": 4, "scenario.ssd.flash.parts.0": 0.2,
    }  # fmt: skip
    limits = {"read.p50 < 3 ms": -1 / 3, "read.p50 < 1600 us": 1 / 4}
    reader = Reader(tuple((name, parse(name)) for name in asked), tuple(map(parse, limits)))
    found = reader(tmp_path, json.dumps(text).encode(), scenario)
    assert found.pop(VIOLATIONS) == pytest.approx(tuple(limits.values()))
    assert found == pytest.approx(asked)


def test_a_temperature_is_a_number_of_a_study(folder):
    """Its column was empty, and a limit in degrees was refused."""
    (folder / "study.yaml").write_text(
        """base: small.yaml
axes: {ssd.flash.reliability.temperature: [25 C, 40 C]}
metrics: {warm: scenario.ssd.flash.reliability.temperature}
constraints: [scenario.ssd.flash.reliability.temperature < 30 C]
"""
    )
    rows = carry_out("study.yaml", "out").rows
    assert [row.values["warm"] for row in rows] == [25, 40]
    assert [row.feasible for row in rows] == [True, False]
