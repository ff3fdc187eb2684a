"""Remedies against read disturb that Luo et al. survey (section 4.2.2), on small drives of QLC with bit errors (scenarios/luo/read_*.yaml)."""

from dataclasses import dataclass

from luo_drives import yes

REFRESH, PASS = "firmware.refresh.", "firmware.pass_voltage."
BY_ERRORS = {REFRESH + "reads": "0", REFRESH + "errors": "66"}
TUNED = {PASS + "policy": "tuned", PASS + "correctable": "82", PASS + "interval": "0 s", PASS + "lowest": "96 %"}


@dataclass(frozen=True)
class Case:
    """Settings of a scenario; `better_than`: the case that it is claimed to move fewer units than."""

    name: str
    scenario: str
    settings: dict
    source: str = ""
    better_than: str = ""


CASES = [
    Case("no refresh", "read_disturb", {REFRESH + "policy": "none"}),
    Case("blocks by their reads", "read_disturb", {}),
    Case("regions by their reads (refresh: read-regions)", "read_disturb", {REFRESH + "policy": "read-regions", REFRESH + "region_reads": "10000"},
         "Werner et al. 2014", "blocks by their reads"),
    Case("blocks by their wrong bits", "read_disturb", BY_ERRORS),
    Case("the same, pass voltage tuned (pass_voltage: tuned)", "read_disturb", BY_ERRORS | TUNED, "Cai et al. 2015", "blocks by their wrong bits"),
    Case("worn unevenly, blocks by their wrong bits", "read_hot_placement", {}),
    Case("the same, into little-worn blocks (placement: little-worn)", "read_hot_placement", {"firmware.placement.policy": "little-worn"}, "Li et al. 2021",
         "worn unevenly, blocks by their wrong bits"),
]


class Disturb:
    """The runs. Each method returns a future."""

    def __init__(self, drives):
        self.drives = drives
        self.cases = [case for case in CASES if case.scenario == "read_disturb"] if drives.short else CASES

    def run(self, case):
        return self.drives.runner.start(f"scenarios/luo/{case.scenario}.yaml", case.settings)

    def start_all(self):
        for case in self.cases:
            self.run(case)

    def write(self, page):
        page.text("### Read disturb")
        page.text("""
Two million reads by Zipf's law of a small QLC drive with bit errors and more disturb than real (A; the scenarios say how much). Moved are units written by
refresh; lost are reads that could not be decoded.
""")
        figures = {}
        for case in self.cases:
            report = self.run(case).result()
            figures[case.name] = tuple(report.value("firmware." + path) for path in (
                "flash.refresh.units_programmed", "error_correction.reads_lost", "error_correction.wrong_bits_per_frame"))
        rows = []
        for case in self.cases:
            moved, lost, bits = figures[case.name]
            holds = ""
            if case.better_than:
                before = figures[case.better_than]
                holds = yes(moved < before[0] and lost <= before[1])
            rows.append([case.name, case.source, f"{moved:,}", f"{lost:,}", f"{bits:.2f}", holds])
        page.table(["", "source", "moved", "lost", "wrong bits per frame", "fewer moved than in the row above, none more lost (S)"], rows)
