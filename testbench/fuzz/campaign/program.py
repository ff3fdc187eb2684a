"""Runs the program on inputs in a folder of their own, under limits of time and memory.

Time is the processor's, so that a machine that does other things as well raises no false alarm; only a program
that waits for ever is stopped by the clock.
"""

import os
import resource
import signal
import subprocess
from dataclasses import dataclass
from pathlib import Path

import yaml

# Far above what any scenario of a campaign needs. Sanitizers reserve address space without limit.
_MOST_MEMORY = 8 * 2**30
# How much longer than its processor time a run may take by the clock.
_WAITING = 20


@dataclass
class Outcome:
    """What one run of the program came to; `code` is negative for a signal, None when it was stopped.

    `seconds` are those of the processor.
    """
    code: int | None
    out: str
    err: str
    seconds: float

    @property
    def lines(self):
        return [line for line in self.err.split("\n") if line]


class Program:
    """The program under test. `slow` is how much longer than a release build it may take."""

    def __init__(self, path):
        self.path = str(Path(path).resolve())
        self.sanitized = b"__asan_init" in Path(path).read_bytes()
        self.slow = 12 if self.sanitized else 1

    def run(self, folder, *arguments, limit=30):
        """Runs the program in `folder`; stopped after `limit` seconds of processor time (more with sanitizers)."""
        environment = {**os.environ, "ASAN_OPTIONS": "exitcode=99:detect_stack_use_after_return=0",
                       "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1:exitcode=99",
                       "TLMSSD_TRACES": str(folder)}
        limit *= self.slow
        begin = _processor_seconds()
        try:
            done = subprocess.run(["prlimit", f"--cpu={limit}:{limit + 5}", self.path, *arguments], cwd=folder,
                                  env=environment, stdin=subprocess.DEVNULL, capture_output=True,
                                  timeout=limit * _WAITING)
            code, out, err = done.returncode, done.stdout, done.stderr
        except subprocess.TimeoutExpired as stopped:
            code, out, err = None, stopped.stdout or b"", stopped.stderr or b""
        if code in (-signal.SIGXCPU, -signal.SIGKILL):
            code = None
        seconds = _processor_seconds() - begin
        return Outcome(results_are_there(code), out.decode("utf-8", "replace"), err.decode("utf-8", "replace"), seconds)

    def limit_children(self):
        """What this process starts from now on has so much memory, and leaves no core files."""
        if not self.sanitized:
            resource.setrlimit(resource.RLIMIT_AS, (_MOST_MEMORY, _MOST_MEMORY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def results_are_there(code):
    """0 for a run in which commands failed: drawn scenarios may ask what a drive refuses, and wear it out.

    2 for one that this machine has no memory or no room on a disk for: that, too, is refused with a line.
    """
    return {5: 0, 6: 2, 7: 2}.get(code, code)


def _processor_seconds():
    """Of all children of this process that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def write_inputs(folder, tree, files):
    """Writes the scenario as s.yaml, and the files beside it, into `folder`."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "s.yaml").write_text(to_yaml(tree), encoding="utf-8")
    for name, data in files.items():
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(data, dict):
            data = to_yaml(data)
        target.write_bytes(data if isinstance(data, bytes) else data.encode())


def to_yaml(tree):
    return yaml.safe_dump(tree, sort_keys=False, allow_unicode=True, width=100)
