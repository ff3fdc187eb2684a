"""Which parameters the measurements determine: profile likelihood.

A parameter is held at values beside its best one and all others are fitted anew; as far as the loss
stays within chi squared's 95 % of its least, the value is as good as the best (Venzon &
Moolgavkar, Applied Statistics 37, 1988). Where it does so up to both ends of the range, the
measurements say nothing about the parameter. The bound is scaled by what the best fit leaves (a
model that does not fit knows less), and by how far figures err together.

The loss counts every figure as if it were evidence of its own. Its curvature then says too much,
and by how much depends on the parameter: along the way that residuals go with it, the variance
that they have is held against the one that the loss takes them to have (Kent, Biometrika 69, 1982;
Pace, Salvan & Sartori, Statistica Sinica 21, 2011).

The linear model says where to look first. From there runs go on to where the loss is seen to rise,
or to the end of the range, and between the two; what was run is not overruled by what the model
expects. The best of many runs is the best by luck, too, where the loss is rough: its least is what
runs beside the best have, too, but for what the linear model says of their distance.
"""

import math
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.stats import t as student_t

from tlmssd.calibrate.fitting import GOOD, bounded_step, descend, jacobian
from tlmssd.calibrate.measured import RATES
from tlmssd.calibrate.model import NEAR, SMOOTH, Model, Trial
from tlmssd.calibrate.parameters import Parameter

BOUND = 3.84
"""95 % of chi squared with one degree of freedom."""
SIGMAS = (1.0, 2.0, 3.2)
"""Where, by the linear model, the profile is looked at on either side."""
LEAST_SIGMA = 0.003
"""Nearer than this share of the range to the best nothing is looked at."""
EDGE = 0.01
"""What was run so near an end of the range stands for it."""
TIGHT = 0.02
"""Between points so near to each other a loss that rises steeply jumps."""
ROUGHLY = 0.7
"""Share of its distance from the best value to which a crossing of the bound is closed in on."""
FOLLOW = (0.5, 0.1)
"""Shares of the ranges that the others may go at once when they are fitted anew."""
WIDE = 0.8
"""An interval over such a share of the range says nothing."""


@dataclass(frozen=True)
class Profile:
    """What is known of one parameter: its best value, and the interval of those as good (95 %).

    `low`, `high` are values; None where the loss was not seen to rise on that side. `points`: value
    and rise of the loss over its least, in units of the bound. `fits`: whether the best run fits at
    all; where it does not, it may be in the wrong valley, and determines nothing.
    """

    parameter: Parameter
    place: float
    low: float | None
    high: float | None
    points: tuple[tuple[float, float], ...]
    width: float
    fits: bool = True

    @property
    def value(self) -> float:
        """The best value, in the parameter's unit."""
        return self.parameter.value(self.place)

    @property
    def determined(self) -> bool:
        """Whether the measurements bound it on both sides, in a fit that is good."""
        return self.fits and self._is_bounded

    @property
    def _is_bounded(self) -> bool:
        return self.low is not None and self.high is not None and self.width < WIDE

    def sentence(self) -> str:
        """In words."""
        one = self.parameter
        best = one.text(self.place)
        found = f"determined: {best}"
        if not self.fits:
            found = f"not determined, for the fit is poor; in this fit {best}"
        if one.choices:
            alike = [one.text(one.place(value)) for value, rise in self.points if rise < 1]
            if len(alike) == 1:
                other = "no other choice fits the measurements"
                return f"{found}; {other}" if self.fits else f"{found}, others are worse"
            return f"not determined: {', '.join(alike)} fit the measurements alike"
        alike = [value for value, rise in self.points if rise < 1]
        first = alike[0] if self.low is None else self.low
        last = alike[-1] if self.high is None else self.high
        low, high = one.text(one.place(first)), one.text(one.place(last))
        if self._is_bounded:
            return f"{found}, 95 % from {low} to {high}"
        below = self.low is None and one.place(first) > EDGE
        above = self.high is None and one.place(last) < 1 - EDGE
        if (self.low is None) != (self.high is None):
            side, bound, open_end, fits, unseen = (
                ("below", f"at least {low}", above, f"up to {high}", f"above {high}")
                if self.high is None
                else ("above", f"at most {high}", below, f"from {low} on", f"below {low}")
            )
            rest = (
                f"values {unseen} were not looked at (give it more runs)"
                if open_end
                else f"it fits {fits}, the end of the range"
            )
            return f"only bounded from {side}: {bound}; {rest}"
        if any(first < value < last and rise > 1 for value, rise in self.points):
            said = (
                f"not determined: values from {low} to {high} fit the measurements as well, others"
            )
            said += " between do not"
        else:
            said = f"not determined: every value from {low} to {high} fits the measurements as well"
        if below or above:
            ends = [f"below {low}"] * below + [f"above {high}"] * above
            said += f"; values {' and '.join(ends)} were not looked at (give it more runs)"
        return said


def scale(model: Model, best: Trial, way: np.ndarray) -> float:
    """Loss that one unit of chi squared is worth where residuals go the `way`: at least 1."""
    residuals = model.residuals(best)
    reduced = model.loss(best) / max(len(residuals) - len(model.parameters), 1)
    length = float(np.linalg.norm(way))
    if length == 0:
        return max(reduced, 1.0)
    return max(reduced, 1.0) * max(_variance(model, residuals, way / length), 1.0)


def _variance(model: Model, residuals: np.ndarray, way: np.ndarray) -> float:
    """Of residuals along a `way` of length 1; it is 1 where all of them are independent.

    What differs by the seed does so as the seeds that were run say, whatever figures and jobs it
    moves together. The rest is shared within jobs.
    """
    sigma = model.sigma[model.counted]
    seeds, by_chance = 0.0, np.zeros(len(sigma))
    if count := len(model.chance):
        chance = model.chance[:, model.counted] / sigma
        by_chance = model.difference_of_chance(chance)
        # Few seeds know their spread roughly: Student's t.
        student = float(student_t.ppf(0.975, count - 1)) ** 2 / BOUND
        seeds = float(model.difference_of_chance(chance @ way)) * student
    rest = way * np.sqrt(np.maximum(1 - by_chance, 0.0))
    return seeds + float(rest @ _shared(model, residuals) @ rest)


def _shared(model: Model, residuals: np.ndarray) -> np.ndarray:
    """Correlations of figures but for chance: those of a job err together.

    Its rates are its mean latency in other words, by its block size and by Little's law: they are
    one piece of evidence. What others share with them is taken from `residuals`.
    """
    targets = [one for one, counts in zip(model.targets, model.counted, strict=True) if counts]
    jobs = np.array([one.job for one in targets])
    kinds = [one.figure.split(".", 1)[-1] for one in targets]
    # A job that is slower has lower rates and longer latencies.
    slower = np.array([-1 if kind in RATES else 1 for kind in kinds])
    alike = np.array([kind in SMOOTH for kind in kinds])
    found = np.where(np.outer(alike, alike), 1.0, _correlation(residuals * slower, jobs))
    np.fill_diagonal(found, 1.0)
    return np.where(jobs[:, None] == jobs, found * np.outer(slower, slower), 0.0)


def _correlation(residuals: np.ndarray, jobs: np.ndarray) -> float:
    """Of figures within jobs (intraclass); residuals are positive where the job is slower."""
    groups = [residuals[jobs == job] for job in dict.fromkeys(jobs)]
    within = [group.var(ddof=1) for group in groups if len(group) > 1]
    total = float(residuals.var())
    if len(groups) < 3 or not within or total == 0:
        return 0.0
    return min(max(1 - float(np.mean(within)) / total, 0.0), 1.0)


def profiles(model: Model) -> list[Profile]:
    """The profile of every parameter, with the runs that are left.

    What is found on the way may be better than the best so far; then it begins again from there.
    """
    model.look_over_seeds(model.best)
    descend(model, model.best, model.left - model.left // 4, radius=0.02)
    model.widen_by_roughness(model.best, jacobian(model, model.best))
    looked = {n: [] for n, parameter in enumerate(model.parameters) if not parameter.choices}
    for _ in range(3):
        center = model.best
        slopes = jacobian(model, center)
        # A run for either end of each parameter is kept.
        left = max(model.left - 2 * len(looked), 0)
        each = max(left // 2 // max(len(looked), 1), 2)
        for number, trials in looked.items():
            before = model.runs
            trials += _look(model, center, slopes, number, min(each, left))
            left -= model.runs - before
        if model.loss(center) - model.loss(model.best) < 0.1 * BOUND:
            break
    _close_in(model, slopes, looked)
    fits = model.loss(model.best) <= GOOD * len(model.residuals(model.best))
    return [
        replace(
            _choice_profile(model, slopes, number)
            if parameter.choices
            else _profile(model, slopes, number, looked[number]),
            fits=fits,
        )
        for number, parameter in enumerate(model.parameters)
    ]


def _choice_profile(model: Model, slopes: np.ndarray, number: int) -> Profile:
    """The least loss of all runs with each choice: the search has gone down with every one."""
    parameter, place = model.parameters[number], float(model.best.places[number])
    least: dict[float, float] = {}
    rise_of, here = _rise(model, slopes), model.residuals(model.best)
    for trial in model.trials:
        if trial.status == "ok":
            value = parameter.value(trial.places[number])
            unit = BOUND * scale(model, model.best, model.residuals(trial) - here)
            least[value] = min(least.get(value, math.inf), rise_of(trial) / unit)
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


def _close_in(model: Model, slopes: np.ndarray, looked: Mapping[int, list[Trial]]) -> None:
    """Looks at ends of the range where the loss was not seen to rise yet, then fits the others anew
    where its rise is doubtful, then looks where it crosses the bound; as far as the runs that are
    left allow."""
    seen = set()

    def fresh(number: int, place: float, again: bool = False) -> bool:
        key = (number, round(place, 6), again)
        return key not in seen and not seen.add(key)

    while model.left > 0:
        ends, doubts, crossings = [], [], []
        for number, trials in looked.items():
            followed = _Follower(model, slopes, number, trials)
            for side in (*followed.sides(followed.rises), *followed.sides(followed.seen)):
                doubts += [(number, side.place_of(at)) for at in side.doubtful(followed.reach)]
                step = side.next_look()
                if step is not None:
                    (crossings if side.rose else ends).append((number, side.place_of(step)))
        if todo := [one for one in ends if fresh(*one)]:
            _look_at(model, slopes, looked, todo[: model.left])
        elif todo := next((one for one in doubts if fresh(*one, again=True)), None):
            _fit_anew(model, slopes, looked, *todo)
        elif todo := [one for one in crossings if fresh(*one)]:
            _look_at(model, slopes, looked, todo[: model.left])
        else:
            return


def _look_at(
    model: Model,
    slopes: np.ndarray,
    looked: Mapping[int, list[Trial]],
    places: Sequence[tuple[int, float]],
) -> None:
    """Looks at places of parameters, the others as where it was looked next to it."""
    points = []
    for number, place in places:
        near = _nearest(model, looked, number, place)
        points.append(_held(model, near, slopes, number, place - near.places[number]))
    for (number, _), trial in zip(places, model.run(points), strict=True):
        looked[number].append(trial)


def _fit_anew(
    model: Model,
    slopes: np.ndarray,
    looked: Mapping[int, list[Trial]],
    number: int,
    place: float,
) -> None:
    """Steps of all others at a place of one parameter, until it gets no better."""
    near = None
    while near is not (near := _nearest(model, looked, number, place)) and model.left > 1:
        here = model.residuals(near)
        steps = [bounded_step(slopes, here, near.places, radius, (number,)) for radius in FOLLOW]
        looked[number] += model.run([near.places + step for step in steps])


def _nearest(model: Model, looked: Mapping[int, list[Trial]], number: int, place: float) -> Trial:
    """Of the runs that have results, the best of those nearest to a place of a parameter."""
    known = [model.best, *(trial for trial in looked[number] if trial.status == "ok")]
    return min(
        known,
        key=lambda trial: (round(abs(trial.places[number] - place), 6), model.loss(trial)),
    )


def _sigma(model: Model, center: Trial, slopes: np.ndarray, number: int) -> float:
    """Standard deviation of a parameter's place by the linear model."""
    inverse = _inverse(slopes)
    unit = scale(model, center, slopes @ inverse[:, number])
    return max(math.sqrt(float(inverse[number, number]) * unit), LEAST_SIGMA)


def _unit(model: Model, slopes: np.ndarray, number: int) -> float:
    """Rise of the loss at which the 95 % of a parameter end."""
    return BOUND * scale(model, model.best, slopes @ _inverse(slopes)[:, number])


def _inverse(slopes: np.ndarray) -> np.ndarray:
    """Of the curvature; what nothing depends on may be anywhere."""
    return np.linalg.inv(slopes.T @ slopes + 1e-6 * np.eye(slopes.shape[1]))


def _held(model: Model, center: Trial, slopes: np.ndarray, number: int, step: float) -> np.ndarray:
    """Where the others go, by the linear model, when one parameter goes by `step`."""
    point = center.places.copy()
    point[number] += step
    shifted = model.residuals(center) + slopes[:, number] * step
    return point + bounded_step(slopes, shifted, point, 0.5, fixed=(number,))


def _rise(model: Model, slopes: np.ndarray) -> Callable[[Trial], float]:
    """Of a run, the rise of the loss over its least.

    The least is that of the best run and its luck: what half of the runs beside it have beyond what
    the linear model says.
    """
    best = model.best
    here, beside = model.residuals(best), []
    for trial in model.trials:
        step = trial.places - best.places
        if trial.status == "ok" and trial is not best and np.abs(step).max() < NEAR:
            expected = here + slopes @ step
            beside.append(model.loss(trial) - float(expected @ expected))
    luck = float(np.median(beside)) if len(beside) > len(model.parameters) else 0.0
    least = model.loss(best) + max(luck, 0.0)
    return lambda trial: max(model.loss(trial) - least, 0.0)


class _Follower:
    """What the runs say of one parameter: rises of the loss by its value, and both sides."""

    def __init__(self, model: Model, slopes: np.ndarray, number: int, looked: Sequence[Trial]):
        self.parameter, self._number, best = model.parameters[number], number, model.best
        self.value = self.parameter.value(best.places[number])
        self.reach = math.sqrt(BOUND) * _sigma(model, best, slopes, number)
        rise, unit = _rise(model, slopes), _unit(model, slopes, number)
        runs = [(trial, rise(trial) / unit) for trial in model.trials if trial.status == "ok"]
        at = {id(trial) for trial in looked}
        self.seen = self._rises(runs, at, 0.0)
        # A pit between two jumps is no deeper than what is around it.
        pit = min(side.jump(self.reach) for side in self.sides(self.seen))
        self.rises = self._rises(runs, at, pit) if pit > 0 else self.seen

    def _rises(
        self, runs: Sequence[tuple[Trial, float]], looked: Container[int], pit: float
    ) -> dict[float, float]:
        """By value, where it was looked and at the outermost values of all runs that fit: they are
        as good, whatever the search was after."""

        def place(run: tuple[Trial, float]) -> float:
            return float(run[0].places[self._number])

        good = [run for run in runs if run[1] - pit < 1]
        found = {self.value: 0.0}
        outermost = [min(good, key=place), max(good, key=place)]
        for run in [*(run for run in runs if id(run[0]) in looked), *outermost]:
            value = self.parameter.value(place(run))
            found[value] = min(found.get(value, math.inf), max(run[1] - pit, 0.0))
        return dict(sorted(found.items()))

    def sides(self, rises: Mapping[float, float]) -> "tuple[_Side, _Side]":
        """Below and above the best value."""
        below, above = (_Side.of(self.parameter, self.value, rises, sign) for sign in (-1, 1))
        return below, above


@dataclass(frozen=True)
class _Side:
    """A profile on the side of the best `place` that `sign` says: the furthest point that fits, the
    next one, which rose beyond the bound (None: none did), and nearer ones that rose, too.

    Points are distance in places, root of the rise; `beyond` is the least of those that rose.
    """

    place: float
    sign: int
    fits: tuple[float, float]
    rose: tuple[float, float] | None
    inner: tuple[float, ...]
    beyond: float

    @staticmethod
    def of(parameter: Parameter, best: float, rises: Mapping[float, float], sign: int) -> "_Side":
        """`rises` by value, beside the `best` value."""
        place = parameter.place(best)
        points = [
            ((parameter.place(value) - place) * sign, math.sqrt(rise))
            for value, rise in rises.items()
        ]
        fits = max(((at, root) for at, root in points if root < 1 and at > 0), default=(0.0, 0.0))
        rose = sorted((at, root) for at, root in points if at > 0 and root >= 1)
        beyond = [point for point in rose if point > fits]
        inner = tuple(at for at, _ in rose if at < fits[0])
        lowest = min((root for _, root in beyond), default=0.0)
        return _Side(place, sign, fits, beyond[0] if beyond else None, inner, lowest)

    def place_of(self, distance: float) -> float:
        """The place at a distance."""
        return min(max(self.place + self.sign * distance, 0.0), 1.0)

    def doubtful(self, reach: float) -> tuple[float, ...]:
        """Distances at which the loss rose although one further out fits, or the linear model
        expects nothing before `reach`."""
        return self.inner + ((self.rose[0],) if self.rose and self.rose[0] < reach else ())

    def jump(self, reach: float) -> float:
        """How far the loss stays up beyond a jump over the bound, more than the linear model, which
        crosses it at `reach`, says; in units of the bound, 0 where it rises by and by."""
        if self.rose is None or self.rose[0] > reach or self.rose[0] - self.fits[0] > TIGHT:
            return 0.0
        (at, root), (rose, _) = self.fits, self.rose
        if at and self.beyond <= root * rose / at:
            return 0.0
        return self.beyond**2 - (rose / reach) ** 2

    @property
    def crossing(self) -> float:
        """Distance at which the loss crosses the bound, as a parabola between the two points."""
        (fits, root), (rose, height) = self.fits, self.rose
        return fits + (1 - root) / (height - root) * (rose - fits)

    def end(self, reach: float) -> float | None:
        """Place at which the interval ends; None where the loss was not seen to rise.

        Not below the linear model's `reach`, because a rough loss has a lower place by chance and
        rises from it steeply, but short of what was run and rose.
        """
        if self.rose is None:
            return None
        end = max(self.crossing, min(reach, (self.crossing + self.rose[0]) / 2))
        return self.place_of(end)

    def next_look(self) -> float | None:
        """Distance at which to look next; None where enough is known."""
        at, root = self.fits
        end = self.place if self.sign < 0 else 1 - self.place
        if self.rose is None:
            if end - at < EDGE:
                return None
            # A loss that rises already goes on as a parabola: a little beyond where it crosses.
            step = 1.2 * at / root if root > 0.4 else end
            return step if step < 0.8 * end else end
        if self.rose[0] - at <= max(ROUGHLY * self.crossing, LEAST_SIGMA):
            return None
        # Far beyond the bound a loss is no parabola any more.
        return self.crossing if self.rose[1] < 2 else (at + self.rose[0]) / 2


def _profile(model: Model, slopes: np.ndarray, number: int, looked: Sequence[Trial]) -> Profile:
    """The interval in which the loss stays within the bound, as far as it was followed."""
    followed = _Follower(model, slopes, number, looked)
    parameter, rises = followed.parameter, followed.rises
    sides = followed.sides(rises)
    low, high = (side.end(followed.reach) for side in sides)
    width = (1.0 if high is None else high) - (0.0 if low is None else low)
    values = []
    for side, end in zip(sides, (low, high), strict=True):
        value = None if end is None else parameter.value(end)
        if parameter.whole and rises.get(value, 0.0) > 1:
            value -= side.sign  # it was rounded to the one that rose
        values.append(value)
    place = float(model.best.places[number])
    return Profile(parameter, place, *values, tuple(rises.items()), width)
