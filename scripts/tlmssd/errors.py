"""What the package raises for its users' mistakes and for runs that fail."""

import os


class InputError(Exception):
    """A file or an argument is at fault; the message is one line with place and valid choice."""


class CannotGoOn(Exception):
    """Nothing can be run any more, whatever the scenario; the message is the reason in one line."""


class RunFailed(Exception):
    """A run ended without results; the message is the reason in one line."""


def reason_of(error: OSError) -> str:
    """Why the system has refused, without the numbers that it has for it."""
    return os.strerror(error.errno) if error.errno else str(error)
