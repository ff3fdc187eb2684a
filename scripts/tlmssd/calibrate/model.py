"""The emulator as a function: from places of the parameters to residuals against measurements."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tlmssd.calibrate.measured import Known, check_units, figures_of
from tlmssd.calibrate.parameters import can_be_scaled
from tlmssd.calibrate.study import CalibrationStudy
from tlmssd.campaign import Campaign
from tlmssd.engine import Pool
from tlmssd.errors import CannotGoOn, DiskFull, InputError, RunFailed
from tlmssd.execute import OUTSIDE
from tlmssd.runs import Runner, RunRequest
from tlmssd.scenario import setting_text
from tlmssd.study.axes import Settings
from tlmssd.study.check import refuse_setting

ROBUST = 4.0
"""Beyond so many sigma means and rates count linearly (Huber), and percentiles hardly any more
(Cauchy): one that lies on the other side of a cliff of its distribution must not decide everything.
"""
SMOOTH = ("mean", "bandwidth", "iops")
"""Figures without cliffs: what is fitted first."""
FIRST_SEED, LEAST_SEEDS, MOST_SEEDS = 1001, 3, 7
"""With which the best drive is run again, to know its mean over seeds and their spread."""
FOR_SEEDS = 20
"""Of so many runs one is for another seed."""
NEAR = 0.03
"""Runs no further from the best than this share of each range show how rough the loss is there."""
FAILED = 1e3
"""Residual of a run without results."""


@dataclass(frozen=True)
class FioReader:
    """Takes figures from a run's fio.json; goes to the workers with each job."""

    jobs: tuple[str, ...]

    def __call__(self, folder: Path, _report: bytes, _scenario: dict) -> dict:
        """Figures by job and name, as [value, relative error of its sample]."""
        found = figures_of(folder / "fio.json", self.jobs)
        return {
            job: {name: [known.value, known.error] for name, known in figures.items()}
            for job, figures in found.items()
        }


@dataclass(frozen=True)
class Target:
    """One measured figure that is fitted or predicted, and its standard deviation (relative)."""

    job: str
    figure: str
    known: Known
    sigma: float
    held_out: bool


@dataclass(frozen=True)
class Trial:
    """One run: where, and what came of each target (NaN without results)."""

    places: np.ndarray
    emulated: np.ndarray
    status: str = "ok"
    reason: str = ""


def targets_of(study: CalibrationStudy) -> tuple[Target, ...]:
    """Everything that was measured and has a place in the loss.

    A figure that the study names must have been measured in some job.
    """
    names = {name for figures in study.measured.figures.values() for name in figures}
    measured = sorted({name.split(".", 1)[1] for name in names})
    if "loss" in study.parts:
        for figure, part in study.parts["loss"].items():
            if figure not in measured:
                part.fail(f"was not measured in any job; measured: {', '.join(measured)}")
    found = []
    for job in study.measured.jobs:
        for name, known in study.measured.figures[job].items():
            figure = name.split(".", 1)[1]
            if figure in study.loss:
                sigma = math.hypot(study.loss[figure], math.sqrt(2) * known.error, known.spread)
                found.append(Target(job, name, known, sigma, job in study.held_out))
    if not any(not target.held_out for target in found):
        study.parts.get("loss", study.parts["measured"]).fail(
            f"nothing that was measured has a place in the loss; measured: {', '.join(measured)}"
        )
    return tuple(found)


class Model:
    """Runs the drive at places of the parameters; every run is kept and counted."""

    def __init__(self, study: CalibrationStudy, runner: Runner, pool: Pool, watcher=None):
        self.study, self._runner, self._watcher = study, runner, watcher
        self.parameters = study.parameters
        self.targets = targets_of(study)
        self.fitted = np.array([not target.held_out for target in self.targets])
        self.sigma = np.array([target.sigma for target in self.targets])
        self._is_smooth = np.array(
            [target.figure.split(".", 1)[1] in SMOOTH for target in self.targets]
        )
        self.counted = self.fitted
        self._known = np.log([target.known.value for target in self.targets])
        self._luck = np.zeros(len(self.targets))
        self.chance = np.zeros((0, len(self.targets)))
        self._campaign = Campaign(runner.workshop, pool, FioReader(study.measured.jobs), True)
        self.base = self._resolved()
        self.trials: list[Trial] = []
        self.runs = 0
        self._seen: dict[Settings, Trial] = {}

    @property
    def left(self) -> int:
        """Runs that may still be spent."""
        return self.study.search.runs - self.runs

    @property
    def best(self) -> Trial:
        """The run with the least loss; raises RunFailed when none has results."""
        good = [trial for trial in self.trials if trial.status == "ok"]
        if not good:
            reason = self.trials[0].reason if self.trials else "nothing was run"
            raise RunFailed(f"no run has results; the first: {reason}")
        # Runs that fit alike are told apart by their places, not by which of them ended first.
        return min(
            good, key=lambda trial: (self.loss(trial), *np.abs(trial.places - 0.5), *trial.places)
        )

    def focus(self, smooth: bool) -> None:
        """What the loss is made of from now on: the smooth figures alone, or all that is fitted."""
        alone = self.fitted & self._is_smooth
        self.counted = alone if smooth and alone.any() else self.fitted

    def residuals(self, trial: Trial) -> np.ndarray:
        """Of what counts, in sigma, made robust; its squares add up to the loss."""
        if trial.status != "ok":
            return np.full(int(self.counted.sum()), FAILED)
        sigmas = (np.log(self.typical(trial)) - self._known) / self.sigma
        return self._robust(sigmas)[self.counted]

    def typical(self, trial: Trial) -> np.ndarray:
        """What a run has emulated without the luck of its seed, as far as other seeds were run."""
        return trial.emulated * np.exp(-self._luck)

    def loss(self, trial: Trial) -> float:
        """Sum of the squares of the residuals."""
        residuals = self.residuals(trial)
        return float(residuals @ residuals)

    def settings(self, places: Sequence[float]) -> Settings:
        """What a run at `places` puts over the base."""
        pairs = zip(self.parameters, places, strict=True)
        return tuple(pair for one, place in pairs for pair in one.settings(place, self.base))

    def run(self, points: Sequence[Sequence[float]]) -> list[Trial]:
        """Runs all `points`; those whose settings were run before are not run again."""
        points = [np.clip(np.asarray(point, dtype=float), 0, 1) for point in points]
        settings = [self.settings(point) for point in points]
        fresh = dict(zip(settings, points, strict=True))
        self._run({one: point for one, point in fresh.items() if one not in self._seen})
        return [self._seen[one] for one in settings]

    def _run(self, fresh: Mapping[Settings, np.ndarray]) -> list[Trial]:
        jobs, order = [], []
        for one, point in fresh.items():
            request = RunRequest(self.study.base, self.study.settings + one)
            try:
                jobs.append(self._runner.job(request))
                order.append(one)
            except InputError as error:
                self._keep(one, self._failed(point, "refused", str(error)))
        # In the order of asking: what is done first must not decide what is found.
        for number, done in sorted(self._campaign.carry_out(jobs), key=lambda pair: pair[0]):
            one = order[number]
            if done.status in OUTSIDE:
                error = DiskFull if done.status == "disk" else CannotGoOn
                raise error(f"after {self.runs} runs: {done.reason}")
            if done.status == "ok":
                self._keep(one, self._trial(fresh[one], done.figures))
            else:
                self._keep(one, self._failed(fresh[one], done.status, done.reason))
        return [self._seen[one] for one in fresh]

    def look_over_seeds(self, trial: Trial) -> None:
        """Runs other seeds there: from then on the mean over seeds is held against what was
        measured, and sigmas have what a single measurement differs from it by chance.

        All runs of a search have one seed, so its luck would be taken for the drive's. `chance`: by
        how much each seed's figures (logarithms) are beside their mean. A drive that is measured
        has as much of it, and their mean its share. The error of the sample is an estimate of the
        same: the larger counts.
        """
        pairs = self.settings(trial.places)
        count = min(max(self.study.search.runs // FOR_SEEDS, LEAST_SEEDS), MOST_SEEDS)
        seeds = range(FIRST_SEED, FIRST_SEED + count)
        settings = [(*pairs, ("seed", str(seed))) for seed in seeds]
        runs = self._run({one: trial.places for one in settings})
        logs = np.array([np.log(run.emulated) for run in (trial, *runs) if run.status == "ok"])
        if len(logs) > 1:
            # A figure that is predicted may be missing with some seeds: of it the others count.
            has = np.isfinite(logs)
            seeds = np.maximum(has.sum(axis=0), 1)
            mean = np.where(has, logs, 0.0).sum(axis=0) / seeds
            self.chance = np.where(has & (seeds > 1), logs - mean, 0.0)
            self._luck = self.chance[0]
            sample = np.array([target.known.error**2 for target in self.targets])
            larger = np.maximum(
                (1 + 1 / seeds) * sample, self.difference_of_chance(self.chance, seeds)
            )
            self.sigma = np.sqrt(self.sigma**2 - 2 * sample + larger)

    @staticmethod
    def difference_of_chance(off: np.ndarray, seeds: np.ndarray | None = None) -> np.ndarray:
        """Of values `off` the mean of some seeds: variance of what was measured less that mean.
        `seeds` that have each figure; without them all.

        Repeated measurements do not make it less: fio's offsets are the same in each.
        """
        count = np.asarray(len(off) if seeds is None else seeds)
        return (off**2).sum(axis=0) / np.maximum(count - 1, 1) * (1 + 1 / count)

    def widen_by_roughness(self, best: Trial, slopes: np.ndarray) -> None:
        """Adds to every sigma what runs near the best differ from what `slopes` say.

        Queues, flushes and collection fall differently with every small change of a parameter;
        without this the measurements would seem to know more than they do.
        """
        counted = np.flatnonzero(self.counted)
        here, off = self.residuals(best), []
        for trial in self.trials:
            step = trial.places - best.places
            if trial.status == "ok" and trial is not best and np.abs(step).max() < NEAR:
                off.append(self.residuals(trial) - here - slopes @ step)
        if len(off) > len(self.parameters):
            rough = np.sqrt(np.mean(np.square(off), axis=0))
            self.sigma[counted] = self.sigma[counted] * np.hypot(1.0, np.minimum(rough, ROBUST))

    def _robust(self, sigmas: np.ndarray) -> np.ndarray:
        size = np.abs(sigmas)
        huber = np.sqrt(np.maximum(2 * ROBUST * size - ROBUST**2, 0))
        huber = np.where(size <= ROBUST, size, huber)
        cauchy = ROBUST * np.sqrt(np.log1p((size / ROBUST) ** 2))
        return np.sign(sigmas) * np.where(self._is_smooth, huber, cauchy)

    def _keep(self, settings: Settings, trial: Trial) -> None:
        self._seen[settings] = trial
        self.runs += 1
        if not any(path == "seed" for path, _ in settings):
            self.trials.append(trial)
        if self._watcher:
            self._watcher(self, trial)

    def _failed(self, places: np.ndarray, status: str, reason: str) -> Trial:
        nothing = np.full(len(self.targets), math.nan)
        return Trial(places, nothing, status, reason)

    def _trial(self, places: np.ndarray, figures: Mapping[str, Mapping]) -> Trial:
        emulated = np.array(
            [
                figures.get(target.job, {}).get(target.figure, (math.nan,))[0]
                for target in self.targets
            ]
        )
        if np.isnan(emulated[self.fitted]).any():
            number = int(np.flatnonzero(np.isnan(emulated) & self.fitted)[0])
            target = self.targets[number]
            jobs = ", ".join(figures) or "none"
            self.study.parts["measured"].fail(
                f"the emulated run has no {target.figure} of the measured job '{target.job}'; "
                f"its jobs: {jobs}"
            )
        if not any(trial.status == "ok" for trial in self.trials):
            values = {
                job: {name: value for name, (value, _) in found.items()}
                for job, found in figures.items()
            }
            check_units(self.study.measured, values)
        return Trial(places, emulated)

    def _resolved(self) -> dict[str, Any]:
        """The base's value of every path that a parameter stands for; refuses unknown paths."""
        resolver = self._runner.resolver(self.study.base)
        try:
            scenario = resolver.resolve(self.study.settings)
        except InputError as error:
            refuse_setting(self.study.settings, self.study.parts.get("set"), str(error))
            raise
        found = {}
        for parameter in self.parameters:
            for path in parameter.paths:
                value = _member(scenario, path)
                if value is None:
                    parameter.entry.fail(f"the base scenario has no parameter {path}")
                if parameter.relative and not can_be_scaled(value):
                    parameter.entry.fail(
                        f"times needs a number, and {path} of the base scenario is "
                        f"'{setting_text(value)}'; fit a parameter that is a number"
                    )
                found[path] = value
            for place in parameter.ends:
                settings = parameter.settings(place, found)
                try:
                    resolver.resolve(self.study.settings + settings)
                except InputError as error:
                    reason = str(error).removeprefix("--set ")
                    parameter.entry.fail(f"the range is not valid: {reason}")
        return found


def _member(scenario: Any, path: str) -> Any:
    node = scenario
    for word in path.split("."):
        if isinstance(node, list):
            node = node[int(word)] if word.isdigit() and int(word) < len(node) else None
        else:
            node = node.get(word) if isinstance(node, dict) else None
    return node
