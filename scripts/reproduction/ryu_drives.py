"""The drives and the loads of ryu.py: what was measured on bought drives, as traces, and how a run of them is asked for."""

import random

import numpy

from drafts import Drafts

SCENARIOS = {drive: f"scenarios/ryu/drive_{drive.lower()}.yaml" for drive in "ABC"}
KIB, MIB = 1 << 10, 1 << 20
CAPACITY = {"A": 1_000_000_000, "B": 4_000_000_000, "C": 2_000_000_000}  # as in the scenarios
JOURNAL = 32 * MIB  # of the file system, behind the file (A)
RECORD = 4 * KIB  # of the journal, per write of the benchmark (A)
START = 4 * KIB  # where the file begins: a file system aligns to its own blocks, not to the drive's (A)
BUFFER = 24 * MIB  # so much is written before it is measured, that a write buffer is full


class Drives(Drafts):
    """Runs of the drives under loads of their own; each method returns a future."""

    def benchmark(self, drive, kind, size, changes=None, start=START, journal=True, share=0.25):
        """Random reads or synchronous writes of `size` KiB in a file of a `share` of the drive (Figure 14), from `start` on."""
        file = round(CAPACITY[drive] * share) // MIB * MIB
        size *= KIB
        if kind == "Read":
            count = 20 if self.short else 4000
            return self.start(SCENARIOS[drive], lambda seed: self.trace(f"{drive}-read-{size}-{share}-{seed}", random_requests(kind, size, file, count, start, seed)),
                              changes)
        # B is steady once its log blocks are in use, the others when the file has been overwritten once.
        overwritten = 0.02 if drive == "B" else 1
        measured = 20 if self.short else {"A": 4000, "B": 3000, "C": 15_000}[drive]
        warm_up = 20 if self.short else round(overwritten * file / size)
        ramp = 20 if self.short else BUFFER // (size + RECORD * journal)
        each = 2 if journal else 1

        def load(seed):
            writes = random_requests(kind, size, file, warm_up + ramp + measured, start, seed)
            words = self.trace(f"{drive}-write-{size}-{start}-{each}-{share}-{seed}", journalled(writes, start + file) if journal else writes)
            return f"{words}, warm_up: {each * warm_up}, ramp_requests: {each * ramp}"

        return self.start(SCENARIOS[drive], load, changes)

    def shift(self, experiment, size, more=None):
        """Writes of `size` bytes at shifting offsets, one at a time, with the command log (Figures 11 to 13)."""
        e = experiment
        offsets = [e.first + n * e.step for n in range(e.offsets)]
        # Partitions begin an odd number of blocks apart, so that all groups of dies have their share.
        pitch = (e.capacity * e.fill // 100 // e.partitions // e.block - 1) // 2 * 2 * e.block + e.block
        partitions = e.partitions // 8 if self.short else e.partitions
        if self.short:
            offsets = offsets[:2 * e.block // e.step]
        writes = (("Write", n * pitch + offset, size) for offset in offsets for n in range(partitions))
        load = self.trace(f"{e.drive}-shift-{size}", writes)
        changes = {"ssd.flash.user_capacity": f"{e.capacity / 1e6:.0f} MB", "firmware.buffer.mode": "write-through"} | (more or {})
        return self.start(SCENARIOS[e.drive], load, changes, f"{{fill: {e.fill} %, order: sequential}}", log=True, certain=True)


def journalled(writes, behind):
    """Synchronous writes through a file system: each is followed by a record in the journal that lies `behind` the file."""
    place = 0
    for kind, offset, size in writes:
        yield kind, offset, size
        yield "Write", behind + place, RECORD
        place = (place + RECORD) % JOURNAL


def random_requests(kind, size, file, count, start, seed):
    """Requests at multiples of their size, anywhere in a file of so many bytes that begins at `start`."""
    chance = random.Random(seed)
    for _ in range(count):
        yield kind, start + chance.randrange(file // size) * size, size


def period(values):
    """Steps after which a series repeats itself: the first lag at which its correlation with itself is as good as anywhere."""
    lags = range(2, len(values) * 2 // 3)
    match = [numpy.corrcoef(values[:-lag], values[lag:])[0, 1] for lag in lags]
    return next(lag for lag, m in zip(lags, match) if m > max(match) - 0.1)


def statistics(report):
    """(seconds measured per command, bytes per second, write amplification) of a run."""
    total = report.content["results"]["total"]
    return 1 / total["iops"], total["bandwidth"]["value"], report.content["write_amplification"]["total"]["value"]
