"""SLC cliffs of ten consumer drives, as reviews found them: which follow from capacity and a rule, and one of them emulated."""

from dataclasses import dataclass

TOLERANCE = 0.10
SCENARIO = "scenarios/real/slc_cliff.yaml"
FULL_UNTIL, GONE_AT = 0.25, 0.75  # of the capacity with data: all of the pSLC, none of it (scenarios/luo has the sources)
MIB = 1 << 20
WINDOW = 64  # writes of 1 MiB


@dataclass(frozen=True)
class Review:
    """An erased drive that is written in order: bandwidth, GB until it falls, bandwidth behind; words as the review has them."""

    drive: str
    capacity: float
    bits: int
    first: str
    until: float
    behind: str
    source: str
    dies: int = 0  # of 512 Gb (TLC) or 1 Tb (QLC), as many as the capacity takes
    behind_rate: float = 0  # MB/s right behind the cliff, of `behind`; 0: not published
    throughput: float = 0  # MB/s that one such die programs natively, where a part that may be meant is published; else 0
    part: str = ""  # which
    why_not: str = ""  # what stands against it

    @property
    def by_rule(self):
        """Where the cliff lies if all flash may be in SLC mode, in GB: P = C / bits while it is below 25 % of the capacity C, else
        P = (C / bits) (75 % - P / C) / 50 %, because the pSLC shrinks while it is filled."""
        whole = self.capacity / self.bits
        if whole <= FULL_UNTIL * self.capacity:
            return whole
        width = GONE_AT - FULL_UNTIL
        return whole * GONE_AT / width / (1 + 1 / (self.bits * width))


TECHPOWERUP = "techpowerup.com/review"
NOT_NAMED = "its dies, or their program time, are not published"
REVIEWS = [
    Review("Samsung 980 PRO 1 TB", 1000, 3, "4 GB/s", 113, "1.5 GB/s", f"{TECHPOWERUP}/samsung-980-pro-1-tb-ssd/6.html", dies=16, behind_rate=1500, throughput=82, part="tlc-128l-v6"),
    Review("Sabrent Rocket 4 Plus 2 TB", 2000, 3, "over 5 GB/s", 200, "", f"{TECHPOWERUP}/sabrent-rocket-4-plus-2-tb-ps5-heatsink/6.html", dies=32, why_not=f"no figure behind the cliff; {NOT_NAMED}"),
    Review("Samsung 980 1 TB", 1000, 3, "2.5 GB/s", 160, "500 MB/s", f"{TECHPOWERUP}/samsung-980-non-pro-1-tb/6.html", dies=16, behind_rate=500, throughput=82, part="tlc-128l-v6", why_not="it folds: what goes straight to TLC is a bound"),
    Review("Sabrent Rocket Q 1 TB", 1000, 4, "1.7 GB/s", 250, "150 MB/s", f"{TECHPOWERUP}/sabrent-rocket-q-1-tb-m-2-nvme-ssd/6.html", dies=8, behind_rate=150, throughput=30, part="qlc-96-layer", why_not="it folds: emulated below"),
    Review("Sabrent Rocket 1 TB", 1000, 3, "over 2 GB/s", 16, "1 GB/s", f"{TECHPOWERUP}/sabrent-rocket-1-tb-m-2-nvme-ssd/6.html", dies=16, behind_rate=1000, throughput=57, part="tlc-96l-bics4"),
    Review("Crucial P1 1 TB", 1000, 4, "1.6 GB/s", 140, "150 MB/s", f"{TECHPOWERUP}/crucial-p1-nvme-m-2-ssd-1-tb/6.html", dies=8, behind_rate=150, throughput=12, part="qlc-64-layer", why_not="dies of another maker; the drive's are faster"),
    Review("HP FX700 2 TB", 2000, 4, "5, from 54 GB on 3.5 GB/s", 460, "130 MB/s", f"{TECHPOWERUP}/hp-fx700-2-tb/6.html", dies=16, behind_rate=130, why_not=NOT_NAMED),
    Review("ADATA XPG Atom 50 1 TB", 1000, 3, "4.5 GB/s", 280, "2 GB/s, from 500 GB on 500 MB/s", f"{TECHPOWERUP}/adata-xpg-atom-50-1-tb/6.html", dies=16, behind_rate=2000, why_not=NOT_NAMED),
    Review("Lexar NM800 PRO 2 TB", 2000, 3, "3.5 GB/s", 592, "2.2, later 1 GB/s", f"{TECHPOWERUP}/lexar-nm800-pro-heatsink-2-tb/6.html", dies=32, behind_rate=2200, why_not=NOT_NAMED),
    Review("Samsung 870 QVO 4 TB", 4000, 4, "487 MB/s", 78, "169 MB/s", "kitguru.net, 78 GB as its maker says", dies=32, behind_rate=169, why_not=NOT_NAMED),
]
EMULATED = next(one for one in REVIEWS if one.drive == "Sabrent Rocket Q 1 TB")
PUBLISHED_FIRST, PUBLISHED_BEHIND, SCALE = 1700, 150, 64  # MB/s, MB/s; the scenario is a 64th
BY_DEFAULT = {"firmware.pslc.of_free_space": "75 %"}


class Cliffs:
    """The runs of the emulated one, and the section."""

    def __init__(self, drafts):
        self.drafts = drafts

    def start(self):
        self.run()
        self.run(BY_DEFAULT)

    def run(self, changes=None):
        size = "size: 512m" if self.drafts.short else "size: 7g"
        return self.drafts.start(SCENARIO, f"rw: write, bs: 1m, iodepth: 16, {size}", changes, precondition="", log=True, certain=True)

    def write(self, page):
        page.text("## SLC cliffs of consumer drives")
        page.text(f"""
Ten drives, erased and written in order, as reviews found them. The rule: all flash may be in SLC mode until a quarter of the drive holds data, none from three
quarters on, in a straight line between; the cliff then lies at a quarter of the capacity with four bits a cell and at three tenths with three. Positions within
{TOLERANCE:.0%} count as met; nothing was fitted.
""")
        rows, met = [], 0
        for one in REVIEWS:
            ratio = one.by_rule / one.until
            good = abs(ratio - 1) <= TOLERANCE
            met += good
            rows.append([one.drive, one.first, f"{one.until:.0f} GB", one.behind, f"{one.by_rule:.0f} GB", "yes" if good else "**no**", one.source])
        page.table(["drive", "first", "until", "then", "by the rule", "met", "source"], rows, left=True)
        page.text(f"""
Position: **{met} of {len(REVIEWS)}** have a pSLC of all flash, and theirs follows from the capacity. The others have an amount that their makers chose, from 1.6 to 20 % of the
capacity; nothing but a measurement gives it, and `firmware.pslc.static` and `dynamic` take it.
""")
        self.write_what_can_be_had(page)
        page.text(f"""
The {EMULATED.drive}, emulated with the published program throughput of another maker's 96-layer QLC die (30 MB/s, ISSCC 2020; `{SCENARIO}`). Bandwidths are
predicted. **Calibrated** is where the cliff lies: by `firmware.pslc.of_free_space`, the share of the free space that dynamic blocks may take, which is as large here as it can be (133 %, so
that all flash is in SLC mode), and 75 % by default.
""")
        emulated, usual = cliffs_of(self.run()), cliffs_of(self.run(BY_DEFAULT))
        published = (("first, MB/s", PUBLISHED_FIRST), ("until, GB (calibrated)", round(EMULATED.until)), ("then, MB/s", PUBLISHED_BEHIND))
        rows = []
        for (words, figure), one, other in zip(published, emulated, usual):
            cells = [f"{one.text(',.0f')}", f"{(one.mean / figure - 1) * 100:+.0f} %", other.text(",.0f"), f"{(other.mean / figure - 1) * 100:+.0f} %"]
            rows.append([words, f"{figure:,}", *cells])
        page.table(["", "published", "emulated", "", "with 75 %", ""], rows)
        page.text("""
The emulated cliff still comes a tenth early: folding, which slows writes down, begins when a tenth of the pSLC is left (`fold_below`). With 75 % the pSLC is full at 17 % of the capacity: data
in it count twice, as the blocks that they take in SLC mode and as those that they will need in native mode ([modelling.md](../modelling.md), pSLC).
""")

    def write_what_can_be_had(self, page):
        page.text(f"""
Which of it can be had, drive by drive. *Ruled*: the position follows from capacity and rule; *given*: it must be told, and then the cliff is there. Bandwidth in SLC mode: program times
in SLC mode are published of none of these dies, so it can be had of none of them, but where the link is the limit (the SATA drive: 539 MB/s here, 487 published, +11 %). Bandwidth behind the
cliff: that of writes which go straight to native flash is dies times published program throughput of a die (the parts name their sources; that a drive has this
part is an assumption, of generation and maker); a drive that folds comes to less. Met is within {TOLERANCE:.0%}.
""")
        rows, had = [], 0
        for one in REVIEWS:
            ruled = abs(one.by_rule / one.until - 1) <= TOLERANCE
            straight = one.dies * one.throughput
            ratio = straight / one.behind_rate if straight and one.behind_rate else 0
            met = ratio and abs(ratio - 1) <= TOLERANCE
            had += bool(met)
            verdict = "yes" if met else f"no: {one.why_not}" if one.why_not else "**no**"
            rows.append([one.drive, "ruled" if ruled else "given", f"{one.dies} x {one.throughput:.0f} MB/s ({one.part})" if straight else f"{one.dies} x ?",
                         f"{straight:,.0f}" if straight else "", f"{one.behind_rate:,.0f}" if one.behind_rate else "", f"{(ratio - 1) * 100:+.0f} %" if ratio else "", verdict])
        page.table(["drive", "position", "dies, natively", "straight, MB/s", "published behind the cliff", "", "can be had"], rows, left=True)
        page.text(f"Behind the cliff: {had} of {len(REVIEWS)} by this, and the {EMULATED.drive} emulated.")


def cliffs_of(seeds):
    """Samples of what cliff() gives."""
    return [seeds.of(lambda report, n=n: cliff(report.log)[n]) for n in range(3)]


def cliff(log):
    """MB/s before the cliff, GB of the whole drive until it, MB/s behind it."""
    done = sorted(completed for _, completed in log)
    rates = [WINDOW * MIB / (done[n + WINDOW] - done[n]) / 1e6 for n in range(0, len(done) - WINDOW, WINDOW)]
    top = rates[len(rates) // 20]
    fall = next((n for n, rate in enumerate(rates) if n > 0 and rate < top / 2), len(rates))
    rest = done[fall * WINDOW:]
    behind = (len(rest) - 1) * MIB / (rest[-1] - rest[0]) / 1e6 if len(rest) > 1 else top
    return top, fall * WINDOW * MIB * SCALE / 1e9, behind
