"""What the package raises for its users' mistakes and for runs that fail."""

import errno
import os


class InputError(Exception):
    """A file or an argument is at fault; the message is one line with place and valid choice."""


class CannotGoOn(Exception):
    """Nothing can be run any more, whatever the scenario; the message is the reason in one line."""


class DiskFull(CannotGoOn):
    """The same, for want of room on a disk."""


class RunFailed(Exception):
    """A run ended without results; the message is the reason in one line."""


def reason_of(error: OSError) -> str:
    """Why the system has refused, without the numbers that it has for it."""
    return os.strerror(error.errno) if error.errno else str(error)


def is_disk_full(error: BaseException | None) -> bool:
    """Whether a full disk, or a quota used up, is behind it, whatever became of the system's
    error."""
    while error is not None:
        if isinstance(error, DiskFull):
            return True
        if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
            return True
        error = error.__cause__
    return False
