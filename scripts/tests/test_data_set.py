"""The shipped data set is what its card and its study say, and what the program gives."""

import re
import shlex
from pathlib import Path

import pyarrow.parquet as parquet
import pytest

import tlmssd
from tlmssd.program import SOURCE_TREE

DATA = SOURCE_TREE / "docs/data"
FILE = DATA / "design-space.parquet"
STUDY = SOURCE_TREE / "scenarios/studies/design-space.yaml"
RELATIVE_ERROR = 1e-9


@pytest.fixture(scope="module")
def study() -> tlmssd.Study:
    return tlmssd.Study.read(STUDY)


def test_it_is_small_whole_and_as_the_study_says(study):
    assert FILE.stat().st_size < 200e3
    rows = parquet.read_table(FILE).to_pandas()
    assert len(rows) == study.design.points == 512
    assert set(rows["status"]) == {"ok"}
    for axis in study.axes:
        values = rows[axis.name]
        if axis.span:
            assert values.between(axis.span.low, axis.span.high).all()
        else:
            assert set(values) == {axis.value(choice) for choice in axis.choices}


def test_the_card_describes_every_parameter_and_metric(study):
    card = (DATA / "design-space.md").read_text()
    assert card.splitlines()[2].startswith("**Synthetic.**")
    first_cells = "".join(re.findall(r"^\| (`.*?) \|", card, re.MULTILINE))
    described = set(re.findall(r"`([^`]+)`", first_cells))
    names = {axis.name for axis in study.axes} | {metric.name for metric in study.metrics}
    assert names <= described
    file = parquet.read_schema(FILE)
    units = {field.name: field.metadata[b"unit"].decode() for field in file if field.metadata}
    for name, unit in units.items():
        assert name in described
        line = next(line for line in card.splitlines() if f"`{name}`" in line)
        assert not unit or re.search(rf"[ |]{re.escape(unit)}[ ,|]", line), name


@pytest.mark.slow
def test_rows_are_what_the_program_gives(study, tmp_path):
    rows = parquet.read_table(FILE).to_pandas()
    for place in (0, 200, 511):
        row = rows.iloc[place]
        pairs = [word for word in shlex.split(row["settings"]) if word != "--set"]
        settings = tuple(tuple(pair.split("=", 1)) for pair in pairs)
        request = tlmssd.RunRequest(Path(study.base), settings)
        (outcome,) = tlmssd.run_many([request], store=tmp_path / "store")
        iops = outcome.result.value("iops")
        assert iops == pytest.approx(row["iops"], rel=RELATIVE_ERROR), (
            f"row {place} is no longer what the program gives; make it anew: "
            "scripts/explore scenarios/studies/design-space.yaml"
        )
