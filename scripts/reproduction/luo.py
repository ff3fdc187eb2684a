"""Luo et al., consumer hybrid (pSLC and QLC) drives: Figures 3 to 13, and the remedies that they survey side by side.

Three consumer drives (scenarios/luo/drive_*.yaml) at a sixteenth of 1 TB and the same dies as plain SLC, TLC and QLC (scenarios/luo/pure_*.yaml).
"""

import page as pages
import runs
from luo_cache import Caches
from luo_disturb import Disturb
from luo_drives import Drives
from luo_files import FileLoads
from luo_reads import Reads
from luo_remedies import Remedies
from luo_writes import Writes


def write_introduction(page):
    page.text("# Consumer drives with pSLC and QLC (Luo et al.)")
    page.text("""
L. Luo, S. Li and L. Shi ("Performance Analysis and Study for Hybrid NAND Flash Memory", Journal of Integration Technology 11(3), 2022) measured three bought
drives that write into pSLC and fold into QLC later, and surveyed what could be done about what they saw. This page is written by `scripts/reproduce luo`. The
drives are `scenarios/luo/drive_665p.yaml`, `drive_670p.yaml` and `drive_p1.yaml`, one set of parameters each for everything below, each parameter with its
mark; `pure_slc.yaml`, `pure_tlc.yaml` and `pure_qlc.yaml` are the 665p with other cells. Marks: S stated in the paper, F found in other public text, D
derived, A assumption of this project.

The figures survive as shapes that the text describes; numbers are published for Figure 7 alone. So every figure has its **criterion** here, beside what
was measured. **Calibrated** is one thing: the time beside the sense, to the 58 us of Figure 7; the 128 us follow with the latency of the part.

Drives are scaled down to a **sixteenth** of 1 TB, with all their dies, so that rates stay as they are and whatever is an amount of data (pSLC, files, times)
is a sixteenth. `fill` is the share of the user capacity that holds data, written in sequence. A drive *left alone* has folded all it could in idle time;
one *in use* is measured at once, its pSLC as full as writing has left it.
""")


def write_count(page, figures):
    """How many criteria hold, said before the first figure; `figures` lines of the page are about the paper's figures, the rest about remedies."""
    counts = []
    for lines in (page.lines[:figures], page.lines[figures:]):
        cells = [cell.strip() for line in lines if line.startswith("|") for cell in line.split("|")]
        met, missed = (sum(cell == word or cell.endswith(f", {word}") for cell in cells) for word in ("yes", "**no**"))
        counts.append(f"{met} of {met + missed}")
    place = next(n for n, line in enumerate(page.lines) if line.startswith("## "))
    page.lines[place:place] = [f"Criteria met: **{counts[0]}** of the figures, **{counts[1]}** of the claims for remedies.", ""]


def reproduce(options, runner):
    drives = Drives(runner)
    writes, reads, files, remedies = Writes(drives), Reads(drives), FileLoads(drives), Remedies(drives)
    disturb, caches = Disturb(drives), Caches(drives)
    for part in (writes, reads, files, remedies, disturb, caches):
        part.start_all()
    page = pages.Page(options.out, "luo")
    write_introduction(page)
    writes.write(page)
    reads.write(page)
    files.write_files(page)
    reads.write_mixes(page)
    reads.write_applications(page)
    files.write_cache(page)
    figures = len(page.lines)
    remedies.write(page)
    disturb.write(page)
    caches.write(page)
    write_count(page, figures)
    runs.close(page, options, runner)


if __name__ == "__main__":
    runs.main(reproduce, __doc__)
