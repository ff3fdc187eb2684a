"""Figures 9 and 13 of Luo et al.: the file loads of their Table 1 (Filebench), and drives that cache more and more data."""

import random
from dataclasses import dataclass, replace
from pathlib import Path

import page as pages
from claims import Claim, Kind, at_least, at_most
from luo_drives import IDLE, IN_USE, bandwidth, filled
from samples import largest

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
REQUEST = 128 * KIB  # longest request that a file is read or written in (A)
CACHED = [10, 50, 70]
CACHE_ACCESSES = {"sequential, 1 MB": "rw: write, bs: 1m", "random, 4 KB": "rw: randwrite, bs: 4k",
                  "90 % reads, 4 KB": "rw: randrw, rwmixread: 90, bs: 4k"}
WRITES, READ_INTENSIVE = list(CACHE_ACCESSES)[:2], list(CACHE_ACCESSES)[2]
CACHE_AMOUNTS = {name: 2048 if name in WRITES else 1024 for name in CACHE_ACCESSES}  # MiB


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

    def requests(self, start, seed, short):
        """(operation, offset, bytes) of all requests: first all files are created, then come the loops. A file is written at a free place among
        1.1 times as many as there are files, deleting is trimming."""
        chance = random.Random(seed)
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
HALF = replace(TABLE_1[2], name="Webproxy, half as long", loops=10_000)
READING = 5  # reads per loop from which a load is read-intensive
STATES = {"left alone": IDLE, "in use": IN_USE}
FILL = 74  # per cent
START = 45 * GIB  # where the files begin: the first place behind the data


ALIKE = ("all loads lose alike", 1)
CLAIMS = {
    "clearly": Claim(Kind.PREDICTED, "Figure 9, {}, in use, over SLC: Fileserver and Varmail", "SLC clearly better (S)", at_most(0.8), ("no difference", 1)),
    "nearer": Claim(Kind.PREDICTED, "Figure 9, {}, in use: Webproxy's share of SLC over the best share of the others", "nearer to SLC (S)", at_least(1.1), ALIKE),
    "hardly": Claim(Kind.PREDICTED, "Figure 9, {}, in use, over SLC: Webproxy", "read-intensive, hardly suffers (S, not said in numbers)", at_least(0.8), ("no difference", 1),
                    "a seventh of its requests write, and on a drive in use these fold: in steady state folding limits all requests"),
    "slower": Claim(Kind.PREDICTED, "Figure 13, {}: writes at 70 % cached over those at 10 %", "slower (S)", at_most(0.8), ("no difference", 1)),
    "monotone": Claim(Kind.PREDICTED, "Figure 13, {}: writes at each amount over those at the one before, the largest", "the more, the slower (S)", at_most(1.02),
                      ("no difference", 1)),
    "reads": Claim(Kind.PREDICTED, "Figure 13, {}: nine reads of ten, at 70 % cached over those at 10 %", "read-intensive, hardly suffers (S, not said in numbers)", at_least(0.8),
                   ("no difference", 1), "one write in ten makes a drive of 70 % fold, and reads wait for programs of QLC"),
}


class FileLoads:
    """The runs. Each method returns Seeds."""

    def __init__(self, drives):
        self.drives = drives
        self.short = drives.short
        self.cached = [10, 70] if self.short else CACHED

    def bench(self, drive, load, state, fill=FILL):
        """Loops of a file load behind the data of a drive, its files just created."""
        fill = 20 if self.short else fill
        return self.drives.run(drive, filled(fill, STATES[state]), lambda seed: self.replay(load, seed))

    def replay(self, load, seed):
        path = Path(self.drives.folder.name) / f"{load.name.replace(', ', '-').replace(' ', '-')}-{seed}.csv"
        if not path.exists():
            with open(path, "w", encoding="utf-8") as file:
                file.writelines(f"{kind},{offset},{size}\n" for kind, offset, size in load.requests(GIB if self.short else START, seed, self.short))
        created = load.files * -(-load.size // REQUEST)
        return f"trace: {path}, format: csv, columns: {{time: 0, op: 1, offset: 2, size: 3}}, queue_depth: {load.threads}, warm_up: {created}"

    def cache(self, drive, percent, access, hot=None):
        """Cached data are accessed again: 2 GB of writes (1 GB where most are reads), to all of the data or to the first `hot` MiB of them."""
        size = f"{percent}%" if hot is None else self.drives.mib(hot)
        return self.drives.run(drive, filled(percent), f"{CACHE_ACCESSES[access]}, iodepth: 32, size: {size}, io_size: {self.drives.mib(CACHE_AMOUNTS[access])}",
                               certain=access.startswith("sequential"))

    def states(self):
        """Hybrid drives and the states they are in."""
        return [("665p", "left alone")] + [(drive, "in use") for drive in self.drives.hybrids]

    def start_files(self):
        for load in TABLE_1:
            self.bench("SLC", load, "left alone")
            for drive, state in self.states():
                self.bench(drive, load, state)

    def start_cache(self):
        for percent in self.cached:
            for drive, access in self.accesses():
                self.cache(drive, percent, access)

    def accesses(self):
        """Figure 13: drives and how their cached data are accessed."""
        return [(drive, access) for drive in self.drives.hybrids for access in WRITES] + [("665p", READ_INTENSIVE)]

    def share(self, drive, load, state="in use", fill=FILL):
        """Requests per second relative to the SLC drive."""
        return self.bench(drive, load, state, fill).of(iops) / self.bench("SLC", load, "left alone").of(iops)

    def cached_share(self, drive, access, hot=None):
        """Bandwidth at most cached data over that at least."""
        return self.cache(drive, self.cached[-1], access, hot).of(bandwidth) / self.cache(drive, self.cached[0], access, hot).of(bandwidth)

    # ------------------------------------------------------------------------------------------------------------------- the page

    def write_files(self, page):
        page.text("## Figure 9: file loads")
        page.text(f"""
The loads of the paper's Table 1 as requests (A): reading and writing a file is reading and writing all of it, in requests of 128 KB at most, deleting is
trimming, and a synchronised write is followed by a flush; as many requests at a time as there are threads. Fileserver's 60 000 files are a
sixteenth. No file system, no cache of the host's. Hybrid drives {FILL} % full, left alone (pSLC empty), or in use (full of valid data). Requests per second. The paper says that for loads
that are not read-intensive the pure drive is clearly better; that the read-intensive one hardly suffers is how its silence about Webproxy is read here.
""")
        rows = []
        for load in TABLE_1:
            kind = f"{load.name} {load.reads}/{load.writes}/{load.creates}/{load.deletes}{', sync' if load.sync else ''}"
            slc = self.bench("SLC", load, "left alone").of(iops)
            rows.append([f"{kind}: SLC", slc.text(",.0f"), ""])
            rows += [[f"{kind}: {drive}, {state}", self.bench(drive, load, state).of(iops).text(",.0f"), self.share(drive, load, state).text()]
                     for drive, state in self.states()]
        page.table(["read/write/create/delete", "requests per second", "over SLC"], rows)
        with page.figure("figure9", "File loads: requests per second relative to the SLC drive", height=2.8) as axes:
            pages.bars(axes, [load.name for load in TABLE_1],
                       {f"{drive}, {state}": [self.share(drive, load, state) for load in TABLE_1] for drive, state in self.states()})
            axes.set_ylabel("relative to SLC")
        for_reading, others = [load for load in TABLE_1 if load.reads >= READING], [load for load in TABLE_1 if load.reads < READING]
        judged = []
        for drive in self.drives.hybrids:
            reading, other = ([self.share(drive, load) for load in some] for some in (for_reading, others))
            judged += [CLAIMS["clearly"].about(drive).judged(*other), CLAIMS["nearer"].about(drive).judged(reading[0] / largest(*other)),
                       CLAIMS["hardly"].about(drive).judged(*reading)]
        page.claims(*judged)

    def write_cache(self, page):
        page.text("## Figure 13: cached data")
        page.text("""
So much of the drive is filled with cached data, and the drive left alone; then the cached data are written anew, 32 requests at a time, 2 GB
(32 of the whole drive) in sequence or at random. The paper gives writes; nine reads of ten (1 GB) stand beside them, because read-intensive loads are said to suffer little. MB/s.
""")
        rates = {(drive, access): [self.cache(drive, percent, access).of(bandwidth) for percent in self.cached]
                 for drive, access in self.accesses()}
        page.table(["cached"] + [f"{percent} %" for percent in self.cached],
                   [[f"{drive}, {access}"] + [value.text(".0f") for value in values] for (drive, access), values in rates.items()])
        with page.figure("figure13", "Bandwidth of accesses to cached data against their amount", height=3.2) as axes:
            shown = [(key, values) for key, values in rates.items() if key[1] in WRITES]
            for n, ((drive, access), values) in enumerate(shown):
                pages.curve(axes, self.cached, values, n, f"{drive}, {access}")
            axes.set_xlabel("cached data, % of the drive")
            axes.set_ylabel("MB/s")
            axes.legend(frameon=False)
        judged = []
        for drive in self.drives.hybrids:
            steps = [b / a for access in WRITES for a, b in zip(rates[drive, access], rates[drive, access][1:])]
            judged += [CLAIMS["slower"].about(drive).judged(*(self.cached_share(drive, access) for access in WRITES)),
                       CLAIMS["monotone"].about(drive).judged(largest(*steps))]
        page.claims(*judged, CLAIMS["reads"].about("665p").judged(self.cached_share("665p", READ_INTENSIVE)))


def iops(report):
    return report.content["results"]["total"]["iops"]
