"""Drives that several runs share: the same results, made once."""

import filecmp
import resource
import shutil
from pathlib import Path

import pytest

from tests.conftest import SMALL, carry_out, fake_program
from tlmssd.execute import Workshop
from tlmssd.program import find_program
from tlmssd.resolve import TIMING
from tlmssd.runs import Runner, RunRequest, look_through, run_many

OTHER = {
    "link": "pcie4x8",
    "queues": 2,
    "queue_depth": 16,
    "arbitration": "weighted",
    "weights": "[1, 2, 3, 4]",
    "burst": 3,
    "outstanding_limit": 3,
    "max_payload": 512,
    "max_read_request": 1024,
    "tlp_overhead": 10,
    "dllp_overhead": 4,
    "link_latency": "1 us",
    "interrupt_latency": "3 us",
    "coalesce_count": 2,
    "coalesce_time": "20 us",
    "cores": 1,
    "clock": "300 MHz",
    "cycles": "{command: 900}",
    "assignment": "{gc: [0]}",
    "bandwidth": "1 GB/s",
    "latency": "200 ns",
    "width": 32,
    "bus": "200 MT/s",
    "cache_operations": "true",
    "scheduling": "{policy: out-of-order}",
    "name": "other",
    "source": "other",
    "read_latency": "[100 us]",
    "program_latency": "[1 ms]",
    "erase_latency": "9 ms",
    "cycle_time": "50 ns",
    "column_cycles": 3,
    "row_cycles": 4,
    "t_wb": "200 ns",
    "t_adl": "150 ns",
    "t_ccs": "500 ns",
    "t_rr": "50 ns",
    "t_whr": "100 ns",
    "t_dbsy": "1 us",
    "t_rcbsy": "5 us",
    "t_cbsy": "5 us",
    "program_suspend_latency": "50 us",
    "erase_suspend_latency": "100 us",
    "suspend_point": "next",
    "program_pulse": "100 us",
    "resume_overhead": "20 us",
    "max_suspends": 2,
    "min_resume_time": "200 us",
}
SUSPEND = {"ssd.flash": "both", "ssd.flash.part": "false"}
KEYS = [f"{section}.{name}" for section, names in TIMING.items() for name in names.split()]
AGED = SMALL.replace(
    "order: random}]\n",
    "order: random}, {trim: 5 %}, {overwrite: 50 %, order: random, idle: true}]\n"
    "age: {cycles: 500, retention: 60 d, reads: 100}\n",
).replace("  buffer:", "  gc: {idle_after: 1 ms}\n  refresh: {policy: limits}\n  buffer:")


def settings_for(path: str) -> tuple[tuple[str, str], ...]:
    """Another value of a parameter, with what it needs."""
    section, name = path.rsplit(".", 1)
    value = SUSPEND[section] if name == "suspend" else str(OTHER[name])
    needs = {
        "weights": (("ssd.host.arbitration", "weighted"),),
        "arbitration": (("ssd.host.weights", "[1, 2, 3, 4]"),),
        "suspend": (("ssd.flash.scheduling.policy", "read-first"),),
        "queue_depth": (("load.iodepth", "2"),),
    }
    return needs.get(name, ()) + ((path, value),)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory):
    """A runner with a store of its own, and an aged drive."""
    folder = tmp_path_factory.mktemp("aged")
    (folder / "aged.yaml").write_text(AGED)
    with Runner(folder / "store") as runner:
        yield folder, runner


@pytest.mark.parametrize("path", KEYS)
def test_what_is_called_timing_does_not_change_a_prepared_drive(path, place):
    folder, runner = place
    base = runner.job(RunRequest(folder / "aged.yaml"))
    job = runner.job(RunRequest(folder / "aged.yaml", settings_for(path)))
    assert job.key != base.key, f"{path}: choose another value, this is the default"
    assert job.drive == base.drive
    assert runner.workshop.prepare(base).status == "ok"
    done = runner.workshop.run(job, look_through, snapshot=True)
    assert (done.status, done.reason) == ("ok", "")
    other = Workshop(str(runner.program.path), runner.program.digest, str(folder / "other"))
    Runner(folder / "other")
    assert other.run(job, look_through).status == "ok"
    ours = runner.store.run(job.key)
    theirs = folder / "other/runs" / job.key[:2] / job.key
    for name in ("report.json", "fio.json", "scenario.yaml"):
        assert filecmp.cmp(ours / name, theirs / name, shallow=False), name


def test_what_changes_the_drive_is_another_drive(folder):
    with Runner() as runner:
        base = runner.job(RunRequest(folder / "small.yaml"))
        for path, value in (
            ("firmware.gc.policy", "fifo"),
            ("seed", "2"),
            ("ssd.dram.capacity", "128 MiB"),
            ("ssd.flash.channels", "1"),
            ("precondition.1.overwrite", "2x"),
            ("age.cycles", "10"),
        ):
            job = runner.job(RunRequest(folder / "small.yaml", ((path, value),)))
            assert job.drive != base.drive, path


def test_a_drive_is_made_once_and_left_out_where_nothing_is_prepared(folder):
    requests = [RunRequest.of("small.yaml", {"load.iodepth": depth}) for depth in (1, 2, 4)]
    outcomes = run_many(requests)
    assert [outcome.status for outcome in outcomes] == ["ok"] * 3
    assert len(list((folder / "store/snapshots").iterdir())) == 1
    bare = [
        RunRequest.of("small.yaml", {"load.iodepth": depth, "precondition": "[]"})
        for depth in (1, 2)
    ]
    assert [outcome.status for outcome in run_many(bare)] == ["ok"] * 2
    assert len(list((folder / "store/snapshots").iterdir())) == 1


def test_processor_time_is_known_of_runs_and_drives_made_before(folder):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with Runner() as runner:
        job = runner.job(RunRequest(folder / "small.yaml"))
        workshop = runner.workshop
        made = [workshop.prepare(job), workshop.run(job, look_through, snapshot=True)]
        again = [workshop.prepare(job), workshop.run(job, look_through, snapshot=True)]
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    assert [done.known for done in again] == [True, True]
    assert 0 < sum(done.processor for done in made) <= used
    for first, second in zip(made, again, strict=True):
        assert second.processor == pytest.approx(first.processor, abs=1e-3)


def test_a_snapshot_that_is_gone_or_damaged_does_not_matter(folder):
    with Runner() as runner:
        job = runner.job(RunRequest(folder / "small.yaml"))
        assert runner.workshop.run(job, look_through, snapshot=True).status == "ok"
        other = runner.job(RunRequest.of(folder / "small.yaml", {"load.iodepth": 2}))
        runner.workshop.prepare(other)
        runner.store.snapshot(other.drive).write_bytes(b"not a snapshot")
        assert runner.workshop.run(other, look_through, snapshot=True).status == "ok"


def truncate(snapshot: Path) -> None:
    snapshot.write_bytes(snapshot.read_bytes()[:-100])


def flip_a_byte(snapshot: Path) -> None:
    content = bytearray(snapshot.read_bytes())
    content[len(content) // 2] ^= 0x10
    snapshot.write_bytes(content)


def flip_a_byte_of_the_head(snapshot: Path) -> None:
    content = bytearray(snapshot.read_bytes())
    content[8] ^= 0x10
    snapshot.write_bytes(content)


@pytest.mark.parametrize("damage", [truncate, flip_a_byte, flip_a_byte_of_the_head])
def test_a_damaged_snapshot_is_made_again_once(folder, damage):
    text = "base: small.yaml\naxes: {load.iodepth: [1, 2, 4, 8]}\nmetrics: {tail: read.p99}\n"
    (folder / "study.yaml").write_text(text)
    carry_out("study.yaml", "first")
    shutil.rmtree(folder / "store/runs")
    (snapshot,) = (folder / "store/snapshots").glob("*/drive")
    damage(snapshot)
    report = carry_out("study.yaml", "second")
    assert "1 drive prepared in " in report.savings
    assert ", for 4 runs" in report.savings
    assert "1 snapshot was damaged and made again" in report.savings
    shutil.rmtree(folder / "store/runs")
    assert "damaged" not in carry_out("study.yaml", "third").savings  # whichever run has made it
    results = {(folder / n / "results.csv").read_bytes() for n in ("first", "second", "third")}
    assert len(results) == 1


def test_a_snapshot_that_is_damaged_whenever_it_is_made_is_left_out(folder, monkeypatch):
    made = folder / "made"
    preparing = 'echo "$*" | grep -q save-snapshot'
    action = f'{find_program().path} "$@" && truncate -s -100 drive && echo >> {made}; exit'
    monkeypatch.setenv("TLMSSD_PROGRAM", str(fake_program(folder, preparing, action)))
    requests = [RunRequest.of("small.yaml", {"load.iodepth": depth}) for depth in (1, 2, 4)]
    with Runner() as runner:
        jobs = [runner.job(request) for request in requests]
        assert runner.workshop.prepare(jobs[0]).status == "ok"
        done = [runner.workshop.run(job, look_through, snapshot=True) for job in jobs]
    assert [(one.status, one.saved, one.remade > 0) for one in done] == [
        ("ok", 0, True),
        ("ok", 0, False),
        ("ok", 0, False),
    ]
    assert made.read_text() == "\n\n"


def test_snapshots_have_so_much_space(folder, monkeypatch):
    requests = [
        RunRequest.of("small.yaml", {"load.iodepth": depth, "seed": seed})
        for seed in (1, 2, 3)
        for depth in (1, 2)
    ]
    monkeypatch.setenv("TLMSSD_SNAPSHOT_SPACE", "1 B")
    assert [outcome.status for outcome in run_many(requests, jobs=2)] == ["ok"] * 6
    assert not list((folder / "store/snapshots").iterdir())


@pytest.mark.slow
def test_runs_of_one_aged_drive_are_five_times_as_fast(folder):
    """By the processor's time, which does not depend on what else the machine does."""
    aged = SMALL.replace("blocks_per_plane: 16", "blocks_per_plane: 256").replace(
        "{overwrite: 1x", "{overwrite: 8x"
    )
    (folder / "aged.yaml").write_text(aged + "age: {cycles: 500, retention: 10 d}\n")
    requests = [
        RunRequest.of("aged.yaml", {"load.iodepth": depth, "ssd.host.link": link})
        for depth in (1, 2, 4, 8, 16, 32)
        for link in ("pcie3x1", "pcie3x2", "pcie3x4", "pcie4x4")
    ]

    def seconds(store: str, share: bool) -> float:
        def used() -> float:
            return sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])

        begin = used()
        outcomes = run_many(requests, jobs=2, store=store, share=share)
        assert [outcome.status for outcome in outcomes] == ["ok"] * 24
        return used() - begin

    shared, alone = seconds("shared", True), seconds("alone", False)
    print(f"24 runs: {alone:.1f} s of processor time each for itself, {shared:.1f} s shared")
    assert alone > 5 * shared
