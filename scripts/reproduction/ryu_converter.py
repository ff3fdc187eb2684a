"""Figure 16 of Ryu and Park: drive B behind a converter of random writes into sequential ones (EasyCo's Managed Flash Technology)."""

from ryu_drives import SCENARIOS

CONVERTER = {"converter.policy": "log-structured", "converter.segment": "1 MiB", "converter.spare": "10 %", "converter.cost": "5 us"}
ACCESSES = {"sequential writes, 4 KB": "rw: write, bs: 4k", "random writes, 4 KB": "rw: randwrite, bs: 4k",
            "sequential writes, 64 KB": "rw: write, bs: 64k", "random writes, 64 KB": "rw: randwrite, bs: 64k",
            "sequential reads, 64 KB, of what was written at random": "rw: read, bs: 64k",
            "random reads, 64 KB, of the same": "rw: randread, bs: 64k"}
FILE = "{fill: 25 %, order: sequential, bs: 64 KiB}"
WRITTEN_AT_RANDOM = FILE + ", {overwrite: 2x, order: random, region: 25 %, bs: 4 KiB}"


class Converted:
    """The runs with and without the converter. Each method returns a future."""

    def __init__(self, drives):
        self.drives = drives

    def run(self, converted, access):
        words = ACCESSES[access]
        ramp, measured = (6000, 6000) if "bs: 4k" in words else (1000, 3000)
        if "read" in words:
            ramp, measured = 100, 1500
        if self.drives.short:
            ramp, measured = 20, 50
        load = f"{words}, iodepth: 1, size: 25%, io_size: 100%, ramp_requests: {ramp}, number_ios: {ramp + measured}"
        before = WRITTEN_AT_RANDOM if "read" in words and not self.drives.short else FILE
        return self.drives.start(SCENARIOS["B"], load, CONVERTER if converted else {}, before)

    def start_all(self):
        for access in ACCESSES:
            for converted in (False, True):
                self.run(converted, access)

    def rate(self, converted, access):
        """MB/s."""
        return self.run(converted, access).result().content["results"]["total"]["bandwidth"]["value"] / 1e6

    def write(self, page):
        page.text("## Figure 16: a converter of random writes into sequential ones")
        page.text("""
Published without numbers in the text (S): software of the host that appends random writes to a log makes them as fast as sequential ones on drive B, and
costs read performance. `converter:` is such software (`testbench/converter`): segments of 1 MB, as the drive's management blocks, 10 % kept back, 5 us of
processor time per command (A). One request at a time, in a file of a quarter of the drive.
""")
        rates = {access: [self.rate(converted, access) for converted in (False, True)] for access in ACCESSES}
        page.table(["MB/s", "drive B", "behind the converter"], [[access, f"{raw:.2f}", f"{with_it:.2f}"] for access, (raw, with_it) in rates.items()])
        rows = []
        for size in ("4 KB", "64 KB"):
            sequential, at_random = rates[f"sequential writes, {size}"], rates[f"random writes, {size}"]
            share = at_random[1] / sequential[1]
            rows.append([f"random against sequential writes behind the converter, {size} (S: as fast)", f"{share:.2f}", "yes" if share > 0.9 else "**no**"])
            gain = at_random[1] / at_random[0]
            rows.append([f"random writes with against without it, {size} (S: much faster)", f"{gain:.1f}", "yes" if gain > 2 else "**no**"])
        read = rates["sequential reads, 64 KB, of what was written at random"]
        rows.append(["sequential reads with against without it (S: slower)", f"{read[1] / read[0]:.2f}", "yes" if read[1] < 0.9 * read[0] else "**no**"])
        page.table(["", "measured", "agrees"], rows)
        page.text("""
The drive sees one stream and ends its logs in order, by switch merges that copy nothing. What was written at random lies in as many places, so
that a read of 64 KB becomes up to sixteen. The log has much room here, and cleaning finds nearly empty segments; on a full drive the moves
of the converter come on top (`scenarios/examples/converter.yaml`).
""")
