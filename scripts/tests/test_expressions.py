"""Expressions of a study: names as reports have them, and what is said of the others."""

import json
import math

import pytest
from reports import operation, report

from tlmssd.study.dimensions import Dimension, UnitsError, dimension
from tlmssd.study.expressions import ExpressionError, parse
from tlmssd.study.figures import VIOLATIONS, Reader


@pytest.mark.parametrize(
    ("text", "names", "value"),
    [
        ("read.ledger.map fetch.share * 2", ("read.ledger.map fetch.share",), 6.0),
        ('"read.ledger.die busy: gc" / iops', ("read.ledger.die busy: gc", "iops"), 1.0),
        ("max(iops, 5 ms) - 20 %", ("iops",), 2.8),
        ("loads.load 2.read.p99 * 2", ("loads.load 2.read.p99",), 6.0),
    ],
)
def test_names_and_values(text, names, value):
    expression = parse(text)
    assert expression.names == names
    assert expression.value(lambda name: 3.0) == pytest.approx(value)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("log2(8 * iops)", 5), ("log(exp(3))", 3), ("sqrt(iops) + abs(-2)", 4), ("round(2.6)", 3),
        ("min(iops, 3) - max(1, 2)", 1), ("-iops ** 2", -16), ("2 ** 3 ** 2", 512),
        ("8 / iops / 2", 1), ("1 + 2 * iops", 9), ("(1 + 2) * iops", 12), ("+iops - -1", 5),
    ],
)  # fmt: skip
def test_arithmetic(text, value):
    assert parse(text).value(lambda name: 4.0) == pytest.approx(value)


@pytest.mark.parametrize(
    ("compares", "below", "same", "above"),
    [
        ("<", True, False, False), ("<=", True, True, False), (">", False, False, True),
        (">=", False, True, True), ("==", False, True, False), ("!=", True, False, True),
    ],
)  # fmt: skip
def test_a_comparison_holds_or_misses_by_a_share_of_its_right_side(compares, below, same, above):
    """At most 0 is what holds; of what misses by nothing it is a little more."""
    limit = parse(f"iops {compares} 8")
    for value, holds, share in ((6.0, below, 0.25), (8.0, same, 0.0), (12.0, above, 0.5)):
        missed = limit.violation({"iops": value}.get)
        assert (missed <= 0) is holds is limit.value({"iops": value}.get)
        assert abs(missed) == pytest.approx(share)
    against_zero = parse(f"iops - 2 {compares} 0")
    assert abs(against_zero.violation({"iops": 5.0}.get)) == 3


@pytest.mark.parametrize("text", ["read.p99 +", "iops iops(", "3 parsecs", "1 < 2 < 3", ""])
def test_what_is_no_expression_is_refused(text):
    with pytest.raises(ExpressionError):
        parse(text)


def test_a_cause_that_took_no_time_is_zero_and_an_unknown_figure_is_none(tmp_path):
    """Ledgers leave out what took no time; a run without writes knows nothing of writes."""
    read = operation(10.0, {"sense": 10.0}, {"sense": 10.0})
    text = json.dumps(report(1, read=read)).encode()
    names = ("read.ledger.link.share", "read.tail.ledger.link", "write.ledger.link", "read.p98")
    found = Reader(tuple((name, parse(name)) for name in names))(tmp_path, text, {})
    assert list(found.values())[:2] == [0.0, 0.0]
    assert all(math.isnan(value) for value in list(found.values())[2:])


def read(folder, metrics: dict[str, str], *constraints: str) -> dict:
    """What a run comes to whose only command is a read of 10 ns."""
    text = json.dumps(report(1, read=operation(10.0, {"sense": 10.0}, {"sense": 10.0}))).encode()
    named = tuple((name, parse(expression)) for name, expression in metrics.items())
    return Reader(named, tuple(map(parse, constraints)))(folder, text, {})


def test_a_metric_called_like_a_figure_is_no_other_metrics_figure(tmp_path):
    """Their order made a difference."""
    metrics = {"read.p50": "read.mean / 1 ns", "twice": "2 * read.p50"}
    found = read(tmp_path, metrics)
    assert found == {"read.p50": pytest.approx(10), "twice": pytest.approx(20e-9)}
    assert read(tmp_path, dict(reversed(metrics.items()))) == found


def test_a_constraint_knows_metrics_before_figures_and_is_none_itself(tmp_path):
    """Twice the same constraint, or a metric called like one, made all points infeasible."""
    limit = "read.p50 < 20"
    metrics = {"read.p50": "read.mean / 1 ns", limit: "read.mean"}
    found = read(tmp_path, metrics, limit, limit)
    assert found.pop(VIOLATIONS) == pytest.approx((-0.5, -0.5))
    assert found == {"read.p50": pytest.approx(10), limit: pytest.approx(10e-9)}


@pytest.mark.parametrize(
    "text",
    [
        "read.p99 < 5 ms",
        "5 ms > read.p99",
        "read.p99 != 5 ms",
        "max(write.p99, read.p99) < 5 ms",
        "max(read.p99, write.p99) < 5 ms",
        "write.p99 ** 0.5 < sqrt(-1)",
    ],
)
def test_a_constraint_without_its_figure_does_not_hold(text):
    known = {"read.p99": math.nan, "write.p99": 1e-3}
    assert parse(text).violation(known.get) == math.inf


UNITS = {
    "time": "s", "wait": "s", "iops": "1/s", "clock": "Hz", "bytes": "B", "bandwidth": "B/s",
    "heat": "C", "count": "pages", "share": "share", "power": "W", "energy": "J",
}  # fmt: skip


@pytest.mark.parametrize(
    ("text", "unit"),
    [
        ("time + wait", "s"), ("max(time, 2 ms, wait)", "s"), ("abs(-time) - 3 us", "s"),
        ("bytes / time", "B/s"), ("bandwidth * time", "B"), ("time / wait", ""),
        ("iops * time", ""), ("clock / iops", ""), ("bytes / (2 * time) < 500 MB/s", "B/s"),
        ("time ** 2", "s^2"), ("sqrt(time * wait)", "s"), ("(time * wait) ** (1 / 2)", "s"),
        ("log(time)", ""), ("exp(time / 1 ms) + 1", ""), ("max(time, 0)", "s"), ("0 < time", "s"),
        ("iops < 5000", "1/s"), ("1 / time < 5000", "1/s"), ("iops + count", "1/s"),
        ("iops / bytes < 3", "B^-1 s^-1"), ("share < 20 %", ""), ("heat - 20 C", "C"),
        ("power * time - energy", "J"), ("power < 3", "W"), ("time * -2 ms / 4 s", "s"),
        ("2 ** count * round(time)", "s"),
    ],
)  # fmt: skip
def test_the_unit_of_what_is_worked_out(text, unit):
    found = dimension(parse(text), lambda name: Dimension.of(UNITS[name]))
    assert found.unit == unit


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("max(time, wait) < 10", "compares a quantity in s with a number without unit; write"),
        ("10 > 2 * time", "compares a number without unit with a quantity in s; write the number"),
        ("2 * time < 10 GiB", "compares a quantity in s with a quantity in B"),
        ("time + iops", "adds a quantity in s and a quantity in 1/s"),
        ("time - 1", "subtracts a number without unit from a quantity in s; write"),
        ("time + 1 MiB", "adds a quantity in s and a quantity in B"),
        ("time + 20 %", "adds a quantity in s and a number without unit"),
        ("min(bandwidth, bytes)", "compares a quantity in B/s with a quantity in B"),
        ("time < count", "such as 2 ms"), ("bytes - share", "such as 4 GiB"),
        ("bytes / time > 500", "such as 500 MB/s"), ("heat > 2", "such as 40 C"),
        ("count ** time", "has a quantity in s as an exponent"),
        ("time ** count", "raises a quantity in s to a power that is no plain number"),
        ("(time + bytes) / bytes", "adds a quantity in s and a quantity in B"),
    ],
)  # fmt: skip
def test_what_has_different_units_is_neither_added_nor_compared(text, problem):
    with pytest.raises(UnitsError) as told:
        dimension(parse(text), lambda name: Dimension.of(UNITS[name]))
    assert problem in str(told.value)


@pytest.mark.parametrize("text", ["max(1, read.p99)", "max(read.p99, 1)", "min(iops, read.p99)"])
def test_no_function_hides_that_a_figure_is_not_there(text):
    assert math.isnan(parse(text).value({"read.p99": math.nan, "iops": 1.0}.get))


def test_a_comparison_of_roots_of_negative_numbers_does_not_hold():
    assert parse("(iops - 5) ** 0.5 < 3").violation({"iops": 1.0}.get) == math.inf


@pytest.mark.parametrize("text", ["1e308 * iops * 100", "-1e308 * iops * 100", "iops * 1e101"])
def test_what_is_too_large_for_means_and_variances_is_no_value(text):
    """Infinity is no JSON, and no number for people; sums of squares are infinite before."""
    assert math.isnan(parse(text).value({"iops": 5.0}.get))
    assert parse("iops * 1e99").value({"iops": 5.0}.get) == 5e99
