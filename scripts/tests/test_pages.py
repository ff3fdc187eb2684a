"""The pages in a real browser: drawn, quiet, every text in its box, from a phone to a wall."""

from dataclasses import replace

import numpy as np
import pytest
from browser import Looked, check_page, chromium
from test_compare import side
from test_study_data import study_of, table
from test_whatif import SCENARIO, Lab, slow_clock

from tlmssd import cli
from tlmssd.pictures.assets import asset
from tlmssd.pictures.page import Page
from tlmssd.store import Store
from tlmssd.study_data import Column
from tlmssd.study_page import page_of as study_page_of
from tlmssd.whatif import whatif
from tlmssd.whatif.page import page_of

STUDY = """
title: Which victim policy for how much spare flash?
base: base.yaml
axes:
  firmware.gc.policy: [greedy, fifo]
  ssd.flash.over_provisioning: [30 %, 60 %, 90 %]
seeds: 2
metrics: {iops: iops, tail: read.p99.9}
constraints: [read.p99.9 < 100 s]
objectives: {tail: minimize, iops: maximize}
"""
BASE = """
ssd:
  host: {lba_size: 4 KiB}
  flash: {channels: 1, ways: 2, part: {planes: 1, blocks_per_plane: 32, pages_per_block: 16}}
precondition: {fill: 100 %}
load: {rw: randrw, bs: 4k, iodepth: 8, number_ios: 1000}
"""


REST = "together, or by chance"
"""The bar of what no axis explains by itself."""


@pytest.fixture(scope="module")
def browser():
    with chromium() as made:
        yield made


def test_the_check_sees_what_is_wrong(browser, tmp_path):
    page = Page("wrong")
    page.raw('<p style="white-space:nowrap">' + "far too long " * 300 + "</p>")
    page.script('console.error("something");')
    (tmp_path / "page.html").write_text(page.render())
    looked = Looked(browser, tmp_path / "page.html")
    looked.at(360)
    assert any("something" in line for line in looked.complaints())
    assert any("far too long" in line for line in looked.out_of_box())


def test_comparison(browser, tmp_path):
    folders = [side(tmp_path / name, gc, 4) for name, gc in (("old", 3000), ("new", 1000))]
    page = tmp_path / "page.html"
    assert cli.main(["compare", *map(str, folders), "--out", str(page)]) == 0
    looked = check_page(browser, page)
    words = browser.find_element("tag name", "body").text
    assert "2 us less behind collection" in words
    charts = browser.find_elements("css selector", ".chart svg")
    assert len(charts) == 2 + 5
    assert looked.out_of_box() == []


def test_tables_sort_and_filter(browser, tmp_path):
    folders = [side(tmp_path / name, gc, 4) for name, gc in (("old", 3000), ("new", 1000))]
    page = tmp_path / "page.html"
    cli.main(["compare", *map(str, folders), "--out", str(page)])
    looked = check_page(browser, page)
    looked.at(1280)
    table = browser.find_elements("css selector", ".table")[-1]
    table.find_element("css selector", "input").send_keys("read p99.9")
    rows = table.find_elements("css selector", "tbody tr")
    assert [row.find_element("css selector", "td").text for row in rows] == ["read.p99.9"]
    table = browser.find_elements("css selector", ".table")[0]
    head = table.find_elements("css selector", "th button")[1]
    for direction in ("ascending", "descending"):
        head.click()
        head = table.find_elements("css selector", "th button")[1]
        marked = table.find_element("css selector", "th[aria-sort]")
        assert marked.get_attribute("aria-sort") == direction


def test_what_if(browser, tmp_path):
    scenario = tmp_path / "drive.yaml"
    scenario.write_text(SCENARIO)
    found = whatif(scenario, "read.mean", seeds=3, run=Lab(tmp_path / "lab", slow_clock))
    page = tmp_path / "page.html"
    page.write_text(page_of(found))
    check_page(browser, page)
    words = browser.find_element("tag name", "body").text
    assert "The bottleneck is core clock" in words


def test_a_study_that_does_not_say_what_is_better_has_no_front(browser, tmp_path):
    rows = [
        (
            number,
            number,
            "x",
            seed,
            "errors" if number == seed == 3 else "ok",
            100.0 * number + seed,
        )
        for number in (1, 2, 3)
        for seed in (2, 3)
    ]
    data = table(tmp_path / "results.parquet", rows, about={"expression": "iops / 1000"})
    (tmp_path / "study.html").write_text(study_page_of(data, Store(tmp_path / "store")))
    looked = check_page(browser, tmp_path / "study.html")
    looked.at(1280)
    said = browser.find_element("css selector", "#no-front").text
    assert said.startswith("No Pareto front: whether more or less is better of iops is said by")
    assert not browser.find_elements("css selector", "#chosen li")
    browser.find_element("link text", "3").click()
    details = browser.find_element("css selector", "#details")
    assert "Failed: it does not have the results of all of its runs." in details.text
    assert "Against a constraint" not in details.text
    assert looked.complaints() == []


def test_what_the_points_of_a_study_do_not_determine_is_not_drawn(browser, tmp_path):
    """Two axes that go together, and one that does not; then too few points for any."""
    points = [(a, a, b) for a in (1, 2, 4) for b in (1, 2)]
    for count, drawn in ((6, 1), (3, 0)):
        data = study_of(("a", "b", "c"), points[:count], lambda a, b, c: 100.0 * a + c**a)
        (tmp_path / "study.html").write_text(study_page_of(data, Store(tmp_path / "store")))
        looked = check_page(browser, tmp_path / "study.html")
        looked.at(1280)
        charts = browser.find_elements("css selector", ".chart")
        said = [chart.text for chart in charts[2:5]]
        undetermined = "Not determined by the points of this study."
        assert said.count(undetermined) == (2 if drawn else 3)
        # What is left when an axis' part is not known cannot be told.
        assert REST not in charts[1].get_attribute("innerHTML")
        assert ("Shown are adjusted means" if drawn else "no means are shown") in (
            browser.find_element("css selector", "#how-effects").text
        )
        assert "no full grid" in browser.find_element("css selector", "#how-map").text


def test_a_metric_that_no_point_has_is_said_to_be_none(browser, tmp_path):
    """It went from "Infinity s" to "-Infinity s"."""
    axes, points = ("a", "b"), [(1, 1), (1, 2), (2, 1)]
    data = study_of(axes, [*points, (2, 2)], lambda **one: 100.0 * one["b"])
    data.rows["tail"] = np.nan
    for record in data.records:
        record["tail"] = None
    data = replace(data, metrics=(*data.metrics, Column("tail", "s", False)))
    (tmp_path / "study.html").write_text(study_page_of(data, Store(tmp_path / "store")))
    looked = check_page(browser, tmp_path / "study.html")
    looked.at(1280)
    for name in ("x", "y", "effect", "map-metric"):
        browser.find_elements("css selector", f"#{name} option")[-1].click()
    assert looked.complaints() == [] and looked.out_of_box() == []
    page = browser.find_element("css selector", "body").text
    assert "Infinity" not in page and "NaN" not in page
    assert page.count("No point has it.") == 4  # front, both axes, heat map
    assert "no point has it" in page  # where the lines of all points meet


def test_rows_of_failed_points_are_low_and_long_heads_are_whole(browser, tmp_path):
    rows = [(n, n, "x", 1, "ok" if n < 3 else "failed", 100.0 * n) for n in (1, 2, 3)]
    data = table(tmp_path / "results.parquet", rows)
    name = "a metric with a long name, of thousands of things at once, and of what is behind them"
    reason = "the drive has no room for what it is to hold: " * 6
    for record in data.records:
        record["reason"] = reason if record["status"] != "ok" else ""
        record[name] = record["iops"]
    data.rows[name] = data.rows["iops"]
    data.rows.loc[data.rows["status"] != "ok", "reason"] = reason
    data = replace(data, metrics=(*data.metrics, *(Column(name, "1/s", True),)))
    (tmp_path / "study.html").write_text(study_page_of(data, Store(tmp_path / "store")))
    looked = Looked(browser, tmp_path / "study.html")
    looked.at(700)
    assert looked.complaints() == [] and looked.out_of_box() == []
    heights = [one.size["height"] for one in browser.find_elements("css selector", "tbody tr")]
    assert len(heights) == 3 and max(heights) < 130
    heads = browser.find_elements("css selector", "thead th")
    wide = next(head for head in heads if head.text == name)
    assert wide.size["width"] < 400


SCRIPT = asset("study.js")
FRONT = f"""const good = arguments[0].map(([a, b, feasible], i) =>
  ({{point: i + 1, feasible, means: {{a, b}}}}));
{SCRIPT[SCRIPT.index("const hasNoBest") : SCRIPT.index("const kindOf")]}
return paretoFront({{name: "a", more: arguments[1]}}, {{name: "b", more: arguments[2]}})
  .map((point) => point.point);"""


def test_the_front_is_what_no_other_beats(browser):
    """Whichever way is better, of feasible points that have both metrics; of equals all."""
    points = [
        (3, 3, True), (1, 5, True), (5, 1, True), (4, 4, True), (3, 3, True), (0, 0, False),
        (None, 9, True), (1, 6, True), (9, 9, False), (5, 5, True), (2, 2, True),
        (3, 2, True), (2, 2, True),
    ]  # fmt: skip
    known = {
        n: (a, b) for n, (a, b, feasible) in enumerate(points, 1) if feasible and a is not None
    }
    for more_a in (False, True):
        for more_b in (False, True):
            signs = (-1 if more_a else 1, -1 if more_b else 1)
            worth = {n: (signs[0] * a, signs[1] * b) for n, (a, b) in known.items()}
            expected = [
                n
                for n, (a, b) in worth.items()
                if not any(
                    c <= a and d <= b and (c, d) != (a, b)
                    for other, (c, d) in worth.items()
                    if other != n
                )
            ]
            found = browser.execute_script(FRONT, points, more_a, more_b)
            assert sorted(found) == expected
            assert found == sorted(found, key=lambda n: worth[n])


def test_levels_of_a_heat_map_are_in_order_where_cells_are_empty(browser, tmp_path):
    """They were in the order in which cells have points; one without any is there, too."""
    axes = {"spare": [15.0, 20.0, 28.0, 30.0], "depth": [4, 8, 16]}
    points = [(20.0, 4), (15.0, 8), (28.0, 8), (15.0, 16), (30.0, 16)]
    data = study_of(axes, points, lambda spare, depth: spare * depth, 1)
    data.rows.loc[data.rows["spare"] == 30, "iops"] = float("nan")
    for row in data.records:
        row["iops"] = None if row["spare"] == 30 else row["iops"]
    (tmp_path / "study.html").write_text(study_page_of(data, Store(tmp_path / "store")))
    looked = check_page(browser, tmp_path / "study.html")
    looked.at(1280)
    (place,) = [
        number
        for number, chart in enumerate(browser.find_elements("css selector", "figure"))
        if "Mean over all points of both levels" in chart.text
    ]
    texts = browser.find_elements("css selector", ".chart")[place].find_elements(
        "css selector", "text"
    )
    said = [text.text for text in texts if text.text]
    columns = [text for text in said if text in ("15", "20", "28", "30")]
    assert columns == ["15", "20", "28", "30"]
    assert [text for text in said if text in ("4", "8", "16")] == ["4", "8", "16"]
    assert looked.complaints() == []


def test_study(browser, tmp_path):
    (tmp_path / "base.yaml").write_text(BASE)
    (tmp_path / "study.yaml").write_text(STUDY)
    out, store = tmp_path / "out", tmp_path / "store"
    arguments = ["--out", str(out), "--store", str(store), "--jobs", "2"]
    assert cli.main(["explore", str(tmp_path / "study.yaml"), *arguments]) == 0
    looked = check_page(browser, out / "study.html")
    looked.at(1280)
    rows = browser.find_elements("css selector", ".table tbody tr")
    assert len(rows) == 6
    front = browser.find_elements("css selector", "#chosen li")
    assert front
    matters = browser.find_elements("css selector", ".chart")[1].get_attribute("innerHTML")
    assert matters.index("over_provisioning") < matters.index(REST)
    browser.find_element("link text", "4").click()
    details = browser.find_element("css selector", "#details")
    assert "point 4: firmware.gc.policy fifo" in details.text
    assert "tlmssd run" in details.text
    link = details.find_element("css selector", "a[download]")
    from urllib.parse import unquote

    text = unquote(link.get_attribute("href").split(",", 1)[1])
    import tlmssd

    again = tmp_path / "again.yaml"
    again.write_text(text)
    run = tlmssd.run(again, store=tmp_path / "other")
    import pyarrow.parquet as parquet

    table = parquet.read_table(out / "results.parquet").to_pandas()
    first = table[(table["point"] == 4)].iloc[0]
    assert run.value("iops") == first["iops"]
    for name in ("x", "y", "effect", "map-x", "map-metric"):
        options = browser.find_elements("css selector", f"#{name} option")
        options[-1].click()
    assert looked.complaints() == []
    assert looked.out_of_box() == []
