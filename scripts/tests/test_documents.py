"""What the documents show of studies is what is there."""

import os
import re
import subprocess
from pathlib import Path

import pytest

import tlmssd
from tlmssd.program import SOURCE_TREE, find_program
from tlmssd.quantities import quantity_text
from tlmssd.result import Result

STUDY = SOURCE_TREE / "scenarios/studies/spare.yaml"


def without_comments(text: str) -> str:
    return "".join(line for line in text.splitlines(True) if not line.startswith("#"))


def test_the_study_shown_is_the_one_there():
    page = (SOURCE_TREE / "docs/exploring.md").read_text()
    (shown,) = re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)
    assert shown == without_comments(STUDY.read_text())


def test_the_readme_counts_its_lines():
    lines = len(STUDY.read_text().splitlines())
    assert f"runs from {lines} lines" in (SOURCE_TREE / "README.md").read_text()
    assert lines <= 25


def test_pictures_of_the_page_are_there():
    page = (SOURCE_TREE / "docs/exploring.md").read_text()
    pictures = re.findall(r"!\[.+\]\((.+)\)", page)
    assert len(pictures) == 3
    assert all((SOURCE_TREE / "docs" / picture).exists() for picture in pictures)


def test_the_guide_lists_its_sections():
    guide = GUIDE.read_text()
    contents = guide[: guide.index("\n## ")]
    for title in re.findall(r"^## (.*)", guide, re.MULTILINE):
        assert f"[{title.split(' the drive in')[0]}" in contents, title


def test_every_python_command_is_told_where_one_looks_for_it():
    """`meet` was not in the table of commands."""
    pages = [(SOURCE_TREE / "docs" / name).read_text() for name in ("exploring.md", "README.md")]
    tables = [
        " ".join(line for line in page.splitlines() if line.startswith("| ")) for page in pages
    ]
    for command in (
        "explore",
        "compare",
        "whatif",
        "meet",
        "pts",
        "probe",
        "calibrate",
        "validate",
    ):
        for table in tables:
            assert re.search(rf"`(tlmssd )?{command}\b", table), command


@pytest.mark.parametrize("page", ["README.md", "docs/README.md", "docs/user-guide.md"])
def test_the_glossary_is_linked(page):
    assert "glossary.md)" in (SOURCE_TREE / page).read_text()


GUIDE = SOURCE_TREE / "docs/user-guide.md"
VARIANTS = {
    "none": {"firmware.cache.policy": "none"},
    "NV-WB": {},
    "NV-WB, relaxed": {"firmware.cache.copy_waits": "false", "firmware.cache.write_back": "dirty"},
    "write-only": {"firmware.cache.policy": "write-only"},
}
REPLAYS = {"hm_0": "msr_hm_0"}
"""Names of scenarios that are not those of the table."""


def summary_of(title: str, folder: Path) -> str:
    """What the program says of a scenario that the guide shows, in one line."""
    shown = re.findall(r"```yaml\n(.*?)```", GUIDE.read_text(), re.DOTALL)
    (scenario,) = (one for one in shown if one.startswith(f"title: {title}\n"))
    (folder / "shown.yaml").write_text(scenario)
    words = [str(find_program().path), "run", str(folder / "shown.yaml")]
    told = subprocess.run(words, check=True, capture_output=True, text=True, timeout=300).stdout
    return " ".join(told.split())


def test_what_the_guide_quotes_of_its_scenarios_is_what_they_print(tmp_path):
    guide = GUIDE.read_text()
    (hits,) = re.findall(r"`Cache  (nv-wb in SCM .*?)`", guide, re.DOTALL)
    assert " ".join(hits.split()) in summary_of("hybrid drive", tmp_path)
    (errors,) = re.findall(r"The summary gains\n\n(    Error correction.*?)\n\n", guide, re.DOTALL)
    told = summary_of("a year on the shelf at 3000 cycles", tmp_path)
    assert " ".join(errors.split()) in told
    assert "ended-by-size" not in told
    (slc,) = re.findall(r"\(`pSLC  (.*?), \.\.\.`", guide, re.DOTALL)
    words = slc.replace(",", "").split()
    told = summary_of("a drive with pSLC", tmp_path).replace(",", "")
    assert " ".join(words) in told


def test_the_header_of_streams_quotes_its_write_amplifications(tmp_path):
    scenario = SOURCE_TREE / "scenarios/examples/streams.yaml"
    quoted = re.findall(r"\(([\d.]+) against ([\d.]+)\)", scenario.read_text())
    settings = ({}, {"firmware.streams.policy": "none"})
    found = [tlmssd.run(scenario, more, store=tmp_path / "store") for more in settings]
    assert quoted == [tuple(f"{one.value('write_amplification'):.1f}" for one in found)]


@pytest.mark.slow
def test_real_loads_of_the_guide_are_what_their_commands_give(tmp_path):
    """Every row of the table, where the traces are (TLMSSD_TRACES)."""
    if not os.environ.get("TLMSSD_TRACES"):
        pytest.skip("TLMSSD_TRACES does not name a folder of traces")
    (table,) = re.findall(r"\| trace \| cache .*?\n\n", GUIDE.read_text(), re.DOTALL)
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in table.splitlines()[2:-1]]
    assert len(rows) == 16
    wrong = []
    for trace, variant, *shown in rows:
        name = REPLAYS.get(trace, trace)
        scenario = SOURCE_TREE / f"scenarios/replay/hybrid_{name}.yaml"
        found = tlmssd.run(scenario, VARIANTS[variant], store=tmp_path / "store")
        given = replay_row(found)
        if shown != given:
            wrong.append(f"| {trace} | {variant} | {' | '.join(given)} |")
    assert not wrong, "\n".join(wrong)


def replay_row(found: Result) -> list[str]:
    """Of the guide's table, from IOPS on."""
    cached = "statistics.firmware.cache.write_hit_share" in found.figures
    hits = [
        f"{100 * found.value(f'statistics.firmware.cache.{kind}_hit_share'):.0f} %"
        if cached
        else "–"
        for kind in ("read", "write")
    ]
    senses = found.value("statistics.flash.read.operations")
    commands = found.report["results"]["total"]["operations"]["write"]["commands"]
    return [
        f"{found.value('iops'):.0f}",
        *(quantity_text(found.value(f"{kind}.mean"), "ns") for kind in ("read", "write")),
        *hits,
        f"{found.value('write_amplification'):.2f}",
        f"{senses / commands:.2f}",
    ]
