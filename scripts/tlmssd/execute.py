"""Carries out jobs: looks in the store first, runs the program otherwise, within limits."""

import contextlib
import json
import os
import re
import resource
import subprocess
import time
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from tlmssd.failures import ACCEPT, failed_commands_in
from tlmssd.program import Program, environment, find_program
from tlmssd.quantities import quantity_text
from tlmssd.store import Store

Read = Callable[[Path, bytes, dict], dict]
"""Takes figures from a folder of results, its report.json (as it is written) and the resolved
scenario."""
CERTAIN = ("refused", "stalled", "failed")
"""What happens again whenever a run is carried out, so that it is remembered."""
OUTSIDE = ("lost", "disk")
"""What the scenario has no part in: the same run would go well elsewhere, or later."""

COMMANDS_FAILED = 5
"""Exit code of a run with results in which commands failed: the report says which."""
WITH_RESULTS = ("ok", "errors")
"""Statuses of runs whose results are in the store."""
WANT_OF_MEMORY = re.compile(
    r"MemoryError|bad_alloc|out of memory|\b(cannot|failed to|unable to) (re)?allocate\b"
    "|failed to map segment",
    re.IGNORECASE,
)
"""What a program says that found none, whatever it is written in; the last is the loader's."""
NOT_LOADED = re.compile("error while loading shared libraries|symbol lookup error")
"""What the loader says of a program that lacks a library on this machine."""
STATUSES = {2: "refused", 3: "stalled", 6: "memory", 7: "disk"}
"""Exit codes that say why there are no results; 6 and 7 are the machine's fault (user-guide.md)."""


@dataclass(frozen=True)
class Limits:
    """What one run may use: seconds of time, bytes of address space; None is no limit."""

    seconds: float | None = None
    memory: int | None = None


@dataclass(frozen=True)
class Job:
    """One run: a resolved scenario, known by `key`; `drive` names its snapshot, if any."""

    key: str
    drive: str | None
    content: bytes = field(repr=False)

    @staticmethod
    def of(scenario: dict, key: str, drive: str | None) -> "Job":
        """A job of a resolved scenario."""
        return Job(key, drive, zlib.compress(json.dumps(scenario).encode(), 1))

    @property
    def scenario(self) -> dict:
        """The resolved scenario."""
        return json.loads(zlib.decompress(self.content))


@dataclass(frozen=True)
class Done:
    """What became of a job.

    `status`: ok; errors (it has results, but commands failed); refused (the scenario is
    contradictory), stalled, failed (the emulator is at fault), crashed, timeout, memory, disk
    (full), lost (with its worker); `reason` is one line.
    `known`: it was in the store.
    `seconds` of wall-clock time; `saved`: those that a snapshot saved; `remade`: those that it took
    to make a damaged snapshot again; `processor`: seconds of processor time, None where they were
    not recorded.
    """

    status: str
    reason: str = ""
    known: bool = False
    seconds: float = 0.0
    saved: float = 0.0
    remade: float = 0.0
    processor: float | None = None
    figures: dict = field(default_factory=dict)


@dataclass(frozen=True)
class Workshop:
    """Where jobs are carried out: a program and a store, both by their paths on every machine.

    `short`: the loads are cut so that any run takes seconds and its figures mean nothing.
    """

    program: str
    digest: str
    store: str
    limits: Limits = Limits()
    short: bool = False

    def run(self, job: Job, read: Read, snapshot: bool = False) -> Done:
        """Carries out `job`, from its snapshot if it is there and `snapshot` says so."""
        store = Store(Path(self.store))
        if not store.visible:
            return Done("lost", f"{self.store} is not to be seen from this worker's machine")
        done = self._known(store, job)
        if done is None:
            with store.locked(job.key):
                done = self._known(store, job) or self._run(store, job, snapshot)
        if done.status != "ok":
            return done
        try:
            scenario, results = job.scenario, store.run(job.key)
            report = (results / "report.json").read_bytes()
            figures = read(results, report, scenario)
            if failed := failed_commands_in(report, scenario.get("run", {}).get("errors")):
                return replace(done, status="errors", reason=f"{failed}; {ACCEPT}")
            return replace(done, figures=figures)
        except (OSError, ValueError, LookupError, TypeError, AttributeError):
            if not done.known:
                raise
        # What the store holds is damaged: the run is carried out again.
        store.discard(job.key)
        return self.run(job, read, snapshot)

    def prepare(self, job: Job) -> Done:
        """Makes the snapshot of the job's drive, unless it is there."""
        store = Store(Path(self.store))
        if not store.visible:
            return Done("lost", f"{self.store} is not to be seen from this worker's machine")
        target = store.snapshot(job.drive)
        with store.locked(job.drive):
            if target.exists():
                os.utime(target)
                return Done("ok", known=True, processor=store.processor_seconds(target.parent))
            return self._make_snapshot(store, job)

    def _make_snapshot(self, store: Store, job: Job) -> Done:
        """With the drive's lock held."""
        with store.scratch() as folder:
            made = folder / "drive"
            more = ["--save-snapshot", made.name, "--prepare-only"]
            done = self._start(folder, job.scenario, more)
            if done.status == "ok":
                store.put_snapshot(job.drive, made, done.seconds, done.processor)
            return done

    def _known(self, store: Store, job: Job) -> Done | None:
        results = store.run(job.key)
        if results.exists():
            return Done("ok", known=True, processor=store.processor_seconds(results))
        failure = store.failure(job.key)
        return Done(*failure, known=True) if failure else None

    def _run(self, store: Store, job: Job, snapshot: bool) -> Done:
        remade = 0.0
        if snapshot and job.drive:
            done = self._run_from_snapshot(store, job)
            if done and done.status != "refused":
                return done
            remade = done.remade if done else 0.0
        return replace(self._run_from(store, job, []), remade=remade)

    def _run_from_snapshot(self, store: Store, job: Job) -> Done | None:
        """None where there is no snapshot. One that is damaged is made again, once."""
        drive = store.snapshot(job.drive)
        more = ["--from-snapshot", str(drive)]
        with contextlib.ExitStack() as stack:
            try:
                # Kept open, so that its number is not given to the one that is made in its place.
                tried = stack.enter_context(open(drive, "rb"))
            except OSError:
                return None
            done = self._run_from(store, job, more)
            if not is_damaged(drive, done):
                return done
            remade = 0.0
            with store.locked(job.drive):
                if store.is_snapshot(job.drive, tried):  # otherwise another run has made it again
                    store.discard_snapshot(job.drive)
                    made = self._make_snapshot(store, job)
                    remade = made.seconds if made.status == "ok" else 0.0
        if drive.exists():
            done = self._run_from(store, job, more)
            if is_damaged(drive, done):  # this disk cannot keep it: the others need not try
                with store.locked(job.drive):
                    store.discard_snapshot(job.drive)
        return replace(done, remade=remade)

    def _run_from(self, store: Store, job: Job, snapshot: list[str]) -> Done:
        with store.scratch() as folder:
            done = self._start(folder, job.scenario, ["--out", "out", *snapshot])
            if done.status == "ok":
                # As large as everything else, and made again by running the scenario beside it.
                (folder / "out/report.html").unlink()
                if snapshot:
                    done = replace(done, saved=_saved(store, job.drive, folder / "out/run.json"))
                store.put(job.key, folder / "out", done.processor)
            elif is_certain(done) and not snapshot:
                store.put_failure(job.key, done.status, done.reason)
        return done

    def _start(self, folder: Path, scenario: dict, more: list[str]) -> Done:
        """Runs the program in `folder`; the names in its messages are relative to that."""
        program = program_here(self.program, self.digest)
        if program is None:
            return Done("lost", changed(self.program))
        (folder / "scenario.yaml").write_text(json.dumps(scenario), encoding="utf-8")
        command = [program, "run", "scenario.yaml", "--quiet", "--with-parent", *more]
        command += ["--short"] if self.short else []
        own = environment()
        own.pop("TLMSSD_PLUGINS", None)  # the scenario names them, by their absolute paths
        begin = time.monotonic()
        with open(folder / "stderr", "w+b") as errors:
            process = subprocess.Popen(
                command, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                stderr=errors, env=own,
            )  # fmt: skip
            if self.limits.memory:
                with contextlib.suppress(ProcessLookupError):
                    resource.prlimit(process.pid, resource.RLIMIT_AS, (self.limits.memory,) * 2)
            try:
                processor = _processor_seconds_of(process, self.limits.seconds)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
                return Done("timeout", f"ran longer than {self.limits.seconds:g} s")
            except BaseException:
                process.kill()
                process.wait()
                raise
            errors.seek(0)
            said = errors.read().decode(errors="replace").strip()
        seconds = time.monotonic() - begin
        verdict = within(self.limits, *judged(process.returncode, said))
        return Done(*verdict, seconds=seconds, processor=processor)


def _processor_seconds_of(process: subprocess.Popen, limit: float | None) -> float:
    """Processor time of a process that has ended; raises TimeoutExpired after `limit` seconds.

    Popen.wait throws away what the kernel says of a process when it is waited for.
    """
    if limit is None:
        _, status, usage = os.wait4(process.pid, 0)
    else:
        end, pause = time.monotonic() + limit, 0.0005
        while not (waited := os.wait4(process.pid, os.WNOHANG))[0]:
            if time.monotonic() > end:
                raise subprocess.TimeoutExpired(process.args, limit)
            pause = min(2 * pause, 0.05)
            time.sleep(pause)
        _, status, usage = waited
    process.returncode = os.waitstatus_to_exitcode(status)
    return usage.ru_utime + usage.ru_stime


OWN = "tlmssd: "
"""That the program's own messages begin with."""


def judged(code: int, said: str) -> tuple[str, str]:
    """Status and reason of a process that ended with `code` (negative: signal) and `said` this."""
    lines = said.splitlines()
    # The program's own first line says what it is; those below it, as of a stall, are details.
    reason = next((line for line in lines if line.startswith(OWN)), lines[-1] if lines else "")
    # The scenario is one line of JSON: its place says nothing.
    reason = reason.removeprefix(OWN).removeprefix("scenario.yaml:1: ").strip()
    if code in (0, COMMANDS_FAILED):
        return "ok", ""
    if code == -9:
        return "memory", "killed by the system, which does so for want of memory"
    if code < 0 or code > 128:
        return "crashed", f"ended by signal {-code if code < 0 else code - 128}"
    return STATUSES.get(code, "failed"), reason or f"exit code {code}"


def within(limits: Limits, status: str, reason: str) -> tuple[str, str]:
    """The same of a process with limits: where memory is short, a library or the loader may end it
    in its own words."""
    if limits.memory and status == "failed" and WANT_OF_MEMORY.search(reason):
        return "memory", f"{reason}, with at most {quantity_text(limits.memory, 'B')} of memory"
    return status, reason


def is_certain(done: Done) -> bool:
    """Whether it ends like this whenever it is run, elsewhere and with other limits, too."""
    return done.status in CERTAIN and not NOT_LOADED.search(done.reason)


def is_damaged(drive: Path, done: Done) -> bool:
    """Whether a run was refused because of what is in the snapshot that it was to begin from."""
    return (
        done.status == "refused"
        and done.reason.startswith(f"{drive}: ")
        and "more memory" not in done.reason
    )


def program_here(path: str, digest: str) -> Path | None:
    """The program on this machine: there or where it is found, but with the same content."""
    for candidate in (lambda: Program(Path(path)), find_program):
        with contextlib.suppress(Exception):
            program = candidate()
            if program.digest == digest:
                return program.path
    return None


def changed(path: str | Path) -> str:
    """What to say when the program is not the one any more that the work began with."""
    return f"{path} is not the build any more that this began with: begin anew, or keep a copy"


def _saved(store: Store, drive: str, run: Path) -> float:
    loading = json.loads(run.read_text(encoding="utf-8"))["precondition"]["value"]
    return store.snapshot_seconds(drive) - loading
