"""What the tests share: a scenario that runs in hundredths of a second, and the command line."""

import io
import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from tlmssd.engine import thread_pool
from tlmssd.explore import Exploration, Report
from tlmssd.program import find_program
from tlmssd.runs import Runner
from tlmssd.study.progress import Progress
from tlmssd.study.session import checked
from tlmssd.study.study import Study

SCRIPTS = Path(__file__).resolve().parents[1]
SMALL = """title: small
ssd:
  dram: {capacity: 64 MiB}
  flash:
    channels: 2
    ways: 1
    over_provisioning: 40 %
    part: {file: parts/nand/tlc-48l.yaml, blocks_per_plane: 16, pages_per_block: 24}
firmware:
  buffer: {capacity: 1 MiB}
precondition: [{fill: 100 %, order: sequential}, {overwrite: 1x, order: random}]
load: {rw: randrw, bs: 4k, iodepth: 4, number_ios: 500}
"""
STUDY = """base: small.yaml
axes:
  firmware.gc.policy: [greedy, fifo]
  load.iodepth: [1, 4]
seeds: 2
metrics: {tail: read.p99, wa: write_amplification}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with small.yaml and study.yaml, the present one, with a store of its own."""
    (tmp_path / "small.yaml").write_text(SMALL)
    (tmp_path / "study.yaml").write_text(STUDY)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TLMSSD_STORE", str(tmp_path / "store"))
    return tmp_path


def start_explore(*arguments: object) -> subprocess.Popen:
    """`tlmssd explore` in the present folder."""
    command = [sys.executable, "-m", "tlmssd", "explore", *map(str, arguments)]
    return subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(SCRIPTS)},
        start_new_session=True,
        # What a shell starts in the background ignores Ctrl-C, and so would this.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )


def explore(*arguments: object) -> subprocess.CompletedProcess:
    """Carries out `tlmssd explore` to its end."""
    process = start_explore(*arguments)
    try:
        out, err = process.communicate(timeout=300)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        raise
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)


def carry_out(study: str, out: str, store: str | None = None, share: bool = True) -> Report:
    """The same within this process, on two threads instead of Dask."""
    read = Study.read(study)
    with Runner(store, read.limits, share) as runner, thread_pool(2) as pool:
        watcher = Progress(read, io.StringIO())
        report = Exploration(read, checked(read, runner), runner, pool, watcher).carry_out()
        report.write(Path(out), page=False)
    return report


def fake_program(folder: Path, condition: str, action: str) -> Path:
    """A program that does `action` (shell) when `tlmssd run` meets `condition`, else what is right.

    `$scenario` is the text of the resolved scenario.
    """
    path = folder / "fake-tlmssd"
    path.write_text(
        f"""#!/bin/sh
if [ "$1" = run ]; then
  scenario=$(cat "$2")
  if {condition}; then {action}; fi
fi
exec {find_program().path} "$@"
"""
    )
    path.chmod(path.stat().st_mode | stat.S_IEXEC)
    return path
