"""A calibration study: a drive, what was measured on it, and what may be fitted.

title: the drive on my desk
base: drive.yaml                        # the drive as far as it is known, from this file's folder
jobs: probe/calibrate.fio               # what was measured; none: the base scenario's own loads
set: {ssd.host.queues: 8}               # over the base, for all runs
measured: [monday.json, tuesday.json]   # fio's json or json+ of these jobs; several are repetitions
parameters:                             # see tlmssd.calibrate.parameters
  ssd.flash.part.read_latency: {from: 20 us, to: 150 us}
  firmware.buffer.capacity: {from: 1 MiB, to: 64 MiB}
loss: {bandwidth: 2 %, mean: 2 %, p50: 2 %, p99: 5 %}   # how exactly each is to be met: 1 sigma
hold_out: [read-16k, write-burst-8m]    # jobs that are not fitted but predicted; or a share: 20 %
search: {runs: 300, sampler: tpe, seed: 1, batch: 8}    # at most 500 runs
limits: {time: 10 min}                  # of each run
"""

import random
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from tlmssd import units
from tlmssd.calibrate.measured import FIGURE, Measured, join_measured
from tlmssd.calibrate.parameters import Parameter, read_parameters
from tlmssd.errors import InputError
from tlmssd.execute import Limits
from tlmssd.study.axes import Settings
from tlmssd.study.document import Entry, nearest, read_document
from tlmssd.study.study import read_base, read_limits, read_settings

KEYS = (
    "title", "base", "jobs", "set", "measured", "parameters", "loss", "hold_out", "search",
    "limits",
)  # fmt: skip
DEFAULT_LOSS = {
    **dict.fromkeys(("iops", "bandwidth", "mean", "p10", "p50", "p90"), 0.02),
    "p99": 0.05,
}
"""The loss of a study that says none; of rates and percentiles each bears noise of its own."""
SAMPLERS = ("tpe", "cmaes", "random")
LEAST_RUNS, MOST_RUNS = 25, 500
"""Runs at least for each parameter, and at most in all."""


@dataclass(frozen=True)
class Search:
    """How many runs of the program may be spent, and how the first of them are chosen."""

    runs: int = 300
    sampler: str = "tpe"
    seed: int = 1
    batch: int = 8


@dataclass(frozen=True)
class CalibrationStudy:
    """A calibration study as read. `loss`: figure to the relative error that counts as 1 sigma.

    `parts` are its keys, by name, with their lines.
    """

    file: Path
    title: str
    base: Path
    settings: Settings
    measured: Measured
    parameters: tuple[Parameter, ...]
    loss: dict[str, float]
    held_out: tuple[str, ...]
    search: Search
    limits: Limits
    parts: Mapping[str, Entry] = field(repr=False)

    @staticmethod
    def read(path: str | Path) -> "CalibrationStudy":
        """Reads a study; raises InputError 'file:line: key: what is wrong' at the first mistake."""
        path = Path(path)
        document = read_document(path)
        parts = document.known(*KEYS)
        for key in ("base", "measured", "parameters"):
            if key not in parts:
                document.fail(f"a calibration needs {key}")
        settings = read_settings(parts.get("set"))
        parameters = read_parameters(parts["parameters"])
        if "jobs" in parts:
            jobs = _file(parts["jobs"], path.parent)
            settings += (("load", f'[{{"fio": "{jobs}"}}]'),)
        files = [_file(part, path.parent) for part in parts["measured"].elements()]
        if not files:
            parts["measured"].fail("names no file")
        measured = join_measured(files)
        held_out = _held_out(parts.get("hold_out"), measured.jobs)
        if len(held_out) == len(measured.jobs):
            parts["hold_out"].fail("leaves no job to fit")
        return CalibrationStudy(
            path,
            parts["title"].text if "title" in parts else path.stem,
            read_base(parts["base"], path.parent),
            settings,
            measured,
            parameters,
            _loss(parts.get("loss")),
            held_out,
            _search(parts.get("search"), len(parameters)),
            read_limits(parts.get("limits")),
            parts,
        )

    def with_runs(self, runs: int | None) -> "CalibrationStudy":
        """The same with another number of runs; raises InputError beyond the most."""
        if runs is None:
            return self
        least = LEAST_RUNS * len(self.parameters)
        if not least <= runs <= MOST_RUNS:
            raise InputError(
                f"--runs: must be from {least} ({LEAST_RUNS} a parameter) to {MOST_RUNS}"
            )
        return replace(self, search=replace(self.search, runs=runs))


def _file(entry: Entry, folder: Path) -> Path:
    path = (folder / entry.text).resolve()
    if not path.is_file():
        entry.fail(f"there is no file {folder / entry.text}")
    return path


def _loss(entry: Entry | None) -> dict[str, float]:
    if entry is None:
        return dict(DEFAULT_LOSS)
    loss = {}
    for name, part in entry.items():
        if not FIGURE.fullmatch(name):
            part.fail("is no figure of a job; valid: bandwidth, iops, mean, p50, p99, p99.9, ...")
        found = units.split(part.text)
        if found is None or found[1] != "%" or not 0.1 <= found[0] <= 100:
            part.fail("must be a relative error from 0.1 % to 100 %")
        loss[name] = found[0] / 100
    if not loss:
        entry.fail("has no figure")
    return loss


def _held_out(entry: Entry | None, jobs: tuple[str, ...]) -> tuple[str, ...]:
    if entry is None:
        return ()
    share = units.split(entry.text) if not (entry.is_list or entry.is_map) else None
    if share and share[1] == "%":
        if not 0 <= share[0] < 100:
            entry.fail("must be a share of the jobs from 0 % to less than 100 %")
        count = round(len(jobs) * share[0] / 100)
        chosen = random.Random("held out").sample(range(len(jobs)), count)
        return tuple(jobs[number] for number in sorted(chosen))
    names = [part.text for part in entry.elements()]
    for name, part in zip(names, entry.elements(), strict=True):
        if name not in jobs:
            part.fail(f"no job '{name}' was measured{nearest(name, jobs)}")
    return tuple(dict.fromkeys(names))


def _search(entry: Entry | None, parameters: int) -> Search:
    if entry is None:
        return Search()
    parts = entry.known("engine", "runs", "sampler", "seed", "batch")
    if "engine" in parts:
        parts["engine"].choice("optuna")
    default = Search()
    return Search(
        parts["runs"].whole(LEAST_RUNS * parameters, MOST_RUNS)
        if "runs" in parts
        else default.runs,
        parts["sampler"].choice(*SAMPLERS) if "sampler" in parts else default.sampler,
        parts["seed"].whole(0, 2**31) if "seed" in parts else default.seed,
        parts["batch"].whole(1, 1000) if "batch" in parts else default.batch,
    )
