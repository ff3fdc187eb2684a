"""Remedies against too much cached data that Luo et al. survey (section 4.4): which files of the network are written to the drive
(scenarios/luo/file_cache.yaml)."""

from dataclasses import dataclass

from claims import Claim, Kind, at_least, at_most
from luo_drives import amplification, bandwidth, microseconds
from luo_remedies import NULL

SCENARIO = "scenarios/luo/file_cache.yaml"
UNIT = 4096  # bytes of a mapping unit
ADMISSION = "file_cache.admission"


@dataclass(frozen=True)
class Admission:
    name: str
    source: str
    settings: dict


NONE = Admission("no cache (none)", "", {ADMISSION: "none"})
ALL = Admission("every file that is fetched (all)", "", {ADMISSION: "all"})
DFCACHE = Admission("accessed twice, less than the pSLC free now (dfcache)", "DFCache: Gu et al. 2021", {ADMISSION: "dfcache"})
DFCACHE_SIZE = Admission("accessed twice, less than all pSLC (dfcache, within: size)", "the same",
                         {ADMISSION: "dfcache", "file_cache.within": "size"})
SIFTER = Admission("read again while in 1 GiB of memory (cachesifter)", "CacheSifter: Liang et al. 2022",
                   {ADMISSION: "cachesifter", "file_cache.memory": "1 GiB"})
ADMISSIONS = [NONE, ALL, DFCACHE, DFCACHE_SIZE, SIFTER]


SHORT = {NONE.name: "no cache", ALL.name: "every file", DFCACHE.name: "DFCache", DFCACHE_SIZE.name: "DFCache (size)", SIFTER.name: "CacheSifter"}
SLOWER, FEWER, FASTER, AS_SOON = at_most(0.9), at_most(0.9), at_least(1.1), at_most(1.1)  # a tenth is what counts as news, either way
FIGURES = {"hits": ("hits, %", ".0f"), "mean": ("accesses, mean", ".1f"), "p99": ("p99", ".0f"), "written": ("written", ",.0f"), "held": ("copies held", ",.0f"),
           "wa": ("WA", ".2f"), "folded": ("folded", ",.0f"), "local": ("local writes", ".0f"), "local p99": ("p99", ".0f")}


class Caches:
    """The runs. Each method returns Seeds."""

    def __init__(self, drives):
        self.runner = drives.runner

    def run(self, admission):
        return self.runner.start_seeds(SCENARIO, admission.settings)

    def figure(self, admission, name):
        return self.run(admission).of(lambda report: figures_of(report)[name])

    def ratio(self, admission, name, against=ALL):
        return self.figure(admission, name) / self.figure(against, name)

    def start_all(self):
        for admission in ADMISSIONS:
            self.run(admission)

    def write(self, page):
        page.text("## Cached network files")
        page.text("""
Files of 1 MiB come over a network of 100 MB/s and 20 ms (A) to the 665p, 45 % full of other data; a quarter of the drive may hold copies. Six accesses
of ten go to 2000 files, the rest to 198 000, 80 accesses a second for 30 s after 40 000 before; beside that an application writes a GB and pauses for 8 s.
Written and folded are MB in these 30 s, latencies ms, local writes MB/s with the pauses.
""")
        page.table(["written to the drive", "source", *(words for words, _ in FIGURES.values())],
                   [[admission.name, admission.source, *(self.figure(admission, name).text(form) for name, (_, form) in FIGURES.items())] for admission in ADMISSIONS])
        judged = [Claim(Kind.PREDICTED, "every file cached: local writes over those without cache", "slower (S)", SLOWER, NULL).judged(self.ratio(ALL, "local", NONE))]
        for admission in (DFCACHE, DFCACHE_SIZE, SIFTER):
            name = SHORT[admission.name]
            judged += [
                Claim(Kind.PREDICTED, f"{name}: bytes written, against every file cached", "fewer (S)", FEWER, NULL,
                      "what the application writes takes the free pSLC, so most copies go, and come back in the pause").judged(self.ratio(admission, "written")),
                Claim(Kind.PREDICTED, f"{name}: local writes, against every file cached", "faster (S)", FASTER, NULL,
                      "less is folded, and most of the folding is of what the application writes itself").judged(self.ratio(admission, "local")),
                Claim(Kind.PREDICTED, f"{name}: mean access, against every file cached", "no slower (A)", AS_SOON, NULL,
                      "a third as many hits").judged(self.ratio(admission, "mean")),
            ]
        page.claims(*judged)
        page.text("""
- Caching every file fills the quarter of the drive with copies, most of which are never read again, and turns pSLC into QLC: that is what local writes lose. Two
  GB of copies, chosen by DFCache (of all pSLC) or CacheSifter, hit nearly as often, and accesses take as long.
- **DFCache by the pSLC that is free at the moment** writes no less: each GB that the application writes takes what was free, so most copies go, and come back
  and are written again in the pause. The survey says "smaller than the pSLC that is left"; by what is not turned into QLC (`within: size`) it holds.
- A miss costs 30 ms and more, a hit a few ms even from QLC beside folding: no cache makes accesses slower here, whatever it does to the drive.
- "Read again while in memory" stands for the classes that CacheSifter learns, with as much memory as 1024 files need (A); part `file-classes` has them learned.
""")


def figures_of(report):
    cache, pslc = "file_cache.", "firmware.pslc."
    folded = report.value(pslc + "units_folded_by_controller") + report.value(pslc + "units_folded_by_copyback")
    return {"hits": 100 * report.value(cache + "hit_ratio"), "mean": microseconds(report, "mean") / 1e3, "p99": microseconds(report, "p99") / 1e3,
            "written": report.value(cache + "bytes_written") / 1e6, "held": report.value(cache + "space_used") / 1e6, "wa": amplification(report),
            "folded": folded * UNIT / 1e6, "local": bandwidth(report, load=1), "local p99": microseconds(report, "p99", "write", 1) / 1e3}
