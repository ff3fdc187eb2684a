"""A study for other engines: ask for points, have them run, tell what came of them.

with tlmssd.AskTell("study.yaml", sampler="tpe", jobs=2) as study:
    for _ in range(20):
        points = study.ask(4)
        for point, found in zip(points, study.evaluate(points)):
            study.tell(point, found)
    print(study.best())

An optimiser of one's own calls `evaluate` only; figures of a real drive are told without it."""

import contextlib
import math
import numbers
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from tlmssd.engine import thread_pool
from tlmssd.errors import InputError
from tlmssd.runs import Runner
from tlmssd.study.search import best_of, new_search, suggest, tell
from tlmssd.study.session import Session, checked, mean_of_seeds
from tlmssd.study.study import BLIND, SAMPLERS, Point, Search, Study, refuse_words


class AskTell(contextlib.ExitStack):
    """A study that is asked and told; close it, or use it as a context.

    `sampler` (tpe, nsga2, cmaes, random) and `seed` are for a study without a search of its own;
    `jobs` runs at a time (default: one per processor). Raises InputError for a bad study.
    """

    def __init__(
        self,
        study: str | Path,
        *,
        sampler: str = "tpe",
        seed: int = 1,
        jobs: int | None = None,
        store: str | Path | None = None,
    ):
        super().__init__()
        if sampler not in SAMPLERS:
            raise InputError(f"unknown sampler {sampler!r} (known: {', '.join(SAMPLERS)})")
        self.study = Study.read(study, chooses=False)
        if self.study.search is None:
            if sampler == "cmaes" and self.study.constraints:
                self.study.constraints[0].entry.fail(BLIND)
            if sampler == "cmaes":
                refuse_words(self.study.axes)
            self.study = replace(self.study, search=Search(sampler, 0, seed))
        self.axes = self.study.axes  # name, unit, choices or span of each
        with contextlib.ExitStack() as opened:
            runner = opened.enter_context(Runner(store, self.study.limits))
            checked(self.study, runner)
            self._session = Session(self.study, runner, opened.enter_context(thread_pool(jobs)))
            self.push(opened.pop_all())
        self._search = new_search(self.study) if self.study.objectives else None
        self._trials: dict[Point, list] = {}
        self._closed = False
        self.callback(self._note_closed)

    def _note_closed(self) -> None:
        self._closed = True

    def ask(self, count: int = 1) -> list[dict]:
        """The next `count` points: of each axis a number in its unit, or a word."""
        if self._search is None:
            self.study.entry.fail("ask needs objectives")
        if count < 0:
            raise InputError(f"ask({count}): at least 0")
        trials = [self._search.ask() for _ in range(count)]
        for trial in trials:
            values = {axis.name: axis.value(suggest(trial, axis)) for axis in self.axes}
            trial.set_user_attr("point", values)
            self._trials.setdefault(self.point(values), []).append(trial)
        return [trial.user_attrs["point"] for trial in trials]

    def tell(self, point: dict, found: Mapping[str, float]) -> None:
        """What came of an asked point: metrics in base units; without an objective's, it failed.

        `found` may hold 'violation', by how much constraints are missed: at most 0 is feasible.
        Raises InputError for what is no number, and for an infinite objective.
        """
        waiting = self._trials.get(self.point(point))
        if not waiting:
            raise InputError(f"{point} was not asked for, or has been told already")
        values = [_number(found, goal.metric, math.nan) for goal in self.study.objectives]
        for goal, value in zip(self.study.objectives, values, strict=True):
            if math.isinf(value):
                raise InputError(f"{goal.metric} of {point}: {value:g} is no result")
        violation = _number(found, "violation", 0.0)
        tell(self._search, waiting.pop(0), values, [violation])

    def evaluate(self, points: Sequence[dict]) -> list[dict[str, float | str]]:
        """Runs `points`, all seeds of each, unless the store knows them.

        Of each: 'status', 'reason', and if it is 'ok' metrics (means over seeds, base units) and
        'violation', by how much constraints are missed: infinite where a point does not have what
        one asks for, such as latencies of reads without reads.
        """
        if self._closed:
            raise InputError("the study is closed")
        rows = self._session.evaluate([self.point(values) for values in points])
        each = len(rows) // max(len(points), 1)
        return [mean_of_seeds(rows[i : i + each]) for i in range(0, len(rows), each or 1)]

    def best(self) -> list[tuple[dict, list[float]]]:
        """Feasible points told so far that no other beats, and their objectives."""
        if self._search is None:
            self.study.entry.fail("best needs objectives")
        trials = best_of(self._search)
        best = {tuple(t.user_attrs["point"].items()): t.values for t in trials}
        return [(dict(point), values) for point, values in best.items()]

    def point(self, values: dict) -> Point:
        """The study's point of these values; axes left out stay as the base scenario has them."""
        if unknown := set(values) - {axis.name for axis in self.axes}:
            raise InputError(f"the study has no axis {min(unknown)}")
        given = (axis for axis in self.axes if axis.name in values)
        return Point(tuple(axis.choice_of(values[axis.name]) for axis in given))


def _number(found: Mapping[str, float], name: str, default: float) -> float:
    value = found.get(name, default)
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise InputError(f"{name}: {value!r} is no number")
    return float(value)
