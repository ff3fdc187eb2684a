"""Carries out one run: looks in the store first, runs the program otherwise."""

import hashlib
import os
import subprocess
import tempfile
from pathlib import Path

from tlmssd.errors import InputError
from tlmssd.program import environment, find_program
from tlmssd.run import Outcome, RunRequest
from tlmssd.store import store_folder


class Executor:
    """Runs requests of one program with one store; may be used by several threads."""

    def __init__(self, store: str | Path | None = None):
        self.program = find_program()
        self.runs = store_folder(store) / "runs"
        self.runs.mkdir(parents=True, exist_ok=True)

    def run(self, request: RunRequest) -> Outcome:
        """Raises InputError for what is wrong in the scenario."""
        settings = [f"--set={path}={value}" for path, value in request.settings]
        resolved = self.program.ask("check", str(request.scenario), *settings)
        key = hashlib.sha256((self.program.digest + resolved).encode()).hexdigest()[:32]
        folder = self.runs / key
        if folder.exists():
            return Outcome(request, "ok", folder=folder)
        with tempfile.TemporaryDirectory(dir=self.runs) as scratch:
            command = [self.program.path, "run", request.scenario, *settings]
            command += ["--quiet", "--out", f"{scratch}/out"]
            done = subprocess.run(
                command, capture_output=True, text=True, check=False, env=environment()
            )
            if done.returncode == 2:
                raise InputError(done.stderr.strip().removeprefix("tlmssd: "))
            if done.returncode != 0:
                return Outcome(request, "failed", done.stderr.strip())
            if not folder.exists():
                os.rename(f"{scratch}/out", folder)
        return Outcome(request, "ok", folder=folder)
