"""The report card: measured beside emulated, figure by figure, with what either repeats."""

import json
import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tlmssd.calibrate.measured import Known, Measured, figures_of

TOLERANCE = {"bandwidth": 0.10, "iops": 0.10, "mean": 0.10, "p50": 0.10, "p99": 0.15}
"""How far off a figure may be, relatively; others in TAIL."""
TAIL = 0.5
SHOWN = ("bandwidth", "mean", "p50", "p99", "p99.9")


@dataclass(frozen=True)
class Line:
    """One figure of one job: measured and emulated (ns, B/s, 1/s; the mean of so many `seeds`),
    their relative spreads (0: not known), and whether the drive was fitted to it."""

    job: str
    figure: str
    measured: float
    emulated: float
    measured_spread: float
    emulated_spread: float
    seeds: int
    fitted: bool

    @property
    def kind(self) -> str:
        """The figure without its direction: mean, p99, ..."""
        return self.figure.split(".", 1)[1]

    @property
    def direction(self) -> str:
        """read, write or trim."""
        return self.figure.split(".", 1)[0]

    @property
    def difference(self) -> float:
        """Emulated against measured, relative."""
        return self.emulated / self.measured - 1

    @property
    def tolerance(self) -> float:
        """What it may be off: as said for its kind, or twice what measurements do not repeat."""
        return max(TOLERANCE.get(self.kind, TAIL), 2 * self.measured_spread)

    @property
    def error(self) -> float:
        """How far the emulated figure may be from what more seeds would make it (two standard
        errors), relative to the measured one."""
        error = 2 * self.emulated_spread / math.sqrt(self.seeds)
        return error * self.emulated / self.measured

    @property
    def holds(self) -> bool | None:
        """Whether the difference is within the tolerance; None where more seeds have to say."""
        off = abs(self.difference)
        if self.error > self.tolerance and off <= self.tolerance + self.error:
            return None
        return off <= self.tolerance


def card_of(
    measured: Measured, runs: Sequence[Mapping[str, Mapping[str, Known]]], fitted: Sequence[str]
) -> list[Line]:
    """Lines for every figure that is shown and that both sides have; `runs` by seed."""
    lines = []
    for job in measured.jobs:
        for figure, known in measured.figures[job].items():
            if figure.split(".", 1)[1] not in SHOWN:
                continue
            values = [run[job][figure].value for run in runs if figure in run.get(job, {})]
            if not values:
                continue
            mean = statistics.fmean(values)
            spread = statistics.stdev(values) / mean if len(values) > 1 else 0.0
            lines.append(
                Line(
                    job, figure, known.value, mean, known.spread, spread, len(values),
                    job in fitted,
                )
            )  # fmt: skip
    return lines


def fitted_jobs(drive: Path, measured: Measured) -> list[str]:
    """Jobs that the drive was fitted to, as calibrate has written beside it; else none is."""
    path = drive.parent / "calibration.json"
    try:
        fitted = json.loads(path.read_text(encoding="utf-8"))["fitted_jobs"]
    except (OSError, ValueError, KeyError):
        return []
    return [job for job in measured.jobs if job in fitted]


__all__ = ["Line", "card_of", "figures_of", "fitted_jobs"]
