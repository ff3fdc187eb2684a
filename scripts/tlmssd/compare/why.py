"""Why latencies differ: the difference of the ledgers by cause, in words.

The mean of a kind of command, and that of its slowest per cent, is the sum of what its ledger says
of each cause, so the differences by cause add up to the difference. A percentile is explained by
the commands around it (a quarter octave of latency), scaled to it: the expectation of each cause
given the latency, which is how much the percentile moves with that cause (Euler's allocation of a
quantile, Tasche 1999).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tlmssd.causes import cause_words
from tlmssd.compare.differences import is_beyond_spread
from tlmssd.compare.loads import MERGED, compared_loads, shown_name, tell_apart
from tlmssd.compare.sides import Side, are_paired
from tlmssd.latency import Ledgers
from tlmssd.quantities import quantity_text
from tlmssd.result import Result

FIGURES = ("mean", "p50", "p99", "p99.9", "slowest per cent")
MENTIONED = 4
"""Causes that a sentence names at most."""


@dataclass(frozen=True)
class Explanation:
    """Why one figure of one kind of command differs between the first side and another.

    `causes` has the mean time on both sides by cause, in ns; each adds up to the figure. `load` is
    the name of the load whose commands they are, empty of all together.
    """

    first: str
    other: str
    operation: str
    figure: str
    before: float
    after: float
    beyond: bool | None
    causes: Mapping[str, tuple[float, float]]
    load: str = MERGED

    @property
    def change(self) -> float:
        """Difference of the figure in ns."""
        return self.after - self.before

    @property
    def commands(self) -> str:
        """What the commands are: 'read', or 'gold read' of one load."""
        return shown_name(self.load, self.operation)

    def differences(self) -> list[tuple[str, float]]:
        """Cause and difference in ns, the largest first."""
        found = [(cause, after - before) for cause, (before, after) in self.causes.items()]
        return sorted(found, key=lambda part: -abs(part[1]))

    def sentence(self) -> str:
        """In words: 'p99.9 of reads fell from 4.2 ms to 1.9 ms: 2.1 ms less behind collection'."""
        commands = shown_name(self.load, _plural(self.operation))
        subject = f"{self.figure} of {commands}"
        if self.figure == "slowest per cent":
            subject = f"the slowest per cent of {commands}, on average,"
        before, after = quantity_text(self.before, "ns"), quantity_text(self.after, "ns")
        if not _is_worth_words(self.change, self.before):
            return f"{subject} stayed at {after}"
        verb = "fell" if self.change < 0 else "rose"
        note = " (within the spread over seeds)" if self.beyond is False else ""
        return f"{subject} {verb} from {before} to {after}{note}: {self._reasons()}"

    def _reasons(self) -> str:
        parts = self.differences()
        largest = abs(parts[0][1]) if parts else 0
        told = [part for part in parts if abs(part[1]) >= 0.1 * max(largest, abs(self.change))]
        told = told[:MENTIONED]
        words = [f"{_more_or_less(spent)} {cause_words(cause)}" for cause, spent in told]
        rest = self.change - sum(spent for _, spent in told)
        if abs(rest) >= 0.1 * abs(self.change):
            words.append(f"{_more_or_less(rest)} elsewhere")
        return ", ".join(words) or "no single cause"


def explain(sides: Sequence[Side]) -> list[Explanation]:
    """Every other side against the first, for each kind of command that both had, by load where
    loads are told apart.

    Sides without ledgers (real drives) are left out.
    """
    first, *others = sides
    apart = tell_apart(sides)
    found = []
    for other in others:
        if not (first.has_ledgers and other.has_ledgers):
            continue
        runs = [run for side in (first, other) for run in side.results]
        for load in compared_loads(first, other, apart):
            for operation in runs[0].operations_of(load):
                if all(operation in run.operations_of(load) for run in runs):
                    found += _of_operation(first, other, load, operation)
    return found


def _of_operation(first: Side, other: Side, load: str, operation: str) -> list[Explanation]:
    found, paired = [], are_paired(first, other)
    for figure in FIGURES:
        samples = [[_causes(run, load, operation, figure) for run in side.results]
                   for side in (first, other)]  # fmt: skip
        if any(part is None for sample in samples for part in sample):
            continue
        names = dict.fromkeys(cause for sample in samples for part in sample for cause in part)
        means = [{c: float(np.mean([part.get(c, 0.0) for part in sample])) for c in names}
                 for sample in samples]  # fmt: skip
        totals = [[sum(part.values()) for part in sample] for sample in samples]
        found.append(
            Explanation(
                first.name, other.name, operation, figure,
                float(np.mean(totals[0])), float(np.mean(totals[1])),
                is_beyond_spread(*totals, paired),
                {cause: (means[0][cause], means[1][cause]) for cause in names},
                load,
            )
        )  # fmt: skip
    return found


def _causes(run: Result, load: str, operation: str, figure: str) -> Mapping[str, float] | None:
    ledgers: Ledgers = run.ledger(operation, load)
    if figure == "mean":
        return ledgers.mean
    if figure == "slowest per cent":
        return ledgers.tail
    prefix = f"loads.{load}." if load else ""
    return ledgers.at(run.value(f"{prefix}{operation}.{figure}"))


def _is_worth_words(change: float, before: float) -> bool:
    return abs(change) >= 0.005 * abs(before) and change != 0


def _more_or_less(spent: float) -> str:
    return f"{quantity_text(abs(spent), 'ns', 2)} {'more' if spent > 0 else 'less'}"


def _plural(operation: str) -> str:
    return {"flush": "flushes", "write zeroes": "write zeroes"}.get(operation, operation + "s")
