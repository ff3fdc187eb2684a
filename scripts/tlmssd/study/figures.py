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

ADVICE = ("advice",)
"""Where a Reader puts the adviser's words by rule: no text, as the names of expressions are."""


@dataclass(frozen=True)
class Reader:
    """Works out named expressions from a run's results; goes to the workers with each job.

    `with_advice`: the adviser's words are among the values, as ADVICE.
    """

    expressions: tuple[tuple[str, Expression], ...]
    with_advice: bool = False

    @functools.cached_property
    def _asks_for_statistics(self) -> bool:
        names = (name for _, expression in self.expressions for name in expression.names)
        return any(name.startswith("statistics.") for name in names)

    def __call__(self, _folder: Path, text: bytes, scenario: dict) -> dict:
        """Values by name, in base units; NaN for what this run does not know.

        Of a comparison, by how much it is missed. Raises what Python does for damaged results.
        """
        report = json.loads(text)
        if not metrics.is_report(report):
            raise ValueError("not a report")
        if not self._asks_for_statistics:
            report.pop("statistics", None)  # most of it
        figures = metrics.figures(report)
        values: dict[str, float | bool] = {}
        look_up = functools.partial(_look_up, values, figures, scenario)
        for name, expression in self.expressions:
            ask = expression.violation if expression.is_comparison else expression.value
            values[name] = ask(look_up)
        return {**values, ADVICE: advice_by_rule(report)} if self.with_advice else values


def _look_up(values: dict, figures: dict, scenario: dict, name: str) -> float:
    if name in values:
        return values[name]
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
