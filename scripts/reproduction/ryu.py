"""Ryu and Park, design elements of SSD firmware: Figures 8, 9, 11 to 14 and 16, the figures of Section 2, and the design elements of Section 3.

Three drives (scenarios/ryu/drive_*.yaml), each with one set of parameters for everything; what was calibrated is marked there.
"""

from dataclasses import dataclass

import numpy

import page as pages
import runs
import ryu_converter
import ryu_elements
from ryu_drives import KIB, MIB, SCENARIOS, Drives, period, statistics

SIZES = [4, 8, 16, 32, 64]  # KB
READS = {"A": [19045, 34822, 49910, 70103, 90915], "B": [22828, 35904, 50179, 62035, 70064], "C": [19685, 35940, 61933, 101541, 131501]}
WRITES = {"A": [1699, 2962, 4734, 7108, 10941], "B": [607, 1225, 2445, 4752, 8965], "C": [38756, 55070, 66421, 73405, 75905]}
TOLERANCE = 0.25  # asked of the cells of Figure 14

# What the cells of Figure 14 depend on: what was calibrated or assumed, 20 % up and down.
SWEEPS = {
    "A": {"over-provisioning 6.4 %": {"ssd.flash.over_provisioning": "6.4 %"},
          "over-provisioning 9.6 %": {"ssd.flash.over_provisioning": "9.6 %"},
          "program 160 us": {"ssd.flash.part.program_latency": "[160 us]"},
          "program 240 us": {"ssd.flash.part.program_latency": "[240 us]"}},
    "B": {"log blocks 12 per group": {"firmware.mapping.log_blocks": "12"},
          "log blocks 20 per group": {"firmware.mapping.log_blocks": "20"},
          "program 240 us": {"ssd.flash.part.program_latency": "[240 us]"},
          "program 360 us": {"ssd.flash.part.program_latency": "[360 us]"},
          "erase 1.6 ms": {"ssd.flash.part.erase_latency": "1.6 ms"},
          "64 programs under way per group": {"firmware.allocation.programs_per_group": "64"},
          "no copyback": {"firmware.mapping.copyback": "false"}},
    "C": {"over-provisioning 9.6 %": {"ssd.flash.over_provisioning": "9.6 %"},
          "over-provisioning 14.4 %": {"ssd.flash.over_provisioning": "14.4 %"},
          "command 26 us": {"ssd.cpu.cycles.command": "5200"},
          "command 39 us": {"ssd.cpu.cycles.command": "7800"}},
}
READ_SWEEPS = {"A": {"command 56 us": {"ssd.cpu.cycles.command": "11200"}, "command 84 us": {"ssd.cpu.cycles.command": "16800"}},
               "B": {"command 64 us": {"ssd.cpu.cycles.command": "12800"}, "command 96 us": {"ssd.cpu.cycles.command": "19200"}},
               "C": {"command 26 us": {"ssd.cpu.cycles.command": "5200"}, "command 39 us": {"ssd.cpu.cycles.command": "7800"}}}
# Other assumptions about what reaches the drive: where the file begins, and whether there is a journal.
BENCHMARKS = {"file from a boundary on": {"start": 0}, "no journal": {"journal": False},
              "file from a boundary on, no journal": {"start": 0, "journal": False}}
SWEPT = [4, 16, 64]


@dataclass(frozen=True)
class Shift:
    """Figures 11 to 13: writes of some sizes (KB) at offset first + n step, in as many partitions; the first `lead` offsets do not count."""

    figure: int
    drive: str
    block: int
    sizes: tuple
    first: int
    step: int
    offsets: int
    lead: int
    partitions: int
    capacity: int
    fill: int  # per cent


SHIFTS = [Shift(11, "B", MIB, (8, 16, 32), 60 * KIB, 64 * KIB, 56, 8, 127, 1_000_000_000, 90),
          Shift(12, "A", 16 * KIB, (4, 16, 32), 0, 2 * KIB, 56, 8, 256, 256_000_000, 50),
          Shift(13, "C", 4 * KIB, (8, 10, 12, 14), 0, 512, 48, 8, 2000, 500_000_000, 50)]

# Figures 8 and 9: requests of 64 KB, or small ones, one at a time, in a quarter of the drive.
AGES = {"new": "", "used": ", {overwrite: 2x, region: 25 %, order: random}"}
ACCESSES = {"sequential read": "rw: read, bs: 64k", "random read": "rw: randread, bs: 64k", "sequential write": "rw: write, bs: 64k",
            "random write": "rw: randwrite, bs: 64k", "random write, 4 KB": "rw: randwrite, bs: 4k"}

CHIP = {"ssd.flash.channels": "1", "ssd.flash.ways": "1", "ssd.flash.part.page_size": "2 KiB", "ssd.flash.part.spare_size": "0 B",
        "ssd.flash.user_capacity": "32 MB", "firmware.mapping.unit": "2 KiB", "firmware.allocation.stripe": "none",
        "firmware.buffer.capacity": "64 KiB"}


class Study:
    """The runs of this paper. Each method returns a future, so that all can be asked for before the first is needed."""

    def __init__(self, runner):
        self.drives = Drives(runner)
        self.short = runner.short
        self.swept = "A" if runner.short else "ABC"
        self.elements = ryu_elements.Elements(self.drives)
        self.converted = ryu_converter.Converted(self.drives)

    def chip(self, kind, dies):
        """Page after page of 2 KiB from or to one chip of so many dies."""
        load = f"rw: {kind}, bs: 2k, iodepth: 16, number_ios: 6000, ramp_requests: 1000"
        before = f"{{fill: {100 if kind == 'read' else 1} %, order: sequential}}"
        return self.drives.start(ryu_elements.SCENARIO, load, CHIP | {"ssd.flash.dies_per_way": str(dies)}, before)

    def use(self, drive, age, access):
        """A kind of access to a new or used drive."""
        capacity = {"A": 512, "B": 1000, "C": 2000}[drive]
        words = ACCESSES[access]
        region = capacity * 1_000_000 // 4 // MIB
        once = region * MIB // (4 * KIB if access.endswith("4 KB") else 64 * KIB)
        ramp = warm_up = 0
        if "write" in access:
            warm_up = min(once, 800) if drive == "B" and "random" in access else once
            ramp = 6000 if access.endswith("4 KB") else 400
        measured = 4000 if access.endswith("4 KB") else 1500
        if self.short:
            warm_up, ramp, measured = min(warm_up, 50), min(ramp, 50), 100
        load = (f"{words}, iodepth: 1, size: {region}m, io_size: {8 * region}m, warm_up: {warm_up}, ramp_requests: {ramp}, "
                f"number_ios: {warm_up + ramp + measured}")
        after = AGES[age] if drive != "B" else AGES[age].replace("order: random", "order: random, bs: 64 KiB")
        return self.drives.start(SCENARIOS[drive], load, {"ssd.flash.user_capacity": f"{capacity} MB"},
                                 "{fill: 100 %, order: sequential}" + after)

    def crossing(self, across):
        """Writes of 8 KB to one management block of B after the other, inside or across into the next."""
        offset = MIB - 4 * KIB if across else MIB // 2
        count = 200 if self.short else 1500
        writes = (("Write", n * 3 % 849 * MIB + offset, 8 * KIB) for n in range(count))
        load = self.drives.trace(f"B-crossing-{across}", writes, queue_depth=32)
        changes = {"ssd.flash.user_capacity": "1000 MB", "firmware.buffer.mode": "write-through"}
        return self.drives.start(SCENARIOS["B"], f"{load}, ramp_requests: {count // 3}", changes, "{fill: 90 %, order: sequential}")

    def merges(self, across):
        """Merges and units copied per write of such a run."""
        content = self.crossing(across).result().content
        mapping, writes = content["statistics"]["firmware"]["ftl"]["mapping"], content["results"]["total"]["commands"]
        count = {name: number["value"] / writes for name, number in mapping["merges"].items() if isinstance(number, dict)}
        return count["switch"] + count["partial"] + count["full"], count["units_copied_by_partial"] + count["units_copied_by_full"]

    def start_all(self):
        for drive in "BAC":
            for kind in ("Read", "Write"):
                for size in SIZES:
                    self.drives.benchmark(drive, kind, size)
        for experiment in SHIFTS:
            for size in experiment.sizes:
                self.drives.shift(experiment, size * KIB)
        for drive in "ABC":
            for age in AGES:
                for access in ACCESSES:
                    self.use(drive, age, access)
        for across in (False, True):
            self.crossing(across)
        self.converted.start_all()
        self.elements.start_all()
        for drive in self.swept:
            for change in SWEEPS[drive].values():
                for size in SWEPT:
                    self.drives.benchmark(drive, "Write", size, change)
            for change in READ_SWEEPS[drive].values():
                for size in SWEPT:
                    self.drives.benchmark(drive, "Read", size, change)
            for other in BENCHMARKS.values():
                for size in SIZES:
                    self.drives.benchmark(drive, "Write", size, **other)

    def rate(self, drive, kind, size, changes=None, **other):
        """KB/s of data in the benchmark; the journal does not count."""
        seconds, _, _ = statistics(self.drives.benchmark(drive, kind, size, changes, **other).result())
        return size / (seconds * (2 if kind == "Write" and other.get("journal", True) else 1))


def yes(holds):
    return "yes" if holds else "**no**"


def write_introduction(page):
    page.text("# Design elements of SSD firmware (Ryu & Park)")
    page.text("""
J. Ryu and C. Park measured three bought drives from outside (about 2009), inferred how their firmware works, and discussed the choices that
its designers have. This page is written by `scripts/reproduce ryu`. The drives are `scenarios/ryu/drive_a.yaml`, `drive_b.yaml` and
`drive_c.yaml`, one set of parameters each for everything below; every parameter has its mark there. Marks: S stated in the paper, F found in
other public text, D derived, A assumption of this project.

**Calibrated** to Figure 14: the time per command (and on A and B per flash operation) to its random reads; over-provisioning of A and C,
program and erase time of B (the upper ends of S's ranges) to its random writes. User capacities are scaled down (to 1, 4, 2 GB; A: from 32, 32
and 80 GB, which the paper does not state), buffers are not.
""")


def write_chip(page, study):
    page.text("## Section 2: one chip")
    rows = []
    for kind, dies, published, bound in (("read", 1, "26.67", 26.67), ("read", 2, "at most 40", 40), ("write", 1, "at most 10", 10),
                                         ("write", 2, "at most 20", 20)):
        _, rate, _ = statistics(study.chip(kind, dies).result())
        rate /= 1e6
        form = closed_form(kind, dies)
        agrees = abs(rate / form - 1) < 0.02 and (abs(rate / bound - 1) < 0.01 if published[0] == "2" else rate <= bound)
        rows.append([f"{kind}, {dies} {'die' if dies == 1 else 'dies on one bus'}", published, f"{form:.2f}", f"{rate:.2f}", yes(agrees)])
    page.table(["SLC chip, MB/s", "published (S)", "closed form (D)", "measured", "agrees"], rows)
    page.text("""
Pages of 2 KiB at 25 ns per byte, 25 us to sense, 200 us to program. The paper's 26.67 are 2000 B in 75 us; commands and addresses
on the bus cost 0.8 us, and 2048 B in 77.0 us are 26.6. The bounds of 10 and 20 MB/s leave out that data must come over the bus before
they can be programmed. The closed forms are those of `docs/modelling.md`; writes go to a chip
that need not be erased first.
""")


def closed_form(kind, dies):
    """MB/s of a channel in saturation (docs/modelling.md), pages of 2 KiB without spare area, times in us."""
    cycles = 7 * 0.025
    if kind == "read":
        command, out = cycles + 0.1, 0.02 + cycles + 0.3 + 2048 * 0.025
        return 2048 * min(dies / (command + 25 + out), 1 / (command + out))
    data_in, status = cycles + 0.07 + 2048 * 0.025 + 0.1, 2 * 0.025 + 0.08
    return 2048 * min(dies / (data_in + 200 + status), 1 / (data_in + status))


def write_figure_14(page, study):
    page.text("## Figure 14: random reads and writes")
    page.text("""
The paper measured with iozone, one synchronous request at a time, through a file system it does not name. What reaches the drive is here
taken to be (A, for all drives alike):

- a file of a quarter of the drive that **begins 4 KB beyond** a boundary of management blocks, because file systems align to blocks of their own;
- after every write of data **one record of 4 KB in the file system's journal**, 32 MB behind the file that are written round and round. Bandwidth
  counts data alone;
- the drive is written once in sequence before, and measured when the write buffer is full and the file of A and C has been overwritten once more
  at random (overwriting it four times changes A by less than 2 %). B needs less: all its log blocks are in use.

The two in bold are **inferred from the published figures**, not stated in the paper. C's writes take 47 us + 12.4 us/KB (D), and at 12.4 us/KB
47 us are 4 KB: the journal. A's take 2.35, 2.70, 3.38, 4.50, 5.85 ms for 4 to 64 KB: as 2, 2.3, 2.9, 3.8 and 5.0. A file that begins between two
boundaries touches 1, 1.5, 2, 3 and 5 management blocks of 16 KB; with the journal's 2, 2.5, 3, 4 and 6. From a boundary on, 4, 8 and 16 KB
would all cost 2.
""")
    for kind, published in (("Read", READS), ("Write", WRITES)):
        measured = {drive: [study.rate(drive, kind, size) for size in SIZES] for drive in "ABC"}
        with page.figure(f"figure14_{kind.lower()}", f"Random {kind.lower()}s: published dashed, measured solid") as axes:
            for n, drive in enumerate("ABC"):
                axes.plot(SIZES, published[drive], "--", marker="s", color=pages.COLOURS[n])
                axes.plot(SIZES, measured[drive], "-", marker="o", color=pages.COLOURS[n], label=drive)
            axes.set_xscale("log", base=2)
            axes.set_yscale("log")
            axes.set_xticks(SIZES, SIZES)
            axes.set_xlabel(f"random {kind.lower()}, KB (published dashed)")
            axes.set_ylabel("KB/s")
            axes.legend(frameon=False)
        rows = []
        for drive in "ABC":
            ratios = [m / p for m, p in zip(measured[drive], published[drive])]
            rows.append([drive] + [f"{p} → {m:.0f} ({r:.2f})" for p, m, r in zip(published[drive], measured[drive], ratios)]
                        + [yes(all(abs(r - 1) <= TOLERANCE for r in ratios))])
        page.table([f"{kind}, KB/s: published (S) → measured (ratio)"] + [f"{size} KB" for size in SIZES] + ["within 25 %"], rows)
        rows = []
        for drive in "ABC":
            wanted, found = fit(published[drive]), fit(measured[drive])
            rows.append([drive, f"{wanted[0]:.0f} + {wanted[1]:.1f}", f"{found[0]:.0f} + {found[1]:.1f}",
                         f"{found[0] / wanted[0]:.2f}", f"{found[1] / wanted[1]:.2f}"])
        page.table([f"time of a {kind.lower()}, us + us/KB", "published (D)", "measured", "ratio of the constants", "ratio of the slopes"], rows)


def fit(rates):
    """Constant (us) and slope (us/KB) of the straight line through the times of requests."""
    times = [1e6 * size / rate for size, rate in zip(SIZES, rates)]
    slope, constant = numpy.polyfit(SIZES, times, 1)
    return constant, slope


def write_benchmarks(page, study):
    page.text("### What the benchmark is taken to be")
    page.text("Ratios of random writes to the published figures with the drives as they are, when one or both of these assumptions are dropped.")
    rows = []
    for drive in study.swept:
        for label, other in {"as above": {}, **BENCHMARKS}.items():
            ratios = [study.rate(drive, "Write", size, **other) / p for size, p in zip(SIZES, WRITES[drive])]
            rows.append([f"{drive}, {label}"] + [f"{r:.2f}" if abs(r - 1) <= TOLERANCE else f"**{r:.2f}**" for r in ratios]
                        + [f"{max(ratios) / min(ratios):.2f}"])
    page.table(["Write"] + [f"{size} KB" for size in SIZES] + ["largest / smallest"], rows)
    page.text("A factor that is the same for all sizes could be calibrated away; the last column could not.")


def write_sweeps(page, study):
    page.text("### What the cells depend on")
    page.text("Ratios to the published figures, one parameter at a time: what was calibrated or assumed a fifth up and down, and choices of the firmware.")
    for kind, published, sweeps in (("Write", WRITES, SWEEPS), ("Read", READS, READ_SWEEPS)):
        rows, outside = [], []
        for drive in study.swept:
            for label, change in {"as in the scenario": {}, **sweeps[drive]}.items():
                ratios = [study.rate(drive, kind, size, change) / published[drive][SIZES.index(size)] for size in SWEPT]
                rows.append([f"{drive}, {label}"] + [f"{r:.2f}" if abs(r - 1) <= TOLERANCE else f"**{r:.2f}**" for r in ratios])
                if any(abs(r - 1) > TOLERANCE for r in ratios):
                    outside.append(f"{drive} with {label}")
        page.table([kind] + [f"{size} KB" for size in SWEPT], rows)
        page.text(f"Out of the 25 %: {'; '.join(outside) if outside else 'none'}.")


def shift_costs(study, experiment, size):
    """Microseconds of the drive's time per write, by offset."""
    log = numpy.array(study.drives.shift(experiment, size * KIB).result().log)
    partitions = experiment.partitions // 8 if study.short else experiment.partitions
    done = numpy.maximum.accumulate(log[:, 1].reshape(-1, partitions).max(axis=1))
    return 1e6 * numpy.diff(done)[skipped(study, experiment) - 1:] / partitions


def skipped(study, experiment):
    """Offsets at the beginning that do not count: the drive is not steady yet, and the first has nothing before it to be timed from."""
    return 1 if study.short else experiment.lead


def write_shifts(page, study):
    page.text("## Figures 11 to 13: writes at shifting addresses")
    page.text("""
Writes of one size at an offset that shifts, each offset in many partitions of the drive before the next. The paper shows response times. Here
it is the **drive's time per write**: 32 writes are outstanding, written through, and the time that all partitions take is divided by their number.
A single write that touches two management blocks has them rewritten at the same time where they lie in different groups of dies (in A two
ways, in B four chips of a channel): it makes twice the work, in less than twice the time. The drives are half full (B 90 %), so that garbage
collection does not blur the picture, and the writes raw, without file system.
""")
    for e in SHIFTS:
        costs = {size: shift_costs(study, e, size) for size in e.sizes}
        left_out = skipped(study, e)
        unit, scale = ("KB", KIB) if e.step < 32 * KIB else ("MB", MIB)
        with page.figure(f"figure{e.figure}", f"Drive {e.drive}: time per write by offset", height=2.6) as axes:
            for n, (size, cost) in enumerate(costs.items()):
                places = [(e.first + (left_out + k) * e.step) / scale for k in range(len(cost))]
                axes.plot(places, cost, color=pages.COLOURS[n], label=f"{size} KB", marker=".")
            axes.set_xlabel(f"offset, {unit}")
            axes.set_ylabel("us per write")
            axes.set_ylim(bottom=0)
            axes.legend(frameon=False, ncols=len(costs), loc="lower center", bbox_to_anchor=(0.5, 1.0))
        rows = []
        for size, cost in costs.items():
            touched = [(offset + size * KIB - 1) // e.block - offset // e.block + 1
                       for offset in (e.first + (left_out + k) * e.step for k in range(len(cost)))]
            few, many = min(touched), max(touched)
            least = numpy.mean([c for c, t in zip(cost, touched) if t == few])
            most = numpy.mean([c for c, t in zip(cost, touched) if t == many])
            steps = period(cost) * e.step
            jump = most / least
            judged = yes(jump >= 2) if (few, many) == (1, 2) else ""
            rows.append([f"{size} KB", f"{e.block // KIB} KB", f"{steps / KIB:g} KB", yes(steps == e.block), f"{few}, {many}", f"{least:.0f}",
                         f"{most:.0f}", f"{jump:.2f}", judged])
        page.table([f"{e.drive}, writes of", "period published (S)", "measured", "agrees", "blocks touched, fewest and most", "us, fewest",
                    "us, most", "ratio", "twice or more (S)"], rows)
    inside, across = study.merges(False), study.merges(True)
    page.table(["B, 8 KB", "inside a block", "across a boundary", "ratio", "twice or more (S)"], [
        [what, f"{a:.2f}", f"{b:.2f}", f"{b / a:.2f}", yes(round(b / a, 2) >= 2) if what.startswith("merges") else ""]
        for what, a, b in (("merges per write", inside[0], across[0]), ("pages copied per write", inside[1], across[1]))])
    page.text("""
- On B a write across a boundary takes two merges for one and copies twice as much, but its data are written to logs once in either case; that share of
  the time does not double and grows with the size.
- A write of 16 KB that fills a management block of A costs nothing but itself, others copy; so that jump is larger than two. One of 32 KB touches two
  blocks at least.
- On C a block is a page. What jumps is the number of pages, and units written in part must be read and completed; aligned writes are cheapest.
""")


def write_ages(page, study):
    page.text("## Figures 8 and 9: new and used drives")
    page.text("""
Published as figures without numbers in the text (S): on A sequential and random writes lie far apart and reads age little; on C writes are alike
and reads age badly; on B hardly anything ages. New: written once in sequence. Used: the quarter of the drive that is accessed has been
overwritten twice in random order, page by page (B in pieces of 64 KB). One request at a time.
""")
    rates = {(d, age, access): statistics(study.use(d, age, access).result())[1] / 1e6 for d in "ABC" for age in AGES for access in ACCESSES}
    for age in AGES:
        page.table([f"{age}, MB/s"] + list(ACCESSES), [[d] + [f"{rates[d, age, access]:.1f}" for access in ACCESSES] for d in "ABC"])
    with page.figure("figure8_9", "Bandwidth of new and used drives") as axes:
        pages.bars(axes, [f"{d}, {age}" for d in "ABC" for age in AGES],
                   {access: [rates[d, age, access] for d in "ABC" for age in AGES] for access in ACCESSES})
        axes.set_ylabel("MB/s")
    apart = {d: rates[d, "used", "sequential write"] / rates[d, "used", "random write, 4 KB"] for d in "ABC"}
    lost = {d: 1 - rates[d, "used", "sequential read"] / rates[d, "new", "sequential read"] for d in "ABC"}
    page.table(["", "measured", "agrees"], [
        ["A: sequential against random writes (64 KB against 4 KB), far apart (S)", f"{apart['A']:.1f}", yes(apart["A"] > 4)],
        ["B: the same (S: Figure 16)", f"{apart['B']:.1f}", yes(apart["B"] > 4)],
        ["C: the same, alike (S)", f"{apart['C']:.1f}", yes(apart["C"] < 4)],
        ["A: sequential reads lose little (S)", f"{100 * lost['A']:.0f} %", yes(lost["A"] < 0.1)],
        ["B: hardly any loss (S)", f"{100 * lost['B']:.0f} %", yes(lost["B"] < 0.1)],
        ["C: sequential reads lose visibly (S)", f"{100 * lost['C']:.0f} %", yes(lost["C"] > 0.15)],
    ])
    page.text("""
C's pages lie where they were written, so neighbours of a used file lie on any channel, some of them on the same one. Three months of use have
other effects that are not modelled: a fragmented file system makes more and smaller requests of one read, which would hurt C more, and A
a little; bad blocks and read retries.
""")


def write_slip(page):
    page.text("## A slip in the worked example")
    sector, pages_per_block = 10201, 256
    kilobytes = sector / 2
    inside = kilobytes % 1024
    page.text(f"""
Section 3.1 lets a write to sector 10201 fall on page 236 of its management block of 1 MB with {pages_per_block} pages of 4 KB, by way of 5040 KB +
512 B. But 10201 sectors of 512 B are {kilobytes:.1f} KB = {int(kilobytes // 1024)} MB + {inside:.1f} KB, which is page **{int(inside // 4)}**. The
paper's numbers are those of sector 10081 (5040.5 KB, page {int(10081 / 2 % 1024 // 4)}). A slip of the pen; the argument does not depend on it.
""")


def reproduce(options, runner):
    study = Study(runner)
    study.start_all()
    page = pages.Page(options.out, "ryu")
    write_introduction(page)
    write_chip(page, study)
    write_figure_14(page, study)
    write_benchmarks(page, study)
    write_sweeps(page, study)
    write_shifts(page, study)
    write_ages(page, study)
    study.converted.write(page)
    study.elements.write(page)
    write_slip(page)
    runs.close(page, options, runner)


if __name__ == "__main__":
    runs.main(reproduce, __doc__)
