"""Runs of the emulator for the results pages: many variants of a scenario at once, each read back as
one report. The package tlmssd carries them out; what its store knows is not run again."""

import argparse
import concurrent.futures
import csv
import json
import os
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
os.environ.setdefault("TLMSSD_PROGRAM", str(ROOT / "build/release/tlmssd"))

from seeds import Seeds  # noqa: E402 (found by what stands above)
from tlmssd import runs  # noqa: E402
from tlmssd.errors import InputError, RunFailed  # noqa: E402

SEEDS = 5  # of everything in which chance has a part


class Report:
    """What a run gave back (report.json), with the figures that the papers speak of."""

    def __init__(self, content, log=None):
        self.content = content
        self.log = log  # (submitted, completed) of every command in seconds, in order of submission, where the command log is written

    def value(self, path):
        """Value of a statistic, for instance 'firmware.cache.evictions'."""
        node = self.content["statistics"]
        for word in path.split("."):
            node = node[word]
        return node["value"]

    @property
    def iops(self):
        """Host requests completed per second of simulated time, up to the last submission."""
        return self.content["results"]["total"]["iops"]

    def _flash(self, statistic):
        flash = self.content["statistics"]["firmware"]["flash"]
        return sum(part[statistic]["value"] for part in flash.values() if isinstance(part, dict) and statistic in part)

    @property
    def nand_reads(self):
        """Page reads of the flash, of the host and of garbage collection."""
        return self._flash("reads")

    @property
    def nand_writes(self):
        """Pages programmed (mapping units; the scenarios map whole pages), padding included."""
        return self._flash("units_programmed") + self._flash("units_padded")

    @property
    def nand_read_write_ratio(self):
        return self.nand_reads / self.nand_writes if self.nand_writes else float("nan")


class ProcessorTime:
    """Processor time of runs and shared drives, whenever they were made; of each only once."""

    def __init__(self):
        self.seconds = {}

    def add(self, key, seconds):
        """`seconds`: None where they are not known."""
        self.seconds[key] = seconds

    def text(self):
        known = [one for one in self.seconds.values() if one is not None]
        missing = len(self.seconds) - len(known)
        return f"{sum(known) / 60:.1f} minutes of processor time" + (f" and that of {missing} which was not recorded" if missing else "")


class Runner:
    """Starts runs as they are asked for, as many at a time as there are processors; each distinct one only once."""

    def __init__(self, options):
        self.short = options.short
        self.share = False  # whether all runs of the same preconditioned drive share a snapshot; results are the same
        self.seeds = options.seeds
        self.runs = runs.Runner(ROOT / "build/reproduction", short=options.short)
        self.pool = concurrent.futures.ThreadPoolExecutor(options.jobs)
        self.futures = {}
        self.done = 0
        self.known = 0  # of those: from the store
        self.processor = ProcessorTime()
        self.lock = threading.Lock()
        self.begin = time.monotonic()

    def start(self, scenario, settings, shared=False):
        """A future of the Report of `scenario` (path from the project's root) with `settings` (key to value); `shared`: others begin with the same
        preconditioned drive, so that a snapshot of it is worth its while."""
        key = (scenario, tuple(sorted(settings.items())))
        if key not in self.futures:
            self.futures[key] = self.pool.submit(self._run, scenario, settings, shared)
        return self.futures[key]

    def start_seeds(self, scenario, settings, certain=False, count=None):
        """Seeds of `scenario`: all of them, so many where `count` says so, or two where it is `certain` that nothing depends on chance."""
        count = min(2 if certain else count or self.seeds, self.seeds)
        return Seeds([self.start(scenario, settings | {"seed": str(seed)}) for seed in range(1, count + 1)], certain)

    def _run(self, scenario, settings, shared):
        job = self.runs.job(runs.RunRequest.of(ROOT / scenario, settings))
        share = (self.share or shared) and job.drive is not None
        prepared = self.runs.workshop.prepare(job) if share else None
        done = self.runs.workshop.run(job, runs.look_through, share)
        if done.status != "ok":
            raise RunFailed(f"{scenario}: {done.reason}")
        out = self.runs.store.run(job.key)
        with open(out / "report.json", encoding="utf-8") as file:
            content = json.load(file)
        log = out / "commands.csv"
        report = Report(content, commands(log) if log.exists() else None)
        with self.lock:
            self.done += 1
            self.known += done.known
            self.processor.add(job.key, done.processor)
            if prepared:
                self.processor.add(job.drive, prepared.processor)
            if sys.stderr.isatty():
                print(f"\r{self.done} of {len(self.futures)} runs", end="", file=sys.stderr, flush=True)
        return report

    def seconds(self):
        return time.monotonic() - self.begin


def commands(log):
    """Instants of submission and completion, in seconds, of the commands in a log, in the order of their submission."""
    with open(log, encoding="utf-8") as file:
        rows = csv.DictReader(file)
        return sorted((int(row["submitted_ps"]) * 1e-12, int(row["completed_ps"]) * 1e-12) for row in rows)


def options(description):
    """The command line that all papers share."""
    parser = argparse.ArgumentParser(prog="scripts/reproduce", description=description)
    parser.add_argument("--short", action="store_true", help="tiny loads: shows that it works, the figures mean nothing")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="runs at a time (default: one per processor)")
    parser.add_argument("--seeds", type=int, help=f"seeds of every run (default: {SEEDS}, with --short 2); under {SEEDS} nothing is decided")
    parser.add_argument("--only", metavar="PART[,PART]", help="parts of the page, as it says below each; writes to build/results")
    parser.add_argument("--keep", action="store_true", help="with --only: writes the whole page to docs/results; its other parts stay as they were")
    parser.add_argument("--out", type=Path, help="folder to write to (default: docs/results; with --short build/results)")
    parsed = parser.parse_args()
    if parsed.jobs is None or parsed.jobs < 1:
        parser.error("--jobs must be at least 1")
    if parsed.seeds is None:
        parsed.seeds = 2 if parsed.short else SEEDS
    if parsed.seeds < 1:
        parser.error("--seeds must be at least 1")
    if parsed.keep and not parsed.only:
        parser.error("--keep needs --only: the parts that are run again")
    if parsed.out is None:
        parsed.out = ROOT / ("build/results" if parsed.short or (parsed.only and not parsed.keep) else "docs/results")
    return parsed


@dataclass(frozen=True)
class Volume:
    """A whole volume, as the emulator's own table has it; `footprint` and `request`, the mean of all requests, in bytes."""

    requests: float
    footprint: float
    request: float


def published(name):
    """The Volume of this name."""
    program = ROOT / "build/release/tlmssd"
    command = [program, "profile", name, "--scale", "0.001", "--json"]
    answer = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    figures = answer["figures"]
    return Volume(figures["requests"]["target"] / answer["scale"], figures["footprint_bytes"]["target"] / answer["scale"], figures["mean_bytes"]["target"])


def version():
    """Version of the emulator that the figures come from."""
    program = os.environ["TLMSSD_PROGRAM"]
    return subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout.strip()


def close(page, parsed, runner):
    """Says what a page was made from, and writes it."""
    known = f", {runner.known} of them known from before" if runner.known else ""
    page.text(f"""
---
{len(runner.futures)} runs of {version()}{known}: {runner.processor.text()}{", without the parts that were kept" if parsed.keep else ""}.
{"**Short loads: the figures above mean nothing.**" if parsed.short else ""}
""")
    page.write()
    print(f"{page.path} written: {len(runner.futures)} runs in {runner.seconds():.0f} s")


def main(reproduce, description):
    """Runs `reproduce(options, runner)`; errors become one line and exit code 1."""
    parsed = options(description)
    runner = Runner(parsed)
    try:
        reproduce(parsed, runner)
    except (InputError, RunFailed) as error:
        runner.pool.shutdown(cancel_futures=True)
        sys.exit(f"scripts/reproduce: {error}")
    if sys.stderr.isatty():
        print(file=sys.stderr)
