"""tlmssd pts: the tests of SNIA's Solid State Storage Performance Test Specification on a drive.

Each test is one run of the program: the drive is prepared as the specification asks (written twice
over in sequence, then with the test's own load until it is steady), and every access pattern is a
load of its own, one after another, behind a head of it that is not measured. What the specification
gives minutes and hours takes shares of the drive's capacity and thousands of commands here, which
the page says.
"""

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from tlmssd.engine import add_engine_arguments, engine, positive
from tlmssd.errors import InputError, RunFailed
from tlmssd.output import OwnFiles, add_force, check_folder, refuse_inputs, whole, write_text
from tlmssd.pts.measure import Measured, measure, table_names
from tlmssd.pts.tests import TESTS, Run, Terms
from tlmssd.runs import Outcome, Runner, RunRequest

MARK = ".tlmssd-pts"
PAGE = "pts.html"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's arguments."""
    parser.add_argument("drive", type=Path, help="scenario of the drive; its load does not matter")
    parser.add_argument(
        "-o", "--out", type=Path, default=Path("out/pts"), help="folder (default: %(default)s)"
    )
    parser.add_argument(
        "--tests",
        default=",".join(TESTS),
        help="which of them, with commas between (default: all: %(default)s)",
    )
    parser.add_argument(
        "--commands",
        type=positive,
        default=4000,
        metavar="N",
        help="commands of each access pattern in a round (default: %(default)s)",
    )
    parser.add_argument(
        "--ramp",
        type=positive_seconds,
        default=10.0,
        metavar="S",
        help="simulated seconds that an access pattern runs before it is measured where the mix of "
        "reads and writes is another than before; a twentieth elsewhere (default: 10)",
    )
    parser.add_argument(
        "--idle",
        type=positive_ms,
        default=50.0,
        metavar="MS",
        help="shortest idle time of the host, simulated milliseconds (default: 50)",
    )
    parser.add_argument(
        "--depth", type=int, default=32, help="commands outstanding (default: %(default)s)"
    )
    add_force(parser)
    add_engine_arguments(parser)


def positive_seconds(text: str) -> float:
    """Seconds above nought."""
    value = float(text)
    if not 1e-6 <= value < 1e6:
        raise argparse.ArgumentTypeError("is no time in seconds, 0.000001 or more")
    return value


def positive_ms(text: str) -> float:
    """Milliseconds above nought."""
    value = float(text)
    if not 0 < value < 1e9:
        raise argparse.ArgumentTypeError("is no time in milliseconds above 0")
    return value


def main(arguments: argparse.Namespace) -> int:
    """Runs the tests, prints what came out and writes page and tables; 0."""
    from tlmssd.pts.page import page_of

    names = [name.strip() for name in arguments.tests.split(",") if name.strip()]
    unknown = [name for name in names if name not in TESTS]
    if unknown or not names:
        raise InputError(f"--tests: '{', '.join(unknown)}' is none of {', '.join(TESTS)}")
    if not 1 <= arguments.depth <= 1024:
        raise InputError("--depth: expected 1 to 1024")
    if arguments.out.exists() and not arguments.out.is_dir():
        raise InputError(f"{arguments.out}: is a file, expected a folder")
    check_folder(arguments.out)
    files = OwnFiles(arguments.out, MARK, "pts")
    if not arguments.force and not files.marked and _holds_files(arguments.out):
        raise InputError(
            f"{arguments.out}: is not empty and was not written by tlmssd pts; name another by "
            "--out, or add to it by --force"
        )
    outputs = [f"{table}.csv" for name in names for table in table_names(TESTS[name])] + [PAGE]
    files.check(outputs, arguments.force)
    refuse_inputs((arguments.out / name for name in outputs), [arguments.drive])
    results = run_tests(names, arguments, files)
    page = arguments.out / PAGE
    with files.writing(outputs):
        for result in results:
            for table in result.tables:
                with whole(arguments.out / f"{table}.csv") as draft:
                    result.csv_frame(table).to_csv(draft, index=False)
            print(result.text())
        write_text(page, page_of(arguments.drive, results))
    print(f"Tables and figures in {page}")
    return 0


def _holds_files(folder: Path) -> bool:
    return folder.is_dir() and any(folder.iterdir())


ROUNDS = (5, 10, 25)
"""Rounds that are tried; 25 is what the specification allows."""


def run_tests(names: list[str], arguments: argparse.Namespace, files: OwnFiles) -> list[Measured]:
    """All tests with as many rounds as each needs to get steady; their scenarios are `files`."""
    results: dict[str, Measured] = {}
    with Runner(arguments.store) as runner, engine(arguments) as pool:
        resolved = runner.resolver(arguments.drive).resolve((("load", '{"rw": "randread"}'),))
        given = (arguments.commands, arguments.depth, arguments.idle, arguments.ramp)
        terms = Terms.of(resolved, *given)
        first = [run for name in names for run in TESTS[name].runs(terms, 1)]
        scenarios = [scenario_name(rounds, run) for rounds in ROUNDS for run in first]
        files.check(scenarios, arguments.force)
        refuse_inputs((arguments.out / name for name in scenarios), [arguments.drive])
        left = list(names)
        for rounds in ROUNDS:
            runs = [(name, run) for name in left for run in TESTS[name].runs(terms, rounds)]
            with files.writing(scenario_name(rounds, run) for _, run in runs):
                paths = [arguments.out / scenario_name(rounds, run) for _, run in runs]
                pairs = zip(paths, runs, strict=True)
                requests = [
                    RunRequest(scenario_file(path, run, resolved)) for path, (_, run) in pairs
                ]
            try:
                results |= _measured(runs, runner.run(requests, pool), terms, rounds)
            except (InputError, RunFailed) as error:
                if not results:
                    raise
                print(f"no more rounds: {rounds} of them: {error}", file=sys.stderr)
                break
            left = [name for name in left if results[name].steady is False]
            if not left:
                break
            print(f"not steady after {rounds} rounds: {', '.join(left)}", file=sys.stderr)
    return [results[name] for name in names]


def _measured(
    runs: Sequence[tuple[str, Run]], outcomes: Sequence[Outcome], terms: Terms, rounds: int
) -> dict[str, Measured]:
    """The tests of `runs` by name; raises InputError or RunFailed where one of them has failed."""
    found: dict[str, list] = {}
    for (name, run), outcome in zip(runs, outcomes, strict=True):
        result = outcome.result
        if result.failures:
            raise InputError(f"{outcome.request.scenario}: {result.failures}")
        found.setdefault(name, []).append((run, result))
    return {name: measure(TESTS[name], terms, rounds, of_test) for name, of_test in found.items()}


def scenario_name(rounds: int, run: Run) -> str:
    """Of the run's scenario in the folder of results."""
    return f"scenarios/{rounds}-rounds/{run.label.replace(' ', '-')}.yaml"


def scenario_file(path: Path, run: Run, drive: Mapping[str, Any]) -> Path:
    """Writes the run as a scenario that can be run by itself; returns where."""
    scenario = {"title": run.settings["title"]}
    scenario |= {key: part for key, part in drive.items() if key not in run.settings}
    scenario |= run.settings
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(yaml.safe_dump(scenario, sort_keys=False), encoding="utf-8")
    return path


__all__ = ["add_arguments", "main"]
