"""A calibration as text: parameters and what is known of them, residuals per job."""

import sys
import time
from typing import TYPE_CHECKING, TextIO

from tlmssd.calibrate.measured import RATES
from tlmssd.quantities import percent_text, quantity_text
from tlmssd.text_table import columns, shortened

if TYPE_CHECKING:
    from tlmssd.calibrate import Calibration
    from tlmssd.calibrate.model import Model, Trial


def figure_text(figure: str, value: float) -> str:
    """A figure of a job with its unit."""
    return quantity_text(value, RATES.get(figure.split(".", 1)[-1], "ns"))


def text_of(found: "Calibration") -> str:
    """What to know first, parameters, then jobs, then those that were predicted."""
    parts = [f"! {found.caution}"] if found.caution else []
    parts += [_parameters(found), _jobs(found, False)]
    if any(residual.held_out for residual in found.residuals):
        parts.append(_jobs(found, True))
    return "\n\n".join(parts) + "\n"


def _parameters(found: "Calibration") -> str:
    rows = [["parameter", "what the measurements say"]]
    rows += [[p.parameter.name, p.sentence()] for p in found.profiles]
    return f"{columns(rows, left=2)}\n{found.runs} runs; {found.fit_text}"


def _jobs(found: "Calibration", held_out: bool) -> str:
    kinds = list(dict.fromkeys(r.figure.split(".", 1)[1] for r in found.residuals))
    rows = [["held out and predicted" if held_out else "fitted jobs", "", *kinds]]
    jobs: dict[tuple[str, str], dict[str, str]] = {}
    for residual in found.residuals:
        if residual.held_out == held_out:
            direction, kind = residual.figure.split(".", 1)
            cells = jobs.setdefault((residual.job, direction), {})
            cells[kind] = percent_text(residual.difference)
    for (job, direction), cells in jobs.items():
        rows.append([shortened(job, 30), direction, *(cells.get(kind, "") for kind in kinds)])
    return columns(rows, left=2)


class Progress:
    """Says on a terminal how far the search is; silent elsewhere."""

    def __init__(self, stream: TextIO | None = None):
        self._stream = stream or sys.stderr
        self._begin = time.monotonic()
        self._shown = self._stream.isatty()

    def __call__(self, model: "Model", _trial: "Trial") -> None:
        """Another run is done."""
        if self._shown:
            best = min(model.loss(trial) for trial in model.trials)
            each = best / int(model.counted.sum())
            done = f"{model.runs} of at most {model.study.search.runs} runs"
            text = f"\r{done}, squared sigma per figure {each:.3g}, {self.seconds:.0f} s"
            self._stream.write(f"{text:<78}")
            self._stream.flush()

    @property
    def seconds(self) -> float:
        """Since it began."""
        return time.monotonic() - self._begin

    def end(self) -> None:
        """Clears the line."""
        if self._shown:
            self._stream.write("\r" + " " * 78 + "\r")
