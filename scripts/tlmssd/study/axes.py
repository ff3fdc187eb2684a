"""Axes of a design space: what may be varied, and the values it may take.

firmware.gc.policy: [greedy, fifo]                      a list
ssd.flash.channels: {from: 2, to: 16, step: 2}          a range
ssd.flash.spare_factor: {from: 5 %, to: 30 %, steps: 6} a range of as many values
load.iodepth: {from: 1, to: 64, factor: 2}              a logarithmic one
ssd.cpu.clock: {from: 400 MHz, to: 2 GHz, scale: log}   any value between (not in a grid)
ssd.flash.part.read_latency: {from: 20 us, to: 90 us, steps: 5}   of a list: each a list of one
ssd.flash.part: [parts/nand/a.yaml, {file: parts/nand/b.yaml, planes: 2}]   whole sections
size:                                                   several parameters together, by name
  small: {ssd.flash.channels: 4, ssd.flash.ways: 1}
  large: {ssd.flash.channels: 8, ssd.flash.ways: 4}

Both ends of a range are as written; values between are rounded to what scenarios tell apart, whole
picoseconds, hertz, bytes and bytes per second. Sizes that would have a part of a byte are multiples
of the largest power of two in both ends: up to 4 KiB, of those below 256 KiB up to 512 B.

No two axes set the same parameter, or one a section and the other what is in it. No two values of
an axis are the same run, as 1 MiB and 1024 KiB are.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

from tlmssd import units
from tlmssd.errors import InputError
from tlmssd.scenario import setting_text
from tlmssd.schema import type_of
from tlmssd.study.document import Entry

Settings = tuple[tuple[str, str], ...]

FINEST = {"s": Fraction(1, 10**12), "Hz": Fraction(1), "B": Fraction(1), "B/s": Fraction(1)}
"""What scenarios tell apart, by base unit."""
SECTOR, BLOCK = 512, 4096
"""Bytes: sizes of a range are rounded to multiples of at most the larger."""


@dataclass(frozen=True)
class Choice:
    """One value of an axis: how it is called, and the settings it stands for."""

    label: str
    settings: Settings
    line: int = 0


@dataclass(frozen=True)
class Span:
    """All values from `low` to `high` in `unit`; whole numbers only, or by ratios, where said.

    `ends`: the texts of both; of a size, values between are multiples of `granule` bytes.
    """

    low: float
    high: float
    unit: str
    logarithmic: bool
    whole: bool
    ends: tuple[str, str]
    granule: int = 1

    def text(self, value: float) -> str:
        """A value as scenarios take it."""
        if value <= self.low or value >= self.high:
            return self.ends[value >= self.high]
        return settable(value, self.unit, self.granule)

    def at(self, share: float) -> float:
        """The value at `share` (0 to 1) of the way."""
        if share in (0, 1):
            return self.high if share else self.low
        if self.logarithmic:
            value = self.low * (self.high / self.low) ** share
        else:
            value = self.low + (self.high - self.low) * share
        return float(round(value)) if self.whole else tidy(value, self.unit, 9)


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
        return _choice(self.name, self.span.text(value), self.entry.line)

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
        text = _text(element)
        label = text
        if element.is_list and _is_list(name):
            only = element.elements()
            if len(only) == 1 and units.split(_text(only[0])):
                label = only[0].text  # as values of a range are called
        choices.append(Choice(label, ((name, text),), element.line))
    return Axis(name, _distinct(entry, choices), None, entry)


def _is_list(name: str) -> bool:
    return (type_of(name) or "").startswith("list of ")


def _choice(name: str, text: str, line: int) -> Choice:
    """A value of a range: of a parameter that is a list, a list of one."""
    return Choice(text, ((name, setting_text([text]) if _is_list(name) else text),), line)


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
    ends = quantity(low, unit), _end(parts["to"], quantity(high, unit))
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
    real = (type_of(name) or "").removeprefix("list of ").startswith("number")
    whole = low.is_integer() and high.is_integer() and not unit and not real
    span = Span(low, high, unit, logarithmic, whole, ends, _granule(ends))
    values = _values(parts, span)
    if values is None:
        return (), span
    texts = list(dict.fromkeys(map(span.text, values)))
    return tuple(_choice(name, text, entry.line) for text in texts), None


def _end(entry: Entry, text: str) -> str:
    """The upper end: in the unit of the lower one, unless that is not exactly what is written."""
    return text if _exactly(text) == _exactly(entry.text) else entry.text.strip()


def _granule(ends: tuple[str, str]) -> int:
    """The largest power of two in both sizes, up to BLOCK; 1 where they are none."""
    found = [_exactly(end) for end in ends]
    if any(value.denominator != 1 for value in found):
        return 1
    return math.gcd(BLOCK, *(value.numerator for value in found))


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
        return [tidy(span.low + i * step, span.unit) for i in range(count)]
    if "factor" in parts:
        factor, unit = _quantity(parts["factor"])
        if unit:
            parts["factor"].fail("must be a number without unit, such as 2")
        if factor <= 1:
            parts["factor"].fail("must be above 1")
        count = math.floor(math.log(span.high / span.low) / math.log(factor) + 1e-9) + 1
        _bounded(parts["factor"], count)
        values = [span.low * factor**i for i in range(count)]
        return [float(round(value)) if span.whole else tidy(value, span.unit) for value in values]
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
    if units.BASES[unit][1] == "B":
        return float(Fraction(value) * _factor(unit) / _factor(other))
    return tidy(value * units.BASES[unit][0] / units.BASES[other][0], other)


def tidy(value: float, unit: str, digits: int = 12) -> float:
    """A value without the last digits, which are those of the calculation; a size keeps its bytes,
    of which there may be more than `digits` tell."""
    is_size = units.BASES.get(unit, (1.0, unit))[1] == "B"
    return float(f"{value:.{15 if is_size else digits}g}")


def quantity(value: float, unit: str) -> str:
    """A number with its unit, as scenarios write it."""
    number = str(int(value)) if value.is_integer() and abs(value) < 2**53 else f"{value:.12g}"
    return f"{number} {unit}" if unit else number


def settable(value: float, unit: str, granule: int = 1) -> str:
    """A number with its unit as scenarios take it: whole picoseconds, hertz, bytes and bytes per
    second. What is none yet is rounded, sizes to multiples of `granule` bytes or, where that were
    more than 1/64 of them, of sectors."""
    text = quantity(value, unit)
    base = units.BASES.get(unit, (1.0, unit))[1]
    if base not in FINEST:
        return text
    count = _exactly(text) / FINEST[base]
    if count.denominator == 1:
        return text
    each = 1
    if base == "B":
        each = granule if granule * 64 <= count else math.gcd(granule, SECTOR)
    rounded = max(each, round(count / each) * each)
    text = quantity(float(rounded * FINEST[base] / _factor(unit)), unit)
    return text if _exactly(text) == rounded * FINEST[base] else f"{rounded} {base}"


def _exactly(text: str) -> Fraction:
    """A quantity in its base unit."""
    number, unit = units.QUANTITY.fullmatch(text).groups()
    return Fraction(number) * _factor(unit or "")


def _factor(unit: str) -> Fraction:
    return Fraction(units.BASES.get(unit, (1, ""))[0])
