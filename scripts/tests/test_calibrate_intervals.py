"""How often the intervals of a calibration hold what was planted, where seeds differ much."""

import math
import re

import pytest
from scipy.stats import binom
from test_calibrate import PATHS

from tlmssd import run
from tlmssd.calibrate import calibrate

CHANCE = """title: three dies, whose writes fall by chance
ssd:
  host: {link: pcie3x2, lba_size: 4 KiB}
  cpu: {cores: 1, clock: 800 MHz}
  flash:
    channels: 3
    ways: 1
    bus: 533 MT/s
    user_capacity: 384 MiB
    spare_factor: 20 %
    part: {file: parts/nand/qlc.yaml, pages_per_block: 48}
precondition: [{fill: 100 %, order: sequential}]
load:
  - {name: r1, rw: randread, bs: 4k, iodepth: 1, number_ios: 400}
  - {name: r16, stonewall: true, rw: randread, bs: 16k, iodepth: 1, number_ios: 400}
  - {name: rq, stonewall: true, rw: randread, bs: 64k, iodepth: 8, number_ios: 400}
  - {name: w1, stonewall: true, rw: randwrite, bs: 64k, iodepth: 8, number_ios: 600}
  - {name: mix, stonewall: true, rw: randrw, bs: 8k, iodepth: 4, number_ios: 800}
"""
OF_CHANCE = """base: base.yaml
measured: measured.json
parameters:
  ssd.flash.bus: {from: 200 MT/s, to: 1200 MT/s}
  ssd.flash.part.program_latency: {from: 1 ms, to: 6 ms}
  ssd.cpu.cycles.command: {from: 200, to: 10000}
  ssd.flash.part.erase_latency: {from: 2 ms, to: 30 ms}
hold_out: [mix]
search: {runs: 120}
"""
PLANTED = [
    ({"bus": "400 MT/s", "program": "[2.9 ms]", "cycles": 2600}, range(101, 113)),
    ({"bus": "700 MT/s", "program": "[1.7 ms]", "cycles": 5000}, range(201, 214)),
]
OVERWRITTEN = """title: four dies, overwritten at random before
ssd:
  host: {link: pcie3x2, lba_size: 4 KiB}
  cpu: {cores: 1, clock: 600 MHz}
  flash:
    channels: 2
    ways: 2
    bus: 533 MT/s
    user_capacity: 256 MiB
    spare_factor: 25 %
    part: {file: parts/nand/tlc-48l.yaml, pages_per_block: 72}
precondition: [{fill: 100 %, order: sequential}, {overwrite: 50 %}]
load:
  - {name: r4, rw: randread, bs: 4k, iodepth: 1, number_ios: 300}
  - {name: rq, stonewall: true, rw: randread, bs: 128k, iodepth: 4, number_ios: 300}
  - {name: w16, stonewall: true, rw: randwrite, bs: 16k, iodepth: 16, number_ios: 1500}
  - {name: w64, stonewall: true, rw: randwrite, bs: 64k, iodepth: 2, number_ios: 500}
  - {name: mix, stonewall: true, rw: randrw, bs: 8k, iodepth: 4, number_ios: 600}
"""
OF_OVERWRITTEN = """base: base.yaml
measured: measured.json
set: {seed: BASE_SEED}
parameters:
  ssd.flash.bus: {from: 200 MT/s, to: 1200 MT/s}
  ssd.flash.part.read_latency: {from: 20 us, to: 200 us}
  ssd.flash.part.program_latency: {from: 200 us, to: 3 ms}
  ssd.cpu.cycles.command: {from: 200, to: 10000}
hold_out: [mix]
search: {runs: 150}
"""
PLANTED_THERE = [
    (
        {"bus": "350 MT/s", "read": "[85 us]", "program": "[1300 us]", "cycles": 1800},
        range(1, 17),
    )
]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("base", "study", "planted", "judged", "bias"),
    [
        (CHANCE, OF_CHANCE, PLANTED, ("bus", "program"), 0.04),
        (OVERWRITTEN, OF_OVERWRITTEN, PLANTED_THERE, ("read", "program"), 0.05),
    ],
)
def test_intervals_hold_the_planted_values(folder, base, study, planted, judged, bias):
    """95 % of them should, 90 % must: so few that they come once in 20 times where 90 % hold are
    not enough. 82 and 59 % did as long as chance was counted in one of both runs and each job as
    three."""
    (folder / "base.yaml").write_text(base)
    held, off = [], {one: [] for one in judged}
    for values, seeds in planted:
        for seed in seeds:
            (folder / "study.yaml").write_text(study.replace("BASE_SEED", str(5000 + seed)))
            settings = {PATHS[one]: value for one, value in values.items()} | {"seed": seed}
            result = run(folder / "base.yaml", settings, store=folder / "hidden")
            (folder / "measured.json").write_bytes((result.folder / "fio.json").read_bytes())
            found = {one.parameter.name: one for one in calibrate("study.yaml").profiles}
            for one in judged:
                profile = found[PATHS[one]]
                truth = float(re.search(r"[\d.]+", values[one])[0])
                low, high = profile.low or -math.inf, profile.high or math.inf
                held.append(low <= truth <= high)
                off[one].append(profile.value / truth - 1)
    print(f"{sum(held)} of {len(held)} intervals hold")
    assert sum(held) > binom.ppf(0.05, len(held), 0.9)
    for one, values in off.items():
        print(f"{one}: {100 * sum(values) / len(values):+.1f} % off on average")
        assert abs(sum(values)) / len(values) < bias
