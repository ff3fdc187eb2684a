"""What was found by what-if, as text."""

from typing import TYPE_CHECKING

import numpy as np

from tlmssd.quantities import percent_text, quantity_text, runs_text
from tlmssd.text_table import columns
from tlmssd.whatif.experiment import Effect, Trial
from tlmssd.whatif.interactions import Interaction
from tlmssd.whatif.ranking import (
    FEW_OR_SLOW,
    LEAST_GAIN,
    WORK_OR_WASTE,
    Choice,
    cannot_tell,
)

if TYPE_CHECKING:
    from tlmssd.whatif import WhatIf


INDEPENDENT = 0.1
"""Effects beyond the sum that may be larger than this are not called independent."""


def text_of(found: "WhatIf") -> str:
    """The metric, the ranked table, what can be concluded, and the interactions."""
    parts = [_head(found), _table(found), conclusion(found)]
    if found.cautions:
        parts.append("\n".join(f"! {text}" for text in found.cautions))
    if found.interactions:
        parts.append(_interactions(found))
    return "\n\n".join(parts) + "\n"


def _head(found: "WhatIf") -> str:
    mean = quantity_text(float(np.mean(found.base)), found.unit)
    goal = "more is better" if found.more_is_better else "less is better"
    return f"{found.title}: {found.metric} is {mean} ({goal}; {runs_text(len(found.base))})"


def _table(found: "WhatIf") -> str:
    rows = [["", "resource", "from", "to", "effect", "95 % confidence", "cost"]]
    failures = []
    for rank, finding in enumerate(found.findings, 1):
        for number, trial in enumerate(reversed(finding.trials)):
            name = [str(rank), finding.resource.name] if number == 0 else ["", ""]
            rows.append([*name, *trial_texts(trial)])
            if trial.reason:
                failures.append(f"{finding.resource.name}, {trial.step.after}: {trial.reason}")
    return "\n".join([columns(rows, left=2), *failures])


def trial_texts(trial: Trial) -> list[str]:
    """Before, after, effect, interval, cost."""
    effect = trial.effect
    cost = "" if trial.cost is None else f"{trial.cost:+.3g}"
    told = [effect_text(effect), interval_text(effect)] if effect else ["-", "-"]
    return [trial.step.before, trial.step.after, *told, cost]


def effect_text(effect: Effect) -> str:
    """Relative change of the metric."""
    return percent_text(effect.mean)


def interval_text(effect: Effect) -> str:
    """Between which the true change lies; empty for a single seed."""
    if effect.interval is None:
        return ""
    low, high = (percent_text(bound) for bound in effect.interval)
    return low if low == high else f"{low} to {high}"


def conclusion(found: "WhatIf") -> str:
    """What the experiment says, in a sentence or two."""
    first = found.findings[0]
    if first.largest is None or first.gain(found.more_is_better) < LEAST_GAIN:
        return (
            "No single resource makes a difference: the drive is balanced, or waits for its host."
        )
    if first.largest.effect.is_doubtful:
        return (
            f"Most is gained by {first.resource.name}, but the spread over seeds is as large as "
            "its effect: run more seeds or a longer load."
        )
    text = (
        f"The bottleneck is {first.resource.name}: {first.largest.step.after} instead of "
        f"{first.largest.step.before} changes {found.metric} by "
        f"{effect_text(first.largest.effect)}."
    )
    if found.choice:
        text += f" {choice_text(found.choice)}"
    equals = [
        other.resource.name
        for other in found.findings[1:]
        if cannot_tell(first, other, found.more_is_better)
    ]
    if equals:
        text += f" With these seeds it cannot be told from {', '.join(equals)}."
    return text


def choice_text(choice: Choice) -> str:
    """Why the first comes before the second."""
    if choice.queued is not None:
        queued = percent_text(choice.queued, signed=False)
        return (
            f"A faster {choice.second} helps as well, but {queued} of the time that reads spend on "
            f"{choice.first} they wait for them: they are few, not slow."
        )
    if choice.left is None:
        share = percent_text(choice.share, signed=False)
        if (choice.second, choice.first) in WORK_OR_WASTE:
            return (
                f"It takes {share} of the time of the {choice.second} off them: "
                f"the drive is held up by collection, not short of {choice.second}."
            )
        return (
            f"That saves {share} of what more {choice.second} would: "
            f"the drive is held up by {choice.first}, not short of {choice.second}."
        )
    left = percent_text(max(choice.left, 0.0), signed=False)
    if choice.first in dict(FEW_OR_SLOW):
        return (
            f"More {choice.second} help as well, but with as many as can be used, "
            f"{choice.first} still saves {left} of what it did."
        )
    return (
        f"With as many as can be used, {choice.second} would save {left} of what it does now: "
        f"they are few, not slow."
    )


def _interactions(found: "WhatIf") -> str:
    rows = [["together", "effect", "beyond the sum of each", "95 % confidence", ""]]
    for part in found.interactions:
        told = [effect_text(part.beyond), interval_text(part.beyond)] if part.beyond else ["-", "-"]
        words = interaction_words(part, found.more_is_better)
        rows.append([" + ".join(part.names), effect_text(part.together), *told, words])
    return "\n".join([columns(rows, left=1), *untold(found)])


UNTOLD = (
    "What these have beyond the sum of each cannot be told: together the single effects would "
    "leave next to nothing of {metric}."
)


def untold(found: "WhatIf") -> list[str]:
    """Why it is not said what resources have beyond the sum of each; empty where it is."""
    some = any(part.beyond is None for part in found.interactions)
    return [UNTOLD.format(metric=found.metric)] if some else []


def interaction_words(part: Interaction, more_is_better: bool) -> str:
    """Whether resources help each other: they do not where effects add up, as shares or in time."""
    if part.beyond is None:
        return "cannot be told"
    if part.beyond.interval is None:
        return "not known with one seed"
    if part.beyond_time and part.beyond_time.is_nothing(INDEPENDENT, LEAST_GAIN):
        return "independent"
    if part.beyond.is_doubtful and not part.beyond.is_within(INDEPENDENT):
        return "not told by these seeds"
    if part.beyond.is_doubtful or abs(part.beyond.mean) < LEAST_GAIN:
        return "independent"
    good = (part.beyond.mean > 0) == more_is_better
    return "help each other" if good else "replace each other"
