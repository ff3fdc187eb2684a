"""The shipped data set is what its card and its study say, and what the program gives."""

import re

import pyarrow.parquet as parquet
import pytest

import tlmssd
from tlmssd.engine import thread_pool
from tlmssd.program import SOURCE_TREE
from tlmssd.runs import Runner
from tlmssd.study.session import Session

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


@pytest.mark.parametrize("sample", [6, pytest.param(52, marks=pytest.mark.slow)])
def test_rows_are_what_the_program_gives(study, tmp_path, sample):
    """Some of the rows by chance, with all of their metrics."""
    rows = parquet.read_table(FILE).to_pandas().sample(sample, random_state=18)
    points = list(study.points())
    with Runner(tmp_path / "store", study.limits) as runner, thread_pool() as pool:
        found = Session(study, runner, pool).evaluate([points[place] for place in rows.index])
    for (place, row), made in zip(rows.iterrows(), found, strict=True):
        assert [row[axis.name] for axis in study.axes] == pytest.approx(
            [axis.value(one) for axis, one in zip(study.axes, made.point.choices, strict=True)]
        )
        for name, value in made.values.items():
            assert value == pytest.approx(row[name], rel=RELATIVE_ERROR, nan_ok=True), (
                f"row {place}, {name}: no longer what the program gives; make it anew: "
                "scripts/explore scenarios/studies/design-space.yaml"
            )
