"""The mildest step of each lever that meets the targets, found with few runs.

More of a change is taken to help more, as far as it helps at all: the strongest step is tried, of
what may be too much of a good thing two milder ones, too, and below the mildest that is enough it
is halved. So what is found is a step that is enough beside one that is not, by the seeds that were
asked for; other seeds, which had no part in the choice, then say what it comes to. Where their mean
misses the target, stronger steps are taken until their mean meets it and all seeds together, the
first and the others, say so with confidence: the second of several tries passes by luck, too.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from tlmssd.errors import InputError, RunFailed
from tlmssd.meet.levers import Lever
from tlmssd.meet.targets import Reading, Target, readings
from tlmssd.metrics import find
from tlmssd.result import Result
from tlmssd.whatif.resources import Step
from tlmssd.whatif.seeded_runs import SeededRuns

NOT_ENOUGH, MISSED_BY_OTHERS = "not enough", "not with other seeds"
NOT_SURE_WITH_ALL = "not for certain with all seeds"
"""Of a step beyond the one that was found."""


@dataclass(frozen=True)
class Answer:
    """What a lever can do: `step` is the mildest that is enough, and `readings` what every target
    comes to with it, by other seeds than it was chosen by; `loads` how much more (0.1: 10 %) each
    load then moves per second.

    Where `step` is not enough, it is the one that came nearest, and `reason` says what it lacks;
    None where none ran.
    """

    lever: Lever
    step: Step | None
    readings: tuple[Reading, ...]
    loads: Mapping[str, float] = field(default_factory=dict)
    reason: str = ""

    @property
    def is_enough(self) -> bool:
        """Whether all targets are met: for certain by the seeds that it was chosen by and by the
        mean of the others; of a step beyond the one that was chosen also for certain by all."""
        return not self.reason

    @property
    def worst_loss(self) -> float:
        """Share of its bandwidth that the load that loses most loses."""
        return max((-change for change in self.loads.values() if change < 0), default=0.0)


class Search:
    """Of one lever: which of its steps have been tried, and which are next."""

    def __init__(self, lever: Lever):
        self.lever = lever
        self.last = len(lever.steps) - 1
        self._first = {self.last}
        if lever.may_be_too_much:
            self._first |= {self.last // 4, self.last // 2}
        self._enough: dict[int, bool] = {-1: False}
        self._refused: set[int] = set()

    def next(self) -> list[int]:
        """The steps to try now; empty at the end."""
        if len(self._enough) == 1 and not self._refused:
            return sorted(self._first)
        found = self.found
        if found is not None:
            tried = {*self._enough, *self._refused}
            return _between(max(number for number in tried if number < found), found)
        # What is too much to be run may be enough with less of it.
        return _between(max(self._enough), min(self._refused)) if self._refused else []

    def took(self, number: int, enough: bool | None) -> None:
        """What came of a step; None where it could not be run."""
        if enough is None:
            self._refused.add(number)
        else:
            self._enough[number] = enough

    @property
    def found(self) -> int | None:
        """The mildest step known to be enough."""
        return min((number for number, enough in self._enough.items() if enough), default=None)


def _between(low: int, high: int) -> list[int]:
    middle = (low + high) // 2
    return [middle] if low < middle < high else []


def search(runs: SeededRuns, all_levers: Sequence[Lever], missed: Sequence[Target]) -> list[Answer]:
    """An answer for each lever: all are tried at once, so that runs go side by side."""
    runs.fetch([{}])
    searches = [Search(lever) for lever in all_levers]
    while wanted := [(one, number) for one in searches for number in one.next()]:
        runs.fetch([one.lever.steps[number].settings for one, number in wanted])
        for one, number in wanted:
            told = _tried(runs, one.lever.steps[number].settings)
            ran = isinstance(told, list)
            one.took(number, _are_met(told, missed, surely=True) if ran else None)
    return _confirmed(runs, searches, missed)


def _confirmed(
    runs: SeededRuns, searches: Sequence[Search], missed: Sequence[Target]
) -> list[Answer]:
    others = runs.with_other_seeds()
    answers: dict[Search, Answer] = {}
    at = {one: one.found for one in searches if one.found is not None}
    while at:
        beyond = {one: number for one, number in at.items() if number != one.found}
        runs.fetch([one.lever.steps[number].settings for one, number in beyond.items()])
        others.fetch([{}, *(one.lever.steps[number].settings for one, number in at.items())])
        for one, number in list(at.items()):
            answer = _told_by(others, one.lever, one.lever.steps[number], missed)
            if one in beyond and not _are_met_by_all(runs, answer, missed):
                answer = replace(answer, reason=answer.reason or NOT_SURE_WITH_ALL)
            if answer.reason not in (MISSED_BY_OTHERS, NOT_SURE_WITH_ALL) or number == one.last:
                answers[one] = answer
                del at[one]
            else:
                at[one] = number + 1
    return [answers.get(one) or _not_enough(runs, one.lever) for one in searches]


def _told_by(others: SeededRuns, lever: Lever, step: Step, missed: Sequence[Target]) -> Answer:
    told = _tried(others, step.settings)
    if isinstance(told, str):
        return Answer(lever, step, (), reason=told)
    loads = _changes(others.results({}), others.results(step.settings))
    if not _are_met(told, missed, surely=False):
        return Answer(lever, step, tuple(told), loads, MISSED_BY_OTHERS)
    broken = (_breaks(one) for one in told if not one.is_met)
    return Answer(lever, step, tuple(told), loads, "; ".join(broken))


def _are_met_by_all(runs: SeededRuns, answer: Answer, missed: Sequence[Target]) -> bool:
    """Whether the first seeds' runs and those that the answer has together meet the targets that
    were missed for certain; with one seed of each, whether both do."""
    told = _tried(runs, answer.step.settings)
    if isinstance(told, str) or not answer.readings:
        return False
    both = [
        replace(one, values=one.values + other.values)
        for one, other in zip(told, answer.readings, strict=True)
    ]
    if len(runs.seeds) > 1:
        return _are_met(both, missed, surely=True)
    wanted = [one for one in both if one.target in missed]
    return all(one.target.holds(value) for one in wanted for value in one.values)


def _breaks(reading: Reading) -> str:
    target = reading.target
    return f"{target.name} becomes {reading.text}, {target.limit_text}"


def _changes(before: Sequence[Result], after: Sequence[Result]) -> dict[str, float]:
    """How much more each load moves per second of its own time; loads that move nothing are left
    out, and all where no time is measured."""
    found = {}
    for name in before[0].loads:
        was, becomes = (_bandwidth(results, name) for results in (before, after))
        if was > 0:
            found[name] = becomes / was - 1
    return found


def _bandwidth(results: Sequence[Result], load: str) -> float:
    figures = [find(result.figures, f"loads.{load}.own_time.bandwidth") for result in results]
    return float(np.mean([figure.value if figure else math.nan for figure in figures]))


def _not_enough(runs: SeededRuns, lever: Lever) -> Answer:
    """The step that came nearest to what it lacks most; of equals the mildest."""
    tried = [(step, _tried(runs, step.settings)) for step in lever.steps if runs.has(step.settings)]
    ran = [(step, told) for step, told in tried if isinstance(told, list)]
    if not ran:
        return Answer(lever, None, (), reason=tried[-1][1])
    step, told = min(ran, key=lambda one: max(reading.times_beyond for reading in one[1]))
    return Answer(lever, step, tuple(told), reason=NOT_ENOUGH)


def _tried(runs: SeededRuns, settings: Mapping[str, str]) -> list[Reading] | str:
    """What the targets come to; or why that cannot be run."""
    try:
        return readings(runs.results(settings))
    except (InputError, RunFailed) as error:
        return str(error)


def _are_met(told: Sequence[Reading], missed: Sequence[Target], surely: bool) -> bool:
    wanted = [one for one in told if one.target in missed]
    return all(one.is_surely_met if surely else one.is_met for one in wanted)
