"""The planted faults: read from catalogue/*.yaml, checked against the sources, put into a text."""

import dataclasses
import re
from pathlib import Path

import yaml

FOLDER = Path(__file__).parent / "catalogue"
DETECTORS = Path(__file__).parent / "detectors"
PYTHON = "python"
KEYS = {"name", "breaks", "file", "text", "becomes", "found_by", "run", "test"}


class CatalogueError(Exception):
    """A fault cannot be planted; the message names the fault and says why."""


@dataclasses.dataclass(frozen=True)
class Fault:
    """One change of one source file that makes the emulator wrong."""

    name: str
    breaks: str  # what is wrong then, for the list
    file: str  # path from the project's root
    text: str  # stands in the file exactly once
    becomes: str
    found_by: str  # the finder that is expected, see finders.py
    run: tuple = ()  # detectors, tried in this order
    test: str = ""  # "<area>: <case>" or "python: <file>: <function>", tried when no detector has found it

    @property
    def is_compiled(self):
        """Whether it is in the sources of the program or its tests."""
        return not self.file.startswith("scripts/")

    def plant(self, source):
        """`source` with the fault in it."""
        count = source.count(self.text)
        if count != 1:
            raise CatalogueError(f"{self.name}: its text stands {count} times in {self.file}, not once; "
                                 f"bring testbench/fuzz/faults/catalogue up to date")
        return source.replace(self.text, self.becomes)


def read(folder=FOLDER):
    """All faults, in order of file and place in it."""
    faults = []
    for path in sorted(folder.glob("*.yaml")):
        for entry in yaml.safe_load(path.read_text(encoding="utf-8")):
            faults.append(_fault(entry, path))
    names = [fault.name for fault in faults]
    doubled = sorted({name for name in names if names.count(name) > 1})
    if doubled:
        raise CatalogueError(f"two faults are called {doubled[0]}")
    return faults


def _fault(entry, path):
    unknown = set(entry) - KEYS
    if unknown:
        raise CatalogueError(f"{path.name}: unknown key {sorted(unknown)[0]} (known: {', '.join(sorted(KEYS))})")
    run = entry.get("run", [])
    fault = Fault(**{**entry, "run": tuple([run] if isinstance(run, str) else run)})
    if not fault.run and not fault.test:
        raise CatalogueError(f"{fault.name}: nothing is said to find it (run or test)")
    if fault.is_compiled and fault.test.startswith(f"{PYTHON}: "):
        raise CatalogueError(f"{fault.name}: tests of the package run a program without faults")
    if fault.text == fault.becomes:
        raise CatalogueError(f"{fault.name}: it changes nothing")
    return fault


def check(root, faults):
    """Raises CatalogueError unless every fault still applies to the sources under `root`, and what finds it is there."""
    for fault in faults:
        path = root / fault.file
        if not path.is_file():
            raise CatalogueError(f"{fault.name}: there is no file {fault.file}")
        fault.plant(path.read_text(encoding="utf-8"))
        for detector in fault.run:
            if not scenario_of(detector).is_file():
                raise CatalogueError(f"{fault.name}: there is no detector {scenario_of(detector).name}")
        if fault.test and not _is_test(root, fault.test):
            raise CatalogueError(f"{fault.name}: there is no test {fault.test}")


def scenario_of(detector):
    """The scenario of a detector such as "snapshot of collection" or "collection --check-protocol"."""
    return DETECTORS / f"{detector.rpartition(' of ')[2].split()[0]}.yaml"


def _is_test(root, name):
    area, _, case = name.partition(": ")
    if area == PYTHON:
        file, function = python_test(root, name)
        return file.is_file() and f"\ndef {function}(" in file.read_text(encoding="utf-8")
    return any(f'"{case}"' in _in_one_piece(path.read_text(encoding="utf-8"))
               for path in sorted((root / "testbench" / "tests" / area).glob("*.cpp")))


def python_test(root, name):
    """File and function of the test "python: <file>: <function>" of the package."""
    _, file, function = name.split(": ")
    return root / "scripts" / "tests" / f"{file}.py", function


def _in_one_piece(source):
    """Literals that are continued on the next line, joined."""
    return re.sub(r'"\s*\n\s*"', "", source)
