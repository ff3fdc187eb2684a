"""Where results are kept: runs by the hash of what determines them, and snapshots of drives.

    runs/ab/abcd...       the result folder of one run
    failures/ab/abcd...   why a run has no results, where that is certain to happen again
    snapshots/abcd...     drives as preconditioning has left them
    locks/, scratch/      for what is under way

Any number of processes, on any machine that sees the folder, may use one store at once.
"""

import contextlib
import errno
import fcntl
import json
import os
import shutil
import socket
import tempfile
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import IO

from tlmssd import units
from tlmssd.errors import InputError, reason_of

MARK = "tlmssd-store"
PROCESSOR = "processor_seconds"
"""File beside results and snapshots: the processor time that they cost."""
FOLDERS = ("runs", "failures", "snapshots", "locks", "scratch")


def store_folder(named: str | Path | None = None) -> Path:
    """`named`, or what TLMSSD_STORE names, or tlmssd/ in the user's cache folder."""
    if named:
        return Path(named).resolve()
    if os.environ.get("TLMSSD_STORE"):
        return Path(os.environ["TLMSSD_STORE"]).resolve()
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "tlmssd"


def snapshot_space() -> float:
    """Bytes that snapshots may take: TLMSSD_SNAPSHOT_SPACE, such as '50 GB'; else 20 GB."""
    return units.parse(os.environ.get("TLMSSD_SNAPSHOT_SPACE", "20 GB"))


class Store:
    """One store; cheap to make, holds nothing open."""

    def __init__(self, folder: Path):
        self.folder = folder

    @staticmethod
    def create(named: str | Path | None = None) -> "Store":
        """The store in `store_folder(named)`, made if need be; raises InputError."""
        folder = store_folder(named)
        if folder.is_dir() and any(folder.iterdir()) and not (folder / MARK).exists():
            raise InputError(f"{folder}: is not empty and not a store; name another folder")
        try:
            for part in FOLDERS:
                (folder / part).mkdir(parents=True, exist_ok=True)
            (folder / MARK).touch()
        except OSError as error:
            raise InputError(f"{folder}: cannot hold a store: {error.strerror}") from error
        store = Store(folder)
        store.clean()
        return store

    @property
    def visible(self) -> bool:
        """Whether this machine sees the store."""
        return (self.folder / MARK).exists()

    def run(self, key: str) -> Path:
        """Folder of a run's results, whether it is there or not."""
        return self.folder / "runs" / key[:2] / key

    def knows(self, key: str) -> bool:
        """Whether the run need not be carried out."""
        return self.run(key).exists() or self._failure(key).exists()

    def put(self, key: str, results: Path, processor: float | None = None) -> Path:
        """Moves a folder of results to its place; the first of two stays.

        `processor`: seconds of processor time that they cost.
        """
        _note_processor(results, processor)
        target = self.run(key)
        target.parent.mkdir(exist_ok=True)
        _move(results, target)
        return target

    def discard(self, key: str) -> None:
        """Removes a run's results that cannot be read; raises InputError where that cannot be."""
        with self.locked(key):
            _remove_damaged(self.run(key))

    def failure(self, key: str) -> tuple[str, str] | None:
        """Status and reason of a run that is known to fail."""
        try:
            status, reason = json.loads(self._failure(key).read_text(encoding="utf-8"))
        except (OSError, ValueError):  # none, or a damaged one
            return None
        return status, reason

    def put_failure(self, key: str, status: str, reason: str) -> None:
        """Remembers that a run fails."""
        target = self._failure(key)
        target.parent.mkdir(exist_ok=True)
        with self.scratch() as folder:
            file = folder / "failure"
            file.write_text(json.dumps([status, reason]), encoding="utf-8")
            os.rename(file, target)

    def snapshot(self, key: str) -> Path:
        """File of a preconditioned drive, whether it is there or not."""
        return self.folder / "snapshots" / key / "drive"

    def snapshot_seconds(self, key: str) -> float:
        """How long it took to precondition the drive of a snapshot that is there."""
        try:
            return float((self.snapshot(key).parent / "seconds").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return 0.0

    def processor_seconds(self, folder: Path) -> float | None:
        """Processor time that a run or a snapshot, known by its folder, cost; None: not noted."""
        try:
            return float((folder / PROCESSOR).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None

    def put_snapshot(
        self, key: str, drive: Path, seconds: float, processor: float | None = None
    ) -> None:
        """Moves a snapshot to its place; the first of two stays."""
        folder = drive.parent / "snapshot"
        folder.mkdir()
        (folder / "seconds").write_text(str(seconds), encoding="utf-8")
        _note_processor(folder, processor)
        os.rename(drive, folder / "drive")
        _move(folder, self.snapshot(key).parent)

    def is_snapshot(self, key: str, file: IO) -> bool:
        """Whether the open `file` is the snapshot that is there now."""
        return _is_still(self.snapshot(key), file.fileno())

    def discard_snapshot(self, key: str) -> None:
        """Removes a damaged snapshot, its lock held; raises InputError where that cannot be."""
        _remove_damaged(self.snapshot(key).parent)

    def trim_snapshots(self, keep: Collection[str]) -> None:
        """Removes the snapshots used longest ago, but none to `keep`, where they take too much.

        A run whose snapshot is gone preconditions its drive itself.
        """
        found = []
        for folder in (self.folder / "snapshots").iterdir():
            with contextlib.suppress(OSError):  # another process trims, too
                state = (folder / "drive").stat()
                found.append((state.st_mtime, state.st_size, folder))
        space = sum(size for _, size, _ in found)
        for _, size, folder in sorted(found):
            if space <= snapshot_space():
                return
            if folder.name not in keep:
                shutil.rmtree(folder, ignore_errors=True)
                space -= size

    @contextlib.contextmanager
    def locked(self, key: str) -> Iterator[None]:
        """Waits until no other process works on `key`; one that dies releases it."""
        path = self.folder / "locks" / key
        while True:
            with open(path, "w", encoding="utf-8") as file:
                fcntl.flock(file, fcntl.LOCK_EX)
                if not _is_still(path, file.fileno()):
                    continue  # the one before has removed it
                try:
                    yield
                finally:
                    path.unlink(missing_ok=True)
                return

    @contextlib.contextmanager
    def scratch(self) -> Iterator[Path]:
        """A folder for a run under way, gone afterwards."""
        prefix = f"{socket.gethostname()}-{os.getpid()}-"
        with tempfile.TemporaryDirectory(dir=self.folder / "scratch", prefix=prefix) as folder:
            yield Path(folder)

    def clean(self) -> None:
        """Removes what processes of this machine left that did not live to clean up."""
        for entry in (self.folder / "scratch").iterdir():
            host, _, rest = entry.name.rpartition("-")[0].rpartition("-")
            if host == socket.gethostname() and rest.isdigit() and not _lives(int(rest)):
                shutil.rmtree(entry, ignore_errors=True)

    def _failure(self, key: str) -> Path:
        return self.folder / "failures" / key[:2] / key


def _move(folder: Path, target: Path) -> None:
    """Moves a folder, unless another machine was faster, where locks do not reach: what it has put
    there is the same."""
    try:
        os.rename(folder, target)
    except OSError as error:
        if error.errno not in (errno.EEXIST, errno.ENOTEMPTY):
            raise


def _remove_damaged(place: Path) -> None:
    try:
        if place.is_dir() and not place.is_symlink():
            shutil.rmtree(place)
        else:
            place.unlink()
    except FileNotFoundError:  # where locks do not reach, another has removed it
        pass
    except OSError as error:
        raise InputError(
            f"{place}: damaged, and cannot be removed: {reason_of(error)}; remove it, or "
            "name another store by --store or TLMSSD_STORE"
        ) from error


def _note_processor(folder: Path, seconds: float | None) -> None:
    if seconds is not None:
        (folder / PROCESSOR).write_text(f"{seconds:.3f}\n", encoding="utf-8")


def _is_still(path: Path, descriptor: int) -> bool:
    try:
        return os.stat(path).st_ino == os.fstat(descriptor).st_ino
    except FileNotFoundError:
        return False


def _lives(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
