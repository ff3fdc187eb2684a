"""A real Slurm of one node on this machine: munged, slurmctld and slurmd in their own folder."""

import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

NODE_CPUS = 2
START_SECONDS = 30
DAEMONS = ("munged", "slurmctld", "slurmd")

CONFIGURATION = """
ClusterName=tlmssd
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={control}
SlurmdPort={node}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CryptoType=crypto/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
MailProg=/bin/true
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
MpiDefault=none
ReturnToService=2
SchedulerParameters=sched_interval=1
NodeName={host} NodeAddr=127.0.0.1 CPUs={cpus} RealMemory=4000
PartitionName=main Nodes={host} Default=YES MaxTime=INFINITE State=UP
"""


@contextmanager
def one_node_slurm() -> Iterator[dict[str, str]]:
    """Yields the environment in which sbatch and its kin reach it; skips where it cannot run."""
    # Not pytest's folder, which others may not enter: munge wants everybody to reach its socket.
    with tempfile.TemporaryDirectory(prefix="tlmssd-slurm-") as folder:
        yield from _started(Path(folder))


def controller_log(environment: dict[str, str]) -> str:
    """What slurmctld has written so far."""
    return Path(environment["SLURM_CONF"]).with_name("slurmctld.log").read_text()


def _started(folder: Path) -> Iterator[dict[str, str]]:
    missing = [daemon for daemon in DAEMONS if not _daemon(daemon)]
    if missing:
        pytest.skip(f"no {', '.join(missing)}: scripts/install_dependencies --python")
    if os.getuid() != 0:
        pytest.skip("Slurm's daemons are started by root only")
    folder.chmod(0o755)
    for part in ("state", "spool"):
        (folder / part).mkdir()
    _write_key(folder / "munge.key")
    configuration = folder / "slurm.conf"
    configuration.write_text(
        CONFIGURATION.format(
            host=socket.gethostname().split(".")[0],
            control=_free_port(),
            node=_free_port(),
            folder=folder,
            cpus=NODE_CPUS,
        )
    )
    environment = {**os.environ, "SLURM_CONF": str(configuration)}
    files = [
        f"--{name}-file={folder}/munge.{end}"
        for name, end in (("key", "key"), ("pid", "pid"), ("log", "log"), ("seed", "seed"))
    ]
    with ExitStack() as daemons:

        def start(*words: object) -> None:
            daemons.enter_context(_running(folder, environment, *words))

        start("munged", "--foreground", f"--socket={folder}/munge.socket", *files)
        _wait_for(lambda: (folder / "munge.socket").exists(), folder, "munged")
        start("slurmctld", "-D", "-f", configuration)
        start("slurmd", "-D", "-f", configuration)
        _wait_for(lambda: _node_is_idle(environment), folder, "slurmctld and slurmd")
        try:
            yield environment
        finally:
            subprocess.run(["scancel", "--user=root"], env=environment, check=False, timeout=30)
            _wait_for(lambda: not _jobs(environment), folder, "the end of all jobs")


def _daemon(name: str) -> str | None:
    return shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin:/sbin")


@contextmanager
def _running(
    folder: Path, environment: dict[str, str], name: str, *words: object
) -> Iterator[None]:
    with open(folder / f"{name}.out", "w", encoding="utf-8") as out:
        command = [_daemon(name), *map(str, words)]
        process = subprocess.Popen(command, env=environment, stdout=out, stderr=out)
    try:
        yield
    finally:
        process.terminate()
        try:
            process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _write_key(path: Path) -> None:
    path.touch(mode=0o600)
    path.write_bytes(os.urandom(1024))


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def _node_is_idle(environment: dict[str, str]) -> bool:
    return _answer(environment, "sinfo", "--noheader", "--format=%T") == "idle"


def _answer(environment: dict[str, str], *command: str) -> str:
    return subprocess.run(command, env=environment, capture_output=True, text=True).stdout.strip()


def _jobs(environment: dict[str, str]) -> str:
    return _answer(environment, "squeue", "--noheader")


def _wait_for(holds, folder: Path, what: str) -> None:
    end = time.monotonic() + START_SECONDS
    while not holds():
        if time.monotonic() > end:
            files = [*folder.glob("*.log"), *folder.glob("*.out")]
            logs = "\n".join(file.read_text()[-1000:] for file in sorted(files))
            raise RuntimeError(f"waited {START_SECONDS} s for {what}:\n{logs}")
        time.sleep(0.2)
