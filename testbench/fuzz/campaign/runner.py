"""Runs the cases of a campaign, some at a time, keeps their results, and makes findings small."""

import importlib
import json
import multiprocessing
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from pathlib import Path

from campaign import corpus
from campaign.findings import Finding, Result
from campaign.minimise import minimise


class Campaign:
    """One kind of campaign on one program with one seed; results stand in OUT and are taken up again."""

    def __init__(self, kind, setup, out, jobs):
        self.kind, self.setup, self.jobs = kind, setup, jobs
        self.out = Path(out)
        self.out.mkdir(parents=True, exist_ok=True)
        self.log = self.out / f"{kind.NAME}-{setup.seed}-{setup.digest()}.jsonl"
        self.results = {}
        self._take_up()

    def _take_up(self):
        """Results of an earlier run of the same program with the same seed; a line cut short is done again."""
        for line in self.log.read_text().splitlines() if self.log.exists() else ():
            try:
                record = json.loads(line)
            except json.JSONDecodeError:
                continue
            found = [Finding(**f) for f in record.pop("findings")]
            self.results[record["number"]] = Result(**record, findings=found)

    def run(self, numbers):
        """Runs the cases with these numbers that have no result yet."""
        todo = [n for n in numbers if n not in self.results]
        begin = time.monotonic()
        # Started afresh, not forked: a fork of a process with threads may hold their locks for ever.
        fresh = multiprocessing.get_context("spawn")
        with self.log.open("a") as log, ProcessPoolExecutor(self.jobs, fresh,
                                                            self.setup.program.limit_children) as pool:
            for done, result in enumerate(pool.map(_one, [(self.kind.__name__, self.setup, n) for n in todo]), 1):
                self.results[result.number] = result
                # Only what names the finding: the case itself is made from its number.
                record = asdict(result)
                for finding in record["findings"]:
                    finding.update(tree=None, text=None, files={})
                log.write(json.dumps(record) + "\n")
                log.flush()
                self._progress(done, len(todo), begin)
        self.results = {n: self.results[n] for n in numbers}

    def _progress(self, done, all_of_them, begin):
        if sys.stderr.isatty():
            rate = done / max(time.monotonic() - begin, 1e-9)
            print(f"\r\033[K{self.kind.NAME} {done}/{all_of_them}, {rate:.1f}/s", end="", file=sys.stderr)
            if done == all_of_them:
                print("\r\033[K", end="", file=sys.stderr)

    def findings(self):
        """By fingerprint: the first, and how many."""
        found = {}
        for number in sorted(self.results):
            for finding in self.results[number].findings:
                first, count = found.get(finding.fingerprint, (finding, 0))
                found[finding.fingerprint] = (first, count + 1)
        return found

    def keep(self, finding, folder, seconds):
        """Makes the finding small and writes it as a file of a corpus; returns the file, if it can be one."""
        again = next((f for f in _one((self.kind.__name__, self.setup, finding.number)).findings
                      if f.rule == finding.rule), None)
        if again is None or (again.tree is None and again.text is None):
            return None
        if hasattr(self.kind, "trial") and "hang" not in again.rule:
            def still_fails(tree, text, files):
                return any(f.rule == again.rule and _alike(f, again)
                           for f in self.kind.trial(self.setup, again.number, tree, text, files))
            again.tree, again.text, again.files = minimise(still_fails, again.tree, again.text, again.files, seconds)
        return corpus.write(folder, again, self.setup.seed)


def _alike(a, b):
    """The same complaint, wherever it stands."""
    return a.fingerprint.split(":")[-1] == b.fingerprint.split(":")[-1] or a.rule[:9] not in ("check acc", "unclear r")


def _one(case):
    name, setup, number = case
    kind = importlib.import_module(name)
    try:
        return kind.run(setup, number)
    except Exception as error:  # pylint: disable=broad-except
        at = error.__traceback__
        while at.tb_next:
            at = at.tb_next
        place = f"{Path(at.tb_frame.f_code.co_filename).name}:{at.tb_lineno}"
        return Result(number, "campaign failed", 0, 0,
                      [Finding(kind.NAME, number, "the campaign itself failed", f"{place}: {error!r}")])
