"""Reads served by parity while a die collects, a remedy that Luo et al. survey (section 4; [23], TTFlash), on a small drive without pSLC."""

from claims import Claim, Kind, at_most, near
from luo_drives import amplification, microseconds
from luo_remedies import LESS, SOMEWHERE, Figure, Remedy, Trial, everywhere

SCENARIO = "scenarios/luo/parity.yaml"
POLICY, ROTATE = "firmware.parity.policy", "firmware.parity.rotate"
STRIPE = 8
ON = "behind-collection"
NONE = {POLICY: "none"}
RATES = {"4 MB/s": "4m", "8 MB/s": "8m"}
PLACES = {"anywhere": "random", "by Zipf's law": "zipf:1.1"}
# Half of the drive is written and read, and the other half takes the writes.
UNCOLLECTED = NONE | {"precondition.0.fill": "50 %", "precondition.1.overwrite": "0.001x", "load.0.size": "50%", "load.1.offset": "50%", "load.1.size": "50%"}
AS_WITHOUT = at_most(2.6)
SATURATED = "where collection of one die at a time does not keep up, reads meet dies whose stripes have ended"
GIVEN_UP = "stripes that other dies were too slow to fill are given up, and what is programmed beside them has no parity"
FIGURES = {"p99": Figure("reads, p99, us", lambda report: microseconds(report, "p99")),
           "p99.9": Figure("p99.9", lambda report: microseconds(report, "p99.9"), "less: reads do not wait for collection (R)", LESS),
           "WA": Figure("WA", amplification), "writes": Figure("writes, p99.9, us", lambda report: microseconds(report, "p99.9", "write", load=1))}
REMEDIES = (Remedy("parity", "after Yan et al. 2017, without turns of collection", {POLICY: ON, ROTATE: "false"}, ("p99.9",)),
            Remedy("parity: rotate", "TTFlash, Yan et al. 2017: one die of a stripe collects at a time", {POLICY: ON, ROTATE: "true"}, ("p99.9",)))


class Parity:
    """The runs. Each method returns Seeds."""

    def __init__(self, drives):
        self.runner = drives.runner
        self.seconds = "0.5 s" if drives.short else "20 s"
        points = {f"writes of {rate}, {place}": (RATES[rate], PLACES[place]) for rate in RATES for place in PLACES}
        self.trial = Trial(dict(list(points.items())[:1]) if drives.short else points, self.run, FIGURES, REMEDIES, NONE)

    def run(self, point, settings):
        rate, places = point
        return self.runner.start_seeds(SCENARIO, {"load.0.runtime": self.seconds, "load.1.runtime": self.seconds, "load.1.rate": rate,
                                                  "load.1.random_distribution": places} | settings)

    def start_all(self):
        self.trial.start()
        for point in self.trial.points.values():
            self.run(point, UNCOLLECTED)

    def write(self, page):
        page.text("## Reads while a die collects")
        page.text(f"""
4 KB read at random, 4000/s, beside writes of 16 KB that make the drive collect, for {self.seconds}; a full drive of eight dies without pSLC, with stripes over all of them (`{SCENARIO}`: OP 60 %,
since parity takes an eighth of flash; collection in the order of writing). It is compared with the same drive without parity, and with one that does not collect because the
writes go to its empty half. TTFlash publishes p99 to p99.99 within 1.0 to 2.6 times those without collection (R). Ours forms stripes of what is programmed, so that they end with their
blocks; TTFlash's outlive collection.
""")
        self.trial.write(page)
        points = self.trial.points
        rotate = REMEDIES[-1].settings
        tail = FIGURES["p99.9"].of
        without = {words: self.run(point, UNCOLLECTED).of(tail) for words, point in points.items()}
        rows = [[words, without[words].text(",.0f"), (self.run(point, NONE).of(tail) / without[words]).text(), (self.run(point, rotate).of(tail) / without[words]).text(),
                 self.run(point, rotate).of(served).text(",.0f")] for words, point in points.items()]
        page.table(["reads, p99.9", "without collection, us", "as it is, ratio", "parity: rotate, ratio", "served by parity, % of those that meet collection"], rows)
        waits = max((self.run(point, NONE).of(tail) / without[words]).mean for words, point in points.items())
        like = Claim(Kind.PREDICTED, "parity: rotate, p99.9 of reads against that without collection, everywhere", "1.0 to 2.6 (R)", AS_WITHOUT, ("as it is", waits), SATURATED)
        share = Claim(Kind.SELF_CONSISTENT, "parity, of all programs, everywhere", f"1/{STRIPE} = {1 / STRIPE:.3f}", near(1 / STRIPE, 0.0125), otherwise=GIVEN_UP)
        page.claims(everywhere(like, [self.run(point, rotate).of(tail) / without[words] for words, point in points.items()]),
                    everywhere(share, [self.run(point, REMEDIES[0].settings).of(programs) for point in points.values()], ".3f"))
        page.text("""
What serves reads is not parity alone but parity and turns: without them nearly every read that meets a die that collects finds another of its stripe collecting, too. With them the
tail is that of reads behind reads and programs, which parity does not help, as long as collection of one die at a time keeps up. Write amplification rises by more than the
parity's own programs, because parity takes an eighth of flash from collection.
""")


def counter(report, name):
    return report.value(f"firmware.parity.{name}")


def served(report):
    """Per cent of the mapping pages read whose die was busy with collection."""
    return 100 * counter(report, "served") / max(counter(report, "busy"), 1)


def programs(report):
    """Parity as a share of all that is programmed."""
    return report.content["write_amplification"]["parity"]["value"] / amplification(report)
