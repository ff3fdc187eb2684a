"""The adviser is silent on sound scenarios, none of which its rules were made with."""

from pathlib import Path
from typing import Any

import pytest
import yaml

import tlmssd
from tlmssd.program import SOURCE_TREE

pytestmark = pytest.mark.slow

FILL = {"fill": "100 %", "order": "sequential"}
PART = {
    "planes": 1,
    "pages_per_block": 16,
    "page_size": "4 KiB",
    "read_latency": ["50 us"],
    "program_latency": ["500 us"],
}


def drive(**changes: Any) -> dict[str, Any]:
    """A drive all of whose speeds are chosen, written three times over; 'ssd.bus.clock' changes."""
    scenario: dict[str, Any] = {
        "ssd": {
            "host": {"lba_size": "4 KiB", "link": "pcie3x4"},
            "bus": {"clock": "800 MHz"},
            "cpu": {"cores": 4, "clock": "1 GHz"},
            "dram": {"bandwidth": "6.4 GB/s"},
            "flash": {
                "channels": 4,
                "ways": 2,
                "bus": "800 MT/s",
                "user_capacity": "256 MiB",
                "spare_factor": "20 %",
                "part": dict(PART),
            },
        },
        "firmware": {"buffer": {"capacity": "2 MiB"}},
        "precondition": [FILL, {"overwrite": "3x"}],
    }
    for path, value in changes.items():
        node = scenario
        *sections, last = path.split("__")
        for section in sections:
            node = node.setdefault(section, {})
        node[last] = value
    return scenario


def part(name: str, pages: int, capacity: str) -> dict[str, Any]:
    """A drive of a part that the project has a data sheet of."""
    return drive(
        ssd__flash__part={"file": f"parts/nand/{name}.yaml", "pages_per_block": pages},
        ssd__flash__user_capacity=capacity,
    )


def load(rw: str, number: int, bs: str = "4k", iodepth: int = 16, **more: Any) -> dict[str, Any]:
    """A load that repeats until it has made `number` requests."""
    words = {"rw": rw, "bs": bs, "iodepth": iodepth, "number_ios": number, "loops": 50}
    if "rand" in rw and rw != "randread":
        words["norandommap"] = True
    return words | more


ZIPF = {"random_distribution": "zipf:1.1"}
SATA = {"protocol": "sata", "link": "sata3", "lba_size": "4 KiB"}
SEQUENTIAL = [FILL, {"overwrite": "2x", "order": "sequential"}]
COST_BENEFIT = {"buffer": {"capacity": "2 MiB"}, "gc": {"policy": "cost-benefit"}}
DFTL = {"buffer": {"capacity": "2 MiB"}, "mapping": {"scheme": "dftl"}}
SOUND = {
    "reads one by one": (drive(), load("randread", 20_000, iodepth=1)),
    "deep reads": (drive(), load("randread", 80_000, iodepth=64)),
    "sequential reads": (drive(), load("read", 6_000, "128k", 8)),
    "sequential writes": (drive(precondition=SEQUENTIAL), load("write", 8_000, "128k", 8)),
    "random writes": (drive(), load("randwrite", 200_000, iodepth=32)),
    "larger random writes": (drive(), load("randwrite", 50_000, "16k")),
    "mixed": (drive(), load("randrw", 300_000, rwmixread=70)),
    "skewed": (
        drive(precondition=[FILL, {"overwrite": "5x"} | ZIPF]),
        load("randrw", 300_000, iodepth=8) | ZIPF,
    ),
    "SATA": (drive(ssd__host=SATA), load("randrw", 120_000, "8k", 32, rwmixread=80)),
    "a slow link that was chosen": (
        drive(ssd__host__link="pcie2x1"),
        load("read", 6_000, "128k"),
    ),
    "QLC": (part("qlc-64-layer", 64, "2 GiB"), load("randread", 40_000, iodepth=32)),
    "TLC": (part("tlc-48l", 48, "1 GiB"), load("randrw", 400_000, rwmixread=60)),
    "Z-NAND": (part("z-nand-slc", 32, "512 MiB"), load("randread", 60_000)),
    "a map in flash": (drive(firmware=DFTL), load("randread", 60_000, iodepth=8)),
    "open loop": (
        drive(),
        load("randrw", 120_000, iodepth=64, rwmixread=90, rate_iops="5000,500"),
    ),
    "two loads": (
        drive(),
        [
            load("randread", 120_000, iodepth=8, ramp_time="2s") | {"name": "oltp"},
            load("write", 20_000, "16k", 1, rate="20m") | {"name": "log"},
        ],
    ),
    "until steady": (
        drive(precondition=[FILL], run={"until": "steady"}),
        {"rw": "randwrite", "bs": "4k", "iodepth": 32},
    ),
    "pauses": (drive(), load("randread", 20_000, iodepth=4, thinktime="200us")),
    "many sizes": (
        drive(),
        load("randrw", 120_000, rwmixread=75) | {"bssplit": "4k/60:16k/30:64k/10"},
    ),
    "cost-benefit": (drive(firmware=COST_BENEFIT), load("randrw", 300_000)),
    "suspend": (drive(ssd__flash__suspend="both"), load("randrw", 300_000, iodepth=8)),
}


@pytest.mark.parametrize("name", SOUND)
def test_sound(folder: Path, name: str):
    """Nothing is said of it."""
    scenario, loads = SOUND[name]
    path = folder / "sound.yaml"
    path.write_text(yaml.safe_dump({"title": name} | scenario | {"load": loads}))
    advice = tlmssd.run(path).report["advice"]
    assert advice == []


SILENT = (
    "examples/client_pslc", "examples/consumer_tlc", "examples/dftl", "examples/dramless",
    "examples/fio_job",
    "examples/gangs", "examples/hot_cold", "examples/log_blocks", "examples/log_structured",
    "examples/pacing", "examples/profile", "examples/rate_sweep", "examples/read_ahead",
    "examples/read_retry",
    "examples/refresh", "examples/sata", "examples/shelf_life", "examples/streams",
    "examples/timeline", "examples/trim", "examples/two_tenants", "examples/wear_out",
    "examples/weighted_queues",
    "examples/write_amplification", "whatif/few_dies", "whatif/little_spare", "whatif/narrow_dram",
    "whatif/one_core", "whatif/slow_bus", "whatif/slow_erase", "whatif/slow_link",
    "whatif/small_buffer", "pts/drive", "calibrate/hidden", "luo/pure_slc", "luo/pure_tlc",
    "luo/pure_qlc",
)  # fmt: skip


@pytest.mark.parametrize("name", SILENT)
def test_own_scenarios(name: str):
    """What the project shows follows its own advice."""
    report = tlmssd.run(SOURCE_TREE / f"scenarios/{name}.yaml").report
    written = report["write_amplification"]["total"]["value"]  # an untimed run has only that
    assert report["results"]["total"]["commands"] > 0 or written > 0
    assert report["advice"] == []
