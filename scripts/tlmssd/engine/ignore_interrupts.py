"""Loaded by worker processes when they start: Ctrl-C is for the client, which ends them.

Until then it is held back (tlmssd.interrupts); the program's runs are to see it.
"""

import signal

signal.signal(signal.SIGINT, signal.SIG_IGN)
signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
