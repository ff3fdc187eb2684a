"""tlmssd meet: the mildest changes by which a scenario meets its targets, and what they cost."""

import argparse
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from tlmssd.engine import add_engine_arguments
from tlmssd.errors import InputError
from tlmssd.meet.levers import Lever, levers
from tlmssd.meet.search import Answer, search
from tlmssd.meet.targets import Reading, of_missed, readings
from tlmssd.meet.together import pairs
from tlmssd.output import add_output_arguments, check_outputs, write_outputs
from tlmssd.scenario import setting_text, settings_of
from tlmssd.whatif import cautions
from tlmssd.whatif.cost import extra_cost, price
from tlmssd.whatif.seeded_runs import Run, SeededRuns, run_here, run_of

SEEDS = 5
ORDERS = ("mildest", "cost")
COLUMNS = [
    "rank", "change", "before", "after", "enough", "target", "limit", "value", "bound", "unit",
    "worst_loss", "cost", "reason",
]  # fmt: skip
"""Of the table of answers."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's arguments."""
    add = parser.add_argument
    add("scenario", type=Path, help="scenario file (YAML) with a section targets")
    only = "only changes whose names fit one of these patterns, as 'rate of *,dies'"
    add("--only", default="*", metavar="NAMES", help=only)
    order = "of what is enough: mildest first, or by what it costs (default: %(default)s)"
    add("--order", choices=ORDERS, default=ORDERS[0], help=order)
    seeds = "runs of each change, from the scenario's seed on, and as many to judge what is found"
    add("--seeds", type=int, default=SEEDS, metavar="N", help=seeds + " (default: %(default)s)")
    override = "override a parameter, as in tlmssd run"
    add("--set", action="append", default=[], metavar="PATH=VALUE", help=override)
    add_engine_arguments(parser)
    add_output_arguments(parser, "the answers")


def main(arguments: argparse.Namespace) -> int:
    """Prints the table of changes, and writes what was asked for; 0."""
    from tlmssd.meet.page import page_of
    from tlmssd.meet.terminal import text_of

    check_outputs(arguments, [arguments.scenario], COLUMNS)
    with run_of(arguments) as run:
        found = meet(
            arguments.scenario,
            settings_of(arguments.set),
            only=arguments.only,
            seeds=arguments.seeds,
            order=arguments.order,
            run=run,
        )
    sys.stdout.write(text_of(found))
    write_outputs(arguments, found.frame, lambda: page_of(found))
    return 0


@dataclass(frozen=True)
class Meet:
    """What was found: changes that are enough, in the order that was asked for, and those that are
    not; pairs of changes only where none is enough by itself.

    `base` has every target as the scenario is; `costs` what each answer's step costs where the part
    gives prices; `cautions` are what makes the runs of the scenario as it is hard to believe, and
    those with a change that is enough.
    `together` are the names of the pairs that were tried, `not_together` of those that could not be
    because they set one parameter differently.
    """

    title: str
    seeds: int
    base: tuple[Reading, ...]
    answers: tuple[Answer, ...] = ()
    costs: tuple[float | None, ...] = ()
    cautions: tuple[str, ...] = ()
    together: tuple[str, ...] = ()
    not_together: tuple[str, ...] = ()

    @property
    def missed(self) -> list[Reading]:
        """The targets that the scenario as it is does not meet for certain."""
        return [reading for reading in self.base if not reading.is_surely_met]

    @property
    def enough(self) -> list[Answer]:
        """The changes that meet all targets."""
        return [answer for answer in self.answers if answer.is_enough]

    def frame(self):
        """Tidy pandas, a row for each change and target that was missed: rank, change, before,
        after, enough, target, limit, value, bound, unit, worst_loss, cost, reason."""
        import pandas as pd

        rows = []
        for rank, (answer, cost) in enumerate(zip(self.answers, self.costs, strict=True), 1):
            step = answer.step
            change = (rank, answer.lever.name, step and step.before, step and step.after)
            price = (answer.worst_loss, cost, answer.reason)
            for told in of_missed(answer.readings, self.missed):
                target = told.target
                value = (target.name, target.limit, told.mean, told.bound, target.unit)
                rows.append((*change, answer.is_enough, *value, *price))
        return pd.DataFrame(rows, columns=COLUMNS)

    def _repr_html_(self) -> str:
        import html

        from tlmssd.meet.terminal import text_of

        return f"<pre>{html.escape(text_of(self))}</pre>"


def meet(
    scenario: str | Path,
    settings: Mapping[str, Any] | None = None,
    *,
    only: str = "*",
    seeds: int = SEEDS,
    order: str = "mildest",
    jobs: int | None = None,
    store: str | Path | None = None,
    run: Run | None = None,
) -> Meet:
    """For each thing that can be changed, the mildest change by which all `targets` are met; where
    there is none, for pairs of those that help.

    `only` are patterns of names of changes, with commas between them. `order` is 'mildest' or
    'cost': of what is enough the cheapest first, behind it what needs hardware that has no price.
    `run` carries the runs out (by default on this machine, `jobs` at a time). Raises InputError for
    a scenario that is wrong or has no targets, or whose commands fail, RunFailed when it does not
    run as it is.
    """
    if seeds < 1:
        raise InputError(f"--seeds {seeds}: at least 1")
    if order not in ORDERS:
        raise InputError(f"--order {order}: must be one of {', '.join(ORDERS)}")
    given = {path: setting_text(value) for path, value in (settings or {}).items()}
    runs = SeededRuns(Path(scenario), given, seeds, run or run_here(jobs, store))
    if not any(path.startswith("targets.") for path in runs.drive.parameters):
        raise InputError(
            f"{scenario}: has no targets to meet; add, for instance, "
            "targets: [{metric: read.p99, at_most: 1 ms}]"
        )
    if order == "cost" and price(runs.drive) is None:
        raise InputError(
            f"--order cost: {scenario} has no prices; add, for instance, "
            "cost: {die: 2, dram_gib: 4} to ssd.flash.part"
        )
    runs.fetch([{}])
    results = runs.results({})
    base = readings(results)
    title, told = results[0].title or Path(scenario).stem, cautions(results[0], runs.drive)
    missed = [reading.target for reading in base if not reading.is_surely_met]
    if not missed:
        return Meet(title, seeds, tuple(base), cautions=told)
    chosen = _chosen(levers(runs.drive, results, [target.load for target in missed]), only)
    answers = search(runs, chosen, missed)
    both, not_together = [], ()
    if not any(answer.is_enough for answer in answers):
        unmet = [reading for reading in base if reading.target in missed]
        both, not_together = pairs(answers, unmet)
        answers += search(runs, both, missed)
    priced = [
        (one, extra_cost(runs.drive, one.step.settings) if one.step else None) for one in answers
    ]
    if order == "cost":
        priced.sort(key=_order_by_cost)
    else:
        priced.sort(key=lambda pair: _order(pair[0]))
    answers, costs = [one for one, _ in priced], [cost for _, cost in priced]
    return Meet(
        title,
        seeds,
        tuple(base),
        tuple(answers),
        tuple(costs),
        (*told, *_cautions_of(runs, answers, results[0].advice_by_rule)),
        tuple(lever.name for lever in both),
        not_together,
    )


def _cautions_of(
    runs: SeededRuns, answers: Sequence[Answer], known: Mapping[str, str]
) -> list[str]:
    """The advice in runs with what is enough, but for rules that are `known` from the scenario as
    it is: a line for each rule, with the changes that it is told of and the first one's words."""
    names: dict[str, list[str]] = {}
    words: dict[str, str] = {}
    for answer in answers:
        if not answer.is_enough:
            continue
        for rule, text in runs.results(answer.step.settings)[0].advice_by_rule.items():
            if rule not in known:
                names.setdefault(rule, []).append(f"{answer.lever.name} {answer.step.after}")
                words.setdefault(rule, text)
    return [f"With {', '.join(names[rule])}: {text}" for rule, text in words.items()]


LITTLE = 0.02
"""Share of its bandwidth that a load may lose without a word."""


def _order(answer: Answer) -> tuple:
    """What is enough first; of that what no load pays for, the mildest first."""
    loss = answer.worst_loss if answer.worst_loss > LITTLE else 0.0
    ratio = answer.step.ratio if answer.step else 0.0
    return (not answer.is_enough, answer.step is None, loss, ratio)


def _order_by_cost(priced: tuple[Answer, float | None]) -> tuple:
    """What is enough first; of that the cheapest, and behind it hardware that has no price; of
    equals as by _order()."""
    answer, cost = priced
    unknown = cost is None and answer.lever.needs_hardware
    enough, impossible, *rest = _order(answer)
    return (enough, impossible, unknown, cost or 0.0, *rest)


def _chosen(found: Sequence[Lever], only: str) -> list[Lever]:
    patterns = [pattern.strip() for pattern in only.split(",")]
    for pattern in patterns:
        if not any(fnmatchcase(lever.name, pattern) for lever in found):
            names = ", ".join(lever.name for lever in found)
            raise InputError(f"--only {pattern}: no change is called so; there are: {names}")
    return [lever for lever in found if any(fnmatchcase(lever.name, one) for one in patterns)]


__all__ = ["Meet", "add_arguments", "main", "meet"]
