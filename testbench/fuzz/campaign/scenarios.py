"""Part (a): random scenarios over all sections and parameters, and what must hold for each.

Every scenario is checked and run; some are run again in another way that must not change the results: from a
snapshot, from the resolved scenario, with the protocol checkers, with another quantum. A fill in sequence, which is
mostly known without being written, is also written page by page.
"""

import json
import shutil
import time
from pathlib import Path

from campaign import invariants, knowledge, schema, verdict
from campaign.findings import Finding, Result
from campaign.program import write_inputs

NAME = "scenarios"
COUNT = 200
_SAME = ("report.json", "fio.json", "report.html")


def draw(setup, number):
    """The scenario that has this number: (tree, files, facts)."""
    d = knowledge.draw(schema.of_program(setup.program.path), f"{setup.seed}/{number}")
    return d.finished(), d.files, d.facts


def run(setup, number):
    """One case: draws the scenario, runs it, judges."""
    tree, files, _ = draw(setup, number)
    return judge(setup, number, tree, files, every_way=False)


def trial(setup, number, tree, text, files):
    """What is found in this scenario, which need not be the one of that number."""
    if not isinstance(tree.get("load"), list) or not all(isinstance(load, dict) for load in tree["load"]):
        return []
    return judge(setup, number, tree, files, every_way=False).findings


def judge(setup, number, tree, files, every_way, text=None):
    """Runs a scenario and looks at everything it says.

    `every_way` takes all the second ways, not one; `text` is how the tree is written, if that matters.
    """
    folder = setup.folder(NAME, number)
    begin = time.monotonic()
    trial = _Trial(setup, number, tree, files, folder)
    if text is not None:
        (folder / "s.yaml").write_bytes(text)
    try:
        outcome = trial.first()
        if outcome == "ran":
            ways = _WAYS if every_way else [_WAYS[number % len(_WAYS)]]
            if every_way or _fills_in_sequence(tree):
                ways = [*ways, _Trial.by_pages]
            for way in ways:
                way(trial)
        result = Result(number, outcome, time.monotonic() - begin, trial.runs, trial.findings)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return result


class _Trial:
    """One scenario on its way through the program."""

    def __init__(self, setup, number, tree, files, folder):
        self.setup, self.number, self.tree, self.files, self.folder = setup, number, tree, files, folder
        self.keys = {key for _, key in schema.of_program(setup.program.path).parameters()}
        self.runs = 0
        self.findings = []
        write_inputs(folder, tree, files)

    def found(self, rule, detail):
        self.findings.append(Finding(NAME, self.number, rule, detail, self.tree, None, self.files))

    def call(self, *arguments):
        self.runs += 1
        outcome = self.setup.program.run(self.folder, *arguments)
        for rule, detail in verdict.promised(outcome, self.keys):
            self.found(rule, f"{arguments[0]}: {detail}")
        return outcome

    def first(self):
        """Checked and run as it is; the word for the table."""
        ran = self.call("run", "s.yaml", "--quiet", "--out", "first")
        # Of those that run, some are enough to see that check does not refuse them.
        checked = self.call("check", "s.yaml") if ran.code == 2 or self.number % 4 == 0 else None
        if ran.code == 2:
            self._refused(checked, ran)
            return "refused"
        if ran.code != 0:
            return "failed"
        if checked is not None and checked.code == 2:
            self.found("check refuses what run accepts", verdict.last_line(checked))
        # What a quiet run says all the same: that it has not come to a break of the scenario's, and that commands
        # failed, with an exit code of its own (program.results_are_there).
        allowed = ("has ended before the break at run.pause_at", "commands failed, the first: ")
        words = [line for line in ran.err.splitlines() if not any(text in line for text in allowed)]
        if "".join(words).strip():
            self.found("words on a good run", words[-1])
        self._look_at(Path(self.folder, "first"))
        return "ran"

    def _refused(self, checked, ran):
        if checked.code == 0:
            self.found("check accepts what run refuses", verdict.last_line(ran))
        elif checked.code == 2 and checked.err != ran.err:
            self.found("check and run refuse differently", f"{checked.err.strip()} | {ran.err.strip()}")
        if ran.seconds > verdict.REFUSE_SECONDS * self.setup.program.slow * self.setup.patience:
            self.found("slow refusal", f"{ran.seconds:.1f} s: {verdict.last_line(ran)}")
        if Path(self.folder, "first").exists():
            self.found("half-written results", "the output folder exists after a refusal")

    def _look_at(self, results):
        report = json.loads((results / "report.json").read_text())
        self.report = report
        timed = self.tree.get("run", {}).get("timed", True)
        for rule, detail in invariants.check(report, timed):
            self.found(rule, detail)
        if timed and self._is_whole():
            software = "log_structured" in self.tree or "file_cache" in self.tree
            for rule, detail in invariants.whole_run(report, software, self._waits_in_host()):
                self.found(rule, detail)
        for name in (p.name for p in results.glob("commands.*")):
            for rule, detail in invariants.log((results / name).read_bytes(), name, report):
                self.found(rule, detail)

    def _is_whole(self):
        """Whether measuring begins with the first command and ends with the last."""
        if self.tree.get("run", {}).get("until") == "steady":
            return False  # the rounds that come first are a ramp
        loads = self.tree["load"]
        return not any({"ramp_time", "ramp_requests", "warm_up", "fio"} & set(load or {}) for load in loads)

    def _waits_in_host(self):
        """Whether requests come at given times or rates: they may wait for a place in the host's queue."""
        return any({"rate", "rate_iops", "pacing"} & set(load or {}) for load in self.tree["load"])

    # ---- second ways, which must come to the same

    def again(self, way, *arguments, scenario="s.yaml", same=_SAME):
        """Runs into the folder `second`, and compares its files with the first run's."""
        shutil.rmtree(Path(self.folder, "second"), ignore_errors=True)
        outcome = self.call("run", scenario, "--quiet", "--out", "second", *arguments)
        if outcome.code != 0:
            self.found(f"{way}: does not run", f"exit code {outcome.code}: {verdict.last_line(outcome)}")
            return
        for name in same:
            first, second = (Path(self.folder, which, name).read_bytes() for which in ("first", "second"))
            if first != second:
                self.found(f"{way}: other results", f"{name} differs: {first_difference(first, second)}")
                return

    def same_bytes(self):
        self.again("same seed")

    def from_snapshot(self):
        self.again("saving a snapshot", "--save-snapshot", "drive.snap")
        if Path(self.folder, "drive.snap").exists():
            self.again("from a snapshot", "--from-snapshot", "drive.snap")

    def from_resolved(self):
        resolved = Path(self.folder, "resolved.yaml")
        shutil.copy(Path(self.folder, "first", "scenario.yaml"), resolved)
        self.again("resolved scenario", scenario="resolved.yaml", same=())
        self._compare_reports("resolved scenario")

    def with_checkers(self):
        self.again("protocol checkers", "--check-protocol")

    def by_pages(self):
        self.again("page by page", "--fill-by-pages")

    def with_quantum(self):
        other = "0 s" if self.tree.get("run", {}).get("quantum") else "7 us"
        self.again("another quantum", "--set", f"run.quantum={other}", same=())
        self._compare_reports("another quantum")

    def _compare_reports(self, way):
        """All of both reports but the scenario and what was not read of it."""
        path = Path(self.folder, "second", "report.json")
        if not path.exists():
            return
        second = json.loads(path.read_text())
        for key in self.report:
            if key in ("scenario", "unread_parameters"):
                continue
            if self.report[key] != second.get(key):
                a, b = json.dumps(self.report[key]), json.dumps(second.get(key))
                self.found(f"{way}: other results", f"{key} differs: {first_difference(a, b)}")
                return


_WAYS = [_Trial.same_bytes, _Trial.from_snapshot, _Trial.from_resolved, _Trial.with_checkers,
         _Trial.with_quantum]


def _fills_in_sequence(tree):
    steps = tree.get("precondition") or [{}]
    return isinstance(steps, list) and isinstance(steps[0], dict) and "fill" in steps[0] \
        and steps[0].get("order") == "sequential"


def first_difference(a, b):
    """A few characters of both from where they differ."""
    at = next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))
    return f"{a[max(0, at - 60):at + 40]!r} and {b[max(0, at - 60):at + 40]!r}"
