"""What the documents show of studies is what is there."""

import re

from tlmssd.program import SOURCE_TREE

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
