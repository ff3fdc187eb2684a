"""Files that commands write: looked at before anything is run, so that no work is lost."""

import argparse
import contextlib
import hashlib
import os
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from tlmssd.errors import InputError, reason_of

BETWEEN = "  "
"""A digest and a name."""
FORCE = ", or replace it by --force"


def add_output_arguments(parser: argparse.ArgumentParser, what: str) -> None:
    """--out and --csv of a command that finds something out: `what`, in the plural."""
    parser.add_argument("-o", "--out", type=Path, help=f"write {what} as one HTML page")
    parser.add_argument("--csv", type=Path, help=f"write {what} as a table")
    add_force(parser)


def add_force(parser: argparse.ArgumentParser) -> None:
    """--force of a command that writes files."""
    parser.add_argument(
        "--force", action="store_true", help="replace files that this command has not written"
    )


def check_outputs(
    arguments: argparse.Namespace, inputs: Iterable[Path], columns: Sequence[str]
) -> None:
    """Raises InputError where what --out and --csv name cannot be written, or is not to be: one of
    the `inputs`, or, without --force, another file than an earlier page or table of the command,
    whose tables have these `columns`."""
    page, table = arguments.out, arguments.csv
    if page is not None and table is not None and _are_one(page, table):
        raise InputError(f"{table}: is the file of --out, too; name another")
    for path in (page, table):
        check_writable(path)
        refuse_inputs([path] if path else [], inputs)
    check_page(page, arguments.command, arguments.force)
    if table is not None and not arguments.force and not _is_table(table, columns):
        raise InputError(not_written_by(table, arguments.command))


def check_page(path: Path | None, command: str, force: bool) -> None:
    """Raises InputError where a file is there that is no page of `command`, without --force."""
    if path is not None and not force and not _is_page(path, command):
        raise InputError(not_written_by(path, command))


def refuse_inputs(outputs: Iterable[Path], inputs: Iterable[Path]) -> None:
    """Raises InputError where a command would write over what it reads, whatever it is called."""
    read = list(inputs)
    for path in outputs:
        if any(_are_one(path, other) for other in read):
            raise InputError(f"{path}: is what the command reads; name another")


def not_written_by(path: Path, command: str, way_out: str = FORCE) -> str:
    """What is said of a file that is not the command's own."""
    return f"{path}: was not written by tlmssd {command}; name another{way_out}"


def _are_one(path: Path, other: Path) -> bool:
    try:
        return path.samefile(other) and not _is_device(path)
    except OSError:  # one of them is not there
        return path.resolve() == other.resolve()


def _is_device(path: Path) -> bool:
    return path.exists() and not path.is_file() and not path.is_dir()


def _has_content(path: Path) -> bool:
    return path.is_file() and path.stat().st_size > 0


def _generator(command: str) -> str:
    return f'<meta name="generator" content="tlmssd {command}">'


def _is_page(path: Path, command: str) -> bool:
    """Whether a page may be written there: nothing is there, or an earlier one."""
    if not _has_content(path):
        return True
    with path.open("rb") as file:
        return _generator(command).encode() in file.read(1000)


def _is_table(path: Path, columns: Sequence[str]) -> bool:
    """Whether a table may be written there: nothing is there, or an earlier one."""
    if not _has_content(path):
        return True
    import pandas as pd

    try:
        return list(pd.read_csv(path, nrows=0).columns) == list(columns)
    except Exception:  # of whatever kind: it is no table
        return False


class OwnFiles:
    """Files of a command in a folder, among which may be the user's own.

    The hidden file `mark` in it has a line for each that the command has written: the digest of
    what it wrote and the name, as sha256sum has them; the name alone while it is being written, and
    by earlier versions. An empty one, of these too, stands for every file.
    """

    def __init__(self, folder: Path, mark: str, command: str):
        self.folder, self.command = folder, command
        self._mark = folder / mark

    @property
    def marked(self) -> bool:
        """Whether the command has written into the folder before."""
        return self._mark.is_file()

    def check(self, names: Iterable[str], force: bool | None) -> None:
        """Raises InputError where a file of these names is there that is not its own, or has been
        changed since. `force`: replace it; None: the command has no such option."""
        if force:
            return
        way_out = "" if force is None else FORCE
        own = self._digests()
        for name in names:
            path = self.folder / name
            if not os.path.lexists(path) or (self.marked and not own):
                continue
            if name not in own:
                raise InputError(not_written_by(path, self.command, way_out))
            if own[name] and own[name] != _digest(path):
                raise InputError(
                    f"{path}: was changed after tlmssd {self.command} had written it; "
                    f"move it away{way_out}"
                )

    @contextlib.contextmanager
    def writing(self, names: Iterable[str]) -> Iterator[None]:
        """Makes the folder and takes down what is written within."""
        written = list(names)
        self.folder.mkdir(parents=True, exist_ok=True)
        self._put(dict.fromkeys(written, ""))
        try:
            yield
        finally:
            self._put({name: _digest(self.folder / name) for name in written})

    def _digests(self) -> dict[str, str]:
        if not self.marked:
            return {}
        lines = self._mark.read_text(encoding="utf-8").splitlines()
        pairs = (line.rpartition(BETWEEN) for line in lines)
        return {name: digest for digest, _, name in pairs}

    def _put(self, digests: Mapping[str, str]) -> None:
        both = sorted((self._digests() | digests).items())
        lines = (f"{digest}{BETWEEN}{name}" if digest else name for name, digest in both)
        write_text(self._mark, "".join(f"{line}\n" for line in lines))


def _digest(path: Path) -> str:
    """Of a file's content; '' where there is none."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return ""


def write_page(path: Path, page: str, command: str) -> None:
    """A page by which its command knows it again; raises InputError."""
    write_text(path, page.replace("<head>", f"<head>{_generator(command)}", 1))


def write_outputs(
    arguments: argparse.Namespace, frame: Callable[[], object], page: Callable[[], str]
) -> None:
    """Writes the table and the page where they were asked for, and says so."""
    if arguments.csv:
        table = frame()
        with whole(arguments.csv) as draft:
            table.to_csv(draft, index=False)
    if arguments.out:
        write_page(arguments.out, page(), arguments.command)
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
