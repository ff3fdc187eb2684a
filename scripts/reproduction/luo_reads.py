"""Figures 6 to 8 and 10 to 12 of Luo et al.: reads of fresh and folded data, reads beside writes, the start of applications."""

import page as pages
from claims import NO, UNDECIDED, YES, Claim, Judged, Kind, all_of, at_least, near, verdict, within
from luo_drives import IDLE, IN_USE, SCALE, bandwidth, distribution, draw_latencies, filled, latencies, microseconds

FILE = 6144 // SCALE  # MiB: 6 GB of IOzone
ACCESSES = {"sequential": "rw: read, bs: 512k", "random": "rw: randread, bs: 4k"}
PERCENTILES = ["p50", "p99", "p99.9"]
REST = "60 s"  # simulated time in which a drive folds what it has taken in

# Figure 10: reads in the mix, and whether data migrate: a drive left alone, or one whose pSLC is full of data that are still valid.
MIXES = [100, 90, 50, 10]
MIX_STATES = {"without migration": IDLE, "with migration": IN_USE}
MIX_REQUESTS, MIX_WRITES = 100_000, 40_000  # at least; fewer writes find room in pSLC even when it is full
MIX_FILL = 74  # per cent; a little below where there is no dynamic pSLC left, so that there is one to be migrated out of

# Figures 11 and 12: data of an application, 256 MB of them, read in runs and at random (A); what goes on beside it (A).
APPLICATION = "offset: 2%, size: {application}, rw: randread, bssplit: 4k/50:16k/25:128k/25, percentage_random: 70"
BESIDE = {
    "alone": None,
    "SWAP": "name: swap, rw: randrw, rwmixread: 50, bsrange: 4k-64k, iodepth: 8, offset: 80%, size: {swap}, time_based: true",
    "MD": "name: download, rw: write, bs: 512k, rate: 40m, iodepth: 8, offset: 82%, size: {download}, time_based: true",
}
AMOUNTS = {"application": 256, "swap": 512, "download": 4096}  # MiB
PHASES = {"start": (4, 12), "run": (1, 4)}  # requests at a time, seconds of it
STEP = 5  # per cent of the reads to either side of the median that may be as fast as the median itself is said to be
AGES = {False: "fresh", True: "folded"}

WITHOUT_EFFECT = ("writes do not matter to reads", 1)
CLAIMS = {
    "stable": Claim(Kind.PREDICTED, "Figure 6, {}: reads at 90 over those at 10 %, sequential and random", "stable (S)", near(1, 0.1), ("fill does not matter", 1)),
    "fresh": Claim(Kind.CALIBRATED, "Figure 7, fresh data (fits the sense in SLC mode and the time beside it), us", "58 (S)", within(58, 0.05)),
    "folded": Claim(Kind.PREDICTED, "Figure 7, folded data, us", "128 (S)", within(128, 0.05), ("one time for all four pages, their mean", 152),
                    "the published median lies between the second and the third of four page types"),
    "critical": Claim(Kind.PREDICTED, "Figure 8: what critical data lose, over what folded data lose in Figure 7", "all of it (S)", near(1, 0.1),
                      ("nothing touches it, so nothing changes", 0), "pieces of 16 KB wait for several pages at once, single pages of 4 KB do not"),
    "migration": Claim(Kind.PREDICTED, "Figure 10, R90 to R10: p99.9 with migration over that without", "much longer (S)", at_least(2), WITHOUT_EFFECT),
    "hybrid": Claim(Kind.PREDICTED, "Figure 10, R90 to R10: p99.9 with migration over that of the SLC drive", "worse (S)", at_least(1.1), WITHOUT_EFFECT),
    "pure": Claim(Kind.PREDICTED, "Figure 10, R90 to R10: p99.9 of the SLC drive over its p99.9 of reads alone", "pure drives suffer, too (S)", at_least(1.5), WITHOUT_EFFECT),
    "tail": Claim(Kind.PREDICTED, "Figure {}, {}: p99.9 over that alone", "a serious tail (S)", at_least(3), WITHOUT_EFFECT),
}


def around_median(seeds):
    """Samples of the latencies that 50 - STEP and 50 + STEP per cent of the reads do not exceed, us: two where the median stands on a step."""
    def at(report, wanted):
        return next(latency for share, latency in zip(*distribution(report, load=1)) if share >= wanted)
    return tuple(seeds.of(lambda report, wanted=wanted: at(report, wanted)) for wanted in (0.5 - STEP / 100, 0.5 + STEP / 100))


def judged_median(claim, below, above):
    """A claim of a median that lies somewhere from `below` to `above`: decided where it makes no difference where."""
    verdicts = [verdict(one, claim.region) for one in (below, above)]
    outside = below.is_known and (above.high < claim.region.low or below.low > claim.region.high)
    decided = YES if all_of(verdicts) == YES else NO if outside else UNDECIDED
    return Judged(claim, below.text(".1f") if above.mean == below.mean else f"{below.text('.1f')} or {above.text('.1f')}", decided)


class Reads:
    """The runs. Each method returns Seeds."""

    def __init__(self, drives):
        self.drives = drives
        self.short = drives.short
        self.mixes = [100, 50] if self.short else MIXES

    def file(self, drive, fill, access):
        """A file of IOzone that was written long ago."""
        count = {"sequential": 2 * FILE, "random": 30_000}[access]
        return self.drives.run(drive, filled(fill), f"{ACCESSES[access]}, iodepth: 32, offset: 2%, size: {self.drives.mib(FILE)}, io_size: 100g, "
                               f"number_ios: {count}", certain=access == "sequential")

    def age(self, drive, old):
        """Random reads of 4 KB, one at a time, of 512 MB just written, or written before the drive was left alone."""
        size = self.drives.mib(512)
        write = f"name: file, rw: write, bs: 1m, iodepth: 8, offset: 40%, size: {size}"
        rest = f", startdelay: {REST}" if old else ""
        read = f"name: reads, stonewall: true{rest}, rw: randread, bs: 4k, offset: 40%, size: {size}, io_size: 100g, number_ios: 20000"
        return self.drives.run(drive, filled(25), [write, read])

    def critical(self, drive):
        """A library of 2 MB, read when it is new, and again after a day of other writes with pauses."""
        library = "rw: read, bs: 16k, offset: 30%, size: 2m"
        day = [f"name: day {n}, stonewall: true, startdelay: {REST}, rw: randwrite, bssplit: 4k/60:64k/40, iodepth: 4, offset: 40%, "
               f"size: {self.drives.mib(400)}, number_ios: {300 if self.short else 6000}" for n in range(3)]
        return self.drives.run(drive, filled(25), ["name: install, rw: write, bs: 128k, offset: 30%, size: 2m",
                                                   f"name: new, stonewall: true, {library}", *day,
                                                   f"name: old, stonewall: true, startdelay: {REST}, {library}"])

    def mix(self, drive, reads, state, changes=None, fill=MIX_FILL, writes=MIX_WRITES):
        """4 KB at random over 64 MB, 64 at a time."""
        count = 2000 if self.short else max(MIX_REQUESTS, writes * 100 // (100 - reads) if reads < 100 else 0)
        load = f"rw: randrw, rwmixread: {reads}, bs: 4k, iodepth: 64, offset: 92%, size: 64m, io_size: 100g, number_ios: {count}"
        return self.drives.run(drive, filled(fill, MIX_STATES[state]), load, changes)

    def application(self, drive, phase, beside, changes=None, fill=70, state=IN_USE):
        depth, seconds = PHASES[phase]
        seconds = 0.2 if self.short else seconds
        amounts = {name: self.drives.mib(amount) for name, amount in AMOUNTS.items()}
        loads = [f"name: application, {APPLICATION.format(**amounts)}, iodepth: {depth}, time_based: true, runtime: {seconds} s"]
        if BESIDE[beside]:
            loads.append(f"{BESIDE[beside].format(**amounts)}, runtime: {seconds} s")
        return self.drives.run(drive, filled(fill, state), loads, changes)

    def fills(self, drive):
        """Figure 6; what is in pure drives makes no difference to them."""
        return (10, 90) if drive in self.drives.hybrids else (10,)

    def start_reads(self):
        for drive in self.drives.drives:
            for fill in self.fills(drive):
                for access in ACCESSES:
                    self.file(drive, fill, access)
        for drive in self.drives.hybrids:
            for old in AGES:
                self.age(drive, old)
        self.critical("665p")

    def start_mixes(self):
        for reads in self.mixes:
            for state in MIX_STATES:
                self.mix("665p", reads, state)
            self.mix("SLC", reads, "without migration")

    def start_applications(self):
        for phase in PHASES:
            for beside in BESIDE:
                self.application("665p", phase, beside)
                self.application("SLC", phase, beside)

    # ------------------------------------------------------------------------------------------------------------------- the page

    def write_reads(self, page):
        self.write_file(page)
        self.write_age(page)
        self.write_critical(page)

    def write_file(self, page):
        page.text("## Figure 6: reads through a file system")
        page.text(f"IOzone's file of 6 GB, here {FILE} MiB, of a drive left alone: 512 KB in sequence, 4 KB at random, 32 at a time. MB/s.")
        rows, stable = [], {}
        for drive in self.drives.drives:
            row = [drive]
            for access in ACCESSES:
                rates = [self.file(drive, fill, access).of(bandwidth) for fill in self.fills(drive)]
                if len(rates) == 1:
                    row += [rates[0].text(".0f"), "", ""]
                    continue
                low, high = rates
                stable.setdefault(drive, []).append(high / low)
                row += [low.text(".0f"), high.text(".0f"), (high / low).text()]
            rows.append(row)
        page.table([""] + [f"{access}{what}" for access in ACCESSES for what in (", 10 %", ", 90 %", ", ratio")], rows)
        page.claims(*(CLAIMS["stable"].about(drive).judged(*stable[drive]) for drive in self.drives.hybrids))

    def write_age(self, page):
        page.text("## Figure 7: fresh and folded data")
        page.text(f"""
512 MB written, then read at random, 4 KB at a time, one after the other: at once (case 1), or after {REST} in which nothing is asked of the drive (case 2).
Which of the three drives the published medians of 58 and 128 us (S) are of is not said; taken for the 665p (A). us.
""")
        results = {(drive, old): self.age(drive, old) for drive in self.drives.hybrids for old in AGES}
        with page.figure("figure7", "Latency of reads of fresh and of folded data", height=2.8) as axes:
            for n, ((drive, old), runs) in enumerate(results.items()):
                draw_latencies(axes, runs, n, f"{drive}, {AGES[old]}", load=1)
            axes.set_xlabel("us")
            axes.set_ylabel("% of reads")
            axes.legend(frameon=False, ncols=3, loc="lower center", bbox_to_anchor=(0.5, 1.0))
        rows, judged = [], []
        for (drive, old), runs in results.items():
            below, above = around_median(runs)
            median, mean, p99 = latencies(runs, ("p50", "mean", "p99"), load=1)
            if below.mean == above.mean:
                below = above = median
            claim = CLAIMS[AGES[old]]
            one = judged_median(claim, below, above)
            rows.append([f"{drive}, {AGES[old]}", one.measured, mean.text(".1f"), p99.text(".1f")])
            judged += [one] if drive == "665p" else []
        page.table(["", "median", "mean", "p99"], rows)
        page.claims(*judged)
        page.text(f"""
The four pages of a QLC word line take 1, 2, 4 and 8 senses, so that folded data have four latencies, a quarter of the reads each, and the median stands on the step from
the second to the third: where {50 - STEP} % and {50 + STEP} % of the reads are faster than two different latencies, both are given. *Undecided*: the published median
lies between them. For the 665p they are those of its dies as others measured them (F: PACA, ICCD 2022), and not fitted to this figure. What the published curve looks like is
not known.
""")

    def write_critical(self, page):
        page.text("## Figure 8: critical data after daily use")
        page.text(f"""
A library of 2 MB, read in pieces of 16 KB when it has just been written, and again after three times of other writes with pauses of {REST}. None has
touched it; that it has been folded meanwhile is nothing that a user can know.
""")
        runs = self.critical("665p")
        new, old = (runs.of(lambda report, n=n: microseconds(report, "mean", load=n % len(report.content["results"]["loads"]))) for n in (1, -1))
        fresh, folded = (self.age("665p", age).of(lambda report: microseconds(report, "mean", load=1)) for age in AGES)
        page.table(["mean, us", "new", "old", "lost"], [["critical data", new.text(".1f"), old.text(".1f"), (old - new).text(".1f")],
                                                        ["Figure 7", fresh.text(".1f"), folded.text(".1f"), (folded - fresh).text(".1f")]])
        page.claims(CLAIMS["critical"].judged((old - new) / (folded - fresh)))

    def write_mixes(self, page):
        page.text("## Figure 10: reads beside writes")
        page.text(f"""
4 KB at random over 64 MB, 64 at a time. Without migration: a drive {MIX_FILL} % full that has been left alone. With migration (the paper's W90+): the same
drive, its pSLC full of data that are still valid, so that whatever is written makes it fold; {MIX_REQUESTS:,} requests, or more until {MIX_WRITES:,} are writes, because fewer find room even then. Latencies of the reads in us. What
shortens the tail, suspending and reading first, stands among the [remedies](remedies.md).
""")
        shown = {"SLC": ("SLC", "without migration"), "without": ("665p", "without migration"), "with": ("665p", "with migration")}
        tail, rows = {label: {} for label in shown}, []
        for reads in self.mixes:
            for label, (drive, state) in shown.items():
                values = latencies(self.mix(drive, reads, state), PERCENTILES)
                tail[label][reads] = values[-1]
                rows.append([f"R{reads} W{100 - reads}, {drive}{'' if drive == 'SLC' else ', ' + state}", *(value.text(".0f") for value in values)])
        page.table(["", *PERCENTILES], rows)
        with page.figure("figure10", "Latencies of reads beside writes", height=3.2) as axes:
            for n, (reads, (label, (drive, state))) in enumerate((reads, one) for reads in self.mixes if reads in (90, 10) for one in shown.items()):
                draw_latencies(axes, self.mix(drive, reads, state), n, f"R{reads}, {label}{' migration' if drive != 'SLC' else ''}")
            axes.set_xscale("log")
            axes.set_ylabel("% of reads")
            axes.set_xlabel("us")
            axes.legend(frameon=False, ncols=2, loc="lower right")
        mixed = [reads for reads in self.mixes if reads < 100]
        page.claims(CLAIMS["migration"].judged(*(tail["with"][reads] / tail["without"][reads] for reads in mixed), form=".1f"),
                    CLAIMS["hybrid"].judged(*(tail["with"][reads] / tail["SLC"][reads] for reads in mixed), form=".1f"),
                    CLAIMS["pure"].judged(*(tail["SLC"][reads] / tail["SLC"][100] for reads in mixed), form=".1f"))
        page.text("""
Without migration nothing of 64 MB ever leaves the pSLC, so a hybrid drive is an SLC drive there. With migration reads wait for programs of whole
word lines of QLC, which take 8.7 ms.
""")

    def write_applications(self, page):
        for figure, phase, words in ((11, "start", "4 reads at a time"), (12, "run", "one read at a time")):
            page.text(f"## Figure {figure}: an application while it {'starts' if phase == 'start' else 'runs'}")
            if figure == 11:
                page.text("""
Reads of 256 MB of its data, written long ago, 4 to 128 KB, 70 % of them at random (A), of a drive in use that is 70 % full; alone, beside swapping (SWAP: reads
and writes of 4 to 64 KB, 8 at a time, A) or beside a download (MD: 40 MB/s, A). Latencies in us.
""")
            rows, tails = [], {}
            for drive in ("665p", "SLC"):
                for beside in BESIDE:
                    values = latencies(self.application(drive, phase, beside), PERCENTILES)
                    tails[drive, beside] = values[-1]
                    rows.append([f"{drive}, {beside}"] + [value.text(".0f") for value in values])
            page.table([words] + PERCENTILES, rows)
            with page.figure(f"figure{figure}", f"Latencies of the application's reads: {phase}", height=2.6) as axes:
                for n, beside in enumerate(BESIDE):
                    draw_latencies(axes, self.application("665p", phase, beside), n, beside)
                axes.set_xscale("log")
                axes.set_xlabel("us")
                axes.set_ylabel("% of reads")
                axes.legend(frameon=False)
            page.claims(*(CLAIMS["tail"].about(figure, beside).judged(tails["665p", beside] / tails["665p", "alone"], form=".1f") for beside in BESIDE if beside != "alone"))
