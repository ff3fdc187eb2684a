"""Bad studies: one line with file and line, exit code 2, nothing run, nothing written."""

import pytest

from tests.conftest import STUDY, carry_out
from tlmssd.cli import main

BAD = {
    "unknown key": (("seeds: 2", "seedz: 2"), "5: seedz: unknown key; did you mean 'seeds'?"),
    "unknown axis": (
        ("firmware.gc.policy:", "firmware.gc.polcy:"),
        "3: key 'polcy' is not known in firmware.gc; did you mean 'policy'?",
    ),
    "unknown section": (
        ("firmware.gc.policy:", "firmwear.gc.policy:"),
        "3: key 'firmwear' is not known",
    ),
    "unknown choice": (
        ("[greedy, fifo]", "[greedy, fofo]"),
        "3: firmware.gc.policy: 'fofo' is not known; did you mean 'fifo'?",
    ),
    "out of range": (("[1, 4]", "[1, 0]"), "4: load.0.iodepth: 0 is out of range"),
    "ends of a range": (("[1, 4]", "{from: 0, to: 4, step: 2}"), "4: load.0.iodepth: 0 is out"),
    "wrong unit": (("[1, 4]", "[1, 4 ms]"), "4: load.0.iodepth: '4 ms'"),
    "value twice": (("[1, 4]", "[4, 4]"), "4: axes.load.iodepth: has '4' twice"),
    "no values": (("[1, 4]", "[]"), "4: axes.load.iodepth: has no values"),
    "axis without steps": (
        ("[1, 4]", "{from: 1, to: 4}"),
        "4: axes.load.iodepth: has no steps; a grid needs step, steps or factor",
    ),
    "range upside down": (
        ("[1, 4]", "{from: 4, to: 1, step: 1}"),
        "4: axes.load.iodepth.to: must be above from",
    ),
    "unknown metric": (
        ("read.p99,", "read.p98,"),
        "6: metrics.tail: there is no metric 'read.p98'; the nearest is 'read.p99'",
    ),
    "unknown statistic": (
        ("read.p99,", "statistics.firmware.flash.eraces,"),
        "6: metrics.tail: there is no metric 'statistics.firmware.flash.eraces'; the",
    ),
    "bad expression": (("read.p99,", "read.p99 +,"), "6: metrics.tail: 'read.p99 +' is no expr"),
    "unknown parameter": (
        ("read.p99,", "iops / scenario.ssd.flash.chanels,"),
        "6: metrics.tail: there is no parameter 'ssd.flash.chanels'",
    ),
    "no base": (("small.yaml", "smal.yaml"), "1: base: there is no file"),
    "no seeds": (("seeds: 2", "seeds: 0"), "5: seeds: must be a whole number from 1"),
    "contradiction in all points": (
        ("load.iodepth: [1, 4]", "ssd.flash.over_provisioning: [0.5 %, 1 %]"),
        "2: axes: every point is contradictory; the first: ",
    ),
    "not YAML": (("axes:", "axes: {"), "4: is not YAML: "),
    "a list": ((STUDY, "[1, 2]"), "1: must be a map"),
    "empty": ((STUDY, ""), " is empty"),
    "objective without goal": (
        ("seeds: 2", "objectives: {tail: down}"),
        "5: objectives.tail: 'down' is not known; valid: minimize, maximize",
    ),
    "search without objectives": (
        ("seeds: 2", "search: {sampler: tpe, points: 10}"),
        "5: search: a search needs objectives",
    ),
    "axis called like a column": (
        ("load.iodepth: [1, 4]", "settings: {a: {load.iodepth: 4}}"),
        "4: axes.settings: is the name of a column of the results; choose another",
    ),
    "metric called like a column": (
        ("tail:", "settings:"),
        "6: metrics.settings: 'settings' is taken; choose another name, such as 'own settings'",
    ),
    "metric called like what constraints come to": (
        ("tail:", "violation:"),
        "6: metrics.violation: 'violation' is taken; choose another name, such as 'own violation'",
    ),
    "metric called like what the front names": (
        ("tail:", "design:"),
        "6: metrics.design: 'design' is taken; choose another name, such as 'own design'",
    ),
    "objective called like a column": (
        ("seeds: 2", "objectives: {seed: minimize}"),
        "5: objectives.seed: is what results have beside metrics; name a metric",
    ),
    "objective that compares": (
        ("seeds: 2", 'objectives: {"iops > 3": maximize}'),
        "5: objectives.iops > 3: 'iops > 3' compares; that is for constraints, such as "
        "constraints: [iops > 3]",
    ),
    "metric that compares": (
        ("tail: read.p99,", "tail: read.p99 < 2 ms,"),
        "6: metrics.tail: 'read.p99 < 2 ms' compares; that is for constraints, such as "
        "constraints: [read.p99 < 2 ms]",
    ),
    "list that is part of itself": (
        ("[1, 4]", "&depths [1, *depths]"),
        "4: is part of itself by an alias; write its values out",
    ),
    "axis called like a metric": (
        ("load.iodepth: [1, 4]", "tail: {a: {load.iodepth: 4}}"),
        "4: axes.tail: is the name of a metric in line 6; choose another",
    ),
    "axis called like an objective": (
        (
            "  load.iodepth: [1, 4]",
            "  iops: {a: {load.iodepth: 4}}\nobjectives: {iops: maximize}",
        ),
        "4: axes.iops: is the name of a metric in line 5; choose another",
    ),
    "axis called like a metric of every study": (
        (STUDY[STUDY.index("load.iodepth") :], "iops: {a: {load.iodepth: 4}}"),
        "4: axes.iops: is the name of a metric, which a study without metrics has; choose another",
    ),
    "seed too large": (
        ("seeds: 2", "seeds: [1, 9223372036854775808]"),
        "5: seeds: must be a whole number from 0 to 9223372036854775807",
    ),
    "factor with a unit": (
        ("[1, 4]", "{from: 1, to: 40, factor: 150 %}"),
        "4: axes.load.iodepth.factor: must be a number without unit, such as 2",
    ),
    "factor in a linear range": (
        ("[1, 4]", "{from: 1, to: 40, factor: 2, scale: linear}"),
        "4: axes.load.iodepth.scale: contradicts factor, which is for scale: log",
    ),
    "step in a logarithmic range": (
        ("[1, 4]", "{from: 1, to: 40, step: 2, scale: log}"),
        "4: axes.load.iodepth.scale: contradicts step, which is for scale: linear",
    ),
    "two axes for one parameter": (
        ("load.iodepth: [1, 4]", "load.iodepth: [1, 4]\n  depth: {a: {load.iodepth: 8}}"),
        "5: axes.depth: sets load.iodepth, as axes.load.iodepth in line 4 does; leave it out of",
    ),
    "two axes for one parameter, the named one first": (
        ("load.iodepth: [1, 4]", "depth: {a: {load.iodepth: 8}}\n  load.iodepth: [1, 4]"),
        "5: axes.load.iodepth: sets load.iodepth, as axes.depth in line 4 does; leave it out of",
    ),
    "one parameter by two names": (
        ("load.iodepth: [1, 4]", "load.iodepth: [1, 4]\n  load.0.iodepth: [8, 16]"),
        "5: axes.load.0.iodepth: sets load.0.iodepth, as axes.load.iodepth in line 4 does; leave",
    ),
    "a parameter twice in one choice": (
        ("load.iodepth: [1, 4]", "depth: {a: {load.0.iodepth: 4, load.iodepth: 8}}"),
        "4: axes.depth: 'a' sets load.0.iodepth, and then load.iodepth over it; leave one of them",
    ),
    "a section after a parameter in it": (
        ("load.iodepth: [1, 4]", "depth: [{load.rw: read, load: {iodepth: 8}}]"),
        "4: axes.depth: 'read, {\"iodepth\": 8}' sets load.rw, and then load over it; leave",
    ),
    "a setting that an axis sets, too": (
        ("seeds: 2", "set:\n  load.number_ios: 9\n  load.0.iodepth: 2"),
        "7: set.load.0.iodepth: has no effect: axes.load.iodepth in line 4 sets load.iodepth in",
    ),
    "a setting in a section that an axis sets": (
        ("axes:", "set: {ssd.cpu.cores: 2}\naxes:\n  cores: {a: {ssd.cpu: {cores: 1}}}"),
        "2: set.ssd.cpu.cores: has no effect: axes.cores in line 4 sets ssd.cpu in every point",
    ),
    "a setting of the seed beside seeds": (
        ("axes:", "set: {seed: 3}\naxes:"),
        "2: set.seed: has no effect beside seeds in line 6; leave one of them out",
    ),
    "a value twice in other units": (
        ("load.iodepth: [1, 4]", "firmware.buffer.capacity: [1 MiB, 2 MiB, 1024 KiB]"),
        "4: axes.firmware.buffer.capacity: 1 MiB and 1024 KiB are the same drive and load; leave",
    ),
    "a section twice in other words": (
        (
            "load.iodepth: [1, 4]",
            "part: {a: {ssd.flash.part: parts/nand/tlc-48l.yaml}, "
            "b: {ssd.flash.part: {file: parts/nand/tlc-48l.yaml}}}",
        ),
        "4: axes.part: a and b are the same drive and load; leave one of them out",
    ),
    "the seed beside seeds": (
        ("load.iodepth: [1, 4]", "chance: {a: {seed: 1}, b: {seed: 2}}"),
        "4: axes.chance: sets seed, as seeds in line 5 do; leave seeds out",
    ),
    "search that takes no account of constraints": (
        (
            "seeds: 2",
            "search: {points: 9, sampler: cmaes}\nconstraints: [iops > 3]\n"
            "objectives: {iops: maximize}",
        ),
        "5: search.sampler: cmaes takes no account of constraints; valid with them: tpe, nsga2",
    ),
    "constraint without comparison": (
        ("seeds: 2", "constraints: [read.p99]"),
        "5: constraints: must compare",
    ),
    "constraint in another unit": (
        ("seeds: 2", "constraints: [read.p99 < 2 MiB]"),
        "5: constraints: 'read.p99 < 2 MiB': 'read.p99' must be compared with a quantity such as",
    ),
    "constraint on a metric of the study without a unit": (
        ("seeds: 2", "constraints: [2 > tail]"),
        "5: constraints: '2 > tail': 'tail' must be compared with a quantity such as 2 ms",
    ),
    "constraint with a unit too many": (
        ("seeds: 2", "constraints: [iops > 2 ms]"),
        "5: constraints: 'iops > 2 ms': 'iops' must be compared with a number without unit",
    ),
    "constraint on what is worked out, without a unit": (
        ("seeds: 2", "constraints: ['max(read.p99.9, write.p99.9) < 10']"),
        "5: constraints: 'max(read.p99.9, write.p99.9) < 10' compares a quantity in s with a "
        "number without unit; write the number with its unit, such as 2 ms",
    ),
    "constraint on what is worked out of the study's metrics": (
        ("seeds: 2", "constraints: [2 * tail < 10 GiB]"),
        "5: constraints: '2 * tail < 10 GiB' compares a quantity in s with a quantity in B",
    ),
    "metric of two units": (
        ("tail: read.p99,", "tail: read.p99 + iops,"),
        "6: metrics.tail: 'read.p99 + iops' adds a quantity in s and a quantity in 1/s",
    ),
    "constraint on a metric misspelt": (
        ("seeds: 2", "constraints: [tial < 2 ms]"),
        "5: constraints: there is no metric 'tial'; the nearest is 'tail'",
    ),
    "bad limit": (("seeds: 2", "limits: {time: 5}"), "5: limits.time: must be a quantity"),
    "unknown setting": (
        ("seeds: 2", "set:\n  load.number_ios: 9\n  ssd.flash.chanels: 2"),
        "7: set.ssd.flash.chanels: key 'chanels' is not known in ssd.flash; did you mean",
    ),
    "setting out of range": (
        ("seeds: 2", "set: {ssd.flash.channels: 0}"),
        "5: set.ssd.flash.channels: 0 is out of range",
    ),
    "setting that is no parameter": (
        ("seeds: 2", "set: {ssd: fast}"),
        "5: set.ssd: ",
    ),
    "setting within a part": (
        ("seeds: 2", "set: {ssd.flash.part: {file: parts/nand/tlc-48l.yaml, planez: 2}}"),
        "5: set.ssd.flash.part: key 'planez' is not known in ssd.flash.part; did you mean 'planes'",
    ),
    "setting that contradicts all points": (
        ("seeds: 2", "set:\n  ssd.flash.over_provisioning: 0.5 %"),
        "6: set.ssd.flash.over_provisioning: every point is contradictory; the first: ",
    ),
    "value of an axis within a part": (
        ("load.iodepth: [1, 4]", "ssd.flash.part: [{file: parts/nand/tlc-48l.yaml, planez: 2}]"),
        "4: key 'planez' is not known in ssd.flash.part; did you mean 'planes'",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_study_is_one_line(name, folder, capsys):
    (what, by), expected = BAD[name]
    assert what in STUDY
    (folder / "study.yaml").write_text(STUDY.replace(what, by))
    assert main(["explore", "study.yaml", "--jobs", "1"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert err.startswith("tlmssd: study.yaml:")
    assert expected in err
    assert not (folder / "out").exists()
    runs = folder / "store/runs"
    assert not runs.exists() or not list(runs.iterdir())


def test_an_axis_may_need_what_another_one_sets(folder):
    """A value that is wrong with the base alone is right with another axis's."""
    study = STUDY.replace("load.iodepth: [1, 4]", "ssd.flash.gang: [2, 4]").replace(
        "axes:",
        "set: {ssd.flash.organisation: shared-bus-gang}\naxes:\n  ssd.flash.channels: [4, 6]",
    )
    (folder / "study.yaml").write_text(study.replace("seeds: 2", "seeds: 1"))
    report = carry_out("study.yaml", "out")
    assert report.code == 4
    assert report.statuses == {"ok": 6, "refused": 2}


def test_two_mistakes_are_told_apart(folder, capsys):
    """They ran into each other."""
    study = STUDY.replace("axes:", "set: {load.iodpeth: 3, firmware.gc.polcy: greedy}\naxes:", 1)
    (folder / "study.yaml").write_text(study.replace("  load.iodepth: [1, 4]\n", ""))
    assert main(["explore", "study.yaml", "--check"]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "did you mean 'policy'?; --set load.iodpeth=3: key 'iodpeth'" in error


def test_other_peoples_folders_are_left_alone(folder, capsys):
    (folder / "mine").mkdir()
    (folder / "mine/results.csv").write_text("mine")
    assert main(["explore", "study.yaml", "--out", "mine"]) == 2
    assert "is not empty and holds no earlier study" in capsys.readouterr().err
    assert (folder / "mine/results.csv").read_text() == "mine"
    assert main(["explore", "study.yaml", "--store", "mine"]) == 2
    assert "is not empty and not a store" in capsys.readouterr().err
