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
        table = frame()
        with whole(arguments.csv) as draft:
            table.to_csv(draft, index=False)
    if arguments.out:
        write_text(arguments.out, page())
        print(f"\nPage in {arguments.out}")


def write_text(path: Path, text: str) -> None:
    """A file that is there whole or not at all; raises InputError."""
    with whole(path) as draft:
        draft.write_text(text, encoding="utf-8")


@contextlib.contextmanager
def whole(path: Path) -> Iterator[Path]:
    """A hidden file to write to, which becomes `path` when it is done and is gone otherwise.

    Its name is its own, so that others may write the same file at once, with the same ending. Links
    and devices (/dev/stdout) are written to themselves. Raises InputError where it cannot be
    written.
    """
    if _is_special(path):
        try:
            yield path
        except OSError as error:
            raise InputError(f"{path}: cannot be written: {reason_of(error)}") from error
        return
    draft = path.with_name(f".{secrets.token_hex(6)}-{path.name}")
    try:
        yield draft
        draft.replace(path)
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {reason_of(error)}") from error
    finally:
        with contextlib.suppress(OSError):
            draft.unlink(missing_ok=True)


def _is_special(path: Path) -> bool:
    return path.is_symlink() or (path.exists() and not path.is_file())


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
    """Raises InputError where a file cannot be written: a folder, or in one that is not there or
    takes none."""
    if path is None:
        return
    if path.is_dir():
        raise InputError(f"{path}: a folder; name a file")
    if not path.absolute().parent.is_dir():
        raise InputError(f"{path}: there is no folder {path.parent}")
    place = path if _is_special(path) else path.absolute().parent
    if not os.access(place, os.W_OK) and os.path.exists(place):
        raise InputError(f"{path}: {place} cannot be written to")
