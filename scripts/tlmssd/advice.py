"""What the program's adviser has to say against the results of a run."""

from collections.abc import Mapping


def advice_by_rule(report: Mapping) -> dict[str, str]:
    """The advice of a report.json in words, by the name of the adviser's rule."""
    found = report.get("advice", [])
    return {part["name"]: f"{part['text']} (look at {part['look_at']})" for part in found}
