"""Runs of the program: one, several seeds of one, or many at once."""

import os
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tlmssd.errors import RunFailed
from tlmssd.result import Result, Results


@dataclass(frozen=True)
class RunRequest:
    """A scenario with settings put over it, as `--set` does; two equal requests are one run."""

    scenario: Path
    settings: tuple[tuple[str, str], ...] = ()

    @staticmethod
    def of(
        scenario: str | Path, settings: Mapping[str, Any] | None = None, seed: int | None = None
    ) -> "RunRequest":
        """Values may be texts as in YAML ('20 %'), numbers, truth values, lists or maps."""
        from tlmssd.scenario import setting_text

        pairs = {path: setting_text(value) for path, value in (settings or {}).items()}
        if seed is not None:
            pairs["seed"] = str(seed)
        return RunRequest(Path(scenario), tuple(pairs.items()))


@dataclass(frozen=True)
class Outcome:
    """What became of a request: `status` is 'ok', or why there are no results ('refused', ...)."""

    request: RunRequest
    status: str
    reason: str = ""
    folder: Path | None = None

    @property
    def result(self) -> Result:
        """The results; raises RunFailed with the reason when there are none."""
        if self.folder is None:
            raise RunFailed(self.reason)
        return Result(self.folder)


def run(
    scenario: str | Path,
    settings: Mapping[str, Any] | None = None,
    *,
    seeds: int | None = None,
    jobs: int | None = None,
    store: str | Path | None = None,
) -> Result | Results:
    """Runs a scenario with `settings` over it; with `seeds`, seeds 1 to `seeds` of it.

    What the store knows is not run again. Raises InputError for what is wrong in the scenario, and
    RunFailed when a run ends without results.
    """
    if seeds is None:
        return run_many([RunRequest.of(scenario, settings)], jobs=1, store=store)[0].result
    requests = [RunRequest.of(scenario, settings, seed) for seed in range(1, seeds + 1)]
    return Results([outcome.result for outcome in run_many(requests, jobs=jobs, store=store)])


def run_many(
    requests: Iterable[RunRequest],
    *,
    jobs: int | None = None,
    store: str | Path | None = None,
) -> list[Outcome]:
    """Runs `requests`, `jobs` at a time (default: one per processor); outcomes in their order."""
    from tlmssd.execute import Executor

    executor = Executor(store)
    with ThreadPoolExecutor(jobs or os.cpu_count()) as pool:
        return list(pool.map(executor.run, requests))
