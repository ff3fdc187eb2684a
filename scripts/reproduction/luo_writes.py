"""Figures 3 to 5 of Luo et al.: writes through a file system, the cliff of sequential writes, random writes."""

import numpy

import page as pages
from claims import Claim, Kind, Region, at_least, at_most, within
from luo_drives import IDLE, IN_USE, PURE, SCALE, amplification, bandwidth, draw_rate, filled
from luo_forms import Forms, Pool
from samples import combined, largest

FILE = 8192 // SCALE  # MiB: 8 GB of IOzone
ACCESSES = {"sequential": "rw: write, bs: 512k", "random": "rw: randwrite, bs: 4k"}
FILLS = [25, 50, 75]
EMPTY = 1  # per cent: as good as new
LONGEST = {EMPTY: 14, 25: 20, 50: 20, 75: 12}  # GiB of sequential writes behind the data
PROGRAM = "ssd.flash.part.program_latency"
# What makes the TLC drive write as the SLC drive does, or not: changes to pure_tlc.yaml, MB/s of a die of four planes by them.
TLC = {"TLC as it is: a word line takes what 132 MB/s of a die leave it, 1489 us (F: ISSCC 2019)": ({}, 132),
       "a vendor's 500 us read as the time of a word line (A)": ({PROGRAM: "[166667 ns]"}, 393),
       "700 us read as the time of a word line (A)": ({PROGRAM: "[233333 ns]"}, 281),
       "TLC as it is, sixteen dies (A)": ({"ssd.flash.ways": "4"}, 132)}
D660P = {"ssd.flash.part.file": "parts/nand/qlc-64-layer.yaml", "ssd.flash.part.pages_per_block": "256"}  # of the 665p
TIMES = 5  # how often the file of Figure 5 is written (S)
STEPS = 10  # of 512, left out at the beginning
MIB = 1 << 20

ROOM = ("writes always find room in SLC mode", 1)
CLAIMS = {
    "slc": Claim(Kind.GIVEN, "Figure 3, {}: hybrid drives over the SLC drive, 10 % full", "near (S)", at_least(0.8)),
    "below": Claim(Kind.PREDICTED, "Figure 3, {}: hybrid drives over the slower of both pure drives, 90 % full and in use", "clearly below (S)", at_most(0.5), ROOM),
    "tlc": Claim(Kind.PREDICTED, "Figure 3, {}: TLC over SLC", "hardly differ (S)", at_least(0.8), ("all cells alike", 1),
                 "a die of TLC programs half of what one of SLC does; sixteen dies of TLC write as eight of SLC"),
    "cliff": Claim(Kind.SELF_CONSISTENT, "Figure 4, {}: where the cliff is, over the closed form, three fills", "1 (D)", within(1, 0.05)),
    "rate": Claim(Kind.SELF_CONSISTENT, "Figure 4, {}: rate behind the cliff over the closed form, three fills", "1 (D)", within(1, 0.05)),
    "earlier": Claim(Kind.GIVEN, "Figure 4: the cliff at 50 over that at 25 %, at 75 over that at 50 %", "earlier (S)", at_most(0.9)),
    "qlc": Claim(Kind.PREDICTED, "Figure 4: rate behind the cliff over plain QLC (D), three drives, three fills", "below (S)", at_most(0.9),
                 ("writes go to QLC at once", 1)),
    "plain": Claim(Kind.PREDICTED, "Figure 4: rate behind the cliff over plain SLC, three fills", "below (S)", at_most(0.5), ROOM),
    "p1 size": Claim(Kind.GIVEN, "P1, whole drive, nearly empty: GB until the cliff", "120 to 140 GB (F)", Region(114, 147, "120 to 140 GB ± 5 %")),
    "p1 rate": Claim(Kind.CALIBRATED, "P1, nearly empty: MB/s behind the cliff (fits the number of dies)", "150 MB/s (F)", within(150, 0.1),
                     otherwise="over so short a write the tenth of the pSLC counts that is still free when folding begins"),
    "660p": Claim(Kind.PREDICTED, "660p (the 665p with its dies): MB/s behind the cliff", "100 MB/s (F)", within(100, 0.2), ("its dies as plain QLC, 8 x 12 MB/s", 96),
                  "eight dies of 12 MB/s (F) that fold as well"),
    "spread": Claim(Kind.PREDICTED, "Figure 5, {}: largest fluctuation over that of the pure drive that fluctuates most", "fluctuates (S)", at_least(2),
                    ("no pSLC", 1)),
}


class Writes:
    """The runs. Each method returns Seeds."""

    def __init__(self, drives):
        self.drives = drives
        self.short = drives.short
        self.fills = [25] if self.short else FILLS

    def file(self, drive, fill, access, changes=None, state=IN_USE):
        """IOzone's 8 GB (a sixteenth of it) written to a new place of a drive."""
        load = f"{ACCESSES[access]}, iodepth: 32, offset: 92%, size: {self.drives.mib(FILE)}"
        return self.drives.run(drive, filled(fill, state), load, changes, certain=access == "sequential")

    def flood(self, drive, fill, state=IDLE, changes=None):
        """Sequential writes behind the data of a drive, until they end near its end."""
        load = f"rw: write, bs: 1m, iodepth: 64, offset: {fill}%, size: {self.drives.mib(LONGEST[fill] * 1024)}"
        return self.drives.run(drive, filled(fill, state), load, changes, log=True, certain=True)

    def looked_at(self, drive, fill):
        """The same drive as it is before."""
        return self.drives.run(drive, filled(fill), "rw: read, bs: 4k, number_ios: 1", certain=True)

    def random(self, drive, fill):
        """A file of 2 GB in the midst of the data of an idle drive, written several times over at random."""
        size, all_of_it = self.drives.mib(2048), self.drives.mib(TIMES * 2048)
        return self.drives.run(drive, filled(fill), f"rw: randwrite, bs: 4k, iodepth: 32, size: {size}, io_size: {all_of_it}")

    def start_files(self):
        for drive in self.drives.drives:
            for fill in (10, 90):
                for access in ACCESSES:
                    self.file(drive, fill, access)
        for access in ACCESSES:
            for changes, _ in TLC.values():
                self.file("TLC", 10, access, changes)

    def start_floods(self):
        for drive in self.drives.hybrids:
            for fill in self.fills:
                self.flood(drive, fill)
                self.looked_at(drive, fill)
        for pure in ("SLC", "QLC"):
            self.flood(pure, 25)
        if not self.short:
            self.flood("P1", EMPTY)
            self.flood("665p", EMPTY, changes=D660P)

    def start_random(self):
        for drive, fill in self.randomly():
            self.random(drive, fill)

    def randomly(self):
        """Drives and how full they are; what is in pure drives makes no difference to them."""
        return [("665p", fill) for fill in self.fills] + [(drive, self.middle()) for drive in self.drives.hybrids[1:]] + [(drive, 25) for drive in PURE]

    def middle(self):
        return self.fills[len(self.fills) // 2]

    # ------------------------------------------------------------------------------------------------------------------- the page

    def write_files(self, page):
        page.text("## Figure 3: writes through a file system")
        page.text(f"""
IOzone's file of 8 GB, here {FILE} MiB, written once to new addresses: requests of 512 KB (sequential) and 4 KB (random), 32 at a time, as a page cache
writes back (A). The drives are in use (A): filled, and measured at once. What is in pSLC by then fills it at 90 %. MB/s.
""")
        rates, judged = {}, []
        for access in ACCESSES:
            rows = []
            for drive in self.drives.drives:
                low, high = (self.file(drive, fill, access).of(bandwidth) for fill in (10, 90))
                rates[access, drive] = low, high
                rows.append([f"{access}, {drive}", low.text(".0f"), high.text(".0f"), (high / low).text()])
            page.table(["", "10 % full", "90 % full", "ratio"], rows)
        with page.figure("figure3", "Bandwidth of writes of a file, relative to each hybrid drive at 10 %", height=2.8) as axes:
            series = {label: [] for label in ("10 %", "90 %", "SLC", "TLC")}
            for access in ACCESSES:
                for drive in self.drives.hybrids:
                    base, full = rates[access, drive]
                    for label, value in zip(series, (base, full, rates[access, "SLC"][0], rates[access, "TLC"][0])):
                        series[label].append(value / base)
            pages.bars(axes, [f"{drive},\n{access}" for access in ACCESSES for drive in self.drives.hybrids], series)
            axes.set_ylabel("relative to 10 %")
        for access in ACCESSES:
            slc, tlc = rates[access, "SLC"][0], rates[access, "TLC"][0]
            slower = combined(min, slc, tlc)
            judged += [CLAIMS["slc"].about(access).judged(*(rates[access, drive][0] / slc for drive in self.drives.hybrids)),
                       CLAIMS["below"].about(access).judged(*(rates[access, drive][1] / slower for drive in self.drives.hybrids)),
                       CLAIMS["tlc"].about(access).judged(tlc / slc)]
        page.claims(*judged)
        page.text("""
That hybrid drives are as fast as the SLC drive at 10 % is put in: the SLC drive has their dies, in SLC mode throughout. The paper explains that SLC and TLC hardly differ with
the larger pages of TLC, which let more be written at a time. Its two pure drives are enterprise drives of
unknown size. Here TLC is programmed so: whole word lines, three pages of each of four planes by one operation, 192 KiB where SLC programs 64 KiB (A: all pages of
a word line in one pass). But the word line takes its time, too: at the published 132 MB/s of a die it takes 1489 us (D), and eight such dies write half of
what eight dies of SLC do. What would have to be otherwise:
""")
        rows = []
        for label, (changes, die) in TLC.items():
            shares = {access: self.file("TLC", 10, access, changes).of(bandwidth) for access in ACCESSES}
            rows.append([label, str(die), *(value.text(".0f") for value in shares.values()),
                         ", ".join((value / rates[access, "SLC"][0]).text() for access, value in shares.items())])
        page.table(["", "a die, MB/s", *ACCESSES, "of SLC"], rows)
        page.text("""
Announced figures of 500 to 700 us for a TLC program are times per page: Samsung, whose fifth generation of V-NAND was announced with 500 us, published 82 MB/s of two planes for
the sixth (ISSCC 2019), which are 1200 us for a word line and 400 us per page; and a public simulator of TLC dies has 2100 us for the one shot and a third of it as "average"
(py_ssd_sim, F). Read as times of a word line (the middle rows) they would make SLC and TLC alike, but then a die of four planes would program 281 or 393 MB/s, where the fastest of
four planes that is known here programs 205 MB/s (`docs/modelling.md`, NAND parts). With twice the dies the two do write alike: what the paper saw says how many dies its drives have, and
nothing about cells. So the *no* stands for drives of as many dies. Against either, the hybrid drives fall as published, if they are in use (part `levers`).
""")

    def write_floods(self, page):
        page.text("## Figure 4: sequential writes")
        page.text("""
1 MB, 64 at a time, behind the data of a drive that has been left alone, so that its pSLC is empty. The **cliff** is where the time per 32 MB has
doubled; by the closed form it is where folding begins: W = (1 - fold_below) pool(fill + W / U) with U the user capacity, in whole blocks of each die, less what the open ones hold
already. The **sustained rate** is that of everything behind the cliff. By the closed form, with the latencies of the part, its phases on the bus and erases: 1 / (1/slc +
f (1/read + 1/qlc)), each a rate of all dies, f = 1, or while the pSLC gets smaller with every byte (between 25 and 75 %) f = 1 + dynamic / (50 % U); less
what fits into the room that the pSLC still has when folding begins. Rates in MB/s. Nothing depends on chance.
""")
        for drive in self.drives.hybrids:
            with page.figure(f"figure4_{drive.lower()}", f"{drive}: bandwidth of sequential writes over time", height=2.6) as axes:
                shown = [(drive, fill, f"{fill} % full") for fill in self.fills] + [("SLC", 25, "plain SLC"), ("QLC", 25, "plain QLC")]
                for n, (name, fill, label) in enumerate(shown):
                    draw_rate(axes, self.flood(name, fill), n, label)
                axes.set_yscale("log")
                axes.set_xlabel("s")
                axes.set_ylabel("MB/s")
                axes.legend(frameon=False, ncols=5, loc="lower center", bbox_to_anchor=(0.5, 1.0))
        rows, cliffs, after, over = [], {}, {}, {"cliff": {}, "rate": {}, "qlc": {}}
        for drive in self.drives.hybrids:
            for fill in self.fills:
                report = self.flood(drive, fill).result()
                forms, pool = Forms(report), Pool(report, self.looked_at(drive, fill).result())
                place, behind = cliff_of(self.flood(drive, fill))
                cliffs[drive, fill], after[drive, fill] = place, behind
                wanted, sustained, plain = pool.cliff(fill / 100) / 1e9, sustained_form(forms, pool, fill, report) / 1e6, forms.plain_rate() / 1e6
                for name, ratio in (("cliff", place / wanted), ("rate", behind / sustained), ("qlc", behind / plain)):
                    over[name].setdefault(drive, []).append(ratio)
                rows.append([f"{drive}, {fill} %", f"{wanted:.2f} GB", place.text(unit="GB"), pages.percent(place / wanted), f"{sustained:.0f}", behind.text(".0f"),
                             pages.percent(behind / sustained), f"{plain:.0f}"])
        page.table(["", "cliff (D)", "measured", "", "sustained (D)", "measured", "", "plain QLC (D)"], rows)
        slc, qlc = (self.flood(name, 25).of(bandwidth) for name in ("SLC", "QLC"))
        page.text(f"Measured, plain SLC writes {slc.text('.0f')} MB/s and plain QLC {qlc.text('.0f')} (665p's dies).")
        judged = [CLAIMS[name].about(drive).judged(*over[name][drive]) for drive in self.drives.hybrids for name in ("cliff", "rate")]
        if not self.short:
            judged += self.judged_whole(cliffs, after, over, slc)
        page.claims(*judged)
        if not self.short:
            long = [Forms(self.flood(drive, EMPTY, changes=changes).result()).folding_rate() / 1e6 for drive, changes in (("P1", None), ("665p", D660P))]
            page.text(f"""
Nearly empty drives are written for {LONGEST[EMPTY]} GiB only, so that behind the cliff the tenth of the pSLC counts that is still free when folding begins. By the closed form without it
the P1 writes {long[0]:.0f} MB/s and the 660p {long[1]:.0f}: longer writes would be nearer to the published 150 and farther from the published 100.
""")

    def judged_whole(self, cliffs, after, over, slc):
        """What the paper and others say of the drives as a whole."""
        earlier = [cliffs[drive, b] / cliffs[drive, a] for drive in self.drives.hybrids for a, b in ((25, 50), (50, 75))]
        size, rate = cliff_of(self.flood("P1", EMPTY))
        _, old = cliff_of(self.flood("665p", EMPTY, changes=D660P))
        return [CLAIMS["earlier"].judged(*earlier), CLAIMS["qlc"].judged(*(ratio for drive in self.drives.hybrids for ratio in over["qlc"][drive])),
                CLAIMS["plain"].judged(*(after["665p", fill] / slc for fill in self.fills)),
                CLAIMS["p1 size"].judged(size * SCALE, form=".0f"), CLAIMS["p1 rate"].judged(rate, form=".0f"), CLAIMS["660p"].judged(old, form=".0f")]

    def write_random(self, page):
        page.text("## Figure 5: random writes")
        page.text(f"""
4 KB, 32 at a time, to a file of 2 GB (A) of an idle drive, {TIMES} times over. Fluctuation is the standard deviation of the bandwidth over time (512
steps, the first ten left out) relative to its mean; WA is write amplification. MB/s.
""")
        rows, spread = [], {}
        for drive, fill in self.randomly():
            runs = self.random(drive, fill)
            spread[drive, fill] = runs.of(fluctuation)
            rows.append([f"{drive}, {fill} % full", runs.of(bandwidth).text(".0f"), (spread[drive, fill] * 100).text(".0f", "%"), runs.of(amplification).text()])
        page.table(["", "MB/s", "fluctuation", "WA"], rows)
        with page.figure("figure5", "Bandwidth of random writes over time", height=2.8) as axes:
            for n, (drive, fill) in enumerate([("665p", fill) for fill in self.fills] + [("SLC", 25), ("TLC", 25)]):
                draw_rate(axes, self.random(drive, fill), n, f"{drive}, {fill} %")
            axes.set_xlabel("s")
            axes.set_ylabel("MB/s")
            axes.legend(frameon=False, ncols=5, loc="lower center", bbox_to_anchor=(0.5, 1.0))
        pure = largest(*(spread[drive, 25] for drive in PURE))
        page.claims(*(CLAIMS["spread"].about(drive).judged(largest(*(one for (name, _), one in spread.items() if name == drive)) / pure, form=".1f")
                      for drive in self.drives.hybrids))


def fluctuation(report):
    series = numpy.array(report.content["results"]["total"]["series"]["write"]["bandwidth"])[STEPS:-1]
    return series.std() / series.mean()


def cliff_of(seeds):
    """Samples of where the cliff is, GB, and of the rate behind it, MB/s."""
    return seeds.of(lambda report: cliff(report.log)[0] / 1e9), seeds.of(lambda report: cliff(report.log)[1] / 1e6)


def windows(log):
    """(instants of completion, commands of a window, seconds that each window takes) of writes of 1 MiB."""
    done = numpy.sort([completed for _, completed in log])
    window = min(32, len(done) // 8)
    return done, window, done[window:] - done[:-window]


def pace(log):
    """Seconds per command in the beginning."""
    _, window, times = windows(log)
    return numpy.median(times[window:4 * window]) / window  # the first ones only fill the write buffer


def cliff(log, usual=None):
    """(bytes, bytes/s): where the time per 32 MB has doubled against the beginning, or against so many seconds per command, and the rate from there to
    the end."""
    done, window, times = windows(log)
    # Where a window has become twice as long, only the end of it lies behind the cliff.
    normal = window * (usual or pace(log))
    slow = times[window:] > 2 * normal
    stays = numpy.convolve(slow, numpy.ones(4 * window), "valid") > 2 * window  # not for a moment: a block is erased
    first = numpy.nonzero(slow[:len(stays)] & stays)[0]
    place = 2 * window + int(first[0]) if len(first) else len(done) - 1
    behind = min(place + window, len(done) - 2)
    return place * MIB, (len(done) - 1 - behind) * MIB / (done[-1] - done[behind])


def sustained_form(forms, pool, fill, report):
    """Bytes/s behind the cliff, over all of it: the pSLC gets smaller until `gone_at`, and stays as it is from there on. In the end it is full."""
    begin = fill / 100 + pool.cliff(fill / 100) / pool.user
    end = fill / 100 + report.content["results"]["total"]["bytes"] / pool.user
    shrinking = max(min(end, pool.gone_at) - max(begin, pool.full_until), 0)
    constant = end - begin - shrinking
    folded = shrinking * pool.folded(pool.full_until) + constant - pool.left(fill / 100) / pool.user
    return forms.folding_rate(folded / (end - begin))
