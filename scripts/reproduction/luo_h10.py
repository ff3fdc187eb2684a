"""The other architecture that Luo et al. name: fast memory of its own before QLC (scenarios/luo/drive_h10.yaml), beside pSLC in the same dies."""

from claims import Claim, Kind, within
from luo_drives import HYBRIDS, IDLE, IN_USE, PURE, bandwidth, filled, microseconds
from luo_remedies import behind
from luo_writes import D660P

SCENARIO = "scenarios/luo/drive_h10.yaml"
FILL = 50  # per cent
DRIVES = {"pSLC, left alone": (HYBRIDS["665p"], IDLE, D660P), "pSLC, in use": (HYBRIDS["665p"], IN_USE, D660P), "fast memory": (SCENARIO, IN_USE, {}),
          "QLC alone": (PURE["QLC"], IN_USE, D660P)}
WRITTEN = 290  # MB/s that the fast memory takes: its banks and latency in the scenario (D)
SHORT = {"ssd.flash.user_capacity": "2 GB", "ssd.flash.part.pages_per_block": "48", "ssd.flash.part.layers": "4"}
CLAIMS = {
    "behind": Claim(Kind.SELF_CONSISTENT, "fast memory before QLC: sequential writes over those of QLC alone", "1 (D: all of it goes to QLC once)", within(1, 0.05)),
    "hot": Claim(Kind.SELF_CONSISTENT, "fast memory before QLC: writes to a hot set that it holds, MB/s", f"{WRITTEN} (D: its banks)", within(WRITTEN, 0.05)),
}


class FastMemory:
    """The runs; each method returns Seeds."""

    def __init__(self, drives):
        self.drives = drives
        self.shown = dict(list(DRIVES.items())[1:3]) if drives.short else DRIVES

    def run(self, drive, load, **more):
        scenario, state, changes = DRIVES[drive]
        changes = changes | (SHORT | ({"ssd.scm.capacity": "64 MB"} if scenario == SCENARIO else {}) if self.drives.short else {})
        return self.drives.start(scenario, load, changes, filled(FILL, state), shared=True, **more)

    def flood(self, drive):
        """Sequential writes behind the data; nothing depends on chance."""
        return self.run(drive, f"rw: write, bs: 1m, iodepth: 64, offset: {FILL}%, size: {self.drives.mib(8192)}", log=True, certain=True)

    def hot_writes(self, drive):
        """4 KB at random to 1 GiB of old data, over and over; measured is the sixth round, when all but 0.5 % of it has been written before."""
        size, rounds = self.drives.mib(1024), self.drives.mib(6144)
        ramp = 1000 if self.drives.short else 1_310_720
        return self.run(drive, f"rw: randwrite, bs: 4k, iodepth: 32, offset: 2%, size: {size}, io_size: {rounds}, ramp_requests: {ramp}")

    def hot_reads(self, drive):
        """4 KB at random of 64 MiB of old data, one at a time; measured when nearly all of it has been read."""
        ramp, measured = (100, 100) if self.drives.short else (65_536, 10_000)
        return self.run(drive, f"rw: randread, bs: 4k, iodepth: 1, offset: 2%, size: 64m, io_size: 100g, ramp_requests: {ramp}, number_ios: {ramp + measured}")

    def start(self):
        for drive in self.shown:
            for load in (self.flood, self.hot_writes, self.hot_reads):
                load(drive)

    def write(self, page):
        page.text("## The other architecture: fast memory of its own")
        page.text(f"""
Luo et al. name two architectures: pSLC in the same dies, which their drives have, and fast memory of its own, as in Intel's Optane Memory H10 (S). They measured none of the second. Here
both sit in front of the dies of the 660p, {FILL} % full of data: its pSLC, and the 2 GB that a sixteenth of the H10's 32 GB are (`{SCENARIO}`), where everything that is written or read goes
first and the least recently used moves to QLC. The real H10 caches by software of the host and has a pSLC as well; its rates are remembered, not read. So nothing here is predicted.
Sequential writes of 1 MB are those of the second half of 8 GiB; hot are 4 KB at random to 1 GiB of old data, 32 at a time; reads 4 KB at random of 64 MiB of old data, one at a time,
read before.
""")
        rows = []
        for drive in self.shown:
            flood = self.flood(drive).of(lambda report: behind(report.log))
            reads = self.hot_reads(drive)
            rows.append([drive, flood.text(".0f"), self.hot_writes(drive).of(bandwidth).text(".0f"),
                         *(reads.of(lambda report, p=p: microseconds(report, p)).text(".0f") for p in ("p50", "p99"))])
        page.table([f"{FILL} % full", "sequential writes, MB/s", "hot writes, MB/s", "hot reads, p50, us", "p99, us"], rows)
        memory = "fast memory"
        rate, plain = (self.flood(drive).of(lambda report: behind(report.log)) for drive in (memory, list(self.shown)[-1]))
        page.text("Hot writes are those of the sixth round. In the second and third a sixth of them still came to new places, for which others had to be read and moved to QLC: 273 MB/s.")
        page.claims(CLAIMS["behind"].judged(rate / plain), CLAIMS["hot"].judged(self.hot_writes(memory).of(bandwidth), form=".0f"))
