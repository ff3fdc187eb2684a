"""Files that commands write: looked at before anything is run, so that no work is lost."""

from pathlib import Path

from tlmssd.errors import InputError


def check_writable(path: Path | None) -> None:
    """Raises InputError where a file cannot be written: a folder, or in one that is not there."""
    if path is None:
        return
    if path.is_dir():
        raise InputError(f"{path}: a folder; name a file")
    if not path.absolute().parent.is_dir():
        raise InputError(f"{path}: there is no folder {path.parent}")
