"""Results as objects: figures by name, histograms, ledgers."""

import math

import pytest
from reports import operation, report, write

import tlmssd
from tlmssd.errors import InputError
from tlmssd.metrics import UnknownMetric, figures, find, higher_is_better, loads_by_name


@pytest.fixture
def result(tmp_path):
    read = operation(100.0, {"sense": 80.0, "link": 20.0}, {"sense": 80.0, "die busy: gc": 920.0})
    return tlmssd.Result(write(tmp_path / "run", report(read=read)))


def test_a_name_and_its_path_mean_the_same(result):
    for name, path in (
        ("read.p99.9", "results.total.operations.read.latency.p99.9"),
        ("read.ledger.die busy: gc", "results.total.operations.read.ledger.die busy: gc.mean_ns"),
        ("iops", "results.total.iops"),
        ("write_amplification", "write_amplification.total.value"),
        ("lifetime.written", "lifetime.written.value"),
        ("cliff.time", "cliff.time.value"),
        ("statistics.flash.die_1.busy", "statistics.flash.die_1.busy.value"),
        ("loads.load.read.p50", "loads.load.operations.read.latency.p50"),
    ):
        assert result.value(name) == result.value(path)
    assert result.value("read.p99.9") == 1000.0
    assert result.unit("read.p99.9") == "ns"
    assert result.unit("bandwidth") == "B/s"
    assert (result.value("lifetime.written"), result.unit("lifetime.written")) == (6e14, "B")
    assert (result.value("cliff.time"), result.unit("cliff.time")) == (25.0, "s")


def test_short_names_of_targets_are_those_of_statistics():
    told = report(read=operation(1e5, {"sense": 1e5}, {"sense": 2e5}))
    told["statistics"]["firmware"] = {
        "error_correction": {"uber": {"value": 3e-9, "unit": "", "doc": "x"}},
        "blocks": {"erases_max": {"value": 7, "unit": "", "doc": "x"}},
    }
    found = figures(told)
    assert find(found, "uber").value == 3e-9
    assert find(found, "erases.max").value == 7
    assert find(found, "reads_lost") is None


def test_a_lifetime_that_is_not_known_is_no_number(tmp_path):
    content = report()
    content["lifetime"]["written"]["value"] = None
    assert math.isnan(tlmssd.Result(write(tmp_path / "run", content)).value("lifetime.written"))


def test_a_cause_that_took_no_time_is_0(result):
    for name, unit in (
        ("read.ledger.decode", "ns"),
        ("read.ledger.decode.share", "share"),
        ("read.tail.ledger.link", "ns"),
        ("loads.load.read.ledger.decode", "ns"),
    ):
        assert (result.value(name), result.unit(name)) == (0.0, unit)
    for name in ("write.ledger.decode", "read.ledger.decoding"):
        with pytest.raises(UnknownMetric):
            result.value(name)


def test_an_unknown_metric_names_the_nearest(result):
    with pytest.raises(UnknownMetric, match=r"'read.p99.8'.*nearest is 'read.p99.9'"):
        result.value("read.p99.8")


def test_the_frame_has_a_row_for_each_figure(result):
    frame = result.frame().set_index("metric")
    assert list(result.frame().columns) == ["run", "metric", "value", "unit"]
    assert frame.loc["read.p50", "value"] == 100.0
    assert frame.index.is_unique
    assert "statistics.flash.scheme" not in frame.index


def test_histograms_and_ledgers(result):
    histogram = result.histogram("read")
    assert histogram.commands == 1000
    assert histogram.percentile(99.9) == pytest.approx(910, rel=0.1)
    for percent in (-1, 101):
        with pytest.raises(InputError, match="must be from 0 to 100"):
            histogram.percentile(percent)
    ledger = result.ledger("read")
    assert sum(ledger.mean.values()) == pytest.approx(result.value("read.mean"))
    assert ledger.at(1000.0) == pytest.approx({"sense": 80.0, "die busy: gc": 920.0})
    assert sum(ledger.at(1040.0).values()) == pytest.approx(1040.0)
    pooled = tlmssd.Results([result, result]).histogram("read")
    assert pooled.commands == 2000


def test_a_series_has_the_times_of_its_steps(tmp_path):
    content = report()
    content["results"]["total"]["series"] = {
        "step": {"value": 0.5, "unit": "s"}, "read": {"iops": [4, 5, 6]}, "queue_depth": [1, 2],
    }  # fmt: skip
    found = tlmssd.Result(write(tmp_path / "run", content)).time_series()
    assert list(found.itertuples(index=False, name=None)) == [
        (0.0, "read.iops", 4), (0.5, "read.iops", 5), (1.0, "read.iops", 6),
        (0.0, "queue_depth", 1), (0.5, "queue_depth", 2),
    ]  # fmt: skip
    del content["results"]["total"]["series"]["step"]
    with pytest.raises(InputError, match=r"report.json: damaged: KeyError\('step'\)"):
        tlmssd.Result(write(tmp_path / "without", content)).time_series()


def test_what_is_missing_is_said_in_one_line(result, tmp_path):
    with pytest.raises(InputError, match="no 'trim' in .*; there are: read"):
        result.histogram("trim")
    with pytest.raises(InputError, match="not a folder of results"):
        _ = tlmssd.Result(tmp_path / "nothing").report
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken/report.json").write_text("{")
    with pytest.raises(InputError, match="not JSON"):
        _ = tlmssd.Result(tmp_path / "broken").report


def test_a_notebook_gets_a_picture(result):
    page = result._repr_html_()
    assert "<svg" in page
    assert "1.00 us" in page or "1 us" in page


def test_which_way_is_better():
    assert higher_is_better("read.iops") is True
    assert higher_is_better("bandwidth") is True
    assert higher_is_better("read.p99.9") is False
    assert higher_is_better("loads.web.write.mean") is False
    assert higher_is_better("write_amplification") is False
    assert higher_is_better("write_amplification.by_mode.slc") is False
    assert higher_is_better("lifetime.written") is True
    assert higher_is_better("lifetime.cycles_per_drive_write") is False
    assert higher_is_better("lifetime.wear_in_slc_mode") is None
    assert higher_is_better("cliff.time") is True
    assert higher_is_better("statistics.flash.die_0.busy") is None
    assert higher_is_better("read.commands") is None


@pytest.mark.parametrize("name", ["tail", "mean", "ledger", "p99", "read", "a.b"])
def test_names_of_loads_do_not_say_which_way_is_better(name):
    assert higher_is_better(f"loads.{name}.read.commands") is None
    assert higher_is_better(f"loads.{name}.queue_depth.mean") is None
    assert higher_is_better(f"loads.{name}.write.p99.9") is False
    assert higher_is_better(f"loads.{name}.write.tail.ledger.sense") is False
    assert higher_is_better(f"loads.{name}.own_time.iops") is True


def test_no_load_is_lost_by_its_name():
    loads = [{"name": name, "number": place} for place, name in enumerate(["a", "a", "a_2", "a"])]
    found = loads_by_name({"results": {"loads": loads}})
    assert {name: load["number"] for name, load in found.items()} == {
        "a": 0, "a_3": 1, "a_2": 2, "a_4": 3,
    }  # fmt: skip


def test_rates_are_not_known_where_no_time_was_measured(tmp_path):
    content = report(read=operation(100.0, {"sense": 100.0}, {"sense": 200.0}))
    content["measured_time"] = {"value": 0.0, "unit": "s"}
    found = tlmssd.Result(write(tmp_path / "untimed", content))
    for name in ("iops", "bandwidth", "loads.load.iops"):
        assert math.isnan(found.value(name))
    assert found.value("write_amplification") == 1.5
