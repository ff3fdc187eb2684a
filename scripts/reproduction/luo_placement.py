"""Read-hot data into little-worn blocks, a remedy that Luo et al. survey (section 4.2.2), on small drives that are worn unevenly."""

from claims import SHOWN, Claim, Kind, at_most, verdict
from luo_remedies import LOSSES, NULL, SOMEWHERE, everywhere

SCENARIO = "scenarios/luo/read_hot_placement.yaml"
OVERWRITES = ["20x", "60x"]  # by Zipf's law before the reads: how unevenly the drive is worn
READS = "16g"  # a million of 16 KiB
POLICIES = {"little-worn": {"firmware.placement.policy": "little-worn"}, "ordinary wear levelling": {"firmware.wear.policy": "dynamic"}}
FEWER = at_most(0.99)  # moves of refresh: with one seed they were 3 and 5 % fewer


class Placement:
    """The runs. Each method returns Seeds."""

    def __init__(self, drives):
        self.runner = drives.runner
        self.overwrites = ["1x"] if drives.short else OVERWRITES

    def run(self, overwrites, settings=None):
        """A million reads of a drive that is worn unevenly."""
        return self.runner.start_seeds(SCENARIO, LOSSES | {"precondition.1.overwrite": overwrites, "load.0.io_size": READS} | (settings or {}))

    def start_all(self):
        for overwrites in self.overwrites:
            for settings in ({}, *POLICIES.values()):
                self.run(overwrites, settings)

    def write(self, page):
        page.text("## Read-hot data into little-worn blocks")
        page.text(f"""
A million reads by Zipf's law of a small drive that has been overwritten {' or '.join(self.overwrites)} by the same law without wear levelling, so that it is worn unevenly
(`{SCENARIO}`). A block is moved when a frame has 50 wrong bits. Ratios to the drive as it is, of units that refresh moves; here a hundredth counts. Beside it stands
what wear levelling of the ordinary kind does, had it been at work all the while: a row that an older page had dropped.
""")
        judged = []
        rows = [["as it is, units moved", *(self.run(times).of(moves).text(",.0f") for times in self.overwrites)]]
        for name, settings in POLICIES.items():
            ratios = [self.run(times, settings).of(moves) / self.run(times).of(moves) for times in self.overwrites]
            rows.append([f"{name}, ratio", *(f"{ratio.text('.3f')}, {SHOWN[verdict(ratio, FEWER)]}" for ratio in ratios)])
            claimed = "fewer (S)" if name == "little-worn" else "fewer (A: the usual way)"
            claim = Claim(Kind.PREDICTED, f"{name}: units moved against placing anywhere, everywhere", claimed, FEWER, NULL, SOMEWHERE)
            judged.append(everywhere(claim, ratios, ".3f"))
        page.table(["fewer by a hundredth", *(f"overwritten {times}" for times in self.overwrites)], rows)
        page.claims(*judged)
        page.text("The few free blocks are those that were erased last, alike in wear, so that a policy that chooses among them has not much to choose from.")


def moves(report):
    return report.value("firmware.flash.refresh.units_programmed")
