"""Whether the first resources help more, or less, together: all combinations are run.

What a set of them has beyond the sum is told at the drive as it is: their joint effect without the
single effects of its members, for each seed by itself, everything else unchanged. It is told
twice, for there are two ways to have nothing to do with each other. Effects that are shares of the
whole multiply: their logarithms add up. Savings of steps that follow each other, such as a
transfer after a read of the array, add up in time per command: in the metric's own unit, or of
rates and whatever else is better the more there is of it, in the reciprocal.
"""

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tlmssd.errors import InputError, RunFailed
from tlmssd.statistics import mean_interval
from tlmssd.whatif.experiment import Bench, Effect, Finding

Point = tuple[bool, ...]
"""Which of the resources are faster."""
FACTORS = 3
LEFT = 1e-3
"""Share of the metric that single effects must leave together for their interactions to be told.

Logarithms add up as long as effects are shares of one time. Where two steps each take away nearly
all of it, the sum asks for a millionth; both together leave what no step can take away, such as the
way through the controller, and the ratio of the two, +8000000 % or so, says nothing but how small
the millionth was. Steps that make a drive four times as fast leave 1/64 at the least if they are
independent: what is below this is none of them.
"""


@dataclass(frozen=True)
class Shares:
    """Shares of the drive as it is, one for each seed."""

    values: tuple[float, ...]

    def is_nothing(self, most: float, least: float) -> bool:
        """Whether the interval of the mean (95 %) leaves no room for more than `most`, and it does
        not differ from 0, or by less than `least`; False with a single seed."""
        if len(self.values) < 2:
            return False
        low, high = mean_interval(self.values)
        if low < -most or high > most:
            return False
        return low <= 0 <= high or abs(sum(self.values)) < least * len(self.values)


@dataclass(frozen=True)
class Interaction:
    """Factors made faster together: their joint effect, and what it has beyond the sum.

    `beyond` is negative where the metric falls further than the single effects would make it; None
    where these would leave next to nothing of it, so that it cannot be told. `beyond_time` is the
    same of what they save in time per command, as shares of that of the drive as it is.
    """

    names: tuple[str, ...]
    together: Effect
    beyond: Effect | None
    beyond_time: Shares | None = None


def interactions(
    bench: Bench, findings: Sequence[Finding], more_is_better: bool
) -> list[Interaction]:
    """Of the first three resources, pairs and all three; empty where less than two had an effect,
    and where nothing is left of the metric, of which there are no ratios.

    Of resources whose steps set the same parameter differently, the later is left out.
    """
    chosen = _compatible(findings)
    if len(chosen) < 2:
        return []
    points = list(itertools.product((False, True), repeat=len(chosen)))
    settings = {point: _settings(chosen, point) for point in points}
    bench.fetch(list(settings.values()))
    base = points[0]
    try:
        joint = {point: bench.effect(settings[point], settings[base]) for point in points}
    except (InputError, RunFailed):
        return []
    if any(effect.removes for effect in joint.values()):
        return []
    effects = {point: effect.logs for point, effect in joint.items()}
    times = _times({point: bench.values(settings[point]) for point in points}, more_is_better)
    told = not _leaves_next_to_nothing(joint)
    names = [finding.resource.name for finding in chosen]
    found = []
    for size in range(2, len(chosen) + 1):
        for factors in itertools.combinations(range(len(chosen)), size):
            only = tuple(i in factors for i in range(len(chosen)))
            beyond = Effect(beyond_sum(effects, only)) if told else None
            in_time = Shares(beyond_sum(times, only)) if times else None
            together = Effect(effects[only])
            found.append(Interaction(tuple(names[i] for i in factors), together, beyond, in_time))
    return found


def _times(values: Mapping[Point, Sequence[float]], more_is_better: bool) -> dict[Point, tuple]:
    """How much more time per command than with the drive as it is, as shares of that, by seed;
    empty where some seed has none to take shares of."""
    if any(value <= 0 for seeds in values.values() for value in seeds):
        return {}
    base = next(seeds for point, seeds in values.items() if not any(point))
    return {
        point: tuple(
            (before / value if more_is_better else value / before) - 1
            for before, value in zip(base, seeds, strict=True)
        )
        for point, seeds in values.items()
    }


def _leaves_next_to_nothing(joint: Mapping[Point, Effect]) -> bool:
    """Whether the single effects that lessen the metric leave less than LEFT of it together.

    One answer for all interactions, so that a table says the same of pairs and of all three.
    """
    singles = [effect.mean for point, effect in joint.items() if sum(point) == 1]
    return math.prod(1 + min(effect, 0.0) for effect in singles) < LEFT


def _compatible(findings: Sequence[Finding]) -> list[Finding]:
    chosen: list[Finding] = []
    for finding in findings:
        if finding.largest is None:
            continue
        mine = finding.largest.step.settings
        others = [other.largest.step.settings for other in chosen]
        if all(
            theirs.get(path, value) == value for theirs in others for path, value in mine.items()
        ):
            chosen.append(finding)
        if len(chosen) == FACTORS:
            break
    return chosen


def _settings(chosen: Sequence[Finding], point: Sequence[bool]) -> dict[str, str]:
    merged: dict[str, str] = {}
    for finding, faster in zip(chosen, point, strict=True):
        if faster:
            merged |= finding.largest.step.settings
    return merged


def beyond_sum(effects: Mapping[Point, Sequence[float]], joint: Point) -> tuple[float, ...]:
    """The effect of `joint` without the single effects of its members, by seed."""
    singles = [
        effects[tuple(i == member for i in range(len(joint)))]
        for member, taken in enumerate(joint)
        if taken
    ]
    return tuple(both - sum(alone) for both, *alone in zip(effects[joint], *singles, strict=True))
