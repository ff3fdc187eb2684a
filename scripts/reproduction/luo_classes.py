"""Learned classes of cached files (CacheSifter, Liang et al. 2022; Luo et al., section 4.4) over a grid of memory, what files tell of their class, and seeds
(scenarios/luo/app_files.yaml). The population of files is synthetic."""

from dataclasses import dataclass

from claims import Claim, Kind, at_least, at_most
from luo_drives import bandwidth, microseconds
from luo_forms import resolved
from luo_remedies import NULL, SOMEWHERE, everywhere, worn

SCENARIO = "scenarios/luo/app_files.yaml"
ADMISSION = "file_cache.admission"
CLASSES = {ADMISSION: "file-classes"}


@dataclass(frozen=True)
class Sifting:
    name: str
    settings: dict
    holds_back: bool = True  # in the host's memory, so that its size is a setting


ALL = Sifting("no sifting (all)", {ADMISSION: "all"}, holds_back=False)
LEARNED = Sifting("learned classes", CLASSES)
RANDOM = Sifting("random classes, same shares", CLASSES | {"file_cache.classified_by": "random"})
SIZE = Sifting("small files (up to 128 KiB)", CLASSES | {"file_cache.classified_by": "size"})
AGAIN = Sifting("read again while in memory", {ADMISSION: "cachesifter"})
ORACLE = Sifting("oracle: the class is known", CLASSES | {"file_cache.classified_by": "oracle"})
SIFTINGS = [ALL, AGAIN, SIZE, RANDOM, LEARNED, ORACLE]

LESS, FASTER, AS_SOON = at_most(0.9), at_least(1.1), at_most(1.1)  # a tenth is what counts as news, either way; set before the first run
FIGURES = {"accuracy": ("class right, %", ".0f"), "memory": ("from memory, %", ".0f"), "flash": ("from flash, %", ".0f"), "mean": ("accesses, mean", ".1f"),
           "written": ("written", ",.0f"), "kept": ("kept from flash", ",.0f"), "worn": ("worn, ppm", ".1f"), "local": ("local writes", ".0f")}

# What Liang et al. measured of their own two learners, against cache files that are all treated alike (abstract).
WRITEBACKS = "62 and 59.5 % fewer (F)"
WRITES_FASTER = "18.4 and 25.5 % faster (F)"


class Classes:
    """The runs. Each method returns Seeds."""

    def __init__(self, drives):
        self.runner = drives.runner
        self.points = {f"{memory} MiB, {told} % told": (memory, told) for told in (90, 40) for memory in (32, 256)}
        if drives.short:
            self.points = dict(list(self.points.items())[:1])

    def run(self, sifting, point):
        memory, told = point
        settings = sifting.settings | {"file_cache.apps.told": f"{told} %"}
        if sifting.holds_back:
            settings |= {"file_cache.memory": f"{memory} MiB"}
        return self.runner.start_seeds(SCENARIO, settings)

    def figure(self, sifting, point, name):
        return self.run(sifting, point).of(lambda report: figures_of(report)[name])

    def ratios(self, sifting, against, name):
        return [self.figure(sifting, point, name) / self.figure(against, point, name) for point in self.points.values()]

    def start_all(self):
        for point in self.points.values():
            for sifting in SIFTINGS:
                self.run(sifting, point)

    def write(self, page):
        page.text("## Learned classes of cached files")
        page.text("""
Apps of a phone fetch files, read them again and delete them; the 665p, 45 % full of other data, may hold copies on a quarter of its space, and an
application writes a GB now and then. The files are **synthetic**. Published is that there are burst-reading, transient and long-living ones (S: Liang et al.,
HotStorage 2020 and FAST 2022); assumed (A) are their shares (60, 25 and 15 %), sizes (32 KiB to 1 MiB), reads, periods, and of how many files app and kind tell the
class. *Learned* is naive Bayes with counts, from app and kind together, size and the gap to the app's last file, trained on lives that have ended; only files taken for
long-living are written, the others stay in memory for their period at most. 240 accesses a second for 20 s after 40 000 before. Written and kept from flash are MB in
these 20 s, latencies ms, local writes MB/s with the pauses; worn is the endurance of all flash that was used up (1000 cycles native, 30 000 in SLC mode).
""")
        for words, point in self.points.items():
            page.table([words, *(text for text, _ in FIGURES.values())],
                       [[sifting.name, *(self._cell(sifting, point, name, form) for name, (_, form) in FIGURES.items())] for sifting in SIFTINGS])
        page.claims(*self._claims())
        page.text("""
- Any sifting at all, chance included, writes so much less than everything that the application's writes find room in the pSLC and go as fast as they are sent: nothing is left
  for better classes to gain there.
- What classes are for shows in the accesses: where files tell them, learned classes find three times as many copies on flash as random ones, and come near the oracle. With
  little memory a file that is not written has to be fetched again, so that accesses take longer than with every file on the drive.
- Where only 40 % of files are told, naive Bayes takes nearly all of them for the most frequent class: right more often than chance, and of no more use. It
  weighs all mistakes alike, though a copy too many costs little and a fetch 20 ms and more.
- **Worn** in 20 s is also a matter of when the pSLC is folded: the drive folds after 100 ms without a command, and the fewer files are read from it, the more often
  there is such a pause. It folded 0.2 to 0.8 GB with learned classes at 40 % told, and nothing with the oracle; what was not folded then has to be later.
""")

    def _cell(self, sifting, point, name, form):
        if name in ("accuracy", "kept") and sifting.settings[ADMISSION] != "file-classes":
            return ""
        return self.figure(sifting, point, name).text(form)

    def _claims(self):
        def claim(words, published, region, sifting, against, name):
            full = f"{sifting.name}: {words}, against {against.name}, everywhere"
            return everywhere(Claim(Kind.PREDICTED, full, published, region, NULL, SOMEWHERE), self.ratios(sifting, against, name))
        return [
            claim("bytes of copies written", WRITEBACKS, LESS, LEARNED, ALL, "written"),
            claim("local writes", WRITES_FASTER, FASTER, LEARNED, ALL, "local"),
            claim("flash worn", "lives longer (S)", LESS, LEARNED, ALL, "worn"),
            claim("mean access", "no slower (A)", AS_SOON, LEARNED, ALL, "mean"),
            claim("bytes of copies written", "fewer (A)", LESS, LEARNED, RANDOM, "written"),
            claim("local writes", "faster (A)", FASTER, LEARNED, RANDOM, "local"),
            claim("flash worn", "lives longer (A)", LESS, LEARNED, RANDOM, "worn"),
            claim("mean access", "sooner (A)", LESS, LEARNED, RANDOM, "mean"),
        ]


def figures_of(report):
    cache = "file_cache."
    accesses = report.value(cache + "accesses")
    classes = resolved(report)[ADMISSION] == "file-classes"
    return {"accuracy": 100 * report.value(cache + "accuracy") if classes else 0,
            "memory": 100 * report.value(cache + "memory_hits") / accesses, "flash": 100 * report.value(cache + "hits") / accesses,
            "mean": microseconds(report, "mean") / 1e3, "written": report.value(cache + "bytes_written") / 1e6,
            "kept": report.value(cache + "bytes_kept_from_flash") / 1e6 if classes else 0, "worn": 1e6 * worn(report), "local": bandwidth(report, load=1)}
