"""The file loads of Figure 9 of Luo et al. by way of real file systems: requests that luo_record.py has recorded, replayed on the drives of luo_files.py."""

import json
from pathlib import Path

from claims import SHOWN, verdict
from luo_drives import IN_USE, filled
from luo_files import CLAIMS, FILL, GIB, READING, START, TABLE_1, iops

RECORDINGS = Path(__file__).resolve().parent / "recordings"
KNOWN = json.loads((RECORDINGS / "recordings.json").read_text(encoding="utf-8"))
SYSTEMS = {"ext4": "ext4", "f2fs": "F2FS", "btrfs": "Btrfs"}
REGION = "14 GiB"  # of the device that was recorded
COLUMNS = "{op: 1, offset: 2, offset_unit: 4 KiB, size: 3, size_unit: 4 KiB, header_lines: 1}"
SHORT = 2000  # requests


class FileSystems:
    """The runs; each method returns Seeds. Nothing in a recording depends on chance."""

    def __init__(self, drives, files):
        self.drives, self.files = drives, files
        self.short = drives.short

    def replay(self, system, load):
        """A load of the csv trace: the files are made untimed, then come the loops."""
        name = f"{system}-{load.name.lower()}"
        known = KNOWN[name]
        place = "region_offset: 1 GiB, region_size: 512 MiB, addresses: wrap" if self.short else f"region_offset: {START // GIB} GiB, region_size: {REGION}"
        amount = f", requests: {known['creating'] + SHORT}" if self.short else ""
        return (f"trace: {RECORDINGS / name}.csv.xz, format: csv, columns: {COLUMNS}, {place}, queue_depth: {load.threads}, warm_up: {known['creating']}{amount}")

    def bench(self, drive, system, load):
        """The hybrid drives are in use, as in Figure 9."""
        return self.drives.run(drive, filled(20 if self.short else FILL, IN_USE), self.replay(system, load), certain=True)

    def share(self, drive, system, load):
        """Requests per second relative to the SLC drive."""
        return self.bench(drive, system, load).of(iops) / self.bench("SLC", system, load).of(iops)

    def start(self):
        for load in TABLE_1:
            self.files.bench("SLC", load, "left alone")
            for drive in self.drives.hybrids:
                self.files.bench(drive, load, "in use")
            for system in SYSTEMS:
                for drive in ["SLC", *self.drives.hybrids]:
                    self.bench(drive, system, load)

    def write(self, page):
        page.text("## Figure 9 by way of file systems")
        page.text(f"""
The paper's file loads went through EXT4, F2FS and BTRFS; those of Figure 9 above are made up, without a file system. Here the same loops ran on real file systems in their default
state (trimming what is deleted), on a device of {REGION}: ext4 and Btrfs of Linux {_kernel('ext4')}, F2FS of Linux {_kernel('f2fs')} in a guest on an emulated processor, because the kernel at
hand has none. What the kernel handed to the device was recorded (`scripts/reproduction/luo_record.py`, recordings beside it) and is replayed here behind the data of the same drives, as
many requests at a time as there are threads. Writes went through a page cache of 64 MiB of dirty data, reads reached the device (A). One recording each, in which nothing is left to chance;
so these are levers, whose verdicts count only above; what holds for F2FS was settled before its recording.
""")
        rows = []
        for load in TABLE_1:
            for system, words in SYSTEMS.items():
                known = KNOWN[f"{system}-{load.name.lower()}"]
                rows.append([f"{load.name}, {words}", *(f"{known[key] / load.loops:.1f}" for key in ("running", "R", "W", "F", "D")), f"{known['written'] / known['wanted']:.2f}"])
        page.table(["recorded", "requests per loop", "reads", "writes", "flushes", "trims", "written, of what the loops wrote"], rows)
        page.text("""
ext4 trims when it commits, every five seconds and with every flush; Fileserver's loops were over before. F2FS trims behind a checkpoint, when the device is idle: not while these loops run.
It flushes for each synchronised file, where ext4 commits several together.
""")
        control = ", ".join(f"{_written(f'control-ext4-{load.name.lower()}')} for {_written(f'ext4-{load.name.lower()}')} ({load.name})" for load in TABLE_1)
        page.text(f"""
What the guest alone changes: ext4 in the same guest writes, of what the loops wrote, {control}.
Its loops take longer, so that commits of every five seconds fall among them more often.
""")
        hybrids = self.drives.hybrids
        rows = []
        for load in TABLE_1:
            claim = CLAIMS["hardly"] if load.reads >= READING else CLAIMS["clearly"]
            for words, shares in {"no file system": [self.files.share(drive, load) for drive in hybrids],
                                  **{name: [self.share(drive, system, load) for drive in hybrids] for system, name in SYSTEMS.items()}}.items():
                rows.append([f"{load.name}, {words}", *(f"{one.text()}, {SHOWN[verdict(one, claim.region)]}" for one in shares), claim.region.words])
        page.table(["in use, over SLC", *hybrids, "holds for"], rows)


def _written(name):
    return f"{KNOWN[name]['written'] / KNOWN[name]['wanted']:.2f}"


def _kernel(system):
    return ", ".join(sorted({one["kernel"] for name, one in KNOWN.items() if name.startswith(system)}))
