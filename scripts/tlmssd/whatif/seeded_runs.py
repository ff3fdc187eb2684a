"""Runs of one scenario under ever other settings, each with the same seeds."""

import argparse
import contextlib
import copy
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from tlmssd.drive import Drive
from tlmssd.engine import Pool, engine
from tlmssd.program import find_program
from tlmssd.result import Result
from tlmssd.runs import Outcome, Runner, RunRequest, run_many
from tlmssd.scenario import flat_parameters

Settings = tuple[tuple[str, str], ...]
Run = Callable[[Sequence[RunRequest]], list[Outcome]]


class SeededRuns:
    """Runs of one scenario with several seeds; what was run once is not run again."""

    def __init__(self, scenario: Path, settings: Mapping[str, str], seeds: int, run: Run):
        """Seeds are the scenario's and those behind it; raises InputError for what is wrong."""
        self.scenario, self.run = scenario, run
        self.settings = dict(settings)
        given = [f"--set={path}={value}" for path, value in self.settings.items()]
        resolved = find_program().ask("check", str(scenario), *given)
        self.drive = Drive(flat_parameters(resolved))
        first = self.drive.whole("seed")
        self.seeds = range(first, first + seeds)
        self.known: dict[Settings, list[Outcome]] = {}

    def with_other_seeds(self) -> "SeededRuns":
        """The same with as many seeds behind these, and nothing run yet."""
        others = copy.copy(self)
        others.seeds = range(self.seeds.stop, self.seeds.stop + len(self.seeds))
        others.known = {}
        return others

    def fetch(self, wanted: Sequence[Mapping[str, str]]) -> None:
        """Runs all of these settings at once, with every seed."""
        new = [key for key in dict.fromkeys(map(_key, wanted)) if key not in self.known]
        requests = [
            RunRequest.of(self.scenario, {**self.settings, **dict(key)}, seed)
            for key in new
            for seed in self.seeds
        ]
        outcomes = self.run(requests)
        for number, key in enumerate(new):
            self.known[key] = outcomes[number * len(self.seeds) : (number + 1) * len(self.seeds)]

    def has(self, settings: Mapping[str, str]) -> bool:
        """Whether these have been run."""
        return _key(settings) in self.known

    def results(self, settings: Mapping[str, str]) -> list[Result]:
        """Those of each seed; raises InputError or RunFailed where a run has none, or commands
        failed in it."""
        return [outcome.sound_result for outcome in self.known[_key(settings)]]


def _key(settings: Mapping[str, str]) -> Settings:
    return tuple(sorted(settings.items()))


@contextlib.contextmanager
def run_of(arguments: argparse.Namespace) -> Iterator[Run]:
    """Runs on the engine and the store that a command line names; on a terminal it is said how far
    they are."""
    with Runner(arguments.store) as runner, engine(arguments) as pool:
        yield run_on(runner, pool, quiet=not sys.stderr.isatty())


def run_on(runner: Runner, pool: Pool, quiet: bool = False) -> Run:
    """Runs on an engine; says on stderr how far they are unless `quiet`."""

    def run(requests: Sequence[RunRequest]) -> list[Outcome]:
        def ended(count: int) -> None:
            if not quiet:
                end = "\r" if count < len(requests) else "\n"
                print(f"{count} of {len(requests)} runs", end=end, file=sys.stderr)

        return runner.run(requests, pool, ended)

    return run


def run_here(jobs: int | None, store: str | Path | None) -> Run:
    """Runs on this machine, `jobs` at a time, without a word."""

    def run(requests: Sequence[RunRequest]) -> list[Outcome]:
        return run_many(requests, jobs=jobs, store=store)

    return run
