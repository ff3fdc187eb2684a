"""A scratch copy of the sources with a build folder that is kept, so that a fault costs one compilation and a link."""

import os
import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]


class BuildFailed(Exception):
    """The sources with a fault in them do not compile; the message holds the compiler's first error."""


def _sources():
    """Paths of everything that belongs to the project, from its root."""
    command = ["git", "-C", str(ROOT), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, capture_output=True, check=False)
    if listed.returncode == 0:
        return [name for name in listed.stdout.decode().split("\0") if name and (ROOT / name).is_file()]
    found = []  # unpacked from an archive
    for folder, folders, files in os.walk(ROOT):
        folders[:] = [name for name in folders if name not in ("build", "out", "__pycache__") and name[0] != "."]
        found += [str((Path(folder) / name).relative_to(ROOT)) for name in files]
    return found


class Tree:
    """The copy, at most one fault in it."""

    def __init__(self, folder, jobs):
        self.folder = Path(folder).resolve()
        self.build_folder = self.folder / "build" / "release"  # as deep as in a checkout, so that ccache knows the files
        self.jobs = jobs
        self.planted = None  # (path, what stood there before)

    def refresh(self):
        """Makes the copy equal to the sources."""
        wanted = set(_sources())
        for name in wanted:
            self._write(name, (ROOT / name).read_bytes())
            shutil.copymode(ROOT / name, self.folder / name)
        for folder, folders, files in os.walk(self.folder):
            if Path(folder) == self.folder:
                folders[:] = [name for name in folders if name != "build"]
            for name in files:
                path = Path(folder) / name
                if str(path.relative_to(self.folder)) not in wanted:
                    path.unlink()
        self.planted = None

    def plant(self, fault):
        """Takes the last fault out and puts `fault` in; None: only takes it out."""
        if self.planted is not None:
            self._write(*self.planted)
            self.planted = None
        if fault is not None:
            sound = (self.folder / fault.file).read_bytes()
            self._write(fault.file, fault.plant(sound.decode()).encode())
            self.planted = (fault.file, sound)

    def build(self, *targets):
        """Builds, and configures before the first time; raises BuildFailed."""
        if not (self.build_folder / "build.ninja").exists():
            self._run(["cmake", "-S", str(self.folder), "-B", str(self.build_folder), "-G", "Ninja",
                       "-DCMAKE_BUILD_TYPE=Release"])
        self._run(["cmake", "--build", str(self.build_folder), "-j", str(self.jobs), "--target", *targets])

    def _write(self, name, content):
        path = self.folder / name
        if path.is_file() and path.read_bytes() == content:
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)

    def _run(self, command):
        environment = {**os.environ, "CCACHE_BASEDIR": os.environ.get("CCACHE_BASEDIR", str(ROOT))}
        done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
        if done.returncode != 0:
            lines = (done.stdout + done.stderr).splitlines()
            errors = [line for line in lines if "error" in line.lower()] or lines[-3:]
            raise BuildFailed("\n".join(errors[:3]))
