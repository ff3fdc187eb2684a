"""The gallery has every example scenario; its pictures are small, and can be drawn."""

import os
import subprocess
import sys

import pytest

from tlmssd.program import SOURCE_TREE

SCRIPT = SOURCE_TREE / "scripts/site/gallery.py"
PICTURES = SOURCE_TREE / "docs/images/gallery"


def run(*arguments: object) -> subprocess.CompletedProcess:
    command = [sys.executable, SCRIPT, *arguments]
    environment = {**os.environ, "PYTHONPATH": str(SOURCE_TREE / "scripts")}
    return subprocess.run(command, capture_output=True, text=True, env=environment)


def test_every_example_is_there():
    done = run("--check")
    assert done.returncode == 0, done.stderr


def test_pictures_are_small():
    sizes = [file.stat().st_size for file in PICTURES.iterdir()]
    assert max(sizes) < 60_000
    assert sum(sizes) < 1_500_000


@pytest.mark.slow
def test_pictures_can_be_drawn(tmp_path, monkeypatch):
    monkeypatch.setenv("TLMSSD_STORE", str(tmp_path / "store"))
    done = run("--short", "--out", tmp_path / "pictures")
    assert done.returncode == 0, done.stderr
    assert {file.name for file in (tmp_path / "pictures").iterdir()} == {
        file.name for file in PICTURES.iterdir()
    }
