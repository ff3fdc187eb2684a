"""Whether the first resources help more, or less, together: a full factorial design of two levels.

With the logarithm of the metric, effects that are independent add up. The interaction of two is
what their joint effect has beyond the sum, averaged over the other factor being as it is or faster
(Box, Hunter and Hunter, Statistics for Experimenters, chapter 5), for each seed by itself.
"""

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tlmssd.errors import InputError, RunFailed
from tlmssd.whatif.experiment import Bench, Effect, Finding

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
class Interaction:
    """Factors made faster together: their joint effect, and what it has beyond the sum.

    `beyond` is negative where the metric falls further than the single effects would make it; None
    where these would leave next to nothing of it, so that it cannot be told.
    """

    names: tuple[str, ...]
    together: Effect
    beyond: Effect | None


def interactions(bench: Bench, findings: Sequence[Finding]) -> list[Interaction]:
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
    told = not _leaves_next_to_nothing(joint)
    names = [finding.resource.name for finding in chosen]
    found = []
    for size in range(2, len(chosen) + 1):
        for factors in itertools.combinations(range(len(chosen)), size):
            only = tuple(i in factors for i in range(len(chosen)))
            beyond = Effect(_contrast(effects, factors, len(chosen))) if told else None
            together = Effect(effects[only])
            found.append(Interaction(tuple(names[i] for i in factors), together, beyond))
    return found


def _leaves_next_to_nothing(joint: Mapping[tuple[bool, ...], Effect]) -> bool:
    """Whether the single effects that lessen the metric leave less than LEFT of it together.

    One answer for all interactions: each is a mean over all points of the design.
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


def _contrast(effects: dict, factors: Sequence[int], count: int) -> tuple[float, ...]:
    """Mean over the other factors of the alternating sum over these."""
    seeds = len(next(iter(effects.values())))
    others = 2 ** (count - len(factors))
    sums = [0.0] * seeds
    for point, logs in effects.items():
        sign = (-1) ** sum(not point[i] for i in factors)
        for seed in range(seeds):
            sums[seed] += sign * logs[seed] / others
    return tuple(sums)
