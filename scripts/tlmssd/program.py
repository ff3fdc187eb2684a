"""The emulator's program: where it is, which version it is, and what it knows about scenarios."""

import functools
import hashlib
import importlib.metadata
import json
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from tlmssd.errors import CannotGoOn, InputError

PACKAGE = Path(__file__).resolve().parent
SOURCE_TREE = PACKAGE.parents[1]
"""The checkout this package lies in, where it is not an installed one."""


@dataclass(frozen=True)
class Program:
    """One build of the program, told from others by its content."""

    path: Path

    @functools.cached_property
    def version(self) -> str:
        """As the program prints it, for instance '0.1.0'."""
        return self.ask("--version").split()[-1]

    @property
    def digest(self) -> str:
        """SHA-256 of the executable (hex), by which results of two builds are told apart."""
        try:
            return file_digest(self.path)
        except OSError as error:
            raise CannotGoOn(f"{self.path}: {error.strerror or error}") from error

    def schema(self) -> dict:
        """The JSON Schema of scenarios: type, default, range and meaning of every parameter."""
        return json.loads(self.ask("schema"))

    def ask(self, *arguments: str) -> str:
        """Standard output of a short command; raises InputError with the program's own line."""
        answer = subprocess.run(
            [self.path, *arguments], capture_output=True, text=True, check=False, env=environment()
        )
        if answer.returncode != 0:
            lines = answer.stderr.strip().splitlines()
            raise InputError("; ".join(line.removeprefix("tlmssd: ") for line in lines))
        return answer.stdout


def file_digest(path: Path) -> str:
    """SHA-256 of a file (hex), worked out once as long as size and time of change stay."""
    state = path.stat()
    return _digest(str(path), state.st_size, state.st_mtime_ns)


@functools.cache
def _digest(path: str, _size: int, _time: int) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def environment() -> dict[str, str]:
    """What the program is started with."""
    return {**os.environ, "SYSTEMC_DISABLE_COPYRIGHT_MESSAGE": "1"}


def wheels_program() -> Path | None:
    """The program that the wheel of this package has installed; None when it is no wheel's."""
    try:
        installed = importlib.metadata.distribution("tlmssd")
    except importlib.metadata.PackageNotFoundError:
        return None
    if Path(installed.locate_file("tlmssd")).resolve() != PACKAGE:
        return None  # another one is installed beside the source tree in use
    own = (file for file in installed.files or () if file.parts[-2:] == ("bin", "tlmssd"))
    return next((Path(file.locate()).resolve() for file in own), None)


def find_program() -> Program:
    """TLMSSD_PROGRAM, the wheel's own, the source tree's, or the one on PATH, in this order."""
    named = os.environ.get("TLMSSD_PROGRAM")
    if named:
        if not os.access(named, os.X_OK):
            raise InputError(f"TLMSSD_PROGRAM: there is no program {named}")
        return Program(Path(named).resolve())
    for candidate in (wheels_program(), SOURCE_TREE / "build/release/tlmssd"):
        if candidate and os.access(candidate, os.X_OK):
            return Program(candidate)
    on_path = shutil.which("tlmssd")
    if on_path:
        return Program(Path(on_path).resolve())
    raise InputError(
        "the program tlmssd is neither built nor installed; run scripts/quickstart, or name it in "
        "TLMSSD_PROGRAM"
    )
