"""One face for all engines: an executor of concurrent.futures, and how much it does at once."""

import contextlib
import logging
import math
import os
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass, field
from multiprocessing import resource_tracker
from pathlib import Path
from typing import Any

from tlmssd.errors import InputError, RunFailed
from tlmssd.interrupts import interrupts_held
from tlmssd.study.document import read_document

MOST_PROCESSES = 8
"""Worker processes of this machine at most; they only wait for programs, several each."""
RELOOK_SECONDS = 2.0


@dataclass
class Pool:
    """An engine in use. `dashboard` is the address of Dask's, where there is one."""

    executor: Executor
    count: Callable[[], int]
    dashboard: str | None = None
    _slots: int = 0
    _looked: float = field(default=-math.inf)

    def slots(self) -> int:
        """Runs that are carried out at once, at present; at least 1."""
        if time.monotonic() - self._looked > RELOOK_SECONDS:
            self._slots, self._looked = max(1, self.count()), time.monotonic()
        return self._slots


@contextlib.contextmanager
def thread_pool(jobs: int | None = None) -> Iterator[Pool]:
    """`jobs` threads of this process (default: one per processor): at once, for few runs."""
    jobs = jobs or os.cpu_count() or 1
    executor = ThreadPoolExecutor(jobs)
    try:
        yield Pool(executor, lambda: jobs)
    finally:
        executor.shutdown(wait=True, cancel_futures=True)


@contextlib.contextmanager
def local_pool(jobs: int | None = None) -> Iterator[Pool]:
    """A Dask cluster on this machine, `jobs` runs at once; a lost worker is replaced."""
    with interrupts_held():  # an import that is cut short fails in words of its own
        import dask
        from distributed import LocalCluster

    jobs = jobs or os.cpu_count() or 1
    workers = max(n for n in range(1, MOST_PROCESSES + 1) if jobs % n == 0)
    if workers < min(jobs, MOST_PROCESSES) / 2:
        workers = jobs  # a prime number, for instance
    settings = {
        # Of workers that wait for programs a profile says nothing, and it is most of what they use.
        "distributed.worker.profile.enabled": False,
        # What the scheduler remembers of tasks that are done grows otherwise.
        "distributed.admin.low-level-log-length": 1000,
        "distributed.worker.preload": ["tlmssd.engine.ignore_interrupts"],
    }
    # The first process would start it otherwise, which lets interrupts through.
    resource_tracker.ensure_running()
    with quiet(), dask.config.set(settings), contextlib.ExitStack() as opened:
        with interrupts_held():
            cluster = opened.enter_context(
                LocalCluster(
                    n_workers=workers,
                    threads_per_worker=jobs // workers,
                    processes=True,
                    memory_limit=0,
                    dashboard_address=":0",
                    silence_logs=logging.CRITICAL,
                )
            )
        yield opened.enter_context(_pool_of(cluster))


@contextlib.contextmanager
def scheduler_pool(address: str) -> Iterator[Pool]:
    """A Dask cluster that runs already; its workers see the store under the same path."""
    _check_address(address)
    with quiet(), _pool_of(address) as pool:
        yield pool


def _check_address(address: str) -> None:
    """Raises InputError for what cannot be an address.

    Dask's client would wait a minute at its end for what has never begun.
    """
    from distributed.comm.addressing import get_address_host_port, parse_address
    from distributed.security import Security

    try:
        host, port = get_address_host_port(address)
    except ValueError as error:
        said = f"--scheduler: '{address}' is no address, {str(error).splitlines()[0]}"
        raise InputError(f"{said}; name one such as tcp://HOST:8786") from error
    if not host or not 0 < port < 65536:
        raise InputError(f"--scheduler: '{address}' has no host, or no port from 1 to 65535")
    secure = parse_address(address)[0] in ("tls", "wss")
    if secure and not Security().get_connection_args("client").get("ssl_context"):
        raise InputError(
            f"--scheduler: {address} needs certificates; name them in Dask's configuration under "
            "distributed.comm.tls, or use tcp://HOST:PORT"
        )


@contextlib.contextmanager
def cluster_pool(file: Path) -> Iterator[Pool]:
    """A cluster by dask-jobqueue: `file` says which and how large.

    system: slurm            # or pbs, sge, lsf, htcondor, oar, moab
    jobs: 4                  # batch jobs, each a worker
    options: {cores: 8, memory: 16 GiB, walltime: "02:00:00", queue: normal}
    """
    cluster = _job_queue(file)
    with quiet(), cluster, _pool_of(cluster) as pool:
        yield pool


def _job_queue(file: Path) -> Any:
    parts = read_document(file).known("system", "jobs", "options")
    systems = {
        "slurm": "SLURMCluster",
        "pbs": "PBSCluster",
        "sge": "SGECluster",
        "lsf": "LSFCluster",
        "htcondor": "HTCondorCluster",
        "oar": "OARCluster",
        "moab": "MoabCluster",
    }
    if "system" not in parts:
        raise InputError(f"{file}: say which system: {', '.join(systems)}")
    name = systems[parts["system"].choice(*systems)]
    try:
        import dask_jobqueue
    except ImportError as error:
        raise InputError("--cluster needs dask-jobqueue: pip install dask-jobqueue") from error
    options = parts["options"].value if "options" in parts else {}
    try:
        cluster = getattr(dask_jobqueue, name)(**options)
        cluster.scale(jobs=parts["jobs"].whole(1, 100000) if "jobs" in parts else 1)
    except (TypeError, ValueError) as error:
        (parts.get("options") or parts["system"]).fail(str(error).splitlines()[0])
    return cluster


@contextlib.contextmanager
def _pool_of(cluster: Any) -> Iterator[Pool]:
    from distributed import Client

    try:
        client = Client(cluster, timeout="30s", set_as_default=False)
    except (OSError, ValueError) as error:
        reason = str(error).splitlines()[0]
        raise InputError(f"no Dask scheduler at {cluster}: {reason}") from error
    with client:
        yield Pool(
            client.get_executor(),
            lambda: sum(client.nthreads().values()),
            client.dashboard_link or None,
        )


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Dask's words about workers that come and go are left out: rows say what was lost."""
    logger = logging.getLogger("distributed")
    before = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        logger.setLevel(before)


__all__ = ["Pool", "RunFailed", "cluster_pool", "local_pool", "scheduler_pool", "thread_pool"]
