"""Scenarios among what is compared: they are run first, on the engine that was asked for."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from tlmssd.compare.sides import split_side
from tlmssd.engine import engine
from tlmssd.result import Results
from tlmssd.runs import Runner, RunRequest

ENDINGS = (".yaml", ".yml")


def run_scenarios(
    sides: Sequence[str], seeds: int, arguments: argparse.Namespace
) -> dict[Path, Results]:
    """Results of every scenario in `sides` with `seeds` seeds; raises as Outcome.result does.

    Without a scenario no engine is started.
    """
    paths = [path for side in sides for path in split_side(side)[1]]
    scenarios = [path for path in dict.fromkeys(paths) if path.suffix in ENDINGS and path.is_file()]
    if not scenarios:
        return {}
    with Runner(arguments.store) as runner, engine(arguments) as pool:
        requests = []
        for scenario in scenarios:
            first = int(runner.resolver(scenario).resolve(())["seed"])
            numbers = range(first, first + seeds)
            requests += [RunRequest.of(scenario, None, seed) for seed in numbers]
        outcomes = runner.run(requests, pool)
    results = [outcome.result for outcome in outcomes]
    return {
        scenario: Results(results[number * seeds : (number + 1) * seeds])
        for number, scenario in enumerate(scenarios)
    }
