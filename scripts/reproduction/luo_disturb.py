"""Remedies against read disturb that Luo et al. survey (section 4.2.2), on small drives of QLC with bit errors (scenarios/luo/read_disturb.yaml)."""

from dataclasses import dataclass

from claims import Claim, Kind, at_most
from luo_remedies import LESS, LOSSES, NULL, SOMEWHERE, everywhere
from samples import combined, divided

SCENARIO = "scenarios/luo/read_disturb.yaml"
REFRESH, PASS = "firmware.refresh.", "firmware.pass_voltage."
BY_ERRORS = {REFRESH + "reads": "0", REFRESH + "errors": "66"}
TUNED = BY_ERRORS | {PASS + "policy": "tuned", PASS + "correctable": "82", PASS + "interval": "0 s"}
CYCLES = [300]  # erases of every block before
READS = "16g"  # a million of 16 KiB


@dataclass(frozen=True)
class Case:
    """Settings of the scenario; `better_than`: the case that it is claimed to move fewer units than, and to lose no more reads."""

    name: str
    settings: dict
    source: str = ""
    better_than: str = ""


CASES = {case.name: case for case in (
    Case("no refresh", {REFRESH + "policy": "none"}),
    Case("blocks by their reads", {}),
    Case("regions by their reads", {REFRESH + "policy": "read-regions", REFRESH + "region_reads": "10000"}, "Werner et al. 2014", "blocks by their reads"),
    Case("blocks by their wrong bits", BY_ERRORS),
    Case("the same, pass voltage tuned, no lower than 96 %", TUNED | {PASS + "lowest": "96 %"}, "Cai et al. 2015", "blocks by their wrong bits"),
    Case("the same, pass voltage tuned, as low as the default", TUNED, "Cai et al. 2015", "blocks by their wrong bits"),
)}
# A small part of the drive, read where it has been written, in SLC mode, or after idle time has folded it.
MODES = {"in SLC mode": "false", "folded into QLC": "true"}
SMALL_PART = BY_ERRORS | {"firmware.pslc.policy": "all", "firmware.pslc.static": "16 MiB", "firmware.pslc.dynamic": "120 MB", "firmware.gc.idle_after": "100 ms",
                          "precondition.0.fill": "6 %", "load.0.size": "6%", "load.0.io_size": "4g", "age.cycles": str(CYCLES[0])}
MOVED, LOST, BITS = "flash.refresh.units_programmed", "error_correction.reads_lost", "error_correction.wrong_bits_per_frame"


class Disturb:
    """The runs. Each method returns Seeds."""

    def __init__(self, drives):
        self.runner = drives.runner
        self.cycles = CYCLES[:1] if drives.short else CYCLES

    def run(self, case, cycles):
        return self.runner.start_seeds(SCENARIO, case.settings | LOSSES | {"age.cycles": str(cycles), "load.0.io_size": READS})

    def small_part(self, mode):
        return self.runner.start_seeds(SCENARIO, SMALL_PART | LOSSES | {"precondition.0.idle": MODES[mode]})

    def figure(self, case, cycles, path):
        return self.run(case, cycles).of(lambda report: report.value("firmware." + path))

    def start_all(self):
        for cycles in self.cycles:
            for case in CASES.values():
                self.run(case, cycles)
        for mode in MODES:
            self.small_part(mode)

    def write(self, page):
        page.text("## Read disturb")
        page.text(f"""
A million reads by Zipf's law of a small QLC drive after {' or '.join(map(str, self.cycles))} cycles, with bit errors and more disturb than real (A; `{SCENARIO}` says how much). Moved are
units written by refresh; lost are reads that could not be decoded.
""")
        for cycles in self.cycles:
            page.table([f"{cycles} cycles", "source", "moved", "lost", "wrong bits per frame"],
                       [[case.name, case.source, *(self.figure(case, cycles, path).text(form) for path, form in ((MOVED, ",.0f"), (LOST, ",.0f"), (BITS, ".2f")))]
                        for case in CASES.values()])
        judged = []
        for case in CASES.values():
            if case.better_than:
                before = CASES[case.better_than]
                moved = [combined(divided, self.figure(case, cycles, MOVED), self.figure(before, cycles, MOVED)) for cycles in self.cycles]
                lost = [self.figure(case, cycles, LOST) - self.figure(before, cycles, LOST) for cycles in self.cycles]
                words = f"{case.name}, against {before.name}"
                judged += [everywhere(Claim(Kind.PREDICTED, f"{words}: units moved, everywhere", "fewer (S)", LESS, NULL, SOMEWHERE), moved),
                           everywhere(Claim(Kind.PREDICTED, f"{words}: reads lost, more of them, everywhere", "none (S)", at_most(0), ("no policy", 0), "a few of a million reads are lost, or none"), lost, ",.0f")]
        page.claims(*judged)
        self.write_modes(page)

    def write_modes(self, page):
        page.text("""
Does it matter that data are read from QLC? A sixteenth of the same drive, with pSLC, is read where it has been written, or after idle time has folded it: a quarter of a million reads, blocks
moved by their wrong bits. That a page in SLC mode has a hundredth of the wrong bits is put in (`slc_error_share`, A).
""")
        found = {mode: [self.small_part(mode).of(lambda report, path=path: report.value("firmware." + path)) for path in (MOVED, LOST, BITS)] for mode in MODES}
        page.table(["", "moved", "lost", "wrong bits per frame"], [[mode, moved.text(",.0f"), lost.text(",.0f"), bits.text()] for mode, (moved, lost, bits) in found.items()])
        slc, qlc = found.values()
        claim = Claim(Kind.GIVEN, "read in SLC mode over read in QLC: {}", "QLC suffers more (S)", at_most(0.5))
        page.claims(claim.about("wrong bits per frame").judged(slc[2] / qlc[2], form=".3f"), claim.about("units moved").judged(slc[0] / qlc[0]))
