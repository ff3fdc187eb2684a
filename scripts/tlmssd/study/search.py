"""Search by Optuna: asks for points a batch at a time, and is told what became of them.

The batch is the study's and not the machine's: a seed asks for the same points everywhere.
"""

import math
import statistics
import warnings
from collections.abc import Callable, Sequence

import optuna

from tlmssd.study.axes import Axis, Choice, tidy
from tlmssd.study.session import Row
from tlmssd.study.study import Point, Search, Study

Evaluate = Callable[[Sequence[Point]], list[Row]]


def search(study: Study, evaluate: Evaluate) -> list[Row]:
    """All rows of the search, in the order in which its points were chosen."""
    plan = study.search
    asked = new_search(study)
    rows: list[Row] = []
    for begin in range(0, plan.points, plan.batch):
        trials = [asked.ask() for _ in range(min(plan.batch, plan.points - begin))]
        points = [Point(tuple(suggest(trial, axis) for axis in study.axes)) for trial in trials]
        found = evaluate(points)
        rows += found
        each = len(found) // len(points)
        for place, trial in enumerate(trials):
            _tell_rows(study, asked, trial, found[place * each : (place + 1) * each])
    return rows


def new_search(study: Study) -> optuna.Study:
    """What Optuna is asked, for the objectives of `study` by the sampler of its search."""
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    return optuna.create_study(
        sampler=_sampler(study.search, bool(study.constraints)),
        directions=["maximize" if o.maximize else "minimize" for o in study.objectives],
    )


def _sampler(plan: Search, constrained: bool) -> optuna.samplers.BaseSampler:
    limits = _violations if constrained else None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of experimental features
        if plan.sampler == "nsga2":
            return optuna.samplers.NSGAIISampler(
                population_size=max(plan.batch, 2), seed=plan.seed, constraints_func=limits
            )
        if plan.sampler == "tpe":
            return optuna.samplers.TPESampler(
                seed=plan.seed, multivariate=True, constant_liar=True, constraints_func=limits
            )
        if plan.sampler == "cmaes":
            return optuna.samplers.CmaEsSampler(seed=plan.seed, popsize=max(plan.batch, 5))
        return optuna.samplers.RandomSampler(seed=plan.seed)


def _violations(trial: optuna.trial.FrozenTrial) -> Sequence[float]:
    return trial.user_attrs.get("violations", (1.0,))


def suggest(trial: optuna.Trial, axis: Axis) -> Choice:
    """An axis of numbers is asked for as numbers, so that the sampler knows which are near."""
    if axis.span:
        span = axis.span
        if span.whole:
            value = trial.suggest_int(
                axis.name, int(span.low), int(span.high), log=span.logarithmic
            )
        else:
            value = trial.suggest_float(axis.name, span.low, span.high, log=span.logarithmic)
        return axis.exactly(tidy(float(value), span.unit, 9))
    # Of two numbers none is nearer; cmaes knows numbers only, and would draw words by chance.
    knows_words = not isinstance(trial.study.sampler, optuna.samplers.CmaEsSampler)
    if axis.unit is not None and len(axis.choices) > (2 if knows_words else 1):
        ordered = sorted(axis.choices, key=axis.value)
        return ordered[trial.suggest_int(axis.name, 0, len(ordered) - 1)]
    labels = [choice.label for choice in axis.choices]
    return axis.choices[labels.index(trial.suggest_categorical(axis.name, labels))]


def tell(
    asked: optuna.Study,
    trial: optuna.Trial,
    values: Sequence[float],
    violations: Sequence[float],
) -> None:
    """What the objectives came to, and by how much constraints are missed.

    With an objective that is NaN it has failed. A NaN among violations, as others than this
    package's may tell, is a constraint that does not hold.
    """
    if any(math.isnan(value) for value in values):
        asked.tell(trial, state=optuna.trial.TrialState.FAIL)
        return
    trial.set_user_attr("violations", [math.inf if math.isnan(v) else v for v in violations])
    asked.tell(trial, values)


def best_of(asked: optuna.Study) -> list[optuna.trial.FrozenTrial]:
    """What no other beats of those that miss no constraint, whether the sampler knows them."""
    told = asked.get_trials(deepcopy=False, states=[optuna.trial.TrialState.COMPLETE])
    feasible = optuna.create_study(directions=asked.directions)
    feasible.add_trials(trial for trial in told if all(v <= 0 for v in _violations(trial)))
    return feasible.best_trials


def _tell_rows(study: Study, asked: optuna.Study, trial: optuna.Trial, rows: Sequence[Row]) -> None:
    """The mean over seeds; a point without all of its results has failed."""
    worst = [max(column) for column in zip(*(row.violations for row in rows), strict=False)]
    tell(asked, trial, [_mean(rows, objective.metric) for objective in study.objectives], worst)


def _mean(rows: Sequence[Row], metric: str) -> float:
    return statistics.fmean(row.values.get(metric, math.nan) for row in rows)
