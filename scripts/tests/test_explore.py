"""Studies from the command line: the same bytes always, and what goes wrong is a row."""

import errno
import gc
import json
import os
import signal
import time
from pathlib import Path

import pandas as pd
import psutil
import pytest

import tlmssd
from tests.conftest import STUDY, carry_out, explore, fake_program, start_explore
from tlmssd.cli import DISK_FULL, main
from tlmssd.metrics import OF_TARGETS, is_statistic
from tlmssd.store import Store
from tlmssd.study import table
from tlmssd.study.session import mean_of_seeds
from tlmssd.study.study import RESERVED, RESERVED_OF_METRICS

LONG = STUDY.replace("seeds: 2", "seeds: 12").replace(
    "axes:", "set: {load.number_ios: 30000}\naxes:"
)


def results(out: Path) -> bytes:
    return (out / "results.csv").read_bytes() + (out / "results.parquet").read_bytes()


def statuses(out: Path) -> dict[str, int]:
    return pd.read_parquet(out / "results.parquet")["status"].value_counts().to_dict()


def test_the_same_bytes_for_any_number_of_jobs_and_from_the_store(folder):
    for name, jobs in (("one", 1), ("again", 2)):
        done = explore("study.yaml", "--out", name, "--no-page", "--jobs", jobs)
        assert done.returncode == 0, done.stderr
    carry_out("study.yaml", "threads", store="other")
    carry_out("study.yaml", "alone", store="third", share=False)
    first = results(folder / "one")
    assert all(results(folder / name) == first for name in ("again", "threads", "alone"))
    assert "8 runs were known" in json.loads((folder / "again/summary.json").read_text())["savings"]
    frame = pd.read_parquet(folder / "one/results.parquet")
    assert list(frame["point"]) == [1, 1, 2, 2, 3, 3, 4, 4]
    assert list(frame["load.iodepth"]) == [1, 1, 4, 4, 1, 1, 4, 4]
    assert frame["tail"].between(1e-6, 1).all()  # seconds
    assert not list((folder / "third/snapshots").iterdir())


def test_a_resolved_study_gives_the_same_table(folder):
    carry_out("study.yaml", "one")
    carry_out("one/resolved-study.yaml", "two")
    one, two = (pd.read_csv(folder / name / "results.csv") for name in ("one", "two"))
    assert one.equals(two)


LOADER = "error while loading shared libraries: libsystemc-2.3.4.so"
NO_LIBRARY = "cannot open shared object file: No such file or directory"
NO_SEGMENT = "failed to map segment from shared object"


@pytest.mark.parametrize(
    ("action", "status", "reason"),
    [
        ("kill -SEGV $$", "crashed", "ended by signal 11"),
        ("sleep 30", "timeout", "ran longer than 2 s"),
        (
            "exec python3 -c 'x = bytearray(1 << 31)'",
            "memory",
            "MemoryError, with at most 2 GiB",
        ),
        ("echo 'tlmssd: out of memory' >&2; exit 6", "memory", "out of memory"),
        (f"echo '{LOADER}: {NO_SEGMENT}' >&2; exit 127", "memory", f"{LOADER}: {NO_SEGMENT}, with"),
        (f"echo '{LOADER}: {NO_LIBRARY}' >&2; exit 127", "failed", f"{LOADER}: {NO_LIBRARY}"),
        ("echo 'tlmssd: cannot allocate 5 GiB' >&2; exit 1", "memory", "cannot allocate 5 GiB, wi"),
        ("echo 'unit 7 was deallocated twice' >&2; exit 1", "failed", "unit 7 was deallocated tw"),
        ("echo 'tlmssd: internal error' >&2; exit 1", "failed", "internal error"),
        ("echo 'tlmssd: stalled: dead' >&2; exit 3", "stalled", "stalled: dead"),
        (
            "printf 'tlmssd: stalled: 2 wait\\n  for dies\\n  and 7 more\\n' >&2; exit 3",
            "stalled",
            "stalled: 2 wait",
        ),
        ("echo 'tlmssd: no such thing' >&2; exit 2", "refused", "no such thing"),
        ("kill -KILL $$", "memory", "killed by the system"),
    ],
)
def test_what_goes_wrong_is_a_row(action, status, reason, folder, monkeypatch):
    condition = """echo "$scenario" | grep -q '"iodepth": 4'"""
    monkeypatch.setenv("TLMSSD_PROGRAM", str(fake_program(folder, condition, action)))
    study = STUDY.replace("seeds: 2", "limits: {time: 2 s, memory: 2 GiB}")
    (folder / "study.yaml").write_text(study)
    report = carry_out("study.yaml", "out", share=False)
    assert report.code == 4
    frame = pd.read_parquet(folder / "out/results.parquet")
    assert list(frame["status"]) == ["ok", status, "ok", status]
    assert frame["reason"][1].startswith(reason) or reason in frame["reason"][1]
    assert frame["tail"].isna().tolist() == [False, True, False, True]
    assert any(line.startswith(f"2 {status}: ") for line in report.lines(folder / "out"))


def test_a_run_that_took_too_long_is_tried_again(folder, monkeypatch):
    """The machine may have been busy."""
    slow = fake_program(folder, f"[ ! -e {folder}/idle ]", "sleep 30")
    monkeypatch.setenv("TLMSSD_PROGRAM", str(slow))
    study = STUDY.replace("seeds: 2", "design: {random: 1}\nlimits: {time: 1 s}")
    (folder / "study.yaml").write_text(study)
    assert carry_out("study.yaml", "out").statuses == {"timeout": 1}
    (folder / "idle").touch()
    (folder / "study.yaml").write_text(study.replace("1 s", "60 s"))
    assert carry_out("study.yaml", "out").statuses == {"ok": 1}


WORN = """base: small.yaml
axes: {ssd.flash.part.endurance: [1, 0]}
seeds: 2
metrics: [iops]
objectives: {iops: maximize}
constraints: [iops > 1]
"""


def test_a_drive_that_has_worn_out_is_no_good_design(folder):
    (folder / "study.yaml").write_text(WORN)
    report = carry_out("study.yaml", "out")
    again = carry_out("study.yaml", "again")  # from the store
    assert report.code == again.code == 4
    frame = pd.read_parquet(folder / "out/results.parquet")
    assert list(frame["status"]) == ["errors", "errors", "ok", "ok"]
    assert list(frame["iops"].isna()) == [True, True, False, False]
    assert frame["feasible"].tolist() == [None, None, True, True]
    said = "commands failed in preconditioning: write protected; the drive has gone read-only: "
    assert frame["reason"][0].startswith(said)
    assert f"2 errors: {frame['reason'][0]}" in list(report.lines(folder / "out"))
    assert (folder / "again/results.csv").read_bytes() == (folder / "out/results.csv").read_bytes()

    with tlmssd.AskTell("study.yaml", jobs=2) as asked:
        worn, lasting = asked.evaluate([{"ssd.flash.part.endurance": one} for one in (1, 0)])
    assert (worn["status"], worn["reason"]) == ("errors", frame["reason"][0])
    assert lasting["status"] == "ok"

    (folder / "study.yaml").write_text(
        (folder / "study.yaml").read_text() + "set: {run.errors: accept}\n"
    )
    assert carry_out("study.yaml", "out").code == 0


def test_memory_has_a_limit(folder):
    study = STUDY.replace("seeds: 2", "limits: {memory: 40 MiB}")
    (folder / "study.yaml").write_text(study)
    assert carry_out("study.yaml", "out", share=False).code == 4
    assert set(statuses(folder / "out")) <= {"memory", "crashed"}
    (folder / "study.yaml").write_text(study.replace("40 MiB", "4 GiB"))
    assert carry_out("study.yaml", "out", share=False).code == 0  # nothing of it was remembered


def wait_for_runs(store: Path, least: int) -> None:
    """Waits until a study has so many runs."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if len(list(store.glob("runs/*/*"))) >= least:
            return
        time.sleep(0.02)
    raise AssertionError("nothing was run in time")


def workers_of(process: int) -> list[psutil.Process]:
    children = psutil.Process(process).children(recursive=True)
    return [child for child in children if "multiprocessing-fork" in " ".join(child.cmdline())]


@pytest.mark.slow
def test_a_killed_worker_costs_only_its_runs(folder):
    (folder / "study.yaml").write_text(LONG)
    process = start_explore("study.yaml", "--jobs", 2, "--no-page")
    wait_for_runs(folder / "store", 4)
    workers_of(process.pid)[0].send_signal(signal.SIGKILL)
    out, err = process.communicate(timeout=200)
    assert process.returncode == 0, err
    assert statuses(folder / "out/study") == {"ok": 48}
    assert explore("study.yaml", "--jobs", 2, "--no-page", "--out", "again").returncode == 0
    assert results(folder / "again") == results(folder / "out/study")


@pytest.mark.slow
def test_an_interrupted_study_goes_on(folder):
    (folder / "study.yaml").write_text(LONG)
    process = start_explore("study.yaml", "--jobs", 2, "--no-page")
    wait_for_runs(folder / "store", 4)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to all of them
    out, err = process.communicate(timeout=200)
    assert process.returncode == 130, err
    assert "the same command goes on from there" in err
    assert "Traceback" not in err
    assert not (folder / "out").exists()
    left = (process.info["cmdline"] or [] for process in psutil.process_iter(["cmdline"]))
    assert not [line for line in left if str(folder) in " ".join(line)]
    known = len(list((folder / "store").glob("runs/*/*")))
    done = explore("study.yaml", "--jobs", 2, "--no-page")
    assert done.returncode == 0, done.stderr
    assert f"{known} runs were known" in done.stdout
    assert not list((folder / "store/scratch").iterdir())


@pytest.mark.slow
def test_two_studies_at_once_share_a_store(folder):
    (folder / "study.yaml").write_text(LONG)
    both = [start_explore("study.yaml", "--jobs", 2, "--no-page", "--out", n) for n in ("a", "b")]
    for process in both:
        _, err = process.communicate(timeout=300)
        assert process.returncode == 0, err
    assert results(folder / "a") == results(folder / "b")
    sums = [json.loads((folder / n / "summary.json").read_text())["savings"] for n in ("a", "b")]
    known = sum(
        int(text.split(" runs were known")[0].split()[-1]) for text in sums if "known" in text
    )
    assert known == 48, sums  # each run was carried out by one of the two
    store = Store(folder / "store")
    assert not list((store.folder / "locks").iterdir())


@pytest.mark.slow
def test_a_scheduler_that_runs_already_gives_the_same_bytes(folder):
    from distributed import LocalCluster

    assert explore("study.yaml", "--jobs", 1, "--no-page", "--out", "local").returncode == 0
    with LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
    ) as cluster:
        address = cluster.scheduler_address
        more = ["--no-page", "--out", "remote", "--store", folder / "other"]
        done = explore("study.yaml", "--scheduler", address, *more)
    assert done.returncode == 0, done.stderr
    assert results(folder / "local") == results(folder / "remote")


def test_no_scheduler_is_one_line(folder):
    done = explore("study.yaml", "--scheduler", "tcp://127.0.0.1:1", "--no-page")
    assert done.returncode == 2
    assert "no Dask scheduler at tcp://127.0.0.1:1" in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("foo", "missing port number in address 'foo'; name one such as tcp://HOST:8786"),
        ("foo:1x", "'foo:1x' is no address, invalid literal"),
        ("http://foo:80", "unknown address scheme 'http'"),
        ("inproc://1/2", "don't know how to extract host and port"),
        ("foo:99999", "'foo:99999' has no host, or no port from 1 to 65535"),
        ("tls://127.0.0.1:1", "tls://127.0.0.1:1 needs certificates; name them in Dask's"),
        ("tcp://:1", "'tcp://:1' has no host"),
    ],
)
def test_what_is_no_address_of_a_scheduler_is_one_line_at_once(address, said, folder, capsys):
    begin = time.monotonic()
    assert main(["explore", "study.yaml", "--scheduler", address]) == 2
    gc.collect()  # what a client of Dask that came to nothing waits for
    assert time.monotonic() - begin < 20
    err = capsys.readouterr().err
    assert err.startswith("tlmssd: --scheduler: ")
    assert said in err
    assert err.count("\n") == 1


def test_damaged_results_in_the_store_are_made_again(folder):
    first = carry_out("study.yaml", "out")
    before = (folder / "out/results.csv").read_bytes()
    reports = sorted((folder / "store/runs").glob("*/*/report.json"))
    assert len(reports) == len(first.rows)
    reports[0].write_text(reports[0].read_text()[:100])
    reports[1].unlink()
    reports[2].write_text("[]")
    again = carry_out("study.yaml", "again")
    assert again.statuses == {"ok": len(reports)}
    assert (folder / "again/results.csv").read_bytes() == before


WANT = "more than there is"  # the exit code says it, not the words


def test_memory_that_others_have_taken_is_a_reason_that_is_not_remembered(folder, monkeypatch):
    refusal = f'echo "tlmssd: scenario.yaml:1: ssd.flash.ways: takes {WANT}" >&2; exit 6'
    monkeypatch.setenv(
        "TLMSSD_PROGRAM", str(fake_program(folder, f"[ ! -e {folder}/room ]", refusal))
    )
    assert carry_out("study.yaml", "out", share=False).statuses == {"memory": 8}
    reasons = pd.read_parquet(folder / "out/results.parquet")["reason"]
    assert set(reasons) == {f"ssd.flash.ways: takes {WANT}"}
    (folder / "room").touch()
    assert carry_out("study.yaml", "out").statuses == {"ok": 8}


@pytest.mark.parametrize(
    ("said", "statuses"),
    [("internal error", {"failed": 8}), (f"{LOADER}: {NO_LIBRARY}", {"ok": 8})],
)
def test_what_fails_within_its_memory_is_remembered(said, statuses, folder, monkeypatch):
    """It fails with more of it, too; with a library that was missing it does not."""
    failing = f'echo "tlmssd: {said}" >&2; exit 1'
    program = fake_program(folder, f"[ ! -e {folder}/mended ]", failing)
    monkeypatch.setenv("TLMSSD_PROGRAM", str(program))
    assert carry_out("study.yaml", "out", share=False).statuses == {"failed": 8}
    (folder / "mended").touch()
    assert carry_out("study.yaml", "again", share=False).statuses == statuses


def test_a_full_disk_is_a_reason_that_is_not_remembered(folder, monkeypatch):
    full = 'echo "tlmssd: out/report.json: no room" >&2; exit 7'  # the exit code says it
    program = fake_program(folder, f"[ ! -e {folder}/room ]", full)
    monkeypatch.setenv("TLMSSD_PROGRAM", str(program))
    assert carry_out("study.yaml", "out", share=False).statuses == {"disk": 8}
    reasons = pd.read_parquet(folder / "out/results.parquet")["reason"]
    assert set(reasons) == {"out/report.json: no room"}
    (folder / "room").touch()
    assert carry_out("study.yaml", "out").statuses == {"ok": 8}


def test_a_parameter_that_some_points_lack_is_an_empty_value(folder):
    study = """base: small.yaml
axes:
  variant:
    more: {precondition.2: {overwrite: 0.5x}, ssd.scm.capacity: 10 %, firmware.cache.policy: nv-wb}
    plain: {load.iodepth: 2}
metrics: {scm: scenario.ssd.scm.capacity, step: scenario.precondition.2.overwrite, iops: iops}
"""
    (folder / "study.yaml").write_text(study)
    assert carry_out("study.yaml", "out").statuses == {"ok": 2}
    frame = pd.read_parquet(folder / "out/results.parquet")
    assert frame["scm"].notna().tolist() == [True, False]
    assert frame["step"].notna().tolist() == [True, False]
    assert frame["iops"].notna().all()


def test_short_names_of_statistics_are_metrics(folder):
    """They were refused, and would have been nothing in every run."""
    shorts = [f"erases.{name}" for name in ("min", "mean", "max", "deviation")]
    (folder / "study.yaml").write_text(
        "base: small.yaml\naxes: {load.iodepth: [1, 4]}\n"
        f"metrics: {[*shorts, *(OF_TARGETS[name] for name in shorts)]}\n"
    )
    assert all(map(is_statistic, OF_TARGETS))
    report = carry_out("study.yaml", "out")
    for row in report.rows:
        for name in shorts:
            assert row.values[name] == row.values[OF_TARGETS[name]]
    assert all(row.values["erases.max"] > 0 for row in report.rows)


def test_what_results_have_beside_metrics_is_no_name_of_a_metric(folder):
    """It would be taken for the metric, or the metric for it."""
    (folder / "study.yaml").write_text(STUDY + "objectives: {tail: minimize}\n")
    report = carry_out("study.yaml", "out")
    metrics = {"tail", "wa"}
    assert set(mean_of_seeds(report.rows[:2])) - metrics <= set(RESERVED_OF_METRICS)
    best = json.loads((folder / "out/summary.json").read_text())["front"][0]
    assert set(best) - metrics <= set(RESERVED_OF_METRICS)
    columns = report.table.column_names
    axes = {"firmware.gc.policy", "load.iodepth"}
    assert set(columns) - metrics - axes <= set(RESERVED)


@pytest.mark.parametrize(
    ("out", "said"),
    [
        ("small.yaml", "small.yaml: is a file; name a folder by --out"),
        ("small.yaml/out", "/small.yaml is no folder; name another by --out"),
        ("nowhere", "/nowhere is no folder; name another by --out"),
        ("x" * 300, f"{'x' * 300}: File name too long"),
        ("/proc/tlmssd", "/proc/tlmssd: No such file or directory"),
    ],
)
def test_a_folder_that_cannot_be_is_one_line(out, said, folder, capsys):
    (folder / "nowhere").symlink_to("gone")
    (folder / "study.yaml").write_text(STUDY.replace("seeds: 2", "design: {random: 1}"))
    assert main(["explore", "study.yaml", "--jobs", "1", "--no-page", "--out", out]) == 2
    (line,) = [line for line in capsys.readouterr().err.splitlines() if line.startswith("tlmssd:")]
    assert said in line
    assert out.startswith("/proc") or not list((folder / "store/runs").glob("*"))


def test_results_that_cannot_be_written_leave_nothing_hidden(folder, monkeypatch, capsys):
    def full(_rows, path):
        path.write_text("point,")
        raise OSError(errno.ENOSPC, "Error writing bytes to file")

    monkeypatch.setattr(table, "_write_csv", full)
    (folder / "study.yaml").write_text(STUDY.replace("seeds: 2", "design: {random: 1}"))
    assert main(["explore", "study.yaml", "--jobs", "1", "--out", "out"]) == DISK_FULL
    said = "tlmssd: out/results.csv: cannot be written: No space left on device"
    assert said in capsys.readouterr().err.splitlines()
    assert sorted(path.name for path in (folder / "out").iterdir()) == [
        ".tlmssd-study",
        "results.parquet",
    ]


def test_two_may_write_the_same_results_at_once(folder, monkeypatch):
    """The second one begins and ends while the first one writes."""
    report = carry_out("study.yaml", "out")
    before = results(folder / "out")
    write, under_way = table._write_csv, []

    def slow(rows, path):
        write(rows, path)
        if not under_way:
            under_way.append(path)
            table.write_tables(rows, folder / "out")

    monkeypatch.setattr(table, "_write_csv", slow)
    table.write_tables(report.table, folder / "out")
    assert under_way
    assert results(folder / "out") == before


def test_an_error_of_the_system_is_one_line(folder, monkeypatch, capsys):
    def refuse(_arguments):
        raise PermissionError(errno.EACCES, "Permission denied", "out/page.html")

    monkeypatch.setattr("tlmssd.explore.main", refuse)
    assert main(["explore", "study.yaml"]) == 2
    assert capsys.readouterr().err == "tlmssd: out/page.html: Permission denied\n"
