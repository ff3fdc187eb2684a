"""What-if finds the bottleneck that was put into each scenario of scenarios/whatif.

The first lines of each say the metric that suffers, and what is short by construction.
"""

import re

import pytest

from tlmssd.program import SOURCE_TREE
from tlmssd.whatif import whatif

FOLDER = SOURCE_TREE / "scenarios/whatif"
PLANTED = [
    "slow_link", "one_core", "narrow_dram", "few_dies", "slow_erase", "small_buffer",
    "little_spare", "slow_bus",
]  # fmt: skip
HEAD = re.compile(r"--metric (?P<metric>\S+) +# ranks (?P<resource>.+) first")


def test_every_scenario_is_tried():
    assert {path.stem for path in FOLDER.glob("*.yaml")} == set(PLANTED)


@pytest.mark.slow
@pytest.mark.parametrize("name", PLANTED)
def test_the_planted_bottleneck_comes_first(name, tmp_path):
    scenario = FOLDER / f"{name}.yaml"
    told = HEAD.search(scenario.read_text())
    options = {"steps": [0.5], "seeds": 3, "factorial": False, "store": tmp_path}
    found = whatif(scenario, told["metric"], **options)
    assert found.first == told["resource"]
    assert found.findings[0].largest.effect.is_certain
    assert all(trial.effect for finding in found.findings for trial in finding.trials)
