"""Design elements of Ryu and Park's Section 3, each varied on one geometry (scenarios/ryu/elements.yaml)."""

import page as pages
from ryu_drives import statistics

SCENARIO = "scenarios/ryu/elements.yaml"
BLOCKS = {"4 KB": "4 KiB", "16 KB": "16 KiB", "64 KB": "64 KiB", "256 KB": "256 KiB", "1 MB": "1 MiB"}

SCHEMES = {
    "page": {},
    "dftl": {"firmware.mapping.cache": "64 KiB"},
    "management-block": {"firmware.mapping.block": "16 KiB"},
    "bast": {"firmware.mapping.log_blocks": "16"},
    "fast": {"firmware.mapping.log_blocks": "16"},
    "superblock": {"firmware.mapping.log_blocks": "16"},
}
WRITES = {"sequential, 64 KB": "rw: write, bs: 64k", "random, 4 KB": "rw: randwrite, bs: 4k",
          "Zipf 1.1, 4 KB": 'rw: randwrite, bs: 4k, random_distribution: "zipf:1.1"'}

STRIPES = {"one die": "none", "channels": "C", "channels and ways": "CW"}
PLACEMENTS = {"by address": {"firmware.mapping.block": "16 KiB"}, "as a log": {"firmware.mapping.placement": "log"}}

BUSES = {"channels": {}, "shared-control gang": {"ssd.flash.organisation": "shared-control-gang", "ssd.flash.gang": "4"},
         "shared-bus gang": {"ssd.flash.organisation": "shared-bus-gang", "ssd.flash.gang": "4"}}
PARALLEL_READS = {"4 KB": "rw: randread, bs: 4k, iodepth: 32", "64 KB": "rw: randread, bs: 64k, iodepth: 8"}
# The part of 2008 moves 4 KB in 106 us; beside that the commands are nothing. A bus of ten times the rate shows them.
BUS_RATES = {"40 MT/s": {}, "400 MT/s": {"ssd.flash.bus": "400 MT/s", "ssd.host.protocol": "nvme", "ssd.host.link": "pcie3x4"}}

NEW, USED = "{fill: 100 %, order: sequential}", "{fill: 100 %, order: sequential}, {overwrite: 2x, region: 25 %, order: random}"
REGION = "size: 122m, io_size: 100g"  # a quarter of the drive


def copied(report):
    """Units that merges, rewriting and garbage collection moved, per unit that the host wrote."""
    return report.content["write_amplification"]["garbage_collection"]["value"]


class Elements:
    """The runs of Section 3. Each method returns a future."""

    def __init__(self, drives):
        self.drives = drives

    def load(self, words, warm_up, ramp, measured):
        if self.drives.short:
            warm_up, ramp, measured = min(warm_up, 50), min(ramp, 50), 100
        depth = "" if "iodepth" in words else ", iodepth: 1"
        return f"{words}{depth}, {REGION}, warm_up: {warm_up}, ramp_requests: {ramp}, number_ios: {warm_up + ramp + measured}"

    def size(self, block):
        """Random writes with management blocks of a size."""
        changes = {"firmware.mapping.scheme": "management-block", "firmware.mapping.block": BLOCKS[block], "firmware.buffer.mode": "write-through"}
        large = BLOCKS[block] in ("256 KiB", "1 MiB")
        return self.drives.start(SCENARIO, self.load("rw: randwrite, bs: 4k", 3000 if large else 62_000, 200, 800 if large else 3000), changes)

    def scheme(self, scheme, kind):
        """Writes of a kind with a mapping scheme."""
        changes = {"firmware.mapping.scheme": scheme} | SCHEMES[scheme]
        load = self.load(WRITES[kind], *((2000, 300, 2000) if kind.startswith("seq") else (20_000, 2000, 6000)))
        return self.drives.start(SCENARIO, load, changes)

    def placed(self, placement, stripe, access, state=NEW):
        """Reads or writes of 64 KB with pages placed in one of two ways inside a management block that lies on so many dies."""
        changes = {"firmware.mapping.scheme": "management-block", "firmware.allocation.stripe": STRIPES[stripe]} | PLACEMENTS[placement]
        warm_up = 2000 if "write" in access else 0
        load = self.load(f"rw: {access}, bs: 64k", warm_up, 300 if warm_up else 50, 1500)
        return self.drives.start(SCENARIO, load, changes, state)

    def bus(self, bus, rate, reads):
        """Parallel reads with buses that share lines."""
        return self.drives.start(SCENARIO, self.load(PARALLEL_READS[reads], 0, 100, 3000), BUSES[bus] | BUS_RATES[rate])

    def start_all(self):
        for block in BLOCKS:
            self.size(block)
        for scheme in SCHEMES:
            for kind in WRITES:
                self.scheme(scheme, kind)
        for placement in PLACEMENTS:
            for stripe in STRIPES:
                self.placed(placement, stripe, "randwrite")
                for state in (NEW, USED):
                    self.placed(placement, stripe, "read", state)
        for bus in BUSES:
            for rate in BUS_RATES:
                for reads in PARALLEL_READS:
                    self.bus(bus, rate, reads)

    def write(self, page):
        page.text("## Section 3: the design elements, one at a time")
        page.text(f"""
One geometry for all (`{SCENARIO}`): SLC, four channels with two dies each, 512 MB, over-provisioning 25 %, a write buffer of
4 MiB that is full when measuring begins. Loads go to a quarter of the drive, one request at a time, measured in the steady state. Nothing is calibrated; the
paper has no figures for these, only the directions in the last column.
""")
        self.write_sizes(page)
        self.write_schemes(page)
        self.write_placements(page)
        self.write_buses(page)

    def write_sizes(self, page):
        page.text("### 3.1: size of the management block")
        results = {block: self.size(block).result() for block in BLOCKS}
        figures = {block: statistics(report) for block, report in results.items()}
        tables = {block: report.value("firmware.ftl.mapping.tables") for block, report in results.items()}
        page.text("Written through, so that every write shows what it costs.")
        page.table(["management block", "table in DRAM", "time of a random write of 4 KB", "write amplification"],
                   [[block, f"{tables[block] / 1000:.1f} KB", f"{1e6 * figures[block][0]:.0f} us", f"{figures[block][2]:.2f}"] for block in BLOCKS])
        times, sizes = [figures[b][0] for b in BLOCKS], [tables[b] for b in BLOCKS]
        holds = times == sorted(times) and sizes == sorted(sizes, reverse=True)
        page.text(f"Published (S): the larger the block, the smaller the table and the more is copied. Measured: **{'yes' if holds else 'no'}**.")

    def write_schemes(self, page):
        page.text("### 3.1: log blocks")
        page.text("""
Management blocks of 1 MB, 16 log blocks in each of the two groups (BAST, FAST, superblock); of 16 KB without log blocks; dftl caches 8192
entries. In brackets: units of 4 KB copied per unit that the host wrote, and merges by kind in 2000 (sequential) or 6000 writes. A file of 122 blocks
of 1 MB is random enough to thrash 32 log blocks of one data block each.
""")
        rows, cost = [], {}
        for scheme in SCHEMES:
            row = [scheme]
            for kind in WRITES:
                report = self.scheme(scheme, kind).result()
                seconds, _, amplification = statistics(report)
                cost[scheme, kind] = seconds
                mapping = report.content["statistics"]["firmware"]["ftl"]["mapping"]
                merges = mapping.get("merges")
                counts = "".join(f", {merges[m]['value']} {m}" for m in ("switch", "partial", "full", "dead") if merges and merges[m]["value"])
                row.append(f"{1e6 * seconds:.0f} us ({copied(report):.2f}{counts})")
            row.append(f"{mapping['tables']['value'] / 1000:.1f} KB")
            rows.append(row)
        page.table(["scheme"] + list(WRITES) + ["tables in DRAM"], rows)
        random, sequential, zipf = "random, 4 KB", "sequential, 64 KB", "Zipf 1.1, 4 KB"
        page.table(["", "measured", "agrees"], [
            ["BAST against FAST, random writes: thrashes (S)", f"{cost['bast', random] / cost['fast', random]:.1f} times the time",
             "yes" if cost["bast", random] > 2 * cost["fast", random] else "**no**"],
            ["BAST against FAST, Zipf", f"{cost['bast', zipf] / cost['fast', zipf]:.1f} times", ""],
            ["BAST and FAST, sequential writes: switch merges, alike (S)", f"{cost['bast', sequential] / cost['fast', sequential]:.2f}",
             "yes" if abs(cost["bast", sequential] / cost["fast", sequential] - 1) < 0.1 else "**no**"],
        ])

    def write_placements(self, page):
        page.text("### 3.2 and 3.3: pages in the management block, management blocks on the flash")
        page.text("""
By address: blocks of 16 KB, rewritten whole. As a log: pages in the order of writing, in the whole block of the flash, page-mapped. Such a block
lies on one die, on all channels, or on all channels and ways. MB/s of requests of 64 KB; used: overwritten twice in random order, page by page.
""")
        rows, rate = [], {}
        for stripe in STRIPES:
            for placement in PLACEMENTS:
                for state, label in ((NEW, "new"), (USED, "used")):
                    rate[stripe, placement, label] = statistics(self.placed(placement, stripe, "read", state).result())[1] / 1e6
                writes = statistics(self.placed(placement, stripe, "randwrite").result())
                new, used = rate[stripe, placement, "new"], rate[stripe, placement, "used"]
                rate[stripe, placement, "write"] = writes[1] / 1e6
                rows.append([f"{stripe}, {placement}", f"{new:.1f}", f"{used:.1f}", f"{100 * (used / new - 1):+.0f} %", f"{writes[1] / 1e6:.1f}",
                             f"{writes[2]:.2f}"])
        page.table(["", "sequential read, new", "used", "change", "random write", "write amplification"], rows)
        with page.figure("elements_placement", "Sequential reads by placement, new and used", height=2.8) as axes:
            pages.bars(axes, list(STRIPES), {f"{p}, {label}": [rate[s, p, label] for s in STRIPES] for p in PLACEMENTS for label in ("new", "used")})
            axes.set_ylabel("MB/s")
        kept = rate["channels", "by address", "used"] / rate["channels", "by address", "new"]
        lost = rate["channels", "as a log", "used"] / rate["channels", "as a log", "new"]
        page.table(["", "measured", "agrees"], [
            ["by address, on channels: reads keep their speed (S)", f"{100 * (kept - 1):+.0f} %", "yes" if kept > 0.95 else "**no**"],
            ["as a log, on channels: reads lose (S)", f"{100 * (lost - 1):+.0f} %", "yes" if lost < 0.9 else "**no**"],
            ["by address, new: channels against one die, reads (S: channels best)",
             f"{rate['channels', 'by address', 'new'] / rate['one die', 'by address', 'new']:.2f}",
             "yes" if rate["channels", "by address", "new"] >= rate["one die", "by address", "new"] else "**no**"],
            ["as a log, used: channels against one die, reads (S: channels can be the worst)",
             f"{rate['channels', 'as a log', 'used'] / rate['one die', 'as a log', 'used']:.2f}", ""],
        ])

    def write_buses(self, page):
        page.text("### 2.2: buses")
        page.text("""
Parallel random reads, MB/s; one gang of all four channels. 40 MT/s over SATA as everywhere on this page; at 400 MT/s (over PCIe) data move ten
times faster and commands do not, so that the lines that carry commands count.
""")
        rows, rate = [], {}
        for bus in BUSES:
            row = [bus]
            for speed in BUS_RATES:
                for reads in PARALLEL_READS:
                    rate[bus, speed, reads] = statistics(self.bus(bus, speed, reads).result())[1] / 1e6
                    row.append(f"{rate[bus, speed, reads]:.1f}")
            rows.append(row)
        page.table(["organisation"] + [f"{speed}, {reads}" for speed in BUS_RATES for reads in PARALLEL_READS], rows)
        holds = all(rate["channels", s, r] >= rate["shared-control gang", s, r] >= rate["shared-bus gang", s, r] for s in BUS_RATES
                    for r in PARALLEL_READS)
        page.text(f"Published (S): channels best, shared control better than a shared bus. Measured: **{'yes' if holds else 'no'}**.")
