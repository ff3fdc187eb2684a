"""testbench/bench/bench.py on bench programs that are scripts."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "testbench/bench/bench.py"
PROGRAM = """#!{python}
import json, sys
results = {results}
if sys.argv[1] in ("--list", "--budgets"):
    print("\\n".join(n for n in results if sys.argv[1] == "--list" or results[n]["work"]))
else:
    print(json.dumps(results[sys.argv[1]]))
"""
NONE = {
    "units": 10,
    "unit": "command",
    "measure": "ns",
    "budget": 0,
    "work": "",
    "baseline": "",
    "growth_budget": 0,
}


def bench(folder, results, *arguments):
    """Runs bench.py; `results` by program and case."""
    for program, cases in results.items():
        cases = {name: NONE | {"name": name} | case for name, case in cases.items()}
        path = folder / f"bench_{program}"
        path.write_text(PROGRAM.format(python=sys.executable, results=cases), encoding="utf-8")
        path.chmod(0o755)
    command = [sys.executable, str(SCRIPT), *arguments, "--rounds", "1", str(folder)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def drive(cost, small=600):
    return {
        "kernel_event": {"kernel_event": {"cost": 100}},
        "drive": {
            "read": {"cost": cost, "budget": 6, "work": "reads"},
            "small": {"cost": small},
            "large": {"cost": 900, "baseline": "small", "growth_budget": 1.5},
        },
    }


def test_costs_are_multiples_of_the_yardstick(tmp_path):
    run = bench(tmp_path, drive(500), "--check", "--json", str(tmp_path / "out.json"))
    assert run.returncode == 0, run.stderr
    cases = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))["cases"]
    rows = {row["name"]: row for row in cases}
    assert rows["read"]["cost"] == pytest.approx(5)
    assert "at most 6 E: yes" in run.stdout
    assert "1.50 x small, at most 1.5: yes" in run.stdout


@pytest.mark.parametrize(("cost", "code"), [(650, 0), (670, 1)])
def test_a_budget_may_be_exceeded_by_a_tenth(tmp_path, cost, code):
    run = bench(tmp_path, drive(cost), "--check")
    assert "at most 6 E: NO" in run.stdout
    assert run.returncode == code
    assert ("read" in run.stderr) == (code == 1)


def test_what_grows_too_much_fails(tmp_path):
    run = bench(tmp_path, drive(500, small=500), "--check")
    assert run.returncode == 1
    assert "1.80 x small, at most 1.5: NO" in run.stdout
    assert "large" in run.stderr


def test_the_table_of_budgets_has_its_cases_only(tmp_path):
    run = bench(tmp_path, drive(500), "--budgets")
    assert "| reads | read | command | 5.00 (5.00 to 5.00) | at most 6 E: yes |" in run.stdout
    assert "small" not in run.stdout


def test_an_unknown_case_is_named(tmp_path):
    run = bench(tmp_path, drive(500), "--only", "nothing")
    assert run.returncode == 1
    assert run.stderr == "scripts/bench: no case with 'nothing' in its name\n"
