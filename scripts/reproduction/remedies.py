"""The remedies of Luo et al. over a grid: fill of the drive, size of the hot set, seeds. A remedy that helps only somewhere is shown with where.

Judged is the substance of a claim: the hot writes that a path policy is to make faster, the folding that it is to save, what cold writes pay
for it; the rate behind the cliff; reads of small and of hot data, reads beside writes; wear and moves where data disturb each other.
"""

import runs
from luo_blocked import SCENARIO as BLOCKED
from luo_blocked import Blocked
from luo_cache import SCENARIO as CACHE
from luo_cache import Caches
from luo_classes import SCENARIO as CLASSES
from luo_classes import Classes
from luo_contents import SCENARIO as CONTENTS
from luo_contents import Contents
from luo_disturb import SCENARIO as DISTURB
from luo_disturb import Disturb
from luo_drives import HYBRIDS, Drives
from luo_parity import SCENARIO as PARITY
from luo_parity import Parity
from luo_placement import SCENARIO as PLACEMENT
from luo_placement import Placement
from luo_remedies import DRIVE, Remedies
from marks import Choice
from paper import Section, publish

CONSTANTS = [
    Choice("loads of all parts", "as each part says", "A", "the survey gives no loads; depths, sizes, rates and hot sets are this project's"),
    Choice("a tenth", "what counts as news", "A", "a hundredth for moves of refresh, where one seed showed 3 and 5 %"),
    Choice("disturb of the small drives", "20 and 50 times the real one", "A", "so that a million reads show it"),
]


def write_introduction(page):
    page.text("# Remedies for drives with pSLC and QLC, over a grid")
    page.text("""
Luo et al. ([their figures](luo.md)) survey what could be done about drives that write into pSLC and fold into QLC later. Here these remedies, each a
setting of the drive like the 665p, are measured against the drive as it is, over its fill, the size of the hot set and seeds. A tenth counts as news. A
claim is met when it holds **everywhere** on the grid; one that holds only somewhere is *no*, and the tables say where it holds. Where no figure is judged, a ratio is what else
the remedy does. This page is written by `scripts/reproduce remedies`.

None of the survey's remedies is missing; what each leaves out stands with its part or in its feature's description.
""")


def reproduce(options, runner):
    drives = Drives(runner)
    grid, placement, disturb, caches = Remedies(drives), Placement(drives), Disturb(drives), Caches(drives)
    classes, parity = Classes(drives), Parity(drives)
    blocked, contents = Blocked(drives), Contents(drives)
    sections = [Section("cliff", grid.floods.start, grid.write_floods), Section("paths", grid.start_paths, grid.write_paths),
                Section("small-data", grid.small.start, grid.write_small), Section("hot-reads", grid.again.start, grid.write_again),
                Section("waits", lambda: (grid.queued.start(), grid.suspended.start()), grid.write_queues),
                Section("parallelism", grid.parallel.start, grid.write_parallel), Section("batches", grid.start_batches, grid.write_batches),
                Section("parity", parity.start_all, parity.write),
                Section("blocked-reads", blocked.start_all, blocked.write), Section("contents", contents.start_all, contents.write),
                Section("read-disturb", disturb.start_all, disturb.write), Section("network-files", caches.start_all, caches.write),
                Section("file-classes", classes.start_all, classes.write),
                Section("placement", placement.start_all, placement.write)]
    choices = [HYBRIDS[DRIVE], DISTURB, PLACEMENT, CACHE, CLASSES, PARITY, BLOCKED, CONTENTS]
    publish("remedies", options, runner, write_introduction, sections, choices, CONSTANTS)


if __name__ == "__main__":
    runs.main(reproduce, __doc__)
