"""Axes as their documentation shows them, and values in different units."""

import random
import re

import pytest

from tests.conftest import SCRIPTS
from tlmssd import units
from tlmssd.cli import main
from tlmssd.runs import Runner
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
    assert len(EXAMPLES) == 7
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


def axis_of(folder, name, text):
    (folder / "axis.yaml").write_text(f"{name}: {text}\n")
    ((name, entry),) = read_document(folder / "axis.yaml").items()
    return read_axis(name, entry, True)


CONTINUOUS = [
    ("firmware.buffer.capacity", "{from: 256 KiB, to: 4 MiB, scale: log}"),
    ("firmware.buffer.capacity", "{from: 256 KiB, to: 4000001 B}"),
    ("firmware.buffer.capacity", "{from: 40000 B, to: 48 KiB}"),
    ("ssd.cpu.clock", "{from: 20 MHz, to: 90 MHz}"),
    ("ssd.flash.bus", "{from: 40 MT/s, to: 1.2 GT/s, scale: log}"),
    ("ssd.flash.part.erase_latency", "{from: 10 us, to: 90 us}"),
    ("ssd.flash.part.read_latency", "{from: 10 us, to: 90 us, scale: log}"),
    ("ssd.host.link_latency", "{from: 10 ns, to: 900 ns}"),
    ("ssd.flash.user_capacity", "{from: 20 MiB, to: 24 MiB}"),
    ("ssd.dram.bandwidth", "{from: 0.25 GiB/s, to: 2 GiB/s}"),
    ("load.thinktime", "{from: 0 us, to: 1 ms}"),
    ("precondition.1.overwrite", "{from: 1x, to: 3x}"),
    ("ssd.flash.over_provisioning", "{from: 35 %, to: 60 %}"),
]
STEPPED = [
    ("ssd.flash.part.erase_latency", "{from: 10 us, to: 90 us, steps: 8}", 8),
    ("ssd.flash.part.erase_latency", "{from: 10 us, to: 90 us, factor: 1.3}", 9),
    ("ssd.flash.part.program_latency", "{from: 100 us, to: 800 us, steps: 6}", 6),
    ("firmware.buffer.capacity", "{from: 1 MiB, to: 8 MiB, steps: 6}", 6),
    ("firmware.buffer.capacity", "{from: 32 KiB, to: 40 KiB, steps: 6}", 6),
    ("ssd.cpu.clock", "{from: 20 MHz, to: 90 MHz, steps: 7}", 7),
    ("ssd.host.link_latency", "{from: 10 ns, to: 900 ns, steps: 10}", 10),
    ("ssd.dram.bandwidth", "{from: 100 MB/s, to: 1 GiB/s, steps: 4}", 4),
]


@pytest.mark.parametrize(("name", "text"), CONTINUOUS)
def test_any_value_of_a_range_is_one_that_scenarios_take(name, text, folder):
    """All of them in a design, a search or asked by number; they were refused as too fine."""
    axis = axis_of(folder, name, text)
    shares = [random.Random(seed).random() for seed in range(30)]
    choices = [axis.choose(share) for share in shares]
    assert len({choice.label for choice in choices}) > 25
    with Runner() as runner:
        resolver = runner.resolver(folder / "small.yaml")
        for choice in (*axis.ends(), *choices):
            resolver.resolve(choice.settings)
            assert axis.span.low <= axis.value(choice) <= axis.span.high
            assert axis.choice_of(axis.value(choice)) == choice  # as AskTell and StudyEnv do
    low, high = re.search(r"from: (.*?), to: (.*?)[,}]", text).groups()
    assert [units.parse(end.label) for end in (axis.choose(0), axis.choose(1))] == [
        pytest.approx(units.parse(low), rel=1e-15),
        pytest.approx(units.parse(high), rel=1e-15),
    ]
    assert axis.ends() == (axis.choose(0), axis.choose(1))


@pytest.mark.parametrize(("name", "text", "count"), STEPPED)
def test_steps_of_a_range_need_not_divide_it_evenly(name, text, count, folder, capsys):
    assert len(axis_of(folder, name, text).choices) == count
    (folder / "study.yaml").write_text(f"base: small.yaml\naxes:\n  {name}: {text}\n")
    assert main(["explore", "study.yaml", "--check"]) == 0, capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "text", "values"),
    [
        ("firmware.buffer.capacity", "{from: 1 MiB, to: 2 MiB, steps: 3}", "1 MiB|1.5 MiB|2 MiB"),
        ("firmware.buffer.capacity", "{from: 1 KiB, to: 2 KiB, steps: 5}",
         "1 KiB|1.25 KiB|1.5 KiB|1.75 KiB|2 KiB"),
        ("ssd.flash.part.erase_latency", "{from: 1 us, to: 2 us, steps: 4}",
         "1 us|1.333333 us|1.666667 us|2 us"),
        ("ssd.flash.part.erase_latency", "{from: 10 us, to: 20 us, step: 2.5 us}",
         "10 us|12.5 us|15 us|17.5 us|20 us"),
        ("ssd.dram.bandwidth", "{from: 0.5 GiB/s, to: 1 GiB/s, steps: 4}",
         "0.5 GiB/s|715827883 B/s|894784853 B/s|1 GiB/s"),
        ("ssd.flash.over_provisioning", "{from: 5 %, to: 10 %, steps: 4}",
         "5 %|6.66666667 %|8.33333333 %|10 %"),
        ("load.iodepth", "{from: 1, to: 8, factor: 1.5}", "1|2|3|5|8"),
    ],
)  # fmt: skip
def test_what_was_fine_enough_keeps_its_text(name, text, values, folder):
    """Finished points are found by it."""
    choices = axis_of(folder, name, text).choices
    assert [choice.label for choice in choices] == values.split("|")
    assert [choice.settings for choice in choices] == [((name, c.label),) for c in choices]


@pytest.mark.parametrize(
    ("text", "sizes"),
    [
        ("{from: 8589934592 B, to: 34359738368 B, scale: log, steps: 3}", [2**33, 2**34, 2**35]),
        ("{from: 8589934592 B, to: 34359738368 B, factor: 2}", [2**33, 2**34, 2**35]),
        ("{from: 1099511627776 B, to: 1099511635968 B, step: 4096 B}",
         [2**40, 2**40 + 4096, 2**40 + 8192]),
        ("{from: 1 TiB, to: 1099511635968 B, step: 4 KiB}", [2**40, 2**40 + 4096, 2**40 + 8192]),
    ],
)  # fmt: skip
def test_large_sizes_keep_their_bytes(text, sizes, folder):
    """They were cut to 9 or 12 digits."""
    choices = axis_of(folder, "ssd.flash.user_capacity", text).choices
    assert [units.parse(choice.label) for choice in choices] == sizes


@pytest.mark.parametrize("scale", ["linear", "log"])
def test_large_sizes_are_whole_granules(scale, folder):
    """A number of bytes that was whole because it had been cut was none."""
    text = f"{{from: 8589934592 B, to: 34359738368 B, scale: {scale}}}"
    axis = axis_of(folder, "ssd.flash.user_capacity", text)
    for share in (0.1, 1 / 3, 0.5, 0.7):
        assert units.parse(axis.choose(share).label) % 4096 == 0
        assert axis.choice_of(axis.value(axis.choose(share))) == axis.choose(share)


def test_a_range_of_a_list_is_of_lists_of_one(folder):
    """Also when it is read back from resolved-study.yaml."""
    name, numbers = "ssd.flash.part.read_latency", [20.0, 30.0, 40.0]
    for text in ("{from: 20 us, to: 40 us, step: 10 us}", "[[20 us], ['30 us'], [40 us]]"):
        axis = axis_of(folder, name, text)
        assert [choice.settings for choice in axis.choices] == [
            ((name, f'["{number:.0f} us"]'),) for number in numbers
        ]
        assert [axis.value(choice) for choice in axis.choices] == numbers
    assert axis_of(folder, name, "[[20 us, 30 us]]").choices[0].label == '["20 us", "30 us"]'


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
    text += "  own: loads.load 2.own_time.bandwidth\n  write: loads.load 2.write.own_time.iops\n"
    text += "  odd: METRIC\nconstraints: [loads.load 2.write.iops > 3]\n"
    text = text.replace("LOADS", ", ".join(loads))
    path.write_text(text.replace("METRIC", "loads.a b.1.write.p99"))
    assert main(["explore", "study.yaml", "--check"]) == 2
    said = capsys.readouterr().err
    assert said.startswith("tlmssd: study.yaml:10: metrics.odd: there is no metric 'loads.a b.1.")
    offered = said.partition("the nearest is ")[2].strip()
    assert offered == "'\"loads.a: b.1.write.p99\"'"
    path.write_text(text.replace("METRIC", offered))
    assert main(["explore", "study.yaml", "--check"]) == 0, capsys.readouterr().err
    path.write_text(text.replace("METRIC", "scenario.load.2.iodepth"))
    assert main(["explore", "study.yaml", "--check"]) == 2
    assert "there is no parameter 'load.2.iodepth'" in capsys.readouterr().err
