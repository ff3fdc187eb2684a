"""Running scenarios from Python."""

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
