"""Running scenarios from Python."""

import shutil

import pytest

import tlmssd
import tlmssd.engine
from tlmssd.cli import main

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


def test_seeds_are_counted_from_1(tmp_path):
    """As those of a study, so that both are the same runs."""
    scenario = tmp_path / "tiny.yaml"
    scenario.write_text(TINY)
    found = tlmssd.run(scenario, {"seed": 7}, seeds=3, jobs=1, store=tmp_path / "store")
    assert [result.seed for result in found] == [1, 2, 3]
    assert found.values("seed") == [1, 2, 3]


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


@pytest.mark.parametrize(
    "damage",
    ["[]", '{"a": 1}', '{"results": {}}', '{"results": null}', '{"results": {"total": []}}'],
)
def test_what_is_no_report_is_made_again(damage, tmp_path):
    scenario = tmp_path / "tiny.yaml"
    scenario.write_text(TINY)
    before = tlmssd.run(scenario, store=tmp_path / "store").value("iops")
    (report,) = (tmp_path / "store/runs").glob("*/*/report.json")
    report.write_text(damage)
    assert tlmssd.run(scenario, store=tmp_path / "store").value("iops") == before


def test_a_file_or_a_link_in_place_of_results_is_made_again(tmp_path):
    scenario = tmp_path / "tiny.yaml"
    scenario.write_text(TINY)
    before = tlmssd.run(scenario, store=tmp_path / "store").value("iops")
    (place,) = (tmp_path / "store/runs").glob("*/*")
    shutil.rmtree(place)
    place.write_text("no folder")
    assert tlmssd.run(scenario, store=tmp_path / "store").value("iops") == before
    shutil.rmtree(place)
    (tmp_path / "empty").mkdir()
    place.symlink_to(tmp_path / "empty")
    assert tlmssd.run(scenario, store=tmp_path / "store").value("iops") == before


@pytest.mark.parametrize("command", ["explore", "compare"])
def test_damaged_results_that_cannot_be_removed_are_one_line(command, folder, monkeypatch, capsys):
    """Such as those that another user of the store has made."""
    (folder / "tiny.yaml").write_text(TINY)
    (folder / "study.yaml").write_text("base: tiny.yaml\naxes: {load.iodepth: [1, 2]}\n")
    monkeypatch.setattr("tlmssd.engine.choice.local_pool", tlmssd.engine.thread_pool)
    arguments = {"explore": ["study.yaml"], "compare": ["tiny.yaml", "small.yaml"]}[command]
    assert main([command, *arguments]) == 0
    capsys.readouterr()

    def refuse(path, *_, **__):
        raise PermissionError(13, "not yours", str(path))

    monkeypatch.setattr("tlmssd.store.shutil.rmtree", refuse)
    report = sorted((folder / "store/runs").glob("*/*/report.json"))[0]
    report.write_text("")
    assert main([command, *arguments]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err == (
        f"tlmssd: {report.parent}: damaged, and cannot be removed: Permission denied; remove it, "
        "or name another store by --store or TLMSSD_STORE\n"
    )
