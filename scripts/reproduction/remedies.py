"""The remedies of Luo et al. over a grid: fill of the drive, size of the hot set, seeds. A remedy that helps only somewhere is shown with where.

Judged is the substance of a claim: the hot writes that a path policy is to make faster, the folding that it is to save, what cold writes pay
for it; the rate behind the cliff; wear and moves where read-hot data are placed.
"""

import runs
from claims import NO, SHOWN, UNDECIDED, YES, Claim, Judged, Kind, all_of, at_least, at_most, verdict
from luo_drives import HYBRIDS, IN_USE, Drives, amplification, bandwidth, filled
from luo_remedies import COLD, DRIVE, HOT, PATH, behind
from paper import Section, publish

FILLS = [25, 50]
HOT_SETS = [256, 1024]  # MiB, of the sixteenth
FLOOD_FILLS = [25, 50, 74]
PATHS = {"cold-direct": {PATH: "cold-direct"}, "request-size": {PATH: "request-size"}, "lru-count": {PATH: "lru-count"}}
FLOODS = {"hyflex": {PATH: "hyflex"}, "when_full: direct": {"firmware.pslc.when_full": "direct"}, "fold_by: copyback": {"firmware.pslc.fold_by": "copyback"}}
PLACEMENT = "scenarios/luo/read_hot_placement.yaml"
PLACEMENTS = {"little-worn": {"firmware.placement.policy": "little-worn"}, "ordinary wear levelling": {"firmware.wear.policy": "dynamic"}}

FASTER, LESS, KEPT = at_least(1.1), at_most(0.9), at_least(0.9)  # a tenth is what counts as news, either way
NULL = ("no policy", 1)
SOMEWHERE = "see the grid above for where it helps and where not"


class Grid:
    """The runs. Each method returns Seeds."""

    def __init__(self, drives):
        self.drives = drives
        self.fills = FILLS[:1] if drives.short else FILLS
        self.hot_sets = HOT_SETS[:1] if drives.short else HOT_SETS
        self.flood_fills = FLOOD_FILLS[:1] if drives.short else FLOOD_FILLS

    def mixed(self, fill, hot, settings=None):
        """Small hot writes beside a stream of cold ones to new places, for 20 s, on a drive in use."""
        time = f"runtime: {0.2 if self.drives.short else 20} s"
        loads = [f"{HOT}, size: {self.drives.mib(hot)}, {time}", f"{COLD}, size: {self.drives.mib(8192)}, {time}"]
        return self.drives.run_seeds(DRIVE, filled(fill, IN_USE), loads, settings)

    def flood(self, fill, settings=None):
        """8 GB of sequential writes behind the data of a drive that was left alone; no chance in it."""
        load = f"rw: write, bs: 1m, iodepth: 64, offset: {fill}%, size: {self.drives.mib(8192)}"
        return self.drives.run_seeds(DRIVE, filled(fill), load, settings, log=True, certain=True)

    def placed(self, settings=None):
        """Two million reads of a drive that is worn unevenly."""
        return self.drives.runner.start_seeds(PLACEMENT, settings or {})

    def start_placement(self):
        for settings in ({}, *PLACEMENTS.values()):
            self.placed(settings)

    def start_floods(self):
        for fill in self.flood_fills:
            for settings in ({}, *FLOODS.values()):
                self.flood(fill, settings)

    def start_paths(self):
        for fill in self.fills:
            for hot in self.hot_sets:
                for settings in ({}, *PATHS.values()):
                    self.mixed(fill, hot, settings)

    # ------------------------------------------------------------------------------------------------------------------- the page

    def write_paths(self, page):
        page.text("## What goes straight to QLC")
        page.text("""
4 KB at random to a hot set (Zipf 1.1) beside a stream of 512 KB to new places, 8 at a time each, on a drive in use, 20 s. Ratios to the drive as it is: rate
of the hot writes (claimed to rise), write amplification (claimed to fall), rate of the cold writes (what it costs).
""")
        points = [(fill, hot) for fill in self.fills for hot in self.hot_sets]
        judged = []
        for name, settings in PATHS.items():
            ratios = {}
            for point in points:
                base, with_it = self.mixed(*point), self.mixed(*point, settings)
                ratios[point] = [with_it.of(figure) / base.of(figure) for figure in (bandwidth, amplification, cold)]
            page.table([f"{name}", "hot writes", "faster by a tenth", "WA", "less by a tenth", "cold writes", "keep nine tenths"],
                       [[f"{fill} % full, hot set {hot} MiB"] + judged_cells(ratios[fill, hot], (FASTER, LESS, KEPT)) for fill, hot in points])
            for n, (words, claimed, region) in enumerate((("hot writes", "faster (S)", FASTER), ("write amplification", "less is folded (S)", LESS),
                                                          ("cold writes", "not much slower (A)", KEPT))):
                claim = Claim(Kind.PREDICTED, f"{name}: {words} against no policy, everywhere", claimed, region, NULL, SOMEWHERE)
                judged.append(everywhere(claim, [ratios[point][n] for point in points]))
        page.claims(*judged)

    def write_floods(self, page):
        page.text("## Behind the cliff")
        page.text("""
Sequential writes of 1 MB to a drive left alone; MB/s of the second half of 8 GB. Nothing in it depends on chance. A quarter full, the pSLC takes in
most of the 8 GB.
""")
        base = {fill: self.flood(fill).of(lambda r: behind(r.log)) for fill in self.flood_fills}
        rows = [["as it is"] + [base[fill].text(".0f") for fill in self.flood_fills]]
        judged = []
        for name, settings in FLOODS.items():
            ratios = [self.flood(fill, settings).of(lambda r: behind(r.log)) / base[fill] for fill in self.flood_fills]
            rows.append([f"{name}, ratio"] + [f"{ratio.text()}, {SHOWN[verdict(ratio, FASTER)]}" for ratio in ratios])
            judged.append(everywhere(Claim(Kind.PREDICTED, f"{name}: rate behind the cliff against no policy, everywhere", "no collapse (S)", FASTER, NULL, SOMEWHERE), ratios))
        page.table(["MB/s; faster by a tenth"] + [f"{fill} % full" for fill in self.flood_fills], rows)
        page.claims(*judged)

    def write_placement(self, page):
        page.text("## Read-hot data into little-worn blocks")
        page.text(f"Two million reads by Zipf's law of a drive that is worn unevenly (`{PLACEMENT}`). Ratios to the drive as it is, of blocks that refresh moves.")
        moved = self.placed().of(moves)
        rows, judged = [["as it is, units moved", moved.text(",.0f"), ""]], []
        for name, settings in PLACEMENTS.items():
            ratio = self.placed(settings).of(moves) / moved
            rows.append([name, ratio.text(".3f"), SHOWN[verdict(ratio, at_most(0.99))]])
            claimed = "fewer (S)" if name == "little-worn" else "fewer (A: the usual way)"
            judged.append(Claim(Kind.PREDICTED, f"{name}: units moved against placing anywhere", claimed, at_most(0.99), NULL,
                                "the few free blocks are those erased last, alike in wear, so there is not much to choose from").judged(ratio, form=".3f"))
        page.table(["", "ratio", "fewer by a hundredth"], rows)
        page.claims(*judged)


def judged_cells(samples, regions):
    return [cell for one, region in zip(samples, regions) for cell in (one.text(), SHOWN[verdict(one, region)])]


def everywhere(claim, samples):
    """The claim over all points of the grid, with the range of its means and how many points say what."""
    verdicts = [verdict(one, claim.region) for one in samples]
    counts = ", ".join(f"{verdicts.count(one)} {one}" for one in (YES, NO, UNDECIDED) if one in verdicts)
    means = [one.mean for one in samples]
    return Judged(claim, f"{min(means):.2f} to {max(means):.2f} ({counts})", all_of(verdicts))


def cold(report):
    return bandwidth(report, load=1)


def moves(report):
    return report.value("firmware.flash.refresh.units_programmed")


def write_introduction(page):
    page.text("# Remedies for drives with pSLC and QLC, over a grid")
    page.text("""
Luo et al. ([their figures](luo.md)) survey what could be done about drives that write into pSLC and fold into QLC later. Here some of these remedies, each a
setting of the drive like the 665p, are measured against the drive as it is, over its fill, the size of the hot set and seeds. A tenth counts as news. A
claim is met when it holds **everywhere** on the grid; one that holds only somewhere is *no*, and the tables say where it holds. This page is written by
`scripts/reproduce remedies`.
""")


def reproduce(options, runner):
    grid = Grid(Drives(runner))
    sections = [Section("placement", grid.start_placement, grid.write_placement), Section("cliff", grid.start_floods, grid.write_floods),
                Section("paths", grid.start_paths, grid.write_paths)]
    publish("remedies", options, runner, write_introduction, sections, [HYBRIDS[DRIVE]])


if __name__ == "__main__":
    runs.main(reproduce, __doc__)
