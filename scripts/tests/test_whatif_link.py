"""What-if's rates of PCIe are those of the emulator, as a run's link shows them."""

import json

import pytest

from tlmssd.program import find_program
from tlmssd.whatif.resources import GENERATIONS

SCENARIO = """
title: the link's rate
ssd: {flash: {channels: 2, ways: 1, part: {file: parts/nand/tlc-48l.yaml, blocks_per_plane: 64}}}
load: {rw: write, bs: 64k, iodepth: 4, number_ios: 400}
"""


@pytest.mark.parametrize("generation", GENERATIONS)
def test_a_lane_is_as_fast_as_the_emulators(generation, tmp_path):
    path = tmp_path / "drive.yaml"
    path.write_text(SCENARIO)
    link = f"ssd.host.link=pcie{generation}x1"
    report = json.loads(find_program().ask("run", str(path), "--set", link, "--json", "-"))
    direction = report["statistics"]["host"]["link"]["to_device"]
    busy = direction["utilisation"]["value"] * report["measured_time"]["value"]
    rate = direction["wire_bytes"]["value"] * 8 / busy
    assert rate == pytest.approx(GENERATIONS[generation] * 1e9, rel=1e-3)
