"""scripts/compare_builds on two checkouts whose programs are scripts that write a report."""

import json
import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[1] / "compare_builds"
PROGRAM = """#!{python}
import json, pathlib, sys
scenario, out = pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[sys.argv.index("--out") + 1])
out.mkdir(parents=True)
report = {report}
report["warnings"] = [f"{{scenario}}:3: nothing"]
report["scenario"] = {{"any": "order"}}
(out / "report.json").write_text(json.dumps(report))
"""


def checkout(folder, report, build="build/release"):
    """A checkout with one scenario and a program that reports this."""
    (folder / "scenarios").mkdir(parents=True, exist_ok=True)
    (folder / "scenarios/one.yaml").write_text("seed: 1\n", encoding="utf-8")
    program = folder / build / "tlmssd"
    program.parent.mkdir(parents=True)
    program.write_text(PROGRAM.format(python=sys.executable, report=report), encoding="utf-8")
    program.chmod(0o755)
    return folder


def compare(*arguments):
    command = [sys.executable, SCRIPT, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_equal_reports_in_two_places_are_equal(tmp_path):
    report = {"iops": {"value": 5}}
    run = compare(checkout(tmp_path / "a", report), checkout(tmp_path / "b", report))
    assert (run.returncode, run.stdout) == (0, "1 scenarios compared, 0 differ\n")


def test_differences_are_shown_and_renamed_keys_are_none(tmp_path):
    old = checkout(tmp_path / "a", {"converter": {"value": 5}, "iops": {"value": 5}})
    new = checkout(tmp_path / "b", {"log_structured": {"value": 5}, "iops": {"value": 6}})
    run = compare(old, new, "--renamed", "converter=log_structured")
    assert run.returncode == 1
    assert run.stdout == "scenarios/one.yaml: iops.value: 5 | 6\n1 scenarios compared, 1 differ\n"


def test_two_builds_of_one_checkout_are_compared(tmp_path):
    checkout(tmp_path, {"iops": {"value": 5}})
    checkout(tmp_path, {"iops": {"value": 6}}, "build/other")
    run = compare(tmp_path, tmp_path, "--new-build", "build/other")
    assert run.stdout == "scenarios/one.yaml: iops.value: 5 | 6\n1 scenarios compared, 1 differ\n"


def test_a_checkout_without_a_build_is_named(tmp_path):
    run = compare(checkout(tmp_path / "a", json.loads("{}")), tmp_path)
    assert run.returncode == 1
    unbuilt = f"compare_builds: {tmp_path} has no build/release/tlmssd: build it"
    assert run.stderr.startswith(unbuilt)
