"""Scenarios filled in: the files they name, and what a run is known by."""

from pathlib import Path

import pytest

from tlmssd.program import find_program
from tlmssd.resolve import drive_key, run_key, with_absolute_plugins

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
