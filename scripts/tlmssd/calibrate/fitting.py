"""Finds the parameters: Optuna looks over the whole space, least squares goes down to the bottom.

The search is for the right valley; from there residuals are nearly linear in the logarithms of the
parameters, and Levenberg and Marquardt's steps (SIAM J. Appl. Math. 11, 1963) on finite
differences need a tenth of the runs that a sampler would. When the bottom is still far from the
measurements, the search goes on elsewhere.

The bottom of a valley may have teeth: percentiles of a burst jump wherever a buffer holds a whole
number of program units, and a descent stays in the tooth that it has met. The period is made of
pages, planes and dies, which are powers of two as a rule, or three times one, so jumps by
such amounts of bytes lead from tooth to tooth, whatever the period is (pattern search, Hooke and
Jeeves, J. ACM 8, 1961).
"""

from collections.abc import Sequence

import numpy as np
import optuna
from scipy.optimize import lsq_linear

from tlmssd import units
from tlmssd.calibrate.model import Model, Trial
from tlmssd.calibrate.parameters import Parameter

EXPLORE = 10
"""Runs per parameter before the first descent, and before each further one."""
DIFFERENCE = 0.04
"""Relative change of a value for a finite difference: above the emulator's own granularity."""
GOOD = 2.0
"""Squared sigma per figure up to which a fit needs no other start, and may determine something:
tolerances and repeats allow 1, and errors that figures of a job share let it come to twice that."""
PROFILE_SHARE = 0.4
"""Share of the runs that is kept for the profiles."""
MOST_STEPS = 12
STEPS_TO_CHOOSE = 3
"""Of a descent with another choice, before it is compared with the best."""
LEAST_JUMP = 4096
"""Bytes: what drives map, and the finest period there can be."""
LONGEST_JUMP = 0.16
"""Of the value."""
MOST_JUMPS = 8


class Explorer:
    """Optuna's part: told of every run, asked for batches."""

    def __init__(self, model: Model):
        self._model = model
        optuna.logging.set_verbosity(optuna.logging.ERROR)
        self._study = optuna.create_study(sampler=_sampler(model))
        self._names = [parameter.name for parameter in model.parameters]

    def explore(self, runs: int) -> None:
        """Spends `runs` runs, a batch at a time."""
        batch = self._model.study.search.batch
        while runs > 0:
            trials = [self._study.ask() for _ in range(min(batch, runs))]
            points = [[trial.suggest_float(name, 0, 1) for name in self._names] for trial in trials]
            for trial, done in zip(trials, self._model.run(points), strict=True):
                # Ratios matter, not differences: far off, the loss spans powers of ten.
                self._study.tell(trial, float(np.log1p(self._model.loss(done))))
            runs -= batch


def _sampler(model: Model) -> optuna.samplers.BaseSampler:
    plan = model.study.search
    if plan.sampler == "cmaes":
        return optuna.samplers.CmaEsSampler(seed=plan.seed, popsize=max(plan.batch, 5))
    if plan.sampler == "random":
        return optuna.samplers.RandomSampler(seed=plan.seed)
    return optuna.samplers.TPESampler(
        seed=plan.seed,
        multivariate=True,
        constant_liar=True,
        n_startup_trials=4 * len(model.parameters),
    )


def fit(model: Model) -> Trial:
    """The best run that the budget allows; raises RunFailed when no run has results."""
    reserve = int(PROFILE_SHARE * model.study.search.runs)
    explorer = Explorer(model)
    each = EXPLORE * len(model.parameters)
    tried: list[np.ndarray] = []
    model.run([[0.5] * len(model.parameters)])
    while model.left > reserve:
        before = model.left
        model.focus(smooth=True)
        explorer.explore(min(each, model.left - reserve))
        start = _next_start(model, tried)
        tried.append(start.places)
        end = choose(model, descend(model, start, reserve), reserve)
        model.focus(smooth=False)
        descend(model, end, reserve, radius=0.05)
        if model.loss(model.best) <= GOOD * len(model.residuals(model.best)):
            break
        if model.left == before:  # of a few choices all have been run
            break
    model.focus(smooth=False)
    leap(model, reserve)
    return model.best


def choose(model: Model, best: Trial, reserve: int) -> Trial:
    """The best after a few steps down from `best` with every other choice of a parameter."""
    for number, parameter in enumerate(model.parameters):
        for choice in parameter.choices:
            if choice == parameter.value(best.places[number]) or model.left <= reserve:
                continue
            point = best.places.copy()
            point[number] = parameter.place(choice)
            (start,) = model.run([point])
            end = descend(model, start, reserve, most=STEPS_TO_CHOOSE)
            if model.loss(end) < model.loss(best):
                best = descend(model, end, reserve)
    return best


def leap(model: Model, reserve: int) -> None:
    """Jumps from the best run to other teeth of its valley, as long as that makes it better."""
    for number, parameter in enumerate(model.parameters):
        if parameter.unit not in units.BYTES or parameter.choices:
            continue
        for _ in range(MOST_JUMPS):
            before = model.best
            for odd in (1, 3):  # threes only where powers of two lead nowhere better
                model.run(_jumps(before, number, parameter, odd)[: max(model.left - reserve, 0)])
                if model.best is not before:
                    break
            if model.best is before:
                break
            descend(model, model.best, reserve, radius=0.02)


def _jumps(best: Trial, number: int, parameter: Parameter, odd: int) -> list[np.ndarray]:
    """Places beside the best whose value differs by `odd` times a power of two of bytes."""
    value = parameter.value(best.places[number])
    points, jump = [], odd * LEAST_JUMP / units.BYTES[parameter.unit]
    while jump <= LONGEST_JUMP * value:
        for sign in (-1, 1):
            place = parameter.place(value + sign * jump)
            if 0 <= place <= 1:
                points.append(best.places.copy())
                points[-1][number] = place
        jump *= 2
    return points[::-1]  # the longest first


def _next_start(model: Model, tried: Sequence[np.ndarray]) -> Trial:
    """The best run that is not near where a descent has begun or ended before."""
    ended = [*tried, model.best.places] if tried else []
    for trial in sorted((one for one in model.trials if one.status == "ok"), key=model.loss):
        if all(np.abs(trial.places - other).max() > 0.1 for other in ended):
            return trial
    return model.best


def jacobian(model: Model, at: Trial) -> np.ndarray:
    """Derivatives of the residuals by the places, by one run for each parameter; 0 by choices."""
    points, steps = [], []
    for number, parameter in enumerate(model.parameters):
        if parameter.choices:
            points.append(at.places)
            steps.append(1.0)
            continue
        step = parameter.step(at.places[number], DIFFERENCE)
        if at.places[number] + step > 1:
            step = -step
        point = at.places.copy()
        point[number] += step
        points.append(point)
        steps.append(step)
    here = model.residuals(at)
    columns = [
        (model.residuals(trial) - here) / step if trial.status == "ok" else np.zeros_like(here)
        for trial, step in zip(model.run(points), steps, strict=True)
    ]
    return np.stack(columns, axis=1)


def descend(
    model: Model, start: Trial, reserve: int, radius: float = 0.3, most: int = MOST_STEPS
) -> Trial:
    """At most `most` steps down from `start`, until it gets no better or only `reserve` runs are
    left."""
    best = start
    for _ in range(most):
        if model.left - reserve < len(model.parameters) + 3 or best.status != "ok":
            return best
        slopes, here = jacobian(model, best), model.residuals(best)
        steps = [
            bounded_step(slopes, here, best.places, radius * share) for share in (1.0, 0.4, 0.1)
        ]
        before = best
        tried = model.run([best.places + step for step in steps])
        best = min([best, *tried], key=model.loss)
        if model.loss(before) - model.loss(best) < 0.01 * model.loss(before):
            radius /= 6
            if radius < 0.004:
                return best
        else:
            radius = min(max(2 * float(np.abs(best.places - before.places).max()), 0.02), 0.5)
    return best


def bounded_step(
    slopes: np.ndarray,
    residuals: np.ndarray,
    places: np.ndarray,
    radius: float,
    fixed: Sequence[int] = (),
) -> np.ndarray:
    """The step that brings linear residuals to their least, within `radius` and the ranges."""
    low = np.maximum(-places, -radius)
    high = np.minimum(1 - places, radius)
    low, high = np.minimum(low, -1e-9), np.maximum(high, 1e-9)
    for number in fixed:
        low[number], high[number] = -1e-12, 1e-12
    # A little damping keeps parameters that nothing depends on where they are.
    damping = 1e-3 * np.eye(slopes.shape[1])
    matrix = np.vstack([slopes, damping])
    target = np.concatenate([-residuals, np.zeros(slopes.shape[1])])
    return lsq_linear(matrix, target, bounds=(low, high)).x
