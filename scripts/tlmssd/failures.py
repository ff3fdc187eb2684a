"""Runs with results in which commands failed, as of a drive that is worn out.

`tlmssd run` ends such a run with exit code 5 unless the scenario says `run: {errors: accept}`. Its
figures are those of a drive that refused work: they are not to be compared with others'.
"""

import json
import re
from collections.abc import Mapping
from pathlib import Path

ACCEPT = "run.errors: accept takes such runs as they are"
FAILED = re.compile(r"(?:(preconditioning|warm-up): )?\d+ commands failed, the first: .*: (.*)")
"""A warning of report.json."""


def failed_commands(report: Mapping) -> str:
    """When commands failed, and why the first did; empty where none has."""
    for warning in report.get("warnings", []):
        if match := FAILED.fullmatch(warning):
            when, why = match.groups()
            return f"commands failed{f' in {when}' if when else ''}: {why}"
    return ""


def refused_commands(folder: Path, scenario: Mapping) -> str:
    """The same of a folder of results; empty also where the scenario accepts it."""
    if scenario.get("run", {}).get("errors") == "accept":
        return ""
    text = (folder / "report.json").read_bytes()
    return failed_commands(json.loads(text)) if b" commands failed, " in text else ""
