"""Files that commands write: looked at before anything is run, so that no work is lost."""

import argparse
from collections.abc import Callable
from pathlib import Path

from tlmssd.errors import InputError


def add_output_arguments(parser: argparse.ArgumentParser, what: str) -> None:
    """--out and --csv of a command that finds something out: `what`, in the plural."""
    parser.add_argument("-o", "--out", type=Path, help=f"write {what} as one HTML page")
    parser.add_argument("--csv", type=Path, help=f"write {what} as a table")


def check_outputs(arguments: argparse.Namespace) -> None:
    """Raises InputError where what --out and --csv name cannot be written."""
    for path in (arguments.out, arguments.csv):
        check_writable(path)


def write_outputs(
    arguments: argparse.Namespace, frame: Callable[[], object], page: Callable[[], str]
) -> None:
    """Writes the table and the page where they were asked for, and says so."""
    if arguments.csv:
        frame().to_csv(arguments.csv, index=False)
    if arguments.out:
        arguments.out.write_text(page(), encoding="utf-8")
        print(f"\nPage in {arguments.out}")


def check_writable(path: Path | None) -> None:
    """Raises InputError where a file cannot be written: a folder, or in one that is not there."""
    if path is None:
        return
    if path.is_dir():
        raise InputError(f"{path}: a folder; name a file")
    if not path.absolute().parent.is_dir():
        raise InputError(f"{path}: there is no folder {path.parent}")
