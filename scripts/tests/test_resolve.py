"""Scenarios filled in: the files they name, and what a run is known by."""

import contextlib
import copy
import functools
from pathlib import Path
from types import SimpleNamespace

import pytest

from tlmssd.errors import RunFailed
from tlmssd.program import Program, find_program
from tlmssd.resolve import Resolver, drive_key, run_key, with_absolute_plugins

BLKTRACE_FILES = ("sda.blktrace.0", "sda.blktrace.1", "sda.blktrace.10")
SCENARIO = {"plugins": ["libacme.so"], "precondition": [{"fill": "100 %"}], "load": []}


@pytest.fixture
def acme(tmp_path) -> Path:
    """A plug-in beside the scenario."""
    file = tmp_path / "libacme.so"
    file.write_bytes(b"one build")
    return file


def test_plugins_are_found_beside_the_scenario_or_installed(acme, tmp_path):
    nowhere = Path("/nonexistent")
    beside = with_absolute_plugins(SCENARIO, tmp_path, nowhere)
    installed = with_absolute_plugins(SCENARIO, nowhere, tmp_path)
    assert beside["plugins"] == installed["plugins"] == [str(acme)]


def test_plugins_of_the_environment_go_with_the_scenario(acme, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TLMSSD_PLUGINS", "libacme.so:")
    nowhere = Path("/nonexistent")
    assert with_absolute_plugins({}, nowhere, nowhere)["plugins"] == [str(acme)]
    assert with_absolute_plugins(SCENARIO, nowhere, nowhere)["plugins"] == [str(acme)]
    monkeypatch.delenv("TLMSSD_PLUGINS")
    assert with_absolute_plugins({}, nowhere, nowhere) == {}


@pytest.mark.parametrize("key", [run_key, drive_key])
def test_another_build_of_a_plugin_is_another_run_and_drive(key, acme, tmp_path):
    scenario = with_absolute_plugins(SCENARIO, tmp_path, tmp_path)
    before = key(scenario, find_program())
    assert before == key(scenario, find_program())
    assert before != key({**scenario, "plugins": []}, find_program())
    acme.write_bytes(b"another build")
    assert before != key(scenario, find_program())


def test_the_files_of_all_processors_count(tmp_path):
    for name in (*BLKTRACE_FILES, "sdb.blktrace.0"):
        (tmp_path / name).write_bytes(b"one trace")
    scenario = {"load": [{"trace": str(tmp_path / "sda.blktrace.0")}]}
    keys = {run_key(scenario, find_program())}
    for name in BLKTRACE_FILES:
        (tmp_path / name).write_bytes(b"another trace")
        keys.add(run_key(scenario, find_program()))
    assert len(keys) == 4
    (tmp_path / "sdb.blktrace.0").write_bytes(b"another trace")
    (tmp_path / "sda.blktrace.0.txt").write_bytes(b"another trace")
    assert run_key(scenario, find_program()) in keys


@pytest.mark.parametrize("word", ["trace", "fio", "traces_folder"])
def test_what_a_file_holds_counts_and_not_its_name(word, tmp_path):
    def key(name, content):
        file = tmp_path / name
        file.write_text(content)
        return run_key({"load": [{}, {word: str(file)}]}, find_program())

    assert key("a", "one") == key("b", "one")
    assert key("a", "one") != key("a", "two")


DRIVE = {
    "title": "one", "seed": 1, "ssd": {"cpu": {"cores": 2}, "scm": {"capacity": "1 %"}, "flash": {
        "ways": 2, "part": {"planes": 2, "read_latency": "9 us"}}},
    "firmware": {"gc": {"policy": "greedy"}}, "precondition": [{"fill": "100 %"}],
    "load": [{"bs": "4 KiB"}], "run": {"quantum": "1 ms"},
}  # fmt: skip
CHANGES = {
    "title": "other", "seed": 2, "ssd.cpu.cores": 4, "ssd.scm.capacity": "2 %", "ssd.flash.ways": 4,
    "ssd.flash.part.planes": 4, "ssd.flash.part.read_latency": "5 us", "firmware.gc.policy": "fifo",
    "precondition": [{"fill": "50 %"}], "load": [{"bs": "8 KiB"}], "run.quantum": "2 ms",
}  # fmt: skip
LATER = {"title", "load", "run.quantum"}
"""What preconditioning has nothing to do with."""
TIMES = {"ssd.cpu.cores", "ssd.flash.part.read_latency"}
"""It knows no time either, but for steps `until: steady`."""


def changed(path):
    scenario = copy.deepcopy(DRIVE)
    *way, last = path.split(".")
    functools.reduce(dict.__getitem__, way, scenario)[last] = CHANGES[path]
    return scenario


@pytest.mark.parametrize("path", CHANGES)
def test_what_a_run_and_a_drive_are_known_by(path):
    program = find_program()
    assert run_key(changed(path), program) != run_key(DRIVE, program)
    same = drive_key(changed(path), program) == drive_key(DRIVE, program)
    assert same is (path in LATER | TIMES)
    if path != "precondition":
        steady = {"precondition": [{"until": "steady", "metric": "iops"}]}
        keys = {drive_key(scenario | steady, program) for scenario in (changed(path), DRIVE)}
        assert (len(keys) == 1) is (path in LATER)


def test_another_program_or_a_short_run_is_another_run():
    programs = [SimpleNamespace(digest=digest) for digest in ("one", "two")]
    for key in (run_key, drive_key):
        keys = {key(DRIVE, program, short) for program in programs for short in (False, True)}
        assert len(keys) == 4
    assert run_key(DRIVE, programs[0]) != drive_key(DRIVE, programs[0])
    assert drive_key({**DRIVE, "precondition": []}, programs[0]) is None


def test_a_trace_that_cannot_be_found_has_a_key_too():
    scenario = {"load": [{"trace": "/nonexistent/sda.blktrace.0"}]}
    assert run_key(scenario, find_program()) == run_key(scenario, find_program())


def test_a_program_that_has_ended_is_said_so_of(tmp_path):
    ended = tmp_path / "ended"
    ended.write_text("#!/bin/sh\n")
    ended.chmod(0o755)
    with (
        pytest.raises(RunFailed, match="ended while it filled in scenarios"),
        Resolver(Program(ended), tmp_path / "scenario.yaml") as resolver,
    ):
        with contextlib.suppress(RunFailed):
            resolver.resolve(())  # its output has ended: so has it
        resolver.resolve(())  # the pipe breaks, and does so once more when it is closed
