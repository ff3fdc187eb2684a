"""Remedies against too much cached data that Luo et al. survey (section 4.4): which files of the network are written to the drive
(scenarios/luo/file_cache.yaml)."""

from dataclasses import dataclass

from luo_drives import amplification, bandwidth, microseconds, yes

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


class Caches:
    """The runs. Each method returns a future."""

    def __init__(self, drives):
        self.drives = drives

    def run(self, admission):
        return self.drives.runner.start(SCENARIO, admission.settings)

    def start_all(self):
        for admission in ADMISSIONS:
            self.run(admission)

    def write(self, page):
        page.text("### Cached network files")
        page.text("""
Files of 1 MiB come over a network of 100 MB/s and 20 ms (A) to the 665p, 45 % full of other data; a quarter of the drive may hold copies. Six accesses
of ten go to 2000 files, the rest to 198 000, 80 accesses a second for 30 s after 40 000 before; beside that an application writes a GB and pauses for 8 s.
Written and folded are MB in these 30 s, latencies ms, local writes MB/s with the pauses.
""")
        figures = {admission.name: figures_of(self.run(admission).result()) for admission in ADMISSIONS}
        page.table(["written to the drive", "source", "hits", "accesses, mean", "p99", "written", "copies held", "WA", "folded", "local writes", "p99"],
                   [[admission.name, admission.source, f"{100 * f['hits']:.0f} %", f"{f['mean']:.1f}", f"{f['p99']:.1f}", f"{f['written']:,.0f}",
                     f"{f['held']:,.0f}", f"{f['wa']:.2f}", f"{f['folded']:,.0f}", f"{f['local']:.0f}", f"{f['local p99']:.1f}"]
                    for admission, f in ((one, figures[one.name]) for one in ADMISSIONS)])
        every, none = figures[ALL.name], figures[NONE.name]
        rows = [["caching every file makes local writes slower than no cache (S)", f"{none['local']:.0f} to {every['local']:.0f} MB/s",
                 yes(every["local"] < 0.95 * none["local"])]]
        for name, admission in (("DFCache", DFCACHE), ("DFCache (size)", DFCACHE_SIZE), ("CacheSifter", SIFTER)):
            f = figures[admission.name]
            rows += [[f"{name} writes less than caching every file (S)", f"{every['written']:,.0f} to {f['written']:,.0f} MB",
                      yes(f["written"] < every["written"])],
                     [f"{name}: local writes are faster (S)", f"{every['local']:.0f} to {f['local']:.0f} MB/s", yes(f["local"] > 1.05 * every["local"])],
                     [f"{name}: accesses are no slower (A)", f"{every['mean']:.1f} to {f['mean']:.1f} ms", yes(f["mean"] < 1.05 * every["mean"])]]
        page.table(["against caching every file", "measured", "holds"], rows)
        page.text("""
- Caching every file fills the quarter of the drive with copies, most of which are never read again, and turns pSLC into QLC: that is what local writes lose. Two
  GB of copies, chosen by DFCache (of all pSLC) or CacheSifter, hit nearly as often, and accesses take as long.
- **DFCache by the pSLC that is free at the moment** writes no less: each GB that the application writes takes what was free, so most copies go, and come back
  and are written again in the pause. The survey says "smaller than the pSLC that is left"; by what is not turned into QLC (`within: size`) it holds.
- A miss costs 30 ms and more, a hit a few ms even from QLC beside folding: no cache makes accesses slower here, whatever it does to the drive.
- CacheSifter's classes, which it learns, are not there; "read again while in memory" stands for them, with as much memory as 1024 files need (A).
""")


def figures_of(report):
    cache, pslc = "file_cache.", "firmware.pslc."
    folded = report.value(pslc + "units_folded_by_controller") + report.value(pslc + "units_folded_by_copyback")
    return {"hits": report.value(cache + "hit_ratio"), "mean": microseconds(report, "mean") / 1e3, "p99": microseconds(report, "p99") / 1e3,
            "written": report.value(cache + "bytes_written") / 1e6, "held": report.value(cache + "space_used") / 1e6, "wa": amplification(report),
            "folded": folded * UNIT / 1e6, "local": bandwidth(report, load=1), "local p99": microseconds(report, "p99", "write", 1) / 1e3}
