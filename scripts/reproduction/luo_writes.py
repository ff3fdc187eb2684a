"""Figures 3 to 5 of Luo et al.: writes through a file system, the cliff of sequential writes, random writes."""

import numpy

import page as pages
from luo_drives import IN_USE, PURE, SCALE, amplification, bandwidth, curve, filled, yes
from luo_forms import Forms, Pool

FILE = 8192 // SCALE  # MiB: 8 GB of IOzone
ACCESSES = {"sequential": "rw: write, bs: 512k", "random": "rw: randwrite, bs: 4k"}
FILLS = [25, 50, 75]
PROGRAM = "ssd.flash.part.program_latency"
# What makes the TLC drive write as the SLC drive does, or not: changes to pure_tlc.yaml, MB/s of a die of four planes by them.
TLC = {"TLC as it is: a word line takes what 132 MB/s of a die leave it, 1489 us (F: ISSCC 2019)": ({}, 132),
       "a vendor's 500 us read as the time of a word line (A)": ({PROGRAM: "[166667 ns]"}, 393),
       "700 us read as the time of a word line (A)": ({PROGRAM: "[233333 ns]"}, 281),
       "TLC as it is, sixteen dies (A)": ({"ssd.flash.ways": "4"}, 132)}
SPOTS = [1, 5]  # the file of Figure 5, in per cent of the drive
MIB = 1 << 20


class Writes:
    """The runs. Each method returns a future."""

    def __init__(self, drives):
        self.drives = drives
        self.short = drives.short
        self.fills = [25] if self.short else FILLS

    def file(self, drive, fill, access, changes=None):
        """IOzone's 8 GB (a sixteenth of it) written to a new place of a drive in use."""
        load = f"{ACCESSES[access]}, iodepth: 32, offset: 92%, size: {self.drives.mib(FILE)}"
        return self.drives.run(drive, filled(fill, IN_USE), load, changes)

    def flood(self, drive, fill):
        """Sequential writes behind the data of an idle drive, until they end near its end."""
        amount = self.drives.mib({25: 20, 50: 20, 75: 12}[fill] * 1024)
        return self.drives.run(drive, filled(fill), f"rw: write, bs: 1m, iodepth: 64, offset: {fill}%, size: {amount}", log=True)

    def looked_at(self, drive, fill):
        """The same drive as it is before."""
        return self.drives.run(drive, filled(fill), "rw: read, bs: 4k, number_ios: 1")

    def random(self, drive, fill):
        """A file of 2 GB in the midst of the data of an idle drive, written five times over at random."""
        size, all_of_it = self.drives.mib(2048), self.drives.mib(5 * 2048)
        return self.drives.run(drive, filled(fill), f"rw: randwrite, bs: 4k, iodepth: 32, size: {size}, io_size: {all_of_it}")

    def start_all(self):
        for fill in self.fills:
            for drive in self.drives.hybrids + ["SLC", "QLC"]:
                self.flood(drive, fill)
            for drive in self.drives.hybrids:
                self.looked_at(drive, fill)
            for drive in self.drives.drives:
                self.random(drive, fill)
        for drive in self.drives.drives:
            for fill in (10, 90):
                for access in ACCESSES:
                    self.file(drive, fill, access)
        for access in ACCESSES:
            for changes, _ in TLC.values():
                self.file("TLC", 10, access, changes)

    # ------------------------------------------------------------------------------------------------------------------- the page

    def write(self, page):
        self.write_file(page)
        self.write_flood(page)
        self.write_random(page)

    def write_file(self, page):
        page.text("## Figure 3: writes through a file system")
        page.text(f"""
IOzone's file of 8 GB, here {FILE} MiB, written once to new addresses: requests of 512 KB (sequential) and 4 KB (random), 32 at a time, as a page cache
writes back (A). The drives are in use (A): filled, and measured at once. What is in pSLC by then fills it at 90 %. MB/s.
""")
        rates = {}
        for access in ACCESSES:
            rows = []
            for drive in self.drives.drives:
                low, high = (bandwidth(self.file(drive, fill, access).result()) for fill in (10, 90))
                rates[access, drive] = low, high
                rows.append([f"{access}, {drive}", f"{low:.0f}", f"{high:.0f}", f"{high / low:.2f}"])
            page.table(["", "10 % full", "90 % full", "ratio"], rows)
        with page.figure("figure3", "Bandwidth of writes of a file, relative to each hybrid drive at 10 %", height=2.8) as axes:
            groups = [f"{drive}, {access}" for access in ACCESSES for drive in self.drives.hybrids]
            series = {label: [] for label in ("10 %", "90 %", "SLC", "TLC")}
            for access in ACCESSES:
                for drive in self.drives.hybrids:
                    base = rates[access, drive][0]
                    for label, value in zip(series, (base, rates[access, drive][1], rates[access, "SLC"][0], rates[access, "TLC"][0])):
                        series[label].append(value / base)
            pages.bars(axes, groups, series)
            axes.set_ylabel("relative to 10 %")
        rows = []
        for access in ACCESSES:
            slc, tlc = rates[access, "SLC"][0], rates[access, "TLC"][0]
            for drive in self.drives.hybrids:
                low, high = rates[access, drive]
                rows.append([f"{access}, {drive}: near the SLC drive at 10 % (S)", f"{low / slc:.2f}", yes(low > 0.8 * slc)])
                rows.append([f"{access}, {drive}: clearly below both pure drives at 90 % (S)", f"{high / slc:.2f}, {high / tlc:.2f}",
                             yes(high < 0.5 * min(slc, tlc))])
            rows.append([f"{access}: SLC and TLC hardly differ (S)", f"{tlc / slc:.2f}", yes(tlc > 0.8 * slc)])
        page.table(["", "ratio", "agrees"], rows)
        page.text("""
The paper explains that SLC and TLC hardly differ with the larger pages of TLC, which let more be written at a time. Its two pure drives are enterprise drives of
unknown size. Here TLC is programmed so: whole word lines, three pages of each of four planes by one operation, 192 KiB where SLC programs 64 KiB (A: all pages of
a word line in one pass). But the word line takes its time, too: at the published 132 MB/s of a die it takes 1489 us (D), and eight such dies write half of
what eight dies of SLC do. What would have to be otherwise:
""")
        rows = []
        for label, (changes, die) in TLC.items():
            shares = [bandwidth(self.file("TLC", 10, access, changes).result()) for access in ACCESSES]
            of_slc = [value / rates[access, "SLC"][0] for value, access in zip(shares, ACCESSES)]
            rows.append([label, str(die), *(f"{value:.0f}" for value in shares), ", ".join(f"{ratio:.2f}" for ratio in of_slc)])
        page.table(["", "a die, MB/s", *ACCESSES, "of SLC"], rows)
        page.text("""
Announced figures of 500 to 700 us for a TLC program are times per page: Samsung, whose fifth generation of V-NAND was announced with 500 us, published 82 MB/s of two planes for
the sixth (ISSCC 2019), which are 1200 us for a word line and 400 us per page; and a public simulator of TLC dies has 2100 us for the one shot and a third of it as "average"
(py_ssd_sim, F). Read as times of a word line (the middle rows) they would make SLC and TLC alike, but then a die of four planes would program 281 or 393 MB/s, where the fastest of
four planes that is known here programs 205 MB/s (`docs/modelling.md`, NAND parts). With twice the dies the two do write alike: what the paper saw says how many dies its drives have, and
nothing about cells. So the *no* stands for drives of as many dies. Against either, the hybrid drives fall as published.
""")

    def write_flood(self, page):
        page.text("## Figure 4: sequential writes")
        page.text("""
1 MB, 64 at a time, behind the data of a drive that has been left alone, so that its pSLC is empty. The **cliff** is where the time per 32 MB has
doubled; predicted is where folding begins: W = (1 - fold_below) pool(fill + W / U) with U the user capacity, in whole blocks of each die, less what the open ones hold already. The
**sustained rate** is that of everything behind the cliff. Predicted with the latencies of the part, its phases on the bus and erases: 1 / (1/slc +
f (1/read + 1/qlc)), each a rate of all dies, f = 1, or while the pSLC gets smaller with every byte (between 25 and 75 %) f = 1 + dynamic / (50 % U); less
what fits into the room that the pSLC still has when folding begins. Rates in MB/s.
""")
        for drive in self.drives.hybrids:
            with page.figure(f"figure4_{drive.lower()}", f"{drive}: bandwidth of sequential writes over time", height=2.6) as axes:
                for n, fill in enumerate(self.fills):
                    axes.plot(*curve(self.flood(drive, fill).result()), color=pages.COLOURS[n], label=f"{fill} % full")
                for n, pure in enumerate(("SLC", "QLC")):
                    axes.plot(*curve(self.flood(pure, self.fills[0]).result()), "--", color=pages.COLOURS[n + 3], label=f"plain {pure}")
                axes.set_yscale("log")
                axes.set_xlabel("s")
                axes.set_ylabel("MB/s")
                axes.legend(frameon=False, ncols=5, loc="lower center", bbox_to_anchor=(0.5, 1.0))
        rows, cliffs = [], {}
        for drive in self.drives.hybrids:
            for fill in self.fills:
                report = self.flood(drive, fill).result()
                forms, pool = Forms(report), Pool(report, self.looked_at(drive, fill).result())
                place, after = cliff(report.log)
                cliffs[drive, fill] = place
                wanted = pool.cliff(fill / 100)
                sustained = sustained_form(forms, pool, fill, report)
                plain = forms.plain_rate()
                rows.append([f"{drive}, {fill} %", f"{wanted / 1e9:.2f} GB", f"{place / 1e9:.2f} GB", within(place, wanted),
                             f"{sustained / 1e6:.0f}", f"{after / 1e6:.0f}", within(after, sustained), f"{plain / 1e6:.0f}", yes(after < plain)])
        page.table(["", "cliff, predicted (D)", "measured", "within 5 %", "sustained, predicted (D)", "measured", "within 5 %",
                    "plain QLC (D)", "below (S)"], rows)
        if self.short:
            return
        earlier = all(cliffs[drive, 25] > cliffs[drive, 50] > cliffs[drive, 75] for drive in self.drives.hybrids)
        qlc = bandwidth(self.flood("QLC", 25).result())
        slc = bandwidth(self.flood("SLC", 25).result())
        after = [cliff(self.flood("665p", fill).result().log)[1] / 1e6 for fill in self.fills]
        page.table(["", "measured", "agrees"], [
            ["the fuller the drive, the earlier the cliff (S)", "", yes(earlier)],
            ["665p behind the cliff against the same dies as plain QLC, measured (S: below)", ", ".join(f"{a:.0f}" for a in after) + f" / {qlc:.0f}",
             yes(max(after) < qlc)],
            ["against plain SLC (S: below)", f"{slc:.0f}", yes(max(after) < slc)],
            ["665p, whole drive, where writes slow down at 25 % fill", f"{SCALE * cliffs['665p', 25] / 1e9:.0f} GB", ""],
            ["P1, whole drive: 120 to 140 GB at 1.6 GB/s, then 150 MB/s (F; fill not known)",
             f"{SCALE * cliffs['P1', 25] / 1e9:.0f} GB, then {cliff(self.flood('P1', 25).result().log)[1] / 1e6:.0f} MB/s", ""],
        ])

    def write_random(self, page):
        page.text("## Figure 5: random writes")
        page.text("""
4 KB, 32 at a time, to a file of 2 GB (A) of an idle drive, five times over. Fluctuation is the standard deviation of the bandwidth over time (512
steps, the first ten left out) relative to its mean.
""")
        rows, spread = [], {}
        for drive in self.drives.drives:
            row = [drive]
            for fill in self.fills:
                report = self.random(drive, fill).result()
                series = numpy.array(report.content["results"]["total"]["series"]["write"]["bandwidth"])[10:-1]
                spread[drive, fill] = series.std() / series.mean()
                row += [f"{bandwidth(report):.0f}", f"{100 * spread[drive, fill]:.0f} %", f"{amplification(report):.2f}"]
            rows.append(row)
        page.table(["MB/s, fluctuation, write amplification"] + [f"{fill} %{what}" for fill in self.fills for what in ("", ", fluctuation", ", WA")], rows)
        with page.figure("figure5", "Bandwidth of random writes over time", height=2.8) as axes:
            for n, (drive, fill) in enumerate([("665p", fill) for fill in self.fills] + [("SLC", self.fills[0]), ("TLC", self.fills[0])]):
                axes.plot(*curve(self.random(drive, fill).result()), color=pages.COLOURS[n], label=f"{drive}, {fill} %")
            axes.set_xlabel("s")
            axes.set_ylabel("MB/s")
            axes.legend(frameon=False, ncols=5, loc="lower center", bbox_to_anchor=(0.5, 1.0))
        pure = max(spread[drive, fill] for drive in PURE for fill in self.fills)
        page.table(["", "measured", "agrees"], [
            [f"{drive} fluctuates more than any pure drive (S)", f"{100 * max(spread[drive, f] for f in self.fills):.0f} % against {100 * pure:.0f} %",
             yes(max(spread[drive, f] for f in self.fills) > 2 * pure)] for drive in self.drives.hybrids])


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


def within(value, wanted, tolerance=0.05):
    return f"{pages.percent(value / wanted)}, {yes(abs(value / wanted - 1) <= tolerance)}"
