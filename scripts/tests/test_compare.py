"""tlmssd compare: what differs, whether seeds explain it, and why."""

import contextlib
import gzip
import json
import math
import os
import re
import resource
import subprocess
import sys

import numpy as np
import pytest
from reports import of_loads, operation, report, write
from scipy import stats

from tlmssd import cli
from tlmssd.causes import CAUSES
from tlmssd.compare import compare
from tlmssd.compare.differences import is_beyond_spread
from tlmssd.compare.sides import PAIRS, are_paired, read_sides
from tlmssd.compare.why import Explanation
from tlmssd.errors import InputError
from tlmssd.output import check_writable
from tlmssd.result import Result, Results

SCENARIO = "seed: {seed}\nssd:\n  flash: {{channels: {channels}}}\n"


def side(folder, gc: float, channels: int, seeds=(1, 2, 3)):
    """Runs whose slowest reads spend `gc` ns behind collection, more or less."""
    for seed in seeds:
        slow = {"sense": 100.0, "die busy: gc": gc + seed, "die busy: program": 700.0 - 0.1 * gc}
        read = operation(100.0, {"sense": 100.0}, slow)
        text = SCENARIO.format(seed=seed, channels=channels)
        write(folder / f"seed-{seed}", report(seed, text, read=read))
    return folder


@pytest.fixture
def two(tmp_path):
    return side(tmp_path / "old", 3000, 4), side(tmp_path / "new", 1000, 8)


def test_every_metric_with_its_difference(two):
    rows = {row.name: row for row in compare(*two).metrics}
    tail = rows["read.p99.9"]
    assert [value.count for value in tail.values] == [3, 3]
    assert tail.values[0].mean == pytest.approx(3000 + 2 + 100 + 400)
    assert tail.changes[0].difference == pytest.approx(-2000 + 200)
    assert tail.changes[0].share == pytest.approx(-1800 / 3502)
    assert tail.changes[0].beyond is True
    assert tail.changes[0].better is True
    assert tail.values[0].deviation == pytest.approx(1)  # of 1, 2 and 3 more
    assert rows["read.p50"].changes[0].difference == 0
    assert rows["read.p50"].changes[0].beyond is False
    assert rows["statistics.flash.die_*.busy"].values[0].mean == pytest.approx(0.3)


def test_a_cause_that_some_seeds_lack_took_no_time_there(tmp_path):
    for seed in (1, 2):
        slow = {"sense": 100.0, **({"erase": 300.0} if seed == 2 else {})}
        read = operation(100.0, {"sense": 100.0}, slow)
        write(
            tmp_path / f"a/{seed}", report(seed, SCENARIO.format(seed=seed, channels=4), read=read)
        )
        plain = operation(100.0, {"sense": 100.0}, {"sense": 100.0})
        write(
            tmp_path / f"b/{seed}", report(seed, SCENARIO.format(seed=seed, channels=8), read=plain)
        )
    comparison = compare(tmp_path / "a", tmp_path / "b")
    row = next(row for row in comparison.metrics if row.name == "read.ledger.erase")
    assert [(value.mean, value.count) for value in row.values] == [(1.5, 2), (0, 2)]
    assert row.changes[0].difference == -1.5
    reason = next(reason for reason in comparison.reasons if reason.figure == "mean")
    assert reason.causes["erase"] == (1.5, 0)


def test_what_makes_a_side_hard_to_believe_is_said(two, tmp_path, capsys):
    failed = "7 commands failed, the first: write of LBA 1 (1 blocks) at 0.1 s: write protected"
    for seed, warning in (
        (1, f"preconditioning: {failed}"),
        (2, f"warm-up: {failed}"),
        (3, failed),
    ):
        path = tmp_path / f"new/seed-{seed}/report.json"
        content = json.loads(path.read_text())
        content["warnings"] = ["a trace was cut", warning]
        content["advice"] = [{"name": "few", "text": f"few of {seed}", "look_at": "load"}]
        path.write_text(json.dumps(content))
    assert cli.main(["compare", *map(str, two), "--out", str(tmp_path / "page.html")]) == 0
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("! ")]
    end = "1 of 3 runs: not to be compared; run.errors: accept takes such runs as they are"
    assert lines == [
        f"! new: commands failed in preconditioning: write protected, in {end}",
        f"! new: commands failed in warm-up: write protected, in {end}",
        f"! new: commands failed: write protected, in {end}",
        "! new: few of 1 (look at load)",
    ]
    assert lines[0][2:] in (tmp_path / "page.html").read_text()
    for seed in (1, 2, 3):
        path = tmp_path / f"new/seed-{seed}/report.json"
        content = json.loads(path.read_text())
        content["scenario"] += "run: {errors: accept}\n"
        path.write_text(json.dumps(content))
    assert compare(*two).cautions == ["new: few of 1 (look at load)"]


def test_units_and_words_are_those_of_the_run(two, tmp_path, capsys):
    """What a drive can be written is told in TB; a difference of shares in points, beside which
    "%" is a part of the first; causes in the words of the sentences."""
    path = tmp_path / "new/seed-1/report.json"
    content = json.loads(path.read_text())
    content["lifetime"]["evenness"]["value"] = 0.95
    path.write_text(json.dumps(content))
    assert cli.main(["compare", *map(str, two), "--out", str(tmp_path / "page.html")]) == 0
    rows = {line.split()[0]: line for line in capsys.readouterr().out.splitlines() if line.strip()}
    assert " 600 TB " in rows["lifetime.written"]
    assert "  +5.00 points  +6.2 %  " in rows["lifetime.evenness"]
    page = (tmp_path / "page.html").read_text()
    assert "+5.00 points" in page and "600 TB" in page
    legends = re.findall(r'<ul class="legend">.*?</ul>', page)
    assert any("behind collection</li>" in one for one in legends)
    assert not any("die busy" in one for one in legends)
    assert '"behind collection (die busy: gc)"' in page


def test_a_run_that_did_not_end_is_hard_to_believe(two, tmp_path, capsys):
    path = tmp_path / "new/seed-2/report.json"
    content = json.loads(path.read_text()) | {"partial": "interrupted by SIGINT"}
    path.write_text(json.dumps(content))
    assert cli.main(["compare", *map(str, two), "--out", str(tmp_path / "page.html")]) == 0
    caution = (
        "new: interrupted by SIGINT, in 1 of 3 runs: results of a part of the run, not to be "
        "compared with those of a whole one"
    )
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("! ")]
    assert lines == [f"! {caution}"]
    assert f'<p class="warn">{caution}</p>' in (tmp_path / "page.html").read_text()


def test_why_in_words(two):
    reasons = {reason.figure: reason for reason in compare(*two).reasons}
    assert reasons["p99.9"].sentence() == (
        "p99.9 of reads fell from 3.50 us to 1.70 us: 2 us less behind collection, "
        "200 ns more behind programs"
    )
    assert reasons["p50"].sentence() == "p50 of reads stayed at 100 ns"
    for reason in reasons.values():
        assert sum(change for _, change in reason.differences()) == pytest.approx(reason.change)


def test_of_many_causes_the_rest_is_said_together():
    """Four are named, and what they leave of the difference is elsewhere."""
    causes = {cause: (0.0, 100.0 * (6 - n)) for n, cause in enumerate(list(CAUSES)[:6])}
    reason = Explanation("a", "b", "read", "p99", 1000.0, 3100.0, True, causes)
    said = reason.sentence().partition(": ")[2].split(", ")
    assert [part.split(" more ")[0] for part in said] == [
        "600 ns", "500 ns", "400 ns", "300 ns", "300 ns",
    ]  # fmt: skip
    assert said[-1] == "300 ns more elsewhere"


def side_of_loads(folder, **waits):
    """Reads of 100 ns, and of each load the ns that they wait in the host; all together 1000 ns."""
    both = operation(1000.0, {"sense": 100.0, "submission": 900.0}, {"sense": 2000.0})
    for seed in (1, 2, 3):
        loads = {}
        for name, wait in waits.items():
            causes = {"sense": 100.0, "submission": wait + seed}
            loads[name] = {"read": operation(wait + seed + 100.0, causes, causes)}
        content = report(seed, SCENARIO.format(seed=seed, channels=4), read=both)
        write(folder / f"seed-{seed}", of_loads(content, loads))
    return folder


def test_several_loads_are_compared_each_by_itself(tmp_path, capsys):
    """All together nothing has changed: one waits longer, and the other as much less."""
    sides = [
        str(side_of_loads(tmp_path / "weighted", gold=400, bronze=1500)),
        str(side_of_loads(tmp_path / "fair", gold=900, bronze=1000)),
    ]
    found = compare(*sides)
    rows = [row for row in found.metrics if row.is_main and not row.is_nothing]
    names = [row.name for row in rows]
    assert names[:3] == ["loads.gold.iops", "loads.gold.bandwidth", "loads.gold.read.iops"]
    assert {"loads.gold.read.p99.9", "loads.bronze.read.mean", "write_amplification"} <= set(names)
    assert not any(name.startswith(("read.", "iops")) for name in names)
    (mean,) = (row for row in rows if row.name == "loads.gold.read.mean")
    assert (mean.changes[0].difference, mean.changes[0].better) == (pytest.approx(500), False)
    means = [reason.sentence() for reason in found.reasons if reason.figure == "mean"]
    assert means == [
        "mean of gold reads rose from 502 ns to 1.00 us: 500 ns more in the host queue",
        "mean of bronze reads fell from 1.60 us to 1.10 us: 500 ns less in the host queue",
    ]
    assert len(found.reasons) == 2 * 5
    assert found.unmatched == []
    page = tmp_path / "page.html"
    assert cli.main(["compare", *sides, "--out", str(page)]) == 0
    told, drawn = capsys.readouterr().out, page.read_text()
    for text in (*means, "loads.bronze.read.p99.9"):
        assert text in told and text in drawn
    assert "Latency of gold reads: share done" in drawn
    assert "gold read, p99.9" in drawn
    assert "\nread.mean" not in told
    cli.main(["compare", *sides, "--all"])
    lines = [line.split()[0] for line in capsys.readouterr().out.splitlines() if line]
    assert lines.index("loads.gold.read.mean") < lines.index("read.mean")


def test_loads_go_by_their_names_and_what_only_one_side_has_is_said(tmp_path, capsys):
    """A side with one load has all of it in common with that of the same name."""
    crowd = side_of_loads(tmp_path / "crowd", job_2=700, job_1=400, gold=400)
    turned = side_of_loads(tmp_path / "turned", gold=900, job_1=100)
    alone = side_of_loads(tmp_path / "alone", gold=100)
    for path in alone.glob("*/report.json"):
        path.write_text(path.read_text().replace('"shown": "loads"', '"shown": "total"'))
    found = compare(crowd, turned, alone)
    means = [one for one in found.reasons if one.figure == "mean"]
    assert [(one.other, one.load, round(one.change)) for one in means] == [
        ("turned", "job_1", -300),
        ("turned", "gold", 500),
        ("alone", "gold", -300),
    ]
    assert found.unmatched == [
        "turned does not have the load job_2 of crowd: loads are compared by name",
        "alone does not have the loads job_2, job_1 of crowd: loads are compared by name",
    ]
    assert cli.main(["compare", str(crowd), str(turned)]) == 0
    assert found.unmatched[0] in capsys.readouterr().out.splitlines()


def test_without_a_load_in_common_and_of_one_load_all_are_compared_together(two, tmp_path):
    others = [side_of_loads(tmp_path / name, **{name: 400.0}) for name in ("gold", "bronze")]
    for sides in (two, others):
        found = compare(*sides)
        names = [row.name for row in found.metrics if row.is_main]
        assert "read.mean" in names
        assert not any(name.startswith("loads.") for name in names)
        assert {reason.load for reason in found.reasons} == {""}
    assert not any(row.name.startswith("loads.") for row in compare(*two).metrics)


def test_parameters_that_differ_without_the_seed(two):
    (difference,) = compare(*two).parameters
    assert difference.path == "ssd.flash.channels"
    assert difference.values == ("4", "8")


def test_the_spread_over_seeds():
    assert is_beyond_spread([10, 11, 12], [20, 21, 22]) is True
    assert is_beyond_spread([10, 11, 12], [10.5, 11.5, 12.5]) is False
    assert is_beyond_spread([10, 11, 12], [11.9]) is False
    assert is_beyond_spread([10, 11, 12], [40]) is True
    assert is_beyond_spread([5, 5, 5], [5, 5, 5]) is False
    assert is_beyond_spread([5, 5, 5], [6, 6, 6]) is True
    assert is_beyond_spread([5], [6]) is None
    assert is_beyond_spread([5], [5]) is False


T_2 = 4.302653  # Student's t, 97.5 %, two degrees of freedom


def welch(first: tuple[float, int], other: tuple[float, int]) -> float:
    """Half the 95 % interval of the means' difference; of each side variance and runs."""
    error, other_error = (variance / runs for variance, runs in (first, other))
    freedom = error**2 / (first[1] - 1) + other_error**2 / (other[1] - 1)
    both = error + other_error
    return stats.t.ppf(0.975, both**2 / freedom) * math.sqrt(both)


def student(first: tuple[float, int], other: tuple[float, int]) -> float:
    """The same where both have one variance."""
    freedom = first[1] + other[1] - 2
    variance = ((first[1] - 1) * first[0] + (other[1] - 1) * other[0]) / freedom
    return stats.t.ppf(0.975, freedom) * math.sqrt(variance * (1 / first[1] + 1 / other[1]))


@pytest.mark.parametrize(
    ("first", "other", "paired", "bound"),
    [
        ((-4, 4), (-2, -1, 0, 1, 2), False, welch((32, 2), (2.5, 5))),  # the larger one
        ((-1, 1), (-8, -4, 0, 4, 8), False, student((2, 2), (40, 5))),
        ((0, 0, 0), (-1, 0, 1), False, T_2 / math.sqrt(3)),  # one of them does not spread
        ((-1, 0, 1), (0,), False, T_2 * math.sqrt(1 + 1 / 3)),  # where the next run is expected
        ((10, 50, 90), (9, 50, 91), True, T_2 / math.sqrt(3)),  # of the differences -1, 0, 1
    ],
)
@pytest.mark.parametrize("direction", [-1, 1])
def test_the_bounds_are_those_of_the_textbook(first, other, paired, bound, direction):
    """At 95 %, on two sides: what is a thousandth within is explained, a thousandth beyond not."""
    middle = sum(first) / len(first) - sum(other) / len(other)
    for share, beyond in ((0.999, False), (1.001, True)):
        moved = [value + middle + direction * share * bound for value in other]
        assert is_beyond_spread(first, moved, paired) is beyond
        assert is_beyond_spread(moved, first, paired) is beyond


@pytest.mark.parametrize(("few", "many"), [(2, 2), (2, 8), (2, 20), (3, 10), (3, 30), (5, 5)])
def test_equals_are_told_apart_by_chance_one_time_in_twenty_at_most(few, many):
    draws = np.random.default_rng(few * 100 + many).normal(size=(4000, few + many))
    told_apart = sum(is_beyond_spread(draw[:few], draw[few:]) for draw in draws)
    assert told_apart / len(draws) < 0.05 + 3 * math.sqrt(0.05 * 0.95 / len(draws))


def test_of_what_is_no_number_nothing_is_known():
    for first, other in (([1, math.nan, 3], [7, 8, 9]), ([1], [math.inf]), ([2, 2], [math.nan])):
        assert is_beyond_spread(first, other) is None
        assert is_beyond_spread(other, first) is None


def test_the_same_seeds_on_both_sides_are_compared_in_pairs(tmp_path):
    """What a seed does to both sides cancels out; other seeds, or two of them, are no pairs."""
    seeds = (100, 500, 900, 1000)  # of which the last comes first in a folder
    a, b = (side(tmp_path / name, gc, 4, seeds) for name, gc in (("a", 3000), ("b", 3030)))
    comparison = compare(a, b)
    assert [result.seed for result in comparison.sides[0].results] == list(seeds)
    tail = next(row for row in comparison.metrics if row.name == "read.p99.9")
    assert tail.changes[0].beyond is True
    slowest = next(one for one in comparison.reasons if one.figure == "slowest per cent")
    assert slowest.beyond is True
    other = compare(a, side(tmp_path / "c", 3030, 4, (101, 501, 901, 1001)))
    tail = next(row for row in other.metrics if row.name == "read.p99.9")
    assert tail.changes[0].beyond is False
    two = [Results([Result(part / f"seed-{seed}") for seed in (100, 900)]) for part in (a, b)]
    assert not are_paired(*read_sides(two))


def test_files_of_a_real_drive_are_no_pairs(tmp_path):
    """They have no seeds, and their order says nothing."""
    for name in "abcdef":
        part = {"total_ios": 9, "iops": 1.0, "clat_ns": {"mean": 5.0}}
        (tmp_path / f"{name}.json").write_text(json.dumps({"jobs": [{"read": part}]}))
    sides = [",".join(str(tmp_path / f"{name}.json") for name in names) for names in ("abc", "def")]
    assert [side.seeds for side in read_sides(sides)] == [3, 3]
    assert not are_paired(*read_sides(sides))


@pytest.mark.parametrize("means", [(1, 300, 500, None), (1, 300, 500, 700)])
def test_values_of_different_seeds_are_no_pairs(tmp_path, means):
    """A side lacks the metric in another seed: what is left is compared by Welch's test."""
    seeds, trims = (1, 2, 3, 4), {"a": means, "b": (None, 11, 310, 510)}
    sides = []
    for name, means in trims.items():
        sides.append(side(tmp_path / name, 3000, 4, seeds))
        for seed, mean in zip(seeds, means, strict=True):
            if mean is not None:
                path = tmp_path / name / f"seed-{seed}/report.json"
                content = json.loads(path.read_text())
                parts = {"sense": mean}
                content["results"]["total"]["operations"]["trim"] = operation(mean, parts, parts)
                path.write_text(json.dumps(content))
    trim = next(row for row in compare(*sides).metrics if row.name == "trim.mean")
    known = [[mean for mean in side if mean is not None] for side in trims.values()]
    assert [value.count for value in trim.values] == [len(side) for side in known]
    difference = np.mean(known[1]) - np.mean(known[0])
    assert trim.changes[0].difference == pytest.approx(difference)
    assert trim.changes[0].beyond is False


@pytest.mark.parametrize("several", [3, 5])
def test_one_run_against_several_tells_more_of_equals_apart(several, two, tmp_path):
    """One in twenty of what is normal; of what is mostly the same and at times far off, as a part
    of a percentile is, up to one in five, which the page says."""
    chance = np.random.default_rng(1)
    draws = {"normal": chance.normal, "skewed": lambda size: chance.lognormal(0, 1, size)}
    told = {}
    for name, draw in draws.items():
        pairs = [(draw(size=1).tolist(), draw(size=several).tolist()) for _ in range(2000)]
        told[name] = np.mean([is_beyond_spread(*pair) for pair in pairs])
    assert 0.03 < told["normal"] < 0.07 < told["skewed"] < 0.2
    page = tmp_path / "page.html"
    assert cli.main(["compare", *map(str, two), "--out", str(page)]) == 0
    assert "one of the sides about one in twelve, of parts of percentiles up to one in five" in (
        page.read_text()
    )


@pytest.mark.parametrize("seeds", [2, 3, 5])
def test_of_equals_one_in_twenty_is_told_apart(seeds):
    """Whether a seed does the same to both sides or not."""
    chance = np.random.default_rng(1)
    for shared in (0.0, 3.0):
        told = 0
        for _ in range(1000):
            seed = shared * chance.normal(size=seeds)
            first, other = (100 + seed + chance.normal(size=seeds) for _ in range(2))
            told += is_beyond_spread(first.tolist(), other.tolist(), seeds >= PAIRS)
        assert told <= 0.07 * 1000
        assert told >= 0.03 * 1000 or seeds < PAIRS


@pytest.mark.parametrize("value", [0.1, 1 / 3, 1234.5678, 8.7e9, -0.7, 0.0])
@pytest.mark.parametrize("counts", [(3, 5), (2, 3), (1, 3), (3, 1), (5, 10), (3, 3)])
def test_equal_values_are_equal_however_many(value, counts):
    """Their means and spreads are not, in the last digits."""
    assert is_beyond_spread(*([value] * count for count in counts)) is False
    nearly = value * (1 + 2e-16)
    assert is_beyond_spread([value, nearly], [nearly] * 3) is False
    assert is_beyond_spread([1.0, 1.0], [1.0 + 1e-6] * 3) is True


def test_a_difference_or_spread_of_rounding_is_none(tmp_path, capsys):
    read = operation(0.1, {"sense": 0.1}, {"sense": 0.1})
    for name, seeds in (("three", 3), ("five", 5)):
        for seed in range(1, seeds + 1):
            write(tmp_path / name / f"{seed}", report(seed, f"seed: {seed}\n", read=read))
    found = compare(tmp_path / "three", tmp_path / "five")
    for row in found.metrics:
        assert [value.deviation for value in row.values] == [0, 0], row.name
        assert (row.changes[0].difference, row.changes[0].beyond) == (0, False), row.name
    assert cli.main(["compare", str(tmp_path / "three"), str(tmp_path / "five"), "--all"]) == 0
    told = capsys.readouterr().out
    assert "±" not in told
    assert "* beyond" in told and told.count("*") - told.count("_*") == 1


def test_a_report_without_ledgers_by_latency_is_explained_by_mean_and_tail(two):
    for path in two[0].glob("*/report.json"):
        content = json.loads(path.read_text())
        del content["results"]["total"]["operations"]["read"]["ledger_by_latency"]
        path.write_text(json.dumps(content))
    assert [r.figure for r in compare(*two).reasons] == ["mean", "slowest per cent"]


def test_the_command_line(two, tmp_path, capsys):
    page, table = tmp_path / "page.html", tmp_path / "all.csv"
    arguments = ["compare", str(two[0]), f"best={two[1]}", "--out", str(page), "--csv", str(table)]
    assert cli.main(arguments) == 0
    text = capsys.readouterr().out
    assert "2 us less behind collection" in text
    assert "Why best differs from old" in text
    assert "ssd.flash.channels" in text
    assert "https://cdn" not in page.read_text()
    assert "read.p99.9" in table.read_text()


@contextlib.contextmanager
def files_of_at_most(size: int):
    """As on a disk that is full."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("option", ["--out", "--csv"])
@pytest.mark.parametrize("earlier", [None, "of an earlier comparison"])
def test_what_cannot_be_written_is_named_and_left_as_it_was(two, option, earlier, capsys):
    path = two[0].parent / "results/file"
    path.parent.mkdir()
    if earlier:
        path.write_text(earlier)
    with files_of_at_most(1000):
        assert cli.main(["compare", *map(str, two), option, str(path), "--force"]) == 2
    assert capsys.readouterr().err == f"tlmssd: {path}: cannot be written: File too large\n"
    assert [file.name for file in path.parent.iterdir()] == (["file"] if earlier else [])
    assert not earlier or path.read_text() == earlier


@pytest.mark.parametrize("option", ["--out", "--csv"])
def test_a_full_disk_has_an_exit_code_of_its_own(two, option, capsys):
    assert cli.main(["compare", *map(str, two), option, "/dev/full"]) == cli.DISK_FULL
    said = capsys.readouterr().err
    assert said == "tlmssd: /dev/full: cannot be written: No space left on device\n"


@pytest.mark.parametrize(
    ("output", "reason", "code"),
    [
        (">/dev/full", "No space left on device", cli.DISK_FULL),
        (">&-", "Bad file descriptor", cli.INPUT),
    ],
)
def test_standard_output_that_cannot_be_written_is_one_line(two, output, reason, code):
    command = ["sh", "-c", f'exec "$@" {output}', "sh", sys.executable, "-m", "tlmssd", "compare"]
    ended = subprocess.run(
        command + [*map(str, two)], stderr=subprocess.PIPE, text=True, check=False
    )
    assert ended.stderr == f"tlmssd: standard output: cannot be written: {reason}\n"
    assert ended.returncode == code


def test_links_and_pipes_are_written_to_themselves_and_endings_count(two, tmp_path):
    link, target = tmp_path / "link.csv", tmp_path / "target.csv"
    link.symlink_to(target)
    assert cli.main(["compare", *map(str, two), "--csv", str(link)]) == 0
    assert link.is_symlink()
    pressed = tmp_path / "all.csv.gz"
    assert cli.main(["compare", *map(str, two), "--csv", str(pressed)]) == 0
    assert gzip.decompress(pressed.read_bytes()) == target.read_bytes()
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with subprocess.Popen(["cat", pipe], stdout=subprocess.PIPE) as reader:
        assert cli.main(["compare", *map(str, two), "--csv", str(pipe)]) == 0
        assert reader.communicate(timeout=60)[0] == target.read_bytes()
    assert pipe.is_fifo()


def test_a_folder_that_takes_no_files_is_told_before_anything_runs(tmp_path, monkeypatch):
    monkeypatch.setattr("os.access", lambda path, mode: False)  # root may write anywhere
    with pytest.raises(InputError, match=rf"{tmp_path} cannot be written to"):
        check_writable(tmp_path / "page.html")


def test_an_untimed_run_is_no_real_drive_and_has_no_rates(two, folder, capsys):
    (folder / "untimed.yaml").write_text(
        (folder / "small.yaml").read_text() + "run: {timed: false}\n"
    )
    words = ["small.yaml", "untimed.yaml", "--seeds", "1", "--csv", "all.csv", "--out", "page.html"]
    assert cli.main(["compare", *words]) == 0
    said = capsys.readouterr().out
    (line,) = (line for line in said.splitlines() if line.startswith("iops "))
    assert line.split()[3:] == ["-", "-", "-"]
    assert "real drive" not in said
    reason = "untimed took no simulated time (run.timed: false): it has no rates"
    assert reason in said and reason in (folder / "page.html").read_text()
    assert "iops,1/s,untimed,,,1,," in (folder / "all.csv").read_text()
    assert cli.main(["compare", "untimed.yaml", "small.yaml", "--seeds", "1"]) == 0
    assert reason in capsys.readouterr().out


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        (["old"], "compare needs two results or more"),
        (["old", "none"], "none: there is no such file or folder"),
        (["old", "empty"], "no results in it"),
        (["old", "mixed"], "ssd.flash.channels is 4 in .* and 8 in"),
        (["old", "old/seed-1,old/seed-1"], "seed 1 is there 2 times"),
        (["old", "nothing"], "nothing/report.json: not a report of tlmssd"),
        (["nothing", "old"], "nothing/report.json: not a report of tlmssd"),
        (["old", "nameless"], r"nameless/report.json: damaged: KeyError\('name'\)"),
        (["old", "torn"], "torn/report.json: damaged: ParserError"),
        (["old", "worded"], "worded/report.json: damaged: ValueError"),
        (["old", "old", "--out", "no/such/page.html"], "there is no folder"),
    ],
)
def test_mistakes_are_one_line_and_exit_code_2(tmp_path, monkeypatch, capsys, given, complaint):
    monkeypatch.chdir(tmp_path)
    side(tmp_path / "old", 3000, 4)
    (tmp_path / "empty").mkdir()
    side(tmp_path / "mixed", 3000, 4, seeds=[1])
    read = operation(100.0, {"sense": 100.0}, {"sense": 200.0})
    write(tmp_path / "nothing", {"results": {}})
    nameless, worded = report(read=read), report(read=read)
    del nameless["results"]["loads"][0]["name"]
    write(tmp_path / "nameless", nameless)
    worded["results"]["total"]["operations"] = {
        "read": {**read, "ledger": {"sense": {"mean_ns": "a", "share": 1}}}
    }
    write(tmp_path / "worded", worded)
    write(tmp_path / "torn", report(1, "ssd: [", read=read))
    write(tmp_path / "mixed/x", report(2, SCENARIO.format(seed=2, channels=8), read=read))
    assert cli.main(["compare", *given]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert re.search(complaint, error), error


def test_two_results_of_one_name_are_told_apart(tmp_path):
    side(tmp_path / "a/run", 3000, 4)
    side(tmp_path / "b/run", 1000, 4)
    names = [one.name for one in compare(tmp_path / "a/run", tmp_path / "b/run").sides]
    assert names == ["a/run", "b/run"]
    runs = [tmp_path / f"{side}/run/seed-1" for side in "ab"]
    assert [one.name for one in compare(*runs).sides] == ["run/seed-1 (1)", "run/seed-1 (2)"]
    reports = [tmp_path / f"{side}/run/seed-{seed}/report.json" for side, seed in ("a1", "b2")]
    assert [one.name for one in compare(*reports).sides] == ["seed-1", "seed-2"]


def test_two_scenarios_of_one_name_are_told_apart(tmp_path):
    """By their own folders, not those of the store."""
    ran = {}
    for name, gc in (("a", 3000), ("b", 1000)):
        folders = sorted(side(tmp_path / "store" / f"9{name}", gc, 4).iterdir())
        ran[tmp_path / name / "drive.yaml"] = Results([Result(folder) for folder in folders])
    assert [one.name for one in read_sides(list(ran), ran)] == ["a/drive", "b/drive"]


def test_a_side_of_results_may_be_objects(two):
    import tlmssd

    results = tlmssd.Results([tlmssd.Result(folder) for folder in sorted(two[0].iterdir())])
    assert compare(results, two[1]).sides[0].seeds == 3
    with pytest.raises(InputError):
        compare(results)


@pytest.mark.parametrize(("text", "problem"), [("", "line 1 column 1"), ('{"jobs": [', "line 1")])
def test_fios_json_that_is_cut_off_says_where(tmp_path, text, problem):
    path = tmp_path / "fio.json"
    path.write_text(text)
    with pytest.raises(InputError, match=problem):
        read_sides([str(path), str(path)])
