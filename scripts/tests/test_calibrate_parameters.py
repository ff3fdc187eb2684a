"""Parameters of a calibration: places, values, and what is set over the base."""

from dataclasses import replace

import pytest
import yaml

from tlmssd.calibrate.parameters import read_parameters
from tlmssd.errors import InputError
from tlmssd.study.document import Entry


@pytest.mark.parametrize(
    ("text", "places", "values"),
    [
        ("{choices: [1, 2, 4]}", (0, 0.32, 0.34, 0.66, 0.67, 1), (1, 1, 2, 2, 4, 4)),
        ("{from: 10 us, to: 1 ms}", (0, 0.5, 1), (10, 100, 1000)),  # by ratios
        ("{from: 10 us, to: 20 us}", (0, 0.5, 1), (10, 15, 20)),
        ("{from: 1, to: 16}", (0, 0.5, 1), (1, 4, 16)),
        ("{from: 0, to: 16, scale: linear}", (0, 0.53, 1), (0, 8, 16)),
    ],
)
def test_places_of_values_and_values_of_places(text, places, values):
    (one,) = read_parameters(Entry(yaml.compose(f"x: {text}"), "study"))
    assert [one.value(place) for place in places] == pytest.approx(values)
    for value in values:
        assert one.value(one.place(value)) == pytest.approx(value)
    if one.choices:  # in the middle of its part
        assert [one.place(value) for value in (1, 2, 4)] == pytest.approx([1 / 6, 1 / 2, 5 / 6])


@pytest.mark.parametrize("text", ["{from: 1, to: 16}", "{from: 0, to: 100, scale: linear}"])
def test_a_step_leads_to_another_whole_number(text):
    (one,) = read_parameters(Entry(yaml.compose(f"x: {text}"), "study"))
    for value in (2, 5, 9):
        place = one.place(value)
        assert one.value(place + one.step(place, 0.04)) > value


def test_what_is_set_over_the_base():
    """Whole sectors of bytes, a list where the base has one; and no path twice."""
    entry = Entry(yaml.compose("a: {from: 1 MiB, to: 2 MiB}\nb: {from: 20 us, to: 30 us}"), "study")
    size, time = read_parameters(entry)
    third = dict(size.settings(1 / 3, {"a": "1 MiB"}))
    assert third == {"a": f"{512 * round(2**20 * 4 / 3 / 512)} B"}
    assert dict(time.settings(0.5, {"b": ["20 us"]})) == {"b": "[25 us]"}
    twice = "a: {times: [0.5, 2], of: [x, y]}\ny: {from: 1, to: 2}"
    with pytest.raises(InputError, match="y is fitted twice"):
        read_parameters(Entry(yaml.compose(twice), "study"))


@pytest.mark.parametrize(
    ("base", "factor", "text"),
    [
        ("62.5 us", 0.5673219, "35.457619 us"),
        (["12 ns", "1 us"], 0.9876543, "[11.852 ns, 0.987654 us]"),
        ("533 MHz", 1.033333, "550.766489 MHz"),
        ("1.5 GiB/s", 0.3333333, "536870858 B/s"),
        (1300, 0.7777, "1011"),
    ],
)
def test_factors_give_values_that_scenarios_take(base, factor, text):
    """Whole picoseconds, hertz and bytes per second; such runs were refused."""
    (one,) = read_parameters(Entry(yaml.compose("x: {times: [0.1, 2], scale: linear}"), "study"))
    ((_, found),) = replace(one, low=0.0, high=factor).settings(1.0, {"x": base})
    assert found == text
