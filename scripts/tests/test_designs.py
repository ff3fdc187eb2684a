"""Which points a design looks at, and the values of ranges, by their formulas."""

import dataclasses
import io
import math

import numpy as np
import pytest
from scipy.stats import qmc

import tlmssd.study.search as searching
from tests.conftest import carry_out
from tlmssd.study.axes import Choice, read_axis
from tlmssd.study.designs import Design
from tlmssd.study.document import read_document
from tlmssd.study.front import front, repeats
from tlmssd.study.progress import Progress
from tlmssd.study.search import best_of, new_search, search, tell
from tlmssd.study.session import Row, mean_of_seeds
from tlmssd.study.study import Objective, Point, Study


def axis(folder, text, name="ssd.cpu.clock"):
    (folder / "axis.yaml").write_text(f"{name}: {text}\n")
    ((name, entry),) = read_document(folder / "axis.yaml").items()
    return read_axis(name, entry, True)


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("{from: 100 MHz, to: 500 MHz, step: 100 MHz}", [100, 200, 300, 400, 500]),
        ("{from: 100 MHz, to: 450 MHz, step: 0.1 GHz}", [100, 200, 300, 400]),
        ("{from: 0.1 MHz, to: 0.7 MHz, step: 0.1 MHz}", [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7]),
        ("{from: 100 MHz, to: 0.3 GHz, steps: 5}", [100, 150, 200, 250, 300]),
        ("{from: 100 MHz, to: 10 GHz, steps: 3, scale: log}", [100, 1000, 10000]),
        ("{from: 100 MHz, to: 800 MHz, factor: 2}", [100, 200, 400, 800]),
        ("{from: 100 MHz, to: 790 MHz, factor: 2}", [100, 200, 400]),
        ("{from: 1 MHz, to: 1 GHz, factor: 10}", [1, 10, 100, 1000]),
    ],
)
def test_a_range_goes_from_its_first_value_to_its_last(text, values, folder):
    found = axis(folder, text)
    assert [found.value(choice) for choice in found.choices] == values


def test_a_share_of_an_axis(folder):
    """Of a span by differences or ratios; of values each has an equal part."""
    linear, by_ratios = (
        axis(folder, f"{{from: 100 MHz, to: 10 GHz, scale: {scale}}}")
        for scale in ("linear", "log")
    )
    for share in (0, 0.25, 0.5, 1):
        assert linear.value(linear.choose(share)) == pytest.approx(100 + share * 9900)
        assert by_ratios.value(by_ratios.choose(share)) == pytest.approx(100 * 100**share)
    words = axis(folder, "[greedy, fifo, random]", "firmware.gc.policy")
    shares = (0, 0.33, 0.34, 0.66, 0.67, 0.999, 1)
    assert [words.choose(share).label[0] for share in shares] == list("ggffrrr")


SPANS = ("{from: 100 MHz, to: 200 MHz, scale: linear}", "{from: 1, to: 2}")


def chosen(folder, kind, points, seed=1):
    clock, share = (
        axis(folder, text, name)
        for text, name in zip(
            SPANS, ("ssd.cpu.clock", "ssd.flash.reliability.block_variation"), strict=True
        )
    )
    found = Design(kind, points, seed).choose([clock, share])
    return np.array([[clock.value(a) / 100 - 1, share.value(b) - 1] for a, b in found])


@pytest.mark.parametrize("kind", ["random", "latin-hypercube", "sobol"])
def test_a_seed_of_a_design_is_its_points(kind, folder):
    first = chosen(folder, kind, 12)
    assert (first == chosen(folder, kind, 12)).all()
    assert (first != chosen(folder, kind, 12, seed=2)).any()
    assert len(first) == 12


def test_designs_fill_the_space_as_they_should(folder):
    """A Latin hypercube has one point in every twelfth of each axis; Sobol's is scipy's."""
    points = chosen(folder, "latin-hypercube", 12)[:, 0]
    assert sorted(np.floor(12 * points)) == list(range(12))
    reference = qmc.Sobol(2, seed=5).random_base2(4)
    assert chosen(folder, "sobol", 16, 5)[:, 0] == pytest.approx(reference[:, 0], abs=1e-6)


def test_a_point_that_is_drawn_twice_is_looked_at_once(folder):
    words = axis(folder, "[greedy, fifo, random]", "firmware.gc.policy")
    found = [point[0].label for point in Design("random", 50).choose([words])]
    assert sorted(found) == ["fifo", "greedy", "random"]


TEXT = """base: small.yaml
axes:
  load.iodepth: {from: 1, to: 64}
  ssd.flash.channels: [8, 1, 4, 2]
objectives: {tail: minimize, iops: maximize}
metrics: {tail: read.p99, iops: iops}
seeds: 3
search: {sampler: SAMPLER, points: POINTS, seed: SEED, batch: 10}
"""


def study(folder, sampler="random", points=25, seed=1, more=""):
    text = TEXT.replace("SAMPLER", sampler).replace("SEED", str(seed)) + more
    (folder / "search.yaml").write_text(text.replace("POINTS", str(points)))
    return Study.read(folder / "search.yaml")


def rows_of(points, number=lambda point: float(point.choices[0].label), misses=(-1, -1, -1)):
    """Three seeds: a tail of 1, 2 and 6 times the depth."""
    return [
        Row(0, point, seed, "ok", "", "", {"tail": factor * number(point), "iops": 5.0}, (miss,))
        for point in points
        for seed, factor, miss in zip((1, 2, 3), (1, 2, 6), misses, strict=True)
    ]


@pytest.mark.parametrize("sampler", ["tpe", "nsga2", "random"])
def test_another_seed_of_a_search_asks_for_other_points(sampler, folder):
    asked = {}
    for seed in (1, 2):
        rows = search(study(folder, sampler, seed=seed), rows_of)
        assert len(rows) == 3 * 25
        asked[seed] = [[choice.label for choice in row.point.choices] for row in rows]
    assert asked[1] != asked[2]


def told(folder, monkeypatch, **rows):
    """What Optuna was told of each depth: objectives and violations."""
    known = {}

    def noted(asked, trial, values, violations):
        known[trial.params["load.iodepth"]] = (list(values), list(violations))
        tell(asked, trial, values, violations)

    monkeypatch.setattr(searching, "tell", noted)
    search(study(folder, more="constraints: [iops > 3]\n"), lambda points: rows_of(points, **rows))
    return known


def test_a_search_is_told_the_mean_over_seeds_and_the_worst_miss(folder, monkeypatch):
    known = told(folder, monkeypatch, misses=(-2, 0.5, -1))
    assert len(known) > 10
    for depth, (values, violations) in known.items():
        assert values == [pytest.approx(3 * depth), 5]
        assert violations == [0.5]


def test_points_of_a_search_are_numbered_through_its_batches(folder):
    study(folder, points=5, more="")
    text = (folder / "search.yaml").read_text().replace("batch: 10", "batch: 2")
    (folder / "search.yaml").write_text(text.replace("seeds: 3", "seeds: 2"))
    rows = carry_out("search.yaml", "out").rows
    assert [(row.number, row.seed) for row in rows] == [(n, s) for n in range(1, 6) for s in (1, 2)]


def test_a_point_that_lost_a_seed_has_failed():
    point = Point(())
    good = [Row(1, point, seed, "ok", "", "", {"iops": 4.0 * seed}, (-seed,)) for seed in (1, 2)]
    lost = Row(1, point, 3, "timeout", "too long", "", {}, ())
    assert mean_of_seeds(good) == {"status": "ok", "reason": "", "violation": -1, "iops": 6}
    for rows in ([lost, *good], [*good, lost]):
        assert mean_of_seeds(rows) == {"status": "timeout", "reason": "too long"}


def test_numbers_are_asked_for_in_their_order(folder):
    """So that a sampler knows which are near: 2 lies between 1 and 4, wherever it is listed."""
    asked = new_search(study(folder))
    channels = study(folder).axes[1]
    for _ in range(12):
        trial = asked.ask()
        choice = searching.suggest(trial, channels)
        assert choice.label == str([1, 2, 4, 8][trial.params["ssd.flash.channels"]])


def test_the_best_of_a_search_is_the_front_of_what_is_feasible(folder):
    """Down for the tail and up for IOPS; a constraint that is just met is met."""
    asked = new_search(study(folder))
    front = {(1, 3), (2, 5), (4, 9)}
    others = {(1, 2), (2, 4), (5, 9), (4, 8)}
    for values in sorted(front | others):
        tell(asked, asked.ask(), values, [0.0])
    tell(asked, asked.ask(), (0.5, 20), [0.001])
    tell(asked, asked.ask(), (math.nan, 20), [-1])
    assert {tuple(trial.values) for trial in best_of(asked)} == front


def row(number, values, seed=None, status="ok", violation=0.0, channels="1"):
    """A run of a point that is called by its channels."""
    return Row(number, Point((Choice(channels, ()),)), seed, status, "", "", values, (violation,))


def test_the_front_of_a_study(folder):
    """Down for the tail and up for IOPS: ties are both there, a design that is there again once."""
    goals = (Objective("tail", False), Objective("iops", True))
    read = dataclasses.replace(study(folder), objectives=goals)
    values = [(2, 5), (1, 3), (2, 5), (2, 4), (5, 9), (0, 99), (4, 9), (1, 3), (math.nan, 9)]
    rows = [
        row(number, {"tail": tail, "iops": iops}, channels=str(number), violation=float(iops == 99))
        for number, (tail, iops) in enumerate(values, 1)
    ]
    rows.append(row(10, {"tail": 1, "iops": 3}, channels="2"))
    assert [best.number for best in front(read, rows)] == [2, 8, 1, 3, 7]
    assert repeats(rows) == 1
    assert front(dataclasses.replace(read, objectives=()), rows) == []


def test_a_point_is_as_good_as_its_seeds_are_together(folder):
    read = dataclasses.replace(study(folder), objectives=(Objective("tail", False),), seeds=(1, 2))
    rows = [row(1, {"tail": tail}, seed) for seed, tail in ((1, 1.0), (2, 5.0))]
    rows += [row(2, {"tail": 2.0}, seed, channels="2") for seed in (1, 2)]
    (best,) = front(read, rows)
    assert (best.number, best.values) == (2, {"tail": 2.0})
    progress = Progress(read, io.StringIO())
    for one in rows:
        progress.row(one, False)
    assert progress.text().endswith("; best tail 2")
