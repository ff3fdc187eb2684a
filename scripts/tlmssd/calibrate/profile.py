"""Which parameters the measurements determine: profile likelihood.

A parameter is held at values beside its best one and all others are fitted anew; as far as the loss
stays within chi squared's 95 % of its least, the value is as good as the best (Venzon &
Moolgavkar, Applied Statistics 37, 1988). Where it does so up to both ends of the range, the
measurements say nothing about the parameter. The bound is scaled by what the best fit leaves (a
model that does not fit knows less), and by how far the figures of one job err together.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tlmssd.calibrate.fitting import bounded_step, descend, jacobian
from tlmssd.calibrate.model import Model, Trial
from tlmssd.calibrate.parameters import Parameter

BOUND = 3.84
"""95 % of chi squared with one degree of freedom."""
SIGMAS = (1.0, 2.0, 3.2)
"""Where, by the linear model, the profile is looked at on either side."""
LEAST_SIGMA = 0.003
"""Nearer than this share of the range to the best nothing is looked at."""
EDGE = 0.01
"""An interval that ends so near an end of the range is not bounded there."""
WIDE = 0.8
"""An interval over such a share of the range says nothing."""


@dataclass(frozen=True)
class Profile:
    """What is known of one parameter: its best value, and the interval of those as good (95 %).

    `low`, `high` are values; None where the loss does not rise up to that end of the range.
    `points`: value and rise of the loss over its least, in units of the bound.
    """

    parameter: Parameter
    place: float
    low: float | None
    high: float | None
    points: tuple[tuple[float, float], ...]
    width: float

    @property
    def value(self) -> float:
        """The best value, in the parameter's unit."""
        return self.parameter.value(self.place)

    @property
    def determined(self) -> bool:
        """Whether the measurements bound it on both sides."""
        return self.low is not None and self.high is not None and self.width < WIDE

    def sentence(self) -> str:
        """In words."""
        one = self.parameter
        best = one.text(self.place)
        if one.choices:
            alike = [one.text(one.place(value)) for value, rise in self.points if rise < 1]
            if len(alike) == 1:
                return f"determined: {best}; no other choice fits the measurements"
            return f"not determined: {', '.join(alike)} fit the measurements alike"
        if self.determined:
            low, high = (one.text(one.place(end)) for end in (self.low, self.high))
            return f"determined: {best}, 95 % from {low} to {high}"
        low, high = one.text(0), one.text(1)
        if self.low is not None and self.high is None:
            return (
                f"only bounded from below: at least {one.text(one.place(self.low))}, up to {high}"
            )
        if self.high is not None and self.low is None:
            return (
                f"only bounded from above: at most {one.text(one.place(self.high))}, from {low} on"
            )
        return f"not determined: every value from {low} to {high} fits the measurements as well"


def scale(model: Model, best: Trial) -> float:
    """Loss that one unit of chi squared is worth: at least 1."""
    residuals = model.residuals(best)
    reduced = model.loss(best) / max(len(residuals) - len(model.parameters), 1)
    jobs = [target.job for target in model.targets if not target.held_out]
    return max(reduced, 1.0) * _design_effect(residuals, jobs)


def _design_effect(residuals: np.ndarray, jobs: Sequence[str]) -> float:
    """How much less the figures say because those of a job err together: 1 + (k - 1) rho."""
    groups = [residuals[np.array(jobs) == job] for job in dict.fromkeys(jobs)]
    size = len(residuals) / len(groups)
    if len(groups) < 3 or size <= 1:
        return 1.0
    within = [group.var(ddof=1) for group in groups if len(group) > 1]
    total = float(residuals.var())
    if not within or total == 0:
        return 1.0
    rho = min(max(1 - float(np.mean(within)) / total, 0.0), 1.0)
    return 1 + (size - 1) * rho


def profiles(model: Model) -> list[Profile]:
    """The profile of every parameter, with the runs that are left.

    What is found on the way may be better than the best so far; then it begins again from there.
    """
    model.widen_by_seeds(model.best)
    descend(model, model.best, model.left - model.left // 4, radius=0.02)
    model.widen_by_roughness(model.best, jacobian(model, model.best))
    looked = {n: [] for n, parameter in enumerate(model.parameters) if not parameter.choices}
    for share in (0.5, 0.75, 1.0):
        center = model.best
        slopes = jacobian(model, center)
        budget = int(share * model.left)
        for number, trials in looked.items():
            left = max(budget // len(looked), 2 if model.left > 2 else 0)
            trials += _look(model, center, slopes, number, min(left, model.left))
        unit = BOUND * scale(model, model.best)
        if model.loss(center) - model.loss(model.best) < 0.1 * unit:
            break
    best = model.best
    found = []
    for number, parameter in enumerate(model.parameters):
        if parameter.choices:
            found.append(_choice_profile(model, best, unit, number))
            continue
        sigma = _sigma(model, best, slopes, number)
        found.append(_profile(model, best, unit, sigma, number, looked[number]))
    return found


def _choice_profile(model: Model, best: Trial, unit: float, number: int) -> Profile:
    """The least loss of all runs with each choice: the search has gone down with every one."""
    parameter, place = model.parameters[number], float(best.places[number])
    least: dict[float, float] = {}
    for trial in model.trials:
        if trial.status == "ok":
            value = parameter.value(trial.places[number])
            rise = max(model.loss(trial) - model.loss(best), 0.0) / unit
            least[value] = min(least.get(value, math.inf), rise)
    alike = [value for value, rise in least.items() if rise < 1]
    ends = (min(alike), max(alike)) if len(alike) == 1 else (None, None)
    width = 0.0 if len(alike) == 1 else 1.0
    return Profile(parameter, place, *ends, tuple(sorted(least.items())), width)


def _look(model: Model, center: Trial, slopes: np.ndarray, number: int, left: int) -> list[Trial]:
    """Runs with one parameter held beside its best value and the others following."""
    sigma = _sigma(model, center, slopes, number)
    places = []
    for sign in (-1, 1):
        end = -center.places[number] if sign < 0 else 1 - center.places[number]
        for share in SIGMAS:
            step = sign * min(share * sigma, abs(end))
            if abs(step) >= LEAST_SIGMA and step not in places:
                places.append(step)
    places.sort(key=abs)
    first = [_held(model, center, slopes, number, step) for step in places[:left]]
    trials = model.run(first)
    again = []
    for trial in trials[: max(0, left - len(first))]:
        if trial.status == "ok":
            here = model.residuals(trial)
            step = bounded_step(slopes, here, trial.places, 0.2, fixed=(number,))
            again.append(trial.places + step)
    return trials + (model.run(again) if again and model.left >= len(again) else [])


def _sigma(model: Model, center: Trial, slopes: np.ndarray, number: int) -> float:
    """Standard deviation of a parameter's place by the linear model."""
    information = slopes.T @ slopes / scale(model, center) + 1e-6 * np.eye(slopes.shape[1])
    variance = float(np.linalg.inv(information)[number, number])
    return max(math.sqrt(variance), LEAST_SIGMA)


def _held(model: Model, center: Trial, slopes: np.ndarray, number: int, step: float) -> np.ndarray:
    """Where the others go, by the linear model, when one parameter goes by `step`."""
    point = center.places.copy()
    point[number] += step
    shifted = model.residuals(center) + slopes[:, number] * step
    return point + bounded_step(slopes, shifted, point, 0.5, fixed=(number,))


def _profile(
    model: Model, best: Trial, unit: float, sigma: float, number: int, looked: list[Trial]
) -> Profile:
    """Where the profile crosses the bound; never narrower than the linear model's interval, because
    a rough loss has a lower place by chance, and rises from it steeply."""
    parameter = model.parameters[number]
    place = float(best.places[number])
    least: dict[float, float] = {}
    for trial in looked:
        if trial.status == "ok":
            key = round(float(trial.places[number]), 9)
            least[key] = min(
                least.get(key, math.inf), max(model.loss(trial) - model.loss(best), 0.0) / unit
            )
    ends = [_end(least, place, sign) for sign in (-1, 1)]
    reach = math.sqrt(BOUND) * sigma
    if ends[0] is not None:
        ends[0] = max(min(ends[0], place - reach), 0.0)
    if ends[1] is not None:
        ends[1] = min(max(ends[1], place + reach), 1.0)
    if ends[0] is not None and ends[0] < EDGE:
        ends[0] = None
    if ends[1] is not None and ends[1] > 1 - EDGE:
        ends[1] = None
    points = sorted({place: 0.0, **least}.items())
    values = [parameter.value(end) if end is not None else None for end in ends]
    width = (1.0 if ends[1] is None else ends[1]) - (0.0 if ends[0] is None else ends[0])
    pairs = tuple((parameter.value(at), rise) for at, rise in points)
    return Profile(parameter, place, values[0], values[1], pairs, width)


def _end(least: dict[float, float], place: float, sign: int) -> float | None:
    """Where the profile crosses the bound on one side, between the points looked at."""
    side = sorted((abs(at - place), rise) for at, rise in least.items() if (at - place) * sign > 0)
    before, root = 0.0, 0.0
    for distance, rise in side:
        if rise >= 1:
            share = (1 - root) / (math.sqrt(rise) - root)
            return min(max(place + sign * (before + share * (distance - before)), 0.0), 1.0)
        before, root = distance, math.sqrt(rise)
    if side and root > 0 and before < 0.3 and root > 0.4:
        return min(max(place + sign * before / root, 0.0), 1.0)  # as a parabola goes on
    return None
