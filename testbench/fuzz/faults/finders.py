"""What can find a planted fault: the program's own checks in a run of a detector, comparisons of runs, and named tests.

A detector is a scenario of the folder detectors/, by name, with what is to be done with it:

    collection                    one run; its report's accounts must balance
    collection --check-protocol   the same with the TLM-2.0 protocol checker in every socket
    repetition of collection      two runs must give the same report, byte for byte
    seeds of collection           a run with another seed must not
    snapshot of collection        a run from a saved snapshot must give the report of the run that saved it

A test is a case of the program's tests, or a function of the Python package's.
"""

import os
import re
import subprocess
from pathlib import Path

from faults import accounts, catalogue, tree

# Detectors whose drives lose data or come to their end, and what firmware must have counted there.
FAILING = {"errors": "uncorrectable_units", "wear": "erase_failures"}
LIMIT = 60  # seconds of a run, which takes less than one without a fault
TEST_LIMIT = 300
PYTEST_FAILED = 1  # exit code; others mean that no test was run

# What the program says, and which of its checks says so; the first that fits counts.
MESSAGES = (
    ("scoreboard", r"a read returned wrong data"),
    ("ledger", r"the ledger of a .* does not explain"),
    ("NAND rules", r"NAND rules violated"),
    ("protocol checker", r"base protocol violated|\[.*protocol\]"),
    ("spare area", r"but its spare area says|the spare area of valid physical unit"),
    ("channel", r"two phases at once"),
    ("block accounts", r"block pool: "),
    ("watchdog", r"stalled: |does not come to rest|did not end at once|firmware did not complete a command at once"),
    ("firmware", r"internal error"),
)
FAILED_COMMANDS = 5  # exit code


class Finding:
    """A check that found the fault."""

    def __init__(self, finder, detail):
        self.finder = finder
        self.detail = " ".join(detail.split())[:160]


class Lab:
    """Runs the detectors and tests of one build."""

    def __init__(self, build_folder, work_folder, sources=tree.ROOT):
        self.build_folder, self.sources = Path(build_folder), Path(sources)
        self.program = self.build_folder / "tlmssd"
        self.work_folder = Path(work_folder)
        self.work_folder.mkdir(parents=True, exist_ok=True)

    def detect(self, detector):
        """Finding of a detector, or None."""
        kind, _, name = detector.rpartition(" of ")
        name, *options = name.split()
        scenario = catalogue.scenario_of(detector)
        if kind:
            return {"repetition": self._repetition, "seeds": self._seeds, "snapshot": self._snapshot}[kind](scenario)
        found = self._run("run", scenario, *options)
        return found or self._accounts("run", name in FAILING)

    def expect_failures(self, detector):
        """Raises ValueError when the drive of a detector that has just run well was to fail in something and did not."""
        wanted = FAILING.get(detector)
        if wanted and not accounts.of_firmware(self._report("run"), wanted):
            raise ValueError(f"{detector}: firmware has counted no {wanted}, so that it finds nothing; make its drive worse")

    def test(self, name):
        """Finding of the test "<area>: <case>", whose program must have been built, or None."""
        area, _, case = name.partition(": ")
        if area == catalogue.PYTHON:
            return self._python_test(name)
        command = [str(self.build_folder / "testbench" / "tests" / f"test_{area}"), case.replace(",", "\\,")]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=TEST_LIMIT, check=False, errors="replace")
        except subprocess.TimeoutExpired:
            return Finding("test", f"{name}: no end after {TEST_LIMIT} s")
        if "No test cases matched" in done.stdout:
            raise ValueError(f"there is no test '{case}' in test_{area}")
        return Finding("test", name) if done.returncode != 0 else None

    def _python_test(self, name):
        file, function = catalogue.python_test(self.sources, name)
        command = [str(tree.ROOT / "build" / "explore" / "bin" / "python3"), "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider",
                   f"{file}::{function}"]
        # What is compiled of a file with a fault in it may look as new as what is compiled of the file without.
        environment = {"TLMSSD_PROGRAM": str(self.program), **os.environ, "PYTHONPATH": str(self.sources / "scripts"),
                       "PYTHONDONTWRITEBYTECODE": "1"}
        try:
            done = subprocess.run(command, cwd=self.sources / "scripts", env=environment, capture_output=True, text=True,
                                  timeout=TEST_LIMIT, check=False, errors="replace")
        except subprocess.TimeoutExpired:
            return Finding("test", f"{name}: no end after {TEST_LIMIT} s")
        if done.returncode not in (0, PYTEST_FAILED):
            raise ValueError(f"{name}: {' '.join((done.stdout + done.stderr).split())[-160:]}")
        return Finding("test", name) if done.returncode else None

    # ---- runs

    def _run(self, name, scenario, *options):
        out = self.work_folder / name
        command = [str(self.program), "run", str(scenario), "--quiet", "--out", str(out), *options]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, check=False, errors="replace")
        except subprocess.TimeoutExpired:
            return Finding("time limit", f"{scenario.stem}: no end after {LIMIT} s")
        if done.returncode == 0:
            return None
        said = done.stderr.strip() or done.stdout.strip()
        if done.returncode == FAILED_COMMANDS:
            return Finding("failed commands", f"{scenario.stem}: commands ended with an error")
        if done.returncode < 0:
            return Finding("crash", f"{scenario.stem}: signal {-done.returncode} {said}")
        for finder, pattern in MESSAGES:
            if re.search(pattern, said):
                return Finding(finder, f"{scenario.stem}: {said.removeprefix('tlmssd: ')}")
        return Finding(f"exit code {done.returncode}", f"{scenario.stem}: {said}")

    def _report(self, name):
        return (self.work_folder / name / "report.json").read_bytes()

    def _accounts(self, name, failures):
        wrong = accounts.check(self._report(name), failures)
        return Finding("accounts", wrong) if wrong else None

    def _repetition(self, scenario):
        for name in ("first", "second"):
            found = self._run(name, scenario)
            if found:
                return found
        if self._report("first") == self._report("second"):
            return None
        return Finding("repetition", f"{scenario.stem}: two runs, two reports")

    def _seeds(self, scenario):
        results = []
        for seed in (1, 2):
            found = self._run(str(seed), scenario, "--set", f"seed={seed}")
            if found:
                return found
            results.append(accounts.results(self._report(str(seed))))
        return Finding("seeds", f"{scenario.stem}: two seeds, the same results") if results[0] == results[1] else None

    def _snapshot(self, scenario):
        saved = self.work_folder / "drive.snapshot"
        saved.unlink(missing_ok=True)
        found = self._run("saves", scenario, "--save-snapshot", str(saved))
        found = found or self._run("restores", scenario, "--from-snapshot", str(saved))
        if found:
            return found
        if self._report("saves") == self._report("restores"):
            return None
        return Finding("snapshot", f"{scenario.stem}: another report from the snapshot")
