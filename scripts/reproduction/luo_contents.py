"""Reads redirected to the same content on another die, a remedy that Luo et al. survey ([21], RR-SSD), on a small drive without pSLC."""

from dataclasses import replace

from claims import Claim, Kind, near
from luo_drives import amplification, microseconds, operation
from luo_remedies import LESS, NOT_LONGER, Figure, Remedy, Trial, everywhere

SCENARIO = "scenarios/luo/popular_contents.yaml"
POLICY = "firmware.redirection.policy"
DUPLICATES = "contents.duplicates"
NONE = {POLICY: "none"}
SELECTIVE = {POLICY: "selective"}
AT_RANDOM = SELECTIVE | {"firmware.redirection.target": "random"}
FILLS = {"50 % full": 50, "90 % full": 90}
HOT = {"hot set 16 MiB": 16, "hot set 128 MiB": 128}
FEW = {DUPLICATES: "20 %", "contents.pool": "4095"}
TO_ALL = SELECTIVE | {"firmware.redirection.dies": "8"}
SAME = near(1, 0.02, "± 0.02: the same")  # a drive whose data all differ gains nothing and loses nothing


def mean(report):
    """Mean latency of the reads, us."""
    return microseconds(report, "mean")


def both(report):
    """Mean latency of all requests, us."""
    parts = [operation(report, "read", 0), operation(report, "write", 1)]
    return sum(part["latency"]["mean"] * part["commands"] for part in parts) / sum(part["commands"] for part in parts) / 1e3


def counter(report, name):
    return report.value(f"firmware.redirection.{name}")


def redirected(report):
    """Per cent of the mapping pages read from flash of a busy die."""
    return 100 * counter(report, "redirected") / max(counter(report, "busy"), 1)


def popular(report):
    """Per cent of these whose content is in the table."""
    return 100 * counter(report, "popular") / max(counter(report, "busy"), 1)


def of_popular(report):
    """Per cent of the mapping pages in the table whose die was busy that were read elsewhere."""
    return 100 * counter(report, "redirected") / max(counter(report, "popular"), 1)


FIGURES = {"read": Figure("reads, mean, us", mean, "sooner: 23.9 % on average (F)", LESS),
           "all": Figure("all requests, mean, us", both, "sooner: 16 % on average (F)", LESS),
           "p99": Figure("reads, p99, us", lambda report: microseconds(report, "p99")),
           "WA": Figure("WA", amplification, "not much more (A)", NOT_LONGER)}
# Where contents lie on few dies: is it worth it to make replicas of them, beside reading what the host has written twice?
REPLICATED = (Remedy("replicas on all dies, against duplicates alone", "the replication of RR-SSD by itself", FEW | TO_ALL, ()),)
FREQUENT = "what is written often lies on many dies by itself: duplicates alone serve nearly all reads that could be redirected"
REMEDIES = (Remedy("redirection: selective", "RR-SSD, Elyasi et al. 2018", SELECTIVE, ("read", "all", "WA")),
            Remedy("redirection: duplicates", "a lever: no replicas, only what the host writes twice", {POLICY: "duplicates"}, ()),
            Remedy("redirection: selective, to all dies", "a lever: replicas until a content lies on all eight dies, not four", TO_ALL, ()),
            Remedy("redirection to any die with the content", "a lever: at random instead of the least loaded", AT_RANDOM, ()),
            Remedy("replicas: hot-reads", "a lever: by address, as many replicas, read while the die writes",
                   NONE | {"firmware.replicas.policy": "hot-reads", "firmware.replicas.capacity": "8 MiB"}, ()))


class Contents:
    """The runs. Each method returns Seeds."""

    def __init__(self, drives):
        self.runner = drives.runner
        self.seconds = "0.2 s" if drives.short else "2 s"
        points = {f"{fill}, {hot}": (FILLS[fill], HOT[hot]) for fill in FILLS for hot in HOT}
        self.trial = Trial(dict(list(points.items())[:1]) if drives.short else points, self.run, FIGURES, REMEDIES, NONE)
        self.few = replace(self.trial, remedies=REPLICATED, without=FEW | {POLICY: "duplicates"})
        self.shares = [20] if drives.short else [20, 80]  # per cent

    def run(self, point, settings):
        fill, hot = point
        loads = {f"load.{n}.{key}": value for n in (0, 1) for key, value in (("size", f"{hot}m"), ("runtime", self.seconds))}
        steps = {"precondition.0.fill": f"{fill} %", "precondition.1.region": f"{fill} %"}
        return self.runner.start_seeds(SCENARIO, loads | steps | settings)

    def ratio(self, point, settings, of):
        """With redirection against without, under the same data."""
        return self.run(point, SELECTIVE | settings).of(of) / self.run(point, NONE | settings).of(of)

    def start_all(self):
        self.trial.start()
        self.few.start()
        for point in self.trial.points.values():
            for policy in (SELECTIVE, NONE):
                for share in (0, *self.shares):
                    self.run(point, policy | {DUPLICATES: f"{share} %"})

    def write(self, page):
        page.text("## Popular contents read on other dies")
        page.text(f"""
4 KB read and written at random (Zipf 1.1), 20 000 and 5000 requests/s, for {self.seconds}; a drive of eight dies without pSLC, filled and half overwritten (`{SCENARIO}`). Half of the mapping
pages that are written, preconditioning included, hold one of 1000 contents, by Zipf's law; the others hold data that there are once. Elyasi et al. publish 45 % less for reads at best and 23.9 % on average, and
40 and 16 % for all requests, on traces that hold hashes of the data. Of their paper the abstract was at hand (F): what is replicated, when and how many times are our reading.
Writes end in the write buffer, so that the mean of all requests follows that of the reads.
""")
        self.trial.write(page)
        points = self.trial.points
        rows = [[words, self.run(point, SELECTIVE).of(popular).text(",.0f"), self.run(point, SELECTIVE).of(redirected).text(",.0f"),
                 self.run(point, {POLICY: "duplicates"}).of(redirected).text(",.0f")] +
                [self.ratio(point, {DUPLICATES: f"{share} %"}, mean).text() for share in (0, *self.shares)] for words, point in points.items()]
        page.table(["reads of busy dies", "of popular contents, %", "redirected, %", "redirected by duplicates alone, %",
                    *(f"reads, mean, ratio, {share} % duplicates" for share in (0, *self.shares))], rows)
        page.text("""
With half of the pages from 1000 contents, what the host writes twice is enough: a popular content lies on four dies and more without any replica. By themselves replicas are judged where
contents lie on few dies: a fifth of the pages from 4095 contents, replicas until a content lies on all eight dies, against the same drive without replicas. This claim was added when the results above were known; its tolerance is the tenth of the others.
Replicas are of what the host has *written* more than once; data that are only read often are `replicas: hot-reads` above.
""")
        self.few.write(page)
        fewer = FEW | {POLICY: "duplicates"}
        page.table(["reads of busy dies whose content is popular", "redirected without replicas, %", "with, %", "replicas made meanwhile"],
                   [[words, self.run(point, fewer).of(of_popular).text(",.0f"), self.run(point, FEW | TO_ALL).of(of_popular).text(",.0f"),
                     self.run(point, FEW | TO_ALL).of(lambda report: counter(report, "units_copied")).text(",.0f")] for words, point in points.items()])
        gain = Claim(Kind.PREDICTED, "replicas of popular contents, against duplicates alone: reads, mean, everywhere", "more opportunities for redirection (F)", LESS,
                     ("no replicas", 1), FREQUENT)
        gains = [self.run(point, FEW | TO_ALL).of(mean) / self.run(point, fewer).of(mean) for point in points.values()]
        alike = Claim(Kind.SELF_CONSISTENT, "data that all differ: reads, mean, with redirection against without, everywhere", "1: nothing to redirect", SAME)
        page.claims(everywhere(gain, gains), everywhere(alike, [self.ratio(point, {DUPLICATES: "0 %"}, mean) for point in points.values()]))
