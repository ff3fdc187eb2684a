"""Many jobs over an engine: a bounded number under way, drives that several share made once."""

import collections
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, wait
from dataclasses import dataclass
from pathlib import Path

from tlmssd.engine.pool import Pool
from tlmssd.errors import RunFailed, is_disk_full
from tlmssd.execute import Done, Job, Read, Workshop
from tlmssd.store import Store

AHEAD = 4
"""Jobs under way for each that can be carried out at once, so that no worker waits for the next."""


@dataclass
class Savings:
    """What sharing drives and the store have saved; times in seconds of one processor each."""

    known: int = 0
    drives: int = 0
    remade: int = 0
    drive_seconds: float = 0.0
    served: int = 0
    saved_seconds: float = 0.0

    def count(self, done: Done) -> None:
        """Takes a run into account."""
        self.known += done.known
        if done.remade:
            self.remade += 1
            self.drive_seconds += done.remade
        if done.saved:
            self.served += 1
            self.saved_seconds += done.saved

    def text(self) -> str:
        """In words; empty when there is nothing to say."""
        parts = []
        if self.served:
            drives = self.drives + self.remade
            made = f"{drives} drives prepared once" if drives != 1 else "1 drive prepared"
            made += f" in {self.drive_seconds:.1f} s" if drives else ""
            net = self.saved_seconds - self.drive_seconds
            made = made if drives else "drives from the store"
            parts.append(f"{made}, for {self.served} runs: {max(net, 0):.0f} s of work saved")
        if self.remade:
            what = "1 snapshot was" if self.remade == 1 else f"{self.remade} snapshots were"
            parts.append(f"{what} damaged and made again")
        if self.known:
            parts.append(f"{self.known} runs were known and not run again")
        return "; ".join(parts)


@dataclass
class Campaign:
    """Carries out jobs. `share`: whether drives come from snapshots; results are the same."""

    workshop: Workshop
    pool: Pool
    read: Read
    share: bool = True

    def __post_init__(self) -> None:
        self.savings = Savings()
        self._store = Store(Path(self.workshop.store))
        self._seen: collections.Counter[str] = collections.Counter()
        self._prepared: set[str] = set()

    def carry_out(self, jobs: Sequence[Job]) -> Iterator[tuple[int, Done]]:
        """Yields the number of each job and what became of it, as they end.

        Raises RunFailed when the engine is lost.
        """
        shared = self._shared(jobs)
        left = collections.Counter(job.drive for job in jobs if job.drive in shared)
        ready = collections.deque(enumerate(jobs))
        waiting: dict[str, list[tuple[int, Job]]] = {}
        active: dict[Future, int | str] = {}
        try:
            while ready or active:
                while ready and len(active) < AHEAD * self.pool.slots():
                    self._start(*ready.popleft(), shared, waiting, active)
                for future in wait(active, return_when=FIRST_COMPLETED).done if active else ():
                    what = active.pop(future)
                    done = result_of(future)
                    if isinstance(what, int):
                        self.savings.count(done)
                        self._let_go(jobs[what].drive, left)
                        yield what, done
                    else:
                        self._note_drive(what, done)
                        ready.extendleft(reversed(waiting.pop(what)))
        finally:
            for future in active:
                future.cancel()

    def _start(
        self,
        number: int,
        job: Job,
        shared: set[str],
        waiting: dict[str, list[tuple[int, Job]]],
        active: dict[Future, int | str],
    ) -> None:
        submit = self.pool.executor.submit
        if job.drive in waiting:
            waiting[job.drive].append((number, job))
        elif job.drive in shared and job.drive not in self._prepared:
            waiting[job.drive] = [(number, job)]
            active[submit(self.workshop.prepare, job)] = job.drive
        else:
            active[submit(self.workshop.run, job, self.read, job.drive in shared)] = number

    def _shared(self, jobs: Sequence[Job]) -> set[str]:
        """Drives that are worth a snapshot: of several runs not known yet, or met before."""
        if not self.share:
            return set()
        fresh = {job.key: job.drive for job in jobs if not self._store.knows(job.key)}
        self._seen.update(drive for drive in fresh.values() if drive)
        return {
            drive
            for drive in fresh.values()
            if drive and (self._seen[drive] > 1 or self._store.snapshot(drive).exists())
        }

    def _let_go(self, drive: str | None, left: collections.Counter) -> None:
        """Counts down the runs that still need a drive; the last one makes room for others."""
        if drive in left:
            left[drive] -= 1
            if left[drive] == 0:
                del left[drive]
                self._store.trim_snapshots(left)

    def _note_drive(self, drive: str, done: Done) -> None:
        self._prepared.add(drive)
        if done.status == "ok" and not done.known:
            self.savings.drives += 1
            self.savings.drive_seconds += done.seconds


def result_of(future: Future) -> Done:
    """What a job came to, a lost worker included. Raises RunFailed when the engine is lost."""
    try:
        return future.result()
    except CancelledError as error:
        raise RunFailed("the Dask cluster is gone; the same command goes on from here") from error
    except OSError as error:
        status = "disk" if is_disk_full(error) else "lost"
        return Done(status, f"the worker could not read or write: {error.strerror or error}")
    except Exception as error:
        if type(error).__name__ == "KilledWorker":
            return Done("lost", "every worker that tried it died")
        if type(error).__name__ in ("CommClosedError", "FutureCancelledError"):
            raise RunFailed(
                "the Dask cluster is gone; the same command goes on from here"
            ) from error
        raise
