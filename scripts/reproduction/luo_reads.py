"""Figures 6 to 8 and 10 to 12 of Luo et al.: reads of fresh and folded data, reads beside writes, the start of applications."""

import page as pages
from luo_drives import IDLE, IN_USE, SCALE, bandwidth, distribution, filled, microseconds, yes

FILE = 6144 // SCALE  # MiB: 6 GB of IOzone
ACCESSES = {"sequential": "rw: read, bs: 512k", "random": "rw: randread, bs: 4k"}
PERCENTILES = ["p50", "p99", "p99.9"]
REST = "60 s"  # simulated time in which a drive folds what it has taken in

# Figure 10: reads in the mix, and whether data migrate: a drive left alone, or one whose pSLC is full of data that are still valid.
MIXES = [100, 90, 70, 50, 30, 10]
MIX_STATES = {"without migration": IDLE, "with migration": IN_USE}
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
NEAR = 0.05


def around_median(report):
    """The latencies that 50 - STEP and 50 + STEP per cent of the reads do not exceed, us: two where the median stands on a step."""
    points = list(zip(*distribution(report, load=1)))
    return tuple(next(latency for share, latency in points if share >= wanted) for wanted in (0.5 - STEP / 100, 0.5 + STEP / 100))


def within(published, below, above):
    """Whether a median that lies somewhere from `below` to `above` is the published one within NEAR."""
    if above <= published * (1 + NEAR) and below >= published * (1 - NEAR):
        return yes(True)
    return "undecided" if below < published * (1 + NEAR) and above > published * (1 - NEAR) else yes(False)


class Reads:
    """The runs. Each method returns a future."""

    def __init__(self, drives):
        self.drives = drives
        self.short = drives.short
        self.mixes = [100, 50] if self.short else MIXES

    def file(self, drive, fill, access):
        """A file of IOzone that was written long ago."""
        count = {"sequential": 2 * FILE, "random": 60_000}[access]
        return self.drives.run(drive, filled(fill), f"{ACCESSES[access]}, iodepth: 32, offset: 2%, size: {self.drives.mib(FILE)}, io_size: 100g, "
                               f"number_ios: {count}")

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

    def mix(self, drive, reads, state, changes=None):
        """4 KB at random over 64 MB, 64 at a time."""
        count = 2000 if self.short else 150_000
        return self.drives.run(drive, filled(MIX_FILL, MIX_STATES[state]),
                               f"rw: randrw, rwmixread: {reads}, bs: 4k, iodepth: 64, offset: 80%, size: 64m, io_size: 100g, number_ios: {count}",
                               changes)

    def application(self, drive, phase, beside, changes=None):
        depth, seconds = PHASES[phase]
        seconds = 0.2 if self.short else seconds
        amounts = {name: self.drives.mib(amount) for name, amount in AMOUNTS.items()}
        loads = [f"name: application, {APPLICATION.format(**amounts)}, iodepth: {depth}, time_based: true, runtime: {seconds} s"]
        if BESIDE[beside]:
            loads.append(f"{BESIDE[beside].format(**amounts)}, runtime: {seconds} s")
        return self.drives.run(drive, filled(70, IN_USE), loads, changes)

    def start_all(self):
        for drive in self.drives.drives:
            for fill in (10, 90):
                for access in ACCESSES:
                    self.file(drive, fill, access)
        for drive in self.drives.hybrids:
            for old in (False, True):
                self.age(drive, old)
        self.critical("665p")
        for reads in self.mixes:
            for state in MIX_STATES:
                self.mix("665p", reads, state)
            self.mix("SLC", reads, "without migration")
        for phase in PHASES:
            for beside in BESIDE:
                self.application("665p", phase, beside)
                self.application("SLC", phase, beside)

    # ------------------------------------------------------------------------------------------------------------------- the page

    def write(self, page):
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
                low, high = (bandwidth(self.file(drive, fill, access).result()) for fill in (10, 90))
                stable[drive, access] = high / low
                row += [f"{low:.0f}", f"{high:.0f}", f"{high / low:.2f}"]
            rows.append(row)
        page.table([""] + [f"{access}{what}" for access in ACCESSES for what in (", 10 %", ", 90 %", ", ratio")], rows)
        page.table(["", "measured", "agrees"], [
            [f"{drive}: as fast at 90 % as at 10 % (S)", ", ".join(f"{stable[drive, access]:.2f}" for access in ACCESSES),
             yes(all(abs(stable[drive, access] - 1) < 0.1 for access in ACCESSES))] for drive in self.drives.hybrids])

    def write_age(self, page):
        page.text("## Figure 7: fresh and folded data")
        page.text(f"""
512 MB written, then read at random, 4 KB at a time, one after the other: at once (case 1), or after {REST} in which nothing is asked of the drive (case 2).
""")
        results = {(drive, old): self.age(drive, old).result() for drive in self.drives.hybrids for old in (False, True)}
        with page.figure("figure7", "Latency of reads of fresh and of folded data", height=2.8) as axes:
            for n, drive in enumerate(self.drives.hybrids):
                for old, style in ((False, "-"), (True, "--")):
                    shares, latencies = distribution(results[drive, old], load=1)
                    axes.plot(latencies, [100 * s for s in shares], style, color=pages.COLOURS[n], drawstyle="steps-post",
                              label=f"{drive}, {'folded' if old else 'fresh'}")
            axes.set_xlabel("us")
            axes.set_ylabel("% of reads")
            axes.legend(frameon=False, ncols=3, loc="lower center", bbox_to_anchor=(0.5, 1.0))
        rows = []
        for (drive, old), report in results.items():
            below, above = around_median(report)
            published = {("665p", False): 58, ("665p", True): 128}.get((drive, old))
            if above == below:
                below = above = microseconds(report, "p50", load=1)
            measured = f"{below:.1f}" if above == below else f"{below:.1f} or {above:.1f}"
            rows.append([f"{drive}, {'folded' if old else 'fresh'}", published or "", measured, f"{microseconds(report, 'mean', load=1):.1f}",
                         f"{microseconds(report, 'p99', load=1):.1f}", within(published, below, above) if published else ""])
        page.table(["", "median published, us (S; which drive is not said)", "median measured", "mean", "p99", "within 5 %"], rows)
        page.text(f"""
The four pages of a QLC word line take 1, 2, 4 and 8 senses, so that folded data have four latencies, a quarter of the reads each, and the median stands on the step from
the second to the third: where {50 - STEP} % and {50 + STEP} % of the reads are faster than two different latencies, both are given. *Undecided*: the published median
lies between them. For the 665p they are those of its dies as others measured them (F: PACA, ICCD 2022), and not fitted to this figure. What the published curve looks like is
not known. Fresh data are calibrated.
""")

    def write_critical(self, page):
        page.text("## Figure 8: critical data after daily use")
        page.text(f"""
A library of 2 MB, read in pieces of 16 KB when it has just been written, and again after three times of other writes with pauses of {REST}. None has
touched it; that it has been folded meanwhile is nothing that a user can know.
""")
        report = self.critical("665p").result()
        last = len(report.content["results"]["loads"]) - 1
        new, old = microseconds(report, "mean", load=1), microseconds(report, "mean", load=last)
        slower = microseconds(self.age("665p", True).result(), "mean", load=1) - microseconds(self.age("665p", False).result(), "mean", load=1)
        page.table(["", "measured", "agrees"], [
            ["mean when new, us", f"{new:.0f}", ""], ["after daily use", f"{old:.0f}", ""],
            ["slower by what QLC is slower (S: at the latency of QLC), us", f"{old - new:.0f} against {slower:.0f} in Figure 7",
             yes(abs(old - new - slower) < 0.1 * slower)]])

    def write_mixes(self, page):
        page.text("## Figure 10: reads beside writes")
        page.text(f"""
4 KB at random over 64 MB, 64 at a time. Without migration: a drive {MIX_FILL} % full that has been left alone. With migration (the paper's W90+): the same
drive, its pSLC full of data that are still valid, so that whatever is written makes it fold. Latencies of the reads in us. What
shortens the tail, suspending and reading first, stands below under Remedies.
""")
        rows, tail = [], {}
        for reads in self.mixes:
            row = [f"R{reads} W{100 - reads}"]
            for label, report in (("SLC", self.mix("SLC", reads, "without migration")), ("without", self.mix("665p", reads, "without migration")),
                                  ("with", self.mix("665p", reads, "with migration"))):
                values = [microseconds(report.result(), p) for p in PERCENTILES]
                tail[reads, label] = values
                row.append(" / ".join(f"{value:.0f}" for value in values))
            rows.append(row)
        page.table(["p50 / p99 / p99.9", "SLC", "665p, without migration", "665p, with migration"], rows)
        with page.figure("figure10", "Latencies of reads beside writes", height=3.2) as axes:
            shown = [reads for reads in self.mixes if reads in (90, 50, 10)]
            for n, reads in enumerate(shown):
                for style, run in (("-", self.mix("665p", reads, "with migration")), ("--", self.mix("665p", reads, "without migration")),
                                   (":", self.mix("SLC", reads, "without migration"))):
                    shares, latencies = distribution(run.result())
                    axes.plot([100 * s for s in shares], latencies, style, color=pages.COLOURS[n], label=f"R{reads}" if style == "-" else None)
            axes.set_yscale("log")
            axes.set_xlabel("% of reads; with migration solid, without dashed, SLC dotted")
            axes.set_ylabel("us")
            axes.legend(frameon=False)
        mixed = [reads for reads in self.mixes if reads < 100]
        page.table(["", "p99.9 over p99.9", "agrees"], [
            [f"R{reads}: longer with migration than without (S: much), and than SLC",
             f"{tail[reads, 'with'][2] / tail[reads, 'without'][2]:.1f}, {tail[reads, 'with'][2] / tail[reads, 'SLC'][2]:.1f}",
             yes(tail[reads, "with"][2] > 2 * tail[reads, "without"][2] and tail[reads, "with"][2] > tail[reads, "SLC"][2])] for reads in mixed]
            + [[f"R{reads}: pure drives, too, suffer from writes (S)", f"{tail[reads, 'SLC'][2] / tail[100, 'SLC'][2]:.1f}",
                yes(tail[reads, "SLC"][2] > 1.5 * tail[100, "SLC"][2])] for reads in mixed])
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
                    report = self.application(drive, phase, beside).result()
                    tails[drive, beside] = [microseconds(report, p) for p in PERCENTILES]
                    rows.append([f"{drive}, {beside}"] + [f"{value:.0f}" for value in tails[drive, beside]])
            page.table([words] + PERCENTILES, rows)
            with page.figure(f"figure{figure}", f"Latencies of the application's reads: {phase}", height=2.6) as axes:
                for n, beside in enumerate(BESIDE):
                    shares, latencies = distribution(self.application("665p", phase, beside).result())
                    axes.plot(latencies, [100 * s for s in shares], color=pages.COLOURS[n], label=beside)
                axes.set_xscale("log")
                axes.set_xlabel("us")
                axes.set_ylabel("% of reads")
                axes.legend(frameon=False)
            page.table(["", "p99.9 over that alone", "agrees"], [
                [f"{beside}: a serious tail (S)", f"{tails['665p', beside][2] / tails['665p', 'alone'][2]:.1f}",
                 yes(tails["665p", beside][2] > 3 * tails["665p", "alone"][2])] for beside in BESIDE if beside != "alone"])
