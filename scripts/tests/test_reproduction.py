"""How the results pages judge: planted results whose verdicts are known."""

import collections
import lzma
import math
import sys
from concurrent.futures import Future
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts/reproduction"))

import claims  # noqa: E402 (beside the package, not in it)
import luo_file_systems  # noqa: E402
import luo_files  # noqa: E402
import luo_reads  # noqa: E402
import luo_record  # noqa: E402
import luo_remedies  # noqa: E402
import luo_writes  # noqa: E402
import marks  # noqa: E402
import runs  # noqa: E402
from claims import NO, UNDECIDED, YES, Claim, Kind, all_of, at_least, effect, verdict, within  # noqa: E402
from page import Page  # noqa: E402
from paper import Section, publish  # noqa: E402
from samples import Sample, chance_correlation, combined, rank_correlation  # noqa: E402
from seeds import Seeds  # noqa: E402

from tlmssd.errors import RunFailed  # noqa: E402

NOISE = (-0.02, 0.01, 0.0, -0.01, 0.02)


def around(mean, noise=NOISE):
    return Sample(tuple(mean + one for one in noise))


def test_interval_is_students():
    # mean 3, s = sqrt(2.5), t(0.975, 4) = 2.776445
    one = Sample((1.0, 2.0, 3.0, 4.0, 5.0))
    assert one.mean == 3
    assert one.half == pytest.approx(2.776445 * math.sqrt(2.5) / math.sqrt(5), rel=1e-6)
    assert one.text(".1f") == "3.0 ± 2.0"


def test_a_planted_shift_turns_yes_into_undecided_and_no():
    region = within(2.0, 0.1)
    assert verdict(around(2.0), region) == YES
    assert verdict(around(2.19), region) == UNDECIDED
    assert verdict(around(2.4), region) == NO
    assert verdict(around(1.6), region) == NO


def test_too_few_seeds_decide_nothing():
    region = within(2.0, 0.1)
    assert verdict(Sample((2.0, 2.0, 2.0, 2.0)), region) == UNDECIDED
    assert verdict(Sample((9.0,)), region) == UNDECIDED
    assert verdict(Sample((2.0,), certain=True), region) == YES


def test_what_is_not_a_number_decides_nothing():
    assert verdict(Sample((math.nan, 2.0, 2.0, 2.0, 2.0)), within(2.0, 0.1)) == UNDECIDED


def test_common_random_numbers_leave_the_difference():
    chance = (10.0, 20.0, 15.0, 30.0, 25.0)
    base = Sample(chance)
    variant = Sample(tuple(1.05 * value for value in chance))
    assert verdict(variant / base, effect(1.05)) == YES
    assert (variant / base).half < 1e-12
    independent = Sample(chance[::-1])
    assert verdict(variant / independent, effect(1.05)) == UNDECIDED


def test_seeds_must_match():
    with pytest.raises(ValueError):
        around(1.0) / Sample((1.0, 2.0, 3.0))


def test_no_effect_never_passes_for_an_effect():
    assert verdict(1.0, within(1.05, 0.1)) == YES
    assert verdict(1.0, effect(1.05)) == NO
    assert verdict(1.0, effect(0.91)) == NO


def test_all_of():
    assert all_of([YES, YES]) == YES
    assert all_of([YES, UNDECIDED]) == UNDECIDED
    assert all_of([YES, UNDECIDED, NO]) == NO
    assert all_of([]) == UNDECIDED


def test_a_predicted_claim_needs_a_null_model():
    with pytest.raises(ValueError, match="null model"):
        Claim(Kind.PREDICTED, "faster", "2", at_least(2))


def test_headline_counts_predicted_claims_only():
    predicted = Claim(Kind.PREDICTED, "faster", "2", within(2, 0.1), ("no effect", 1))
    easy = Claim(Kind.PREDICTED, "not slower", "1", at_least(1), ("no effect", 1))
    given = Claim(Kind.GIVEN, "gates", "0.75", within(0.75, 0.1))
    rows = [predicted.judged(around(2.4)), easy.judged(around(1.5)), given.judged(0.75)]
    first, *others = claims.tally(rows)
    assert "1 yes, 1 no, 0 undecided** of 2" in first
    assert "the null models would get 1" in first
    assert others == ["Given, not counted: 1 yes, 0 no, 0 undecided."]
    assert [row[0] for row in claims.not_met(rows)] == ["faster"]


def test_several_figures_must_all_bear_a_claim_out():
    claim = Claim(Kind.PREDICTED, "all faster", "> 1", at_least(1), ("no effect", 1))
    assert claim.judged(around(1.5), around(1.4)).verdict == YES
    assert claim.judged(around(1.5), around(0.9)).verdict == NO


def test_rank_correlation():
    published = [3.0, 1.0, 2.0]
    assert rank_correlation([around(30), around(10), around(20)], published).mean == 1
    assert rank_correlation([around(10), around(30), around(20)], published).mean == -1
    # of the six orders of three one has the coefficient 1, of the 5040 of seven one in twenty 0.68
    assert chance_correlation(7) == pytest.approx(0.68, abs=0.02)
    assert combined(max, around(1), around(2)).mean == pytest.approx(2)


def ended(*reports):
    futures = [Future() for _ in reports]
    for future, report in zip(futures, reports, strict=True):
        future.set_result(report)
    return futures


def test_what_is_said_to_be_certain_must_not_differ_between_seeds():
    assert Seeds(ended(3, 3), certain=True).of(float) == Sample((3.0,), certain=True)
    assert Seeds(ended(3, 4), certain=False).of(float) == Sample((3.0, 4.0))
    with pytest.raises(RunFailed, match="free of chance"):
        Seeds(ended(3, 4), certain=True).of(float)


SCENARIO = """
seed: 1
ssd:
  cpu:
    cycles:          # calibrated on the published reads
      command: 5     # A: guessed,
                     # and why
  flash:
    channels: 4      # S: four
    ways: 2
load:
  bs: 4k
"""


def test_marks_are_read_from_a_scenario(tmp_path):
    path = tmp_path / "drive.yaml"
    path.write_text(SCENARIO)
    found = {choice.key: choice for choice in marks.choices(path)}
    assert {key: choice.how for key, choice in found.items()} == {
        "ssd.cpu.cycles": "fitted",
        "ssd.cpu.cycles.command": "A",
        "ssd.flash.channels": "S",
        "ssd.flash.ways": "",
    }
    assert found["ssd.cpu.cycles.command"].evidence == "A: guessed, and why"


LUO = "drive_665p drive_670p drive_p1 drive_h10 read_disturb read_hot_placement"
LUO += " file_cache app_files parity parallel_issue"


@pytest.mark.parametrize(
    "name", ["fukuchi/hybrid", "yamaga/aoa_ecc", "ryu/drive_a", "ryu/drive_b", "ryu/drive_c"]
    + [f"luo/{drive}" for drive in LUO.split()],
)  # fmt: skip
def test_every_key_of_a_papers_drive_has_a_mark(name):
    found = marks.choices(ROOT / f"scenarios/{name}.yaml")
    assert found
    assert [choice.key for choice in found if not choice.how] == []


class Reads:
    """A report of reads of which so many are that fast; the load before them is of no interest."""

    def __init__(self, *points):
        reads = {"operations": {"read": {"distribution": points}}}
        self.content = {"results": {"loads": [None, reads]}}


def same_in_all(report):
    """Five seeds that all give this report."""
    futures = [Future() for _ in range(5)]
    for future in futures:
        future.set_result(report)
    return Seeds(futures, certain=False)


def test_a_median_on_a_step_is_both_of_its_sides():
    def around(*points):
        return tuple(one.mean for one in luo_reads.around_median(same_in_all(Reads(*points))))

    assert around([40_000, 0.25], [80_000, 0.5], [130_000, 0.75], [230_000, 1.0]) == (80, 130)
    assert around([58_000, 0.44], [59_000, 1.0]) == (59, 59)
    assert around([58_000, 1.0]) == (58, 58)


@pytest.mark.parametrize(
    ("below", "above", "decided"),
    [(98, 103, YES), (80, 130, UNDECIDED), (98, 130, UNDECIDED), (106, 130, NO), (70, 94, NO)],
)
def test_what_a_median_decides(below, above, decided):
    claim = Claim(Kind.GIVEN, "a median", "100", within(100, 0.05))
    found = luo_reads.judged_median(claim, Sample((below,) * 5), Sample((above,) * 5))
    assert found.verdict == decided
    few = luo_reads.judged_median(claim, Sample((below,) * 2), Sample((above,) * 2))
    assert few.verdict == UNDECIDED


def test_a_remedy_that_helps_only_somewhere_is_shown_with_where(tmp_path):
    def run(point, settings):
        return same_in_all(settings.get("gain", 1) if point == "here" else 1)

    trial = luo_remedies.Trial(
        points={"here": "here", "there": "there"},
        run=run,
        figures={"rate": luo_remedies.Figure("rate", float, "faster", luo_remedies.FASTER)},
        remedies=(luo_remedies.Remedy("one", "source", {"gain": 1.5}, ("rate",)),),
        without={},
    )
    page = Page(tmp_path, "page")
    trial.write(page)
    assert "| here | 1.50 ± 0.00, yes |" in page.lines
    assert "| there | 1.00 ± 0.00, **no** |" in page.lines
    (found,) = page.judged
    assert found.verdict == NO
    assert found.measured == "1.00 to 1.50 (1 yes, 1 no)"


def test_a_file_load_differs_from_seed_to_seed_and_not_in_its_amounts():
    load = luo_files.TABLE_1[1]
    one, other = (list(load.requests(0, seed, True)) for seed in (1, 2))
    assert one == list(load.requests(0, 1, True))
    assert one != other
    assert len(one) == len(other)


RECORDED = sorted(name for name in luo_file_systems.KNOWN if not name.startswith("control-"))


def test_every_recording_is_in_the_index():
    kept = {path.name.removesuffix(".csv.xz") for path in luo_file_systems.RECORDINGS.glob("*.xz")}
    assert kept == set(RECORDED)  # of controls only the amounts are kept


@pytest.mark.parametrize("name", RECORDED)
def test_a_recording_holds_what_its_index_says_and_lies_on_its_device(name):
    known = luo_file_systems.KNOWN[name]
    with lzma.open(luo_file_systems.RECORDINGS / f"{name}.csv.xz", "rt") as file:
        head, *lines = file.read().splitlines()
    assert head == "operation,block,blocks"
    rows = [
        (kind, int(first), int(count)) for kind, first, count in (line.split(",") for line in lines)
    ]
    assert len(rows) == known["creating"] + known["running"]
    run = collections.Counter(kind for kind, _, _ in rows[known["creating"] :])
    assert {kind: run[kind] for kind in "RWFD"} == {kind: known[kind] for kind in "RWFD"}
    assert max(first + count for _, first, count in rows) * 4096 <= luo_record.SIZE
    assert all(count > 0 for kind, _, count in rows if kind != "F")


def test_requests_are_read_from_lines_of_ftrace():
    issued = (
        "  python3-1 [000] .....  7.1: block_rq_issue: 7,0 {} 4096 () {} + {} none,0,0 [python3]"
    )
    lines = [
        issued.format("WS", 8192, 16),
        issued.format("FF", 0, 0),  # a flush
        issued.format("RA", 24, 8),
        issued.format("WFS", 80, 8),  # durable when it is done
        issued.format("DS", 800, 2048),
        issued.format("FWS", 160, 8),  # behind a flush that stands by itself
        "  python3-1 [000] .....  7.2: block_rq_complete: 7,0 WS () 8192 + 16 none,0,0 [0]",
    ]
    assert list(luo_record.requests(lines)) == [
        ("W", 1024, 2), ("F", 0, 0), ("R", 3, 1), ("W", 10, 1), ("F", 0, 0), ("D", 100, 256),
        ("W", 20, 1),
    ]  # fmt: skip


def writes(*pieces):
    """A command log of so many writes of 1 MiB, each so many seconds after the one before."""
    instants, log = 0.0, []
    for count, seconds in pieces:
        for _ in range(count):
            instants += seconds
            log.append((instants - seconds, instants))
    return log


def test_a_cliff_lies_where_writes_become_slow():
    place, behind = luo_writes.cliff(writes((1000, 0.001), (1000, 0.010)))
    assert place / luo_writes.MIB == pytest.approx(1000, abs=5)
    assert behind / luo_writes.MIB == pytest.approx(100)


def test_writes_that_are_slow_throughout_have_a_cliff_only_against_another_pace():
    slow = writes((2000, 0.010))
    assert luo_writes.cliff(slow)[0] / luo_writes.MIB == pytest.approx(2000, abs=5)
    usual = luo_writes.pace(writes((2000, 0.001)))
    assert usual == pytest.approx(0.001)
    assert luo_writes.cliff(slow, usual)[0] / luo_writes.MIB < 100


def section(name, claim, measured):
    def write(page):
        page.text(f"## About {name}")
        page.claims(claim.judged(measured))

    return Section(name, lambda: None, write)


def published(folder, *sections, only=None, keep=False, explained=()):
    class Options:
        out = folder
        jobs = 1
        short = False

    class Runs:
        seeds = 5
        known = 0
        futures = {}
        processor = runs.ProcessorTime()

        def seconds(self):
            return 0

    Options.only, Options.keep = only, keep
    introduction = "# Test\n\n| words | kind |\n|---|---|\n| not a claim | |"
    publish(
        "test",
        Options,
        Runs(),
        lambda page: page.text(introduction),
        list(sections),
        [],
        explained=explained,
    )
    return (folder / "test.md").read_text()


def test_a_part_that_is_kept_counts_as_it_did(tmp_path, monkeypatch):
    monkeypatch.setattr(runs, "version", lambda: "tlmssd 1.0")
    slow = Claim(Kind.PREDICTED, "slower", "2", within(2, 0.1), ("no effect", 1), "known why")
    fast = Claim(Kind.PREDICTED, "faster", "3", within(3, 0.1), ("no effect", 3))
    whole = published(tmp_path, section("a", slow, around(2.4)), section("b", fast, around(3.0)))
    # "a" would be met now, but is not run again; "b" is, and is not met any more.
    now = section("a", slow, around(2.0)), section("b", fast, around(9.0))
    kept = published(tmp_path, *now, only="b", keep=True, explained=[slow])
    assert "Predicted: 1 yes, 1 no, 0 undecided** of 2; the null models would get 1" in whole
    assert "Predicted: 0 yes, 2 no, 0 undecided** of 2; the null models would get 1" in kept
    assert "not run again:** `a`; made by tlmssd 1.0" in kept
    assert kept.count("## About a") == kept.count("## About b") == 1
    part_a = whole[whole.index("## About a") : whole.index("## About b")]
    assert part_a in kept
    assert "| slower | **no** | known why |" in kept
    # and what the page said holds when the script says nothing of it
    again = published(tmp_path, *now, only="b", keep=True)
    assert "| slower | **no** | known why |" in again
    assert "| faster | **no** | open |" in again


def test_each_kept_part_says_which_program_made_it(tmp_path, monkeypatch):
    claim = Claim(Kind.GIVEN, "gates", "0.75", within(0.75, 0.1))
    parts = [section(name, claim, 0.75) for name in ("a", "b", "c")]
    for version, only in (("1.0", None), ("2.0", "b"), ("3.0", "c")):
        monkeypatch.setattr(runs, "version", lambda version=version: f"tlmssd {version}")
        page = published(tmp_path, *parts, only=only, keep=only is not None)
    assert "not run again:** `a`; made by tlmssd 1.0." in page
    assert "not run again:** `b`; made by tlmssd 2.0." in page


def test_a_part_that_never_was_is_not_kept(tmp_path, monkeypatch):
    monkeypatch.setattr(runs, "version", lambda: "tlmssd 1.0")
    claim = Claim(Kind.GIVEN, "gates", "0.75", within(0.75, 0.1))
    parts = [section(name, claim, 0.75) for name in ("a", "b")]
    published(tmp_path, *parts)
    kept = published(tmp_path, *parts, section("c", claim, 0.75), only="b", keep=True)
    assert "not run again:** `a`;" in kept
    assert "Not in this edition:** `c`" in kept


def test_what_flash_reads_and_programs_is_summed_up_over_who_asks():
    """Units of padding are programmed, too."""
    host = {"reads": {"value": 8}, "units_programmed": {"value": 5}, "units_padded": {"value": 1}}
    gc = {"reads": {"value": 4}, "units_programmed": {"value": 2}}
    flash = {"host": host, "gc": gc, "erases": {"value": 9}, "doc": "x"}
    one = runs.Report({"statistics": {"firmware": {"flash": flash}}})
    assert (one.nand_reads, one.nand_writes, one.nand_read_write_ratio) == (12, 8, 1.5)


def test_processor_time_is_summed_up_once_for_each_run_and_drive():
    used = runs.ProcessorTime()
    used.add("run", 90.0)
    used.add("drive", 60.0)
    used.add("drive", 60.0)
    assert used.text() == "2.5 minutes of processor time"
    used.add("of an older store", None)
    assert used.text() == "2.5 minutes of processor time and that of 1 which was not recorded"
