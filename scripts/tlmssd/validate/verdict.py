"""What a calibrated drive may be used for, in plain words."""

import statistics
from collections.abc import Sequence

from tlmssd.quantities import percent_text
from tlmssd.validate.card import Line
from tlmssd.validate.statements import Statement

ENOUGH = 0.9
"""Share of the lines, or statements, of a kind that must hold for the drive to be used for it."""
KINDS = {
    "bandwidth": "bandwidths",
    "mean": "mean latencies",
    "p50": "medians",
    "p99": "p99",
    "p99.9": "p99.9",
}
CLAIMS = {
    "order": "which of two settings is faster",
    "queue depth": "what more queue depth brings",
    "cliff": "where the bandwidth falls",
}


def verdict_of(lines: Sequence[Line], statements: Sequence[Statement]) -> tuple[list, list, list]:
    """Sentences: what it may be used for, what not, with the reason, and what is undecided."""
    good, bad, undecided = [], [], []
    for direction in dict.fromkeys(line.direction for line in lines):
        for kind, words in KINDS.items():
            of_kind = [x for x in lines if x.kind == kind and x.direction == direction]
            if of_kind:
                text = (
                    f"{words} of {direction}s: {_count(of_kind)} within their tolerance, "
                    f"typically {percent_text(_typical(of_kind), signed=False)} off"
                )
                holding = sum(line.holds is True for line in of_kind)
                waiting = sum(line.holds is None for line in of_kind)
                text += f", {waiting} undecided" if waiting else ""
                if _share(of_kind) >= ENOUGH:
                    good.append(text)
                elif (holding + waiting) / len(of_kind) >= ENOUGH:
                    undecided.append(text)
                else:
                    bad.append(text)
    for kind, words in CLAIMS.items():
        of_kind = [statement for statement in statements if statement.kind == kind]
        if of_kind:
            text = f"{words}: {_count(of_kind)} hold"
            (good if _share(of_kind) >= ENOUGH else bad).append(text)
    return good, bad, undecided


def _share(parts: Sequence[Line] | Sequence[Statement]) -> float:
    return sum(part.holds is True for part in parts) / len(parts)


def _count(parts: Sequence[Line] | Sequence[Statement]) -> str:
    return f"{sum(part.holds is True for part in parts)} of {len(parts)}"


def _typical(lines: Sequence[Line]) -> float:
    return statistics.median(abs(line.difference) for line in lines)
