"""Scenarios filled in by the program, many of them quickly, and what they have in common."""

import contextlib
import copy
import functools
import hashlib
import json
import os
import re
import subprocess
import threading
from collections.abc import Iterable
from pathlib import Path

from tlmssd.errors import InputError, RunFailed
from tlmssd.program import Program, environment, file_digest

FILE_KEYS = ("trace", "fio", "traces_folder")
"""Words of a load that name files."""
BLKTRACE = re.compile(r"(.+)\.blktrace\.[0-9]+", re.DOTALL)
"""Name of one processor's file of a binary blktrace."""
INSTALLED_PLUGINS = "../lib/tlmssd/plugins"
"""Folder of installed plug-ins, from the program's."""


class Resolver:
    """Fills in one scenario under ever other settings, by one process of `tlmssd resolve`.

    May be used by several threads. To be closed, or used as a context.
    """

    def __init__(self, program: Program, scenario: str | Path):
        self.scenario = Path(scenario)
        self._installed = program.path.parent / INSTALLED_PLUGINS
        self._lock = threading.Lock()
        self._process = subprocess.Popen(
            [program.path, "resolve", self.scenario],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment(),
            process_group=0,  # no Ctrl-C of the terminal's: it ends with its input
        )

    def __enter__(self) -> "Resolver":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Ends the process."""
        with contextlib.suppress(BrokenPipeError):  # it has ended, and a request is left
            self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait()

    def resolve(self, settings: Iterable[tuple[str, str]]) -> dict:
        """The scenario with every default filled in, files by their absolute paths.

        Raises InputError with the program's lines for what is wrong in it.
        """
        request = json.dumps([f"{path}={value}" for path, value in settings])
        with self._lock:
            try:
                self._process.stdin.write(request + "\n")
                self._process.stdin.flush()
                line = self._process.stdout.readline()
            except (BrokenPipeError, ValueError):
                line = ""
        if not line:
            raise RunFailed("the program has ended while it filled in scenarios")
        answer = json.loads(line)
        if "errors" in answer:
            raise InputError("; ".join(error["text"] for error in answer["errors"]))
        found = with_absolute_files(answer["scenario"], self.scenario.parent)
        return with_absolute_plugins(found, self.scenario.parent, self._installed)


def with_absolute_plugins(scenario: dict, folder: Path, installed: Path) -> dict:
    """Plug-ins where the program finds them: beside the scenario, then where they are installed.

    Those of TLMSSD_PLUGINS are added, so that every worker loads them.
    """
    given = os.environ.get("TLMSSD_PLUGINS", "").split(":")
    places = [(Path(), name) for name in given if name]
    places += [(folder, name) for name in scenario.get("plugins") or []]
    found = {}
    for beside, name in places:
        files = (beside / name, installed / name)
        file = next((file for file in files if file.is_file()), files[0])
        found.setdefault(file.name, str(file.resolve()))
    return {**scenario, "plugins": list(found.values())} if found else scenario


def with_absolute_files(scenario: dict, folder: Path) -> dict:
    """Files where the program would find them: beside the scenario, then in TLMSSD_TRACES."""
    for load in scenario.get("load", []):
        for key in FILE_KEYS:
            if not load.get(key):
                continue
            places = [folder / load[key], Path(os.environ.get("TLMSSD_TRACES", folder)) / load[key]]
            found = next((place for place in places if place.exists()), places[0])
            load[key] = str(found.resolve())
    return scenario


def run_key(scenario: dict, program: Program, short: bool = False) -> str:
    """What a run is known by: the resolved scenario, the program's build, its files' content.

    Files are traces, job files and plug-ins."""
    return _key("short run" if short else "run", program, _by_content(scenario))


# Parameters that say how long something takes and nothing else: preconditioning knows no time, so
# drives that differ in these alone are the same drive when they have been prepared (but for steps
# `until: steady`).
TIMING = {
    "ssd.host": (
        "link queues queue_depth arbitration weights burst outstanding_limit max_payload "
        "max_read_request tlp_overhead dllp_overhead link_latency interrupt_latency coalesce_count "
        "coalesce_time"
    ),
    "ssd.cpu": "cores clock cycles assignment",
    "ssd.dram": "bandwidth latency",
    "ssd.bus": "width clock latency",
    "ssd.flash": "bus cache_operations suspend scheduling",
    "ssd.flash.part": (
        "name source read_latency program_latency erase_latency cycle_time column_cycles "
        "row_cycles t_wb t_adl t_ccs t_rr t_whr t_dbsy t_rcbsy t_cbsy suspend resume_overhead "
        "suspend_point program_pulse program_suspend_latency erase_suspend_latency max_suspends "
        "min_resume_time"
    ),
}
LATER = ("title", "load", "targets", "run", "report")
"""Sections that matter only after the drive has been prepared."""


def drive_key(scenario: dict, program: Program, short: bool = False) -> str | None:
    """What a preconditioned drive is known by; None when the scenario does not prepare one."""
    if not scenario.get("precondition"):
        return None
    drive = copy.deepcopy({key: part for key, part in scenario.items() if key not in LATER})
    timed = any(step.get("until") == "steady" for step in scenario["precondition"])
    for path, names in () if timed else TIMING.items():
        section = functools.reduce(lambda node, word: node.get(word, {}), path.split("."), drive)
        for name in names.split():
            section.pop(name, None)
    return _key("short drive" if short else "drive", program, _plugins_by_content(drive))


def _key(kind: str, program: Program, content: dict) -> str:
    text = json.dumps([kind, program.digest, content], separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def _by_content(scenario: dict) -> dict:
    """The scenario with the files' hashes in place of their names."""
    scenario = _plugins_by_content(scenario)
    loads = scenario.get("load", [])
    if not any(load.get(key) for load in loads for key in FILE_KEYS):
        return scenario
    scenario = copy.deepcopy(scenario)
    for load in scenario["load"]:
        for key in FILE_KEYS:
            if load.get(key):
                load[key] = _content_of_all(Path(load[key]))
    return scenario


def _plugins_by_content(scenario: dict) -> dict:
    plugins = scenario.get("plugins")
    if not plugins:
        return scenario
    return {**scenario, "plugins": [content_of(Path(name)) for name in plugins]}


def _content_of_all(path: Path) -> str | list[str]:
    """Content of a file, and of those that the program reads with it.

    "sda.blktrace.0" stands for those of the other processors, too.
    """
    device = BLKTRACE.fullmatch(path.name)
    if not device or not path.is_file():
        return content_of(path)
    beside = (file for file in path.parent.iterdir() if file.is_file())
    found = ((BLKTRACE.fullmatch(file.name), file) for file in beside)
    files = sorted(file for name, file in found if name and name[1] == device[1])
    return content_of(path) if files == [path] else [content_of(file) for file in files]


def content_of(path: Path) -> str:
    """SHA-256 of a file; for a folder, of the names, sizes and times of what it holds."""
    if path.is_dir():
        entries = sorted(
            (entry.name, entry.stat().st_size, entry.stat().st_mtime_ns)
            for entry in os.scandir(path)
        )
        return hashlib.sha256(repr(entries).encode()).hexdigest()
    if not path.exists():
        return "missing"
    return file_digest(path)
