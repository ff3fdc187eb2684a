"""Luo et al., consumer hybrid (pSLC and QLC) drives: Figures 3 to 13, and the remedies that they survey side by side.

Three consumer drives (scenarios/luo/drive_*.yaml) at a sixteenth of 1 TB and the same dies as plain SLC, TLC and QLC (scenarios/luo/pure_*.yaml).
"""

import runs
from luo_cache import Caches
from luo_disturb import Disturb
from luo_drives import HYBRIDS, Drives
from luo_files import FileLoads
from luo_reads import Reads
from luo_regrowth import Regrowth
from luo_remedies import Remedies
from luo_writes import Writes
from marks import Choice
from paper import Section, publish


CONSTANTS = [
    Choice("slc_read_latency of the 96-layer part", "28 us", "fitted", "with the 30 us beside a sense it makes the 58 us of Figure 7"),
    Choice("read_latency of the 96-layer part", "47.9, 76.2, 134.6, 228.1 us", "F", "the pages of Intel's 96-layer QLC as measured by Chen et al. (PACA, ICCD 2022)"),
    Choice("read_latency of the 64- and the 144-layer part by page", "their ratio, about 110 and 90 us", "A", "the only measured ratio that was found; same maker"),
    Choice("TLC drive: program_unit", "word line", "A", "all pages of a word line in one pass, at the published rate of a die"),
    Choice("loads of the figures where the paper gives none", "as each part says", "A", "depths, request sizes, idle times, amounts"),
]


def write_introduction(page):
    page.text("# Consumer drives with pSLC and QLC (Luo et al.)")
    page.text("""
L. Luo, S. Li and L. Shi ("Performance Analysis and Study for Hybrid NAND Flash Memory", Journal of Integration Technology 11(3), 2022) measured three bought
drives that write into pSLC and fold into QLC later, and surveyed what could be done about what they saw. This page is written by `scripts/reproduce luo`. The
drives are `scenarios/luo/drive_665p.yaml`, `drive_670p.yaml` and `drive_p1.yaml`, one set of parameters each for everything below, each parameter with its
mark; `pure_slc.yaml`, `pure_tlc.yaml` and `pure_qlc.yaml` are the 665p with other cells. Marks: S stated in the paper, F found in other public text, D
derived, A assumption of this project.

The figures survive as shapes that the text describes; numbers are published for Figure 7 alone. So every figure has its **criterion** here, beside what
was measured. **Calibrated** to the 58 us of Figure 7 are two constants: the sense in SLC mode and the time beside it; the dies of the P1 to
its published 150 MB/s. Which other settings were chosen with results in sight cannot be told any more.

**Of one seed** is everything here but "pSLC that grows back": *agrees* and *holds* are comparisons without interval, tell no kinds of claim apart, and count in no headline. Some of
the remedies are judged over fill, hot set and seeds in [remedies.md](remedies.md).

Drives are scaled down to a **sixteenth** of 1 TB, with all their dies, so that rates stay as they are and whatever is an amount of data (pSLC, files, times)
is a sixteenth. `fill` is the share of the user capacity that holds data, written in sequence. A drive *left alone* has folded all it could in idle time;
one *in use* is measured at once, its pSLC as full as writing has left it.
""")


def reproduce(options, runner):
    drives = Drives(runner)
    writes, reads, files, remedies = Writes(drives), Reads(drives), FileLoads(drives), Remedies(drives)
    disturb, caches, regrowth = Disturb(drives), Caches(drives), Regrowth(drives)
    sections = [Section("writes", writes.start_all, writes.write), Section("regrowth", regrowth.start_all, regrowth.write),
                Section("reads", reads.start_all, reads.write),
                Section("file-loads", files.start_all, files.write_files), Section("mixes", reads.start_all, reads.write_mixes),
                Section("applications", reads.start_all, reads.write_applications), Section("cached-data", files.start_all, files.write_cache),
                Section("remedies", remedies.start_all, remedies.write), Section("read-disturb", disturb.start_all, disturb.write),
                Section("network-files", caches.start_all, caches.write)]
    publish("luo", options, runner, write_introduction, sections, HYBRIDS.values(), CONSTANTS, method=False)


if __name__ == "__main__":
    runs.main(reproduce, __doc__)
