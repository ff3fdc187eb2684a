"""tlmssd calibrate: fits a drive to what fio measured on a real one."""

import argparse
import contextlib
import math
import statistics
import sys
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from tlmssd.calibrate.fitting import GOOD, fit
from tlmssd.calibrate.model import ROBUST, Model
from tlmssd.calibrate.profile import Profile, profiles
from tlmssd.calibrate.study import CalibrationStudy
from tlmssd.engine import Pool, cluster_pool, positive, scheduler_pool, thread_pool
from tlmssd.errors import InputError
from tlmssd.interrupts import INTERRUPTED
from tlmssd.output import OwnFiles, check_folder, refuse_inputs, write_text
from tlmssd.quantities import percent_text
from tlmssd.runs import Runner

MARK = ".tlmssd-calibration"
NAMED = 4
"""Figures that a caution names at most."""
FILES = (
    "drive.yaml",
    "part.yaml",
    "residuals.csv",
    "profiles.csv",
    "calibration.json",
    "calibration.html",
)
"""That are written into the folder."""
OK = 0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What `tlmssd calibrate` understands."""
    parser.add_argument("study", type=Path, help="calibration study (YAML)")
    engine = parser.add_mutually_exclusive_group()
    engine.add_argument(
        "--jobs", type=positive, metavar="N", help="runs at a time here (default: all processors)"
    )
    engine.add_argument("--scheduler", metavar="ADDRESS", help="a Dask scheduler that runs already")
    engine.add_argument(
        "--cluster", type=Path, metavar="FILE", help="a cluster by dask-jobqueue (YAML)"
    )
    parser.add_argument(
        "--runs", type=positive, metavar="N", help="at most so many runs (default: the study's)"
    )
    out = "folder for the results (default: out/STUDY)"
    parser.add_argument("-o", "--out", type=Path, help=out)
    parser.add_argument("--store", type=Path, help="folder of known runs (default: TLMSSD_STORE)")
    parser.add_argument("--no-page", action="store_true", help="write no calibration.html")


def main(arguments: argparse.Namespace) -> int:
    """Fits the drive, writes and prints what was found; 0."""
    from tlmssd.calibrate.files import names_along, write_drive, write_tables
    from tlmssd.calibrate.terminal import Progress, text_of

    study = CalibrationStudy.read(arguments.study).with_runs(arguments.runs)
    out = arguments.out or Path("out") / arguments.study.stem
    _refuse_foreign(out)
    read = [study.file, study.base, *study.measured.files]
    refuse_inputs((out / name for name in FILES), read)
    names = [*(FILES[:-1] if arguments.no_page else FILES), *names_along(study.base, out)]
    files = OwnFiles(out, MARK, "calibrate")
    files.check(names, None)
    progress = Progress()
    try:
        with Runner(arguments.store, study.limits) as runner, _engine(arguments) as pool:
            try:
                found = carry_out(study, runner, pool, progress)
            finally:
                progress.end()
    except KeyboardInterrupt:
        print("tlmssd: interrupted; the same command goes on from there", file=sys.stderr)
        return INTERRUPTED
    with files.writing(names):
        write_drive(found, out)
        write_tables(found, out)
        if not arguments.no_page:
            from tlmssd.calibrate.page import page_of

            write_text(out / "calibration.html", page_of(found))
    sys.stdout.write(text_of(found))
    print(f"\nThe drive is {out / 'drive.yaml'}; residuals and profiles are beside it")
    return OK


def _refuse_foreign(out: Path) -> None:
    if out.exists() and not out.is_dir():
        raise InputError(f"{out}: is a file; name a folder by --out")
    check_folder(out)
    if out.is_dir() and any(out.iterdir()) and not (out / MARK).exists():
        raise InputError(f"{out}: is not empty and holds no calibration; name another by --out")


def _engine(arguments: argparse.Namespace) -> contextlib.AbstractContextManager[Pool]:
    if arguments.scheduler:
        return scheduler_pool(arguments.scheduler)
    if arguments.cluster:
        return cluster_pool(arguments.cluster)
    return thread_pool(arguments.jobs)


@dataclass(frozen=True)
class Residual:
    """One figure of one job: measured and emulated, in ns, B/s or 1/s.

    `emulated` is the geometric mean over the seeds that were run. `tolerance` (what the study
    allows, the error of the sample, repeats) and `sigma` (what the loss divides by: with chance and
    roughness of the emulator, too) are relative.
    """

    job: str
    figure: str
    measured: float
    emulated: float
    tolerance: float
    sigma: float
    held_out: bool

    @property
    def difference(self) -> float:
        """Emulated against measured, relative."""
        return self.emulated / self.measured - 1

    @property
    def sigmas(self) -> float:
        """Their logarithms' difference in sigma."""
        return math.log(self.emulated / self.measured) / self.sigma


@dataclass(frozen=True)
class Calibration:
    """A drive fitted to measurements.

    `profiles` say of each parameter its best value and what the measurements know of it;
    `residuals` compare every figure, held-out ones too; `loss` is the squared sigma per figure.
    """

    study: CalibrationStudy
    profiles: tuple[Profile, ...]
    residuals: tuple[Residual, ...]
    runs: int
    loss: float
    base: dict[str, Any]
    resolved: dict[str, Any]

    @property
    def fit_text(self) -> str:
        """How far off the fitted figures are: half of them, and the one that is most sigma off."""
        fitted = [r for r in self.residuals if not r.held_out]
        median = statistics.median(abs(r.difference) for r in fitted)
        worst = max(fitted, key=lambda r: abs(r.sigmas))
        return (
            f"half of the fitted figures are within {percent_text(median, signed=False)}; farthest "
            f"is {worst.figure} of {worst.job}: {percent_text(worst.difference)}, "
            f"{abs(worst.sigmas):.1f} sigma of {percent_text(worst.sigma, signed=False)}"
        )

    @property
    def caution(self) -> str:
        """What to know before anything is believed; empty where every figure fits."""
        if all(p.fits for p in self.profiles):
            return self._caution_of_some()
        return (
            f"the fit is poor: {self.loss:.2g} squared sigma per figure, where tolerances and "
            f"repeats of the measurements allow 1, and {GOOD:g} is good: the best drive was not "
            "found (give the search more runs or another seed), or the real drive does what this "
            "one does not; no parameter counts as determined"
        )

    def _caution_of_some(self) -> str:
        """Of figures so far off that they hardly count, in a fit that is good but for them."""
        fitted = [r for r in self.residuals if not r.held_out]
        far = sorted((r for r in fitted if abs(r.sigmas) > ROBUST), key=lambda r: -abs(r.sigmas))
        if not far:
            return ""
        told = [
            f"{r.figure} of {r.job} {percent_text(r.difference)} ({abs(r.sigmas):.0f} sigma)"
            for r in far[:NAMED]
        ]
        told += [f"and {len(far) - NAMED} more"] if len(far) > NAMED else []
        return (
            f"the fit is poor in {len(far)} of {len(fitted)} figures, which are more than "
            f"{ROBUST:g} sigma off and hardly count: {', '.join(told)}; the drive cannot be "
            "trusted there. The best one was not found (give the search more runs or another "
            "seed), and then the intervals may miss the true values, too; or the real drive does "
            "there what this one does not"
        )

    @property
    def values(self) -> dict[str, float]:
        """The best value of each parameter, in the unit of its range."""
        return {profile.parameter.name: profile.value for profile in self.profiles}

    @property
    def undetermined(self) -> list[str]:
        """Parameters that are not bounded on both sides; all of them where the fit is poor."""
        return [p.parameter.name for p in self.profiles if not p.determined]

    def frame(self):
        """Tidy pandas: job, figure, measured, emulated, tolerance, sigma, held_out, difference."""
        import pandas as pd

        rows = [(*vars(r).values(), r.difference) for r in self.residuals]
        names = [one.name for one in fields(Residual)]
        return pd.DataFrame(rows, columns=[*names, "difference"])


def carry_out(study: CalibrationStudy, runner: Runner, pool: Pool, watcher=None) -> Calibration:
    """Fits, then looks what is determined; raises RunFailed when no run has results."""
    model = Model(study, runner, pool, watcher)
    fit(model)
    looked = profiles(model)
    best = model.best
    settings = study.settings + model.settings(best.places)
    residuals = tuple(
        Residual(t.job, t.figure, t.known.value, float(value), t.sigma, float(sigma), t.held_out)
        for t, value, sigma in zip(model.targets, model.typical(best), model.sigma, strict=True)
    )
    return Calibration(
        study,
        tuple(looked),
        residuals,
        model.runs,
        model.loss(best) / int(model.counted.sum()),
        model.base,
        runner.resolver(study.base).resolve(settings),
    )


def calibrate(
    study: str | Path, *, jobs: int | None = None, store: str | Path | None = None
) -> Calibration:
    """Fits the drive of a calibration study to its measurements, `jobs` runs at a time.

    Raises InputError for what is wrong in the study, RunFailed when no run has results.
    """
    read = CalibrationStudy.read(study)
    with Runner(store, read.limits) as runner, thread_pool(jobs) as pool:
        return carry_out(read, runner, pool)


__all__ = ["Calibration", "Residual", "add_arguments", "calibrate", "main"]
