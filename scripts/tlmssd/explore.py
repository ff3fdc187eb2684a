"""tlmssd explore STUDY: carries out a study and writes its table and its page."""

import argparse
import collections
import json
import math
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from tlmssd.engine import Pool, add_engine_arguments, engine
from tlmssd.errors import InputError
from tlmssd.interrupts import INTERRUPTED
from tlmssd.output import OwnFiles, check_folder, refuse_inputs, write_text
from tlmssd.quantities import quantity_text
from tlmssd.runs import Runner
from tlmssd.study.cautions import cautions
from tlmssd.study.check import Checked
from tlmssd.study.front import Best, front, repeats
from tlmssd.study.progress import Progress, duration
from tlmssd.study.resolved import resolved_study
from tlmssd.study.session import Row, Session, checked
from tlmssd.study.study import Study
from tlmssd.study.table import table, write_tables

MARK = ".tlmssd-study"
FILES = ("results.parquet", "results.csv", "resolved-study.yaml", "summary.json", "study.html")
"""That are written into the folder."""
BEST_SHOWN = 5
"""Points of the front in the summary for the terminal."""
OK, INCOMPLETE = 0, 4
"""Exit codes: every run has results; some have none, or commands failed."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What `tlmssd explore` understands."""
    parser.add_argument("study", type=Path, help="study file (YAML)")
    add_engine_arguments(parser)
    out = "folder for the results (default: out/STUDY)"
    parser.add_argument("-o", "--out", type=Path, help=out)
    parser.add_argument(
        "--no-snapshots", action="store_true", help="every run preconditions its own drive"
    )
    parser.add_argument("--no-page", action="store_true", help="write no study.html")
    parser.add_argument(
        "--check", action="store_true", help="say whether the study is good, and end"
    )


def main(arguments: argparse.Namespace) -> int:
    """Carries out the study; the exit code says whether every run has results that count."""
    study = Study.read(arguments.study)
    out = arguments.out or Path("out") / arguments.study.stem
    refuse_foreign(out)
    refuse_inputs((out / name for name in FILES), [arguments.study, study.base])
    if not arguments.check:
        check_folder(out)
        _own(out).check(_names(not arguments.no_page), None)
    with Runner(arguments.store, study.limits, not arguments.no_snapshots) as runner:
        known = checked(study, runner)
        if arguments.check:
            print(f"{arguments.study}: good")
            return OK
        progress = Progress(study)
        try:
            with engine(arguments) as pool:
                report = Exploration(study, known, runner, pool, progress).carry_out()
        except KeyboardInterrupt:
            progress.end()
            total = f"{progress.done} runs are done and kept"
            print(
                f"tlmssd: interrupted; {total}, the same command goes on from there",
                file=sys.stderr,
            )
            return INTERRUPTED
        report.write(out, not arguments.no_page)
    return report.code


def _own(out: Path) -> OwnFiles:
    return OwnFiles(out, MARK, "explore")


def _names(page: bool) -> tuple[str, ...]:
    return FILES if page else FILES[:-1]


def refuse_foreign(out: Path) -> None:
    """Raises InputError where results would get among files of the user's."""
    if out.exists() and not out.is_dir():
        raise InputError(f"{out}: is a file; name a folder by --out")
    if out.is_dir() and any(out.iterdir()) and not (out / MARK).exists():
        raise InputError(f"{out}: is not empty and holds no earlier study; name another by --out")


def refuse_unknown_objectives(study: Study, rows: Sequence[Row]) -> None:
    """Raises InputError where runs have results, but none a value of an objective."""
    entries = {metric.name: metric.entry or study.entry for metric in study.metrics}
    found = [row.values for row in rows if row.status == "ok"]
    for objective in study.objectives:
        if found and all(math.isnan(values[objective.metric]) for values in found):
            entries[objective.metric].fail(f"objective {objective.metric} has no value in any run")


class Exploration:
    """A study, from its points to its report."""

    def __init__(
        self, study: Study, known: Checked, runner: Runner, pool: Pool, progress: Progress
    ):
        self.study, self.known, self.runner, self.pool = study, known, runner, pool
        self.progress = progress

    def carry_out(self) -> "Report":
        """Runs everything; raises InputError when every run is refused."""
        begin = time.monotonic()
        if self.pool.dashboard:
            print(f"Dask's dashboard: {self.pool.dashboard}", file=sys.stderr)
        session = Session(self.study, self.runner, self.pool, self.progress)
        if self.study.search:
            from tlmssd.study.search import search  # Optuna is slow to import

            runs = self.study.search.points * max(len(self.study.seeds), 1)
            self.progress.expect(runs)
            rows = search(self.study, session.evaluate)
        else:
            rows = session.evaluate(list(self.study.points()))
        self.progress.end()
        if all(row.status == "refused" for row in rows):
            self.study.entry.fail(f"every point is refused; the first: {rows[0].reason}")
        refuse_unknown_objectives(self.study, rows)
        return Report(
            self.study, self.known, self.runner, rows, session.savings, time.monotonic() - begin
        )


class Report:
    """What is written and said at the end."""

    def __init__(
        self,
        study: Study,
        known: Checked,
        runner: Runner,
        rows: Sequence[Row],
        savings: str,
        seconds: float,
    ):
        self.study, self.known, self.runner, self.rows = study, known, runner, rows
        self.savings, self.seconds = savings, seconds
        self.cautions = cautions(study, rows)
        self.table = table(study, known, rows, self.cautions)
        self.front = front(study, rows)
        self.statuses = collections.Counter(row.status for row in rows)

    @property
    def code(self) -> int:
        """The exit code."""
        return OK if set(self.statuses) <= {"ok"} else INCOMPLETE

    def write(self, out: Path, page: bool) -> None:
        """Writes the results into `out` and says so."""
        with _own(out).writing(_names(page)):
            self._write(out, page)
        for line in self.lines(out):
            print(line)

    def _write(self, out: Path, page: bool) -> None:
        write_tables(self.table, out)
        write_text(out / "resolved-study.yaml", resolved_study(self.study))
        summary = {
            "title": self.study.title,
            "program": self.runner.program.version,
            "store": str(self.runner.store.folder),
            "runs": dict(sorted(self.statuses.items())),
            "seconds": round(self.seconds, 3),
            "savings": self.savings,
            "cautions": self.cautions,
            "front": [
                {"point": best.number, "design": self._design(best), **best.values}
                for best in self.front
            ],
        }
        write_text(out / "summary.json", json.dumps(summary, indent=1) + "\n")
        if page:
            from tlmssd.study_page import write_page

            write_page(out, self.runner.store)

    def lines(self, out: Path) -> Iterator[str]:
        """The summary for the terminal."""
        points = len({row.number for row in self.rows})
        yield f"{points} points, {len(self.rows)} runs in {duration(self.seconds)}"
        if again := repeats(self.rows):
            yield f"{again} points repeat the design of an earlier one"
        if self.savings:
            yield self.savings[0].upper() + self.savings[1:]
        reasons = collections.Counter(
            (row.status, row.reason) for row in self.rows if row.status != "ok"
        )
        for (status, reason), count in reasons.most_common(5):
            yield f"{count} {status}: {reason}"
        if len(reasons) > 5:
            yield f"and {len(reasons) - 5} other reasons, see the column reason"
        yield from self._best_lines()
        yield from (f"! {text}" for text in self.cautions)
        yield f"Results in {out}: study.html, results.parquet, results.csv, and more"

    def _best_lines(self) -> Iterator[str]:
        """The best point, or the first of the Pareto front."""
        if len(self.study.objectives) > 1 and self.front:
            yield f"Pareto front: {len(self.front)} points (column point, front in summary.json)"
        for best in self.front[:BEST_SHOWN]:
            values = ", ".join(
                f"{metric.name} {quantity_text(best.values[metric.name], unit)}"
                for metric in self.study.metrics
                if metric.name in best.values
                for unit in [self.known.unit_of(metric)]
            )
            design = ", ".join(f"{axis} {label}" for axis, label in self._design(best).items())
            yield f"Best: point {best.number}, {values}: {design}"

    def _design(self, best: Best) -> dict[str, str]:
        choices = zip(self.study.axes, best.point.choices, strict=True)
        return {axis.name: choice.label for axis, choice in choices}
