"""Figures 9 and 13 of Luo et al.: the file loads of their Table 1 (Filebench), and drives that cache more and more data."""

import random
from dataclasses import dataclass
from pathlib import Path

import page as pages
from luo_drives import IDLE, IN_USE, bandwidth, filled, yes

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
REQUEST = 128 * KIB  # longest request that a file is read or written in (A)
CACHED = [10, 30, 50, 70]
CACHE_ACCESSES = {"sequential, 1 MB": "rw: write, bs: 1m", "random, 4 KB": "rw: randwrite, bs: 4k"}


@dataclass(frozen=True)
class Files:
    """A file load: Table 1, but for the number of loops. Fileserver's 60 000 files of 128 KB are scaled down with the drives."""

    name: str
    files: int
    size: int  # bytes, of every file
    threads: int
    reads: int  # of a whole file, per loop
    writes: int  # of a whole file that exists
    creates: int
    deletes: int
    sync: bool  # every write and creation is followed by a flush
    loops: int

    def requests(self, start, short):
        """(operation, offset, bytes) of all requests: first all files are created, then come the loops. A file is written at a free place among
        1.1 times as many as there are files, deleting is trimming."""
        chance = random.Random(1)
        free = list(range(self.files, self.files + self.files // 10 + self.threads))
        there = list(range(self.files))

        def pieces(kind, place):
            for at in range(0, self.size, REQUEST):
                yield kind, start + place * self.size + at, min(REQUEST, self.size - at)
            if self.sync and kind == "W":
                yield "F", start + place * self.size, 0

        for place in there:
            for at in range(0, self.size, REQUEST):
                yield "W", start + place * self.size + at, min(REQUEST, self.size - at)
        for _ in range(self.loops // 50 if short else self.loops):
            for _ in range(self.deletes):
                place = there.pop(chance.randrange(len(there)))
                free.append(place)
                yield "D", start + place * self.size, self.size
            for _ in range(self.creates):
                place = free.pop(0) if len(free) > self.threads // 2 else there[chance.randrange(len(there))]
                if place not in there[-1:]:
                    there.append(place)
                yield from pieces("W", place)
            for kind, count in (("W", self.writes), ("R", self.reads)):
                for _ in range(count):
                    yield from pieces(kind, there[chance.randrange(len(there))])


TABLE_1 = [Files("Fileserver", 60_000 // 16, 128 * KIB, 50, 1, 1, 1, 1, False, 6000),
           Files("Varmail", 1000, 16 * KIB, 16, 2, 0, 2, 1, True, 12_000),
           Files("Webproxy", 10_000, 16 * KIB, 100, 5, 0, 1, 1, False, 20_000)]
STATES = {"left alone": IDLE, "in use": IN_USE}
FILL = 74  # per cent
START = 45 * GIB  # where the files begin: the first place behind the data


class FileLoads:
    """The runs. Each method returns a future."""

    def __init__(self, drives):
        self.drives = drives
        self.short = drives.short
        self.cached = [10, 70] if self.short else CACHED

    def bench(self, drive, load, state):
        """Loops of a file load behind the data of a drive, its files just created."""
        start = GIB if self.short else START
        path = Path(self.drives.folder.name) / f"{load.name}.csv"
        if not path.exists():
            with open(path, "w", encoding="utf-8") as file:
                file.writelines(f"{kind},{offset},{size}\n" for kind, offset, size in load.requests(start, self.short))
        created = load.files * -(-load.size // REQUEST)
        words = (f"trace: {path}, format: csv, columns: {{time: 0, op: 1, offset: 2, size: 3}}, queue_depth: {load.threads}, warm_up: {created}")
        return self.drives.run(drive, filled(20 if self.short else FILL, STATES[state]), words)

    def cache(self, drive, percent, access):
        """Cached data are written over: 4 GB of them, in sequence or at random."""
        return self.drives.run(drive, filled(percent), f"{CACHE_ACCESSES[access]}, iodepth: 32, size: {percent}%, io_size: {self.drives.mib(4096)}")

    def start_all(self):
        for load in TABLE_1:
            self.bench("SLC", load, "left alone")
            for drive in self.drives.hybrids:
                for state in STATES:
                    self.bench(drive, load, state)
        for percent in self.cached:
            for access in CACHE_ACCESSES:
                for drive in self.drives.hybrids:
                    self.cache(drive, percent, access)

    # ------------------------------------------------------------------------------------------------------------------- the page

    def write_files(self, page):
        page.text("## Figure 9: file loads")
        page.text(f"""
The loads of the paper's Table 1 as requests (A): reading and writing a file is reading and writing all of it, in requests of 128 KB at most, deleting is
trimming, and a synchronised write is followed by a flush; as many requests at a time as there are threads. Fileserver's 60 000 files are a
sixteenth. No file system, no cache of the host's. Hybrid drives {FILL} % full, left alone (pSLC empty), or in use (full of valid data). Requests per second.
""")
        rows, relative = [], {}
        for load in TABLE_1:
            slc = iops(self.bench("SLC", load, "left alone").result())
            row = [f"{load.name} {load.reads}/{load.writes}/{load.creates}/{load.deletes}{', sync' if load.sync else ''}", f"{slc:,.0f}"]
            for drive in self.drives.hybrids:
                for state in STATES:
                    value = iops(self.bench(drive, load, state).result())
                    relative[load.name, drive, state] = value / slc
                    row.append(f"{value:,.0f} ({value / slc:.2f})")
            rows.append(row)
        page.table(["read/write/create/delete; relative to SLC", "SLC"] + [f"{drive}, {state}" for drive in self.drives.hybrids for state in STATES], rows)
        with page.figure("figure9", "File loads: requests per second relative to the SLC drive", height=2.8) as axes:
            pages.bars(axes, [load.name for load in TABLE_1],
                       {f"{drive}, {state}": [relative[load.name, drive, state] for load in TABLE_1] for drive in self.drives.hybrids for state in STATES})
            axes.set_ylabel("relative to SLC")
        rows = []
        for drive in self.drives.hybrids:
            for load in TABLE_1:
                value = relative[load.name, drive, "in use"]
                if load.reads < 5:
                    rows.append([f"{drive}, {load.name}: SLC clearly better (S)", f"{value:.2f}", yes(value < 0.8)])
                else:
                    rows.append([f"{drive}, {load.name}, read-intensive: nearer to SLC than the others (S)", f"{value:.2f}",
                                 yes(all(value > relative[other.name, drive, "in use"] for other in TABLE_1 if other is not load))])
        page.table(["", "hybrid in use / SLC", "agrees"], rows)

    def write_cache(self, page):
        page.text("## Figure 13: cached data")
        page.text("""
So much of the drive is filled with cached data, and the drive left alone; then the cached data are written anew, 32 requests at a time, 4 GB
(64 of the whole drive) in sequence or at random. MB/s.
""")
        rates = {(drive, access): [bandwidth(self.cache(drive, percent, access).result()) for percent in self.cached]
                 for drive in self.drives.hybrids for access in CACHE_ACCESSES}
        page.table(["cached"] + [f"{percent} %" for percent in self.cached],
                   [[f"{drive}, {access}"] + [f"{value:.0f}" for value in values] for (drive, access), values in rates.items()])
        with page.figure("figure13", "Bandwidth of accesses to cached data against their amount", height=2.8) as axes:
            for n, ((drive, access), values) in enumerate(rates.items()):
                axes.plot(self.cached, values, "-" if "sequential" in access else "--", color=pages.COLOURS[n // 2], marker="o", label=f"{drive}, {access}")
            axes.set_xlabel("cached data, % of the drive")
            axes.set_ylabel("MB/s")
            axes.legend(frameon=False)
        page.table(["", "measured", "agrees"], [
            [f"{drive}, {access}: the more is cached, the slower (S)", f"{values[0]:.0f} to {values[-1]:.0f}",
             yes(values[-1] < 0.8 * values[0] and all(b < 1.02 * a for a, b in zip(values, values[1:])))] for (drive, access), values in rates.items()])


def iops(report):
    return report.content["results"]["total"]["iops"]
