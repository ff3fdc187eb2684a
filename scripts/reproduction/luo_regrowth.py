"""pSLC that grows back: what a drive writes at the speed of SLC before and after half of its data are trimmed, against its own rule."""

from dataclasses import dataclass

import numpy

import page as pages
from claims import Claim, Kind, within
from luo_drives import filled
from luo_forms import Pool
from luo_writes import MIB, cliff, pace

FILL, FULLER = 75, 90  # per cent; the second for the first drive alone
USER = 64_000_000_000  # bytes of the sixteenth
FIRST, SECOND = 2048, 8192  # MiB of it: written first, written later at most
REST = "60 s"
TOLERANCE = 0.05
STEP = 64  # writes to a point of the figure


@dataclass(frozen=True)
class Between:
    """What lies between the first and the second writes; `certain`: nothing in it depends on chance."""

    words: str
    trim: str
    idle: bool
    certain: bool = True


ALONE = Between("a minute of idle time", "", True)
PIECE = Between("half trimmed in one piece, a minute of idle time", "rw: trim, bs: 1m, iodepth: 64", True)
PLACES = Between("half trimmed at random places of 1 MiB, a minute of idle time", "rw: randtrim, norandommap: false, bs: 1m, iodepth: 64", True, certain=False)
AT_ONCE = Between("half trimmed in one piece, no idle time", PIECE.trim, False)
VARIANTS = [ALONE, PIECE, PLACES, AT_ONCE]
GROWN = [PIECE, PLACES]  # what the rule speaks of: trimmed, and time enough
DRIVE = "665p"  # with all variants; the others with a trim in one piece


class Regrowth:
    """The runs. Each method returns Seeds."""

    def __init__(self, drives):
        self.drives = drives

    # ---- amounts, in MiB
    def user(self):
        return USER // MIB // (32 if self.drives.short else 1)

    def first_size(self):
        return int(self.drives.mib(FIRST).rstrip("m"))

    def filled_size(self, fill):
        """What is there before, or part of one more."""
        return self.user() * fill // 100 + 1

    def trimmed_size(self, fill):
        return self.filled_size(fill) // 2

    def second_offset(self, fill):
        return self.filled_size(fill) + self.first_size()

    def second_size(self, fill):
        return min(int(self.drives.mib(SECOND).rstrip("m")), self.user() - self.second_offset(fill) - 1)

    def share_left(self, fill, trimmed=True):
        """Share of the capacity that holds data before the second writes."""
        return fill / 100 + (self.first_size() - trimmed * self.trimmed_size(fill)) / self.user()

    # ---- loads, one after the other
    def between(self, variant, fill):
        if not variant.trim:
            return []
        region = f"size: {self.filled_size(fill)}m, io_size: " if variant is PLACES else "size: "
        return [f"{variant.trim}, {region}{self.trimmed_size(fill)}m, stonewall: true"]

    def then(self, variant, fill, load):
        rest = f", startdelay: {REST}" if variant.idle else ""
        first = f"rw: write, bs: 1m, iodepth: 64, offset: {self.filled_size(fill)}m, size: {self.first_size()}m"
        return [first, *self.between(variant, fill), f"{load}, stonewall: true{rest}"]

    def second(self, fill):
        return f"rw: write, bs: 1m, iodepth: 64, offset: {self.second_offset(fill)}m, size: {self.second_size(fill)}m"

    # ---- runs
    def writes(self, drive, variant, fill=FILL):
        """First writes, what lies between, second writes."""
        return self.drives.run(drive, filled(fill), self.then(variant, fill, self.second(fill)), log=True, certain=variant.certain)

    def looked_at(self, drive, fill=FILL, variant=None):
        """The drive as it is before the first writes, or with a variant before the second ones."""
        look = f"rw: read, bs: 4k, number_ios: 1, offset: {self.filled_size(fill)}m"
        loads = self.then(variant, fill, look) if variant else look
        return self.drives.run(drive, filled(fill), loads, certain=variant is None or variant.certain)

    def never_fuller(self, drive, fill=FILL):
        """The second writes to a drive that has been filled as far as the others are after the trim, and no further."""
        return self.drives.run(drive, filled(f"{100 * self.share_left(fill):.6g}"), self.second(fill), log=True, certain=True)

    def states(self):
        """Drives and how full they are."""
        return [(drive, FILL) for drive in self.drives.hybrids] + [(self.drives.hybrids[0], FULLER)]

    def variants(self, drive, fill):
        return VARIANTS if drive == DRIVE and fill == FILL else self.grown(drive)

    def grown(self, drive):
        return GROWN if drive == DRIVE else [PIECE]

    def start_all(self):
        for drive, fill in self.states():
            self.looked_at(drive, fill)
            self.never_fuller(drive, fill)
            for variant in self.variants(drive, fill):
                self.writes(drive, variant, fill)
            for variant in self.grown(drive):
                self.looked_at(drive, fill, variant)

    # ---- figures of a run
    def first_part(self, report):
        return report.log[:self.first_size()]

    def second_part(self, report, fill=FILL):
        return report.log[-self.second_size(fill):]

    def before(self, seeds):
        """GB at the speed of SLC by the first writes."""
        return seeds.of(lambda report: cliff(self.first_part(report))[0] / 1e9)

    def after(self, seeds, fill):
        """(GB at the speed of SLC, MB/s behind it) by the second writes; the speed is that of the first ones."""
        found = [lambda report, n=n: cliff(self.second_part(report, fill), pace(self.first_part(report)))[n] for n in range(2)]
        return seeds.of(found[0]) / 1e9, seeds.of(found[1]) / 1e6

    def by_rule(self, drive, fill, variant=None):
        """GB at the speed of SLC by the drive's rule: of the first writes, or of the second ones."""
        share = self.share_left(fill) if variant else fill / 100
        return self.looked_at(drive, fill, variant).of(lambda looked: Pool(looked, looked).cliff(share) / 1e9)

    # ------------------------------------------------------------------------------------------------------------------- the page

    def write(self, page):
        page.text("## pSLC that grows back")
        page.text(f"""
No figure of the paper, but what the drives' rule says of data that go away: the size of the pSLC follows the share of valid data, whatever there was before. A drive that has
been left alone at {FILL} % writes 2 GB behind its data, in sequence; half of the {FILL} % is trimmed; after a minute (A) it writes on. Amounts are those of a sixteenth, and a **cliff** is
where the time per 32 MB has doubled, against the first writes. By the rule it lies at W = (1 - fold_below) pool(fill + W / U), with U the user capacity and in whole blocks
of each die, less what the open blocks hold already (D). Trims at random places (of the 665p) have five seeds, nothing else depends on chance. Nothing here is predicted: that the size goes by the space in use is put in (F: Intel, of the 660p); asked is whether the drive keeps to it.
""")
        rows, judged = [], []
        for drive, fill in self.states():
            rows += self.rows_of(drive, fill)
            judged += self.judged_of(drive, fill)
        page.table(["", "data there", "GB until the cliff, by the rule (D)", "measured", "MB/s behind it"], rows)
        self.draw(page)
        page.claims(*judged)
        page.text(f"""
- The pSLC comes back as large as it would have been had the drive never been fuller. A drive {FILL} % full has so many free blocks that it does not matter where the trimmed
  data lay.
- On a drive {FULLER} % full it does: trimmed at random, all blocks stay half full of valid data, and have to be collected before they can be in SLC mode. Idle time
  leaves that to the writes, whatever `gc.idle_target` says: as many blocks are free as it can ask for. So writes become slow a fifth earlier than by the rule.
- Idle time alone empties the pSLC, which stays as small as the data make it. A trim alone makes room at once; what the first writes left in SLC mode takes some of it.
""")

    def rows_of(self, drive, fill):
        first = self.writes(drive, PIECE, fill)
        behind = first.of(lambda report: cliff(self.first_part(report))[1] / 1e6)
        rows = [[f"{drive}: first writes", f"{fill} %", self.by_rule(drive, fill).text(), self.before(first).text(), behind.text(".0f")]]
        for variant in self.variants(drive, fill):
            amount, behind = self.after(self.writes(drive, variant, fill), fill)
            wanted = self.by_rule(drive, fill, variant).text() if variant in GROWN else ""
            rows.append([f"{drive}: {variant.words}", f"{100 * self.share_left(fill, bool(variant.trim)):.0f} %", wanted, amount.text(), behind.text(".0f")])
        fresh = self.never_fuller(drive, fill)
        amount, behind = (fresh.of(lambda report, n=n: cliff(report.log)[n]) for n in range(2))
        rows.append([f"{drive}: never fuller", f"{100 * self.share_left(fill):.0f} %", "", (amount / 1e9).text(), (behind / 1e6).text(".0f")])
        return rows

    def judged_of(self, drive, fill):
        name = f"{drive}, {fill} % full"
        before = self.before(self.writes(drive, PIECE, fill))
        fresh = self.never_fuller(drive, fill).of(lambda report: cliff(report.log)[0] / 1e9)
        near = within(1, TOLERANCE)
        judged = [Claim(Kind.SELF_CONSISTENT, f"{name}: amount before, over the rule's", "1 (D)", near).judged(before / self.by_rule(drive, fill))]
        for variant in self.grown(drive):
            after, _ = self.after(self.writes(drive, variant, fill), fill)
            words = f"{name}, half trimmed {'in one piece' if variant is PIECE else 'at random places'}: amount after"
            shrunk = ("it only shrinks", (before / fresh).mean)
            judged += [
                Claim(Kind.SELF_CONSISTENT, f"{words}, over the rule's", "1 (D)", near, otherwise=COLLECTED).judged(after / self.by_rule(drive, fill, variant)),
                Claim(Kind.SELF_CONSISTENT, f"{words}, over that of a drive never fuller", "1 (D)", near, shrunk, COLLECTED).judged(after / fresh),
            ]
        return judged

    def draw(self, page):
        drive = self.drives.hybrids[0]
        curves = [(f"first writes, {FILL} % full", self.first_part, PIECE)] + [(variant.words, self.second_part, variant) for variant in VARIANTS]
        with page.figure("regrowth", f"{drive}: bandwidth over the amount written, before and after the trim", height=3.4) as axes:
            for n, (words, part, variant) in enumerate(curves):
                axes.plot(*over_amount(part(self.writes(drive, variant).result())), linestyle=pages.LINES[n], color=pages.COLOURS[n], label=words)
            axes.set_xlabel("GB written")
            axes.set_ylabel("MB/s")
            axes.set_yscale("log")
            axes.legend(frameon=False, fontsize=8, loc="lower center", bbox_to_anchor=(0.5, 1.0))


COLLECTED = "blocks half full of valid data have to be collected before they can be in SLC mode, which idle time leaves to the writes"


def over_amount(log):
    """(GB written, MB/s) of a sequence of writes of 1 MiB."""
    done = numpy.sort([completed for _, completed in log])[::STEP]
    return numpy.arange(1, len(done)) * STEP * MIB / 1e9, STEP * MIB / numpy.diff(done) / 1e6
