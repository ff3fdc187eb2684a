"""What all cases of a campaign have in common."""

import hashlib
import tempfile
from dataclasses import dataclass
from pathlib import Path

from campaign.program import Program


@dataclass
class Setup:
    """`patience` stretches the limits of host time, for a machine that does other things as well."""
    program: Program
    seed: int
    work: str
    patience: float = 1.0

    def folder(self, kind, number):
        """A fresh folder for one case."""
        Path(self.work).mkdir(parents=True, exist_ok=True)
        return Path(tempfile.mkdtemp(prefix=f"{kind}-{number}-", dir=self.work))

    def digest(self):
        """Of the program, so that results of another one are not taken for its."""
        return hashlib.sha256(Path(self.program.path).read_bytes()).hexdigest()[:16]
