"""tlmssd compare: results side by side, what differs beyond the spread over seeds, and why."""

import argparse
import sys

from tlmssd.compare.differences import compare_metrics
from tlmssd.compare.loads import unmatched_loads
from tlmssd.compare.scenarios import run_scenarios
from tlmssd.compare.sides import Side, files_read, parameter_differences, read_sides
from tlmssd.compare.why import Explanation, explain
from tlmssd.engine import add_engine_arguments, positive
from tlmssd.output import add_output_arguments, check_outputs, write_outputs


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's arguments."""
    parser.add_argument(
        "sides",
        nargs="+",
        metavar="[NAME=]RESULTS",
        help="what to compare, the first with each other: a folder of results; a folder of such "
        "folders, one per seed; several of them, joined by commas; fio's json of a real drive; or "
        "a scenario (.yaml), which is run",
    )
    seeds = "runs of each scenario, from its own seed on (default: %(default)s)"
    parser.add_argument("--seeds", type=positive, default=SEEDS, metavar="N", help=seeds)
    add_engine_arguments(parser)
    add_output_arguments(parser, "the comparison")
    parser.add_argument("--all", action="store_true", help="show every metric, not only the main")


SEEDS = 3


def main(arguments: argparse.Namespace) -> int:
    """Prints the comparison, and writes what was asked for; 0."""
    from tlmssd.compare.page import page_of
    from tlmssd.compare.terminal import text_of

    check_outputs(arguments, files_read(arguments.sides), COLUMNS)
    ran = run_scenarios(arguments.sides, arguments.seeds, arguments)
    comparison = Comparison(read_sides(arguments.sides, ran))
    sys.stdout.write(text_of(comparison, every=arguments.all))
    write_outputs(arguments, comparison.frame, lambda: page_of(comparison))
    return 0


COLUMNS = [
    "metric", "unit", "side", "mean", "deviation", "seeds", "difference", "beyond_spread",
]  # fmt: skip
"""Of the table of all metrics."""


class Comparison:
    """Sides, the first of which is the one that the others are compared with.

    `metrics` has a row for every figure, `reasons` an explanation for every other side, kind of
    command and figure, `parameters` what differs in the scenarios, `cautions` what makes runs of a
    side hard to believe, such as commands that failed or a load that is too short, `unmatched` the
    loads that not all sides have. Of several loads each is compared by itself.
    """

    def __init__(self, sides: list[Side]):
        self.sides = sides
        self.metrics = compare_metrics(sides)
        self.reasons: list[Explanation] = explain(sides)
        self.parameters = parameter_differences(sides)
        self.unmatched = unmatched_loads(sides)
        self.cautions = [f"{side.name}: {text}" for side in sides for text in side.cautions]

    def frame(self):
        """Tidy pandas: metric, unit, side, mean, deviation, seeds, difference, beyond_spread."""
        import pandas as pd

        rows = []
        for row in self.metrics:
            for number, (side, value) in enumerate(zip(self.sides, row.values, strict=True)):
                change = row.changes[number - 1] if number else None
                rows.append(
                    (row.name, row.unit, side.name, value.mean, value.deviation, value.count)
                    + ((change.difference, change.beyond) if change else (None, None))
                )
        return pd.DataFrame(rows, columns=COLUMNS)

    def _repr_html_(self) -> str:
        from tlmssd.compare.page import notebook_html

        return notebook_html(self)


def compare(*sides) -> Comparison:
    """Compares results: each a path as on the command line, a Result, or Results (seeds).

    Raises InputError for what cannot be read or compared.
    """
    return Comparison(read_sides(list(sides)))


__all__ = ["Comparison", "add_arguments", "compare", "main"]
