"""Ryu and Park, design elements of SSD firmware: Figures 8, 9, 11 to 14 and 16, the figures of Section 2, and the design elements of Section 3.

Three drives (scenarios/ryu/drive_*.yaml), each with one set of parameters for everything but the size of the flash; what was calibrated is marked
there.
"""

from dataclasses import dataclass

import numpy

import page as pages
import runs
import ryu_elements
import ryu_log_structured
from claims import Claim, Kind, Region, at_least, at_most, within
from marks import Choice
from paper import Section, publish
from ryu_drives import KIB, MIB, SCENARIOS, Drives, period, statistics
from samples import combined

SIZES = [4, 8, 16, 32, 64]  # KB
READS = {"A": [19045, 34822, 49910, 70103, 90915], "B": [22828, 35904, 50179, 62035, 70064], "C": [19685, 35940, 61933, 101541, 131501]}
WRITES = {"A": [1699, 2962, 4734, 7108, 10941], "B": [607, 1225, 2445, 4752, 8965], "C": [38756, 55070, 66421, 73405, 75905]}
TOLERANCE = 0.25  # of the cells of Figure 14 (A)

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
          "64 programs under way per group": {"firmware.allocation.programs_per_pu": "64"},
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
# Levers that every drive has: the share of the drive that the file takes, and how the buffer works.
FILE_SHARES = {"file of an eighth of the drive": 0.125, "file of half the drive": 0.5}
BUFFERS = {"A": {"write-back": {"firmware.buffer.mode": "write-back"}}, "B": {"write-through": {"firmware.buffer.mode": "write-through"}},
           "C": {"write-through": {"firmware.buffer.mode": "write-through"}}}


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

ONE_WAY = {"ssd.flash.ways": "1"}  # on A and B: one group of dies, in which all regions lie

# Figures 8 and 9: requests of 64 KB, or small ones, one at a time, in a quarter of the drive.
AGES = {"new": "", "used": ", {overwrite: 2x, region: 25 %, order: random}"}
ACCESSES = {"sequential read": "rw: read, bs: 64k", "random read": "rw: randread, bs: 64k", "sequential write": "rw: write, bs: 64k",
            "random write": "rw: randwrite, bs: 64k", "random write, 4 KB": "rw: randwrite, bs: 4k"}

READ_AHEAD = {"firmware.read_ahead.policy": "sequential"}

CHIP = {"ssd.flash.channels": "1", "ssd.flash.ways": "1", "ssd.flash.part.page_size": "2 KiB", "ssd.flash.part.spare_size": "0 B",
        "ssd.flash.user_capacity": "32 MB", "firmware.mapping.unit": "2 KiB", "firmware.allocation.stripe": "none",
        "firmware.buffer.capacity": "64 KiB"}


# Channels, and MB/s that a hard disk or its interface has (S, Section 2: chips of 40 MB/s).
CHANNELS = {"a SATA disk": (4, 120), "a SCSI disk": (4, 164), "Ultra-320 SCSI": (8, 320)}
FREE_LINK = {"ssd.host.protocol": "nvme", "ssd.host.link": "pcie3x4"}
MLC_CHIP = {"ssd.flash.part.read_latency": "[50 us]", "ssd.flash.part.program_latency": "[800 us]"}  # S: 50 us; 600 to 900 us

FITTED_READS = {"A": "time per command and flash operation", "B": "time per command and flash operation", "C": "time per command"}
FITTED_WRITES = {"A": "over-provisioning; journal and where the file begins", "B": "program and erase time", "C": "over-provisioning; journal"}
SIZE_ALONE = ("time in proportion to size", 16)
TWICE = "a write across two regions over one in one"
AT_ONCE = ("the two regions lie on different dies and are rewritten at the same time. The paper's drives seem to take one after the other, as firmware of one "
           "thread would; no setting makes the emulated firmware do so")


def shape(published):
    """Time of 64 KB over that of 4 KB."""
    return (SIZES[-1] / published[-1]) / (SIZES[0] / published[0])


def shape_claim(drive, kind, published, how=Kind.PREDICTED):
    value = shape(published)
    return Claim(how, f"Figure 14, {drive}: time of a {kind} of 64 KB over one of 4 KB", f"{value:.2f} (D)", within(value, TOLERANCE), SIZE_ALONE)


READ_SHAPES = {drive: shape_claim(drive, "read", READS[drive], Kind.CALIBRATED) for drive in "ABC"}
WRITE_SHAPES = {drive: shape_claim(drive, "write", WRITES[drive], Kind.PREDICTED if drive == "B" else Kind.CALIBRATED) for drive in "ABC"}
SLOPES = {drive: Claim(Kind.PREDICTED, f"Figure 14, {drive}: what a KB more costs a random read, us", f"{value} (D)", within(value, TOLERANCE),
                       ("one chip's bus", 25.6)) for drive, value in (("A", 8.3), ("B", 12.3), ("C", 4.7))}


def cells_claim(drive, kind):
    fitted = (FITTED_READS if kind == "Read" else FITTED_WRITES)[drive]
    return Claim(Kind.CALIBRATED, f"Figure 14, {drive}: random {kind.lower()}s, all five sizes ({fitted})", "(S)", within(1, TOLERANCE))


CLAIMS = {
    "read 1": Claim(Kind.PREDICTED, "Section 2: a chip reads, MB/s", "26.67 (S)", within(26.67, 0.02), ("bus alone", 40)),
    "read 2": Claim(Kind.PREDICTED, "Section 2: two dies on one bus read, MB/s", "at most 40 (S)", Region(36, 40, "36 to 40"), ("twice one die", 53.3)),
    "write 1": Claim(Kind.PREDICTED, "Section 2: a chip writes, MB/s", "at most 10 (S)", at_most(10), ("bus alone", 40)),
    "write 2": Claim(Kind.PREDICTED, "Section 2: two dies on one bus write, MB/s", "at most 20 (S)", at_most(20), ("bus alone", 40)),
    "mlc read": Claim(Kind.PREDICTED, "Section 2: an MLC chip of one die reads, MB/s", "at most 20 (S)", at_most(20), ("bus alone", 40),
                      "2048 B in 50 us of sensing and 51 us on the bus are 20.2, and two dies on one bus reach what the bus does, as with SLC; the paper's bound "
                      "seems to be that of one die"),
    "mlc write": Claim(Kind.PREDICTED, "Section 2: two dies of MLC on one bus write, MB/s", "at most 5 (S)", at_most(5), ("bus alone", 40)),
    "far A": Claim(Kind.PREDICTED, "Figure 8, A used: sequential over random writes, 64 KB", "far apart (S)", at_least(2), ("no effect", 1)),
    "far B": Claim(Kind.PREDICTED, "B used: sequential over random writes, 64 KB", "far apart (S: Figure 16)", at_least(2), ("no effect", 1)),
    "alike C": Claim(Kind.PREDICTED, "Figure 9, C used: sequential over random writes, 64 KB", "almost the same (S)", Region(0.8, 1.25, "0.8 to 1.25"), ("as on A", 3),
                     "random writes of 64 KB make pages of a block invalid here and there, sequential ones whole blocks, so that garbage collection copies for the "
                     "former only; the figure may have been taken with more spare flash"),
    "kept A": Claim(Kind.PREDICTED, "Figure 8, A: sequential reads, used over new", "little lost (S)", at_least(0.9), ("as on C", 0.72)),
    "kept B": Claim(Kind.PREDICTED, "B: sequential reads, used over new", "hardly any loss (S)", at_least(0.9), ("as on C", 0.72)),
    "lost C": Claim(Kind.PREDICTED, "Figure 9, C: sequential reads, used over new", "greatly reduced (S)", at_most(0.75), ("no effect", 1)),
    "fast read": Claim(Kind.PREDICTED, "A, new: sequential over random reads of 64 KB", "faster (A: not in the text)", at_least(1.1), ("no effect", 1),
                       "the paper does not say that A reads ahead, and the emulated drive does not: a request of 64 KB waits for its pages in either order"),
}
CONSTANTS = [
    Choice("benchmark of Figure 14: file begins at", "4 KB", "fitted", "inferred from A's published writes: from a boundary on, 4, 8 and 16 KB would all cost 2"),
    Choice("benchmark of Figure 14: journal", "a record of 4 KB after each write", "fitted", "inferred from C's published writes: 47 us at 12.4 us/KB are 4 KB"),
    Choice("share of the drive that the file takes", "a quarter", "A", "writes move by up to 2x with it (part `levers`)"),
    Choice("user capacity in Figures 8, 9 and 11 to 13", "256 MB to 2 GB", "A", "smaller than in Figure 14, so that all of it is soon overwritten"),
    Choice("buffer of Figures 11 to 13", "write-through", "A", "or response times would be those of the buffer"),
]


class Study:
    """The runs of this paper. Each method returns Seeds, so that all can be asked for before the first is needed."""

    def __init__(self, runner):
        self.drives = Drives(runner)
        self.short = runner.short
        self.swept = "A" if runner.short else "ABC"
        self.elements = ryu_elements.Elements(self.drives)
        self.layer = ryu_log_structured.LogStructured(self.drives)

    def chip(self, kind, dies, changes=None):
        """Page after page of 2 KiB from or to one chip of so many dies."""
        load = f"rw: {kind}, bs: 2k, iodepth: 16, number_ios: 6000, ramp_requests: 1000"
        before = f"{{fill: {100 if kind == 'read' else 1} %, order: sequential}}"
        return self.drives.start(ryu_elements.SCENARIO, load, CHIP | {"ssd.flash.dies_per_way": str(dies)} | (changes or {}), before,
                                 certain=True)

    def channels(self, count):
        """Large sequential reads from so many channels of two dies each."""
        return self.drives.start(ryu_elements.SCENARIO, "rw: read, bs: 256k, iodepth: 16, number_ios: 1500, ramp_requests: 200",
                                 FREE_LINK | {"ssd.flash.channels": str(count)}, certain=True)

    def use(self, drive, age, access, changes=None):
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
        return self.drives.start(SCENARIOS[drive], load, {"ssd.flash.user_capacity": f"{capacity} MB", **(changes or {})},
                                 "{fill: 100 %, order: sequential}" + after, certain=age == "new" and access.startswith("sequential"))

    def crossing(self, across):
        """Writes of 8 KB to one block-mapped region of B after the other, inside or across into the next."""
        offset = MIB - 4 * KIB if across else MIB // 2
        count = 200 if self.short else 1500
        writes = (("Write", n * 3 % 849 * MIB + offset, 8 * KIB) for n in range(count))
        load = self.drives.trace(f"B-crossing-{across}", writes, queue_depth=32)
        changes = {"ssd.flash.user_capacity": "1000 MB", "firmware.buffer.mode": "write-through"}
        return self.drives.start(SCENARIOS["B"], f"{load}, ramp_requests: {count // 3}", changes, "{fill: 90 %, order: sequential}", certain=True)

    def merges(self, across):
        """Merges and units copied per write of such a run."""
        content = self.crossing(across).result().content
        mapping, writes = content["statistics"]["firmware"]["mapping"], content["results"]["total"]["commands"]
        count = {name: number["value"] / writes for name, number in mapping["merges"].items() if isinstance(number, dict)}
        return count["switch"] + count["partial"] + count["full"], count["units_copied_by_partial"] + count["units_copied_by_full"]

    def start_chips(self):
        for kind in ("read", "write"):
            for dies in (1, 2):
                self.chip(kind, dies)
                self.chip(kind, dies, MLC_CHIP)
        for count, _ in CHANNELS.values():
            self.channels(count)

    def start_figure_14(self):
        for drive in "BAC":
            for kind in ("Read", "Write"):
                for size in SIZES:
                    self.drives.benchmark(drive, kind, size)

    def start_benchmarks(self):
        for drive in self.swept:
            for other in BENCHMARKS.values():
                for size in SIZES:
                    self.drives.benchmark(drive, "Write", size, **other)

    def start_sweeps(self):
        for drive in self.swept:
            for kind in ("Write", "Read"):
                for change, other in self.levers(drive, kind).values():
                    for size in SWEPT:
                        self.drives.benchmark(drive, kind, size, change, **other)

    def levers(self, drive, kind):
        """Settings and other arguments of the benchmark, by name."""
        if kind == "Read":
            return {"as in the scenario": ({}, {})} | {label: (change, {}) for label, change in READ_SWEEPS[drive].items()}
        changes = {"as in the scenario": {}} | SWEEPS[drive] | BUFFERS[drive]
        return {label: (change, {}) for label, change in changes.items()} | {label: ({}, {"share": share}) for label, share in FILE_SHARES.items()}

    def start_shifts(self):
        for experiment in SHIFTS:
            for size in experiment.sizes:
                self.drives.shift(experiment, size * KIB)
        for experiment in SHIFTS[:2]:
            self.drives.shift(experiment, experiment.sizes[0] * KIB, ONE_WAY)
        for across in (False, True):
            self.crossing(across)

    def start_ages(self):
        for drive in "ABC":
            for age in AGES:
                for access in ACCESSES:
                    self.use(drive, age, access)
        self.use("A", "new", "sequential read", READ_AHEAD)

    def rate(self, drive, kind, size, changes=None, **other):
        """KB/s of data in the benchmark; the journal does not count."""
        each = 2 if kind == "Write" and other.get("journal", True) else 1
        return self.drives.benchmark(drive, kind, size, changes, **other).of(lambda r: size / (statistics(r)[0] * each))


def write_introduction(page):
    page.text("# Design elements of SSD firmware (Ryu & Park)")
    page.text("""
J. Ryu and C. Park measured three bought drives from outside (about 2009), inferred how their firmware works, and discussed the choices that
its designers have. This page is written by `scripts/reproduce ryu`. The drives are `scenarios/ryu/drive_a.yaml`, `drive_b.yaml` and
`drive_c.yaml`, one set of parameters each for everything below but the size of the flash; every parameter has its mark there. Marks: S stated in the paper, F found in
other public text, D derived, A assumption of this project.

**Calibrated** to Figure 14: the time per command (and on A and B per flash operation) to its random reads; over-provisioning of A and C,
program and erase time of B (the upper ends of S's ranges) to its random writes. User capacities are scaled down (to 1, 4, 2 GB; A: from 32, 32
and 80 GB, which the paper does not state), buffers are not.
""")


def write_chip(page, study):
    page.text("## Section 2: chips and channels")
    rate = {(kind, dies, mlc): study.chip(kind, dies, MLC_CHIP if mlc else None).of(lambda r: statistics(r)[1] / 1e6)
            for kind in ("read", "write") for dies in (1, 2) for mlc in (False, True)}
    page.table(["MB/s", "SLC, closed form (D)", "SLC, measured", "MLC, measured"],
               [[f"{kind}, {dies} {'die' if dies == 1 else 'dies on one bus'}", f"{closed_form(kind, dies):.2f}", rate[kind, dies, False].text(),
                 rate[kind, dies, True].text()] for kind in ("read", "write") for dies in (1, 2)])
    page.claims(CLAIMS["read 1"].judged(rate["read", 1, False]), CLAIMS["read 2"].judged(rate["read", 2, False]),
                CLAIMS["write 1"].judged(rate["write", 1, False]), CLAIMS["write 2"].judged(rate["write", 2, False]),
                CLAIMS["mlc read"].judged(rate["read", 1, True]), CLAIMS["mlc write"].judged(rate["write", 2, True]),
                *(Claim(Kind.PREDICTED, f"Section 2: {count} channels are enough for {name}", f"≥ {wanted} MB/s (S)", at_least(wanted), ("one chip", 40),
                        "commands and addresses share the bus with the data, so that a channel carries 38.5 MB/s; the paper reckons with 40")
                  .judged(study.channels(count).of(lambda r: statistics(r)[1] / 1e6), form=".0f") for name, (count, wanted) in CHANNELS.items()))
    page.text("""
Pages of 2 KiB at 25 ns per byte, 25 us to sense, 200 us to program (MLC: 50 and 800 us). The paper's 26.67 are 2000 B in 75 us; commands and addresses
on the bus cost 0.8 us, and 2048 B in 77.0 us are 26.6. The bounds of 10 and 20 MB/s leave out that data must come over the bus before
they can be programmed. The closed forms are those of `docs/modelling.md`; writes go to a chip that need not be erased first. Channels read pages of 4 KiB from
two dies each, over a link that does not limit.
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

- a file of a quarter of the drive that **begins 4 KB beyond** a boundary of block-mapped regions, because file systems align to blocks of their own;
- after every write of data **one record of 4 KB in the file system's journal**, 32 MB behind the file that are written round and round. Bandwidth
  counts data alone;
- the drive is written once in sequence before, and measured when the write buffer is full and the file of A and C has been overwritten once more
  at random (overwriting it four times changes A by less than 2 %). B needs less: all its log blocks are in use.

The two in bold are **inferred from the published figures**, not stated in the paper. C's writes take 47 us + 12.4 us/KB (D), and at 12.4 us/KB
47 us are 4 KB: the journal. A's take 2.35, 2.70, 3.38, 4.50, 5.85 ms for 4 to 64 KB: as 2, 2.3, 2.9, 3.8 and 5.0. A file that begins between two
boundaries touches 1, 1.5, 2, 3 and 5 block-mapped regions of 16 KB; with the journal's 2, 2.5, 3, 4 and 6. From a boundary on, 4, 8 and 16 KB
would all cost 2.
""")
    for kind, published in (("Read", READS), ("Write", WRITES)):
        measured = {drive: [study.rate(drive, kind, size) for size in SIZES] for drive in "ABC"}
        with page.figure(f"figure14_{kind.lower()}", f"Random {kind.lower()}s: published dashed and hollow, measured solid") as axes:
            for n, drive in enumerate("ABC"):
                axes.plot(SIZES, published[drive], "--", marker=pages.MARKERS[n], markerfacecolor="white", color=pages.COLOURS[n])
                axes.plot(SIZES, [one.mean for one in measured[drive]], "-", marker=pages.MARKERS[n], color=pages.COLOURS[n], label=drive)
                pages.whiskers(axes, SIZES, measured[drive], pages.COLOURS[n])
            axes.set_xscale("log", base=2)
            axes.set_yscale("log")
            axes.set_xticks(SIZES, SIZES)
            axes.set_xlabel(f"random {kind.lower()}, KB (published dashed)")
            axes.set_ylabel("KB/s")
            axes.legend(frameon=False)
        ratios = {drive: [m / p for m, p in zip(measured[drive], published[drive])] for drive in "ABC"}
        page.table([f"{kind}, KB/s: published (S) → measured; ratio"] + [f"{size} KB" for size in SIZES],
                   [[drive] + [f"{p} → {m.text('.0f')}; {r.text()}" for p, m, r in zip(published[drive], measured[drive], ratios[drive])] for drive in "ABC"])
        fits = {drive: [combined(lambda *rates, part=part: fit(rates)[part], *measured[drive]) for part in (0, 1)] for drive in "ABC"}
        page.table([f"time of a {kind.lower()}, us + us/KB", "published (D)", "measured, constant", "measured, slope"],
                   [[drive, "{:.0f} + {:.1f}".format(*fit(published[drive])), fits[drive][0].text(".0f"), fits[drive][1].text(".1f")] for drive in "ABC"])
        shapes = READ_SHAPES if kind == "Read" else WRITE_SHAPES
        page.claims(*(cells_claim(drive, kind).judged(*ratios[drive]) for drive in "ABC"),
                    *(SLOPES[drive].judged(fits[drive][1], form=".1f") for drive in "ABC" if kind == "Read"),
                    *(shapes[drive].judged(combined(lambda *rates: shape(rates), *measured[drive])) for drive in "ABC"))


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
            rows.append([f"{drive}, {label}"] + [bold(r) for r in ratios] + [combined(lambda *all_sizes: max(all_sizes) / min(all_sizes), *ratios).text()])
    page.table(["Write"] + [f"{size} KB" for size in SIZES] + ["largest / smallest"], rows)
    page.text("A factor that is the same for all sizes could be calibrated away; the last column could not.")


def bold(ratio):
    """A ratio, bold when it is out of the tolerance."""
    return ratio.text() if abs(ratio.mean - 1) <= TOLERANCE else f"**{ratio.text()}**"


def write_sweeps(page, study):
    page.text("### Levers: what the cells depend on")
    page.text("Ratios to the published figures, one parameter at a time: what was calibrated or assumed a fifth up and down, and choices of the firmware.")
    for kind, published in (("Write", WRITES), ("Read", READS)):
        rows, outside = [], []
        for drive in study.swept:
            for label, (change, other) in study.levers(drive, kind).items():
                ratios = [study.rate(drive, kind, size, change, **other) / published[drive][SIZES.index(size)] for size in SWEPT]
                rows.append([f"{drive}, {label}"] + [bold(r) for r in ratios])
                if any(abs(r.mean - 1) > TOLERANCE for r in ratios):
                    outside.append(f"{drive} with {label}")
        page.table([kind] + [f"{size} KB" for size in SWEPT], rows)
        page.text(f"Out of the 25 %: {'; '.join(outside) if outside else 'none'}.")


def response_times(study, experiment, size, more=None):
    """Mean microseconds of a write, by offset, over all partitions; the first offsets do not count, for the drive is not steady yet."""
    log = numpy.array(study.drives.shift(experiment, size * KIB, more).result().log)
    partitions = experiment.partitions // 8 if study.short else experiment.partitions
    times = 1e6 * (log[:, 1] - log[:, 0]).reshape(-1, partitions).mean(axis=1)
    return times[skipped(study, experiment):]


def crossing(experiment, size, cost, left_out):
    """(fewest regions that a write touches, most, mean time of those that touch the fewest, the most)."""
    e = experiment
    touched = [(offset + size * KIB - 1) // e.block - offset // e.block + 1 for offset in (e.first + (left_out + k) * e.step for k in range(len(cost)))]
    few, many = min(touched), max(touched)
    return few, many, *(float(numpy.mean([c for c, t in zip(cost, touched) if t == count])) for count in (few, many))


def skipped(study, experiment):
    """Offsets at the beginning that do not count."""
    return 1 if study.short else experiment.lead


def write_shifts(page, study):
    page.text("## Figures 11 to 13: response times of writes at shifting addresses")
    page.text("""
Writes of one size at an offset that shifts, each offset in many partitions of the drive before the next, **one at a time**, written through: mean response
times, as the paper shows them. The drives are half full (B 90 %), so that garbage collection does not blur the picture, and the writes raw, without file
system. The sizes of the regions are inputs of the emulated drives (S), so the periods are *given*; what a crossing costs is predicted.
""")
    judged = []
    for e in SHIFTS:
        costs = {size: response_times(study, e, size) for size in e.sizes}
        left_out = skipped(study, e)
        unit, scale = ("KB", KIB) if e.step < 32 * KIB else ("MB", MIB)
        with page.figure(f"figure{e.figure}", f"Drive {e.drive}: response time by offset", height=2.6) as axes:
            for n, (size, cost) in enumerate(costs.items()):
                places = [(e.first + (left_out + k) * e.step) / scale for k in range(len(cost))]
                axes.plot(places, cost, linestyle=pages.LINES[n], color=pages.COLOURS[n], label=f"{size} KB", marker=pages.MARKERS[n], markersize=3)
            axes.set_xlabel(f"offset, {unit}")
            axes.set_ylabel("us")
            axes.set_ylim(bottom=0)
            axes.legend(frameon=False, ncols=len(costs), loc="lower center", bbox_to_anchor=(0.5, 1.0))
        rows = []
        for size, cost in costs.items():
            few, many, least, most = crossing(e, size, cost, left_out)
            steps = period(cost) * e.step / KIB
            rows.append([f"{size} KB", f"{few}, {many}", f"{least:.0f}", f"{most:.0f}", f"{most / least:.2f}"])
            label = f"Figure {e.figure}, {e.drive}, {size} KB"
            judged.append(Claim(Kind.GIVEN, f"{label}: period, KB (size of the region)", f"{e.block // KIB} (S)", within(e.block / KIB, 0)).judged(steps, form="g"))
            if (few, many) == (1, 2):
                judged.append(Claim(Kind.PREDICTED, f"{label}: {TWICE}", "twice or more (S)", at_least(2), ("no effect", 1), AT_ONCE).judged(most / least))
        page.table([f"{e.drive}, writes of", "regions touched, fewest and most", "us, fewest", "us, most", "ratio"], rows)
    page.claims(*judged)
    inside, across = study.merges(False), study.merges(True)
    page.table(["B, 8 KB", "inside a region", "across a boundary", "ratio"], [
        [what, f"{a:.2f}", f"{b:.2f}", f"{b / a:.2f}"]
        for what, a, b in (("merges per write", inside[0], across[0]), ("pages copied per write", inside[1], across[1]))])
    rows = []
    for e in SHIFTS[:2]:
        size = e.sizes[0]
        _, _, least, most = crossing(e, size, response_times(study, e, size, ONE_WAY), skipped(study, e))
        rows.append([f"{e.drive}, {size} KB", f"{least:.0f}", f"{most:.0f}", f"{most / least:.2f}"])
    page.table(["one way only", "us, fewest", "us, most", "ratio"], rows)
    page.text("""
- The **work** does double: on B a write across a boundary takes two merges for one and copies twice as much. The **response time** does not, because the two
  regions lie in different groups of dies (in A two ways, in B four), which rewrite them at the same time: the table above has the same drives with one way.
- A write of 16 KB that fills a block-mapped region of A copies nothing, others copy; so that jump is larger. One of 32 KB touches two regions at least.
- On C a region is a page. What jumps is the number of pages, and units written in part must be read and completed; aligned writes are cheapest.
""")


def write_ages(page, study):
    page.text("## Figures 8 and 9: new and used drives")
    page.text("""
Published as figures without numbers in the text (S): on A sequential and random writes lie far apart and reads age little; on C writes are alike
and reads age badly; on B hardly anything ages. *Far apart* is here taken to be a factor of two, *alike* a quarter, *greatly reduced* a quarter lost (A). New: written once in sequence. Used: the quarter of the drive that is accessed has been
overwritten twice in random order, page by page (B in pieces of 64 KB). One request at a time.
""")
    rates = {(d, age, access): study.use(d, age, access).of(ryu_elements.bandwidth) for d in "ABC" for age in AGES for access in ACCESSES}
    for age in AGES:
        page.table([f"{age}, MB/s"] + list(ACCESSES), [[d] + [rates[d, age, access].text(".1f") for access in ACCESSES] for d in "ABC"])
    with page.figure("figure8_9", "Bandwidth of new and used drives") as axes:
        pages.bars(axes, [f"{d}, {age}" for d in "ABC" for age in AGES],
                   {access: [rates[d, age, access] for d in "ABC" for age in AGES] for access in ACCESSES})
        axes.set_ylabel("MB/s")
    apart = {d: rates[d, "used", "sequential write"] / rates[d, "used", "random write"] for d in "ABC"}
    kept = {d: rates[d, "used", "sequential read"] / rates[d, "new", "sequential read"] for d in "ABC"}
    page.claims(CLAIMS["far A"].judged(apart["A"]), CLAIMS["far B"].judged(apart["B"]), CLAIMS["alike C"].judged(apart["C"]),
                CLAIMS["kept A"].judged(kept["A"]), CLAIMS["kept B"].judged(kept["B"]), CLAIMS["lost C"].judged(kept["C"]),
                CLAIMS["fast read"].judged(rates["A", "new", "sequential read"] / rates["A", "new", "random read"]))
    ahead = study.use("A", "new", "sequential read", READ_AHEAD).of(ryu_elements.bandwidth)
    page.text(f"""
With `{" ".join(f"{key}={value}" for key, value in READ_AHEAD.items())}` A reads {ahead.text(".1f")} MB/s in sequence, {(ahead / rates["A", "new", "random read"]).text(".2f")} times its
random reads. It stays off: nothing in the text says that A reads ahead, and what is put in to meet a claim is no result.
""")
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
Section 3.1 lets a write to sector 10201 fall on page 236 of its block-mapped region of 1 MB with {pages_per_block} pages of 4 KB, by way of 5040 KB +
512 B. But 10201 sectors of 512 B are {kilobytes:.1f} KB = {int(kilobytes // 1024)} MB + {inside:.1f} KB, which is page **{int(inside // 4)}**. The
paper's numbers are those of sector 10081 (5040.5 KB, page {int(10081 / 2 % 1024 // 4)}). A slip of the pen; the argument does not depend on it.
""")


def reproduce(options, runner):
    study = Study(runner)
    parts = {"chips": (study.start_chips, write_chip), "figure-14": (study.start_figure_14, write_figure_14),
             "shifts": (study.start_shifts, write_shifts), "ages": (study.start_ages, write_ages),
             "figure-16": (study.layer.start_all, lambda page, _: study.layer.write(page)),
             "elements": (study.elements.start_all, lambda page, _: study.elements.write(page)),
             "benchmark": (study.start_benchmarks, write_benchmarks), "levers": (study.start_sweeps, write_sweeps),
             "slip": (lambda: None, lambda page, _: write_slip(page))}
    sections = [Section(name, start, lambda page, write=write: write(page, study)) for name, (start, write) in parts.items()]
    publish("ryu", options, runner, write_introduction, sections, [SCENARIOS[drive] for drive in "ABC"], CONSTANTS)


if __name__ == "__main__":
    runs.main(reproduce, __doc__)
