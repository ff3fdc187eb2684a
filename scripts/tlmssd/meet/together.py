"""Changes made together, where none is enough by itself."""

import itertools
from collections.abc import Sequence

from tlmssd.meet.levers import Lever
from tlmssd.meet.search import Answer
from tlmssd.meet.targets import Reading, of_missed
from tlmssd.whatif.resources import Step

MOST = 5
"""Changes that are tried with one another: those that help most."""
HELP = 0.9
"""A change that leaves as much as this of a target's distance, or more, is no help."""


def pairs(
    answers: Sequence[Answer], missed: Sequence[Reading]
) -> tuple[list[Lever], tuple[str, ...]]:
    """Levers of two each, of those that bring a target nearer without being enough; and what such
    pairs would be called that set one parameter differently, so that they cannot be."""
    near = [
        (max(reading.times_beyond for reading in told), number)
        for number, answer in enumerate(answers)
        if not answer.is_enough and (told := of_missed(answer.readings, missed))
        if helps(told, missed)
    ]
    best = [answers[number].lever for _, number in sorted(near)[:MOST]]
    found, left_out = [], []
    for one, other in itertools.combinations(best, 2):
        if both := _both(one, other):
            found.append(both)
        else:
            left_out.append(_name(one, other))
    return found, tuple(left_out)


def helps(told: Sequence[Reading], missed: Sequence[Reading]) -> bool:
    """Whether it brings one of the targets so much nearer that it is worth a word."""
    return any(_is_nearer(now, before) for now, before in zip(told, missed, strict=True))


def _is_nearer(now: Reading, before: Reading) -> bool:
    """By the mean; by the bound where the mean meets the target as it is."""
    if before.is_met:
        return now.distance_of_bound < HELP * before.distance_of_bound
    return now.distance < HELP * before.distance


def _name(one: Lever, other: Lever) -> str:
    return f"{one.name} + {other.name}"


def _both(one: Lever, other: Lever) -> Lever | None:
    """Both ladders climbed at once, from their first steps to their last; None where they would
    set one parameter differently."""
    count = max(len(one.steps), len(other.steps))
    steps = []
    for number in range(1, count + 1):
        first, second = (
            lever.steps[-(-number * len(lever.steps) // count) - 1] for lever in (one, other)
        )
        common = first.settings.keys() & second.settings.keys()
        if any(first.settings[path] != second.settings[path] for path in common):
            return None
        steps.append(
            Step(
                f"{first.before} + {second.before}",
                f"{first.after} + {second.after}",
                first.ratio * second.ratio,
                {**first.settings, **second.settings},
            )
        )
    too_much = one.may_be_too_much or other.may_be_too_much
    parts = one.needs_hardware or other.needs_hardware
    return Lever(_name(one, other), tuple(steps), too_much, parts)
