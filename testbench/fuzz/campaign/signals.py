"""Part (d): signals at random instants, SIGKILL among them, and what is left for the next run."""

import random
import signal
import time

from campaign import bench, processes, verdict
from campaign.findings import Result

NAME = "signals"
COUNT = 40

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL)


def run(setup, number):
    """One case: a signal, sometimes two, then a run without a signal."""
    chance = random.Random(f"{setup.seed}/{NAME}/{number}")
    old = chance.random() < 0.8
    trial = bench.Bench(setup, NAME, number, old)
    sent = chance.choice(_SIGNALS)
    instant = chance.random() * 1.6 * bench.once(setup, "usual seconds", lambda: _usual_seconds(setup))
    process = processes.start(setup, trial.folder, bench.arguments(2))
    time.sleep(instant)
    process.send_signal(sent)
    if chance.random() < 0.2:
        time.sleep(chance.random() * 0.01)
        process.send_signal(sent)
    outcome = processes.finish(setup, process)
    what = f"{processes.name_of(sent)} after {instant * 1000:.0f} ms"
    killed = outcome.code == -signal.SIGKILL
    if outcome.code not in (0, -sent, 128 + sent):
        trial.found(f"exit code {outcome.code}", f"after {what}: {verdict.last_line(outcome)}")
    if old or outcome.code == 0:
        _judge(trial, outcome, what, killed)
    elif not killed and trial.results_of() is None and not trial.results_are_partial():
        trial.found("half-written results", f"after {what}")
    _again(setup, trial, what)
    trial.close()
    return Result(number, "ran" if outcome.code == 0 else "ended", outcome.seconds, 2, trial.findings)


def _usual_seconds(setup):
    """How long an undisturbed run takes just now."""
    trial = bench.Bench(setup, NAME, "usual")
    seconds = processes.run(setup, trial.folder, bench.arguments(2)).seconds
    trial.close()
    return seconds


def _judge(trial, outcome, what, killed):
    """Old or new, each of them whole. In the middle of the renames a killed process may leave some of both."""
    if killed and trial.results_of() is None and (trial.folder / "results").is_dir():
        return
    trial.judge(outcome.code if outcome.code == 0 else 1, [2], what, may_leave=killed)


def _again(setup, trial, what):
    """The next run replaces what is there, and sweeps what a killed one has left."""
    outcome = processes.run(setup, trial.folder, bench.arguments(3))
    if outcome.code != 0:
        trial.found("the next run fails", f"after {what}: {verdict.last_line(outcome)}")
    else:
        trial.judge(0, [3], f"{what} and another run")
