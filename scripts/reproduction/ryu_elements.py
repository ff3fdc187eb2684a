"""Design elements of Ryu and Park's Section 3, each varied on one geometry (scenarios/ryu/elements.yaml)."""

import page as pages
from claims import Claim, Kind, Region, at_least, at_most, within
from ryu_drives import statistics

SCENARIO = "scenarios/ryu/elements.yaml"
BLOCKS = {"4 KB": "4 KiB", "16 KB": "16 KiB", "64 KB": "64 KiB", "256 KB": "256 KiB", "1 MB": "1 MiB"}

SCHEMES = {
    "page": {},
    "dftl": {"firmware.mapping.cache": "64 KiB"},
    "block-mapped": {"firmware.mapping.block": "16 KiB"},
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

NO_EFFECT = ("no effect", 1)
CLAIMS = {
    "tables": Claim(Kind.PREDICTED, "3.1: each larger region against the next smaller, table in DRAM", "smaller (S)", at_most(0.9), NO_EFFECT),
    "copies": Claim(Kind.PREDICTED, "3.1: each larger region against the next smaller, time of a write of 4 KB", "longer (S)", at_least(1.1), NO_EFFECT),
    "bast": Claim(Kind.PREDICTED, "3.1: BAST against FAST, random writes", "thrashes (S)", at_least(2), NO_EFFECT),
    "switch": Claim(Kind.PREDICTED, "3.1: BAST against FAST, sequential writes", "alike: switch merges (S)", within(1, 0.1), ("BAST thrashes always", 20)),
    "kept": Claim(Kind.PREDICTED, "3.2: by address, on channels: sequential reads, used over new", "keep their speed (S)", at_least(0.95), ("as a log", 0.72)),
    "lost": Claim(Kind.PREDICTED, "3.2: as a log, on channels: sequential reads, used over new", "lose (S)", at_most(0.9), NO_EFFECT),
    "best": Claim(Kind.PREDICTED, "3.3: by address, new: channels over one die, reads", "channels best (S)", at_least(1.05), NO_EFFECT),
    "worst": Claim(Kind.PREDICTED, "3.3: as a log, used: channels over one die, reads", "channels can be the worst (S)", at_most(0.95), NO_EFFECT,
                   "a used log has its pages on dies by the order of writing in either case; a read of 64 KB then meets the same collisions"),
    "shared": Claim(Kind.PREDICTED, "2.2: channels over shared-control gang, at 400 MT/s, 4 KB", "better (S)", Region(1.001, 10, "> 1"), NO_EFFECT,
                    "the difference lies below the spread of the seeds"),
    "bus": Claim(Kind.PREDICTED, "2.2: shared-control over shared-bus gang, everywhere", "better (S)", at_least(1.1), NO_EFFECT),
}

NEW, USED = "{fill: 100 %, order: sequential}", "{fill: 100 %, order: sequential}, {overwrite: 2x, region: 25 %, order: random}"
REGION = "size: 122m, io_size: 100g"  # a quarter of the drive


def copied(report):
    """Units that merges, rewriting and garbage collection moved, per unit that the host wrote."""
    parts = report.content["write_amplification"]
    return sum(parts[name]["value"] for name in ("region_rewrites", "garbage_collection") if name in parts)


class Elements:
    """The runs of Section 3. Each method returns Seeds."""

    def __init__(self, drives):
        self.drives = drives

    def load(self, words, warm_up, ramp, measured):
        if self.drives.short:
            warm_up, ramp, measured = min(warm_up, 50), min(ramp, 50), 100
        depth = "" if "iodepth" in words else ", iodepth: 1"
        return f"{words}{depth}, {REGION}, warm_up: {warm_up}, ramp_requests: {ramp}, number_ios: {warm_up + ramp + measured}"

    def size(self, block):
        """Random writes with block-mapped regions of a size."""
        changes = {"firmware.mapping.scheme": "block-mapped", "firmware.mapping.block": BLOCKS[block], "firmware.buffer.mode": "write-through"}
        large = BLOCKS[block] in ("256 KiB", "1 MiB")
        return self.drives.start(SCENARIO, self.load("rw: randwrite, bs: 4k", 3000 if large else 62_000, 200, 800 if large else 3000), changes)

    def scheme(self, scheme, kind):
        """Writes of a kind with a mapping scheme."""
        changes = {"firmware.mapping.scheme": scheme} | SCHEMES[scheme]
        load = self.load(WRITES[kind], *((2000, 300, 2000) if kind.startswith("seq") else (20_000, 2000, 6000)))
        return self.drives.start(SCENARIO, load, changes, certain=kind.startswith("sequential"))

    def placed(self, placement, stripe, access, state=NEW):
        """Reads or writes of 64 KB with pages placed in one of two ways inside a block-mapped region that lies on so many dies."""
        changes = {"firmware.mapping.scheme": "block-mapped", "firmware.allocation.stripe": STRIPES[stripe]} | PLACEMENTS[placement]
        warm_up = 2000 if "write" in access else 0
        load = self.load(f"rw: {access}, bs: 64k", warm_up, 300 if warm_up else 50, 1500)
        return self.drives.start(SCENARIO, load, changes, state, certain=access == "read" and state == NEW)

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
        page.text("### 3.1: size of the block-mapped region")
        times = {block: self.size(block).of(lambda r: 1e6 * statistics(r)[0]) for block in BLOCKS}
        tables = {block: self.size(block).of(lambda r: r.value("firmware.mapping.tables") / 1000) for block in BLOCKS}
        page.text("Written through, so that every write shows what it costs.")
        page.table(["block-mapped region", "table in DRAM, KB", "time of a random write of 4 KB, us", "write amplification"],
                   [[block, tables[block].text(".1f"), times[block].text(".0f"), self.size(block).of(lambda r: statistics(r)[2]).text()] for block in BLOCKS])
        steps = list(zip(BLOCKS, list(BLOCKS)[1:]))
        page.claims(CLAIMS["tables"].judged(*(tables[b] / tables[a] for a, b in steps)), CLAIMS["copies"].judged(*(times[b] / times[a] for a, b in steps)))

    def write_schemes(self, page):
        page.text("### 3.1: log blocks")
        page.text("""
Block-mapped regions of 1 MB, 16 log blocks in each of the two groups (BAST, FAST, superblock); of 16 KB without log blocks; dftl caches 8192
entries. In brackets: units of 4 KB copied per unit that the host wrote, and merges by kind (of the first seed) in 2000 (sequential) or 6000 writes. A file of 122 blocks
of 1 MB is random enough to thrash 32 log blocks of one data block each.
""")
        rows, cost = [], {}
        for scheme in SCHEMES:
            row = [scheme]
            for kind in WRITES:
                seeds = self.scheme(scheme, kind)
                cost[scheme, kind] = seeds.of(lambda r: 1e6 * statistics(r)[0])
                report = seeds.result()
                mapping = report.content["statistics"]["firmware"]["mapping"]
                merges = mapping.get("merges")
                counts = "".join(f", {merges[m]['value']} {m}" for m in ("switch", "partial", "full", "dead") if merges and merges[m]["value"])
                row.append(f"{cost[scheme, kind].text('.0f')} us ({seeds.of(copied).text()}{counts})")
            row.append(f"{mapping['tables']['value'] / 1000:.1f} KB")
            rows.append(row)
        page.table(["scheme"] + list(WRITES) + ["tables in DRAM"], rows)
        random, sequential, zipf = "random, 4 KB", "sequential, 64 KB", "Zipf 1.1, 4 KB"
        page.claims(CLAIMS["bast"].judged(cost["bast", random] / cost["fast", random], form=".1f"),
                    CLAIMS["switch"].judged(cost["bast", sequential] / cost["fast", sequential]))
        page.text(f"By Zipf's law BAST takes {(cost['bast', zipf] / cost['fast', zipf]).text('.1f')} times as long as FAST.")

    def write_placements(self, page):
        page.text("### 3.2 and 3.3: pages in the block-mapped region, block-mapped regions on the flash")
        page.text("""
By address: blocks of 16 KB, rewritten whole. As a log: pages in the order of writing, in the whole block of the flash, page-mapped. Such a block
lies on one die, on all channels, or on all channels and ways. MB/s of requests of 64 KB; used: overwritten twice in random order, page by page.
""")
        rows, rate = [], {}
        for stripe in STRIPES:
            for placement in PLACEMENTS:
                for state, label in ((NEW, "new"), (USED, "used")):
                    rate[stripe, placement, label] = self.placed(placement, stripe, "read", state).of(bandwidth)
                writes = self.placed(placement, stripe, "randwrite")
                new, used = rate[stripe, placement, "new"], rate[stripe, placement, "used"]
                rows.append([f"{stripe}, {placement}", new.text(".1f"), used.text(".1f"), pages.percent(used / new), writes.of(bandwidth).text(".1f"),
                             writes.of(lambda r: statistics(r)[2]).text()])
        page.table(["", "sequential read, new", "used", "change", "random write", "write amplification"], rows)
        with page.figure("elements_placement", "Sequential reads by placement, new and used", height=2.8) as axes:
            pages.bars(axes, list(STRIPES), {f"{p}, {label}": [rate[s, p, label] for s in STRIPES] for p in PLACEMENTS for label in ("new", "used")})
            axes.set_ylabel("MB/s")
        kept = rate["channels", "by address", "used"] / rate["channels", "by address", "new"]
        lost = rate["channels", "as a log", "used"] / rate["channels", "as a log", "new"]
        one, by, log = "one die", "by address", "as a log"
        page.claims(CLAIMS["kept"].judged(kept), CLAIMS["lost"].judged(lost),
                    CLAIMS["best"].judged(rate["channels", by, "new"] / rate[one, by, "new"]),
                    CLAIMS["worst"].judged(rate["channels", log, "used"] / rate[one, log, "used"]))

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
                    rate[bus, speed, reads] = self.bus(bus, speed, reads).of(bandwidth)
                    row.append(rate[bus, speed, reads].text(".1f"))
            rows.append(row)
        page.table(["organisation"] + [f"{speed}, {reads}" for speed in BUS_RATES for reads in PARALLEL_READS], rows)
        control, bus = "shared-control gang", "shared-bus gang"
        page.claims(CLAIMS["shared"].judged(rate["channels", "400 MT/s", "4 KB"] / rate[control, "400 MT/s", "4 KB"], form=".3f"),
                    CLAIMS["bus"].judged(*(rate[control, s, r] / rate[bus, s, r] for s in BUS_RATES for r in PARALLEL_READS)))


def bandwidth(report):
    """MB/s."""
    return statistics(report)[1] / 1e6
