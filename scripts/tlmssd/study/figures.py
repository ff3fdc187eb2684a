"""Metrics of one run: what a worker reads from a folder of results."""

import functools
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tlmssd import metrics, units
from tlmssd.advice import advice_by_rule
from tlmssd.errors import InputError
from tlmssd.study.expressions import Expression

ADVICE, VIOLATIONS = ("advice",), ("violations",)
"""Where a Reader puts the adviser's words by rule, and by how much each constraint is missed: no
texts, as the names of metrics are."""


@dataclass(frozen=True)
class Reader:
    """Works out metrics and constraints from a run's results; goes to the workers with each job.

    Metrics are expressions of figures, constraints of metrics, too, which go before figures of the
    same name. `with_advice`: the adviser's words are among the values, as ADVICE.
    """

    metrics: tuple[tuple[str, Expression], ...]
    constraints: tuple[Expression, ...] = ()
    with_advice: bool = False

    @functools.cached_property
    def _asks_for_statistics(self) -> bool:
        expressions = (*(expression for _, expression in self.metrics), *self.constraints)
        names = (name for expression in expressions for name in expression.names)
        return any(map(metrics.is_statistic, names))

    def __call__(self, _folder: Path, text: bytes, scenario: dict) -> dict:
        """Values by name, in base units; NaN for what this run does not know.

        With constraints, VIOLATIONS are among them. Raises what Python does for damaged results.
        """
        report = json.loads(text)
        if not metrics.is_report(report):
            raise ValueError("not a report")
        if not self._asks_for_statistics:
            report.pop("statistics", None)  # most of it
        figures = metrics.figures(report)
        look_up = functools.partial(_look_up, figures, scenario)
        values = {name: expression.value(look_up) for name, expression in self.metrics}

        def look_up_all(name: str) -> float:
            return values[name] if name in values else look_up(name)

        found: dict = dict(values)
        if self.constraints:
            found[VIOLATIONS] = tuple(one.violation(look_up_all) for one in self.constraints)
        if self.with_advice:
            found[ADVICE] = advice_by_rule(report)
        return found


def _look_up(figures: dict, scenario: dict, name: str) -> float:
    if name.startswith("scenario."):
        return _parameter(scenario, name.split(".")[1:])
    figure = metrics.find(figures, name)
    return units.in_base(figure.value, figure.unit)[0] if figure else math.nan


def _parameter(scenario: dict, words: Sequence[str]) -> float:
    """A parameter's value; NaN where this run has no such section, or no number there."""
    node = scenario
    for word in words:
        if isinstance(node, dict):
            node = node.get(word)
        elif isinstance(node, list) and word.isdecimal() and int(word) < len(node):
            node = node[int(word)]
        else:
            return math.nan
    try:
        return units.parse(str(node))
    except InputError:
        return math.nan
