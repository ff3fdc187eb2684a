"""The drives of luo.py, the states they are in, and how runs of them are asked for."""

import numpy

import page as pages
from drafts import Drafts

HYBRIDS = {"665p": "scenarios/luo/drive_665p.yaml", "670p": "scenarios/luo/drive_670p.yaml", "P1": "scenarios/luo/drive_p1.yaml"}
PURE = {"SLC": "scenarios/luo/pure_slc.yaml", "TLC": "scenarios/luo/pure_tlc.yaml", "QLC": "scenarios/luo/pure_qlc.yaml"}
SCENARIOS = HYBRIDS | PURE
SCALE = 16  # the drives are a sixteenth of 1 TB; so are files and amounts of data that the paper gives
# Of the short form; few layers, because small blocks have few word lines.
SMALL = {"ssd.flash.user_capacity": "2 GB", "ssd.flash.part.pages_per_block": "48", "ssd.flash.part.layers": "4"}

# How a drive has come to its fill. Idle: all that could be folded has been. In use: measured as soon as the data are there, the pSLC full.
IDLE, IN_USE = ", idle: true", ""


def filled(percent, state=IDLE):
    return f"{{fill: {percent} %, order: sequential{state}}}"


class Drives(Drafts):
    """Runs of the drives; each method returns Seeds."""

    def mib(self, amount):
        """MiB of data, in fio's words; less on the small drives of the short form."""
        return f"{max(amount // 32, 1) if self.short else amount}m"

    @property
    def hybrids(self):
        return ["665p"] if self.short else list(HYBRIDS)

    @property
    def drives(self):
        return self.hybrids + list(PURE)

    def run(self, drive, state, load, changes=None, log=False, certain=False):
        """`load`: what stands in the braces of a load, or a list of such, or a function of the seed that makes either; the rest as in Drafts.start. Drives are
        filled in sequence, which knows no chance."""
        changes = (SMALL if self.short else {}) | (changes or {})
        hybrid = drive in HYBRIDS
        return self.start(SCENARIOS[drive], load, changes, state if hybrid else state.replace(IDLE, ""), log, certain, hybrid)


def operation(report, kind, load=0):
    """Figures of the reads or writes of one load."""
    return report.content["results"]["loads"][load]["operations"][kind]


def microseconds(report, percentile, kind="read", load=0):
    return operation(report, kind, load)["latency"][percentile] / 1e3


def bandwidth(report, kind=None, load=0):
    """MB/s over the time measured, of one load or of its reads or writes."""
    part = operation(report, kind, load) if kind else report.content["results"]["loads"][load]
    return part["bandwidth"]["value"] / 1e6


def rate(report):
    """MB/s of all loads."""
    return report.content["results"]["total"]["bandwidth"]["value"] / 1e6


def amplification(report):
    return report.content["write_amplification"]["total"]["value"]


def curve(report, kind="write", bins=120):
    """(seconds, MB/s) over the time measured, in so many steps."""
    series = report.content["results"]["total"]["series"]
    step, values = series["step"]["value"], numpy.array(series[kind]["bandwidth"]) / 1e6
    every = max(len(values) // bins, 1)
    values = values[:len(values) // every * every].reshape(-1, every).mean(axis=1)
    return (numpy.arange(len(values)) + 0.5) * step * every, values


def distribution(report, kind="read", load=0):
    """(share, us): latencies against the share of requests that are faster."""
    points = operation(report, kind, load)["distribution"]
    return [share for _, share in points], [nanoseconds / 1e3 for nanoseconds, _ in points]


def latencies(seeds, percentiles, kind="read", load=0):
    """A Sample of each percentile, us."""
    return [seeds.of(lambda report, p=p: microseconds(report, p, kind, load)) for p in percentiles]


def draw_latencies(axes, seeds, n, label, load=0):
    """The latencies of one seed's reads, in the nth style: us against per cent of the reads."""
    shares, values = distribution(seeds.result(), load=load)
    axes.plot(values, [100 * share for share in shares], linestyle=pages.LINES[n % len(pages.LINES)], color=pages.COLOURS[n % len(pages.COLOURS)],
              drawstyle="steps-post", label=label)


def draw_rate(axes, seeds, n, label, kind="write"):
    """MB/s of one seed over time, in the nth style."""
    axes.plot(*curve(seeds.result(), kind), linestyle=pages.LINES[n % len(pages.LINES)], color=pages.COLOURS[n % len(pages.COLOURS)], label=label)
