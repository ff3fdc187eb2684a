"""The parameters' types come from the program."""

import tlmssd
from tlmssd.program import SOURCE_TREE, find_program
from tlmssd.scenario import flat_parameters
from tlmssd.schema import type_of


def test_every_parameter_of_a_resolved_scenario_has_a_type():
    scenario = SOURCE_TREE / "scenarios/quickstart.yaml"
    found = flat_parameters(find_program().ask("check", str(scenario)))
    paths = [path for path, value in found.items() if value != "[]"]  # lists of no sections
    assert not [path for path in paths if type_of(path) is None]
    types = {path: type_of(path) for path in ("load.0.iodepth", "ssd.flash.part.read_latency")}
    assert list(types.values()) == ["integer", "list of time"]
    assert type_of("firmware.gc.policy") == "choice"
    assert type_of("firmware.gc.polcy") is None


def test_the_table_of_parameters():
    table = tlmssd.parameters().set_index("path")
    assert table.loc["ssd.flash.channels", ["type", "default"]].to_list() == ["integer", 4]
    assert table.loc["ssd.flash.channels", "range"].startswith("1 to ")
    assert "fifo" in table.loc["firmware.gc.policy", "choices"]
    assert table.loc["ssd.flash.spare_factor", "type"] == "share"
    assert table["meaning"].str.len().gt(0).all()
