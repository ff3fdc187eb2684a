"""Enterprise drives that are written at random at full speed: write amplification by span, skewed writes, and the course of the overwriting of a
filled drive: cliff, undershoot, recovery."""

import math

import real_measured as measured
from page import curve
from samples import sample

TOLERANCE = 0.10  # of write amplifications, bandwidths and the cliff's place, as the issue set it before any run
SHAPE_TOLERANCE = 0.15  # of places on the way back; set with the figures in sight
SEEDS = 3
MICRON, SOLIDIGM = "scenarios/real/micron_7450max.yaml", "scenarios/real/solidigm_p5520.yaml"
USER_BYTES = 8e9  # of both scenarios
BEFORE = (0.02, 0.12)  # shares of the drive over which the bandwidth before the cliff is taken, as of the measurement
FINAL_FROM = 1.4  # and from where on it is the final one
ONE_THREAD = 435_828  # writes a second: what one thread of the source brought to the P5520 where nothing was collected

SPANS = {745: "100 %", 670: "90 %", 596: "80 %", 521: "70 %", 447: "60 %", 372: "50 %"}  # GiB: share of the scenario's drive


def random_load(extra, short, amount="2g"):
    if short:
        amount = "64m"
    return f"rw: randwrite, bs: 4k, iodepth: 512, io_size: {amount}{extra}"


class Overwrite:
    """The runs, and the three sections."""

    def __init__(self, drafts):
        self.drafts = drafts

    @property
    def turns(self):
        """How often the drive is overwritten in steady state before anything is measured."""
        return "0.1x" if self.drafts.short else "3x"

    # ---- runs

    def span(self, share):
        steps = f"{{fill: {share}, order: sequential}}, {{overwrite: {self.turns}, region: {share}}}"
        return self.drafts.start(MICRON, random_load(f", size: {share}", self.drafts.short), precondition=steps, seeds=SEEDS)

    def skewed(self, scenario, words):
        """`words`: fio's random_distribution; or the share of the drive that gets all writes, the rest lying there."""
        region = words.endswith("%")
        places = ", hot_set: 1" if words.startswith("zipf") else ""  # before and while it is measured, as when one job goes on
        steps = "{fill: 100 %, order: sequential}, "
        steps += f"{{overwrite: {self.turns}, region: {words}}}" if region else f'{{overwrite: {self.turns}, random_distribution: "{words}"{places}}}'
        extra = f", size: {words}" if region else f', random_distribution: "{words}"{places}'
        # Over more than a turn: victims come in stretches of cold and of hot data.
        return self.drafts.start(scenario, random_load(extra, self.drafts.short, "12g"), precondition=steps, seeds=SEEDS)

    def course(self, scenario):
        """A drive filled in order and then overwritten at random, as far as the source's course is compared."""
        rate = f", rate_iops: {ONE_THREAD}" if scenario == SOLIDIGM else ""
        amount = "256m" if self.drafts.short else "16g"
        steps = "{fill: 100 %, order: sequential}"
        load = f"rw: randwrite, bs: 4k, iodepth: {256 if rate else 512}, io_size: {amount}{rate}"
        return self.drafts.start(scenario, load, precondition=steps, seeds=SEEDS)

    def filling(self, scenario):
        amount = "64m" if self.drafts.short else "4g"
        return self.drafts.start(scenario, f"rw: write, bs: 512k, iodepth: 8, io_size: {amount}", precondition="", certain=True)

    def start(self):
        for share in SPANS.values():
            self.span(share)
        for scenario in (MICRON, SOLIDIGM):
            self.course(scenario)
            self.filling(scenario)

    def start_skew(self):
        for words in measured.MICRON_SKEW:
            self.skewed(MICRON, words)
        for words in measured.SOLIDIGM_SKEW:
            self.skewed(SOLIDIGM, words)

    # ---- sections

    def write(self, page):
        page.text("## Overwriting at full speed")
        page.text(f"""
A sanitized drive is filled in order and then overwritten at random, uniformly, as fast as it goes. **Hypothesis**, from the course of the measured bandwidths and the skewed writes below: collection begins only
when no free block is left, and takes the blocks in the order in which they were written (`firmware.gc.policy: fifo`), data of the host and moved ones in the
same blocks. Then a block that is collected after a share x of the drive was overwritten holds exp(-x) of its data, and one number, the spare flash, gives write amplification,
the place of the cliff, how deep it goes, how it comes back, and that it overshoots after a turn. **Fitted**: program time, by the bandwidth of the sequential fill, and spare flash,
by write amplification at full span. **Judged**: everything else, within {TOLERANCE:.0%} (places on the way back: {SHAPE_TOLERANCE:.0%}). **Bold** is outside.

Media bytes of the 7450 MAX are {measured.MICRON_MEDIA} times the host's even while it is filled in order, so its counter includes something that the emulator does not write (parity or
tables, we do not know); emulated write amplification has that factor on top.
""")
        self.write_spans(page)
        for name, scenario, of in (("Micron 7450 MAX 800 GB", MICRON, measured.MICRON_COURSE), ("Solidigm D7-P5520 1.92 TB", SOLIDIGM, measured.SOLIDIGM_COURSE)):
            self.write_course(page, name, scenario, of)

    def write_spans(self, page):
        page.text("### Micron 7450 MAX: write amplification by span")
        rows = []
        for gib, share in SPANS.items():
            amplification, rate = measured.MICRON_SPANS[gib]
            seeds = self.span(share)
            found, writes = amplification_of(seeds) * measured.MICRON_MEDIA, rate_of(seeds)
            rows.append([f"{gib} GiB" + (" (fitted)" if gib == 745 else ""), f"{amplification:.2f}", found.text(".2f"), off(found / amplification), f"{rate:.0f}",
                         writes.text(".0f"), off(writes / rate)])
        page.table(["span", "write amplification", "emulated", "", "thousand writes/s", "emulated", ""], rows)
        page.text("The rest of the drive holds nothing.")

    def write_course(self, page, name, scenario, of):
        page.text(f"### {name}: cliff, undershoot, recovery")
        seeds = self.course(scenario)
        fill = self.filling(scenario).of(lambda report: report.content["results"]["total"]["bandwidth"]["value"] / 1e6)
        amplification = amplification_of(seeds, last=0.25) * of.media
        parts = seeds.of
        found = {key: parts(lambda report, key=key: landmarks(report)[key]) for key in LANDMARKS}
        rows = [["sequential fill, MB/s (fitted)", f"{of.fill:,.0f}", fill.text(",.0f"), off(fill / of.fill)],
                ["write amplification in the end (fitted)", f"{of.amplification:.2f}", amplification.text(".2f"), off(amplification / of.amplification)]]
        for key, (words, form, tolerance) in LANDMARKS.items():
            real = getattr(of, key)
            rows.append([words, f"{real:{form}}", found[key].text(form), off(found[key] / real, tolerance)])
        page.table(["", "measured", "emulated", ""], rows)
        alpha = spare_of(of.amplification / of.media)
        page.text(f"""
Without the emulator: of write amplification {of.amplification:.2f} the closed form of this order (u = exp(-a (1 - u)), 1 / (1 - u) = {of.amplification / of.media:.2f}) makes a
spare flash of {alpha - 1:.3f} of the drive, and there the cliff must lie: {off(sample((alpha - 1) / of.cliff))} of the measured place. Means are over 1.2 % of the drive's
capacity, those of "shortest means" over {of.shortest:.1%}.
""")
        with page.figure(f"course_{scenario.split('/')[-1].split('.')[0]}", f"{name}: bandwidth over the share of the drive that was overwritten, measured and emulated") as axes:
            curve(axes, list(of.points), [sample(value) for value in of.points.values()], 0, "measured")
            curve(axes, list(of.points), [parts(lambda report, at=at: around(report, at)) for at in of.points], 1, "emulated")
            axes.set_xlabel("overwritten, drives")
            axes.set_ylabel("bandwidth [MB/s]")
            axes.set_ylim(bottom=0)
            axes.legend(frameon=False)

    def write_skew(self, page):
        page.text("## Skewed overwriting")
        page.text(f"""
The drives are full and are overwritten until nothing changes: so many per cent of the writes go to so many of the drive. Nothing was fitted to these figures, but
that victims are taken in the order in which they were written, and that moved data are not kept apart, was concluded from them: greedy collection that keeps them apart makes
skewed writes cheaper, on these drives they are dearer. Judged within {TOLERANCE:.0%}; beside it the closed form of the order for two kinds of data, with the spare flash of the span of
745 GiB: a + sum of s c / (exp(c) - 1), c being how often the data of a kind, a share s of the drive, are overwritten in a turn.
""")
        rows, good = [], []
        base = measured.MICRON_SPANS[745][1] * measured.MICRON_SPANS[745][0] / measured.MICRON_MEDIA
        alpha = spare_of(measured.MICRON_SPANS[745][0] / measured.MICRON_MEDIA)
        for name, scenario, of in (("7450 MAX", MICRON, measured.MICRON_SKEW), ("P5520", SOLIDIGM, measured.SOLIDIGM_SKEW)):
            for words, rate in of.items():
                writes = rate_of(self.skewed(scenario, words))
                good.append(abs(writes.mean / rate - 1) <= TOLERANCE)
                form = base / amplification_in_order(alpha, kinds_of(words)) if scenario == MICRON and kinds_of(words) else None
                rows.append([name, in_words(words), f"{rate:.1f}", writes.text(".1f"), off(writes / rate), f"{form:.1f}" if form else "", off(sample(form / rate)) if form else ""])
        page.table(["drive", "writes", "thousand writes/s", "emulated", "", "closed form", ""], rows)
        page.text(f"**{sum(good)} of {len(good)}** within {TOLERANCE:.0%}.")


# ------------------------------------------------------------------------------------------------------------------------------------- figures of a run


def rate_of(seeds):
    return seeds.of(lambda report: report.iops / 1000)


def amplification_of(seeds, last=1.0):
    """Write amplification over the last part of a run."""
    def of(report):
        values = [value for value in report.content["series"]["write_amplification"] if value]
        values = values[-max(1, int(last * len(values))):]
        return sum(values) / len(values)

    if last < 1:
        return seeds.of(of)
    return seeds.of(lambda report: report.value("firmware.write_amplification.total"))


def course_of(report):
    """(share of the drive overwritten, bandwidth in MB/s, share in this step) over the run."""
    series = report.content["results"]["total"]["series"]
    step, at, points = series["step"]["value"], 0.0, []
    for rate in series["write"]["iops"]:
        share = (rate or 0) * 4096 * step / USER_BYTES
        points.append((at + share / 2, (rate or 0) * 4096 / 1e6, share))
        at += share
    return points


def means(points, width):
    """The same over windows of `width` of the drive; harmonic, as time goes."""
    found, shares, times, places = [], 0.0, 0.0, 0.0
    for at, bandwidth, share in points:
        if share <= 0:
            continue
        shares, times, places = shares + share, times + share / bandwidth, places + share * at
        if shares >= width:
            found.append((places / shares, shares / times))
            shares = times = places = 0.0
    return found


def around(report, at, width=0.012):
    """MB/s around a place of the course."""
    near = [(share, share / bandwidth) for x, bandwidth, share in course_of(report) if share > 0 and abs(x - at) <= width]
    return sum(share for share, _ in near) / sum(time for _, time in near) if near else float("nan")


LANDMARKS = {
    "before": ("before the cliff, MB/s", ",.0f", TOLERANCE),
    "cliff": ("cliff at, drives", ".3f", TOLERANCE),
    "trough": ("trough, MB/s", ",.0f", TOLERANCE),
    "final": ("final, MB/s", ",.0f", TOLERANCE),
    "depth": ("trough over final", ".2f", TOLERANCE),
    "shortest_depth": ("the same with the shortest means", ".2f", TOLERANCE),
    "recovered": ("95 % of final again at, drives", ".2f", SHAPE_TOLERANCE),
    "highest": ("highest after that, MB/s", ",.0f", TOLERANCE),
    "highest_at": ("at, drives", ".2f", SHAPE_TOLERANCE),
}


def landmarks(report):
    """What LANDMARKS names, of a run; nan where its course is too short for it."""
    points = course_of(report)
    plain = means(points, 0.012)
    none = float("nan")
    found = dict.fromkeys(LANDMARKS, none)
    final = [bandwidth for at, bandwidth in plain if at >= FINAL_FROM]
    before = [bandwidth for at, bandwidth in plain if BEFORE[0] <= at < BEFORE[1]]
    if not final or not before:
        return found
    found["before"], found["final"] = sum(before) / len(before), sum(final) / len(final)
    middle = (found["before"] + found["final"]) / 2
    found["cliff"] = next((at for at, bandwidth in means(points, 0.003) if at > BEFORE[0] and bandwidth < middle), none)
    trough_at, found["trough"] = min(plain, key=lambda point: point[1])
    found["depth"] = found["trough"] / found["final"]
    found["shortest_depth"] = min(bandwidth for _, bandwidth in means(points, 0.005)) / found["final"]
    found["recovered"] = next((at for at, bandwidth in plain if at > trough_at and bandwidth >= 0.95 * found["final"]), none)
    found["highest"], found["highest_at"] = max((bandwidth, at) for at, bandwidth in plain if at > trough_at)
    return found


# ---------------------------------------------------------------------------------------------------------------------------------------- closed forms


def spare_of(amplification):
    """Flash over user capacity of a drive that collects in order and has this write amplification under uniform writes (Robinson 1996)."""
    return -math.log(1 - 1 / amplification) * amplification


def amplification_in_order(alpha, kinds):
    """Write amplification of collection in order: `kinds`: (share of the drive, share of the writes)."""
    def used(turn):
        rates = [(share, turn * writes / share) for share, writes in kinds]
        return turn + sum(share * (rate / math.expm1(rate) if rate > 0 else 1) for share, rate in rates)

    low, high = 0.0, alpha
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if used(middle) < alpha else (low, middle)
    return alpha / low


def kinds_of(words):
    """Kinds of data of a zoned load, or of one on a part of the drive; nothing of other distributions."""
    if words.endswith("%"):
        part = float(words[:-1]) / 100
        return [(part, 1.0), (1 - part, 0.0)]
    if not words.startswith("zoned:"):
        return []
    return [(float(size) / 100, float(access) / 100) for access, size in (zone.split("/") for zone in words[len("zoned:"):].split(":"))]


def in_words(words):
    if words.endswith("%"):
        return f"all to {words} of the drive"
    if not words.startswith("zoned:"):
        return words.replace("zipf:", "zipf, theta ")
    access, size = words[len("zoned:"):].split(":")[-1].split("/")
    return f"{access} % to {size} % of the drive"


def off(ratio, tolerance=TOLERANCE):
    """+3 %, bold outside of the tolerance."""
    mean = sample(ratio).mean
    text = f"{(mean - 1) * 100:+.0f} %"
    return text if not math.isfinite(mean) or abs(mean - 1) <= tolerance else f"**{text}**"
