"""What a terminal shows while a study runs: how far, how long still, the best, what failed."""

import collections
import math
import sys
import time

from tlmssd.study.session import Row, mean_of_seeds
from tlmssd.study.study import Objective, Study

STEP_SECONDS = {True: 0.2, False: 30.0}
"""Between two lines, on a terminal and elsewhere."""
WINDOW_SECONDS = 60.0
"""The time that is yet needed follows from the rate of this long."""


class Progress:
    """Writes to stderr: one line that changes on a terminal, one every half minute elsewhere."""

    def __init__(self, study: Study, stream=sys.stderr):
        self.failures: collections.Counter[str] = collections.Counter()
        self.done = 0
        self._study = study
        self._expected = 0
        self._best: float | None = None
        self._runs: dict[int, list[Row]] = {}
        self._stream = stream
        self._shows = stream.isatty()
        self._recent: collections.deque[tuple[float, int]] = collections.deque()
        self._begin = self._shown = time.monotonic()

    def begin(self, runs: int) -> None:
        """So many runs are to come, beside those before."""
        self._expected = max(self._expected, self.done + runs)

    def expect(self, runs: int) -> None:
        """So many runs there will be in all."""
        self._expected = runs

    def row(self, row: Row, known: bool) -> None:
        """A run has ended."""
        self.done += 1
        if row.status != "ok":
            self.failures[row.status] += 1
        if len(self._study.objectives) == 1:  # of several no point need be the best
            self._note_best(self._study.objectives[0], row)
        now = time.monotonic()
        self._recent.append((now, self.done))
        while now - self._recent[0][0] > WINDOW_SECONDS:
            self._recent.popleft()
        if now - self._shown >= STEP_SECONDS[self._shows]:
            self._shown = now
            self._show(self.text())

    def end(self) -> None:
        """Clears the line."""
        if self._shows:
            self._stream.write("\r\033[K")
            self._stream.flush()

    def text(self) -> str:
        """For instance '412/2000 runs, 3 min left, 2 refused; best tail 1.2e-03'."""
        parts = [f"{self.done}/{self._expected} runs"]
        if (left := self.seconds_left()) is not None:
            parts.append(f"{duration(left)} left")
        parts += [f"{count} {status}" for status, count in sorted(self.failures.items())]
        text = ", ".join(parts)
        if self._best is not None:
            text += f"; best {self._study.objectives[0].metric} {self._best:.4g}"
        return text

    def seconds_left(self) -> float | None:
        """Time still needed at the present rate; None before there is one."""
        if len(self._recent) < 2 or self._recent[-1][0] <= self._recent[0][0]:
            return None
        (first, before), (last, now) = self._recent[0], self._recent[-1]
        return (self._expected - self.done) * (last - first) / max(now - before, 1)

    def _note_best(self, objective: Objective, row: Row) -> None:
        """The mean of a point counts, when all of its seeds are there."""
        runs = self._runs.setdefault(row.number, [])
        runs.append(row)
        if len(runs) < max(len(self._study.seeds), 1):
            return
        mean = mean_of_seeds(self._runs.pop(row.number))
        if mean["status"] != "ok" or mean["violation"] > 0 or math.isnan(mean[objective.metric]):
            return
        value, best = mean[objective.metric], self._best
        if best is None or (value > best if objective.maximize else value < best):
            self._best = value

    def _show(self, text: str) -> None:
        self._stream.write(f"\r\033[K{text[: shown_columns()]}" if self._shows else f"{text}\n")
        self._stream.flush()


def shown_columns() -> int:
    """What fits on a line of the terminal."""
    import shutil

    return shutil.get_terminal_size().columns - 1


def duration(seconds: float) -> str:
    """A time in the unit that fits: '12 s', '3 min', '2.5 h'."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"
