"""Quantities: what a unit is worth, and how a value is said."""

import json
import math

import pytest
from reports import operation, report

from tests.conftest import carry_out
from tlmssd import units
from tlmssd.errors import InputError
from tlmssd.quantities import percent_text, quantity_text
from tlmssd.study.expressions import parse
from tlmssd.study.figures import Reader

KNOWN = {
    "s": {"ps": 1e-12, "ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1, "min": 60, "h": 3600,
          "d": 24 * 3600, "y": 365 * 24 * 3600},
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
        "read.p50 < 3 ms": -1 / 3, "read.p50 < 1600 us": 1 / 4,
    }  # fmt: skip
    reader = Reader(tuple((name, parse(name)) for name in asked))
    found = reader(tmp_path, json.dumps(text).encode(), scenario)
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
