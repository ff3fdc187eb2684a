"""Part (e): failing allocations and failing calls for files, at the n-th call.

Each must end in success, in exit code 2 with a clear line, or in the line "out of memory", and leave old results and
snapshots whole or replace them by new ones.
"""

import errno
import os
import random
import subprocess
from pathlib import Path

from campaign import bench, processes, verdict
from campaign.findings import Result

NAME = "failing-calls"
COUNT = 120

_SOURCE = Path(__file__).resolve().parents[1] / "failing_calls.c"
# What may go wrong with a call, by errno; 0: it does less than it was asked to, which is no error.
_ERRORS = {"allocate": [12], "open": [13, 24, 5, 28], "read": [5, 4, 0], "write": [28, 5, 122, 27, 0], "fsync": [5, 28],
           "rename": [13, 28, 5, 18], "mkdir": [28, 13], "unlink": [5, 13], "close": [5, 28, 122]}
_MEMORY_SHARE = 0.15  # of the cases: a limit on memory instead of a single failure


def _make_library(setup):
    """The preloaded library."""
    target = Path(setup.work) / f"failing_calls-{os.getpid()}.so"
    target.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run([os.environ.get("CC", "cc"), "-std=c11", "-O1", "-shared", "-fPIC", str(_SOURCE), "-o", str(target),
                    "-ldl"], check=True)
    return target


def _environment(setup, call, at=0, last=0, error=0, count=""):
    variables = {"FAILING_CALL": call, "FAILING_AT": str(at), "FAILING_LAST": str(last), "FAILING_ERRNO": str(error),
                 "LD_PRELOAD": str(bench.once(setup, "library", lambda: _make_library(setup)))}
    return variables | ({"FAILING_COUNT": str(count)} if count else {})


def _count(setup, call):
    """How many calls of the kind there are in an undisturbed run."""
    trial = bench.Bench(setup, NAME, f"count-{call}")
    count = trial.folder / "count"
    outcome = processes.run(setup, trial.folder, bench.arguments(2), environment=_environment(setup, call, count=count))
    if outcome.code != 0:
        raise RuntimeError(f"with {_SOURCE.name}, a run that no call fails ended with {outcome.code}: {outcome.err}")
    number = int(count.read_text())
    trial.close()
    return number


def run(setup, number):
    """One case: first every call for files there is, one by one; after these, anything."""
    one_by_one = bench.once(setup, "all calls", lambda: _all_calls(setup))
    if number < len(one_by_one):
        return failing(setup, number, *one_by_one[number])
    chance = random.Random(f"{setup.seed}/{NAME}/{number}")
    if chance.random() < _MEMORY_SHARE:
        return _with_little_memory(setup, number, chance)
    call = chance.choice(list(_ERRORS))
    calls = bench.once(setup, f"calls of {call}", lambda: _count(setup, call))
    if calls == 0:
        return Result(number, f"no {call}")
    # Early calls are as interesting as late ones, of which there are many more.
    at = chance.randint(1, calls) if chance.random() < 0.5 else round(calls ** chance.random())
    error = chance.choice(_ERRORS[call])
    lasting = error not in (0, errno.EINTR)  # an interrupted call is made again
    return failing(setup, number, call, at, error, 0 if lasting and chance.random() < 0.3 else at)


def _all_calls(setup):
    """Every call for files in a run, with the likeliest of its errors."""
    return [(call, at, errors[0], at) for call, errors in _ERRORS.items() if call != "allocate"
            for at in range(1, 1 + bench.once(setup, f"calls of {call}", lambda call=call: _count(setup, call)))]


def failing(setup, number, call, at, error, last):
    """One call that fails, or all from `at` to `last`; 0: to the end."""
    what = f"call {at}{'' if last else ' and all that follow'} of {call} failing ({_name(error)})"
    return _disturbed(setup, number, what, call, environment=_environment(setup, call, at, last, error))


def _with_little_memory(setup, number, chance):
    if setup.program.sanitized:
        return Result(number, "no limit under sanitizers")
    most = chance.randint(20, 120) * 2**20
    return _disturbed(setup, number, f"a limit of {most // 2**20} MiB of memory", "allocate", memory=most)


def _disturbed(setup, number, what, call, **limits):
    trial = bench.Bench(setup, NAME, number)
    outcome = processes.run(setup, trial.folder, bench.arguments(2), **limits)
    if not _clear(outcome):
        rule = "hang" if outcome.code is None else f"exit code {outcome.code}"
        trial.found(rule, f"after {what}: {verdict.last_line(outcome)}")
    elif outcome.code == 2 and not verdict.out_of_memory(outcome):
        for rule, detail in verdict.promised(outcome, {"tlmssd"}):
            trial.found(rule, f"after {what}: {detail}")
    # What cannot be removed stays, and what cannot be opened in the end is a folder to be removed; the next run sweeps it,
    # as it does after a run that had no memory left to remove anything.
    may_leave = call == "unlink" or (call == "open" and outcome.code == 0) or (call == "allocate" and verdict.out_of_memory(outcome))
    trial.judge(outcome.code, [2], what, may_leave=may_leave)
    trial.close()
    return Result(number, _word(outcome), outcome.seconds, 1, trial.findings)


def _clear(outcome):
    return outcome.code in (0, 2)


def _word(outcome):
    if verdict.out_of_memory(outcome):
        return "out of memory"
    return {0: "ran", 2: "refused"}.get(outcome.code, "failed")


def _name(error):
    return os.strerror(error) if error else "in part"
