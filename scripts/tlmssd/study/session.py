"""A study under way: points become runs on an engine, and runs become rows."""

import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from tlmssd.campaign import Campaign
from tlmssd.engine import Pool
from tlmssd.errors import InputError
from tlmssd.execute import Done
from tlmssd.runs import Runner, RunRequest
from tlmssd.study.check import Checked, check
from tlmssd.study.figures import ADVICE, VIOLATIONS, Reader
from tlmssd.study.study import Point, Study


@dataclass(frozen=True)
class Row:
    """One run of a point. `values`: of the metrics, in base units; empty unless it is ok.

    `violations`: by how much each constraint is missed, relative to its bound; at most 0: it holds;
    infinite where the run does not know what it asks for. `advice`: the adviser's words by rule.
    """

    number: int
    point: Point
    seed: int | None
    status: str
    reason: str
    key: str
    values: dict[str, float]
    violations: tuple[float, ...]
    advice: Mapping[str, str] = field(default_factory=dict)

    @property
    def feasible(self) -> bool:
        """Whether it has results and holds every constraint."""
        return self.status == "ok" and all(violation <= 0 for violation in self.violations)


class Watcher(Protocol):
    """Is told how things go."""

    def begin(self, runs: int) -> None:
        """So many runs are to come, beside those before."""

    def row(self, row: Row, known: bool) -> None:
        """A run has ended; `known`: it was in the store."""


class Session:
    """Evaluates points of a checked study; numbers them from 1 in the order in which they come."""

    def __init__(self, study: Study, runner: Runner, pool: Pool, watcher: Watcher | None = None):
        self.study = study
        self._runner = runner
        self._resolver = runner.resolver(study.base)
        self._watcher = watcher
        reader = Reader(
            tuple((metric.name, metric.expression) for metric in study.metrics),
            tuple(constraint.expression for constraint in study.constraints),
            with_advice=True,
        )
        self._campaign = Campaign(runner.workshop, pool, reader, runner.share)
        self._next = 1

    @property
    def savings(self) -> str:
        """What sharing drives and the store have saved, in words."""
        return self._campaign.savings.text()

    def evaluate(self, points: Sequence[Point]) -> list[Row]:
        """Carries out all seeds of all points; rows in the order of points and seeds."""
        seeds: Sequence[int | None] = self.study.seeds or (None,)
        if self._watcher:
            self._watcher.begin(len(points) * len(seeds))
        rows: dict[tuple[int, int], Row] = {}
        jobs, places = [], []
        for place, (number, point, seed) in enumerate(self._runs(points, seeds)):
            request = RunRequest(self.study.base, self.study.settings_of(point, seed))
            try:
                jobs.append(self._runner.job(request))
                places.append((place, number, point, seed))
            except InputError as error:
                row = Row(number, point, seed, "refused", str(error), "", {}, ())
                self._note(rows, place, row, False)
        for job, done in self._campaign.carry_out(jobs):
            place, number, point, seed = places[job]
            row = self._row(number, point, seed, jobs[job].key, done)
            self._note(rows, place, row, done.known)
        self._next += len(points)
        return [rows[place] for place in sorted(rows)]

    def _runs(
        self, points: Sequence[Point], seeds: Sequence[int | None]
    ) -> Iterator[tuple[int, Point, int | None]]:
        for number, point in enumerate(points, self._next):
            for seed in seeds:
                yield number, point, seed

    def _row(self, number: int, point: Point, seed: int | None, key: str, done: Done) -> Row:
        figures = dict(done.figures)
        advice = figures.pop(ADVICE, {})
        violations = figures.pop(VIOLATIONS, ())
        if done.status != "ok":
            return Row(number, point, seed, done.status, done.reason, key, {}, ())
        return Row(number, point, seed, "ok", "", key, figures, violations, advice)

    def _note(self, rows: dict, place: int, row: Row, known: bool) -> None:
        rows[place] = row
        if self._watcher:
            self._watcher.row(row, known)


def checked(study: Study, runner: Runner) -> Checked:
    """Refuses a bad study: InputError with file and line."""
    return check(study, runner.program, runner.resolver(study.base))


def mean_of_seeds(rows: Sequence[Row]) -> dict[str, float | str]:
    """A point in one: metrics (means over its rows), the worst 'violation', 'status', 'reason'."""
    failed = next((row for row in rows if row.status != "ok"), None)
    if failed:
        return {"status": failed.status, "reason": failed.reason}
    worst = max((violation for row in rows for violation in row.violations), default=0.0)
    means = {name: statistics.fmean(row.values[name] for row in rows) for name in rows[0].values}
    return {"status": "ok", "reason": "", "violation": worst, **means}
