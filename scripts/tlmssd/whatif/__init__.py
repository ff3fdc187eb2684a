"""tlmssd whatif: which part of a drive is the bottleneck, found by making each faster in turn."""

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tlmssd.drive import Drive
from tlmssd.engine import add_engine_arguments
from tlmssd.errors import InputError
from tlmssd.metrics import Metric, UnknownMetric, canonical, higher_is_better, look_up
from tlmssd.output import add_output_arguments, check_outputs, write_outputs
from tlmssd.program import find_program
from tlmssd.quantities import quantity_text
from tlmssd.result import Result
from tlmssd.scenario import setting_text, settings_of
from tlmssd.whatif.experiment import Bench, Finding, find
from tlmssd.whatif.interactions import Interaction, interactions
from tlmssd.whatif.ranking import Choice, ranked
from tlmssd.whatif.seeded_runs import Run, run_here, run_of

SHARES = (0.1, 0.5, 3.0)
"""Steps: so much faster each, the last four times as fast, by which resources are ranked."""
COLUMNS = [
    "rank", "resource", "before", "after", "ratio", "effect", "low", "high", "cost", "reason",
]  # fmt: skip
"""Of the table of findings."""
SEEDS = 5


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's arguments."""
    add = parser.add_argument
    add("scenario", type=Path, help="scenario file (YAML)")
    add("--metric", required=True, help="a figure of the report, as read.p99.9")
    goal = "which way is better; by default more of rates, less of latencies and of WA"
    add("--goal", choices=("min", "max"), help=goal)
    steps = "how much faster each resource is made (default: 10%%,50%%,300%%); the largest ranks"
    add("--steps", default="10%,50%,300%", metavar="SHARES", help=steps)
    seeds = "runs of each drive, from the scenario's seed on (default: %(default)s)"
    add("--seeds", type=int, default=SEEDS, metavar="N", help=seeds)
    override = "override a parameter, as in tlmssd run"
    add("--set", action="append", default=[], metavar="PATH=VALUE", help=override)
    add("--no-interactions", action="store_true", help="leave them out")
    add_engine_arguments(parser)
    add_output_arguments(parser, "the findings")


def main(arguments: argparse.Namespace) -> int:
    """Prints the ranked table, and writes what was asked for; 0."""
    from tlmssd.whatif.page import page_of
    from tlmssd.whatif.terminal import text_of

    check_outputs(arguments, [arguments.scenario], COLUMNS)
    steps, settings = _shares(arguments.steps), settings_of(arguments.set)
    with run_of(arguments) as run:
        found = whatif(
            arguments.scenario,
            arguments.metric,
            settings,
            goal=arguments.goal,
            steps=steps,
            seeds=arguments.seeds,
            factorial=not arguments.no_interactions,
            run=run,
        )
    sys.stdout.write(text_of(found))
    write_outputs(arguments, found.frame, lambda: page_of(found))
    return 0


@dataclass(frozen=True)
class WhatIf:
    """What was found: resources in the order of what they gain, and how they act together.

    `base` has the metric of the drive as it is for each seed, in `unit`; `choice` says why the
    first comes before another that gains as much (tlmssd.whatif.ranking); `cautions` are what makes
    the runs of the drive as it is hard to believe, such as a load that is too short.
    """

    title: str
    metric: str
    unit: str
    more_is_better: bool
    base: tuple[float, ...]
    findings: tuple[Finding, ...]
    interactions: tuple[Interaction, ...]
    choice: Choice | None = None
    cautions: tuple[str, ...] = ()

    @property
    def first(self) -> str:
        """Name of the resource that gains most: the bottleneck."""
        return self.findings[0].resource.name

    def frame(self):
        """Tidy pandas: rank, resource, before, after, ratio, effect, low, high, cost, reason."""
        import pandas as pd

        rows = []
        for rank, finding in enumerate(self.findings, 1):
            for trial in finding.trials:
                effect = trial.effect
                low, high = (effect.interval if effect else None) or (None, None)
                step = trial.step
                rows.append(
                    (rank, finding.resource.name, step.before, step.after, step.ratio)
                    + (effect.mean if effect else None, low, high, trial.cost, trial.reason)
                )
        return pd.DataFrame(rows, columns=COLUMNS)

    def _repr_html_(self) -> str:
        from tlmssd.whatif.page import notebook_html

        return notebook_html(self)


def whatif(
    scenario: str | Path,
    metric: str,
    settings: Mapping[str, Any] | None = None,
    *,
    goal: str | None = None,
    steps: Sequence[float] = SHARES,
    seeds: int = SEEDS,
    factorial: bool = True,
    jobs: int | None = None,
    store: str | Path | None = None,
    run: Run | None = None,
) -> WhatIf:
    """Makes every resource faster by each of `steps` (shares: 0.5 is 50 %) and ranks the effects.

    `metric` is a figure as in Result.value(); `goal` is 'min' or 'max', by default what is better
    for the metric. `run` carries the runs out (by default on this machine, `jobs` at a time).
    Raises InputError for an unknown metric, a scenario that is wrong or a drive whose commands
    fail, RunFailed when the drive as it is does not run.
    """
    if seeds < 1:
        raise InputError(f"--seeds {seeds}: at least 1")
    bench = Bench(
        Path(scenario),
        metric,
        {path: setting_text(value) for path, value in (settings or {}).items()},
        seeds,
        run or run_here(jobs, store),
    )
    _check_metric(scenario, metric, bench.settings)
    more_is_better = _goal(metric, goal)
    bench.fetch([{}])
    base = bench.base()
    findings, choice = ranked(bench, find(bench, steps), more_is_better)
    result = bench.known[()][0].result
    return WhatIf(
        result.title or Path(scenario).stem,
        canonical(metric),
        result.unit(metric),
        more_is_better,
        tuple(base),
        tuple(findings),
        tuple(interactions(bench, findings, more_is_better) if factorial else ()),
        choice,
        cautions(result, bench.drive, 1 + max(steps)),
    )


ROUNDS = 8
"""Times that writes fill the memory that takes them before they are those of a drive at work, a
larger one's too: with the default steps they fill the largest that is tried twice."""
ROUNDS_OF_LARGEST = 2
"""The same of the largest that is tried, with any steps."""
BUFFER_HOLDS_LOAD = "buffer-holds-load"
"""The adviser's rule that says of a run's writes that they are those of the memory."""


def cautions(result: Result, drive: Drive, times: float = 1.0) -> tuple[str, ...]:
    """Why not to believe the drive's run: the advice in it, and too few writes for the memory that
    takes them, write buffer and cache.

    Where the advice does not say already that the buffer holds the load, it is the larger ones that
    are tried which may be too large for it.
    """
    written = result.figures.get("write.bytes")
    cache = drive.cache_bytes
    memory = drive.write_buffer + cache
    pauses = any(
        path.endswith(".thinktime") and drive.number(path) > 0 for path in drive.parameters
    )
    told = tuple(result.advice)
    rounds = max(ROUNDS, ROUNDS_OF_LARGEST * times)
    if written is None or pauses or not 0 < written.value < rounds * memory:
        return told
    if BUFFER_HOLDS_LOAD in result.advice_by_rule:
        return told
    holds = "the write buffer and the cache hold" if cache else "the write buffer holds"
    larger, they = ("larger ones", "they") if cache else ("a larger one", "it")
    short = (
        f"The load writes {quantity_text(written.value, 'B')}, and {holds} "
        f"{quantity_text(memory, 'B')}: {larger} may hold most of that, and gain more than {they} "
        "would of a longer load. Make the load longer to see the drive at work."
    )
    return (short, *told)


def _goal(metric: str, goal: str | None) -> bool:
    if goal is not None:
        return goal == "max"
    known = higher_is_better(canonical(metric))
    if known is None:
        raise InputError(f"--metric {metric}: say which way is better: --goal min or --goal max")
    return known


def _check_metric(scenario: str | Path, metric: str, settings: Mapping[str, str]) -> None:
    """Refuses a figure that no run of the scenario has, before anything is run."""
    from tlmssd.study.check import figure_units

    arguments = [f"--set={path}={value}" for path, value in settings.items()]
    report = json.loads(find_program().ask("figures", str(scenario), *arguments))
    known = figure_units(report)
    try:
        look_up(dict.fromkeys(known, Metric(0.0, "")), metric)
    except UnknownMetric as error:
        raise UnknownMetric(f"--metric {metric}: {error}") from error


def _shares(text: str) -> list[float]:
    from tlmssd.units import in_base, split

    shares = []
    for part in text.split(","):
        found = split(part)
        share = in_base(*found)[0] if found and found[1] in ("%", "x", "") else 0
        if not 0 < share <= 10:
            raise InputError(
                f"--steps {part.strip() or text}: must be shares above 0 % and at most 1000 %, "
                "such as 10%,50%"
            )
        shares.append(share)
    return shares


__all__ = ["WhatIf", "add_arguments", "main", "whatif"]
