"""Remedies that Luo et al. survey for the drive like the 665p (section 4), over a grid: where data are written, and what reads gain.

A remedy is a few settings of the drive. Every load is measured with it and without, at each point of a grid, by the figures that are claimed to
change and by what they cost.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy

from claims import NO, SHOWN, UNDECIDED, YES, Claim, Judged, Kind, Region, all_of, at_least, at_most, verdict
from luo_drives import IN_USE, amplification, bandwidth, filled, microseconds
from luo_forms import Forms, number, resolved
from luo_reads import MIX_FILL, REST, Reads
from luo_writes import MIB

DRIVE = "665p"
FASTER, LESS, KEPT = at_least(1.1), at_most(0.9), at_least(0.9)  # a tenth is what counts as news, either way
NOT_LONGER = at_most(1.1)
LOSSES = {"run.errors": "accept"}  # drives so worn that they lose reads now and then, which is no fault of the run
NULL = ("no policy", 1)
SOMEWHERE = "see the grid above for where it helps and where not"


@dataclass(frozen=True)
class Figure:
    """What is measured of a Report, and what a remedy is claimed to do to it: the ratio with the remedy to that without lies in `region`; without
    one the figure is shown and not judged."""

    words: str
    of: Callable
    claimed: str = ""
    region: Region | None = None


@dataclass(frozen=True)
class Remedy:
    """`figures`: names of what is judged of it."""

    name: str
    source: str
    settings: dict
    figures: tuple[str, ...]


@dataclass(frozen=True)
class Trial:
    """Remedies under one load at points of a grid: `run(point, settings)` gives Seeds; `without` are the settings they are compared with."""

    points: dict
    run: Callable
    figures: dict[str, Figure]
    remedies: tuple[Remedy, ...]
    without: dict
    form: str = ".2f"

    def start(self):
        for point in self.points.values():
            for settings in (self.without, *(remedy.settings for remedy in self.remedies)):
                self.run(point, settings)

    def ratio(self, point, remedy, figure):
        return self.run(point, remedy.settings).of(figure.of) / self.run(point, self.without).of(figure.of)

    def write(self, page):
        """A table of the drive as it is, one of ratios for each remedy, and the claims."""
        page.table(["as it is", *(figure.words for figure in self.figures.values())],
                   [[words, *(self.run(point, self.without).of(figure.of).text(_form(figure)) for figure in self.figures.values())]
                    for words, point in self.points.items()])
        judged = []
        for remedy in self.remedies:
            rows = []
            for words, point in self.points.items():
                row = [words]
                for name, figure in self.figures.items():
                    ratio = self.ratio(point, remedy, figure)
                    row.append(ratio.text(self.form) + (f", {SHOWN[verdict(ratio, figure.region)]}" if name in remedy.figures else ""))
                rows.append(row)
            page.table([f"{remedy.name} ({remedy.source}), ratios", *(f"{figure.words}{_wanted(figure, name in remedy.figures)}" for name, figure in self.figures.items())],
                       rows)
            for name in remedy.figures:
                figure = self.figures[name]
                claim = Claim(Kind.PREDICTED, f"{remedy.name}: {figure.words} against no policy, everywhere", figure.claimed, figure.region, NULL, SOMEWHERE)
                judged.append(everywhere(claim, [self.ratio(point, remedy, figure) for point in self.points.values()], self.form))
        if judged:
            page.claims(*judged)


def _form(figure):
    return ".2f" if figure.words in ("WA", "life per TB, %") else ",.0f"


def _wanted(figure, judged):
    return f": {figure.region.words}" if judged else ""


def everywhere(claim, samples, form=".2f"):
    """The claim over all points of the grid, with the range of its means and how many points say what."""
    verdicts = [verdict(one, claim.region) for one in samples]
    counts = ", ".join(f"{verdicts.count(one)} {one}" for one in (YES, NO, UNDECIDED) if one in verdicts)
    means = [one.mean for one in samples]
    return Judged(claim, f"{min(means):{form}} to {max(means):{form}} ({counts})", all_of(verdicts))


# ---- loads. Addresses and amounts are those of the sixteenth.
HOT = "name: hot, rw: randwrite, bs: 4k, iodepth: 8, offset: 10%, time_based: true, random_distribution: \"zipf:1.1\""
COLD = "name: cold, rw: write, bs: 512k, iodepth: 8, offset: 52%, time_based: true"
PATH = "firmware.pslc.policy"
SECONDS = 20  # of hot and cold writes
READ_FIRST = "ssd.flash.scheduling.policy"
ISSUE = "firmware.parallel_issue.policy"
WAITS_NOT = {"firmware.parallel_issue.starvation_bound": "0 s"}
BATCHED_READS = 70  # per cent of the requests of part batches
BATCHED_REQUESTS = 40_000

FLOODS = (
    Remedy("hyflex", "Shi et al. 2021: direct writes, and borrowing when needed", {PATH: "hyflex"}, ("behind",)),
    Remedy("when_full: bypass", "A: writes without room go to QLC", {"firmware.pslc.when_full": "bypass"}, ("behind",)),
    Remedy("fold_by: copyback", "A: folding on the die", {"firmware.pslc.fold_by": "copyback"}, ("behind",)),
)
PATHS = (
    Remedy("cold-bypass", "Stoica et al. 2019: known cold data straight to QLC", {PATH: "cold-bypass"}, ("hot", "WA", "cold")),
    Remedy("request-size", "Shi et al. 2016: hot or cold by size of request", {PATH: "request-size"}, ("hot", "WA", "cold")),
    Remedy("lru-count", "Li et al. 2017: LRU list and count of writes", {PATH: "lru-count"}, ("hot", "WA", "cold")),
)
ONE_BUFFER = (Remedy("cold-bypass in one buffer", "A: the same without a part of the write buffer for each",
                     {PATH: "cold-bypass", "firmware.pslc.bypass_buffer": "0 %"}, ("hot", "WA", "cold")),)
SMALL_DATA = (Remedy("pin-small", "Chen et al. 2020: small data stay in SLC", {PATH: "pin-small"}, ("small",)),)
READ_HOT = (
    Remedy("promotion: lru", "Sun et al. 2016: read-hot data brought back into SLC", {"firmware.pslc.promotion.policy": "lru"}, ("p50",)),
    Remedy("replicas: hot-reads", "HotR, Wu et al. 2019: second copies, read while the first die writes",
           {"firmware.replicas.policy": "hot-reads", "firmware.replicas.capacity": "256 MB"}, ("p99",)),
    Remedy("partition: read-write", "Lv et al. 2020: dies kept for reading", {"firmware.partition.policy": "read-write"}, ("p99",)),
)
PARALLEL = (
    Remedy("out-of-order", "after Gao et al. 2014: what waits for a busy die holds up no other", {READ_FIRST: "out-of-order"}, ("p50", "p99", "rate")),
)
BATCHES = (
    Remedy("parallel_issue: batches", "Gao et al. 2014: reads that meet on no die go together, and before writes", {ISSUE: "batches"}, ("p50", "p99", "rate")),
    Remedy("batches that writes do not wait for", "a lever: what is the batches' own", {ISSUE: "batches", **WAITS_NOT}, ()),
    Remedy("four such batches at once", "a lever: less strict than one after the other", {ISSUE: "batches", "firmware.parallel_issue.at_once": 4, **WAITS_NOT}, ()),
)
QUEUES = (
    Remedy("read-first", "Nguyen et al. 2015, Gao et al. 2014: reads do not wait for writes in the queue", {}, ("p50", "p99", "kept")),
    Remedy("suspend: program", "Wu & He 2012: reads do not wait for the write that is going on", {"ssd.flash.suspend": "program"}, ("p99", "p99.9", "kept")),
    Remedy("suspend: both", "Wu & He 2012: programs and erases", {"ssd.flash.suspend": "both"}, ("p99", "p99.9", "kept")),
)


def behind(log):
    """MB/s of the second half of the writes."""
    done = numpy.sort([completed for _, completed in log])
    half = len(done) // 2
    return (len(done) - 1 - half) * MIB / (done[-1] - done[half]) / 1e6


def buffered(report):
    """Per cent of the units read that the write buffer held."""
    return 100 * report.value("firmware.write_buffer.read_hits") / report.value("firmware.host_units_read")


def worn(report):
    """Share of the endurance of all flash that was used up: what is programmed in either mode has to be erased once."""
    values, forms = resolved(report), Forms(report)
    dies = [part for name, part in report.content["statistics"]["flash"].items() if name.startswith("nand_die_")]
    pages, slc = (sum(die[name]["value"] for die in dies) for name in ("programs", "slc_programs"))
    cycles = (pages - slc) / number(values["ssd.flash.part.endurance"]) + slc * forms.bits / number(values["ssd.flash.part.slc_endurance"])
    return cycles * forms.page / (number(values["ssd.flash.user_capacity"]) * (1 + number(values["ssd.flash.over_provisioning"])))


def life(report):
    """Per cent of the endurance of all flash that a TB of the host's data costs."""
    return 100 * worn(report) / (report.content["results"]["total"]["bytes"] / 1e12)


BEHIND = {"behind": Figure("MB/s behind the cliff", lambda report: behind(report.log), "no collapse (S)", FASTER)}
MIXED = {"hot": Figure("hot writes, MB/s", bandwidth, "faster (S)", FASTER), "WA": Figure("WA", amplification, "less is folded (S)", LESS),
         "cold": Figure("cold writes, MB/s", lambda report: bandwidth(report, load=1), "not much slower (A)", KEPT),
         "life": Figure("life per TB, %", life)}
READ_SMALL = {"small": Figure("reads of small files, p50, us", lambda report: microseconds(report, "p50", load=2), "at the speed of SLC (S)", LESS),
              "large": Figure("reads of large files, p50, us", lambda report: microseconds(report, "p50", load=3))}
AGAIN = {"p50": Figure("reads, p50, us", lambda report: microseconds(report, "p50"), "at the speed of SLC (S)", LESS),
         "p99": Figure("p99", lambda report: microseconds(report, "p99"), "reads go around the die that writes (S)", LESS),
         "writes": Figure("writes, p99, us", lambda report: microseconds(report, "p99", "write", load=1))}
MIX = {"p50": Figure("reads, p50, us", lambda report: microseconds(report, "p50"), "sooner (S)", LESS),
       "p99": Figure("p99", lambda report: microseconds(report, "p99"), "sooner (S)", LESS),
       "p99.9": Figure("p99.9", lambda report: microseconds(report, "p99.9"), "sooner (S)", LESS),
       "kept": Figure("requests per second", lambda report: report.content["results"]["total"]["iops"], "not much slower (A)", KEPT)}
IDLE_DIES = {"p50": MIX["p50"], "p99": MIX["p99"], "rate": Figure(MIX["kept"].words, MIX["kept"].of, "more: dies work at once (F)", FASTER)}
BATCHED = {"p50": Figure("reads, p50, us", MIX["p50"].of, "sooner: no conflicts in a batch (F)", LESS), "p99": Figure("p99", MIX["p99"].of, "sooner: reads first (S)", LESS),
           "rate": Figure(MIX["kept"].words, MIX["kept"].of, "significantly more under conflicts (F)", FASTER),
           "writes": Figure("writes, p99, us", lambda report: microseconds(report, "p99", "write")), "buffer": Figure("from the write buffer, %", buffered)}


class Remedies:
    """The loads and the grids."""

    def __init__(self, drives):
        self.drives = drives
        self.reads = Reads(drives)
        some = slice(1) if drives.short else slice(None)
        fills = {f"{fill} % full": fill for fill in (25, 50)}
        small = {f"{fill} % full": fill for fill in (25, 40)}
        self.floods = Trial(_part({f"{fill} % full": fill for fill in (25, 50, 74)}, some), self.flood, BEHIND, FLOODS, {})
        self.paths = Trial(_part(_grid(fills, {"256 MiB": 256, "1024 MiB": 1024}, "hot set"), some), self.mixed, MIXED, PATHS, {})
        self.one_buffer = Trial({"50 % full, hot set 1024 MiB": (50, 1024)}, self.mixed, MIXED, ONE_BUFFER, {})
        self.small = Trial(_part(small, some), self.small_files, READ_SMALL, SMALL_DATA, {})
        again = _grid(fills, {"200 MiB": 200, "1024 MiB": 1024}, "hot set")
        self.again = Trial(_part({words: point for words, point in again.items() if point != (25, 1024)}, some), self.read_again, AGAIN, READ_HOT, {})
        mixes = {f"R{reads} W{100 - reads}": reads for reads in (90, 10)}
        self.queued = Trial(_part(_grid({f"{fill} % full": fill for fill in (MIX_FILL, 90)}, mixes), some), self.mix, MIX, QUEUES[:1], {READ_FIRST: "out-of-order"})
        self.parallel = Trial(self.queued.points, self.mix, IDLE_DIES, PARALLEL, {READ_FIRST: "in-order"})
        hot = _part(_grid(fills, {"64 MiB": 64, "1024 MiB": 1024}, "hot set"), some)
        self.batched = Trial(hot, self.conflicts, BATCHED, BATCHES, {READ_FIRST: "in-order"})
        self.batched_dies = Trial(hot, self.conflicts, BATCHED, tuple(replace(remedy, figures=()) for remedy in BATCHES), {READ_FIRST: "out-of-order"})
        self.suspended = Trial(self.queued.points, self.mix, MIX, QUEUES[1:], {})

    def flood(self, fill, settings):
        """8 GB of sequential writes behind the data of a drive that was left alone; no chance in it."""
        load = f"rw: write, bs: 1m, iodepth: 64, offset: {fill}%, size: {self.drives.mib(8192)}"
        return self.drives.run(DRIVE, filled(fill), load, settings, log=True, certain=True)

    def mixed(self, point, settings, seconds=SECONDS):
        """Small hot writes, often to the same places, and large cold ones to new places, to a drive whose pSLC is full."""
        fill, hot = point
        time = f"runtime: {seconds / 100 if self.drives.short else seconds} s"
        loads = [f"{HOT}, size: {self.drives.mib(hot)}, {time}", f"{COLD}, size: {self.drives.mib(8192)}, {time}"]
        return self.drives.run(DRIVE, filled(fill, IN_USE), loads, settings)

    def small_files(self, fill, settings):
        """Small files written among large ones, left alone, and read; then the large ones."""
        size, large = self.drives.mib(256), self.drives.mib(1024)
        return self.drives.run(DRIVE, filled(fill), [
            f"name: small, rw: write, bs: 16k, iodepth: 4, offset: 42%, size: {size}",
            f"name: large, rw: write, bs: 1m, iodepth: 4, offset: 45%, size: {large}",
            f"name: reads, stonewall: true, startdelay: {REST}, rw: randread, bs: 16k, offset: 42%, size: {size}, io_size: 100g, number_ios: 5000",
            f"name: large reads, stonewall: true, rw: randread, bs: 128k, offset: 45%, size: {large}, io_size: 100g, number_ios: 2000"], settings)

    def read_again(self, point, settings):
        """The same old data over and over beside writes: 4 KB, Zipf 1.1, and 128 KB at 60 MB/s; measured after a while."""
        fill, hot = point
        before, measured = (0.1, 0.1) if self.drives.short else (5, 3)
        times = f"time_based: true, ramp_time: {before} s, runtime: {measured} s"
        settings = {key: "8 MiB" if self.drives.short and key.endswith("capacity") else value for key, value in settings.items()}
        return self.drives.run(DRIVE, filled(fill), [
            f"rw: randread, bs: 4k, iodepth: 2, offset: 2%, size: {self.drives.mib(hot)}, random_distribution: \"zipf:1.1\", {times}",
            f"rw: randwrite, bs: 128k, iodepth: 16, rate: 60m, offset: 20%, size: {self.drives.mib(2048)}, {times}"], settings)

    def conflicts(self, point, settings):
        """Reads and writes of old data, 4 KB, Zipf 1.1, 64 at a time: many want the same dies."""
        fill, hot = point
        count = 2000 if self.drives.short else BATCHED_REQUESTS
        load = (f"rw: randrw, rwmixread: {BATCHED_READS}, bs: 4k, iodepth: 64, offset: 2%, size: {self.drives.mib(hot)}, random_distribution: \"zipf:1.1\", io_size: 100g, "
                f"number_ios: {count}")
        return self.drives.run(DRIVE, filled(fill, IN_USE), load, settings)

    def mix(self, point, settings):
        fill, reads = point
        return self.reads.mix(DRIVE, reads, "with migration", settings, fill)

    # ------------------------------------------------------------------------------------------------------------------- the page

    def write_floods(self, page):
        page.text("## Behind the cliff")
        page.text("""
Sequential writes of 1 MB to a drive left alone; MB/s of the second half of 8 GB. Nothing in it depends on chance. A quarter full, the pSLC takes in
most of the 8 GB.
""")
        self.floods.write(page)

    def start_paths(self):
        self.paths.start()
        for point in self.paths.points.values():
            for settings in ({}, PATHS[-1].settings):
                self.mixed(point, settings, SECONDS // 2)
        self.one_buffer.start()

    def write_paths(self, page):
        page.text("## What goes straight to QLC")
        page.text("""
4 KB at random to a hot set (Zipf 1.1) beside a stream of 512 KB to new places, 8 at a time each, on a drive in use, 20 s. WA is write amplification, *life* what is programmed costs of all flash's
endurance per TB written, 1000 cycles native or 30 000 in SLC mode. The rate of the cold writes is what
it costs: this criterion had been dropped from the older page, where known cold data lost 7 % at one fill.
""")
        self.paths.write(page)
        half = [self.mixed(point, PATHS[-1].settings, SECONDS // 2).of(bandwidth) / self.mixed(point, {}, SECONDS // 2).of(bandwidth)
                for point in self.paths.points.values()]
        page.text(f"""
What a policy has to learn takes its time: over {SECONDS // 2} s only, {PATHS[-1].name}'s hot writes have {', '.join(ratio.text() for ratio in half)} of the rate without a policy, in the order of
the table.
""")
        self.one_buffer.write(page)
        page.text("""
Data that go straight to QLC fold nothing, so write amplification falls, and hot writes find room in the pSLC. That alone does not make them faster: **in one write
buffer** for all (16 MiB), what is on its way to QLC fills it, and hot writes wait for programs of 8.7 ms. With a part of the buffer for each
(`bypass_buffer`, half of it) and turns at the dies they gain what the survey expects. Cold writes then get what hot ones leave of the dies.
""")

    def write_small(self, page):
        page.text("## Small data kept in SLC")
        page.text(f"256 MiB of files of 16 KB, written among 1 GiB of large ones, read at random after {REST} alone; then 128 KB pieces of the large ones.")
        self.small.write(page)

    def write_again(self, page):
        page.text("## Hot old data read beside writes")
        page.text("""
A hot set written long ago, read over and over at random, 4 KB (Zipf 1.1), 2 at a time, beside writes of 128 KB at 60 MB/s; measured for 3 s after 5 s.
""")
        self.again.write(page)

    def write_queues(self, page):
        page.text("## Reads that wait for writes")
        page.text("""
Figure 10's mixes of 4 KB, 64 at a time, on a drive in use whose every write makes it fold. Reads first is what the drive does as it is, so it is compared with dies that work
in the order of arrival; suspending is compared with the drive as it is.
""")
        self.queued.write(page)
        self.suspended.write(page)

    def write_parallel(self, page):
        page.text("## Requests that wait for a busy die")
        page.text("""
Gao et al. (2014, [18]) issue requests that meet on no die together, and keep those that do for a later batch. Here it is the flash scheduler that sees the dies: `in-order` starts
the operations of a channel as they came, so that one which waits for its die holds up all behind it; `out-of-order` starts what has a free die. This effect alone, without their batches
(part `batches`). The same mixes as above; both without reads first.
""")
        self.parallel.write(page)

    def start_batches(self):
        self.batched.start()
        self.batched_dies.start()

    def write_batches(self, page):
        page.text("## Reads in batches without conflicts")
        page.text(f"""
Parallel issue queuing (Gao et al. 2014, [18]): requests that meet on no die are issued as one batch, those that do in different batches, reads before writes; `firmware.parallel_issue`. 4 KB
of old data, {BATCHED_READS} % reads, at random within a hot set (Zipf 1.1), 64 at a time, on a drive in use. It is compared with first in, first out: the operations of a channel in the order
of their arrival (`in-order`), no batches. The paper's abstract says what a batch is, and that applications with heavy conflicts gain significantly; it is a scheduler of the host
there. Assumed (A): firmware does it, since the host of a page-mapped drive does not know the dies; a batch is closed, and the next one goes when all of it has ended; what is compared are
dies; writes have no die before they are written out, so that programs of the write buffer wait while reads do, 20 ms at most. The tolerances were set before the first run.
""")
        self.batched.write(page)
        page.text("The same against dies that each have a queue of their own (`out-of-order`), which the host's scheduler of 2014 could not count on; not judged, because nothing is published.")
        self.batched_dies.write(page)
        page.text("""
Seen afterwards, with rows and a column that were added in sight of the others: median and rate are won by writes that wait, not by batches. What waits stays in the write buffer, which
then answers twice as many reads of a hot set. Batches that nothing waits for halve the rate, because all of a batch wait for its slowest read, which waits for a program. So the two *yes* say
little for the paper's mechanism, and the *no* is its price on dies that program for long. With four batches at once (`at_once`) a slow read holds up fewer others: then batches alone give a
tenth more requests than first in, first out, which is the paper's direction, and a fifth fewer than queues of the dies' own. How strictly one batch follows the other, which the abstract leaves
open, decides more than anything else here. The fill makes hardly a difference: 40 000 requests end before it does.
""")


def _grid(outer, inner, words=""):
    return {f"{a}, {words + ' ' if words else ''}{b}": (x, y) for a, x in outer.items() for b, y in inner.items()}


def _part(points, some):
    return dict(list(points.items())[some])
