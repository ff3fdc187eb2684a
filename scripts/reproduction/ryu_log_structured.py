"""Figure 16 of Ryu and Park: drive B behind a log-structured host layer that turns random writes into sequential ones (EasyCo's Managed Flash Technology)."""

from claims import Claim, Kind, at_least, at_most, within
from ryu_drives import SCENARIOS

LOG_STRUCTURED = {"log_structured.policy": "log-structured", "log_structured.segment": "1 MiB", "log_structured.spare": "10 %", "log_structured.cost": "5 us"}
ACCESSES = {"sequential writes, 4 KB": "rw: write, bs: 4k", "random writes, 4 KB": "rw: randwrite, bs: 4k",
            "sequential writes, 64 KB": "rw: write, bs: 64k", "random writes, 64 KB": "rw: randwrite, bs: 64k",
            "sequential reads, 64 KB, of what was written at random": "rw: read, bs: 64k",
            "random reads, 64 KB, of the same": "rw: randread, bs: 64k"}
FILE = "{fill: 25 %, order: sequential, bs: 64 KiB}"
WRITTEN_AT_RANDOM = FILE + ", {overwrite: 2x, order: random, region: 25 %, bs: 4 KiB}"


class LogStructured:
    """The runs with and without the layer. Each method returns Seeds."""

    def __init__(self, drives):
        self.drives = drives

    def run(self, layered, access):
        words = ACCESSES[access]
        ramp, measured = (6000, 6000) if "bs: 4k" in words else (1000, 3000)
        if "read" in words:
            ramp, measured = 100, 1500
        if self.drives.short:
            ramp, measured = 20, 50
        load = f"{words}, iodepth: 1, size: 25%, loops: 4, ramp_requests: {ramp}, number_ios: {ramp + measured}"
        before = WRITTEN_AT_RANDOM if "read" in words and not self.drives.short else FILE
        return self.drives.start(SCENARIOS["B"], load, LOG_STRUCTURED if layered else {}, before,
                                 certain=access.startswith("sequential writes"))

    def start_all(self):
        for access in ACCESSES:
            for layered in (False, True):
                self.run(layered, access)

    def rate(self, layered, access):
        """MB/s."""
        return self.run(layered, access).of(lambda r: r.content["results"]["total"]["bandwidth"]["value"] / 1e6)

    def write(self, page):
        page.text("## Figure 16: a log-structured host layer that turns random writes into sequential ones")
        page.text("""
Published without numbers in the text (S): software of the host that appends random writes to a log makes them as fast as sequential ones on drive B, and
costs read performance. `log_structured:` is such software (`testbench/host/log_structured`): segments of 1 MB, as the drive's block-mapped regions, 10 % kept back,
5 us of processor time per command (A). One request at a time, in a file of a quarter of the drive.
""")
        rates = {access: [self.rate(layered, access) for layered in (False, True)] for access in ACCESSES}
        page.table(["MB/s", "drive B", "behind the layer"], [[access, raw.text(), with_it.text()] for access, (raw, with_it) in rates.items()])
        read = rates["sequential reads, 64 KB, of what was written at random"]
        judged = []
        for size in ("4 KB", "64 KB"):
            sequential, at_random = rates[f"sequential writes, {size}"], rates[f"random writes, {size}"]
            judged += [claims_of(size)[0].judged(at_random[1] / sequential[1]), claims_of(size)[1].judged(at_random[1] / at_random[0])]
        page.claims(*judged, SLOWER.judged(read[1] / read[0]))
        page.text("""
The drive sees one stream and ends its logs in order, by switch merges that copy nothing. What was written at random lies in as many places, so
that a read of 64 KB becomes up to sixteen. The log has much room here, and cleaning finds nearly empty segments; on a full drive the moves
of the layer come on top (`scenarios/examples/log_structured.yaml`).
""")


SLOWER = Claim(Kind.PREDICTED, "Figure 16: sequential reads with against without the layer", "slower (S)", at_most(0.9), ("no effect", 1))


def claims_of(size):
    """As fast as sequential writes; much faster than without."""
    return (Claim(Kind.PREDICTED, f"Figure 16: random against sequential writes behind the layer, {size}", "as fast (S)", within(1, 0.1), ("no layer", 0.05)),
            Claim(Kind.PREDICTED, f"Figure 16: random writes with against without the layer, {size}", "much faster (S)", at_least(2), ("no effect", 1)))
