"""Files that commands write: looked at before anything is run, so that no work is lost."""

import argparse
import contextlib
import os
import secrets
from collections.abc import Callable, Iterator
from pathlib import Path

from tlmssd.errors import InputError, reason_of


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


@contextlib.contextmanager
def whole(path: Path) -> Iterator[Path]:
    """A hidden file to write to, which becomes `path` when it is done and is gone otherwise.

    Its name is its own, so that others may write the same file at once. Raises InputError where it
    cannot be written.
    """
    draft = path.with_name(f".{path.name}-{secrets.token_hex(6)}")
    try:
        yield draft
        draft.replace(path)
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {reason_of(error)}") from error
    finally:
        with contextlib.suppress(OSError):
            draft.unlink(missing_ok=True)


def check_folder(path: Path) -> None:
    """Raises InputError where a folder cannot be made, or nothing be put into it."""
    place = path.absolute()
    while not os.path.lexists(place):
        place = place.parent
    if not place.is_dir():
        raise InputError(f"{path}: {place} is no folder; name another by --out")
    if not os.access(place, os.W_OK | os.X_OK):
        raise InputError(f"{path}: {place} cannot be written to; name another by --out")


def check_writable(path: Path | None) -> None:
    """Raises InputError where a file cannot be written: a folder, or in one that is not there."""
    if path is None:
        return
    if path.is_dir():
        raise InputError(f"{path}: a folder; name a file")
    if not path.absolute().parent.is_dir():
        raise InputError(f"{path}: there is no folder {path.parent}")
