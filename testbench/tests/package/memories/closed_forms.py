"""closed_forms.py PROGRAM BANKED CLOCKED DRIVE WORK: the two memories of a third party through whole drives, from the
installed package. What their parameters add to the unloaded latency is exact; the bandwidth of a saturated memory within 0.5 %."""

import json
import pathlib
import subprocess
import sys

program, banked, clocked, drive, work = sys.argv[1:]
PAGE = 16 * 1024
MAP = 16  # bytes: entries of the page's four units


def run(name, plugin, **dram):
    """The report of a run: reads one at a time, or `saturated`."""
    settings = [f"ssd.dram.{key}={value}" for key, value in dram.items() if key != "saturated"]
    if "saturated" in dram:
        settings += ["load.0.iodepth=256", "load.0.number_ios=1500", "load.0.ramp_requests=500"]
    out = pathlib.Path(work, name)
    command = [program, "--plugin", plugin, "run", drive, "-q", "--force", "--check-protocol", "--out", str(out)]
    for setting in settings:
        command += ["--set", setting]
    subprocess.run(command, check=True)
    return json.loads((out / "report.json").read_text(encoding="utf-8"))


def latencies(report):
    """Shortest and longest, in picoseconds."""
    reads = report["results"]["total"]["operations"]["read"]
    return [round(reads["latency"][which] * 1000) for which in ("min", "max")]


def bandwidth(report):
    """Bytes per second that go through the memory."""
    memory = report["statistics"]["dram"]
    moved = memory["bytes_read"]["value"] + memory["bytes_written"]["value"]
    return moved / (report["measured_picoseconds"] * 1e-12)


def same(what, found, expected, tolerance=0.0):
    """Ends the script unless they are."""
    print(f"{what}: {found}, closed form {expected}")
    if abs(found - expected) > tolerance * expected:
        sys.exit(f"{what}: that is not its closed form")


def added(what, expected, short, long):
    """`expected`: picoseconds that every read takes longer."""
    for before, after in zip(latencies(short), latencies(long)):
        same(what, after - before, expected)


# The SRAM: the map's entries, the page in, the page out; each takes its latency and 4 bytes per cycle.
sram = {"model": "clocked", "period": "20 ns", "width": 4}
added("100 cycles more of latency, SRAM", 3 * 100 * 20_000,
      run("sram", clocked, **sram, latency=4), run("sram-slow", clocked, **sram, latency=104))
cycles = (4 + MAP // 4) + 2 * (4 + PAGE // 4)
found = bandwidth(run("sram-full", clocked, **sram, latency=4, saturated=True))
same("saturated SRAM", found, (MAP + 2 * PAGE) / (cycles * 20e-9), 0.005)

# The DRAM: bursts of 64 bytes, streaming from rows that are open.
bursts = 1 + 2 * PAGE // 64
dram = {"model": "banked"}
added("10 cycles more of each burst, DRAM", bursts * 10 * 1_000,
      *[run(f"dram-{burst}", banked, **dram, burst=burst, banks=1, row="64 MiB", refresh="false") for burst in (100, 110)])
# Of each 7800 cycles a refresh takes 350, and the row's and the column's 28 until data flow again.
for refresh, share in (("false", 1), ("true", 1 - (350 + 28) / 7800)):
    found = bandwidth(run(f"dram-full-{refresh}", banked, **dram, burst=40, refresh=refresh, saturated=True))
    same(f"saturated DRAM, refresh {refresh}", found, (MAP + 2 * PAGE) / (bursts * 40e-9) * share, 0.005)
