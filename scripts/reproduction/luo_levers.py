"""What the verdicts of luo.py depend on: how full a drive is, whether it has been left alone, and how much of its data is accessed."""

from claims import SHOWN, YES, all_of, verdict
from luo_drives import IDLE, IN_USE, microseconds
from luo_files import CLAIMS as FILE_CLAIMS
from luo_files import HALF, READING, TABLE_1, WRITES
from luo_reads import CLAIMS as READ_CLAIMS
from luo_reads import MIX_FILL, MIX_WRITES
from luo_writes import CLAIMS as WRITE_CLAIMS
from luo_writes import bandwidth, cliff, pace
from samples import combined

STATES = {"in use": IN_USE, "left alone": IDLE}
FILLS = {"in use": [50, 90], "left alone": [90]}  # Figure 3
# Figure 10: per cent of reads, fill, writes at least.
MIXED = {f"R50, {fill} % full": (50, fill, MIX_WRITES) for fill in (50, MIX_FILL, 90)} | {
    f"R90, {MIX_FILL} % full": (90, MIX_FILL, MIX_WRITES), f"R90, {MIX_FILL} % full, {MIX_WRITES // 4:,} writes only": (90, MIX_FILL, MIX_WRITES // 4)}
HOT = {"all that is cached": None, "the first 1 GiB": 1024, "the first 64 MiB (1 GB of the whole drive)": 64}  # Figure 13, MiB of the sixteenth
FILE_FILLS = [50, 74]  # Figure 9
APPLICATIONS = {"70 % full, in use": (70, IN_USE), "70 % full, left alone": (70, IDLE), "40 % full, in use": (40, IN_USE)}  # Figure 11
DRIVE = "665p"


class Levers:
    """The runs, by way of those of the figures."""

    def __init__(self, writes, reads, files):
        self.writes, self.reads, self.files = writes, reads, files
        self.hybrids = writes.drives.hybrids
        self.turned = []

    # ---- each: a row's name and the figures that its claim is judged by
    def written(self):
        slower = combined(min, *(self.writes.file(pure, 90, "sequential").of(bandwidth) for pure in ("SLC", "TLC")))
        return {f"{fill} % full, {state}": [self.writes.file(drive, fill, "sequential", state=STATES[state]).of(bandwidth) / slower for drive in self.hybrids]
                for state, fills in FILLS.items() for fill in fills}

    def cliffs(self):
        def place(fill, state):
            usual = pace(self.writes.flood(DRIVE, fill).result().log)
            return self.writes.flood(DRIVE, fill, state).of(lambda report: cliff(report.log, usual)[0] / 1e9)
        return {f"{fill} % full, {words}": place(fill, state) for fill in self.writes.fills for words, state in STATES.items()}

    def mixed(self):
        def tail(reads, state, fill, writes):
            return self.reads.mix(DRIVE, reads, state, fill=fill, writes=writes).of(lambda report: microseconds(report, "p99.9"))
        return {words: [tail(reads, "with migration", fill, writes) / tail(reads, "without migration", MIX_FILL, writes)]
                for words, (reads, fill, writes) in MIXED.items()}

    def loads(self):
        return {f"{load.name}, {fill} % full": [self.files.share(DRIVE, load, fill=fill)] for load in TABLE_1 if load.reads < READING for fill in FILE_FILLS}

    def shortened(self):
        return {f"{load.name}": [self.files.share(drive, load) for drive in self.hybrids] for load in (TABLE_1[2], HALF)}

    def cached(self):
        return {f"{access}, {words}": [self.files.cached_share(DRIVE, access, hot)] for access in WRITES for words, hot in HOT.items()}

    def started(self):
        def tail(beside, fill, state):
            runs = self.reads.application(DRIVE, "start", beside, fill=fill, state=state)
            return runs.of(lambda report: microseconds(report, "p99.9"))
        return {words: [tail(beside, *state) / tail("alone", *state) for beside in ("SWAP", "MD")] for words, state in APPLICATIONS.items()}

    def start(self):
        for state, fills in FILLS.items():
            for fill in fills:
                for drive in self.hybrids:
                    self.writes.file(drive, fill, "sequential", state=STATES[state])
        for pure in ("SLC", "TLC"):
            self.writes.file(pure, 90, "sequential")
        for fill in self.writes.fills:
            for state in STATES.values():
                self.writes.flood(DRIVE, fill, state)
        for reads, fill, writes in MIXED.values():
            self.reads.mix(DRIVE, reads, "with migration", fill=fill, writes=writes)
            self.reads.mix(DRIVE, reads, "without migration", writes=writes)
        for load in (TABLE_1[2], HALF):
            for drive in self.hybrids:
                self.files.bench(drive, load, "in use")
        for load in (*TABLE_1, HALF):
            self.files.bench("SLC", load, "left alone")
            if load.reads >= READING:
                continue
            for fill in FILE_FILLS:
                self.files.bench(DRIVE, load, "in use", fill)
        for access in WRITES:
            for hot in HOT.values():
                for percent in (self.files.cached[0], self.files.cached[-1]):
                    self.files.cache(DRIVE, percent, access, hot)
        for state in APPLICATIONS.values():
            for beside in ("alone", "SWAP", "MD"):
                self.reads.application(DRIVE, "start", beside, fill=state[0], state=state[1])

    # ------------------------------------------------------------------------------------------------------------------- the page

    def write(self, page):
        page.text("## Levers: what the verdicts depend on")
        page.text("""
How full the drives were, how long they had been left alone, how much of their data was accessed and for how long is said for some figures and not for others. Here the figures again with
other states; the verdicts are those of the claims above, and count only there. Runs of Figures 9 and 10 had first been made shorter for this edition, and were given their old length
again when verdicts turned with it: both lengths stand here.
""")
        self.table(page, "Figure 3, writes of a file in sequence over the slower pure drive: " + ", ".join(self.hybrids), self.written(), WRITE_CLAIMS["below"])
        page.table(["Figure 4, 665p, sequential writes", "GB until the cliff"], [[words, one.text()] for words, one in self.cliffs().items()])
        self.table(page, f"Figure 10, p99.9 of a drive in use over that of one left alone, {MIX_FILL} % full", self.mixed(), READ_CLAIMS["migration"], ".1f")
        self.table(page, "Figure 9, 665p in use over SLC: clearly worse", self.loads(), FILE_CLAIMS["clearly"])
        self.table(page, "Figure 9, in use over SLC: " + ", ".join(self.hybrids) + ": hardly suffers", self.shortened(), FILE_CLAIMS["hardly"])
        self.table(page, "Figure 13, 665p, writes at 70 % cached over those at 10 %, to", self.cached(), FILE_CLAIMS["slower"])
        self.table(page, "Figure 11, 665p, p99.9 over that alone: SWAP, MD", self.started(), READ_CLAIMS["tail"], ".1f")
        page.text(f"**Not yes:** {'; '.join(self.turned)}." if self.turned else "The claims hold with all of them.")

    def table(self, page, words, figures, claim, form=".2f"):
        """Figures of each state with the verdict by a claim's region."""
        rows = []
        for state, samples in figures.items():
            found = all_of(verdict(one, claim.region) for one in samples)
            rows.append([state, ", ".join(one.text(form) for one in samples), SHOWN[found]])
            self.turned += [f"{words.split(',')[0]}, {state} ({found})"] if found != YES else []
        page.table([words, "", claim.region.words], rows)
