"""tlmssd validate: a report card says what a drive may be used for, and what not."""

import json
import re
from pathlib import Path

import pytest
from test_calibrate import BASE

from tlmssd import cli, run
from tlmssd.validate import Card, validate
from tlmssd.validate.card import Line
from tlmssd.validate.page import page_of
from tlmssd.validate.terminal import text_of
from tlmssd.validate.verdict import verdict_of

JOBS = """[global]
ioengine=libaio
norandommap
stonewall
[read-4k-qd1]
rw=randread
bs=4k
number_ios=500
[read-4k-qd8]
rw=randread
bs=4k
iodepth=8
number_ios=2000
[read-4k-qd64]
rw=randread
bs=4k
iodepth=64
number_ios=4000
[burst-1m]
rw=write
bs=64k
iodepth=8
io_size=1m
[burst-4m]
rw=write
bs=64k
iodepth=8
io_size=4m
[burst-16m]
rw=write
bs=64k
iodepth=8
io_size=16m
[burst-64m]
rw=write
bs=64k
iodepth=8
io_size=64m
"""


@pytest.fixture
def drives(folder):
    (folder / "jobs.fio").write_text(JOBS)
    (folder / "base.yaml").write_text(BASE)
    result = run(folder / "base.yaml", {"seed": 7})
    (folder / "measured.json").write_text((result.folder / "fio.json").read_text())
    wrong = (
        BASE.replace("8 MiB", "1 MiB").replace("[50 us]", "[90 us]").replace("ways: 2", "ways: 1")
    )
    (folder / "wrong.yaml").write_text(wrong)
    return folder


def test_a_drive_against_itself_is_good_for_everything(drives):
    card = validate("base.yaml", ["measured.json"], jobs=2)
    assert not card.not_for
    assert all(line.holds for line in card.lines)
    assert all(statement.holds for statement in card.statements)
    kinds = {statement.kind for statement in card.statements}
    assert kinds == {"order", "queue depth", "cliff"}
    assert card.frame()["holds"].all()


def test_a_wrong_drive_is_told_and_why(drives, capsys):
    assert (
        cli.main(["validate", "wrong.yaml", "measured.json", "--jobs", "2", "-o", "card.html"]) == 0
    )
    said = capsys.readouterr().out
    allowed, _, refused = said.partition("It may not be used for")
    assert "mean latencies of reads: " in refused
    assert "where the bandwidth falls: 0 of 1 hold" in refused
    assert "Measured once: its spread is not known" in allowed
    assert "Report card" in (drives / "card.html").read_text()


def test_fitted_jobs_do_not_count(drives):
    wrong = validate("wrong.yaml", ["measured.json"], jobs=2, fitted=["read-4k-qd1"], seeds=1)
    fitted = {line.job for line in wrong.lines if line.fitted}
    assert fitted == {"read-4k-qd1"}
    (drives / "calibration.json").write_text(json.dumps({"fitted_jobs": ["burst-1m"]}))
    known = validate("base.yaml", ["measured.json"], jobs=2, seeds=1)
    assert {line.job for line in known.lines if line.fitted} == {"burst-1m"}


def test_nothing_held_out_is_no_verdict(drives, capsys):
    jobs = ",".join(re.findall(r"\[(.*-.*)\]", JOBS))
    words = ["validate", "wrong.yaml", "measured.json", "--seeds", "1", "--jobs", "2"]
    assert cli.main([*words, "--fitted", jobs, "-o", "card.html"]) == 0
    said = capsys.readouterr().out
    assert "No verdict\n  the drive was fitted to every job" in said
    assert "may be used for" not in said and "Statements" not in said
    assert "No verdict" in (drives / "card.html").read_text()
    assert cli.main([*words, "--fitted", jobs.replace("burst-1m,", "")]) == 0
    said = capsys.readouterr().out
    assert "bandwidths of writes: " in said and " of 1 within" in said
    assert " of reads: " not in said.partition("It may be used for")[2]


def line(measured, emulated, emulated_spread=0.0, seeds=4, measured_spread=0.0, figure="read.mean"):
    return Line("job", figure, measured, emulated, measured_spread, emulated_spread, seeds, False)


def test_the_difference_that_is_shown_is_the_one_that_is_judged():
    assert line(100, 90.7).holds and line(100, 109.9).holds
    assert not line(100, 89.9).holds and not line(100, 110.1).holds
    assert line(100, 119, measured_spread=0.1).holds


def test_noise_of_the_emulator_is_no_tolerance_but_undecided():
    assert line(100, 109, 0.08).holds is True
    assert line(100, 111, 0.08).holds is False  # known to less than 10 %
    for emulated in (100, 111):
        assert line(100, emulated, 0.15).tolerance == 0.10
        assert line(100, emulated, 0.15).holds is None
        assert line(100, emulated, 0.15, seeds=16).holds is (emulated == 100)
    assert line(100, 200, 0.15).holds is False  # however many seeds
    sure, open_ = line(100, 101), line(100, 101, 0.3)
    assert verdict_of([sure] * 9 + [open_], [])[0] == [
        "mean latencies of reads: 9 of 10 within their tolerance, typically 1.0 % off, 1 undecided"
    ]
    good, bad, undecided = verdict_of([sure, open_], [])
    assert (good, bad, len(undecided)) == ([], [], 1)
    assert verdict_of([sure, open_, line(100, 300)], [])[1]
    card = Card(Path("drive.yaml"), (sure, open_), (), (), (), tuple(undecided), 1)
    assert "Undecided: more seeds\n  mean latencies of reads: 1 of 2 within" in text_of(card)
    assert "undecided" in page_of(card)


def test_measurements_that_do_not_repeat_are_not_held_against_the_drive(drives):
    content = json.loads((drives / "measured.json").read_text())
    for job in content["jobs"]:
        job["read"]["clat_ns"]["mean"] *= 2
    (drives / "second.json").write_text(json.dumps(content))
    card = validate("base.yaml", ["measured.json", "second.json"], jobs=2, seeds=1)
    means = [line for line in card.lines if line.figure == "read.mean"]
    assert card.repeats == 2
    assert all(line.tolerance > 0.5 and line.holds for line in means)


def test_a_drive_whose_commands_fail_is_refused(drives, capsys):
    worn = BASE.replace("[50 us]}", "[50 us], endurance: 1}")
    worn = worn.replace("sequential}]", "sequential}, {overwrite: 1x, order: random}]")
    (drives / "worn.yaml").write_text(worn)
    assert cli.main(["validate", "worn.yaml", "measured.json", "--seeds", "1"]) == 2
    assert "worn.yaml: commands failed" in capsys.readouterr().err


def test_bad_arguments_get_one_line(drives, capsys):
    assert cli.main(["validate", "none.yaml", "measured.json"]) == 2
    assert cli.main(["validate", "base.yaml", "none.json"]) == 2
    assert cli.main(["validate", "base.yaml", "measured.json", "--fitted", "nothing"]) == 2
    assert cli.main(["validate", "base.yaml", "measured.json", "--run", "none.fio"]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 4
