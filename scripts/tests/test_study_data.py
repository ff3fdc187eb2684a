"""A study's table made ready for pictures: levels, effects with intervals, explained variance."""

import itertools
import json
import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

from tlmssd.errors import InputError
from tlmssd.latency import Histogram
from tlmssd.store import Store
from tlmssd.study_data import Column, StudyData
from tlmssd.study_effects import Effects
from tlmssd.study_page import _curve, _worth_curves, page_of
from tlmssd.study_points import Point, places_of, points_of

IOPS = {"expression": "iops"}
IOPS_COLUMN = Column("iops", "1/s", True)


def table(path, rows, title="made by hand", about=None):
    """Rows (point, die count, policy, seed, status, iops) as explore writes them."""

    def field(name, kind, **about):
        return pa.field(name, kind, metadata=about or None)

    schema = pa.schema(
        [
            field("point", pa.int64()),
            field("dies", pa.int64(), role="axis", unit=""),
            field("policy", pa.string(), role="axis", unit=""),
            field("seed", pa.uint64()),
            field("status", pa.string()),
            field("iops", pa.float64(), role="metric", unit="1/s", **(about or IOPS)),
            field("reason", pa.string()),
            field("run", pa.string()),
            field("settings", pa.string()),
        ],
        metadata={"tlmssd": json.dumps({"title": title, "base": "base.yaml"})},
    )
    whole = [(*row, "" if row[4] == "ok" else "why", "", "") for row in rows]
    columns = [pa.array(column, field.type) for column, field in
               zip(zip(*whole, strict=True), schema, strict=True)]  # fmt: skip
    parquet.write_table(pa.Table.from_arrays(columns, schema=schema), path)
    return StudyData.read(path)


@pytest.fixture
def grid(tmp_path):
    """IOPS are 100 a die, 50 more with fifo, and 1 more or less by the seed."""
    rows, number = [], 0
    for dies in (2, 4, 8):
        for policy, more in (("greedy", 0), ("fifo", 50)):
            number += 1
            for seed, noise in ((1, -1), (2, 0), (2**63 + 1, 1)):
                rows.append((number, dies, policy, seed, "ok", 100.0 * dies + more + noise))
    return table(tmp_path / "results.parquet", rows)


def test_effects_are_means_with_intervals_over_seeds(grid):
    dies, policy = grid.axes
    found = Effects.of(grid, *grid.metrics)
    effects = {row["level"]: row for row in found.means(dies)}
    assert list(effects) == ["2", "4", "8"]
    assert effects["4"]["mean"] == pytest.approx(425)
    width = 4.302653 / math.sqrt(3)
    assert effects["4"]["high"] == pytest.approx(425 + width)
    assert effects["4"]["low"] == pytest.approx(425 - width)
    means = {row["level"]: row["mean"] for row in found.means(policy)}
    assert means["fifo"] - means["greedy"] == pytest.approx(50)


ORGANISED = {
    "channels": [1, 2, 4, 8],
    "ways": [1, 2, 4],
    "spare": [0.15, 0.25, 0.4],
    "organisation": ["channels", "shared-bus-gang"],
}


def study_of(axes, points, iops, seeds=2):
    """A study whose `points` (values of the `axes`) have `iops`, 1 more or less by the seed."""
    rows = []
    for number, values in enumerate(points, 1):
        for seed in range(1, seeds + 1):
            row = {"point": number, "seed": seed, "status": "ok", "reason": ""}
            row |= {"run": "", "settings": ""}
            row |= dict(zip(axes, values, strict=True))
            row["iops"] = iops(**dict(zip(axes, values, strict=True))) + 2 * seed - seeds - 1
            rows.append(row)
    columns = tuple(Column(name, "") for name in axes)
    metrics = (IOPS_COLUMN,)
    return StudyData("drawn", "base.yaml", pd.DataFrame(rows), rows, columns, metrics)


def means_of(data, number):
    """Of every level of an axis: mean, low, high."""
    found = Effects.of(data, *data.metrics).means(data.axes[number])
    return {row["level"]: (row["mean"], row["low"], row["high"]) for row in found}


def test_a_metric_of_any_name_has_effects(grid):
    """One called `level` took the place of the axis' levels."""
    (iops,) = grid.metrics
    expected = Effects.of(grid, iops).means(grid.axes[0])
    for name in ("level", "index", "mean", "0"):
        rows = grid.rows.rename(columns={"iops": name})
        data = replace(grid, rows=rows, metrics=(replace(iops, name=name),))
        assert Effects.of(data, *data.metrics).means(data.axes[0]) == expected


def test_points_that_failed_do_not_pass_their_lack_on_to_other_axes(tmp_path):
    """Gangs of one channel are refused; they looked a quarter better than what they are alike."""

    def iops(channels, ways, spare, organisation):
        return 1000 * channels * ways**0.5 + 100 * spare

    points = [
        one for one in itertools.product(*ORGANISED.values())
        if (one[0], one[3]) != (1, "shared-bus-gang")
    ]  # fmt: skip
    data = study_of(ORGANISED, points, iops)
    plain = data.good.groupby("organisation")["iops"].mean()
    assert plain["shared-bus-gang"] > 1.2 * plain["channels"]
    (alike, low, high), (gang, _, _) = means_of(data, 3).values()
    assert gang == pytest.approx(alike)
    assert low < alike < high
    whole = study_of(ORGANISED, list(itertools.product(*ORGANISED.values())), iops)
    assert alike == pytest.approx(means_of(whole, 3)["channels"][0], rel=1e-6)
    assert Effects.of(data, *data.metrics).explained(data.axes[3]) == 0
    assert not Effects.of(data, *data.metrics).is_grid and Effects.of(whole, *data.metrics).is_grid
    page = page_of(data, Store(tmp_path / "store"))
    assert "The 63 designs are no full grid of all values. Shown are adjusted means" in page
    assert '"grid":false' in page  # of which the heat map speaks


def test_what_adds_up_is_found_however_points_are_missing():
    def iops(channels, ways, spare, organisation):
        return 1000 * channels + 300 * ways - 50 * (organisation == "channels")

    every = list(itertools.product(*ORGANISED.values()))
    middle = np.mean([iops(*one) for one in every])
    for seed in range(5):
        drawn = np.random.default_rng(seed).choice(len(every), 30, replace=False)
        data = study_of(ORGANISED, [every[number] for number in sorted(drawn)], iops)
        for number, share in ((0, 1000 * (8 - 3.75)), (1, 300 * (4 - 7 / 3)), (2, 0)):
            level = list(means_of(data, number).values())[-1]
            assert level == pytest.approx((middle + share,) * 3)


def test_intervals_hold_the_means_of_all_whichever_points_were_drawn():
    """95 % of them should, of what has an effect, and of what has none; 85 % at least."""
    axes = ORGANISED | {"erase": [10.0, 20.0, 40.0, 80.0]}

    def iops(channels, ways, spare, organisation, erase):
        return 1000 * channels**0.7 * ways**0.4 * (1 + 0.2 * spare)

    whole = list(itertools.product(*axes.values()))
    every = pd.DataFrame(whole, columns=list(axes))
    every["iops"] = [iops(*one) for one in whole]
    held, plain, looked = {"ways": 0, "erase": 0}, 0, 0
    for seed in range(100):
        drawn = np.random.default_rng(seed).choice(len(whole), 24, replace=False)
        data = study_of(axes, [whole[number] for number in drawn], iops)
        for name in held:
            found = means_of(data, list(axes).index(name))
            assert len(found) == len(axes[name])
            for level, (_, low, high) in zip(axes[name], found.values(), strict=True):
                true = every.loc[every[name] == level, "iops"].mean()
                held[name] += low <= true <= high
        looked += 1
        means = data.good.groupby("erase")["iops"].mean()
        plain += means.max() > 1.3 * means.min()
    print({name: count / looked / len(axes[name]) for name, count in held.items()}, plain)
    assert plain > 0.5 * looked  # what plain means make of an axis without effect
    for name, count in held.items():
        assert count >= 0.85 * looked * len(axes[name])


def test_what_the_points_do_not_determine_is_not_shown():
    def iops(channels, ways, spare):
        return 100.0 * channels + ways + spare

    axes = {name: ORGANISED[name] for name in ("channels", "ways", "spare")}
    # Ways go with channels: nothing tells which of them does it, but spare flash is known.
    points = [(n, {1: 1, 2: 2, 4: 4, 8: 4}[n], s) for n in (1, 2, 4, 8) for s in (0.15, 0.25, 0.4)]
    data = study_of(axes, points, iops)
    found = Effects.of(data, *data.metrics)
    assert [axis.name for axis in found.missing] == ["channels", "ways"]
    spare = [mean for mean, _, _ in means_of(data, 2).values()]
    assert [mean - spare[0] for mean in spare] == pytest.approx([0, 0.1, 0.25])
    assert found.means(data.axes[0]) == found.means(data.axes[1]) == []
    assert math.isnan(found.explained(data.axes[0]))
    assert math.isnan(found.unexplained)
    assert found.how.endswith("The points do not determine: channels, ways.")
    few = study_of(axes, [(1, 1, 0.15), (2, 4, 0.25), (4, 2, 0.4), (8, 1, 0.25)], iops)
    found = Effects.of(few, *few.metrics)
    assert found.means(few.axes[2]) == [] and "no means are shown" in found.how


def test_explained_variance(grid):
    dies, policy = grid.axes
    found = Effects.of(grid, *grid.metrics)
    assert found.explained(dies) > 0.95
    # Variance of the means: 560000/9 of dies, 625 of the policy, and nothing by chance.
    assert found.explained(policy) == pytest.approx(625 / (560000 / 9 + 625))
    assert found.unexplained == pytest.approx(0, abs=1e-9)


def test_on_a_small_grid_no_axis_hides_another():
    """Of two by two points neither passes for chance: seeds say what chance is."""

    def iops(dies, policy):
        return 100.0 * dies + 50.0 * (policy == "fifo")

    for seeds, dies in ((2, [1, 2]), (1, [1, 2]), (2, [1, 2, 4, 8])):
        axes = {"dies": dies, "policy": ["greedy", "fifo"]}
        points = list(itertools.product(*axes.values()))
        found = Effects.of(study_of(axes, points, iops, seeds), IOPS_COLUMN)
        shares = [found.explained(axis) for axis in found.data.axes]
        parts = [100**2 * np.var(dies), 50**2 / 4]
        assert shares == pytest.approx([part / sum(parts) for part in parts])


DRAWN = [
    (0.15, 5, "a"), (0.15, 10, "b"), (0.2, 10, "a"), (0.2, 15, "a"), (0.2, 15, "b"),
    (0.25, 5, "a"), (0.25, 5, "b"), (0.25, 10, "b"), (0.25, 15, "a"),
]  # fmt: skip
"""Points whose axes go together more or less."""
DRAWN_AXES = {"spare": [0.15, 0.2, 0.25], "depth": [5, 10, 15], "policy": ["a", "b"]}


def test_what_axes_explain_in_common_is_neither_interaction_nor_chance():
    """Of what adds up nothing is left, however much the points confound the axes."""
    data = study_of(DRAWN_AXES, DRAWN, lambda spare, depth, policy: depth + 100 * spare, 1)
    found = Effects.of(data, *data.metrics)
    shares = [found.explained(axis) for axis in data.axes]
    assert not 0.99 < sum(shares) < 1.01  # so there is something that is in common
    assert found.unexplained == pytest.approx(0, abs=1e-9)
    assert "need not add up to 100 %" in found.how


def test_what_the_fit_leaves_is_one_less_the_adjusted_share():
    """As an independent fit has it."""

    def iops(spare, depth, policy):
        return depth * (1 + (policy == "b")) + 100 * spare

    data = study_of(DRAWN_AXES, DRAWN, iops, 1)
    values = np.array([iops(*point) for point in DRAWN])
    others = [
        (place, level) for place, axis in enumerate(DRAWN_AXES.values()) for level in axis[1:]
    ]
    matrix = [[1.0, *(point[place] == level for place, level in others)] for point in DRAWN]
    _, (left,), rank, _ = np.linalg.lstsq(np.array(matrix, float), values, rcond=None)
    expected = left / (len(DRAWN) - rank) / values.var(ddof=1)
    assert 0.01 < expected < 1
    assert Effects.of(data, *data.metrics).unexplained == pytest.approx(expected)


def test_shares_of_axes_that_the_points_tell_apart_add_up():
    """Half of a grid of two levels each, in which every two axes are balanced."""
    axes = {"a": [0, 1], "b": [0, 1], "c": [0, 1], "d": [0, 1], "e": [0, 1]}
    points = [one for one in itertools.product(*axes.values()) if sum(one) % 2 == 0]
    data = study_of(axes, points, lambda a, b, c, d, e: 3.0 * a + b + 2 * c * d, 1)
    found = Effects.of(data, *data.metrics)
    assert not found.is_grid
    shares = [found.explained(axis) for axis in data.axes]
    assert found.unexplained > 0
    assert sum(shares) + found.unexplained == pytest.approx(1, abs=0.02)


def test_an_interaction_is_no_chance_where_there_are_seeds():
    axes = {"a": [0, 1], "b": [0, 1]}
    points = list(itertools.product(*axes.values()))
    found = Effects.of(study_of(axes, points, lambda a, b: 10.0 * (a and b)), IOPS_COLUMN)
    assert [found.explained(axis) for axis in found.data.axes] == pytest.approx([1 / 3, 1 / 3])
    assert found.unexplained == pytest.approx(1 / 3)


@pytest.mark.parametrize("seeds", [1, 3])
@pytest.mark.parametrize("drawn", [0, 30])
def test_an_axis_without_effect_explains_next_to_nothing(seeds, drawn):
    """Of a grid and of drawn points, whatever chance does in each run; the other keeps its own."""
    axes = {"dies": [1, 2, 3], "idle": ["a", "b", "c", "d"], "more": [1, 2, 3, 4, 5]}
    every = list(itertools.product(*axes.values()))
    idle, dies = [], []
    for number in range(40):
        random = np.random.default_rng(number)
        chosen = random.choice(len(every), drawn, replace=False) if drawn else range(len(every))
        points = [every[one] for one in sorted(chosen)]
        data = study_of(axes, points, lambda dies, idle, more: 100.0 * dies, seeds)
        data.rows["iops"] += random.normal(0, 80, len(data.rows))
        found = Effects.of(data, *data.metrics)
        shares = [found.explained(axis) for axis in data.axes]
        dies.append(shares[0])
        idle += shares[1:]
    assert np.mean(idle) < 0.025
    true = 2 / 3 / (2 / 3 + 0.64 / seeds)
    # Of drawn points what two axes explain together belongs to neither.
    assert np.mean(dies) == pytest.approx(true, abs=0.12 if drawn else 0.04)


def test_what_nothing_tells_from_chance_is_not_known():
    """Of one axis, one point for each level, one seed."""
    data = study_of({"dies": [1, 2, 4]}, [(1,), (2,), (4,)], lambda dies: 10.0 * dies, 1)
    assert math.isnan(Effects.of(data, *data.metrics).explained(data.axes[0]))
    data = study_of({"dies": [1, 2, 4]}, [(1,), (2,), (4,)], lambda dies: 10.0 * dies, 2)
    assert Effects.of(data, *data.metrics).explained(data.axes[0]) == pytest.approx(1)


def test_many_values_become_groups(tmp_path):
    rows = [(i, i, "x", 1, "ok", float(i)) for i in range(1, 101)]
    data = table(tmp_path / "results.parquet", rows)
    levels = data.levels(data.axes[0])
    assert len(levels.cat.categories) == 5
    assert levels.value_counts().tolist() == [20] * 5
    assert levels.cat.categories[0].startswith("1 to ")  # not a little less than what there is
    assert Effects.of(data, *data.metrics).explained(data.axes[0]) > 0.9


def test_points_keep_seeds_and_reasons(grid, tmp_path):
    first = next(points_of(grid))
    assert [run["seed"] for run in first.runs] == [1, 2, 2**63 + 1]
    assert first.text(grid.metrics[0]) == "200/s ± 1/s"
    rows = [(1, 2, "x", 1, "crashed", None), (2, 4, "x", 1, "ok", 5.0)]
    data = table(tmp_path / "failed.parquet", rows)
    failed, good = points_of(data)
    assert (failed.reason, failed.text(data.metrics[0]), failed.good) == ("why", "-", [])
    assert good.reason == ""
    assert places_of(data.rows["dies"]) == [0.0, 1.0]
    assert places_of(data.rows["policy"]) == [0.5, 0.5]
    page = page_of(data, Store(tmp_path / "store"))
    assert "1 runs crashed: why" in page


def test_a_design_that_is_there_again_is_no_more_evidence(tmp_path):
    """Of a search, which comes back to what it knows: intervals are those of the designs."""
    rows = [
        (dies, 2 * dies, policy, 1, "ok", 100.0 * dies + more + 7 * (dies == 3))
        for dies in (1, 2, 3)
        for policy, more in (("greedy", 0), ("fifo", 50))
    ]
    rows = [(number, *row[1:]) for number, row in enumerate(rows[:-1], 1)]  # no full grid
    again = [(100 * time + row[0], *row[1:]) for time in range(9) for row in rows]
    once = table(tmp_path / "once.parquet", rows)
    often = table(tmp_path / "often.parquet", rows + again)
    for axis in once.axes:
        means = [Effects.of(data, data.metrics[0]).means(axis) for data in (once, often)]
        assert means[0] == means[1]
        assert means[0][0]["low"] < means[0][0]["high"]


def test_a_point_finds_its_row_and_is_feasible_when_all_its_runs_are(grid):
    for point in points_of(grid):
        assert grid.rows["point"][point.place] == point.number
        assert grid.rows["seed"][point.place] == 1
    for seeds, feasible in (((True, True), True), ((True, False), False), ((None, True), True)):
        runs = [{"status": "ok", "feasible": one} for one in seeds]
        assert Point(1, 0, runs).feasible is feasible


def test_latencies_are_shown_of_the_best_points_first(grid):
    assert list(_worth_curves(grid)) == [6, 5, 4, 3, 2, 1]
    fewer = replace(grid, metrics=(replace(grid.metrics[0], more_is_better=False),))
    assert list(_worth_curves(fewer)) == [1, 2, 3, 4, 5, 6]


def test_a_curve_is_in_seconds_and_ends_with_the_slowest():
    curve = _curve(Histogram(np.array([1e5, 2e5, 3e6]), np.array([60.0, 30.0, 10.0])))
    assert curve[0] == [1e-4, 1.0]
    assert curve[-1] == [3e-3, 0.005]  # half a command of a hundred
    assert [1e-4, 0.4] in curve and [2e-4, 0.1] in curve


def test_a_point_without_all_of_its_results_has_failed(tmp_path):
    """As for a search; one that lost a seed was on the front by those that lived."""
    rows = [
        *((1, 2, "x", seed, "ok", 100.0) for seed in (1, 2)),
        (2, 4, "x", 1, "ok", 900.0),
        (2, 4, "x", 2, "errors", None),
        (3, 8, "x", 1, "ok", 300.0),
        (3, 8, "x", 2, "ok", None),  # that does not know its IOPS
    ]
    data = table(tmp_path / "results.parquet", rows)
    good, failed, partly = points_of(data)
    (iops,) = data.metrics
    assert [point.feasible for point in (good, failed, partly)] == [True, False, True]
    assert [len(point.good) for point in (good, failed, partly)] == [2, 0, 2]
    assert [point.text(iops) for point in (good, failed, partly)] == ["100/s", "-", "-"]
    assert math.isnan(partly.mean(iops))
    assert data.good["point"].unique().tolist() == [1, 3]
    assert data.means()["iops"].dropna().to_dict() == {1: 100}
    assert [row["level"] for row in Effects.of(data, iops).means(data.axes[0])] == ["2"]
    page = page_of(data, Store(tmp_path / "store"))
    assert "5 runs with results, 1 that failed" in page
    assert "1 point has failed: without the results of all of its runs" in page
    assert '"point":2,"ok":false,"feasible":false' in page


@pytest.mark.parametrize(
    ("about", "more"),
    [
        ({"expression": "iops"}, True),
        ({"expression": "loads.load.read.p99"}, False),
        ({"expression": "queue_depth.mean"}, None),
        ({"expression": "iops / 1000"}, None),
        ({"expression": "write_amplification * iops"}, None),
        ({"expression": "iops / 1000", "goal": "maximize"}, True),
        ({"expression": "iops", "goal": "minimize"}, False),
    ],
)
def test_which_way_is_better_is_known_of_figures_and_goals(about, more, tmp_path):
    data = table(tmp_path / "results.parquet", [(1, 2, "x", 1, "ok", 5.0)], about=about)
    assert data.metrics[0].more_is_better is more
    page = page_of(data, Store(tmp_path / "store"))
    assert f'"more":{json.dumps(more)}' in page


def test_a_page_cannot_be_broken_by_a_title(tmp_path):
    title = "</script><script>alert(1)</script>"
    data = table(tmp_path / "results.parquet", [(1, 2, title, 1, "ok", 5.0)], title)
    page = page_of(data, Store(tmp_path / "store"))
    assert "<script>alert" not in page


def test_other_files_are_refused(tmp_path):
    path = tmp_path / "results.parquet"
    path.write_text("no table")
    with pytest.raises(InputError, match="not the results of a study"):
        StudyData.read(path)
