"""Runs of the program that something is done to: a signal, a limit, a standard output of its own, several at once."""

import os
import resource
import signal
import subprocess
import time

from campaign.program import Outcome, results_are_there


def start(setup, folder, arguments, *, environment=None, memory=None, file_size=None, output=subprocess.PIPE):
    """Starts the program in `folder`; `memory` and `file_size` limit it (bytes)."""
    program = setup.program

    def limit():
        for number in (signal.SIGINT, signal.SIGHUP):  # a campaign in the background may ignore them itself
            signal.signal(number, signal.SIG_DFL)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if memory is not None and not program.sanitized:
            resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
        if file_size is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (file_size, file_size))

    variables = {**os.environ, "ASAN_OPTIONS": "exitcode=99:detect_stack_use_after_return=0:allocator_may_return_null=1",
                 "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1:exitcode=99", **(environment or {})}
    process = subprocess.Popen([program.path, *arguments], cwd=folder, env=variables, stdin=subprocess.DEVNULL,
                               stdout=output, stderr=subprocess.PIPE, preexec_fn=limit)
    process.begin = time.monotonic()
    return process


def finish(setup, process, limit=30):
    """Waits for the end; stops the process after `limit` seconds (more under sanitizers)."""
    try:
        out, err = process.communicate(timeout=limit * setup.program.slow * setup.patience)
        code = process.returncode
    except subprocess.TimeoutExpired:
        process.kill()
        out, err = process.communicate()
        code = None
    seconds = time.monotonic() - process.begin
    return Outcome(results_are_there(code), (out or b"").decode("utf-8", "replace"), err.decode("utf-8", "replace"), seconds)


def run(setup, folder, arguments, **how):
    """Starts it and waits for the end."""
    return finish(setup, start(setup, folder, arguments, **how))


def name_of(number):
    """SIGTERM for 15."""
    return signal.Signals(number).name
