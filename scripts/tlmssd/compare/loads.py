"""What is compared of the loads of results: each by itself where results tell several apart.

All of them merged say little then, and may say the opposite: where one load waits longer and
another as much less, the mean of both stays. Loads of two sides are matched by name.
"""

from collections.abc import Sequence

from tlmssd.compare.sides import Side

MERGED = ""
"""In place of a load's name: all of them together."""


def compared_loads(first: Side, other: Side, apart: bool) -> list[str]:
    """Names of the loads that both sides have in every run, or MERGED alone.

    That is where loads are not to be told apart, and where the sides have no name in common.
    """
    common = [name for name in loads_of(first) if name in loads_of(other)] if apart else []
    return common or [MERGED]


def tell_apart(sides: Sequence[Side]) -> bool:
    """Whether loads are compared each by itself: a side has several, not the jobs of one."""
    return any(result.tells_loads_apart for side in sides for result in side.results)


def loads_of(side: Side) -> list[str]:
    """Names of the loads that every run of a side has, in the order of the report."""
    first, *others = side.results
    return [name for name in first.loads if all(name in run.loads for run in others)]


def unmatched_loads(sides: Sequence[Side]) -> list[str]:
    """Sentences about loads that only the first side has, or only another."""
    if not tell_apart(sides):
        return []
    first, *others = sides
    told = []
    for other in others:
        for one, against in ((first, other), (other, first)):
            alone = [name for name in loads_of(one) if name not in loads_of(against)]
            if alone:
                what = "the load" if len(alone) == 1 else "the loads"
                told.append(
                    f"{against.name} does not have {what} {', '.join(alone)} of {one.name}: "
                    "loads are compared by name"
                )
    return told


def shown_name(load: str, operation: str) -> str:
    """'read', or 'gold read' of one load."""
    return f"{load} {operation}" if load else operation
