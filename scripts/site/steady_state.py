"""Holds `precondition: {state: steady}` against overwritten drives: docs/steady-state.md.

scripts/steady_state            all comparisons, and writes the page
scripts/steady_state --check    one comparison, and whether the page has a row for each
"""

import argparse
import json
import math
import re
import statistics
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/steady-state.md"
TEXT = Path(__file__).with_suffix(".txt")
SCENARIO = ROOT / "scenarios/steady_state.yaml"

POLICIES = ("greedy", "windowed-greedy", "d-choices", "fifo", "random")
SPARE_FACTORS = (7, 14, 28)
SEEDS = 4
STEADY = "[{state: steady}]"
OVERWRITTEN = "[{fill: 100 %}, {overwrite: 4x}]"

# Two-sided 95 % quantile of Student's distribution, by degrees of freedom.
QUANTILE = {
    1: 12.71,
    2: 4.303,
    3: 3.182,
    4: 2.776,
    5: 2.571,
    6: 2.447,
    7: 2.365,
    8: 2.306,
    9: 2.262,
}


@dataclass(frozen=True)
class Figure:
    """What is compared, and how far apart the two drives may be."""

    name: str
    tolerance: float
    of: object


def latency(load, operation, percentile):
    return lambda of: of[load]["results"]["total"]["operations"][operation]["latency"][percentile]


def amplification(report):
    """By what victims hold: it does not depend on where in a burst of collection the load ends."""
    collection = report["statistics"]["firmware"]["garbage_collection"]
    return 1 / (1 - collection["victim_mean_valid"]["value"])


FIGURES = (
    Figure("WA, first 5 %", 0.01, lambda of: amplification(of["first"])),
    Figure("WA, writes", 0.01, lambda of: amplification(of["writes"])),
    Figure("write p50", 0.03, latency("writes", "write", "p50")),
    Figure("write p99", 0.03, latency("writes", "write", "p99")),
    Figure("mixed: read p50", 0.03, latency("mixed", "read", "p50")),
    Figure("mixed: read p99", 0.03, latency("mixed", "read", "p99")),
    Figure("mixed: write p50", 0.03, latency("mixed", "write", "p50")),
    Figure("mixed: write p99", 0.03, latency("mixed", "write", "p99")),
)

LOADS = {
    "first": ("load.rw=randwrite", "load.number_ios=12000", "run.timed=false"),
    "writes": ("load.rw=randwrite", "load.number_ios=100000"),
    "mixed": (),
}
"""What each drive is put through, from the same snapshot: the first writes, some 5 % of the
capacity, without simulated time."""


class Runs:
    """Drives that are prepared, written a little without simulated time, and measured."""

    def __init__(self, program, folder, settings):
        self.program = program
        self.folder = Path(folder)
        self.settings = settings

    def _run(self, name, settings, *more):
        out = self.folder / name
        command = [self.program, "run", SCENARIO, "-q", "-o", out, *more]
        for setting in (*self.settings, *settings):
            command += ["--set", setting]
        done = subprocess.run(
            [str(word) for word in command], capture_output=True, text=True, check=False
        )
        if done.returncode != 0:
            sys.exit(f"{' '.join(map(str, command))}: {done.stderr}")
        return json.loads((out / "report.json").read_text()), json.loads(
            (out / "run.json").read_text()
        )

    def drive(self, policy, spare, seed, steps, kind):
        """Figures of one drive, and the seconds that it took to prepare."""
        name = f"{policy}-{spare}-{seed}-{kind}"
        snapshot = self.folder / f"{name}.snap"
        drive = (
            f"firmware.gc.policy={policy}",
            f"ssd.flash.spare_factor={spare} %",
            f"seed={seed}",
            f"precondition={steps}",
        )
        reports = {}
        for load, settings in LOADS.items():
            how = ("--from-snapshot" if reports else "--save-snapshot", snapshot)
            reports[load], host = self._run(f"{name}-{load}", (*drive, *settings), *how)
            if len(reports) == 1:
                seconds = host["precondition"]["value"]
        snapshot.unlink()
        return {figure.name: figure.of(reports) for figure in FIGURES}, seconds


@dataclass
class Comparison:
    policy: str
    spare: int
    drawn: list  # of (figures, seconds), seed by seed
    written: list

    def difference(self, figure):
        """Mean over the seeds of the relative difference, and half its 95 % interval."""
        each = [
            drawn[figure.name] / written[figure.name] - 1
            for (drawn, _), (written, _) in zip(self.drawn, self.written, strict=True)
        ]
        if len(each) < 2:
            return each[0], math.inf
        half = QUANTILE[len(each) - 1] * statistics.stdev(each) / math.sqrt(len(each))
        return statistics.mean(each), half

    def amplification(self):
        return statistics.mean(values["WA, first 5 %"] for values, _ in self.written)

    def seconds(self):
        return tuple(statistics.mean(s for _, s in drives) for drives in (self.drawn, self.written))


def compare(runs, pairs, seeds, jobs):
    with ThreadPoolExecutor(jobs) as pool:
        futures = {
            (pair, seed, kind): pool.submit(runs.drive, *pair, seed, steps, kind)
            for pair in pairs
            for seed in range(1, seeds + 1)
            for kind, steps in (("drawn", STEADY), ("written", OVERWRITTEN))
        }
        found = {key: future.result() for key, future in futures.items()}

    def drives(pair, kind):
        return [found[pair, seed, kind] for seed in range(1, seeds + 1)]

    return [Comparison(*pair, drives(pair, "drawn"), drives(pair, "written")) for pair in pairs]


def cell(comparison, figure):
    mean, half = comparison.difference(figure)
    text = f"{100 * mean:+.1f} ± {100 * half:.1f}"
    return text if abs(mean) <= figure.tolerance else f"**{text}**"


def row_of(policy, spare):
    return f"| {policy} | {spare} % |"


def table(comparisons):
    names = [figure.name for figure in FIGURES]
    lines = [
        "| policy | Sf | WA | " + " | ".join(names) + " | ready in | overwritten in |",
        "|---|---|---|" + "---|" * (len(names) + 2),
    ]
    for one in comparisons:
        cells = [cell(one, figure) for figure in FIGURES]
        drawn, written = one.seconds()
        lines.append(
            f"{row_of(one.policy, one.spare)} {one.amplification():.2f} | {' | '.join(cells)} "
            f"| {drawn:.2f} s | {written:.1f} s |"
        )
    return "\n".join(lines)


def headline(comparisons):
    lines = []
    for figure in FIGURES:
        differences = [comparison.difference(figure) for comparison in comparisons]
        met = sum(abs(mean) <= figure.tolerance for mean, _ in differences)
        whole = sum(abs(mean) + half <= figure.tolerance for mean, half in differences)
        worst = max((mean for mean, _ in differences), key=abs)
        lines.append(
            f"| {figure.name} | {100 * figure.tolerance:.0f} % | {met} of {len(differences)} "
            f"| {whole} of {len(differences)} | {100 * worst:+.1f} % |"
        )
    head = (
        "| figure | tolerance | mean within it | whole interval within it | largest difference |\n"
        "|---|---|---|---|---|"
    )
    return "\n".join([head, *lines])


def readiness(comparisons):
    drawn = statistics.mean(c.seconds()[0] for c in comparisons)
    written = statistics.mean(c.seconds()[1] for c in comparisons)
    return f"{drawn:.2f} s against {written:.1f} s on average, {written / drawn:.0f} times as fast"


def page(comparisons, seeds):
    text = TEXT.read_text()
    for name, value in (
        ("headline", headline(comparisons)),
        ("table", table(comparisons)),
        ("readiness", readiness(comparisons)),
        ("seeds", str(seeds)),
    ):
        text = text.replace("{{" + name + "}}", value)
    return text


def says_what_the_text_does(rows):
    """Whether the page is the text, whatever was measured."""
    parts = re.split(r"\{\{\w+\}\}", TEXT.read_text())
    return re.fullmatch(".*?".join(map(re.escape, parts)), rows, re.DOTALL) is not None


def check(program):
    """The page has every row and says what the text does, and one comparison goes through."""
    rows = PAGE.read_text() if PAGE.exists() else ""
    if not says_what_the_text_does(rows):
        sys.exit(f"docs/steady-state.md is not what {TEXT.relative_to(ROOT)} says: change both")
    missing = [row_of(p, s) for p in POLICIES for s in SPARE_FACTORS if row_of(p, s) not in rows]
    if missing:
        sys.exit(f"docs/steady-state.md lacks {missing}; make it anew by scripts/steady_state")
    with tempfile.TemporaryDirectory() as folder:
        runs = Runs(program, folder, ())
        (one,) = compare(runs, [("greedy", 28)], 1, 2)
    print(table([one]))
    mean, _ = one.difference(FIGURES[0])
    if abs(mean) > 0.03:
        sys.exit(f"write amplification of the drawn drive is off by {mean:+.1%}")


def main():
    parser = argparse.ArgumentParser(prog="steady_state", description=__doc__.splitlines()[0])
    parser.add_argument(
        "--check", action="store_true", help="one comparison, and the rows of the page"
    )
    parser.add_argument("--seeds", type=int, default=SEEDS, help="seeds of each comparison")
    parser.add_argument("--jobs", type=int, default=2, help="runs at a time")
    parser.add_argument("--out", type=Path, default=PAGE, help="where the page goes")
    options = parser.parse_args()
    program = ROOT / "build/release/tlmssd"
    if options.check:
        check(program)
        return
    pairs = [(policy, spare) for spare in SPARE_FACTORS for policy in POLICIES]
    with tempfile.TemporaryDirectory() as folder:
        comparisons = compare(Runs(program, folder, ()), pairs, options.seeds, options.jobs)
    options.out.write_text(page(comparisons, options.seeds))
    print(headline(comparisons))


if __name__ == "__main__":
    main()
