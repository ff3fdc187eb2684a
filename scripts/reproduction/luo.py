"""Luo et al., consumer hybrid (pSLC and QLC) drives: Figures 3 to 13. The remedies that they survey are remedies.py.

Three consumer drives (scenarios/luo/drive_*.yaml) at a sixteenth of 1 TB and the same dies as plain SLC, TLC and QLC (scenarios/luo/pure_*.yaml).
"""

import runs
from luo_drives import HYBRIDS, Drives
from luo_file_systems import FileSystems
from luo_files import FileLoads
from luo_h10 import FastMemory
from luo_levers import Levers
from luo_reads import Reads
from luo_regrowth import Regrowth
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

The figures survive as shapes that the text describes; numbers are published for Figure 7 alone, in which two constants were **calibrated**: the sense in SLC mode and the
time beside it. The dies of the P1 are calibrated to its published 150 MB/s. Which other settings were chosen with results in sight cannot be told any more: states of the drives, depths
and amounts where the paper gives none are assumptions, and some verdicts turn on them (part `levers`). The remedies that the paper surveys have a [page of their own](remedies.md).

Drives are scaled down to a **sixteenth** of 1 TB, with all their dies, so that rates stay as they are and whatever is an amount of data (pSLC, files, times)
is a sixteenth. `fill` is the share of the user capacity that holds data, written in sequence. A drive *left alone* has folded all it could in idle time;
one *in use* is measured at once, its pSLC as full as writing has left it. Filling knows no chance: the seeds are those of the loads.
""")


def reproduce(options, runner):
    drives = Drives(runner)
    writes, reads, files, regrowth = Writes(drives), Reads(drives), FileLoads(drives), Regrowth(drives)
    levers, systems, memory = Levers(writes, reads, files), FileSystems(drives, files), FastMemory(drives)
    sections = [Section("figure-3", writes.start_files, writes.write_files), Section("figure-4", writes.start_floods, writes.write_floods),
                Section("figure-5", writes.start_random, writes.write_random), Section("regrowth", regrowth.start_all, regrowth.write),
                Section("figures-6-to-8", reads.start_reads, reads.write_reads), Section("figure-9", files.start_files, files.write_files), Section("file-systems", systems.start, systems.write),
                Section("figure-10", reads.start_mixes, reads.write_mixes), Section("figures-11-12", reads.start_applications, reads.write_applications),
                Section("figure-13", files.start_cache, files.write_cache), Section("h10", memory.start, memory.write),
                Section("levers", levers.start, levers.write)]
    publish("luo", options, runner, write_introduction, sections, HYBRIDS.values(), CONSTANTS)


if __name__ == "__main__":
    runs.main(reproduce, __doc__)
