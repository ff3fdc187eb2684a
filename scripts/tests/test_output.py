"""What commands write: nothing that they read, and nothing of the user's unless by --force."""

import hashlib
import json
import os
import shutil
from pathlib import Path

import pytest
from reports import operation, report, write

from tlmssd import cli, profile_firmware
from tlmssd.errors import InputError
from tlmssd.output import OwnFiles
from tlmssd.pts.measure import table_names
from tlmssd.pts.tests import TESTS

MINE = "what the user has written\n"


@pytest.fixture
def two(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Two folders of results, in the present one."""
    monkeypatch.chdir(tmp_path)
    for name in ("a", "b"):
        write(tmp_path / name, report(read=operation(100.0, {"sense": 100.0}, {"sense": 200.0})))
    return ["compare", "a", "b"]


def refused(words: list[str], capsys: pytest.CaptureFixture) -> str:
    """The one line that a command is refused with."""
    assert cli.main(words) == 2
    out, error = capsys.readouterr()
    assert out == ""
    assert error.count("\n") == 1
    return error


@pytest.mark.parametrize("option", ["--out", "--csv"])
def test_an_earlier_output_is_replaced_and_other_files_only_by_force(two, option, capsys):
    assert cli.main([*two, option, "file"]) == 0
    first = Path("file").read_bytes()
    Path("file").write_bytes(first + b"\n")
    assert cli.main([*two, option, "file"]) == 0
    assert Path("file").read_bytes() == first
    Path("file").write_text(MINE)
    Path("link").symlink_to("file")
    capsys.readouterr()
    for name in ("file", "link", "./file"):
        error = refused([*two, option, name], capsys)
        assert f"{Path(name)}: was not written by tlmssd compare; name another" in error
        assert Path("file").read_text() == MINE
    assert cli.main([*two, option, "file", "--force"]) == 0
    assert Path("file").read_bytes() == first


def test_an_empty_file_is_nobodys(two):
    Path("file").touch()
    assert cli.main([*two, "--out", "file"]) == 0


def test_pages_and_tables_are_not_those_of_another_command(two, folder, capsys):
    Path("table").write_text("rank,resource\n1,dies\n")
    assert "was not written by tlmssd compare" in refused([*two, "--csv", "table"], capsys)
    assert cli.main([*two, "--out", "page.html"]) == 0
    capsys.readouterr()
    words = ["whatif", "small.yaml", "--metric", "iops", "--out", "page.html"]
    assert "was not written by tlmssd whatif" in refused(words, capsys)


def test_page_and_table_are_two_files(two, capsys):
    error = refused([*two, "--out", "one", "--csv", "./one"], capsys)
    assert "one: is the file of --out, too" in error
    assert not Path("one").exists()


@pytest.mark.parametrize("force", [[], ["--force"]])
@pytest.mark.parametrize("option", ["--out", "--csv"])
@pytest.mark.parametrize(
    "words",
    [
        ["compare", "small.yaml", "other.yaml"],
        ["compare", "x=small.yaml", "other.yaml"],
        ["whatif", "small.yaml", "--metric", "iops"],
        ["meet", "small.yaml"],
    ],
)
@pytest.mark.parametrize("name", ["small.yaml", "sub/../small.yaml", "link.yaml", "hard.yaml"])
def test_what_is_read_is_never_written(folder, words, option, name, force, capsys):
    """Whatever its path is spelled like."""
    (folder / "sub").mkdir()
    (folder / "other.yaml").write_text((folder / "small.yaml").read_text())
    (folder / "link.yaml").symlink_to("small.yaml")
    os.link("small.yaml", "hard.yaml")
    before = (folder / "small.yaml").read_text()
    error = refused([*words, option, name, *force], capsys)
    assert "is what the command reads; name another" in error
    assert (folder / "small.yaml").read_text() == before


def test_a_report_that_is_compared_is_read(two, capsys):
    for words in (two, ["compare", "a/report.json", "b"]):
        error = refused([*words, "--out", "a/report.json", "--force"], capsys)
        assert "is what the command reads" in error


@pytest.mark.parametrize("name", ["small.yaml", "measured.json", "jobs.fio"])
def test_validate_spares_what_it_reads(folder, name, capsys):
    for made in ("measured.json", "jobs.fio"):
        (folder / made).write_text(MINE)
    words = ["validate", "small.yaml", "measured.json", "--run", "jobs.fio", "--force"]
    before = (folder / name).read_text()
    assert "is what the command reads" in refused([*words, "--out", f"./{name}"], capsys)
    assert (folder / name).read_text() == before
    (folder / "mine.html").write_text(MINE)
    error = refused([*words[:-1], "--out", "mine.html"], capsys)
    assert "was not written by tlmssd validate" in error


def test_studies_spare_what_they_read(folder, capsys):
    """A study or its base among earlier results."""
    study = {"base": "small.yaml", "axes": {"load.iodepth": [1, 2]}}
    (folder / "out").mkdir()
    (folder / "out/.tlmssd-study").touch()
    shutil.copy("small.yaml", "out")
    (folder / "out/resolved-study.yaml").write_text(json.dumps(study))
    words = ["explore", "out/resolved-study.yaml", "--out", "./out", "--check"]
    assert "out/resolved-study.yaml: is what the command reads" in refused(words, capsys)


def test_pts_keeps_to_its_own_files(folder, capsys):
    words = ["pts", "small.yaml", "--out", "p", "--tests", "latency", "--commands", "8", "--force"]
    again = words[:-1]
    (folder / "p").mkdir()
    for name in ("latency.csv", "pts.html", "notes.txt"):
        (folder / "p" / name).write_text(MINE)
        error = refused(again, capsys)
        assert "p: is not empty and was not written by tlmssd pts; name another by --out" in error
        assert (folder / "p" / name).read_text() == MINE
    (folder / "p/.tlmssd-pts").write_text("pts.html\n")
    error = refused(again, capsys)
    assert "p/latency.csv: was not written by tlmssd pts; name another" in error
    assert not (folder / "p/scenarios").exists()
    (folder / "p/latency.csv").unlink()
    scenario = folder / "p/scenarios/5-rounds/latency.yaml"
    scenario.parent.mkdir(parents=True)
    shutil.copy("small.yaml", scenario)
    assert "p/scenarios/5-rounds/latency.yaml: was not written by" in refused(again, capsys)
    own = ["pts", str(scenario), *words[2:]]
    assert "p/scenarios/5-rounds/latency.yaml: is what the command reads" in refused(own, capsys)


def test_pts_knows_its_tables():
    """The list of them, by which it is looked for files of others, is whole: test_pts.py."""
    assert table_names(TESTS["host-idle"]) == ["host-idle", "host-idle-steps"]


def test_a_plan_keeps_to_its_own_files(folder, capsys):
    words = ["probe", "plan", "--capacity", "1 TB", "--out", "plan"]
    assert cli.main(words) == 0
    assert cli.main(words) == 0
    (folder / "plan/spare.fio").write_text(MINE)
    assert cli.main(words) == 0  # which writes no such file
    capsys.readouterr()
    destroying = [*words, "--destroy-all-data-on", "/dev/mine"]
    error = refused(destroying, capsys)
    assert "plan/spare.fio: was not written by tlmssd probe" in error
    assert (folder / "plan/spare.fio").read_text() == MINE
    assert cli.main([*destroying, "--force"]) == 0
    assert "THIS DESTROYS" in (folder / "plan/spare.fio").read_text()


def test_files_that_the_user_has_changed_are_kept(folder, capsys):
    words = ["probe", "plan", "--capacity", "1 TB", "--out", "plan"]
    assert cli.main(words) == 0
    reads = folder / "plan/reads.fio"
    own = reads.read_text()
    reads.write_text(own + MINE)
    capsys.readouterr()
    error = refused(words, capsys)
    assert (
        "plan/reads.fio: was changed after tlmssd probe had written it; move it away, or" in error
    )
    assert reads.read_text() == own + MINE
    assert cli.main([*words, "--force"]) == 0
    assert reads.read_text() == own
    reads.unlink()
    assert cli.main(words) == 0


@pytest.mark.parametrize("name", ["results.csv", "resolved-study.yaml", "summary.json"])
def test_results_of_a_study_that_the_user_has_changed_are_kept(folder, capsys, name):
    study = {"base": "small.yaml", "axes": {"load.iodepth": [1]}}
    (folder / "one.yaml").write_text(json.dumps(study))
    words = ["explore", "one.yaml", "--out", "out", "--no-page", "--jobs", "1"]
    assert cli.main(words) == 0
    assert cli.main(words) == 0
    changed = (folder / "out" / name).read_text() + MINE
    (folder / "out" / name).write_text(changed)
    capsys.readouterr()
    assert cli.main(words) == 2
    said = f"out/{name}: was changed after tlmssd explore had written it; move it away\n"
    assert said in capsys.readouterr().err
    assert (folder / "out" / name).read_text() == changed


def test_own_files_know_what_earlier_versions_and_killed_ones_have_left(tmp_path):
    """Names without digests, and lists without names, say nothing of the content."""
    for name in ("a", "b"):
        (tmp_path / name).write_text(MINE)
    files = OwnFiles(tmp_path, ".mark", "probe")
    for listed, refused_names in (("a\n", ["b"]), ("", []), ("a\nb\n", [])):
        (tmp_path / ".mark").write_text(listed)
        files.check({"a", "b"} - set(refused_names), False)
        for name in refused_names:
            with pytest.raises(InputError, match="was not written by tlmssd probe"):
                files.check([name], False)
    with files.writing(["a"]):
        assert (tmp_path / ".mark").read_text() == "a\nb\n"
        (tmp_path / "a").write_text("written")
    digest = hashlib.sha256(b"written").hexdigest()
    assert (tmp_path / ".mark").read_text() == f"{digest}  a\nb\n"


def test_probe_run_keeps_to_its_own_files(folder, capsys):
    (folder / "found").mkdir()
    (folder / "found/cliff.json").write_text(MINE)
    error = refused(["probe", "run", "small.yaml", "--out", "found"], capsys)
    assert "found/cliff.json: was not written by tlmssd probe" in error
    assert [path.name for path in (folder / "found").iterdir()] == ["cliff.json"]


def test_profile_firmware_keeps_to_its_own_table(folder, capsys):
    (folder / "main.c").write_text(MINE)
    words = ["profile-firmware", "main.c", "--out"]
    assert "main.c: is what the command reads" in refused([*words, "main.c", "--force"], capsys)
    (folder / "costs.csv").write_text("stage, policy, cached, entries, cycles\n")
    error = refused([*words, "costs.csv"], capsys)
    assert "costs.csv: was not written by tlmssd profile-firmware" in error
    (folder / "costs.csv").write_text(f"# {profile_firmware.MADE_BY}: instructions\n")
    missing = [*words, "costs.csv", "--cc", "no-such-compiler"]
    assert "needs no-such-compiler" in refused(missing, capsys)
