"""tlmssd pts: SNIA's tests on a small drive, their tables against the reports of their runs."""

import csv
import json
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
import yaml
from conftest import SCRIPTS, fake_program
from reports import operation, report, write

from tlmssd import cli
from tlmssd.program import find_program
from tlmssd.pts import scenario_file
from tlmssd.pts.measure import Measured, Steadiness, load_rows, steadiness, table_names
from tlmssd.pts.page import page_of
from tlmssd.pts.tests import (
    LATER_RAMPS,
    TESTS,
    Terms,
    behind_head,
    step_load,
    twice_over,
    until_steady,
)
from tlmssd.resolve import Resolver
from tlmssd.result import Result
from tlmssd.runs import run

DRIVE = """title: tiny
ssd:
  host: {link: pcie3x4, lba_size: 512 B}
  bus: {clock: 400 MHz}
  flash:
    channels: 2
    ways: 1
    bus: 800 MT/s
    user_capacity: 16 MiB
    spare_factor: 20 %
    part: {planes: 1, pages_per_block: 16, page_size: 4 KiB}
firmware: {buffer: {capacity: 256 KiB}}
"""


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.fixture
def drive(folder: Path) -> Path:
    path = folder / "drive.yaml"
    path.write_text(DRIVE)
    return path


def test_the_criterion_is_snias():
    """Range and slope of the last five rounds, as shares of their average."""
    even = steadiness("x", [9, 1, 1, 1, 1, 1])
    assert even.met and even.range == 0 and even.slope == 0
    line = steadiness("x", [0.96, 0.98, 1.0, 1.02, 1.04])
    assert line.slope == pytest.approx(0.08) and line.met
    for last in ([0.94, 0.97, 1.0, 1.03, 1.06], [1.06, 1.03, 1.0, 0.97, 0.94]):
        found = steadiness("x", last)
        assert abs(found.slope) == pytest.approx(0.12) and found.range == pytest.approx(0.12)
        assert not found.met
    assert not steadiness("x", [1, 1.21, 1, 1, 1]).met
    assert not steadiness("x", [0, 0, 0, 0, 0]).met


def test_a_row_is_of_all_commands_of_its_load(tmp_path: Path):
    """Means are weighted by how many there are, the highest of either is the highest."""
    read = operation(100.0, {"sense": 100.0}, {"sense": 100.0}, commands=900)
    slow = operation(1000.0, {"link": 1000.0}, {"link": 5000.0}, commands=100)
    content = report(read=read, write=slow)
    content["results"]["loads"][0]["name"] = "3: 65/35 4 KiB"
    ways = {
        way: {"iops": iops, "bw_bytes": 4096 * iops} for way, iops in (("read", 9), ("write", 1))
    }
    folder = write(tmp_path / "run", content)
    (folder / "fio.json").write_text(json.dumps({"jobs": [ways]}))
    (row,) = load_rows(Result(folder)).to_dict("records")
    mean = 0.9 * 100 + 0.1 * (0.99 * 1000 + 0.01 * 5000)
    assert (row["round"], row["pattern"]) == ("3", "65/35 4 KiB")
    assert (row["iops"], row["bandwidth"], row["max"]) == (10, 40960, 5000)
    assert row["latency"] == pytest.approx(mean)


def test_25_rounds_are_run_whatever_their_length(drive: Path):
    """2,450 loads, filled in, as they are handed to the program."""
    (rounds,) = TESTS["iops"].runs(Terms(64, 4, 10, 4096), 25)
    scenario = scenario_file(Path("25.yaml"), rounds, yaml.safe_load(drive.read_text()))
    with Resolver(find_program(), scenario) as resolver:
        resolved = resolver.resolve(())
    assert len(resolved["load"]) == 25 * 49 * 2
    Path("resolved.yaml").write_text(json.dumps(resolved))
    find_program().ask("check", "resolved.yaml")


def test_rounds_that_fail_leave_those_before(drive: Path, capsys, monkeypatch):
    """All was lost when those after them did."""
    monkeypatch.setattr(Steadiness, "met", False)
    tenth = """case "$scenario" in *'"10: '*) true;; *) false;; esac"""
    program = fake_program(drive.parent, tenth, "echo no more >&2; exit 1")
    monkeypatch.setenv("TLMSSD_PROGRAM", str(program))
    words = ["pts", str(drive), "-o", "out", "--tests", "latency", "--jobs", "1"]
    assert cli.main([*words, "--commands", "64", "--ramp", "0.01"]) == 0
    told = capsys.readouterr()
    assert "no more rounds: 10 of them: no more" in told.err
    assert "NOT steady over 5 of 5 rounds" in told.out
    assert {int(row["round"]) for row in rows(Path("out/latency-rounds.csv"))} == {1, 2, 3, 4, 5}


def test_block_sizes_follow_the_logical_block():
    """A drive of 4 KiB blocks has no 0.5 KiB test."""
    terms = Terms(100, 4, 10, 4096)
    assert terms.sizes(8, 4, 0.5) == [8, 4]
    loads = TESTS["iops"].runs(terms, 1)[0].settings["load"]
    assert len(loads) == 2 * 7 * 7 and not any(load["bs"] == "512" for load in loads)


def test_rounds_too_short_to_be_alike(drive: Path, capsys: pytest.CaptureFixture):
    """Of which each fills less than a block in each plane: said, with a number that does."""
    words = ["pts", str(drive), "-o", "out", "--tests", "latency", "--jobs", "1"]
    text = drive.read_text().replace("pages_per_block: 16", "pages_per_block: 128")
    drive.write_text(text.replace("256 KiB", "128 KiB"))
    assert cli.main([*words, "--commands", "64"]) == 0
    told = capsys.readouterr().out
    assert "NOT steady" not in told or "--commands 512 makes rounds long enough" in told
    with Resolver(find_program(), drive) as resolver:
        for dies in (1, 2):
            more = (("ssd.flash.dies_per_way", str(dies)), ("load", '{"rw": "read"}'))
            resolved = resolver.resolve(more)
            assert Terms.of(resolved, 64, 1, 10, 1).turn == 2 * dies * 128 * 4096
    assert Terms(64, 1, 10, 512, turn=2**20).word_on_rounds().startswith("A round writes 0.25 of")
    assert Terms(512, 1, 10, 512, turn=2**20).word_on_rounds() == ""


def test_the_hint_on_rounds_is_where_rounds_are_not_steady():
    """It stood below write saturation, which has no rounds."""
    frame = pd.DataFrame({"part": ["first tenth"], "IOPS": [1.0]})
    off, steady = Steadiness("writes", 1.0, 0.5, 0.0), Steadiness("writes", 1.0, 0.1, 0.0)
    for name, windows, told in (
        ("write-saturation", [], False),
        ("latency", [steady], False),
        ("latency", [off], True),
    ):
        found = Measured(TESTS[name], 25, {name: frame}, windows, "rounds are short")
        assert ("rounds are short" in found.text()) == told
        assert ("rounds are short" in page_of(Path("drive.yaml"), [measured_page(found)])) == told


def measured_page(found: Measured) -> Measured:
    """With the tables that its page needs."""
    name = found.test.name
    series = {"time_s": [1.0], "written_bytes": [1], "iops": [1.0], "latency_ns": [1.0]}
    rounds = {"round": [25], "pattern": ["0/100 4 KiB"], "latency": [1.0], "iops": [1.0]}
    more = pd.DataFrame(rounds if name == "latency" else series)
    word = "rounds" if name == "latency" else "series"
    return replace(found, tables=found.tables | {f"{name}-{word}": more})


def test_latency_and_saturation(drive: Path, capsys: pytest.CaptureFixture):
    """Tables, page, and figures that are those of the runs."""
    words = ["pts", str(drive), "-o", "out", "--commands", "200", "--jobs", "1"]
    assert cli.main([*words, "--tests", "latency,write-saturation"]) == 0
    text = capsys.readouterr().out
    assert "Write saturation" in text and "steady" in text
    table = rows(Path("out/latency.csv"))
    assert [row["block \\ R/W (ns)"] for row in table] == ["8 KiB", "4 KiB", "0.5 KiB"]
    rounds = [
        row for row in rows(Path("out/latency-rounds.csv")) if row["pattern"] == "0/100 4 KiB"
    ]
    last = [float(row["latency_ns"]) for row in rounds][-5:]
    assert float(table[1]["0/100"]) == pytest.approx(sum(last) / 5)
    highest = max(float(row["max_ns"]) for row in rounds[-5:])
    assert float(rows(Path("out/latency-max.csv"))[1]["0/100"]) == pytest.approx(highest)
    series = rows(Path("out/write-saturation-series.csv"))
    assert float(series[-1]["written_bytes"]) == pytest.approx(4 * 16 * 2**20, rel=0.02)
    depths = [float(row["iops"]) * float(row["latency_ns"]) * 1e-9 for row in series]
    assert max(depths) == pytest.approx(32, rel=0.02)  # Little's law
    page = Path("out/pts.html").read_text(encoding="utf-8")
    assert "SNIA PTS: drive" in page and "convergence" in page


def alone(drive: Path, reads: int, kib: float) -> float:
    """Mean latency of a pattern one by one in a run of its own, behind a second of it."""
    terms = Terms(2000, 1, 10, 512)
    load = step_load("measured", terms, reads, kib)
    steps = [*twice_over(), until_steady("write_latency", 4, 1)]
    head, measured = behind_head(load, Terms(2000, 1, 10, 512, ramp_s=1.0), True)
    more = {
        "precondition": json.dumps(steps),
        "load": json.dumps([head, measured | {"stonewall": True}]),
    }
    loads = run(drive, more).report["results"]["loads"]
    return loads[1]["operations"]["read"]["latency"]["mean"]


def test_reads_are_not_disturbed_by_the_writes_before_them(drive: Path):
    """The first pattern of a round met what the last one had left to be written and collected."""
    words = ["pts", str(drive), "-o", "out", "--commands", "200", "--ramp", "1", "--jobs", "1"]
    assert cli.main([*words, "--tests", "latency"]) == 0
    table = {row["block \\ R/W (ns)"]: float(row["100/0"]) for row in rows(Path("out/latency.csv"))}
    for kib in (8, 4):
        assert table[f"{kib} KiB"] == pytest.approx(alone(drive, 100, kib), rel=0.1)
    patterns = {row["pattern"] for row in rows(Path("out/latency-rounds.csv"))}
    assert len(patterns) == 9 and not any("head" in pattern for pattern in patterns)


@pytest.mark.slow
def test_iops_fall_where_writes_join_the_reads(folder: Path):
    """On the drive that is shipped."""
    drive = SCRIPTS.parent / "scenarios/pts/drive.yaml"
    assert cli.main(["pts", str(drive), "-o", "out", "--tests", "iops"]) == 0
    table = rows(Path("out/iops.csv"))
    assert len(table) == 8
    assert all(float(row["100/0"]) > float(row["95/5"]) for row in table)


def test_a_head_is_the_same_pattern_for_a_time():
    terms = Terms(100, 4, 10, 4096, ramp_s=2.0)
    loads = TESTS["iops"].runs(terms, 2)[0].settings["load"]
    assert len(loads) == 2 * 2 * 7 * 7
    for place, (head, measured) in enumerate(zip(loads[::2], loads[1::2], strict=True)):
        ramp = 2.0 if place % 7 == 0 else 2.0 * LATER_RAMPS
        assert head["runtime"] == f"{ramp * 1e9:.0f} ns" and head["time_based"]
        only = {"name", "runtime", "time_based", "number_ios", "stonewall"}
        same = [{k: v for k, v in load.items() if k not in only} for load in (head, measured)]
        assert same[0] == same[1]


@pytest.mark.slow
def test_every_test_runs(drive: Path):
    """All six, and the scenarios left behind are scenarios."""
    assert (
        cli.main(
            ["pts", str(drive), "-o", "out", "--commands", "100", "--idle", "5", "--ramp", "0.1"]
        )
        == 0
    )
    for name in TESTS:
        assert rows(Path(f"out/{name}.csv"))
    tables = {table for test in TESTS.values() for table in table_names(test)}
    assert {path.stem for path in Path("out").glob("*.csv")} == tables
    assert len(list(Path("out/scenarios").glob("5-rounds/*.yaml"))) == 7


@pytest.mark.parametrize(
    "words", [["--tests", "iosp"], ["--tests", ""], ["--depth", "0"], ["-o", "drive.yaml"]]
)
def test_mistakes_are_one_line(drive: Path, capsys: pytest.CaptureFixture, words: list[str]):
    """Exit code 2 and a line, and nothing is run."""
    assert cli.main(["pts", str(drive), *words]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_a_drive_whose_commands_fail_is_refused(drive: Path, capsys: pytest.CaptureFixture):
    drive.write_text(DRIVE.replace("{planes: 1", "{endurance: 1, planes: 1"))
    words = ["pts", str(drive), "-o", "out", "--tests", "write-saturation", "--jobs", "1"]
    assert cli.main(words) == 2
    assert (
        "yaml: commands failed: write protected; the drive has gone read-only: "
        in capsys.readouterr().err
    )
