"""Axes of a design space: what may be varied, and the values it may take.

firmware.gc.policy: [greedy, fifo]                      a list
ssd.flash.channels: {from: 2, to: 16, step: 2}          a range
ssd.flash.spare_factor: {from: 5 %, to: 30 %, steps: 6} a range of as many values
load.iodepth: {from: 1, to: 64, factor: 2}              a logarithmic one
ssd.cpu.clock: {from: 400 MHz, to: 2 GHz, scale: log}   any value between (not in a grid)
ssd.flash.part: [parts/nand/a.yaml, {file: parts/nand/b.yaml, planes: 2}]   whole sections
size:                                                   several parameters together, by name
  small: {ssd.flash.channels: 4, ssd.flash.ways: 1}
  large: {ssd.flash.channels: 8, ssd.flash.ways: 4}

No two axes set the same parameter, or one a section and the other what is in it. No two values of
an axis are the same run, as 1 MiB and 1024 KiB are.
"""

import math
from dataclasses import dataclass

from tlmssd import units
from tlmssd.errors import InputError
from tlmssd.scenario import setting_text
from tlmssd.schema import type_of
from tlmssd.study.document import Entry

Settings = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Choice:
    """One value of an axis: how it is called, and the settings it stands for."""

    label: str
    settings: Settings
    line: int = 0


@dataclass(frozen=True)
class Span:
    """All values from `low` to `high` in `unit`; whole numbers only, or by ratios, where said."""

    low: float
    high: float
    unit: str
    logarithmic: bool
    whole: bool

    def at(self, share: float) -> float:
        """The value at `share` (0 to 1) of the way."""
        if self.logarithmic:
            value = self.low * (self.high / self.low) ** share
        else:
            value = self.low + (self.high - self.low) * share
        return float(round(value)) if self.whole else float(f"{value:.9g}")


@dataclass(frozen=True)
class Axis:
    """A dimension of the space: `choices`, or a `span` to choose from."""

    name: str
    choices: tuple[Choice, ...]
    span: Span | None
    entry: Entry

    @property
    def unit(self) -> str | None:
        """Of its values: the first's, where all are numbers of one kind; None: they are words."""
        if self.span:
            return self.span.unit
        found = [units.split(choice.label) for choice in self.choices]
        if None in found:
            return None
        known = [unit for _, unit in found]
        return known[0] if all(_goes_with(unit, known[0]) for unit in known) else None

    def value(self, choice: Choice) -> float | str:
        """What tables hold for a choice: a number in `unit`, or its label."""
        if self.unit is None:
            return choice.label
        return _converted(*units.split(choice.label), self.unit)

    def choose(self, share: float) -> Choice:
        """The choice at `share` (0 up to 1) of the axis."""
        if self.span:
            return self.exactly(self.span.at(share))
        return self.choices[min(int(share * len(self.choices)), len(self.choices) - 1)]

    def choice_of(self, value: float | str) -> Choice:
        """The choice of a value; raises InputError where the axis has no such value."""
        if self.span and not isinstance(value, str) and self.span.low <= value <= self.span.high:
            return self.exactly(float(value))
        for choice in self.choices:
            if value in (choice.label, self.value(choice)):
                return choice
        raise InputError(f"axis {self.name} has no value {value!r}")

    def exactly(self, value: float) -> Choice:
        """The choice of one value of a span, in its unit."""
        text = quantity(value, self.span.unit)
        return Choice(text, ((self.name, text),), self.entry.line)

    def ends(self) -> tuple[Choice, ...]:
        """What is to be valid for all of it to be: every choice, or the ends of the span."""
        if self.span:
            return (self.exactly(self.span.low), self.exactly(self.span.high))
        return self.choices


def read_axis(name: str, entry: Entry, is_parameter: bool) -> Axis:
    """An axis of a study; raises InputError with file and line."""
    if not is_parameter:
        return Axis(name, _linked(entry), None, entry)
    if entry.is_map and "from" in dict(entry.items()):
        choices, span = _range(name, entry)
        return Axis(name, choices, span, entry)
    if entry.is_map:
        entry.fail("give a list of values, or a range such as {from: 1, to: 64, factor: 2}")
    choices = []
    for element in entry.elements():
        text = element.text if not (element.is_map or element.is_list) else None
        text = setting_text(element.value) if text is None else text
        choices.append(Choice(text, ((name, text),), element.line))
    return Axis(name, _distinct(entry, choices), None, entry)


def _linked(entry: Entry) -> tuple[Choice, ...]:
    if entry.is_map:
        named = list(entry.items())
    elif entry.is_list:
        named = [(None, element) for element in entry.elements()]
    else:
        entry.fail("is no parameter; an axis with a name of its own is a map of named settings")
    choices = []
    for label, element in named:
        if not element.is_map:
            place = f"{label}: " if label else ""
            element.fail(f"{place}must be a map of settings, such as {{ssd.flash.channels: 4}}")
        settings = tuple((path, _text(value)) for path, value in element.items())
        if not settings:
            element.fail("has no settings")
        label = label or ", ".join(text for _, text in settings)
        choices.append(Choice(label, settings, element.line))
    return _distinct(entry, choices)


def _text(entry: Entry) -> str:
    return setting_text(entry.value) if entry.is_map or entry.is_list else entry.text


def _distinct(entry: Entry, choices: list[Choice]) -> tuple[Choice, ...]:
    if not choices:
        entry.fail("has no values")
    seen = set()
    for choice in choices:
        if choice.label in seen:
            entry.fail(f"has '{choice.label}' twice")
        seen.add(choice.label)
    return tuple(choices)


def _range(name: str, entry: Entry) -> tuple[tuple[Choice, ...], Span | None]:
    parts = entry.known("from", "to", "step", "steps", "factor", "scale")
    if "to" not in parts:
        entry.fail("a range has from and to")
    low, high, unit = read_span(parts["from"], parts["to"])
    if len(set(parts) & {"step", "steps", "factor"}) > 1:
        entry.fail("give one of step, steps and factor")
    logarithmic = "factor" in parts
    if "scale" in parts:
        logarithmic = parts["scale"].choice("linear", "log") == "log"
        if "factor" in parts and not logarithmic:
            parts["scale"].fail("contradicts factor, which is for scale: log")
        if "step" in parts and logarithmic:
            parts["scale"].fail("contradicts step, which is for scale: linear")
    if logarithmic and low <= 0:
        parts["from"].fail("must be above 0 in a logarithmic range")
    real = (type_of(name) or "").startswith("number")
    whole = low.is_integer() and high.is_integer() and not unit and not real
    span = Span(low, high, unit, logarithmic, whole)
    values = _values(parts, span)
    if values is None:
        return (), span
    texts = list(dict.fromkeys(quantity(value, unit) for value in values))
    return tuple(Choice(text, ((name, text),), entry.line) for text in texts), None


def read_span(low: Entry, high: Entry) -> tuple[float, float, str]:
    """Both ends of a range in the unit of the lower one; raises InputError."""
    least, unit = _quantity(low)
    most = _in_unit(high, unit)
    if most <= least:
        high.fail("must be above from")
    return least, most, unit


def _values(parts: dict[str, Entry], span: Span) -> list[float] | None:
    """The values of a range; None when it has no steps."""
    if "steps" in parts:
        count = parts["steps"].whole(2, 100000)
        return [span.at(i / (count - 1)) for i in range(count)]
    if "step" in parts:
        step = _in_unit(parts["step"], span.unit)
        if step <= 0:
            parts["step"].fail("must be above 0")
        count = math.floor((span.high - span.low) / step + 1e-9) + 1
        _bounded(parts["step"], count)
        return [float(f"{span.low + i * step:.12g}") for i in range(count)]
    if "factor" in parts:
        factor, unit = _quantity(parts["factor"])
        if unit:
            parts["factor"].fail("must be a number without unit, such as 2")
        if factor <= 1:
            parts["factor"].fail("must be above 1")
        count = math.floor(math.log(span.high / span.low) / math.log(factor) + 1e-9) + 1
        _bounded(parts["factor"], count)
        values = [span.low * factor**i for i in range(count)]
        return [float(round(value)) if span.whole else float(f"{value:.12g}") for value in values]
    return None


def _bounded(entry: Entry, count: int) -> None:
    if count > 100000:
        entry.fail(f"makes {count} values; at most 100000")


def _quantity(entry: Entry) -> tuple[float, str]:
    found = units.split(entry.text)
    if found is None or not math.isfinite(found[0]):
        entry.fail("must be a number, with a unit where the parameter has one")
    return found


def _in_unit(entry: Entry, unit: str) -> float:
    """A quantity in another unit of its kind."""
    value, own = _quantity(entry)
    if not _goes_with(own, unit):
        entry.fail(f"needs a unit that goes with '{unit}'" if unit else "must have no unit")
    return _converted(value, own, unit)


def _goes_with(unit: str, other: str) -> bool:
    """Whether quantities in one unit are quantities in the other, too."""
    known = unit in units.BASES and other in units.BASES
    return unit == other or (known and units.kind(unit) == units.kind(other))


def _converted(value: float, unit: str, other: str) -> float:
    if unit == other:
        return value
    return float(f"{value * units.BASES[unit][0] / units.BASES[other][0]:.12g}")


def quantity(value: float, unit: str) -> str:
    """A number with its unit, as scenarios write it."""
    number = str(int(value)) if value.is_integer() and abs(value) < 1e15 else f"{value:.12g}"
    return f"{number} {unit}" if unit else number
