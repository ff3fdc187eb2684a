"""What is said against a study at its end: advice of its runs, constraints that nothing meets."""

import json
import math
import sys
from types import SimpleNamespace

import pandas as pd
import pytest

from tests.conftest import STUDY, carry_out
from tlmssd.cli import main
from tlmssd.store import Store
from tlmssd.study.cautions import cautions
from tlmssd.study.designs import Design
from tlmssd.study.session import Row
from tlmssd.study_page import write_page


def study_of(*constraints):
    return SimpleNamespace(
        constraints=[SimpleNamespace(name=name) for name in constraints],
        metrics=(),
        search=None,
        design=Design(),
    )


def rows_of(*points):
    """A row for each run: by how much it misses each constraint; None has no results."""
    return [
        Row(number, None, seed, "refused", "why", "", {}, ())
        if misses is None
        else Row(number, None, seed, "ok", "", "", {}, misses)
        for number, runs in enumerate(points, 1)
        for seed, misses in enumerate(runs)
    ]


def test_of_constraints_that_no_point_meets_it_is_said_how_far_the_nearest_is_off():
    """A point is as far off as its worst run, and counts if all of its runs have results."""
    study = study_of("iops > 5", "read.p99 < 1 ms", "trim.p99 < 1 ms", "wa < 2")
    rows = rows_of(
        [(0.5, -1, math.inf, -1), (0.1, 2, math.inf, -1)],
        [(-0.1, 0.3, math.inf, -1), (-0.2, 0.25, math.inf, -1)],
        [(0.7, -0.5, math.inf, -1)] * 2,
        [(0.01, 0.01, 0.01, 0.01), None],
    )
    assert cautions(study, rows) == [
        "No point meets the constraints",
        "Constraint iops > 5: 2 of 3 points miss it, the nearest by 50 %",
        "Constraint read.p99 < 1 ms: 2 of 3 points miss it, the nearest by 30 %",
        "Constraint trim.p99 < 1 ms: 3 of 3 points miss it: they do not have what it asks for",
        "Constraint wa < 2: every point meets it",
    ]
    near = rows_of([(sys.float_info.min,)])
    assert cautions(study_of("a != b"), near)[1].endswith("the nearest by less than 0.1 %")


@pytest.mark.parametrize("kind", ["random", "latin-hypercube", "sobol"])
def test_points_of_a_design_that_are_left_out_are_told(kind, folder):
    """Of four designs no more than four points can be drawn."""
    design = f"design: {{{kind}: 8}}\nseeds: 1"
    (folder / "study.yaml").write_text(STUDY.replace("seeds: 2", design))
    report = carry_out("study.yaml", "out")
    points = len(report.rows)
    assert points <= 4
    said = f"{8 - points} of the 8 points of the design ({kind}) repeat others and were left out"
    assert report.cautions[0].startswith(said)
    assert any(line.startswith(f"! {said}") for line in report.lines(folder / "out"))
    assert json.loads((folder / "out/summary.json").read_text())["cautions"] == report.cautions


def test_of_a_design_without_repeats_nothing_is_told():
    study = study_of()
    study.design = Design("sobol", 2)
    assert cautions(study, rows_of([(-1,)], [(-1,), (-1,)])) == []
    study.design = Design("sobol", 3)
    assert len(cautions(study, rows_of([(-1,)], [(-1,), (-1,)]))) == 1


@pytest.mark.parametrize(
    ("names", "points"),
    [
        (["a < 1"], [[(0.1,)], [(0.0,)]]),  # one point meets it
        (["a < 1"], [[None]]),  # no point has results, which is said elsewhere
        ([], [[()]]),
    ],
)
def test_nothing_is_said_of_constraints_that_a_point_meets_or_none_was_asked(names, points):
    assert cautions(study_of(*names), rows_of(*points)) == []


def test_advice_is_counted_by_rule_with_the_words_of_the_first_run():
    runs = [{"short": "few of 1"}, {"short": "few of 2", "steady": "not yet"}, {"steady": "no"}, {}]
    rows = [Row(n, None, None, "ok", "", "", {}, (), advice) for n, advice in enumerate(runs)]
    rows.append(Row(9, None, None, "refused", "why", "", {}, ()))
    assert cautions(study_of(), rows) == [
        "2 of 4 runs: short: few of 1",
        "2 of 4 runs: steady: not yet",
    ]


def test_runs_without_a_value_of_what_was_asked_for_are_counted(folder):
    """They ended as if all were well, with empty columns."""
    study = STUDY.replace("tail: read.p99", "tail: read.p99, none: 1 / (iops - iops)")
    study = study.replace("load.iodepth: [1, 4]", "load.rw: [randread, randwrite]")
    (folder / "study.yaml").write_text(study)
    said = carry_out("study.yaml", "out").cautions
    assert "4 of 8 runs: metric tail has no value" in said
    assert "8 of 8 runs: metric none has no value" in said
    assert "4 of 8 runs: metric wa has no value" in said


def test_runs_that_measured_nothing_are_told(folder):
    """Their rates were 0, and the best or the worst of all."""
    (folder / "study.yaml").write_text(
        "base: small.yaml\naxes: {load.ramp_requests: [0, 500]}\nobjectives: {iops: maximize}\n"
    )
    report = carry_out("study.yaml", "out")
    assert [math.isnan(row.values["iops"]) for row in report.rows] == [False, True]
    assert "1 of 2 runs: metric iops has no value" in report.cautions
    assert any("nothing was measured: the ramp" in line for line in report.cautions)


@pytest.mark.parametrize("objective", ["read.p99", "1 / (iops - iops)"])
@pytest.mark.parametrize("search", ["", "search: {sampler: random, points: 3}\n"])
def test_an_objective_that_no_run_has_is_refused(folder, capsys, objective, search):
    """As what-if refuses such a metric."""
    (folder / "study.yaml").write_text(
        "base: small.yaml\nset: {load.rw: randwrite}\naxes: {load.iodepth: [1, 4]}\n"
        f"objectives: {{{objective}: minimize}}\n{search}"
    )
    assert main(["explore", "study.yaml", "--jobs", "1", "--no-page"]) == 2
    assert f"study.yaml:4: objectives.{objective}: " in (error := capsys.readouterr().err)
    assert f"objective {objective} has no value in any run\n" in error
    assert not (folder / "out").exists()


def test_a_study_ends_with_what_is_to_be_said_against_it(folder):
    (folder / "study.yaml").write_text(STUDY + "constraints: [tail < 1 ns, wa > 1e9]\n")
    report = carry_out("study.yaml", "out")
    assert report.code == 0
    said = [line[2:] for line in report.lines(folder / "out") if line.startswith("! ")]
    assert said[0] == "No point meets the constraints"
    assert said[1].startswith("Constraint tail < 1 ns: 4 of 4 points miss it, the nearest by ")
    assert said[2].startswith("Constraint wa > 1e9: 4 of 4 points miss it, the nearest by 100 %")
    (few,) = (text for text in said if text.startswith("8 of 8 runs: few-for-tail: fewer than "))
    assert json.loads((folder / "out/summary.json").read_text())["cautions"] == said
    write_page(folder / "out", Store.create(folder / "store"))
    page = (folder / "out/study.html").read_text()
    assert '<p class="warn">No point meets the constraints</p>' in page
    assert f'<p class="warn">{few}</p>' in page
    again = carry_out("study.yaml", "again")  # from the store
    assert again.cautions == report.cautions
    plain = pd.read_csv(folder / "out/results.csv").columns
    assert list(plain[-3:]) == ["tail", "wa", "feasible"]


def test_advice_that_is_silenced_is_not_said(folder):
    silenced = 'set: {report.silence: "few-for-tail"}\n'
    (folder / "study.yaml").write_text(STUDY + silenced)
    report = carry_out("study.yaml", "out")
    assert not any("few-for-tail" in text for text in report.cautions)
    assert any("short-for-amplification" in text for text in report.cautions)
