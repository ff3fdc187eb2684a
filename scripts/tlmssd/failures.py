"""Runs with results in which commands failed, as of a drive that is worn out.

`tlmssd run` ends such a run with exit code 5 unless the scenario says `run: {errors: accept}`. Its
figures are those of a drive that refused work: they are not to be compared with others'.
"""

import json
import re
from collections.abc import Mapping

ACCEPT = "run.errors: accept takes such runs as they are"
FAILED = re.compile(
    r"(?:(preconditioning|warm-up): )?\d+ commands failed, the first: .*? at \S+ s: (.*)"
)
"""A warning of report.json."""


def failed_commands(report: Mapping, errors: str | None) -> str:
    """When commands failed, and why the first did; empty where none has, or where `errors`, what
    its scenario says of run.errors, accepts it."""
    if errors == "accept":
        return ""
    for warning in report.get("warnings", []):
        if match := FAILED.fullmatch(warning):
            when, why = match.groups()
            return f"commands failed{f' in {when}' if when else ''}: {why}"
    return ""


def failed_commands_in(text: bytes, errors: str | None) -> str:
    """The same of report.json as it is written, which is long to take apart where none has."""
    return failed_commands(json.loads(text), errors) if b" commands failed, " in text else ""
