"""Figures of the tests from the reports of their runs."""

import json
from dataclasses import dataclass, field

import pandas as pd

from tlmssd.pts.tests import HEAD, PtsTest, Run, Terms
from tlmssd.quantities import quantity_text
from tlmssd.result import Result
from tlmssd.text_table import columns

WINDOW = 5
"""Rounds of the measurement window."""
CORNER = "block \\ R/W"
"""Head of the first column of a table of access patterns."""


@dataclass
class Steadiness:
    """The criterion over the last five rounds: range and slope as shares of the average."""

    label: str
    average: float
    range: float
    slope: float

    @property
    def met(self) -> bool:
        """At most 20 % of range, and 10 % of slope."""
        return self.range <= 0.2 and abs(self.slope) <= 0.1


@dataclass
class Measured:
    """A test that has been carried out; `tables` by the names of their files."""

    test: PtsTest
    rounds: int
    tables: dict[str, pd.DataFrame] = field(default_factory=dict)
    windows: list[Steadiness] = field(default_factory=list)
    reason: str = ""
    """Why it may not get steady; '' where nothing is known."""

    @property
    def steady(self) -> bool | None:
        """None where the test has nothing that must be."""
        return all(window.met for window in self.windows) if self.windows else None

    def text(self) -> str:
        """The test's main table for the terminal."""
        head = self.test.title
        for window in self.windows:
            word = "steady" if window.met else "NOT steady"
            head += (
                f"\n  {window.label}: {word} over {WINDOW} of {self.rounds} rounds, range "
                f"{window.range * 100:.1f} %, slope {window.slope * 100:+.1f} %"
            )
        if self.reason and self.steady is False:
            head += f"\n  {self.reason}"
        frame = self.tables[self.test.name]
        rows = [list(frame.columns)]
        rows += [[self._cell(value) for value in row] for row in frame.itertuples(index=False)]
        return head + "\n" + columns(rows, 1) + "\n"

    def csv_frame(self, table: str) -> pd.DataFrame:
        """One of `tables` as its file has it: values in base units, which their heads name."""
        frame = self.tables[table]
        if table.endswith("-rounds"):
            return frame.rename(
                columns={name: f"{name}_ns" for name in ("latency", "max", "p99.9")}
            )
        return frame.rename(columns={CORNER: f"{CORNER} ({self.test.unit})"})

    def _cell(self, value) -> str:
        return value if isinstance(value, str) else quantity_text(float(value), self.test.unit)


def table_names(test: PtsTest) -> list[str]:
    """Of its tables, which are those of `Measured.tables`."""
    more = {
        "latency": ("-p99.9", "-max", "-rounds"),
        "write-saturation": ("-series",),
        "cross-stimulus": ("-series",),
        "host-idle": ("-steps",),
    }
    return [test.name, *(test.name + word for word in more.get(test.name, ("-rounds",)))]


def steadiness(label: str, values: list[float]) -> Steadiness:
    """Of the last five rounds; the slope is the change of the line of least squares over them."""
    last = values[-WINDOW:]
    average = sum(last) / len(last)
    middle = (len(last) - 1) / 2
    squares = sum((x - middle) ** 2 for x in range(len(last)))
    slope = sum((x - middle) * y for x, y in enumerate(last)) / squares
    if average == 0:
        return Steadiness(label, 0, float("inf"), float("inf"))
    change = slope * (len(last) - 1) / average
    return Steadiness(label, average, (max(last) - min(last)) / average, change)


def load_rows(result: Result) -> pd.DataFrame:
    """A row for each load: round, pattern, iops, bandwidth (B/s), mean and highest latency (ns).

    Rates are those of the load's own time, as fio.json has them.
    """
    jobs = json.loads((result.folder / "fio.json").read_text(encoding="utf-8"))["jobs"]
    rows = []
    for job, load in zip(jobs, result.report["results"]["loads"], strict=True):
        turn, _, name = load["name"].partition(": ")
        if name.endswith(HEAD):
            continue
        operations = load["operations"].values()
        commands = sum(part["commands"] for part in operations)
        latency = sum(part["commands"] * part["latency"]["mean"] for part in operations)
        rows.append(
            {
                "round": turn,
                "pattern": name,
                "iops": sum(job[way]["iops"] for way in ("read", "write")),
                "bandwidth": sum(float(job[way]["bw_bytes"]) for way in ("read", "write")),
                "latency": latency / commands if commands else float("nan"),
                "max": max((part["latency"]["max"] for part in operations), default=float("nan")),
                "p99.9": max(
                    (part["latency"]["p99.9"] for part in operations), default=float("nan")
                ),
            }
        )
    return pd.DataFrame(rows)


def measure(test: PtsTest, terms: Terms, rounds: int, runs: list[tuple[Run, Result]]) -> Measured:
    """The test's tables from its runs."""
    measured = Measured(test, rounds, reason=terms.word_on_rounds())
    if test.name in ("write-saturation", "cross-stimulus"):
        _over_time(measured, runs[0][1])
    elif test.name == "host-idle":
        _idle(measured, load_rows(runs[0][1]))
    else:
        _rounds(measured, terms, [(run.label, load_rows(result)) for run, result in runs])
    return measured


def _rounds(measured: Measured, terms: Terms, runs: list[tuple[str, pd.DataFrame]]) -> None:
    test = measured.test
    rows = pd.concat([frame for _, frame in runs], ignore_index=True)
    rows["round"] = rows["round"].astype(int)
    written = [name for name in rows["pattern"].unique() if name.startswith("0/100 ")]
    exact = [name for name in written if name == test.tracked]
    tracked = written if test.name == "throughput" else exact or written[-1:]
    for name in tracked:
        of_rounds = rows[rows["pattern"] == name].sort_values("round")[test.figure].tolist()
        measured.windows.append(steadiness(name, of_rounds))
    measured.tables[f"{test.name}-rounds"] = rows
    window = rows[rows["round"] > measured.rounds - WINDOW]
    figures = [test.figure] if test.name != "latency" else ["latency", "p99.9", "max"]
    for figure in figures:
        middle = "max" if figure == "max" else "mean"
        table = window.groupby("pattern", sort=False)[figure].agg(middle).reset_index()
        split = table["pattern"].str.split(" ", n=1, expand=True)
        table["mix"], table["block"] = split[0], split[1]
        order = list(dict.fromkeys(split[0])), list(dict.fromkeys(split[1]))
        wide = table.pivot(index="block", columns="mix", values=figure)
        wide = wide.reindex(index=order[1], columns=order[0]).reset_index()
        wide = wide.rename(columns={"block": CORNER})
        wide.columns.name = None
        name = test.name if figure == test.figure else f"{test.name}-{figure}"
        measured.tables[name] = wide


def _over_time(measured: Measured, result: Result) -> None:
    """Rates in steps of time, with what had been written by then."""
    series = result.report["results"]["total"]["series"]
    step = series["step"]["value"]
    writes = series["write"]
    capacity = 0.0
    rows = []
    for number, (iops, bandwidth, depth) in enumerate(
        zip(writes["iops"], writes["bandwidth"], series["queue_depth"], strict=True)
    ):
        capacity += bandwidth * step
        latency = depth / iops * 1e9 if iops else float("nan")  # Little's law
        rows.append(((number + 1) * step, capacity, iops, bandwidth, latency))
    names = ["time_s", "written_bytes", "iops", "bandwidth", "latency_ns"]
    frame = pd.DataFrame(rows, columns=names)
    measured.tables[f"{measured.test.name}-series"] = frame
    loads = load_rows(result)
    if measured.test.name == "cross-stimulus":
        table = pd.DataFrame(
            {"group": loads["round"] + ": " + loads["pattern"], "bandwidth": loads["bandwidth"]}
        )
    else:
        tenth = max(len(frame) // 10, 1)
        table = pd.DataFrame(
            {
                "part": ["first tenth", "last tenth"],
                "IOPS": [frame["iops"][:tenth].mean(), frame["iops"][-tenth:].mean()],
            }
        )
    measured.tables[measured.test.name] = table


def _idle(measured: Measured, rows: pd.DataFrame) -> None:
    before = rows[rows["round"] == "before"]["iops"].mean()
    table = [{"state": "before", "IOPS": before, "after it": before}]
    for wait in [name for name in rows["round"].unique() if name.startswith("idle ")]:
        after = rows[rows["round"] == wait.replace("idle", "after")]["iops"].mean()
        idle = rows[rows["round"] == wait]["iops"].mean()
        table.append({"state": wait, "IOPS": idle, "after it": after})
    measured.tables["host-idle"] = pd.DataFrame(table)
    measured.tables["host-idle-steps"] = rows[["round", "pattern", "iops"]]
