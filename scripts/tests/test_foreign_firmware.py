"""Studies of a drive whose firmware is not the program's own: the template in C."""

import json
import subprocess
from pathlib import Path

import pytest

from tests.conftest import SCRIPTS, SMALL, explore
from tlmssd.cli import main
from tlmssd.program import find_program


@pytest.fixture
def drive(folder: Path) -> Path:
    """drive.yaml beside libmy_ftl.so."""
    new = [find_program().path, "new", "firmware", "my-ftl", "--language", "c"]
    subprocess.run([*new, "--folder", "project"], check=True, capture_output=True)
    subprocess.run(
        ["cc", "-std=c99", "-O1", "-shared", "-fPIC", "project/my_ftl_ftl.c", "-o", "libmy_ftl.so"]
        + [f"-I{SCRIPTS.parent / 'firmware' / 'foreign'}"],
        check=True,
    )
    own = "firmware:\n  buffer: {capacity: 1 MiB}\n"
    assert own in SMALL
    text = SMALL.replace(own, "plugins: [libmy_ftl.so]\nfirmware: {model: my-ftl}\n")
    text = text.replace("over_provisioning: 40 %", "over_provisioning: 60 %")
    (folder / "drive.yaml").write_text(text)
    return folder / "drive.yaml"


def test_a_study_and_a_what_if_run_with_it(drive: Path, folder: Path, capsys):
    (folder / "own.yaml").write_text(
        "base: drive.yaml\naxes: {firmware.gc_stop: [3 %, 6 %]}\nmetrics: {tail: read.p99}\n"
    )
    done = explore("own.yaml", "--out", "studied", "--no-page", "--jobs", 1)
    assert done.returncode == 0, done.stderr
    runs = json.loads((folder / "studied/summary.json").read_text())
    assert "failed" not in json.dumps(runs).lower() or runs.get("failed", 0) == 0
    rows = (folder / "studied/results.csv").read_text().splitlines()
    assert len(rows) == 3
    assert all(",ok," in row for row in rows[1:])
    assert (
        main(
            [
                "whatif",
                "drive.yaml",
                "--metric",
                "read.mean",
                "--seeds",
                "2",
                "--out",
                "tried",
                "--jobs",
                "1",
            ]
        )
        == 0
    )
    out = capsys.readouterr().out
    assert "write buffer" not in out
    assert "array read" in out
