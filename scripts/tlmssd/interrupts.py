"""Ctrl-C while something is under way that is not to be cut short."""

import contextlib
import signal
import threading
from collections.abc import Iterator

INTERRUPTED = 130
"""Exit code of what Ctrl-C has ended."""


@contextlib.contextmanager
def interrupts_held() -> Iterator[None]:
    """An interrupt that comes in here is acted on at the end.

    Processes and threads that begin in here never see one: it is this process's to end them.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came = []
    before = signal.signal(signal.SIGINT, lambda *_: came.append(True))
    # Who begins in here inherits the mask, but not the handler.
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        signal.signal(signal.SIGINT, before)
    if came:
        signal.raise_signal(signal.SIGINT)
