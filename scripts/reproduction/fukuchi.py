"""Fukuchi et al., SCM/NAND hybrid SSD with four kinds of NAND: Table 2, Figures 3, 5 and 6, and what they depend on.

One drive (scenarios/fukuchi/hybrid.yaml) for all parts and workloads. Per workload only its length and the size of the drive, a
fixed multiple of the load's footprint, differ; nothing is chosen by the result.
"""

from dataclasses import dataclass

import numpy

import page as pages
import runs

SCENARIO = "scenarios/fukuchi/hybrid.yaml"
CAPACITY = 2.0  # user capacity as a multiple of the load's footprint (A)
OVERWRITE = 2.6  # how often the footprint is overwritten before the load begins (A)


@dataclass(frozen=True)
class Workload:
    """A workload, what Table 2 says of it (gain of CT over MLC), and the ratio of NAND reads to writes that this implies (D)."""

    name: str
    published_gain: float
    implied_ratio: float


WORKLOADS = [
    Workload("prxy_0", 1.067, 0.79),
    Workload("proj_0", 1.071, 0.67),
    Workload("hm_0", 1.053, 1.24),
    Workload("web_1", 1.064, 0.89),
    Workload("prxy_1", 0.999, 3.40),
    Workload("proj_3", 1.019, 2.51),
    Workload("src2_1", 1.036, 1.84),
]
WRITE_INTENSIVE = ["prxy_0", "proj_0", "hm_0", "web_1"]

PARTS = {"2D FG MLC": "2d-fg-mlc", "3D CT TLC": "3d-ct-tlc", "3D FG TLC": "3d-fg-tlc", "2D FG TLC": "2d-fg-tlc"}

# The CT part with one property at a time replaced by the MLC part's (Fig. 4).
CASES = {
    "case 1: block size": {"ssd.flash.part.pages_per_block": "255"},  # the whole word lines of 3 pages in 256
    "case 2: latency": {
        "ssd.flash.part.read_latency": "[44 us]",
        "ssd.flash.part.program_latency": "[1185 us]",
        "ssd.flash.part.erase_latency": "3300 us",
    },
    "case 3: write unit": {"ssd.flash.part.program_unit": "page"},
}

# What the figures depend on: one thing changed at a time, for one write-intensive and two read-intensive workloads.
ARRIVAL = {"ssd.flash.scheduling.policy": "out-of-order"}  # each die in the order of arrival: reads overtake nothing
DIRTY = {"firmware.cache.write_back": "dirty"}
SWEEPS = {
    "as in the scenario": {},
    "SCM 3 % of the flash": {"ssd.scm.capacity": "3 %"},
    "SCM 5 %": {"ssd.scm.capacity": "5 %"},
    "SCM 8 %": {"ssd.scm.capacity": "8 %"},
    "over-provisioning 10 %": {"ssd.flash.over_provisioning": "10 %"},
    "drive 1.2 x the footprint": {"capacity": 1.2},
    "drive 4 x the footprint": {"capacity": 4.0},
    "2 channels": {"ssd.flash.channels": "2"},
    "8 channels": {"ssd.flash.channels": "8"},
    "queue depth 8": {"load.0.queue_depth": "8"},
    "queue depth 128": {"load.0.queue_depth": "128", "ssd.host.queue_depth": "128"},
    "dies in order of arrival": ARRIVAL,
    "only dirty lines written": DIRTY,
}
SWEPT = ["prxy_0", "prxy_1", "proj_3"]
LONG = {"prxy_1": ["as in the scenario", "SCM 3 % of the flash", "drive 4 x the footprint", "dies in order of arrival",
                   "only dirty lines written"]}  # runs that take long: not every sweep


def swept(name, label):
    return label in LONG.get(name, SWEEPS)


class Study:
    """The runs of this paper. Each method returns a future, so that all can be asked for before the first is needed."""

    def __init__(self, runner):
        self.runner = runner
        self.sizes = {workload.name: runs.published_size(workload.name) for workload in WORKLOADS}

    def load(self, name):
        """Which part of a workload is run untimed, timed, and measured; never more than the volume has."""
        requests, _ = self.sizes[name]
        warm_up = min(2_000_000, int(0.4 * requests))
        # prxy_1 is so hot that few of its requests reach flash: free SCM takes three times as long to come down.
        ramp = min(1_800_000 if name == "prxy_1" else 600_000, int(0.3 * requests))
        measured = min(300_000, int(0.29 * requests))
        return warm_up, ramp, measured

    def run(self, name, part, changes=None):
        changes = dict(changes or {})
        capacity = changes.pop("capacity", CAPACITY)
        warm_up, ramp, measured = self.load(name)
        _, footprint = self.sizes[name]
        size = capacity * footprint
        settings = {"load.0.profile": name}
        if self.runner.short:  # a tenth of the load on the smallest drive that whole blocks of every part fit
            settings["load.0.scale"] = "0.1"
            footprint /= 10
            size = max(size / 10, 4e9)
        settings |= {
            "ssd.flash.part.file": f"parts/nand/{PARTS[part]}.yaml",
            "ssd.flash.user_capacity": f"{size / 1e9:.3f} GB",
            "precondition.0.fill": f"{100 * footprint / size:.2f} %",
            "precondition.1.overwrite": f"{OVERWRITE}x",
            "precondition.1.region": f"{100 * footprint / size:.2f} %",
            "load.0.warm_up": str(warm_up),
            "load.0.ramp_requests": str(ramp),
            "load.0.requests": str(warm_up + ramp + measured),
        }
        settings.update(changes)
        return self.runner.start(SCENARIO, settings)

    def start_all(self):
        for workload in WORKLOADS:
            for part in PARTS:
                self.run(workload.name, part)
            for case in CASES.values():
                self.run(workload.name, "3D CT TLC", case)
            for part in ("2D FG MLC", "3D CT TLC"):
                self.run(workload.name, part, DIRTY)
            self.run(workload.name, "3D CT TLC", ARRIVAL)
            self.run(workload.name, "3D CT TLC", CASES["case 3: write unit"] | ARRIVAL)
        for name in SWEPT:
            for label, changes in SWEEPS.items():
                for part in ("2D FG MLC", "3D CT TLC"):
                    if swept(name, label):
                        self.run(name, part, changes)

    def report(self, name, part, changes=None):
        return self.run(name, part, changes).result()

    def gain(self, name, part="3D CT TLC", changes=None):
        """IOPS with `part` over IOPS with the MLC part."""
        return self.report(name, part, changes).iops / self.report(name, "2D FG MLC", changes).iops


def write_introduction(page, study):
    page.text("# SCM/NAND hybrid drive with four kinds of NAND (Fukuchi et al.)")
    page.text(f"""
M. Fukuchi, Y. Sakaki, C. Matsui and K. Takeuchi compare four kinds of NAND flash behind a storage-class memory that absorbs all
writes (NV-WB). This page is written by `scripts/reproduce fukuchi`. Everything is one drive, `{SCENARIO}`; its assumptions stand
there, each with its reason. Marks: S stated in the paper, F found in other public text, D derived, A assumption of this project.

The workloads are **synthetic**: made up from the published statistics of the MSR Cambridge volumes (`tlmssd profile prxy_0` prints
target and generated figures side by side). The originals replay in their place with `--set load.0.traces_folder=FOLDER`.
""")
    rows = []
    for workload in WORKLOADS:
        warm_up, ramp, measured = study.load(workload.name)
        requests, footprint = study.sizes[workload.name]
        rows.append([workload.name, f"{footprint / 1e9:.2f} GB", f"{CAPACITY * footprint / 1e9:.2f} GB", f"{requests:,.0f}",
                     f"{warm_up:,}", f"{ramp:,}", f"{measured:,}"])
    page.table(["workload", "footprint", "drive", "requests published", "untimed", "timed, not measured", "measured"], rows)


def write_figure_3(page, study):
    page.text("## Figure 3: IOPS with each part, relative to 2D FG MLC")
    relative = {part: [study.gain(workload.name, part) for workload in WORKLOADS] for part in PARTS}
    with page.figure("figure3", "IOPS of the four parts relative to 2D FG MLC") as axes:
        pages.bars(axes, [workload.name for workload in WORKLOADS], relative)
        axes.set_ylabel("IOPS / IOPS of MLC")
    rows = []
    for n, workload in enumerate(WORKLOADS):
        rows.append([workload.name, f"{study.report(workload.name, '2D FG MLC').iops:,.0f}"]
                    + [f"{values[n]:.3f}" for values in relative.values()])
    page.table(["workload", "IOPS of MLC"] + list(PARTS), rows)
    worst = min(relative["3D FG TLC"])
    order = all(relative["3D CT TLC"][n] > 1 > relative["3D FG TLC"][n] > relative["2D FG TLC"][n]
                for n, workload in enumerate(WORKLOADS) if workload.name in WRITE_INTENSIVE)
    page.text(f"""
- Published (S): CT best for all but prxy_1, 2D FG TLC worst of all. Measured: CT > MLC > 3D FG TLC > 2D FG TLC for every
  write-intensive workload: **{"yes" if order else "NO"}**.
- Published (S): 3D FG TLC falls to 0.54 of MLC at worst (gate: 0.46 to 0.65). Measured: **{worst:.2f}**
  ({"inside" if 0.46 <= worst <= 0.65 else "OUTSIDE"}).
""")


def write_table_2(page, study):
    page.text("## Table 2: gain of 3D CT TLC over 2D FG MLC")
    rows = []
    for workload in WORKLOADS:
        gain = study.gain(workload.name)
        off = 100 * (gain - workload.published_gain)
        rows.append([workload.name, pages.percent(workload.published_gain), pages.percent(gain), f"{off:+.1f}",
                     "yes" if abs(off) <= 2 else "**no**"])
    page.table(["workload", "published (S)", "measured", "difference, points", "within 2 points"], rows)
    inside = sum(row[-1] == "yes" for row in rows)
    page.text(f"{inside} of {len(rows)} within 2 percentage points. What the others depend on is shown below.")


def write_figure_5(page, study):
    page.text("## Figure 5: one property of the CT part at a time replaced by the MLC part's")
    page.text("Change of IOPS against the CT part as it is.")
    def against_ct(name, settings, order):
        return 100 * (study.report(name, "3D CT TLC", settings | order).iops / study.report(name, "3D CT TLC", order).iops - 1)

    change = {case: [against_ct(w.name, settings, {}) for w in WORKLOADS] for case, settings in CASES.items()}
    change["case 3, dies in order of arrival"] = [against_ct(w.name, CASES["case 3: write unit"], ARRIVAL) for w in WORKLOADS]
    with page.figure("figure5", "Sensitivity of the IOPS with the CT part") as axes:
        pages.bars(axes, [workload.name for workload in WORKLOADS], change)
        axes.set_ylabel("change of IOPS, %")
    page.table(["workload"] + list(change),
               [[w.name] + [f"{values[n]:+.1f} %" for values in change.values()] for n, w in enumerate(WORKLOADS)])
    size, latency, unit, unit_in_order = ([abs(value) for value in values] for values in change.values())
    proj_3 = [w.name for w in WORKLOADS].index("proj_3")
    page.text(f"""
- Published (S): case 1 has almost no effect. Measured: at most {max(size):.1f} %.
- Published (S): case 2 has the largest effect, up to 6.0 %. Measured: up to {max(latency):.1f} %.
- Published (S): case 3 is visible for proj_3 only. Measured: at most {max(unit):.1f} % anywhere as long as reads overtake the programs
  that wait. When each die works in the order of arrival, reads queue behind word lines of 3.2 ms, and case 3 changes proj_3 by
  {unit_in_order[proj_3]:.1f} %, the others by {max(v for n, v in enumerate(unit_in_order) if n != proj_3):.1f} % at most. The paper
  does not say how its controller schedules.
""")


def write_figure_6(page, study):
    page.text("## Figure 6: gain against the ratio of NAND reads to NAND writes")
    ratios = [study.report(w.name, "2D FG MLC").nand_read_write_ratio for w in WORKLOADS]
    gains = [100 * (study.gain(w.name) - 1) for w in WORKLOADS]
    dirty = DIRTY
    dirty_ratios = [study.report(w.name, "2D FG MLC", dirty).nand_read_write_ratio for w in WORKLOADS]
    dirty_gains = [100 * (study.gain(w.name, changes=dirty) - 1) for w in WORKLOADS]
    with page.figure("figure6", "Gain of CT over MLC against the ratio of NAND reads to writes", height=3.6) as axes:
        axes.scatter(ratios, gains, label="measured", color=pages.COLOURS[0])
        axes.scatter(dirty_ratios, dirty_gains, label="measured, only dirty lines written", color=pages.COLOURS[1], marker="^")
        axes.scatter([w.implied_ratio for w in WORKLOADS], [100 * (w.published_gain - 1) for w in WORKLOADS],
                     label="published gain, implied ratio (D)", color=pages.COLOURS[2], marker="s")
        grid = numpy.linspace(0.3, 50, 500)
        axes.plot(grid, serial_gain(grid), color=pages.COLOURS[6], label="each die serial (closed form, D)")
        axes.set_xscale("log")
        axes.set_xlabel("NAND reads / NAND writes")
        axes.set_ylabel("gain of CT over MLC, %")
        axes.axhline(0, color="black", linewidth=0.8)
        axes.legend(frameon=False)
    page.table(["workload", "ratio implied by Table 2 (D)", "ratio measured", "gain measured", "closed form at that ratio",
                "ratio, only dirty lines written", "gain, only dirty lines written"],
               [[w.name, f"{w.implied_ratio:.2f}", f"{ratios[n]:.2f}", f"{gains[n]:+.1f} %",
                 f"{serial_gain(ratios[n]):+.1f} %", f"{dirty_ratios[n]:.2f}", f"{dirty_gains[n]:+.1f} %"]
                for n, w in enumerate(WORKLOADS)])
    # A run that has written nothing to flash has no ratio (short loads).
    points = [(r, g) for r, g in zip(ratios + dirty_ratios, gains + dirty_gains) if numpy.isfinite(r) and r > 0]
    every_ratio, every_gain = numpy.log([r for r, _ in points]), numpy.array([g for _, g in points])
    correlation = numpy.corrcoef(every_ratio, every_gain)[0, 1]
    slope, intercept = numpy.polyfit(every_ratio, every_gain, 1)
    page.text(f"""
- Published (S): negative correlation; break-even near 3.4 (D). Measured over all {len(every_gain)} points: correlation of the gain
  with the logarithm of the ratio **{correlation:.2f}**; the fitted line crosses zero at a ratio of
  **{numpy.exp(-intercept / slope):.1f}**. With the {len(gains)} points of the scenario alone the correlation with the ratio is
  {numpy.corrcoef(ratios, gains)[0, 1]:.2f}.
- The closed form: a die that does one thing at a time spends 41 us of bus per page beside the latencies of Table 1, so that the gain
  is (1185 + 41 + r (44 + 41)) / (1083 + 41 + r (76 + 41)) - 1 at a ratio r, which is zero at r = {break_even():.2f}.
""")


def serial_gain(ratio):
    """Gain of CT over MLC in per cent when each die does one thing at a time."""
    return 100 * ((1185 + 41 + ratio * (44 + 41)) / (1083 + 41 + ratio * (76 + 41)) - 1)


def break_even():
    return (1185 - 1083) / (76 - 44)


def write_evictions(page, study):
    page.text("## What an eviction writes")
    dirty = DIRTY
    rows = []
    for w in WORKLOADS:
        rows.append([w.name, pages.percent(w.published_gain), f"{w.implied_ratio:.2f}", pages.percent(study.gain(w.name)),
                     f"{study.report(w.name, '2D FG MLC').nand_read_write_ratio:.2f}",
                     pages.percent(study.gain(w.name, changes=dirty)),
                     f"{study.report(w.name, '2D FG MLC', dirty).nand_read_write_ratio:.2f}"])
    page.table(["workload", "gain published", "ratio implied", "gain, every line written", "ratio", "gain, only dirty lines written",
                "ratio"], rows)
    page.text("""
The paper says that data read from NAND are copied into the SCM and that data move to NAND when free SCM runs out; it does not say
whether a line that was only read is written back. If it were not, src2_1 with 2 % writes and proj_3 with 5 % would hardly write to
NAND at all: reads would outnumber writes by ten and more, and the CT part, which reads more slowly, would lose clearly. The published
gains of +3.6 % and +1.9 % exclude that. So the SCM is the home of what was copied into it (`write_back: all`, A), for all workloads
alike.
""")


def write_sweeps(page, study):
    page.text("## What the gain of CT over MLC depends on")
    def cell(name, label):
        if not swept(name, label):
            return ""
        changes = SWEEPS[label]
        return (f"{pages.percent(study.gain(name, changes=changes))} "
                f"({study.report(name, '2D FG MLC', changes).nand_read_write_ratio:.2f})")

    page.table(["drive"] + [f"{name}: gain (NAND reads / writes)" for name in SWEPT],
               [[label] + [cell(name, label) for name in SWEPT] for label in SWEEPS])
    missed = [w for w in WORKLOADS if abs(study.gain(w.name) - w.published_gain) > 0.02]
    for w in missed:
        ratio = study.report(w.name, "2D FG MLC").nand_read_write_ratio
        dirty_ratio = study.report(w.name, "2D FG MLC", DIRTY).nand_read_write_ratio
        page.text(f"""
**{w.name}** misses its published gain of {pages.percent(w.published_gain)} by more than 2 points. That gain implies {w.implied_ratio:.2f} NAND
reads per NAND write (D); the synthetic load makes {ratio:.2f} when every line is written back and {dirty_ratio:.2f} when only dirty ones are.
The closed form above, which the other workloads follow, gives {serial_gain(w.implied_ratio):+.1f} % at the implied ratio and
{serial_gain(ratio):+.1f} % at the measured one: the drive answers to the ratio as published, the load does not have it. None of the drive's
parameters in the table brings it there; how often a load comes back to what it has read depends on the popularity of its data, which
the published statistics do not tell (`tlmssd profile {w.name}` prints what they do, and where they contradict each other).
""")


def reproduce(options, runner):
    study = Study(runner)
    study.start_all()
    page = pages.Page(options.out, "fukuchi")
    write_introduction(page, study)
    write_table_2(page, study)
    write_figure_3(page, study)
    write_figure_5(page, study)
    write_figure_6(page, study)
    write_evictions(page, study)
    write_sweeps(page, study)
    runs.close(page, options, runner)


if __name__ == "__main__":
    runs.main(reproduce, __doc__)
