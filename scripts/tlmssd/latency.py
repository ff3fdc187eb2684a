"""Latencies as distributions, and where the time went at any of their percentiles."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from tlmssd.errors import InputError


def under_way(iops: float, mean_ns: float) -> float:
    """How many commands are under way on average (Little's law)."""
    return iops * mean_ns * 1e-9


@dataclass(frozen=True)
class Histogram:
    """A distribution of latencies: `counts[i]` commands took `latency_ns[i]`, which ascend."""

    latency_ns: np.ndarray
    counts: np.ndarray

    @staticmethod
    def of_points(points: Sequence[tuple[float, float]], commands: int) -> "Histogram":
        """From points (latency in ns, share of commands not above it) as in report.json."""
        table = np.asarray(points, dtype=float).reshape(-1, 2)
        return Histogram(table[:, 0], np.diff(table[:, 1], prepend=0) * commands)

    @staticmethod
    def pooled(parts: Sequence["Histogram"]) -> "Histogram":
        """All commands of several runs together."""
        values = np.concatenate([part.latency_ns for part in parts])
        latency, place = np.unique(values, return_inverse=True)
        counts = np.concatenate([part.counts for part in parts])
        return Histogram(latency, np.bincount(place, counts, minlength=len(latency)))

    @property
    def commands(self) -> float:
        """How many commands there are."""
        return float(self.counts.sum())

    def frame(self) -> pd.DataFrame:
        """Columns latency (ns), commands, and share (of the commands that are not slower)."""
        share = np.cumsum(self.counts) / self.commands
        return pd.DataFrame({"latency": self.latency_ns, "commands": self.counts, "share": share})

    def percentile(self, percent: float) -> float:
        """Latency in ns that `percent` (0 to 100) of the commands do not exceed.

        Interpolated between the points there are; the report's own percentiles are exact. Raises
        InputError for another `percent`.
        """
        if not 0 <= percent <= 100:
            raise InputError(f"percentile {percent:g}: must be from 0 to 100")
        share = np.cumsum(self.counts) / self.commands
        return float(np.interp(percent / 100, share, self.latency_ns))


@dataclass(frozen=True)
class LedgerBin:
    """Where the time of the commands in one quarter octave of latency went, in ns per command."""

    from_ns: float
    commands: float
    causes: Mapping[str, float]


@dataclass(frozen=True)
class Ledgers:
    """Where the time of one kind of command went: on average, in the slowest per cent, anywhere."""

    mean: Mapping[str, float]
    tail: Mapping[str, float]
    tail_above_ns: float
    bins: Sequence[LedgerBin] = field(default=())

    @staticmethod
    def of(operation: Mapping) -> "Ledgers":
        """From an operation of report.json."""

        def means(ledger: Mapping) -> dict[str, float]:
            return {cause: part["mean_ns"] for cause, part in ledger.items()}

        bins = [
            LedgerBin(part["from_ns"], part["commands"], part["mean_ns"])
            for part in operation.get("ledger_by_latency", [])
        ]
        tail = operation["tail"]
        return Ledgers(means(operation["ledger"]), means(tail["ledger"]), tail["above_ns"], bins)

    def at(self, latency_ns: float) -> dict[str, float] | None:
        """The causes of a command of this latency, in ns; they add up to `latency_ns`.

        It is the average of the commands in the quarter octave around it, scaled to the latency;
        None for reports that say nothing about it (of an older program).
        """
        below = [part for part in self.bins if part.from_ns <= latency_ns * (1 + 1e-9)]
        if not self.bins:
            return None
        causes = (below[-1] if below else self.bins[0]).causes
        total = sum(causes.values())
        scale = latency_ns / total if total else 0.0
        return {cause: spent * scale for cause, spent in causes.items()}
