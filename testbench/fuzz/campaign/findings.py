"""What a campaign finds, and how it is told from what was found already."""

import re
from dataclasses import dataclass, field


@dataclass
class Finding:
    """One broken rule, with the input that breaks it."""
    kind: str            # the campaign: scenarios, mutations, ...
    number: int          # which case of it
    rule: str            # in a few words; the same for all findings of one sort
    detail: str
    tree: dict | None = None       # the scenario, when it is a tree
    text: str | None = None        # or as text
    files: dict = field(default_factory=dict)

    @property
    def fingerprint(self):
        """The same for findings that probably have one cause: the rule and the detail without its figures."""
        plain = re.sub(r"0x[0-9a-f]+|[0-9]+(\.[0-9]+)?(e-?[0-9]+)?|/\S*/", "#", self.detail)
        return f"{self.rule}: {plain[:160]}"


@dataclass
class Result:
    """What one case of a campaign came to."""
    number: int
    outcome: str                   # a word for the table: ran, refused, ...
    seconds: float = 0
    runs: int = 0                  # of the program
    findings: list[Finding] = field(default_factory=list)
