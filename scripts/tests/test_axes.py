"""Axes as their documentation shows them, and values in different units."""

import re

import pytest

from tests.conftest import SCRIPTS
from tlmssd.cli import main
from tlmssd.study import axes
from tlmssd.study.axes import read_axis
from tlmssd.study.document import read_document
from tlmssd.study.study import Study, is_parameter

EXAMPLES = re.findall(r"^([\w.]+: [\[{].*?[\]}])(?: {2,}| a |$)", axes.__doc__, re.MULTILINE)


@pytest.mark.parametrize("example", EXAMPLES)
def test_what_the_documentation_shows_is_taken(example, folder, capsys):
    example = example.replace("parts/nand/a.yaml", "parts/nand/tlc-48l.yaml")
    example = example.replace("parts/nand/b.yaml", "parts/nand/femu-mlc.yaml")
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


PARTS = "ssd.flash.part: [parts/nand/tlc-48l.yaml, {file: parts/nand/tlc-48l.yaml, planes: 4}]"
PLANES = "ssd.flash.part.planes: [2, 4]"


@pytest.mark.parametrize(("first", "second"), [(PARTS, PLANES), (PLANES, PARTS)])
def test_axes_of_a_section_and_of_what_is_in_it(first, second, folder, capsys):
    """Refused in either order; what is offered in their place is taken."""
    base = folder / "small.yaml"
    base.write_text(base.read_text().replace("    over_provisioning: 40 %\n", ""))
    path = folder / "study.yaml"
    path.write_text(f"base: small.yaml\naxes:\n  {first}\n  {second}\n")
    assert main(["explore", "study.yaml", "--check"]) == 2
    said = capsys.readouterr().err
    keys = [axis.partition(": ")[0] for axis in (first, second)]
    assert said.startswith(
        f"tlmssd: study.yaml:4: axes.{keys[1]}: sets {keys[1]}, and axes.{keys[0]} in line 3 sets "
    )
    offered = said.partition("such as ")[2]
    path.write_text(f"base: small.yaml\naxes:\n  {offered}\n")
    assert main(["explore", "study.yaml", "--check"]) == 0, capsys.readouterr().err
    (axis,) = Study.read(path).axes
    assert dict(axis.choices[0].settings)["ssd.flash.part.planes"] == "4"
    assert axis.choices[0].settings[0][0] == "ssd.flash.part"


@pytest.mark.parametrize(
    "axes",
    [
        "load.iodepth: [1, 4]\n  load.1.iodepth: [2, 4]",
        "depth: [{load.iodepth: 1}, {load.0.iodepth: 4}]",
        "seed of its own: {a: {seed: 1}, b: {seed: 2}}",
        "part: {a: {ssd.flash: {channels: 2}, ssd.flash.ways: 2}}",
    ],
)
def test_axes_that_do_not_set_the_same(axes, folder):
    (folder / "study.yaml").write_text(f"base: small.yaml\naxes:\n  {axes}\n")
    Study.read(folder / "study.yaml")


@pytest.mark.parametrize(
    ("fixed", "axes"),
    [
        ("load: {rw: read, bs: 4k, number_ios: 9}", "load.iodepth: [1, 4]"),
        ("load.iodepth: 2", "mix: {deep: {load.iodepth: 8}, reads: {load.rw: randread}}"),
        ("load.iodepth: 2", "load.1.iodepth: [1, 4]"),
        ("seed: 3", "load.iodepth: [1, 4]"),
    ],
)
def test_what_is_set_for_all_points_may_be_changed_by_axes(fixed, axes, folder):
    """In a part of it, or in some points."""
    text = f"base: small.yaml\nset:\n  {fixed}\naxes:\n  {axes}\n"
    (folder / "study.yaml").write_text(text)
    Study.read(folder / "study.yaml")


@pytest.mark.parametrize("path", sorted((SCRIPTS.parent / "scenarios/studies").glob("*.yaml")))
def test_the_studies_that_come_with_it_are_good(path, folder, capsys):
    assert main(["explore", str(path), "--check"]) == 0, capsys.readouterr().err


ONE = "{rw: read, bs: 4k, number_ios: 9}"
TWO = "[{rw: read, bs: 4k, number_ios: 9}, {rw: write, bs: 4k, number_ios: 9}]"
ODD = "[{rw: read, bs: 4k, number_ios: 9}, {name: 'a: b.1', rw: write, bs: 4k, number_ios: 9}]"


@pytest.mark.parametrize("loads", [(ONE, TWO, ODD), (ODD, TWO, ONE), (TWO, ONE, ODD)])
def test_a_metric_may_be_of_any_choice_of_an_axis(loads, folder, capsys):
    """Whatever the order; and what is offered for a name that is not known can be written so."""
    path = folder / "study.yaml"
    text = "base: small.yaml\naxes:\n  ssd.flash.ways: [1, 2]\n  load: [LOADS]\n"
    text += "metrics:\n  second: loads.load 2.write.p99\n  depth: scenario.load.1.iodepth\n"
    text += "  odd: METRIC\nconstraints: [loads.load 2.write.iops > 3]\n"
    text = text.replace("LOADS", ", ".join(loads))
    path.write_text(text.replace("METRIC", "loads.a b.1.write.p99"))
    assert main(["explore", "study.yaml", "--check"]) == 2
    said = capsys.readouterr().err
    assert said.startswith("tlmssd: study.yaml:8: metrics.odd: there is no metric 'loads.a b.1.")
    offered = said.partition("the nearest is ")[2].strip()
    assert offered == "'\"loads.a: b.1.write.p99\"'"
    path.write_text(text.replace("METRIC", offered))
    assert main(["explore", "study.yaml", "--check"]) == 0, capsys.readouterr().err
    path.write_text(text.replace("METRIC", "scenario.load.2.iodepth"))
    assert main(["explore", "study.yaml", "--check"]) == 2
    assert "there is no parameter 'load.2.iodepth'" in capsys.readouterr().err
