"""Loaded by worker processes when they start: Ctrl-C is for the client, which ends them."""

import signal

signal.signal(signal.SIGINT, signal.SIG_IGN)
