"""The drives and the loads of ryu.py: what was measured on bought drives, as traces, and how a run of them is asked for."""

import random
import tempfile
from pathlib import Path

import runs

SCENARIOS = {drive: f"scenarios/ryu/drive_{drive.lower()}.yaml" for drive in "ABC"}
KIB, MIB = 1 << 10, 1 << 20
JOURNAL = 32 * MIB  # of the file system, behind the file (A)
RECORD = 4 * KIB  # of the journal, per write of the benchmark (A)
START = 4 * KIB  # where the file begins: a file system aligns to its own blocks, not to the drive's (A)


class Drives:
    """Runs of the three drives under loads of their own; each method returns a future."""

    def __init__(self, runner):
        self.runner = runner
        self.folder = tempfile.TemporaryDirectory()
        self.drafts = {}

    def start(self, scenario, load, changes=None, precondition=None, log=False):
        """`load`: what stands after `load:` in braces; `precondition`: the same in brackets, instead of the scenario's."""
        text = (runs.ROOT / scenario).read_text(encoding="utf-8")
        body, _, steps = text.partition("\nprecondition:")
        steps = steps.partition("\nload:")[0] if precondition is None else f" [{precondition}]"
        draft = f"{body}\nprecondition:{steps}\nload: {{{load}}}\n"
        if draft not in self.drafts:
            path = Path(self.folder.name) / f"{len(self.drafts)}.yaml"
            path.write_text(draft, encoding="utf-8")
            self.drafts[draft] = path
        settings = dict(changes or {})
        if log:
            settings["report.command_log"] = "csv"
        return self.runner.start(self.drafts[draft], settings)

    def trace(self, name, requests):
        """A file of `requests`, each (operation, offset, bytes), and the words of a load that replays it one at a time."""
        path = Path(self.folder.name) / f"{name}.csv"
        if not path.exists():
            with open(path, "w", encoding="utf-8") as file:
                file.writelines(f"{n},ryu,0,{kind},{offset},{size},0\n" for n, (kind, offset, size) in enumerate(requests))
        return f"trace: {path}, format: msr, queue_depth: 1"


def journalled(writes, behind):
    """Synchronous writes through a file system: each is followed by a record in the journal that lies `behind` the file."""
    place = 0
    for kind, offset, size in writes:
        yield kind, offset, size
        yield "Write", START + behind + place, RECORD
        place = (place + RECORD) % JOURNAL


def random_requests(kind, size, file, count, seed=1):
    """Requests at multiples of their size, anywhere in a file of so many bytes."""
    chance = random.Random(seed)
    for _ in range(count):
        yield kind, START + chance.randrange(file // size) * size, size


def shifting_writes(size, step, span, partitions, capacity):
    """Writes at offset 0, step, 2 step, ... of every partition in turn; each offset in all partitions before the next."""
    pitch = capacity // partitions // span * span
    for offset in range(0, span, step):
        for n in range(partitions):
            yield "Write", n * pitch + offset, size
