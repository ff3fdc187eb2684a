"""Earlier results and an earlier snapshot that a disturbed run must leave alone or replace by new ones as a whole.

What a run writes follows from its seed, so that old and new are known byte for byte.
"""

import hashlib
import json
import shutil
from pathlib import Path

from campaign.findings import Finding

SEEDS = (1, 2, 3, 4, 5)  # 1 is the one of the old results
_FILES = ("scenario.yaml", "report.json", "fio.json", "report.html", "commands.csv.gz")

SCENARIO = """\
title: disturbed
ssd:
  flash:
    channels: 2
    ways: 1
    part: {blocks_per_plane: 24, pages_per_block: 16}
    spare_factor: 25 %
firmware:
  buffer: {capacity: 256 KiB}
precondition:
  - {fill: 100 %}
load:
  - {rw: randrw, bs: 4k, iodepth: 8, number_ios: 4000, size: 50 %, io_size: 40m}
report: {command_log: csv.gz}
"""


def arguments(seed, folder="."):
    """Of a run that writes results and a snapshot into `folder`."""
    return ["run", "s.yaml", "--set", f"seed={seed}", "--out", f"{folder}/results", "--save-snapshot",
            f"{folder}/drive.snapshot"]


_made = {}


def once(setup, name, make):
    """What `make` returns, made once for each process of the campaign."""
    key = (setup.work, setup.program.path, name)
    if key not in _made:
        _made[key] = make()
    return _made[key]


def _make_references(setup):
    """What undisturbed runs write: by seed, a digest of every file."""
    found = {}
    for seed in SEEDS:
        folder = setup.folder("reference", seed)
        (folder / "s.yaml").write_text(SCENARIO)
        outcome = setup.program.run(folder, *arguments(seed))
        if outcome.code != 0:
            raise RuntimeError(f"an undisturbed run ended with {outcome.code}: {outcome.err}")
        found[seed] = _digests(folder)
        if seed != SEEDS[0]:
            shutil.rmtree(folder)
        else:
            found["folder"] = folder
    return found


def _digests(folder):
    paths = {name: folder / "results" / name for name in _FILES} | {"drive.snapshot": folder / "drive.snapshot"}
    return {name: hashlib.sha256(path.read_bytes()).hexdigest() for name, path in paths.items() if path.is_file()}


class Bench:
    """A folder with old results and an old snapshot in it."""

    def __init__(self, setup, kind, number, old=True):
        self.references = once(setup, "references", lambda: _make_references(setup))
        self.folder = setup.folder(kind, number)
        self.kind, self.number = kind, number
        self.findings = []
        if old:
            shutil.copytree(self.references["folder"], self.folder, dirs_exist_ok=True)
        (self.folder / "s.yaml").write_text(SCENARIO)

    def found(self, rule, detail):
        self.findings.append(Finding(self.kind, self.number, rule, detail, None, SCENARIO))

    def close(self):
        shutil.rmtree(self.folder, ignore_errors=True)

    def results_of(self):
        """Seed of the run whose results lie in the folder; 0: of none, None: of more than one, or not whole."""
        if not (self.folder / "results").exists():
            return 0
        found = {name: digest for name, digest in _digests(self.folder).items() if name != "drive.snapshot"}
        for seed in SEEDS:
            wanted = {name: digest for name, digest in self.references[seed].items() if name != "drive.snapshot"}
            if found == wanted and self._run_json_is_whole():
                return seed
        return None

    def _run_json_is_whole(self):
        try:
            json.loads((self.folder / "results" / "run.json").read_text())
        except (OSError, ValueError):
            return False
        return True

    def results_are_partial(self):
        """Whether what lies in the folder are whole files of a run that a signal has ended."""
        try:
            report = json.loads((self.folder / "results" / "report.json").read_text())
        except (OSError, ValueError):
            return False
        return "partial" in report and self._run_json_is_whole()

    def snapshot_of(self):
        """The same for the snapshot."""
        found = _digests(self.folder).get("drive.snapshot")
        if found is None:
            return 0
        return next((seed for seed in SEEDS if self.references[seed]["drive.snapshot"] == found), None)

    def leftovers(self):
        """What lies in the folder, or in the results, that was not asked for."""
        ours = {"s.yaml", "results", "drive.snapshot"}
        found = [path.name for path in self.folder.iterdir() if path.name not in ours]
        results = self.folder / "results"
        if results.is_dir():
            found += [f"results/{path.name}" for path in results.iterdir()
                      if path.name not in {*_FILES, "run.json", ".tlmssd-run"}]
        return sorted(found)

    def judge(self, code, seeds, disturbance, may_leave=False):
        """What must hold after runs with `seeds`; `code` 0: at least one of them has ended well."""
        after = f"after {disturbance} (exit code {code})"
        for what, seed in (("results", self.results_of()), ("snapshot", self.snapshot_of())):
            if seed is None:
                self.found(f"half-written {what}", after)
            elif seed == 0:
                self.found(f"{what} lost", after)
            elif code == 0 and seed not in seeds:
                self.found(f"{what} missing", f"{after}: what is there is of seed {seed}")
            elif code not in (0, None) and seed not in (SEEDS[0], *seeds):
                self.found(f"{what} of another run", f"{after}: of seed {seed}")
        left = self.leftovers()
        if left and not may_leave:
            self.found("leftovers", f"{after}: {', '.join(left)}")
