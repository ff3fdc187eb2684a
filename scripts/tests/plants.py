"""Drives with one bottleneck each, made by chance, to judge what-if by.

A sound drive is drawn, a load that works the resource in question, and that resource is cut down.
Whether it then *is* the bottleneck is seen by direct runs with other seeds: what was cut down is
given back, every other resource is made as many times better instead, and none may help more. The
wider resource of a pair (tlmssd.whatif.ranking) is left out there: it does the same work.

    cd scripts && python -m tests.plants 1001-1004       # four drives of each kind
"""

import argparse
import math
import random
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import yaml

from tlmssd.metrics import higher_is_better
from tlmssd.whatif import whatif
from tlmssd.whatif.experiment import Bench, find
from tlmssd.whatif.ranking import FEW_OR_SLOW, WORK_OR_WAITING, WORK_OR_WASTE
from tlmssd.whatif.seeded_runs import run_here

RATES = ("iops", "bandwidth")


@dataclass(frozen=True)
class Plant:
    """A scenario whose bottleneck is `resource`, `factor` times too slow or small."""

    name: str
    resource: str
    metric: str
    factor: float
    scenario: dict


class Draw:
    """A sound drive drawn by chance, to be cut down in one place."""

    def __init__(self, kind: str, number: int):
        self.rng = random.Random(f"{kind} {number}")
        self.name = f"{kind} {number}"
        choice, whole = self.rng.choice, self.rng.randint
        self.part = {
            "planes": choice([1, 1, 1, 2]),
            "blocks_per_plane": choice([64, 80, 96, 128]),
            "pages_per_block": choice([16, 24, 32]),
            "page_size": choice(["4 KiB", "8 KiB", "16 KiB"]),
            "read_latency": [f"{whole(30, 80)} us"],
            "program_latency": [f"{whole(250, 700)} us"],
            "erase_latency": f"{whole(20, 50) / 10} ms",
        }
        self.flash = {
            "channels": choice([2, 4]),
            "ways": choice([2, 3, 4]),
            "bus": f"{choice([400, 600, 800, 1200])} MT/s",
            "over_provisioning": f"{whole(22, 35)} %",
            "part": self.part,
        }
        self.ssd = {
            "host": {"link": choice(["pcie3x4", "pcie3x8", "pcie4x4"]), "lba_size": "4 KiB"},
            "cpu": {"cores": choice([4, 6, 8]), "clock": f"{whole(400, 900)} MHz"},
            "dram": {"bandwidth": f"{whole(40, 100) / 10} GB/s"},
            "flash": self.flash,
        }
        self.buffer = choice([1024, 2048, 4096])
        """KiB."""
        self.precondition = [{"fill": "100 %"}]
        self.seed = whole(1, 10**6)

    def age(self) -> None:
        """The drive is in use: collection works."""
        overwrite = {"overwrite": self.rng.choice(["1x", "2x"]), "order": "random"}
        self.precondition = [{"fill": "100 %"}, overwrite]

    def plant(self, resource: str, factor: float, load: dict, *metrics: str) -> Plant:
        """The drive as it is now, with a load and one of `metrics`."""
        metric = self.rng.choice(metrics)
        scenario = {
            "title": self.name,
            "seed": self.seed,
            "ssd": self.ssd,
            "firmware": {"buffer": {"capacity": f"{self.buffer} KiB"}},
            "precondition": self.precondition,
            "load": load,
        }
        return Plant(self.name, resource, metric, factor, scenario)

    def long_reads(self) -> dict:
        """Reads of many pages, on a back end that could give more."""
        self.flash |= {"channels": 4, "ways": 4}
        self.part["page_size"] = self.rng.choice(["8 KiB", "16 KiB"])
        return {
            "rw": self.rng.choice(["randread", "read"]),
            "bs": self.rng.choice(["32k", "64k", "128k"]),
            "iodepth": self.rng.choice([8, 16, 32]),
            "number_ios": 1500,
        }


def slow_link(draw: Draw) -> Plant:
    """One or two lanes of the first generations."""
    load = draw.long_reads()
    link, factor = draw.rng.choice([("pcie1x1", 8.0), ("pcie1x2", 4.0), ("pcie2x1", 4.0)])
    draw.ssd["host"]["link"] = link
    return draw.plant("link", factor, load, *RATES, "read.mean", "read.p99")


def one_core(draw: Draw) -> Plant:
    """A single slow core."""
    draw.flash |= {"channels": 4, "ways": 4}
    draw.ssd["cpu"] = {"cores": 1, "clock": f"{draw.rng.randint(15, 45)} MHz"}
    rw, depth = draw.rng.choice(["randread", "randread", "randrw"]), draw.rng.choice([32, 64, 128])
    load = {"rw": rw, "bs": "4k", "iodepth": depth, "number_ios": 4000}
    return draw.plant("cores", 8.0, load, *RATES, "read.mean", "read.p99")


def narrow_dram(draw: Draw) -> Plant:
    """A tenth of the bandwidth."""
    load = draw.long_reads()
    draw.ssd["dram"]["bandwidth"] = f"{draw.rng.randint(150, 400)} MB/s"
    draw.ssd["host"]["link"] = "pcie4x4"
    draw.flash["bus"] = draw.rng.choice(["800 MT/s", "1200 MT/s"])
    return draw.plant("DRAM", 8.0, load, *RATES, "read.mean", "read.p99")


def few_dies(draw: Draw) -> Plant:
    """One, two or three of them; new drives and aged ones."""
    channels, ways = draw.rng.choice([(1, 1), (2, 1), (1, 2), (3, 1)])
    draw.flash |= {"channels": channels, "ways": ways}
    draw.buffer = draw.rng.choice([512, 1024])
    rw = draw.rng.choice(["randread", "randrw", "randwrite", "randrw"])
    depth = draw.rng.choice([16, 32, 64])
    load = {"rw": rw, "bs": "4k", "iodepth": depth, "number_ios": 10000}
    if rw == "randrw":
        load["rwmixread"] = draw.rng.choice([50, 70, 90])
    if draw.rng.random() < 0.5:
        draw.age()
    return draw.plant("dies", 4.0, load, *RATES, "write.mean" if rw == "randwrite" else "read.mean")


def slow_erase(draw: Draw) -> Plant:
    """Erases of 30 to 80 ms."""
    time, factor = draw.rng.choice([("30 ms", 8.0), ("50 ms", 8.0), ("80 ms", 16.0)])
    draw.part["erase_latency"] = time
    draw.age()
    mix, depth = draw.rng.choice([60, 70, 80]), draw.rng.choice([2, 4, 8])
    load = {"rw": "randrw", "rwmixread": mix, "bs": "4k", "iodepth": depth, "number_ios": 25000}
    return draw.plant("erase", factor, load, "read.p99.9", "read.p99", "read.mean", "iops")


def small_buffer(draw: Draw) -> Plant:
    """Bursts that are 1.4 to 3 times the buffer, and time to write them out between."""
    draw.buffer = draw.rng.choice([512, 1024, 2048])
    burst = int(draw.buffer * draw.rng.choice([1.4, 2, 3]) / 4)
    page = int(draw.part["page_size"].split()[0]) * 1024
    program = float(draw.part["program_latency"][0].split()[0]) * 1e-6
    dies = draw.flash["channels"] * draw.flash["ways"]
    seconds = burst * 4096 * program / (dies * draw.part["planes"] * page)
    draw.precondition = [{"fill": "50 %"}]
    load = {
        "rw": "randwrite",
        "bs": "4k",
        "iodepth": draw.rng.choice([8, 16, 32]),
        "number_ios": burst * 12,
        "thinktime": f"{max(5, int(3e3 * seconds))} ms",
        "thinktime_blocks": burst,
    }
    return draw.plant("write buffer", 8.0, load, "write.p99", "write.mean", "write.p95")


def little_spare(draw: Draw) -> Plant:
    """5 to 8 % beyond what the host sees, and writes that fill the buffer many times."""
    draw.buffer = draw.rng.choice([512, 1024])
    draw.flash["over_provisioning"] = f"{draw.rng.randint(5, 8)} %"
    draw.age()
    rw, depth = draw.rng.choice(["randwrite", "randwrite", "randrw"]), draw.rng.choice([4, 8, 16])
    load = {"rw": rw, "bs": "4k", "iodepth": depth, "number_ios": 20000}
    return draw.plant("spare flash", 4.0, load, *RATES, "write.mean")


def slow_bus(draw: Draw) -> Plant:
    """A page takes longer on the channel than in the array."""
    draw.part["page_size"] = "16 KiB"
    channels, ways = draw.rng.choice([(2, 4), (4, 4), (4, 2)])
    bus = draw.rng.choice([15, 20, 30, 40])
    draw.flash |= {"channels": channels, "ways": ways, "bus": f"{bus} MT/s"}
    rw, depth = draw.rng.choice(["randread", "read"]), draw.rng.choice([8, 16, 32])
    load = {"rw": rw, "bs": "16k", "iodepth": depth, "number_ios": 2500}
    return draw.plant("flash bus", 8.0, load, *RATES, "read.mean", "read.p99")


KINDS = {
    function.__name__: function
    for function in (
        slow_link, one_core, narrow_dram, few_dies, slow_erase, small_buffer, little_spare,
        slow_bus,
    )
}  # fmt: skip


def plants(numbers: range, kinds: Iterable[str] = KINDS) -> Iterator[Plant]:
    """One of each of `kinds` for each number."""
    for kind in kinds:
        for number in numbers:
            yield KINDS[kind](Draw(kind, number))


@dataclass(frozen=True)
class Judged:
    """`direct`: what helps most by direct runs; `first`: what what-if says."""

    plant: Plant
    direct: str
    first: str
    gains: dict[str, float]

    @property
    def verified(self) -> bool:
        """Whether the plant is what it was meant to be."""
        return self.direct == self.plant.resource

    @property
    def right(self) -> bool:
        """Whether what-if found it."""
        return self.first == self.plant.resource


def judge(plant: Plant, folder: Path, seeds: int = 3, jobs: int = 2) -> Judged:
    """Looks at a plant directly and by what-if, with different seeds."""
    scenario = folder / f"{plant.name.replace(' ', '-')}.yaml"
    scenario.write_text(yaml.safe_dump(plant.scenario, sort_keys=False))
    run = run_here(jobs, folder / "store")
    direct = _direct(plant, Bench(scenario, plant.metric, {"seed": "77001"}, seeds, run))
    options = {"steps": [3.0], "seeds": seeds, "factorial": False}
    found = whatif(scenario, plant.metric, run=run, **options)
    gains = {one.resource.name: one.gain(found.more_is_better) for one in found.findings}
    return Judged(plant, direct, found.first, gains)


def _direct(plant: Plant, bench: Bench) -> str:
    """The resource that helps most when it is made `factor` times better."""
    pairs = FEW_OR_SLOW + WORK_OR_WAITING + WORK_OR_WASTE
    wider = {pair[0] for pair in pairs if pair[1] == plant.resource}
    gains = {
        one.resource.name: one.gain(higher_is_better(plant.metric))
        for one in find(bench, [plant.factor - 1])
        if one.resource.name not in wider
    }
    return max(gains, key=lambda name: gains[name])


def main() -> None:
    """Judges the plants of some numbers and prints how many were found."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("numbers", help="first and last, such as 1001-1004")
    parser.add_argument("kinds", nargs="*", help=f"of {', '.join(KINDS)}; default: all")
    parser.add_argument("--seeds", type=int, default=3)
    arguments = parser.parse_args()
    first, last = (int(number) for number in arguments.numbers.split("-"))
    judged = []
    with tempfile.TemporaryDirectory() as folder:
        for plant in plants(range(first, last + 1), arguments.kinds or KINDS):
            one = judge(plant, Path(folder), arguments.seeds)
            judged.append(one)
            best = sorted(one.gains.items(), key=lambda item: -item[1])[:3]
            told = ", ".join(f"{name} {math.expm1(gain):.0%}" for name, gain in best)
            verdict = "right" if one.right else f"wrong: {one.first}"
            check = "" if one.verified else f" (by direct runs: {one.direct})"
            print(f"{plant.name}, {plant.metric}: {verdict}{check}; {told}", flush=True)
    right = sum(one.right for one in judged)
    verified = [one for one in judged if one.verified]
    print(
        f"{right} of {len(judged)} right; of the {len(verified)} verified by direct runs ", end=""
    )
    print(sum(one.right for one in verified))


if __name__ == "__main__":
    main()
