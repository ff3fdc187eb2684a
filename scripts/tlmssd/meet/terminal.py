"""What meeting the targets takes, as text."""

from typing import TYPE_CHECKING

from tlmssd.meet.search import NOT_ENOUGH, Answer
from tlmssd.meet.targets import Reading, of_missed
from tlmssd.meet.together import helps
from tlmssd.quantities import percent_text, quantity_text, runs_text
from tlmssd.text_table import columns

if TYPE_CHECKING:
    from tlmssd.meet import Meet

LEAST_CHANGE = 0.01
"""Share of a load's bandwidth from which its change is told."""


def text_of(found: "Meet") -> str:
    """The targets, the table of changes that are enough, what is not, and what to doubt."""
    parts = [_head(found), conclusion(found)]
    if found.enough:
        parts.append(columns([head(found), *rows(found, enough=True)], left=2))
    others = not_enough(found)
    if others:
        parts.append("\n".join(["Not enough:", *(f"  {text}" for text in others)]))
    if found.cautions:
        parts.append("\n".join(f"! {text}" for text in found.cautions))
    return "\n\n".join(parts) + "\n"


def _head(found: "Meet") -> str:
    return "\n".join([f"{found.title} ({runs_text(found.seeds)})", *base_lines(found)])


def base_lines(found: "Meet") -> list[str]:
    """Each target as the scenario is."""
    lines = []
    for reading in found.base:
        word = "met" if reading.is_surely_met else "not sure" if reading.is_met else "MISSED"
        target = reading.target
        lines.append(f"Target  {word}  {target.name} {reading.text}, {target.limit_text}")
    return lines


def conclusion(found: "Meet") -> str:
    """What is to be done, in a sentence."""
    if not found.missed:
        return "All targets are met as it is."
    if not found.enough:
        none = "No change that was tried meets the targets"
        if found.together:
            return f"{none}, nor two together of those that help most."
        if found.not_together:
            return f"{none}; those that help cannot be made together."
        return f"{none}. None were tried together: there are no two that help."
    first = found.enough[0]
    text = f"Enough is {first.lever.name}: {first.step.after} instead of {first.step.before}"
    if first.loads:
        text += f"; {of_loads(first) or 'all loads move as much as before'}"
    return f"{text}."


def head(found: "Meet") -> list[str]:
    """Of the table of changes."""
    names = [reading.target.name for reading in found.missed]
    return ["", "change", "from", "to", *names, "bandwidth of loads", "cost"]


def rows(found: "Meet", enough: bool) -> list[list[str]]:
    """A row for each change that is enough, or for each that is not."""
    told = []
    answers = zip(found.answers, found.costs, strict=True)
    for rank, (answer, cost) in enumerate(answers, 1):
        if answer.is_enough == enough and answer.step:
            values = [reading.text for reading in of_missed(answer.readings, found.missed)]
            price = "" if cost is None else f"{cost:+.3g}"
            step = [answer.lever.name, answer.step.before, answer.step.after]
            told.append([str(rank), *step, *values, of_loads(answer), price])
    return told


def of_loads(answer: Answer) -> str:
    """How the bandwidth of each load changes: 'batch -41 %'."""
    changes = sorted(answer.loads.items(), key=lambda one: one[1])
    return ", ".join(
        f"{name} {percent_text(change)}" for name, change in changes if abs(change) >= LEAST_CHANGE
    )


def not_enough(found: "Meet") -> list[str]:
    """What is not: how far it gets, the nearest first, or why it cannot be; which two cannot be
    made together; and what has no effect, in one line."""
    nearest, idle, impossible = [], [], []
    for answer in found.answers:
        told = of_missed(answer.readings, found.missed)
        if answer.is_enough:
            continue
        if not told:
            impossible.append(f"{answer.lever.name}: {answer.reason}")
        elif answer.reason == NOT_ENOUGH and not helps(told, found.missed):
            idle.append(answer.lever.name)
        else:
            nearest.append((max(one.times_beyond for one in told), _line(answer, told)))
    lines = [line for _, line in sorted(nearest)] + impossible
    if found.not_together:
        names = ", ".join(found.not_together)
        lines.append(f"not together, because they set one parameter differently: {names}")
    return [*lines, f"no help: {', '.join(idle)}"] if idle else lines


def _line(answer: Answer, told: list[Reading]) -> str:
    is_found = answer.reason != NOT_ENOUGH
    values = ", ".join(
        f"{reading.target.name} {reading.text}{'' if is_found else _doubt(reading)}"
        for reading in told
    )
    reason = f"; {answer.reason}" if is_found else ""
    return f"{answer.lever.name}, {answer.step.after}: {values}{reason}"


MOST_DIGITS = 9


def _doubt(reading: Reading) -> str:
    """Why a mean that meets its target is not enough: where the bound lies, in as many digits as
    tell it from the limit."""
    if not reading.is_met or reading.is_surely_met:
        return ""
    target = reading.target
    for digits in range(3, MOST_DIGITS):
        bound = quantity_text(reading.bound, target.unit, digits)
        if bound != quantity_text(target.limit, target.unit, digits):
            break
    return f" (not certain: {'up' if target.at_most else 'down'} to {bound})"
