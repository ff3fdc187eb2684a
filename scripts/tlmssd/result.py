"""Results of runs as objects: figures, histograms, ledgers, time series."""

import functools
import json
from collections.abc import Sequence
from pathlib import Path


class Result:
    """What one run left in its folder."""

    def __init__(self, folder: Path):
        self.folder = Path(folder)

    @functools.cached_property
    def report(self) -> dict:
        """All of report.json."""
        return json.loads((self.folder / "report.json").read_text(encoding="utf-8"))


class Results(Sequence):
    """Several results, for instance one for each seed."""

    def __init__(self, results: Sequence[Result]):
        self.results = list(results)

    def __getitem__(self, number):
        return self.results[number]

    def __len__(self):
        return len(self.results)
