"""What the program's adviser has to say against the results of a run."""

from collections.abc import Mapping

NOTHING_MEASURED, MEASURED_NOTHING = "nothing-measured", "nothing was measured"
"""The rule, and how its words begin."""


def advice_by_rule(report: Mapping) -> dict[str, str]:
    """The advice of a report.json in words, by the name of the adviser's rule; and, by
    NOTHING_MEASURED, the warning that nothing was measured."""
    nothing = (text for text in report.get("warnings", []) if text.startswith(MEASURED_NOTHING))
    first = next(nothing, None)
    told = {NOTHING_MEASURED: first} if first else {}
    found = report.get("advice", [])
    return told | {part["name"]: f"{part['text']} (look at {part['look_at']})" for part in found}
