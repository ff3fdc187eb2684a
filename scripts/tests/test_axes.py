"""Axes as their documentation shows them, and values in different units."""

import re

import pytest

from tlmssd.cli import main
from tlmssd.study import axes
from tlmssd.study.axes import read_axis
from tlmssd.study.document import read_document
from tlmssd.study.study import is_parameter

EXAMPLES = re.findall(r"^([\w.]+: [\[{].*?[\]}])(?: {2,}| a |$)", axes.__doc__, re.MULTILINE)


@pytest.mark.parametrize("example", EXAMPLES)
def test_what_the_documentation_shows_is_taken(example, folder, capsys):
    example = example.replace("parts/nand/a.yaml", "parts/nand/tlc-48l.yaml")
    example = example.replace("parts/nand/b.yaml", "parts/nand/tlc-48l.yaml")
    base = folder / "small.yaml"
    base.write_text(base.read_text().replace("    over_provisioning: 40 %\n", ""))
    path = folder / "study.yaml"
    path.write_text(f"base: small.yaml\naxes:\n  {example}\ndesign: {{latin-hypercube: 4}}\n")
    assert main(["explore", "study.yaml", "--check"]) == 0, capsys.readouterr().err


def test_the_documentation_has_examples():
    assert len(EXAMPLES) == 6
    assert any("scale: log" in example for example in EXAMPLES)


def test_values_in_different_units_are_numbers_in_the_first(folder):
    (folder / "axis.yaml").write_text("ssd.cpu.clock: [400 MHz, 1 GHz, 2 GHz]\n")
    ((name, entry),) = read_document(folder / "axis.yaml").items()
    axis = read_axis(name, entry, True)
    assert axis.unit == "MHz"
    assert [axis.value(choice) for choice in axis.choices] == [400.0, 1000.0, 2000.0]
    assert axis.choice_of(1000.0).label == "1 GHz"


@pytest.mark.parametrize(
    ("name", "values"),
    [("ssd.flash.reliability.block_variation", [0, 0.5, 1]), ("load.iodepth", [0, 1])],
)
def test_whether_values_are_whole_is_the_parameter_s_type(name, values, folder):
    (folder / "axis.yaml").write_text(f"{name}: {{from: 0, to: 1, steps: 3}}\n")
    ((name, entry),) = read_document(folder / "axis.yaml").items()
    axis = read_axis(name, entry, True)
    assert [axis.value(choice) for choice in axis.choices] == values


def test_sections_of_a_scenario_are_no_names_of_one_s_own():
    assert all(is_parameter(name) for name in ("load", "age", "log_structured", "ssd.cpu"))
    assert not is_parameter("pattern")
