"""Measurements to fit to: figures of fio's jobs, and how exactly each is known.

A figure counts as known to its tolerance (the study's `loss`), and not better than its sample: a
mean of reads to its standard error, a percentile to the difference between neighbouring ranks, so
that one that lies on a cliff of the distribution (half of the writes in the buffer) decides little.
Which writes wait for room in the buffer is no chance, however far their latencies lie apart: the
mean and the rate of a burst are what tells the buffer's size. What chance there is shows when the
emulator repeats the job with other seeds.
"""

import math
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations
from pathlib import Path

from tlmssd.errors import InputError
from tlmssd.fio_json import check_jobs, failed_jobs, read_jobs, same_jobs
from tlmssd.latency import Histogram, under_way
from tlmssd.quantities import quantity_text

FIGURE = re.compile(r"bandwidth|iops|mean|p\d+(\.\d+)?")
RATES = {"bandwidth": "B/s", "iops": "1/s"}
"""Figures that fall where latencies rise, and their units."""
DIRECTIONS = ("read", "write", "trim")
LEAST_COMMANDS = 8
"""Jobs of fewer commands only make the drive rest, and are not compared."""
RANKS = 0.1
"""Share of the smaller side of a percentile that counts as its neighbourhood."""
BUSY = 0.9
"""A job that keeps as many commands under way in the emulation does not wait between them."""
ANOTHER_UNIT = 10.0
"""Factor between commands under way here and there that latencies in other units account for, where
most jobs have it."""
SURELY_ANOTHER = 300.0
"""One that nothing else accounts for: units are a thousand apart."""


@dataclass(frozen=True)
class Known:
    """A measured figure: its value (ns, B/s, 1/s), and the relative error of its sample alone."""

    value: float
    error: float
    spread: float = 0.0
    """Relative standard deviation over repeated measurements; 0 where there are none."""


@dataclass(frozen=True)
class Measured:
    """What was measured: figures by job and by name ('read.mean'). `repeats`: how many times."""

    jobs: tuple[str, ...]
    figures: Mapping[str, Mapping[str, Known]]
    repeats: int
    files: tuple[Path, ...]


def join_measured(files: Sequence[Path]) -> Measured:
    """Reads fio's json; several files are repetitions of the same jobs.

    Figures are those that all files have. Raises InputError, also where a job has failed, is not in
    every file or cannot have been, and where a file is given twice.
    """
    for path in files:
        check_jobs(path)
        for job, error in failed_jobs(path).items():
            raise InputError(
                f"{path}: job '{job}' ended with error {error} ({os.strerror(error)}): measure it "
                "again, or take it out of the file"
            )
    for other, path in combinations(files, 2):
        if same_jobs(path, other):
            raise InputError(
                f"{path}: has every figure of {other}: one measurement given twice is no repetition"
            )
    runs = dict(zip(files, map(figures_of, files), strict=True))
    for path, other in permutations(files, 2):
        missing = [f"'{job}'" for job in runs[other] if job not in runs[path]]
        if missing:
            raise InputError(
                f"{path}: {', '.join(missing)} of {other.name} did not run {LEAST_COMMANDS} "
                "commands here: files of repeated measurements have the same jobs"
            )
    names = tuple(runs[files[0]])
    if not names:
        raise InputError(f"{files[0]}: no job of {LEAST_COMMANDS} commands or more")
    figures = {job: _joined([run[job] for run in runs.values()]) for job in names}
    return Measured(names, figures, len(files), tuple(files))


def check_units(measured: Measured, emulated: Mapping[str, Mapping[str, float]]) -> None:
    """Raises InputError where latencies cannot be in ns.

    By Little's law the rate times the mean latency is how many commands a job has under way, and
    what does not wait between them has as many on any drive. `emulated`: figures by job and name.
    """
    off, judged = [], 0
    for job in measured.jobs:
        known = {name: figure.value for name, figure in measured.figures[job].items()}
        here, there = _under_way(known), _under_way(emulated.get(job, {}))
        if here and there >= BUSY:
            judged += 1
            factor = max(here / there, there / here)
            if factor > ANOTHER_UNIT:
                off.append((factor, job, here, there))
    surely = [one for one in off if one[0] > SURELY_ANOTHER]
    if surely or 2 * len(off) > judged:
        _, job, here, there = (surely or off)[0]
        raise InputError(
            f"{measured.files[0]}: job '{job}': its rate and its mean latency come to "
            f"{quantity_text(here, '')} commands under way, in the emulation "
            f"{quantity_text(there, '')} are (Little's law): latencies must be in ns, rates in 1/s"
        )


def _under_way(figures: Mapping[str, float]) -> float:
    """Commands that a job has under way on average, of all directions that have both figures."""
    pairs = ((figures.get(f"{one}.iops"), figures.get(f"{one}.mean")) for one in DIRECTIONS)
    return sum(under_way(iops, mean) for iops, mean in pairs if iops and mean)


def figures_of(path: Path, wanted: Sequence[str] = ()) -> dict[str, dict[str, Known]]:
    """Figures by job and name of a file of fio's json.

    The emulator numbers the parts of `numjobs` (job.0, job.1), fio does not: they are taken
    together where `wanted` has the job by its bare name, and always where fio repeats a name.
    """
    found = {}
    for name, part in read_jobs(path, lambda name: _bare(name, wanted)).items():
        figures = {}
        for direction in DIRECTIONS:
            operation = part["operations"].get(direction)
            if operation and operation["commands"] >= LEAST_COMMANDS:
                for key, known in _figures(operation, chance=direction == "read").items():
                    figures[f"{direction}.{key}"] = known
        if figures:
            found[name] = figures
    return found


def _bare(name: str, wanted: Sequence[str]) -> str:
    bare = re.sub(r"\.\d+$", "", name)
    return bare if bare in wanted and name not in wanted else name


def _figures(operation: Mapping, chance: bool) -> dict[str, Known]:
    """`chance`: whether the latencies are a sample of what might have been."""
    latency, count = operation["latency"], operation["commands"]
    mean_error = latency.get("stddev", 0.0) / math.sqrt(count) / latency["mean"] if chance else 0.0
    found = {
        "iops": Known(operation["iops"], mean_error),
        "bandwidth": Known(operation["bandwidth"]["value"], mean_error),
        "mean": Known(latency["mean"], mean_error),
    }
    histogram = Histogram.of_points(operation["distribution"], count)
    for name, value in latency.items():
        if name[0] == "p" and FIGURE.fullmatch(name) and value > 0:
            rank = float(name[1:]) / 100
            if count * min(rank, 1 - rank) >= 3:
                found[name] = Known(value, _rank_error(histogram, rank, count))
    return {name: known for name, known in found.items() if known.value > 0}


def _rank_error(histogram: Histogram, rank: float, count: float) -> float:
    """Half the relative difference between the neighbouring ranks of a percentile."""
    width = max(RANKS * min(rank, 1 - rank), 2 * math.sqrt(rank * (1 - rank) / count))
    low = histogram.percentile(100 * max(rank - width, 0))
    high = histogram.percentile(100 * min(rank + width, 1))
    return abs(math.log(max(high, 1) / max(low, 1))) / 2


def _joined(runs: Sequence[Mapping[str, Known]]) -> dict[str, Known]:
    """Geometric means of repeated measurements, and their spread."""
    names = [name for name in runs[0] if all(name in run for run in runs)]
    found = {}
    for name in names:
        logs = [math.log(run[name].value) for run in runs]
        mean = sum(logs) / len(logs)
        spread = 0.0
        if len(logs) > 1:
            spread = math.sqrt(sum((log - mean) ** 2 for log in logs) / (len(logs) - 1))
        error = sum(run[name].error for run in runs) / len(runs)
        found[name] = Known(math.exp(mean), error, spread)
    return found


__all__ = [
    "FIGURE", "RATES", "InputError", "Known", "Measured", "check_units", "figures_of",
    "join_measured",
]  # fmt: skip
