"""A study, what-if and a comparison on every engine: the same results, byte for byte."""

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.slurm import NODE_CPUS, controller_log, one_node_slurm
from tlmssd.program import SOURCE_TREE, find_program

STUDY_SECONDS = 900
BASE = """
ssd:
  host: {lba_size: 4 KiB}
  dram: {capacity: 64 MiB}
  flash:
    channels: 2
    ways: 1
    over_provisioning: 40 %
    part: {planes: 1, blocks_per_plane: 32, pages_per_block: 16, page_size: 4 KiB}
firmware: {buffer: {capacity: 256 KiB}}
precondition: [{fill: 100 %}, {overwrite: 1x, order: random}]
load: {rw: randrw, bs: 4k, number_ios: 300}
"""
STUDY = """
base: base.yaml
axes:
  firmware.gc.policy: [greedy, fifo, cost-benefit]
  ssd.flash.over_provisioning: [30 %, 40 %, 2 %]    # the last leaves no block to collect into
seeds: 2
metrics: [iops, read.p99.9, write_amplification]
"""


@pytest.fixture(scope="module")
def study(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("study")
    (folder / "base.yaml").write_text(BASE)
    (folder / "study.yaml").write_text(STUDY)
    return folder / "study.yaml"


def explore(study: Path, name: str, *engine: object, environment=os.environ) -> dict[str, bytes]:
    """Results of the study on an engine, with a store of its own."""
    out, store = study.parent / name, study.parent / f"store-{name}"
    command = [sys.executable, "-m", "tlmssd", "explore", study, "--no-page", "--out", out]
    command += ["--store", store, *engine]
    run = subprocess.run(
        [str(word) for word in command],
        env=environment_of(environment),
        capture_output=True,
        text=True,
        timeout=STUDY_SECONDS,
    )
    assert run.returncode in (0, 4), run.stderr
    assert json.loads((out / "summary.json").read_text())["runs"]["ok"] >= 12
    assert list((store / "runs").iterdir())
    names = ("results.parquet", "results.csv", "resolved-study.yaml")
    return {name: (out / name).read_bytes() for name in names}


def told(command: str, *arguments: object, folder: Path, environment=os.environ) -> str:
    """What another command prints, with a store of its own."""
    words = [sys.executable, "-m", "tlmssd", command, *arguments]
    run = subprocess.run(
        [str(word) for word in [*words, "--store", tempfile.mkdtemp(dir=folder)]],
        env=environment_of(environment),
        capture_output=True,
        text=True,
        timeout=STUDY_SECONDS,
    )
    assert run.returncode == 0, run.stderr
    return run.stdout


def asked(study: Path, *engine: object, environment=os.environ) -> str:
    """What-if and a comparison of scenarios, on an engine."""
    base, other = study.parent / "base.yaml", study.parent / "other.yaml"
    other.write_text(BASE.replace("channels: 2", "channels: 4"))
    place = {"folder": study.parent, "environment": environment}
    what_if = ("--metric", "iops", "--seeds", 2, "--steps", "100%", "--no-interactions")
    return told("whatif", base, *what_if, *engine, **place) + told(
        "compare", base, other, "--seeds", 2, "--all", *engine, **place
    )


def environment_of(environment) -> dict[str, str]:
    """With this package and this program, for workers too."""
    own = {"PYTHONPATH": str(SOURCE_TREE / "scripts"), "TLMSSD_PROGRAM": str(find_program().path)}
    return {**environment, **own}


@pytest.fixture(scope="module")
def one_job(study) -> dict[str, bytes]:
    """What every engine is to give."""
    return explore(study, "one", "--jobs", 1)


@pytest.fixture(scope="module")
def answers(study) -> str:
    """What-if and a comparison on this machine, one run at a time."""
    text = asked(study, "--jobs", 1)
    assert "resource" in text and "Why other differs from base" in text
    return text


@contextlib.contextmanager
def dask_cluster(folder: Path, workers: int) -> Iterator[str]:
    """A Dask scheduler and its workers as processes of their own, as a user starts them."""
    file = folder / "scheduler.json"
    dask = [sys.executable, "-m", "dask"]
    place = ["--scheduler-file", file]
    plain = {"env": environment_of(os.environ), "stderr": subprocess.DEVNULL}
    commands = [[*dask, "scheduler", *place, "--port", "0", "--dashboard-address", ":0"]]
    one = ["--nthreads", "1", "--dashboard-address", ":0", "--local-directory", folder / "dask"]
    commands += [[*dask, "worker", *place, *one] for _ in range(workers)]
    processes = [subprocess.Popen([str(word) for word in command], **plain) for command in commands]
    try:
        end = time.monotonic() + 60
        while not file.exists():
            assert time.monotonic() < end, "no Dask scheduler after a minute"
            time.sleep(0.1)
        yield json.loads(file.read_text())["address"]
    finally:
        for process in reversed(processes):
            process.terminate()
        for process in processes:
            process.wait(timeout=30)


def test_a_dask_cluster_of_several_processes(study, one_job, answers, tmp_path):
    with dask_cluster(tmp_path, workers=3) as address:
        assert explore(study, "dask", "--scheduler", address) == one_job
        assert asked(study, "--scheduler", address) == answers


@pytest.mark.slow
def test_a_real_slurm(study, one_job, answers, tmp_path):
    cluster = tmp_path / "slurm.yaml"
    cluster.write_text(
        f"system: slurm\njobs: {NODE_CPUS}\n"
        'options: {queue: main, cores: 1, memory: 1 GiB, walltime: "00:30:00",\n'
        f"  log_directory: {tmp_path}/logs, local_directory: {tmp_path}/dask}}\n"
    )
    pytest.importorskip("dask_jobqueue")
    with one_node_slurm() as environment:
        assert explore(study, "slurm", "--cluster", cluster, environment=environment) == one_job
        assert asked(study, "--cluster", cluster, environment=environment) == answers
        log = controller_log(environment)
    assert log.count("sched: Allocate JobId") + log.count("backfill: Started JobId") >= NODE_CPUS
