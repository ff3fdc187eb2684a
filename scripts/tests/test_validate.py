"""tlmssd validate: a report card says what a drive may be used for, and what not."""

import json
import math
import re
from dataclasses import replace
from pathlib import Path

import pytest
from test_calibrate import BASE

from tlmssd import cli, run
from tlmssd.calibrate.measured import Known, Measured
from tlmssd.validate import Card, validate
from tlmssd.validate.card import Line, card_of
from tlmssd.validate.page import page_of
from tlmssd.validate.statements import statements_of
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
    assert "one seed" not in said
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
    assert "Emulated with one seed: how far others would be off is not known" in said
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


@pytest.mark.parametrize(
    ("figure", "tolerance"),
    [("read.bandwidth", 0.1), ("write.mean", 0.1), ("read.p50", 0.1), ("read.p99", 0.15),
     ("write.p99.9", 0.5)],
)  # fmt: skip
def test_what_a_figure_may_be_off_is_what_the_documents_say(figure, tolerance):
    for sign in (-1, 1):
        within, beyond = (100 * (1 + sign * share * tolerance) for share in (0.99, 1.01))
        assert line(100, within, figure=figure).holds is True
        assert line(100, beyond, figure=figure).holds is False


def test_a_line_has_the_mean_over_seeds_and_its_spread():
    figures = {"a": {"read.mean": Known(100.0, 0.0, 0.04), "read.iops": Known(9.0, 0.0)},
               "b": {"read.mean": Known(50.0, 0.0)}}  # fmt: skip
    runs = [{"a": {"read.mean": Known(value, 0.0)}} for value in (96.0, 100.0, 119.0)]
    (found,) = card_of(Measured(("a", "b"), figures, 2, ()), runs, ["a"])
    assert found.emulated == pytest.approx(105)
    assert found.emulated_spread == pytest.approx(math.sqrt((81 + 25 + 196) / 2) / 105)
    assert (found.measured, found.measured_spread, found.seeds, found.fitted) == (
        100,
        0.04,
        3,
        True,
    )
    assert found.difference == pytest.approx(0.05)
    # Two standard errors of the mean, in shares of what was measured.
    assert found.error == pytest.approx(2 * math.sqrt(151) / math.sqrt(3) / 100)


def test_what_is_typical_is_the_median_whichever_side_it_is_off():
    lines = [line(100, 100 + off) for off in (-8, -4, 2)]
    assert verdict_of(lines, [])[0] == [
        "mean latencies of reads: 3 of 3 within their tolerance, typically 4.0 % off"
    ]


def rates(*pairs, name="read-qd{}", kind="bandwidth"):
    """Lines of jobs named by 1, 2, 4, ..., each measured and emulated."""
    return [
        Line(name.format(2**n), f"read.{kind}", *pair, 0.0, 0.0, 3, False)
        for n, pair in enumerate(pairs)
    ]


def held(lines, kind):
    return [one.holds for one in statements_of(lines) if one.kind == kind]


@pytest.mark.parametrize("kind", ["bandwidth", "mean"])
def test_an_order_is_one_of_what_is_told_apart(kind):
    """By 15 %, up or down; emulated alike is no order."""
    assert held(rates((100, 50), (114, 40), kind=kind), "order") == []
    for measured in (116, 86):
        for emulated, same in ((51, True), (50, False), (49, False)):
            other = emulated if measured > 100 else 100 - emulated
            assert held(rates((100, 50), (measured, other), kind=kind), "order") == [same]


def test_what_queue_depth_brings_is_met_within_a_quarter():
    for growth, holds in ((1.24, True), (1.26, False), (1 / 1.24, True), (1 / 1.26, False)):
        assert held(rates((100, 10), (200, 20 * growth)), "queue depth") == [holds]
    assert held(rates((100, 10), (200, 20), name="read-{}k"), "queue depth") == []


def test_queue_depth_is_the_number_behind_qd():
    """Not the last one of the name."""
    twice = (100, 10), (200, 20)
    for name in ("qd1-{}k", "read-qd4-{}k"):
        assert held(rates(*twice, name=name), "queue depth") == []
    for name in ("qd{}-4k", "read-4k-qd{}", "rand4kQD_{}", "qd{}"):
        assert held(rates(*twice, name=name), "queue depth") == [True]


def test_a_cliff_is_at_its_place_and_half_as_deep_at_least():
    def cliff(*emulated, last=40):
        measured = (100, 100, 100, last)
        return held(rates(*zip(measured, emulated, strict=True), name="burst-{}m"), "cliff")

    # It was measured as a fall to two fifths, by a factor of 2.5: 1.75 is half of that.
    assert cliff(100, 100, 100, 57) == [True]
    assert cliff(100, 100, 100, 58) == [False]
    assert cliff(100, 100, 40, 40) == [False]
    assert cliff(100, 100, 100, 40, last=67) == []  # by less than 1.5 it is none


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


def test_a_figure_that_is_off_and_does_not_count_is_told():
    """Of a fitted figure that is `off`, "nothing that was measured fails" was said."""
    good, far = line(100, 101), line(100, 300)
    for lines, reasons in (
        ([good], ""),
        ([good, replace(far, fitted=True)], " (fitted figures do not count: 1 off)"),
        ([good] * 9 + [far], " (90 % of a kind are enough: 1 off)"),
        (
            [good] * 9 + [far] + [replace(far, fitted=True)] * 2,
            " (90 % of a kind are enough: 1 off; fitted figures do not count: 2 off)",
        ),
    ):
        verdict = verdict_of([one for one in lines if not one.fitted], [])
        card = Card(Path("drive.yaml"), tuple(lines), (), *map(tuple, verdict), 1)
        told = f"nothing that counts fails{reasons}"
        assert text_of(card).endswith(f"It may not be used for\n  {told}\n")
        assert told in page_of(card)


def test_what_may_come_to_nine_of_ten_is_undecided():
    """Of 7 that hold and 2 that more seeds decide, too: a sum of shares was a little less."""
    sure, open_, wrong = line(100, 101), line(100, 101, 0.3), line(100, 300)
    for count in range(10, 41, 10):
        for holding in range(count + 1):
            for waiting in range(count + 1 - holding):
                lines = [sure] * holding + [open_] * waiting
                lines += [wrong] * (count - len(lines))
                good, bad, undecided = map(len, verdict_of(lines, []))
                most = 9 * count // 10
                expected = (holding >= most, holding + waiting < most)
                assert (good, bad) == expected and good + bad + undecided == 1


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
