"""Running scenarios from Python."""

import pytest

import tlmssd

TINY = """
ssd: {flash: {channels: 1, part: {file: parts/nand/tlc-48l.yaml, blocks_per_plane: 16}}}
load: {rw: randread, bs: 4k, number_ios: 100}
"""


def test_known_runs_are_not_run_again(tmp_path):
    scenario = tmp_path / "tiny.yaml"
    scenario.write_text(TINY)
    first = tlmssd.run(scenario, {"load.number_ios": 200}, store=tmp_path / "store")
    again = tlmssd.run(scenario, {"load.number_ios": "200"}, store=tmp_path / "store")
    assert first.report["results"]["total"]["commands"] == 200
    assert first.folder == again.folder
    assert len(list((tmp_path / "store/runs").iterdir())) == 1


@pytest.mark.parametrize("name", ["report.json", "fio.json"])
@pytest.mark.parametrize("damage", ['{"a": 1', "", None])
def test_damaged_results_in_the_store_are_made_again(name, damage, tmp_path):
    scenario = tmp_path / "tiny.yaml"
    scenario.write_text(TINY)
    before = tlmssd.run(scenario, store=tmp_path / "store").value("iops")
    (file,) = (tmp_path / "store/runs").glob(f"*/*/{name}")
    content = file.read_text()
    file.unlink()
    if damage is not None:
        file.write_text(damage)
    assert tlmssd.run(scenario, store=tmp_path / "store").value("iops") == before
    assert len(file.read_text()) > len(content) / 2


@pytest.mark.parametrize("damage", ["[]", '{"a": 1}'])
def test_what_is_no_report_is_made_again(damage, tmp_path):
    scenario = tmp_path / "tiny.yaml"
    scenario.write_text(TINY)
    before = tlmssd.run(scenario, store=tmp_path / "store").value("iops")
    (report,) = (tmp_path / "store/runs").glob("*/*/report.json")
    report.write_text(damage)
    assert tlmssd.run(scenario, store=tmp_path / "store").value("iops") == before
