"""Scenarios filled in: the files they name, and what a run is known by."""

from pathlib import Path

import pytest

from tlmssd.program import find_program
from tlmssd.resolve import drive_key, run_key, with_absolute_plugins

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


def test_a_trace_that_cannot_be_found_has_a_key_too():
    scenario = {"load": [{"trace": "/nonexistent/sda.blktrace.0"}]}
    assert run_key(scenario, find_program()) == run_key(scenario, find_program())
