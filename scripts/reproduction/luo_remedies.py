"""The remedies that Luo et al. survey (section 4), each as a setting of the 665p, under the same loads.

A remedy is a line in REMEDIES; what is claimed of it is judged against the drive as it is, by one figure of one load.
"""

from dataclasses import dataclass, field

import numpy

from luo_drives import IN_USE, amplification, bandwidth, filled, microseconds, yes
from luo_forms import Forms, number, resolved
from luo_reads import Reads
from luo_writes import MIB

DRIVE = "665p"

# ---- loads: how the drive has come to be, and what is asked of it. Addresses and amounts are those of the sixteenth.
HOT = "name: hot, rw: randwrite, bs: 4k, iodepth: 8, offset: 10%, time_based: true, random_distribution: \"zipf:1.1\""
COLD = "name: cold, rw: write, bs: 512k, iodepth: 8, offset: 52%, time_based: true"


@dataclass(frozen=True)
class Remedy:
    """`better`: figures (see FIGURES) that are claimed to improve; `by`: the least improvement that counts (A)."""

    name: str
    source: str
    settings: dict
    claim: str
    better: tuple = ()
    by: float = 1.05
    more: dict = field(default_factory=dict)  # settings of the drive that it is compared with, too


PATH = "firmware.pslc.policy"
READ_FIRST = "ssd.flash.scheduling.policy"

REMEDIES = [
    Remedy("known cold data straight to QLC (cold-direct)", "Stoica et al. 2019", {PATH: "cold-direct"},
           "less is folded, hot data keep the pSLC", ("hot rate", "mixed WA")),
    Remedy("the same in one write buffer", "(A: direct_buffer)", {PATH: "cold-direct", "firmware.pslc.direct_buffer": "0 %"},
           "less is folded", ("mixed WA",)),
    Remedy("hot or cold by size of request (request-size)", "Shi et al. 2016", {PATH: "request-size"}, "as for known cold data", ("hot rate", "mixed WA")),
    Remedy("LRU list and count of writes (lru-count)", "Li et al. 2017", {PATH: "lru-count"}, "the same", ("hot rate", "mixed WA")),
    Remedy("direct writes and borrowing when needed (hyflex)", "Shi et al. 2021", {PATH: "hyflex"}, "no collapse behind the cliff",
           ("flood rate",), 1.02),
    Remedy("writes without room go to QLC", "(A: when_full)", {"firmware.pslc.when_full": "direct"}, "no collapse behind the cliff", ("flood rate",), 1.02),
    Remedy("folding on the die (copyback)", "(A: fold_by)", {"firmware.pslc.fold_by": "copyback"}, "less on the bus behind the cliff", ("flood rate",), 1.02),
    Remedy("small data stay in SLC (pin-small)", "Chen et al. 2020", {PATH: "pin-small"}, "small files are read at the speed of SLC", ("small p50",), 1.3),
    Remedy("read-hot data brought back into SLC (promotion: lru)", "Sun et al. 2016", {"firmware.pslc.promotion.policy": "lru"},
           "hot data are read at the speed of SLC", ("again p50",), 1.3),
    Remedy("second copies of read-hot data (replicas: hot-reads)", "HotR: Wu et al. 2019",
           {"firmware.replicas.policy": "hot-reads", "firmware.replicas.capacity": "REPLICAS"}, "reads go around the die that writes", ("again p99",), 1.2),
    Remedy("dies kept for reading (partition: read-write)", "Lv et al. 2020", {"firmware.partition.policy": "read-write"},
           "data that are only read lie where there are no writes", ("again p99",), 1.2),
    Remedy("reads first", "Nguyen et al. 2015, Gao et al. 2014", {}, "reads do not wait for writes in the queue", ("mix p50", "mix p99"), 1.05,
           {READ_FIRST: "out-of-order"}),
    Remedy("programs suspended for reads", "Wu & He 2012", {"ssd.flash.suspend": "program"}, "reads do not wait for the write that is going on",
           ("mix p99", "mix p99.9"), 1.5),
    Remedy("programs and erases suspended", "Wu & He 2012", {"ssd.flash.suspend": "both"}, "the same", ("mix p99", "mix p99.9"), 1.5),
]

# Figure: how it is said, and whether more is better.
FIGURES = {"flood rate": ("MB/s behind the cliff", True), "cold rate": ("cold writes, MB/s", True), "hot rate": ("hot writes, MB/s", True),
           "mixed WA": ("WA", False), "mixed wear": ("life per TB, %", False), "mix p50": ("reads p50", False), "mix p99": ("p99", False),
           "mix p99.9": ("p99.9", False),
           "download p99": ("p99, application and download", False), "again p50": ("p50, hot old data beside writes", False),
           "again p99": ("p99", False), "small p50": ("p50, small old data", False)}


class Remedies:
    """The runs. Each method returns a future."""

    def __init__(self, drives):
        self.drives = drives
        self.short = drives.short
        self.reads = Reads(drives)
        self.known = [r for r in REMEDIES if not drives.short or r.name.startswith(("hot", "programs and"))]

    def flood(self, settings):
        """Sequential writes to an idle drive that is half full."""
        return self.drives.run(DRIVE, filled(50), f"rw: write, bs: 1m, iodepth: 64, offset: 50%, size: {self.drives.mib(8192)}", settings, log=True)

    def mixed(self, settings):
        """Small hot writes, often to the same places, and large cold ones to new places, to a drive whose pSLC is full."""
        time = f"runtime: {0.2 if self.short else 20} s"
        return self.drives.run(DRIVE, filled(50, IN_USE), [f"{HOT}, size: {self.drives.mib(1024)}, {time}", f"{COLD}, size: {self.drives.mib(8192)}, {time}"],
                               settings)

    def mix(self, settings):
        return self.reads.mix(DRIVE, 50, "with migration", settings)

    def download(self, settings):
        return self.reads.application(DRIVE, "start", "MD", settings)

    def again(self, settings):
        """The same old data over and over beside writes: 4 KB of 200 MB, Zipf 1.1, and 128 KB at 60 MB/s; measured after a while."""
        before, measured = (0.1, 0.1) if self.short else (8, 8)
        times = f"time_based: true, ramp_time: {before} s, runtime: {measured} s"
        return self.drives.run(DRIVE, filled(50), [
            f"rw: randread, bs: 4k, iodepth: 2, offset: 2%, size: {self.drives.mib(200)}, random_distribution: \"zipf:1.1\", {times}",
            f"rw: randwrite, bs: 128k, iodepth: 16, rate: 60m, offset: 20%, size: {self.drives.mib(8192)}, {times}"], settings)

    def small(self, settings):
        """Small files written among large ones, left alone, and read."""
        size, large = self.drives.mib(256), self.drives.mib(1024)
        return self.drives.run(DRIVE, filled(40), [
            f"name: small, rw: write, bs: 16k, iodepth: 4, offset: 42%, size: {size}",
            f"name: large, rw: write, bs: 1m, iodepth: 4, offset: 45%, size: {large}",
            f"name: reads, stonewall: true, startdelay: 60 s, rw: randread, bs: 16k, offset: 42%, size: {size}, io_size: 100g, number_ios: 5000"],
            settings)

    def settings(self, remedy):
        return {key: value.replace("REPLICAS", "8 MB" if self.short else "256 MB") for key, value in remedy.settings.items()}

    def loads(self):
        return self.flood, self.mixed, self.mix, self.download, self.again, self.small

    def start(self, settings):
        for load in self.loads():
            load(settings)

    def start_all(self):
        self.start({})
        for remedy in self.known:
            self.start(self.settings(remedy))
            self.start(remedy.more)

    def figures(self, settings):
        flood, mixed, mix, download, again, small = (load(settings).result() for load in self.loads())
        return {"flood rate": behind(flood.log), "cold rate": bandwidth(mixed, load=1), "hot rate": bandwidth(mixed), "mixed WA": amplification(mixed),
                "mixed wear": life(mixed), "mix p50": microseconds(mix, "p50"), "mix p99": microseconds(mix, "p99"),
                "mix p99.9": microseconds(mix, "p99.9"), "download p99": microseconds(download, "p99"),
                "again p50": microseconds(again, "p50"), "again p99": microseconds(again, "p99"),
                "small p50": microseconds(small, "p50", load=2)}

    def write(self, page):
        page.text("## Remedies")
        page.text("""
The 665p with one remedy at a time. Rates in MB/s, latencies of reads in us.

- *behind the cliff*: sequential writes of 1 MB to a drive half full that was left alone (Figure 4); the second half of 8 GB.
- *hot and cold writes*: 4 KB at random to 1 GB (Zipf 1.1) beside a stream of 512 KB to new places, 8 at a time each, half full and in use; WA is write
  amplification, *life* what is programmed costs of all flash's endurance per TB written, 1000 cycles native or 30 000 in SLC mode.
- *reads* p50, p99, p99.9: half of 4 KB reads and writes with migration (Figure 10, R50).
- *application and download*: its start with MD in the background (Figure 11).
- *hot old data*: 200 MB written long ago, read over and over at random, 4 KB (Zipf 1.1), beside writes of 128 KB at 60 MB/s.
- *small old data*: files of 16 KB, written among large ones, read after 60 s alone.
""")
        base = self.figures({})
        rows = [["as it is"] + [show(value) for value in base.values()]]
        measured = {}
        for remedy in self.known:
            measured[remedy.name] = self.figures(self.settings(remedy)), self.figures(remedy.more)
            if remedy.settings:
                rows.append([remedy.name] + [mark(value, base[name], FIGURES[name][1]) for name, value in measured[remedy.name][0].items()])
            if remedy.more:
                rows.append([f"without: {remedy.name}"]
                            + [mark(value, base[name], FIGURES[name][1]) for name, value in measured[remedy.name][1].items()])
        page.table(["**bold**: better by 5 % or more; *italic*: worse"] + [label for label, _ in FIGURES.values()], rows)
        rows = []
        for remedy in self.known:
            with_it, without = measured[remedy.name]
            gains = [improvement(with_it[name], without[name], FIGURES[name][1]) for name in remedy.better]
            rows.append([remedy.name, remedy.source, remedy.claim,
                         "; ".join(f"{name} {gain:.2f} times" for name, gain in zip(remedy.better, gains)),
                         yes(all(gain >= remedy.by for gain in gains))])
        page.table(["remedy", "source (as Luo et al. tell it)", "claim (S)", "better by", "holds"], rows)
        page.text("""
- Data that go straight to QLC fold nothing, so write amplification falls, and hot writes find room in the pSLC. That alone does not make them faster: **in one write
  buffer** for all (16 MiB), what is on its way to QLC fills it, and hot writes wait for programs of 8.7 ms. With a part of the buffer for each
  (`direct_buffer`, half of it) and turns at the dies they gain what the survey expects. Cold writes then get what hot ones leave of the dies.
- *Behind the cliff* a path that spreads sequential writes over both kinds of blocks (request-size, on writes of one size) still has room in pSLC in the second half.
- *Dies kept for reading* cost writes half the dies while there are reads, and half the pSLC; `docs/modelling.md` has a load that shows the other side of it.
- *Second copies* and *dies kept for reading* are claimed to shorten p99 of hot old data, and do not: p99 is twice the 228 us of the slowest page of a word line, a read behind another,
  which neither takes away. With one time for all pages, as earlier editions had it, it was a read behind a write, and both passed. The medians fall by a quarter.
""")


def behind(log):
    """MB/s of the second half of the writes."""
    done = numpy.sort([completed for _, completed in log])
    half = len(done) // 2
    return (len(done) - 1 - half) * MIB / (done[-1] - done[half]) / 1e6


def life(report):
    """Per cent of the endurance of all flash that a TB of the host's data costs: what is programmed in either mode has to be erased once."""
    values, forms = resolved(report), Forms(report)
    dies = [part for name, part in report.content["statistics"]["flash"].items() if name.startswith("nand_die_")]
    pages, slc = (sum(die[name]["value"] for die in dies) for name in ("programs", "slc_programs"))
    cycles = (pages - slc) / number(values["ssd.flash.part.endurance"]) + slc * forms.bits / number(values["ssd.flash.part.slc_endurance"])
    flash = number(values["ssd.flash.user_capacity"]) * (1 + number(values["ssd.flash.over_provisioning"]))
    return 100 * cycles * forms.page / flash / (report.content["results"]["total"]["bytes"] / 1e12)


def show(value):
    return f"{value:.2f}" if value < 10 else f"{value:.0f}"


def improvement(value, base, more_is_better):
    """How many times better; short loads may leave nothing to compare."""
    above, below = (value, base) if more_is_better else (base, value)
    return above / below if below else float("nan")


def mark(value, base, more_is_better):
    """The value, bold when it is better than the base by a twentieth, in italics when it is worse."""
    gain = improvement(value, base, more_is_better)
    return f"**{show(value)}**" if gain >= 1.05 else f"*{show(value)}*" if gain <= 0.95 else show(value)
