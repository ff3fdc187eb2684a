"""The remedies against read disturb that Luo et al. survey (section 4.2), on scenarios of their own (scenarios/luo/read_disturb.yaml and read_hot_placement.yaml)."""

from dataclasses import dataclass

from luo_drives import yes

DISTURB, PLACEMENT = "scenarios/luo/read_disturb.yaml", "scenarios/luo/read_hot_placement.yaml"
NO_LIMIT = {"firmware.refresh.policy": "none"}
BY_ERRORS = {"firmware.refresh.reads": "0", "firmware.refresh.errors": "66"}
REGIONS = {"firmware.refresh.policy": "read-regions", "firmware.refresh.region_reads": "10000"}


def tuned(lowest):
    return {"firmware.pass_voltage.policy": "tuned", "firmware.pass_voltage.correctable": "82", "firmware.pass_voltage.interval": "0 s",
            "firmware.pass_voltage.lowest": lowest}


@dataclass(frozen=True)
class Variant:
    name: str
    scenario: str
    settings: dict


VARIANTS = [
    Variant("nothing", DISTURB, NO_LIMIT),
    Variant("refresh by reads of a block", DISTURB, {}),
    Variant("refresh by reads of a region", DISTURB, REGIONS),
    Variant("pass voltage tuned, no refresh", DISTURB, NO_LIMIT | tuned("94 %")),
    Variant("refresh by corrected bits", DISTURB, BY_ERRORS),
    Variant("the same, pass voltage tuned down to 96 %", DISTURB, BY_ERRORS | tuned("96 %")),
    Variant("worn unevenly: refreshed data anywhere", PLACEMENT, {}),
    Variant("worn unevenly: in little-worn blocks", PLACEMENT, {"firmware.placement.policy": "little-worn"}),
    Variant("worn unevenly: dynamic wear levelling", PLACEMENT, {"firmware.wear.policy": "dynamic"}),
]


class Disturb:
    """The runs. Each method returns a future."""

    def __init__(self, drives):
        self.runner = drives.runner

    def run(self, variant):
        return self.runner.start(variant.scenario, variant.settings)

    def start_all(self):
        for variant in VARIANTS:
            self.run(variant)

    def write(self, page):
        page.text("## Remedies against read disturb")
        page.text(f"""
Small QLC drives without pSLC whose parts are disturbed far more than real ones (A: that is what makes it seen in 2 million reads by Zipf's law). *Moved* are
units written by refresh and by collection for it, *lost* commands whose data could not be decoded. `{DISTURB}` has the settings and says why the numbers;
the last three rows are `{PLACEMENT}`, a drive worn unevenly by sixty overwrites.
""")
        measured, rows = {}, []
        for variant in VARIANTS:
            value = self.run(variant).result().value
            figures = [value("firmware.ftl.flash.refresh.units_programmed") + value("firmware.ftl.flash.gc.units_programmed"),
                       value("firmware.ftl.garbage_collection.refreshes"), value("firmware.ftl.error_correction.reads_lost"),
                       value("firmware.ftl.error_correction.wrong_bits_per_frame"), value("firmware.ftl.blocks.erases_deviation")]
            measured[variant.name] = figures
            rows.append([variant.name] + [str(figure) for figure in figures[:3]] + [f"{figure:.2f}" for figure in figures[3:]])
        page.table(["remedy", "moved", "refreshes", "lost", "wrong bits per frame", "erases, deviation"], rows)
        moved, lost = ({name: figures[n] for name, figures in measured.items()} for n in (0, 2))
        plain, regions, by_bits, with_voltage, anywhere, little, levelled = (VARIANTS[n].name for n in (1, 2, 4, 5, 6, 7, 8))
        spread = measured[anywhere][4], measured[little][4], measured[levelled][4]
        page.table(["remedy", "source (as Luo et al. tell it)", "claim (S)", "measured", "holds"], [
            ["refresh by regions", "Werner et al. 2014", "what is read often is written anew before it is lost, region by region",
             f"{moved[regions]} units moved instead of {moved[plain]}, {lost[regions]} lost", yes(lost[regions] == 0 and moved[regions] < moved[plain])],
            ["pass voltage by block", "Cai et al. 2015", "less disturb, within what the code corrects: fewer refreshes",
             f"{moved[with_voltage]} units moved instead of {moved[by_bits]}, {lost[with_voltage]} lost instead of {lost[by_bits]}",
             yes(moved[with_voltage] < moved[by_bits] and lost[with_voltage] <= lost[by_bits])],
            ["read-hot data into little-worn blocks", "Li et al. 2021", "fewer refreshes, wear more even",
             f"{measured[little][1]} refreshes instead of {measured[anywhere][1]} ({measured[levelled][1]} with ordinary wear levelling); deviation of erases "
             f"{spread[1]:.1f} instead of {spread[0]:.1f} ({spread[2]:.1f})",
             yes(measured[little][1] < measured[anywhere][1] and spread[1] < spread[0])],
        ])
