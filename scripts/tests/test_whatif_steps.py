"""What-if: the steps of resources, and what they cost."""

import math

import pytest
from test_whatif import SCENARIO

from tlmssd.drive import Drive
from tlmssd.program import find_program
from tlmssd.scenario import flat_parameters
from tlmssd.whatif.cost import extra_cost
from tlmssd.whatif.experiment import Trial
from tlmssd.whatif.page import _note
from tlmssd.whatif.resources import more_pieces, resources


@pytest.fixture
def scenario(tmp_path):
    path = tmp_path / "drive.yaml"
    path.write_text(SCENARIO)
    return path


@pytest.fixture
def drive(scenario):
    return Drive(flat_parameters(find_program().ask("check", str(scenario))))


def step(drive, name, share):
    (resource,) = (one for one in resources() if one.name == name)
    return resource.step(drive, share)


def test_pieces_come_whole():
    assert [more_pieces(1, 0.5), more_pieces(4, 0.5), more_pieces(5, 0.5)] == [2, 6, 7]
    assert [more_pieces(4, 0.1), more_pieces(30, 0.1)] == [5, 33]


def test_steps_keep_units_and_capacity(drive):
    read = step(drive, "array read", 0.5)
    assert (
        read.settings["ssd.flash.part.read_latency"]
        == '["51428667 ps", "77142667 ps", "51428667 ps"]'
    )
    assert step(drive, "DRAM", 0.5).settings["ssd.dram.bandwidth"] == "4.8 GB/s"
    assert step(drive, "link", 0.1).settings == {"ssd.host.link": "pcie3x8"}
    dies = step(drive, "dies", 0.5)
    assert (dies.before, dies.after, dies.ratio) == ("4", "8", 2.0)
    assert "ssd.flash.user_capacity" not in dies.settings  # the part's own: it grows with them
    given = Drive({**drive.parameters, "ssd.flash.user_capacity": "64 MiB"})
    assert step(given, "dies", 0.5).settings["ssd.flash.user_capacity"] == f"{128 << 20} B"
    spare = step(drive, "spare flash", 0.5)
    assert spare.settings["ssd.flash.over_provisioning"] == "37.5 %"
    buffer = step(drive, "write buffer", 0.5)
    assert buffer.settings["ssd.dram.capacity"] == f"{(256 + 16) << 20} B"


def test_the_load_grows_with_the_dies(drive):
    load = {"size": "10m", "io_size": "1.5 MiB", "offset": "25%", "number_ios": "300"}
    given = Drive({**drive.parameters, **{f"load.0.{word}": text for word, text in load.items()}})
    settings = step(given, "dies", 0.5).settings  # from one die of each channel to two
    assert settings["load.0.size"] == str(20 << 20)
    assert settings["load.0.io_size"] == str(3 << 20)
    assert settings["load.0.number_ios"] == "600"
    assert "load.0.offset" not in settings


def test_map_cache_and_pslc_are_tried_where_there_are_any(drive):
    needed = {one.name: one.needs for one in resources()}
    assert not needed["map cache"](drive)
    assert not needed["pSLC"](drive)
    mapping = {"firmware.mapping.scheme": "dftl", "firmware.mapping.cache": "512 KiB"}
    pslc = {"firmware.pslc.policy": "all", "firmware.pslc.static": "0 B"}
    pslc["firmware.pslc.dynamic"] = "20 %"
    given = Drive({**drive.parameters, **mapping, **pslc})
    assert needed["map cache"](given)
    assert needed["pSLC"](given)
    assert step(given, "map cache", 3.0).settings == {
        "firmware.mapping.cache": f"{2 << 20} B",
        "ssd.dram.capacity": f"{(256 << 20) + (1536 << 10)} B",
    }
    host = {"firmware.mapping.cache_in": "host", "ssd.host.memory_buffer": "1 MiB"}
    assert step(Drive({**given.parameters, **host}), "map cache", 3.0).settings == {
        "firmware.mapping.cache": f"{2 << 20} B",
        "ssd.host.memory_buffer": f"{2560 << 10} B",
    }
    assert step(given, "pSLC", 0.5).settings == {"firmware.pslc.dynamic": "30 %"}
    assert step(given, "pSLC", 0.5).after == "30 %"


def test_both_sizes_of_pslc_are_told(drive):
    pslc = {"firmware.pslc.policy": "all", "firmware.pslc.static": "6 MiB"}
    given = Drive({**drive.parameters, **pslc, "firmware.pslc.dynamic": "20 %"})
    found = step(given, "pSLC", 3.0)
    assert (found.before, found.after) == (
        "6 MiB static and 20 % dynamic",
        "24 MiB static and 80 % dynamic",
    )


def test_a_cache_without_a_size_grows_with_its_scm(scenario):
    """Without a size it is all of the SCM: the same drive as one that says so."""
    (resource,) = (one for one in resources() if one.name == "cache")
    shared = ["firmware.cache.policy=write-only", "ssd.scm.capacity=32 MiB"]

    def found(*more):
        given = [f"--set={setting}" for setting in (*shared, *more)]
        drive = Drive(flat_parameters(find_program().ask("check", str(scenario), *given)))
        assert resource.needs(drive)
        made = resource.step(drive, 3.0)
        changed = [f"--set={path}={value}" for path, value in made.settings.items()]
        find_program().ask("check", str(scenario), *given, *changed)
        return made

    whole = found()
    assert (whole.before, whole.after, whole.ratio) == ("32 MiB", "128 MiB", 4)
    assert whole.settings == {"ssd.scm.capacity": f"{128 << 20} B"}
    said = found("firmware.cache.capacity=32 MiB")
    assert (said.before, said.after) == (whole.before, whole.after)
    size = {"firmware.cache.capacity": f"{128 << 20} B"}
    assert said.settings == whole.settings | size
    part = found("firmware.cache.capacity=8 MiB")
    assert part.settings == {
        "ssd.scm.capacity": f"{56 << 20} B",
        "firmware.cache.capacity": f"{32 << 20} B",
    }
    in_dram = found("firmware.cache.medium=dram", "firmware.cache.capacity=8 MiB")
    assert "ssd.scm.capacity" not in in_dram.settings


def test_there_is_no_cache_without_a_policy(drive):
    (resource,) = (one for one in resources() if one.name == "cache")
    assert not resource.needs(Drive({**drive.parameters, "ssd.scm.capacity": "32 MiB"}))


def test_channels_take_the_dies_that_are_there(drive):
    """Four channels of one die each have no use for a fifth; of four each, for any up to 16."""
    channels = next(one for one in resources() if one.name == "channels")
    assert channels.step(drive, 0.5) is None
    wide = Drive({**drive.parameters, "ssd.flash.ways": "4"})
    step = channels.step(wide, 0.5)
    assert step.settings["ssd.flash.channels"] == "8"
    assert step.settings["ssd.flash.ways"] == "2"
    assert step.weight == pytest.approx(math.log(1.5) / math.log(2))
    assert _note(Trial(step, None, "", None)).startswith("ranked with 0.58 of the effect")
    assert channels.step(wide, 63.0).settings["ssd.flash.ways"] == "1"


@pytest.mark.parametrize("share", [0.1, 0.5, 0.7, 3.0])
def test_a_step_as_long_as_was_asked_for_counts_whole(drive, share):
    """Ratios of two rounded numbers may be a little more than that."""
    spare = {f"ssd.flash.{word}": "null" for word in ("over_provisioning", "spare_factor")}
    for percent in range(1, 15):
        given = {**drive.parameters, **spare, "ssd.flash.over_provisioning": f"{percent} %"}
        found = step(Drive(given), "spare flash", share)
        assert found.weight == 1, percent
        assert _note(Trial(found, None, "", None)) == ""
    buffer = Drive({**drive.parameters, "firmware.buffer.capacity": "4090 KiB"})
    assert _note(Trial(step(buffer, "write buffer", share), None, "", None)) == ""


def test_there_are_no_more_than_the_program_takes(drive):
    for name, path, most in (
        ("cores", "ssd.cpu.cores", 256),
        ("decoders", "ssd.flash.ecc.engines", 1024),
    ):
        full = Drive({**drive.parameters, path: str(most)})
        assert step(full, name, 0.5) is None
        nearly = step(Drive({**drive.parameters, path: str(most - 1)}), name, 3.0)
        assert (nearly.after, nearly.ratio) == (str(most), most / (most - 1))


def test_lanes_of_generation_6_carry_236_of_256(drive):
    """As in models/host/link.cpp."""
    fast = Drive({**drive.parameters, "ssd.host.link": "pcie5x16"})
    found = step(fast, "link", 0.5)
    assert found.after == "pcie6x16"
    assert found.ratio == pytest.approx(64 * 236 / 256 / (32 * 128 / 130))


def test_every_step_is_a_scenario_that_the_program_takes(scenario, drive):
    for resource in resources():
        for share in (0.1, 0.5, 2.0):
            made = resource.step(drive, share) if resource.needs(drive) else None
            if made:
                given = [f"--set={path}={value}" for path, value in made.settings.items()]
                find_program().ask("check", str(scenario), *given)


def test_costs_are_those_of_the_part(drive):
    assert extra_cost(drive, step(drive, "dies", 0.5).settings) == 4 * 2
    assert extra_cost(drive, step(drive, "cores", 0.5).settings) == 5
    assert extra_cost(drive, step(drive, "spare flash", 0.5).settings) == pytest.approx(8 * 0.1)
    assert extra_cost(drive, step(drive, "core clock", 0.5).settings) is None
    prices = {"ssd.flash.part.cost.scm_gib": "12"}
    with_scm = Drive({**drive.parameters, **prices, "ssd.scm.capacity": "1 GiB"})
    assert extra_cost(with_scm, {"ssd.scm.capacity": "1536 MiB"}) == 6
    free = Drive({p: "0" if ".cost." in p else v for p, v in drive.parameters.items()})
    assert extra_cost(free, step(drive, "dies", 0.5).settings) is None


def test_scm_that_is_a_share_of_the_flash_counts_in_bytes(scenario):
    """As the program makes it of 4 dies of 2 planes, 64 blocks, 576 pages and 16 KiB."""
    given = ("--set", "ssd.scm.capacity=5 %", "--set", "firmware.cache.policy=nv-wb")
    checked = find_program().ask("check", str(scenario), *given)
    drive = Drive(flat_parameters(checked))
    flash = drive.flash_bytes
    assert flash == drive.bytes_of_a_block_per_plane * 64
    pieces = int(0.05 * flash) // 65536
    assert drive.scm_bytes == pieces * 65536
    priced = Drive({**drive.parameters, "ssd.flash.part.cost.scm_gib": "12"})
    more = {"ssd.scm.capacity": f"{drive.scm_bytes + 2**29} B"}
    assert extra_cost(priced, more) == pytest.approx(6)
    whole = step(drive, "cache", 0.5)
    assert whole.settings == {"ssd.scm.capacity": f"{round(1.5 * drive.scm_bytes)} B"}
    cached = Drive({**drive.parameters, "firmware.cache.capacity": "1 MiB"})
    assert step(cached, "cache", 0.5).settings["ssd.scm.capacity"] == (
        f"{drive.scm_bytes + 2**19} B"
    )
    given_user = Drive({**drive.parameters, "ssd.flash.user_capacity": "1 GB"})
    row = drive.bytes_of_a_block_per_plane
    assert given_user.flash_bytes == math.ceil(1e9 * (1 + drive.over_provisioning) / row) * row


def test_spare_flash_stays_within_what_drives_are_built_with(drive):
    """Four times 25 % would be as much flash again as the host sees."""
    largest = step(drive, "spare flash", 3.0)
    assert (largest.settings["ssd.flash.over_provisioning"], largest.ratio) == ("50 %", 2.0)
    more = Drive({**drive.parameters, "ssd.flash.over_provisioning": "80 %"})
    assert step(more, "spare flash", 3.0).settings["ssd.flash.over_provisioning"] == "88 %"
    none = Drive({**drive.parameters, "ssd.flash.over_provisioning": "0 %"})
    assert step(none, "spare flash", 3.0) is None
