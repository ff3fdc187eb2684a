"""A probe's findings as text."""

import textwrap
from collections.abc import Sequence

from tlmssd.probe.findings import Finding
from tlmssd.probe.page import value_text
from tlmssd.text_table import columns


def text_of(findings: Sequence[Finding]) -> str:
    """A table of what was found, then the evidence of each."""
    rows = [["", "found", "confidence"]]
    rows += [[finding.what, value_text(finding), finding.confidence] for finding in findings]
    reasons = [
        textwrap.fill(f"{finding.key}: {finding.evidence}", 96, subsequent_indent="    ")
        for finding in findings
    ]
    return f"{columns(rows, left=3)}\n\n" + "\n".join(reasons) + "\n"
