"""What is said against a study as a whole: points that its design does not have, the advice of its
runs, metrics that they do not have, constraints that nothing meets.

Counted over all of its rows, whatever order its runs ended in.
"""

import collections
import itertools
import math
from collections.abc import Iterator, Sequence

from tlmssd.quantities import percent_text
from tlmssd.study.session import Row
from tlmssd.study.study import Study


def cautions(study: Study, rows: Sequence[Row]) -> list[str]:
    """Sentences about points that repeat others, about constraints, if no point meets them all,
    about metrics that runs do not have, and about each advice.

    `rows`: of all runs, those of a point one behind the other.
    """
    return [
        *_repeated(study, rows),
        *_unmet(study, rows),
        *_unknown(study, rows),
        *_advice(rows),
    ]


def _repeated(study: Study, rows: Sequence[Row]) -> Iterator[str]:
    """How many points of a design that draws them were left out because it had them already."""
    if study.search is not None or study.design.kind == "grid":
        return
    asked, points = study.design.points, len({row.number for row in rows})
    if points < asked:
        yield (
            f"{asked - points} of the {asked} points of the design ({study.design.kind}) repeat "
            "others and were left out: the axes have few values"
        )


def _unknown(study: Study, rows: Sequence[Row]) -> Iterator[str]:
    """Of each metric that the study asks for, in how many runs it has no value."""
    runs = [row for row in rows if row.status == "ok"]
    for metric in study.metrics:
        missing = sum(math.isnan(row.values[metric.name]) for row in runs)
        if missing and metric.entry:
            yield f"{missing} of {len(runs)} runs: metric {metric.name} has no value"


def _unmet(study: Study, rows: Sequence[Row]) -> Iterator[str]:
    """By constraint how many points miss it and how near the nearest comes; nothing if a point
    meets them all, or none has all of its results."""
    points = [list(runs) for _, runs in itertools.groupby(rows, key=lambda row: row.number)]
    good = [runs for runs in points if all(run.status == "ok" for run in runs)]
    if not study.constraints or not good or any(_is_feasible(runs) for runs in good):
        return
    yield "No point meets the constraints"
    for place, constraint in enumerate(study.constraints):
        worst = [max(run.violations[place] for run in runs) for runs in good]
        misses = [violation for violation in worst if violation > 0]
        yield f"Constraint {constraint.name}: {_missed(misses, len(good))}"


def _is_feasible(runs: Sequence[Row]) -> bool:
    return all(run.feasible for run in runs)


def _missed(misses: Sequence[float], points: int) -> str:
    """`misses`: by how much it is missed, relative to its bound, by each point that does."""
    if not misses:
        return "every point meets it" if points > 1 else "the point meets it"
    text = f"{len(misses)} of {points} points miss it"
    nearest = min(misses)
    if math.isinf(nearest):
        return f"{text}: they do not have what it asks for"
    by = percent_text(nearest, signed=False) if nearest >= 1e-3 else "less than 0.1 %"
    return f"{text}, the nearest by {by}"


def _advice(rows: Sequence[Row]) -> Iterator[str]:
    """Of each rule of the adviser how many runs it is about, and its words of the first of them."""
    runs = [row for row in rows if row.status == "ok"]
    counts = collections.Counter(rule for row in runs for rule in row.advice)
    for rule, count in sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])):
        words = next(row.advice[rule] for row in runs if rule in row.advice)
        yield f"{count} of {len(runs)} runs: {rule}: {words}"
