"""The command line: python -m tlmssd COMMAND ARGUMENTS.

A command is a module with `add_arguments(parser)` and `main(arguments) -> exit code`; it is
imported only when it is asked for.
"""

import argparse
import errno
import importlib
import os
import select
import sys
from collections.abc import Callable
from typing import NoReturn

from tlmssd.errors import CannotGoOn, InputError, RunFailed, is_disk_full, reason_of
from tlmssd.interrupts import INTERRUPTED, interrupts_held

Command = Callable[[argparse.Namespace], int]

COMMANDS = {
    "explore": ("tlmssd.explore", "run a study: many points of a design space, or a search in it"),
    "compare": ("tlmssd.compare", "put results side by side and say why they differ"),
    "calibrate": ("tlmssd.calibrate", "fit a drive to what fio measured on a real one"),
    "meet": ("tlmssd.meet", "find the mildest changes by which a scenario meets its targets"),
    "profile-firmware": (
        "tlmssd.profile_firmware",
        "count the instructions of firmware stages for ssd.cpu.costs",
    ),
    "pts": ("tlmssd.pts", "run SNIA's Performance Test Specification on a drive"),
    "probe": ("tlmssd.probe", "find out what is inside a drive, by fio jobs and their results"),
    "validate": ("tlmssd.validate", "judge a calibrated drive by measurements held out"),
    "whatif": ("tlmssd.whatif", "find the bottleneck by making each resource faster in turn"),
}
"""Command to its module and what it does in a few words."""

OK, FAILED, INPUT, DISK_FULL = 0, 1, 2, 7
"""Exit codes: all went well; something failed; a file or the command line is at fault; a disk is
full."""

LOST_OUTPUT = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF)
"""What a write may fail with."""


class _Parser(argparse.ArgumentParser):
    """Complains in one line as everything else does, without the usage of all options."""

    def error(self, message: str) -> NoReturn:
        raise SystemExit(complain(INPUT, f"{message}; all options: {self.prog} --help"))


def main(arguments: list[str] | None = None) -> int:
    """Carries out the command; the user's mistakes become one line on stderr and exit code 2."""
    try:
        with interrupts_held():  # an import that is cut short fails in words of its own
            command, parsed = _asked_for(sys.argv[1:] if arguments is None else arguments)
    except KeyboardInterrupt:
        return complain(INTERRUPTED, "interrupted")
    closed = sys.stdout is None  # before this process began
    if closed:
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115 - until the end
    code = _carry_out(command, parsed)
    try:
        if closed:
            raise OSError(errno.EBADF, os.strerror(errno.EBADF))
        _print_all()
    except BrokenPipeError:  # the reader has enough (| head)
        pass
    except OSError as error:
        if code == OK:
            return _complain_of(error)
    return code


def _asked_for(arguments: list[str]) -> tuple[Command, argparse.Namespace]:
    parser = _Parser(prog=os.environ.get("TLMSSD_SPEAKER", "tlmssd"))
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    module = None
    for name, (path, what) in COMMANDS.items():
        command = commands.add_parser(name, help=what, description=what)
        if arguments[:1] == [name]:
            module = importlib.import_module(path)
            module.add_arguments(command)
    parsed = parser.parse_args(arguments)
    return module.main, parsed


def _carry_out(command: Command, parsed: argparse.Namespace) -> int:
    try:
        return command(parsed)
    except (InputError, CannotGoOn) as error:
        return complain(_code_of(error), error)
    except RunFailed as error:
        return complain(FAILED, error)
    except KeyboardInterrupt:
        return complain(INTERRUPTED, "interrupted")
    except BrokenPipeError as error:
        return OK if _reader_is_gone() else complain(FAILED, reason_of(error))
    except OSError as error:
        return _complain_of(error)


def _reader_is_gone() -> bool:
    """Whether the reader of what is printed has enough: pipes to other processes break, too."""
    streams = select.poll()
    for stream in (sys.stdout, sys.stderr):
        streams.register(stream, 0)  # errors are told anyway
    return any(told & select.POLLERR for _, told in streams.poll(0))


def _print_all() -> None:
    """Raises OSError where what has been printed cannot leave this process."""
    try:
        sys.stdout.flush()
    except OSError:
        # What is left would be tried once more at the end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise


def _complain_of(error: OSError) -> int:
    place = f"{error.filename}: " if error.filename else ""
    # Files are written by output.whole(), which names them: this was print().
    if not place and error.errno in LOST_OUTPUT:
        place = "standard output: cannot be written: "
    return complain(_code_of(error), f"{place}{reason_of(error)}")


def _code_of(error: Exception) -> int:
    return DISK_FULL if is_disk_full(error) else INPUT


def complain(code: int, problem: object) -> int:
    """One line on stderr; returns `code`."""
    print(f"tlmssd: {' '.join(str(problem).split())}", file=sys.stderr)
    return code
