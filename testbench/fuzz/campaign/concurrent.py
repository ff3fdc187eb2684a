"""Part (d): several runs at once that write to one output folder and one snapshot name, some of them killed."""

import random
import signal
import time

from campaign import bench, processes, verdict
from campaign.findings import Result

NAME = "concurrent"
COUNT = 20


def run(setup, number):
    """One case: runs of different seeds, started at nearly the same time."""
    chance = random.Random(f"{setup.seed}/{NAME}/{number}")
    trial = bench.Bench(setup, NAME, number, old=chance.random() < 0.5)
    seeds = list(bench.SEEDS[1:chance.randint(3, len(bench.SEEDS))])
    killed = chance.choice(seeds) if chance.random() < 0.3 else None
    begin = time.monotonic()
    processes_of = {}
    for seed in seeds:
        processes_of[seed] = processes.start(setup, trial.folder, bench.arguments(seed))
        time.sleep(chance.random() * 0.03)
    if killed is not None:
        time.sleep(chance.random() * 0.3)
        processes_of[killed].send_signal(signal.SIGKILL)
    outcomes = {seed: processes.finish(setup, process) for seed, process in processes_of.items()}
    for seed, outcome in outcomes.items():
        if outcome.code not in ((0, 2, -signal.SIGKILL) if seed == killed else (0, 2)):
            trial.found(f"exit code {outcome.code}", f"{len(seeds)} runs at once: {verdict.last_line(outcome)}")
        if outcome.code == 2 and not outcome.err.startswith("tlmssd: "):
            trial.found("unclear refusal", f"{len(seeds)} runs at once: {verdict.last_line(outcome)}")
    ended = [seed for seed, outcome in outcomes.items() if outcome.code == 0]
    what = f"{len(seeds)} runs at once{', one of them killed' if killed else ''}"
    if not ended:
        trial.found("no run ends well", f"{what}: {verdict.last_line(outcomes[seeds[0]])}")
    elif killed is None:
        # Results and snapshots are two things: the last to write one need not be the last to write the other.
        trial.judge(0, seeds, what)
    trial.close()
    return Result(number, "ran" if len(ended) == len(seeds) else "some refused", time.monotonic() - begin, len(seeds),
                  trial.findings)
