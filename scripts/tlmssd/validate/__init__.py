"""tlmssd validate: a report card of a calibrated drive against measurements held out."""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tlmssd.calibrate.measured import Measured, check_units, figures_of, join_measured
from tlmssd.engine import positive
from tlmssd.errors import InputError
from tlmssd.output import add_force, check_page, check_writable, refuse_inputs, write_page
from tlmssd.quantities import percent_text
from tlmssd.runs import RunRequest, run_many
from tlmssd.validate.card import Line, card_of, fitted_jobs
from tlmssd.validate.statements import Statement, statements_of
from tlmssd.validate.verdict import ENOUGH, verdict_of

OK = 0
SEEDS = 3
NOTHING_HELD_OUT = (
    "the drive was fitted to every job that was measured: measure others, or leave some out of the "
    "fit (hold_out)"
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What `tlmssd validate` understands."""
    parser.add_argument("drive", type=Path, help="the calibrated drive (scenario)")
    parser.add_argument(
        "measured", type=Path, nargs="+", help="fio's json of its jobs; several are repetitions"
    )
    parser.add_argument("--run", type=Path, metavar="FIO", help="job file (default: drive's loads)")
    parser.add_argument(
        "--fitted",
        metavar="JOB,...",
        help="jobs the drive was fitted to (default: as calibration.json beside the drive says)",
    )
    parser.add_argument("--seeds", type=positive, default=SEEDS, help=f"default: {SEEDS}")
    parser.add_argument("--jobs", type=positive, metavar="N", help="runs at a time")
    parser.add_argument("--store", type=Path, help="folder of known runs (default: TLMSSD_STORE)")
    parser.add_argument("-o", "--out", type=Path, help="write the card as one HTML page")
    add_force(parser)


def main(arguments: argparse.Namespace) -> int:
    """Prints the card, and writes the page that was asked for; 0."""
    from tlmssd.validate.terminal import text_of

    check_writable(arguments.out)
    read = [arguments.drive, *arguments.measured, *([arguments.run] if arguments.run else [])]
    refuse_inputs([arguments.out] if arguments.out else [], read)
    check_page(arguments.out, arguments.command, arguments.force)
    fitted = arguments.fitted.split(",") if arguments.fitted else None
    card = validate(
        arguments.drive,
        arguments.measured,
        run=arguments.run,
        fitted=fitted,
        seeds=arguments.seeds,
        jobs=arguments.jobs,
        store=arguments.store,
    )
    sys.stdout.write(text_of(card))
    if arguments.out:
        from tlmssd.validate.page import page_of

        write_page(arguments.out, page_of(card), arguments.command)
        print(f"\nPage in {arguments.out}")
    return OK


@dataclass(frozen=True)
class Card:
    """A report card: figures side by side, statements, and what the drive may be used for, may not,
    and of what more seeds have to say. Without a job that is held out there is no verdict."""

    drive: Path
    lines: tuple[Line, ...]
    statements: tuple[Statement, ...]
    good_for: tuple[str, ...]
    not_for: tuple[str, ...]
    undecided: tuple[str, ...]
    repeats: int

    @property
    def held_out(self) -> bool:
        """Whether there is a job that the drive was not fitted to."""
        return not all(line.fitted for line in self.lines)

    def verdict(self) -> list[tuple[str, tuple[str, ...]]]:
        """Headings, and the sentences under each."""
        if not self.held_out:
            return [("No verdict", (NOTHING_HELD_OUT,))]
        told = [
            ("It may be used for", self.good_for or ("nothing that was measured",)),
            ("It may not be used for", self.not_for or (self._nothing_fails(),)),
        ]
        return told + ([("Undecided: more seeds", self.undecided)] if self.undecided else [])

    def _nothing_fails(self) -> str:
        """Why a figure is marked `off` though no kind fails."""
        counting = sum(line.holds is False and not line.fitted for line in self.lines)
        fitted = sum(line.holds is False and line.fitted for line in self.lines)
        few = f"{percent_text(ENOUGH, signed=False)} of a kind are enough: {counting} off"
        none = f"fitted figures do not count: {fitted} off"
        reasons = [few] * (counting > 0) + [none] * (fitted > 0)
        return "nothing that counts fails" + (f" ({'; '.join(reasons)})" if reasons else "")

    def frame(self):
        """Tidy pandas: job, figure, measured, emulated, spreads, seeds, fitted, difference, holds.

        `holds` is None where more seeds have to say.
        """
        import pandas as pd

        rows = [(*vars(line).values(), line.difference, line.holds) for line in self.lines]
        names = [
            "job", "figure", "measured", "emulated", "measured_spread", "emulated_spread",
            "seeds", "fitted", "difference", "holds",
        ]  # fmt: skip
        return pd.DataFrame(rows, columns=names)


def validate(
    drive: str | Path,
    measured: Sequence[str | Path],
    *,
    run: str | Path | None = None,
    fitted: Sequence[str] | None = None,
    seeds: int = SEEDS,
    jobs: int | None = None,
    store: str | Path | None = None,
) -> Card:
    """Runs the measured jobs on `drive` with `seeds` seeds and compares.

    `run` is the job file, by default the drive's own loads; jobs named in `fitted` do not count in
    the verdict. Raises InputError for what cannot be read or has no job in common, and where
    commands fail, RunFailed when a run ends without results.
    """
    drive = Path(drive)
    if not drive.is_file():
        raise InputError(f"{drive}: there is no such file")
    known = join_measured([Path(path) for path in measured])
    names = fitted_jobs(drive, known) if fitted is None else _checked(fitted, known)
    settings = {"load": f'[{{"fio": "{Path(run).resolve()}"}}]'} if run else {}
    if run and not Path(run).is_file():
        raise InputError(f"{run}: there is no such file")
    requests = [RunRequest.of(drive, settings, seed) for seed in range(1, seeds + 1)]
    outcomes = run_many(requests, jobs=jobs, store=store)
    runs = [
        figures_of(outcome.sound_result.folder / "fio.json", known.jobs) for outcome in outcomes
    ]
    check_units(
        known, {job: {n: k.value for n, k in part.items()} for job, part in runs[0].items()}
    )
    lines = card_of(known, runs, names)
    if not lines:
        raise InputError(
            f"{drive}: emulates none of the measured jobs ({', '.join(known.jobs)}); "
            "name their job file by --run"
        )
    judged = [line for line in lines if not line.fitted]
    statements = statements_of(judged)
    verdict = (tuple(sentences) for sentences in verdict_of(judged, statements))
    return Card(drive, tuple(lines), tuple(statements), *verdict, known.repeats)


def _checked(fitted: Sequence[str], known: Measured) -> list[str]:
    for job in fitted:
        if job not in known.jobs:
            raise InputError(f"no job '{job}' was measured; there are: {', '.join(known.jobs)}")
    return list(fitted)


__all__ = ["Card", "add_arguments", "main", "validate"]
