"""Replicas of what is often blocked, made in idle time, a remedy that Luo et al. survey (section 4; [22], He et al. 2015), on a small drive that collects."""

from claims import Claim, Kind, at_most
from luo_drives import amplification, microseconds
from luo_remedies import FASTER, LESS, NOT_LONGER, SOMEWHERE, Figure, Remedy, Trial, _grid, _part, everywhere

SCENARIO = "scenarios/luo/blocked_reads.yaml"
POLICY, IDLE, SHARE = (f"firmware.replicas.{key}" for key in ("policy", "idle_only", "share"))
CAPACITY = 16  # MiB of copies
FILLS = {f"{fill} % full": f"{fill} %" for fill in (50, 90)}
HOT = {"32 MiB": 32, "96 MiB": 96}  # of 410
UPDATES = {"the same updated": "0%", "others updated": "25%"}  # by where the updates begin
NONE = {POLICY: "none"}
BLOCKED = {POLICY: "blocked-reads", IDLE: "true"}
AT_ONCE = BLOCKED | {IDLE: "false"}
HOT_READS = {POLICY: "hot-reads", IDLE: "true"}
DRAWN = {POLICY: "drawn-data", IDLE: "true"}  # the share: of the hot set, what there is room for
PACE = {"load.0.rate_iops": "8000", "load.0.rate_process": "poisson", "load.0.iodepth": "64"}
HALVED = at_most(0.5)
BY_CHANCE = "reads come by chance: how long a die has been idle says little about how long it will be"


def counter(report, name):
    return report.value(f"firmware.replicas.{name}")


def mean(report):
    return microseconds(report, "mean")


def copied(report):
    """Copies programmed, in per cent of the units that the host wrote."""
    return 100 * counter(report, "units_copied") / report.value("firmware.host_units_written")


def served(report):
    """Per cent of the mapping pages read whose die was programming or erasing."""
    return 100 * counter(report, "reads_of_copies") / max(counter(report, "conflicts"), 1)


def in_the_way(report):
    """Per cent of the programs of copies that other operations waited for."""
    return 100 * counter(report, "programs_in_the_way") / max(counter(report, "programs"), 1)


OTHERS = (
    Remedy("blocked-reads, copied at once", "a lever: the same without idle time", AT_ONCE, ()),
    Remedy("hot-reads in idle time", "HotR's choice, Wu et al. 2019, at He et al.'s time", HOT_READS, ()),
    Remedy("drawn-data in idle time", "the null model: of the hot set, what there is room for, by lot", DRAWN, ()),
)
FIGURES = {"mean": Figure("reads, mean, us", mean, "response time improves (F)", LESS), "p99": Figure("p99", lambda report: microseconds(report, "p99")),
           "writes": Figure("writes, p99, us", lambda report: microseconds(report, "p99", "write", load=1), "minimised interference (F)", NOT_LONGER),
           "WA": Figure("WA", amplification)}
RATE = {"rate": Figure("reads per second", lambda report: report.content["results"]["loads"][0]["iops"], "throughput improves (F)", FASTER),
        "mean": Figure("reads, mean, us", mean)}


class Blocked:
    """The runs. Each method returns Seeds."""

    def __init__(self, drives):
        self.runner = drives.runner
        self.short = drives.short
        hot = {f"{words}, {where}": (size, place) for words, size in HOT.items() for where, place in UPDATES.items()}
        points = _part(_grid(FILLS, hot, "hot set"), slice(1) if self.short else slice(None))
        he = Remedy("blocked-reads in idle time", "He et al. 2015: of frequently blocked pages, in idle time", BLOCKED, ("mean", "writes"))
        self.paced = Trial(points, self.run, FIGURES, (he, *OTHERS), NONE)
        self.closed = Trial(points, self.run_closed, RATE, (Remedy(he.name, he.source, BLOCKED, ("rate",)), OTHERS[-1]), NONE)

    def run(self, point, settings, pace=PACE):
        fill, (hot, updates) = point
        sizes = {"precondition.0.fill": fill, "load.0.size": f"{hot}m", "load.1.size": f"{hot}m", "load.1.offset": updates}
        times = {f"load.{load}.{key}": "0.1 s" for load in (0, 1) for key in ("ramp_time", "runtime")} if self.short else {}
        drawn = {SHARE: f"{100 * min(1, CAPACITY / hot):.3g} %"} if settings.get(POLICY) == "drawn-data" else {}
        return self.runner.start_seeds(SCENARIO, sizes | pace | times | drawn | settings)

    def run_closed(self, point, settings):
        """The same, with reads as fast as they go, 16 at a time."""
        return self.run(point, settings, {})

    def start_all(self):
        self.paced.start()
        self.closed.start()

    def write(self, page):
        page.text("## Reads that are often blocked")
        page.text(f"""
Replicas of frequently blocked pages (He et al. 2015, [22]) on a drive of eight dies without pSLC (`{SCENARIO}`): 4 KB, 8000 reads a second of a hot set (Zipf 1.1) and 4000 updates, of the same pages or of as many others; it has
been overwritten once, so that it collects when it is nearly full. At hand were the paper's abstract and Luo et al.'s sentence, no more. Published (F): update-intensive loads make internal work that
blocks reads; *frequently blocked* pages get replicas on other chips; replicas are written and read in idle periods of the chips, which a model predicts; response time and throughput of
transactions improve. Our reading (A): a read is blocked when it finds its die programming or erasing, for whomever; two such reads between two writes make a page frequently blocked; idle time is predicted by a
moving average of each die's idle times; a read goes to the copy when that die neither programs nor erases; a write makes the copy void. Room for copies: {CAPACITY} MiB of the spare blocks, 4 % of the drive. The tolerances, and the load, were set before
the first full run with copies.
""")
        self.paced.write(page)
        self.write_choice(page)
        page.text("Reads without a pace, 16 at a time, beside the same updates.")
        self.closed.write(page)
        page.text("""
Seen afterwards: replicas help everywhere, and it matters of what: copies drawn by lot from the hot set bring at most half of the gain, often none, for up to four times as many programs. But counting blocked
reads chooses what counting reads does. The means are the same; what it saves are programs of copies, a half to two thirds of them where the pages that are read are updated, too. Idle time, predicted as here, is
worth little: the share of programs that others waited for falls to between a half and four fifths, but reads are not sooner for it, because there are only one to four copies per hundred units that
the host writes. Where reads come in bursts it may be otherwise; that was not tried. Reads without a pace gain less, since 16 at a time wait for one another as well, and seeds differ by up to a quarter.
""")

    def write_choice(self, page):
        """What the copies were, and the claims about choice and time."""
        points, remedies = self.paced.points, self.paced.remedies
        for words, of in (("blocked reads served by copies, %", served), ("copies programmed, % of the units that the host wrote", copied),
                          ("programs of copies that others waited for, %", in_the_way)):
            page.table([words, *(remedy.name for remedy in remedies)],
                       [[point, *(self.run(points[point], remedy.settings).of(of).text(".1f") for remedy in remedies)] for point in points])
        ratio = self.ratios
        choice = Claim(Kind.PREDICTED, "blocked-reads: reads, mean against drawn-data, everywhere", "frequently blocked pages (F)", LESS, ("drawn data", 1), SOMEWHERE)
        time = Claim(Kind.PREDICTED, "idle time: programs of copies that others waited for, against copied at once, everywhere", "minimised interference (F)", HALVED,
                     ("copied at once", 1), BY_CHANCE)
        page.claims(everywhere(choice, ratio(BLOCKED, DRAWN, FIGURES["mean"].of)), everywhere(time, ratio(BLOCKED, AT_ONCE, in_the_way)))
        against = [one.mean for one in ratio(BLOCKED, HOT_READS, FIGURES["mean"].of)]
        page.text(f"""
Against replicas of what is read often, made at the same time, the mean of reads is {min(against):.2f} to {max(against):.2f}; nothing is published about that.
""")

    def ratios(self, settings, others, of):
        """At each point, with the one against the other."""
        return [self.run(point, settings).of(of) / self.run(point, others).of(of) for point in self.paced.points.values()]
