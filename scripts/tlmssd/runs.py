"""Runs of the program: one, several seeds of one, or many at once."""

import json
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tlmssd.campaign import Campaign
from tlmssd.engine import Pool, thread_pool
from tlmssd.errors import CannotGoOn, InputError, RunFailed
from tlmssd.execute import WITH_RESULTS, Job, Limits, Workshop, changed
from tlmssd.program import find_program
from tlmssd.resolve import Resolver, drive_key, run_key
from tlmssd.scenario import setting_text
from tlmssd.store import Store
from tlmssd.study.figures import Reader

if TYPE_CHECKING:  # pandas is slow to import, and workers do without
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
        pairs = {path: setting_text(value) for path, value in (settings or {}).items()}
        if seed is not None:
            pairs["seed"] = str(seed)
        return RunRequest(Path(scenario), tuple(pairs.items()))


@dataclass(frozen=True)
class Outcome:
    """What became of a request: `status` is 'ok', 'errors' (it has results, but commands failed and
    its scenario does not say `run: {errors: accept}`), or why there are none ('refused', ...)."""

    request: RunRequest
    status: str
    reason: str = ""
    folder: Path | None = None

    @property
    def result(self) -> "Result":
        """The results; raises InputError or RunFailed with the reason when there are none."""
        if self.status == "refused":
            raise InputError(self.reason)
        if self.folder is None:
            raise RunFailed(self.reason)
        from tlmssd.result import Result

        return Result(self.folder)

    @property
    def sound_result(self) -> "Result":
        """The results; raises InputError also where commands failed."""
        result = self.result
        if self.status == "errors":
            raise InputError(f"{self.request.scenario}: {self.reason}")
        return result


def run(
    scenario: str | Path,
    settings: Mapping[str, Any] | None = None,
    *,
    seeds: int | None = None,
    jobs: int | None = None,
    store: str | Path | None = None,
) -> "Result | Results":
    """Runs a scenario with `settings` over it; with `seeds`, seeds 1 to `seeds` of it.

    What the store knows is not run again. Raises InputError for what is wrong in the scenario, and
    RunFailed when a run ends without results.
    """
    if seeds is not None and (not isinstance(seeds, int) or seeds < 1):
        raise InputError(f"seeds {seeds!r}: must be a whole number, at least 1")
    if seeds is None:
        return run_many([RunRequest.of(scenario, settings)], jobs=1, store=store)[0].result
    requests = [RunRequest.of(scenario, settings, seed) for seed in range(1, seeds + 1)]
    from tlmssd.result import Results

    return Results([outcome.result for outcome in run_many(requests, jobs=jobs, store=store)])


def run_many(
    requests: Iterable[RunRequest],
    *,
    jobs: int | None = None,
    store: str | Path | None = None,
    share: bool = True,
) -> list[Outcome]:
    """Runs `requests`, `jobs` at a time (default: one per processor); outcomes in their order.

    With `share`, requests for the same preconditioned drive share a snapshot of it; results are the
    same. A scenario that is wrong is an outcome 'refused'.
    """
    with Runner(store, share=share) as runner, thread_pool(jobs) as pool:
        return runner.run(list(requests), pool)


class Runner:
    """Turns requests into jobs of one program and one store; to be closed, or used as a context."""

    def __init__(
        self,
        store: str | Path | None = None,
        limits: Limits = Limits(),  # noqa: B008 (immutable)
        share: bool = True,
        short: bool = False,
    ):
        """See Limits and Workshop; `share`: whether runs share preconditioned drives."""
        self.program = find_program()
        self.store = Store.create(store)
        self.workshop = Workshop(
            str(self.program.path), self.program.digest, str(self.store.folder), limits, short
        )
        self.share = share
        self._resolvers: dict[Path, Resolver] = {}
        self._lock = threading.Lock()

    def __enter__(self) -> "Runner":
        return self

    def __exit__(self, *_: object) -> None:
        for resolver in self._resolvers.values():
            resolver.close()

    def resolver(self, scenario: Path) -> Resolver:
        """What fills in `scenario`."""
        with self._lock:
            if scenario not in self._resolvers:
                self._resolvers[scenario] = Resolver(self.program, scenario)
            return self._resolvers[scenario]

    def job(self, request: RunRequest) -> Job:
        """The job of a request.

        Raises InputError for what is wrong in the scenario, CannotGoOn when the program is another
        than in the beginning.
        """
        if self.program.digest != self.workshop.digest:
            raise CannotGoOn(changed(self.program.path))
        scenario = self.resolver(request.scenario).resolve(request.settings)
        short = self.workshop.short
        key = run_key(scenario, self.program, short)
        return Job.of(scenario, key, drive_key(scenario, self.program, short))

    def run(
        self,
        requests: Sequence[RunRequest],
        pool: Pool,
        ended: Callable[[int], None] = lambda count: None,
    ) -> list[Outcome]:
        """Carries out `requests`; outcomes in their order. A wrong scenario is an outcome, too.

        `ended` is told how many have come to an end, each time one has.
        """
        outcomes: dict[int, Outcome] = {}
        jobs: dict[int, Job] = {}
        for number, request in enumerate(requests):
            try:
                jobs[number] = self.job(request)
            except InputError as error:
                outcomes[number] = Outcome(request, "refused", str(error))
        campaign = Campaign(self.workshop, pool, look_through, self.share)
        numbers = list(jobs)
        for place, done in campaign.carry_out(list(jobs.values())):
            number = numbers[place]
            folder = self.store.run(jobs[number].key) if done.status in WITH_RESULTS else None
            outcomes[number] = Outcome(requests[number], done.status, done.reason, folder)
            ended(len(outcomes))
        return [outcomes[number] for number in range(len(requests))]


def look_through(folder: Path, report: bytes, scenario: dict) -> dict:
    """Takes no figures, as the caller reads the results; raises what Python does for damaged ones.

    So they are made again, and not handed out.
    """
    json.loads((folder / "fio.json").read_text(encoding="utf-8"))
    return Reader(())(folder, report, scenario)
