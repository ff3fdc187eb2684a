"""What a calibration may fit: parameters with ranges.

ssd.flash.part.read_latency: {from: 20 us, to: 150 us}       a range; by ratios where above 0
ssd.cpu.cycles.command: {from: 100, to: 20000}               whole numbers stay whole
ssd.flash.part.program_latency: {times: [0.5, 2]}            factors of the base's values
cycles: {times: [0.2, 5], of: [ssd.cpu.cycles.command, ssd.cpu.cycles.flash]}    several as one
firmware.gc.background_start: {from: 0 %, to: 50 %, scale: linear}
ssd.flash.part.planes: {choices: [1, 2, 4]}                  one of these, and nothing between
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tlmssd import units
from tlmssd.scenario import setting_text
from tlmssd.study.axes import SECTOR, Settings, quantity, read_span, settable
from tlmssd.study.document import Entry

LEAST_RATIO = 3.0
"""A range is taken by ratios when its ends are further apart than this."""


@dataclass(frozen=True)
class Parameter:
    """One unknown: its place in the search is a number from 0 to 1.

    `paths` are the scenario's parameters that it stands for; with `relative` the value is a factor
    of what the base scenario has there. With `choices` each of these has an equal part of the
    range.
    """

    name: str
    paths: tuple[str, ...]
    low: float
    high: float
    unit: str
    logarithmic: bool
    whole: bool
    relative: bool
    entry: Entry
    choices: tuple[float, ...] = ()

    def value(self, place: float) -> float:
        """The value, in `unit`, at a place of the range."""
        place = min(max(place, 0.0), 1.0)
        if self.choices:
            return self.choices[min(int(place * len(self.choices)), len(self.choices) - 1)]
        if self.logarithmic:
            value = self.low * (self.high / self.low) ** place
        else:
            value = self.low + (self.high - self.low) * place
        return float(round(value)) if self.whole else float(f"{value:.7g}")

    def place(self, value: float) -> float:
        """The place of a value."""
        if self.choices:
            return (self.choices.index(value) + 0.5) / len(self.choices)
        if self.logarithmic:
            return math.log(value / self.low) / math.log(self.high / self.low)
        return (value - self.low) / (self.high - self.low)

    @property
    def ends(self) -> tuple[float, ...]:
        """Places whose values must be valid: the ends of the range, or all choices."""
        return tuple(map(self.place, self.choices)) if self.choices else (0.0, 1.0)

    def step(self, place: float, share: float) -> float:
        """A distance from `place` by which the value changes by about `share` of itself."""
        if self.logarithmic:
            distance = share / math.log(self.high / self.low)
        else:
            distance = (
                share * max(abs(self.value(place)), 0.05 * self.high) / (self.high - self.low)
            )
        if self.whole:
            least = 1.0 / (self.high - self.low)
            if self.logarithmic:
                least = math.log1p(1 / self.value(place)) / math.log(self.high / self.low)
            distance = max(distance, 1.01 * least)
        return min(distance, 0.25)

    def settings(self, place: float, base: Mapping[str, Any]) -> Settings:
        """What is put over the base scenario, whose resolved values `base` has by path."""
        value = self.value(place)
        if not self.relative:
            return tuple((path, _setting(base[path], value, self.unit)) for path in self.paths)
        return tuple((path, _scaled(base[path], value)) for path in self.paths)

    def text(self, place: float) -> str:
        """The value as people read it."""
        value = self.value(place)
        return quantity(float(f"{value:.4g}") if not self.whole else value, self.unit)


def read_parameters(entry: Entry) -> tuple[Parameter, ...]:
    """The parameters of a study; raises InputError with file and line."""
    found = [_parameter(name, part) for name, part in entry.items()]
    if not found:
        entry.fail("has no parameter")
    seen: set[str] = set()
    for parameter in found:
        for path in parameter.paths:
            if path in seen:
                parameter.entry.fail(f"{path} is fitted twice")
            seen.add(path)
    return tuple(found)


def _parameter(name: str, entry: Entry) -> Parameter:
    parts = entry.known("from", "to", "times", "of", "scale", "choices")
    paths = tuple(part.text for part in parts["of"].elements()) if "of" in parts else (name,)
    if "seed" in paths:
        entry.fail("a seed is chance, and no property of the drive")
    if "choices" in parts:
        for other in ("from", "to", "times", "scale"):
            if other in parts:
                parts[other].fail("does not go with choices")
        choices, unit = _choices(parts["choices"])
        ends = choices[0], choices[-1]
        return Parameter(name, paths, *ends, unit, False, False, False, entry, choices)
    if "times" in parts:
        if "from" in parts or "to" in parts:
            entry.fail("give from and to, or times, not both")
        low, high = _factors(parts["times"])
        unit, whole = "x", False
    else:
        if "from" not in parts or "to" not in parts:
            entry.fail("give a range {from: 20 us, to: 150 us}, or factors {times: [0.5, 2]}")
        low, high, unit = read_span(parts["from"], parts["to"])
        whole = not unit and low.is_integer() and high.is_integer()
    logarithmic = low > 0 and high / low > LEAST_RATIO
    if "scale" in parts:
        logarithmic = parts["scale"].choice("linear", "log") == "log"
        if logarithmic and low <= 0:
            parts["from"].fail("must be above 0 in a logarithmic range")
    return Parameter(name, paths, low, high, unit, logarithmic, whole, "times" in parts, entry)


def _choices(entry: Entry) -> tuple[tuple[float, ...], str]:
    elements = entry.elements() if entry.is_list else []
    found = []
    for element in elements:
        split = units.split(element.text)
        if split is None:
            element.fail("must be a number, with its unit if it has one")
        found.append(split)
    values = [value for value, _ in found]
    if len(found) < 2 or values != sorted(set(values)) or len({unit for _, unit in found}) > 1:
        entry.fail("must be two or more values of one unit in ascending order, such as [1, 2, 4]")
    return tuple(values), found[0][1]


def _factors(entry: Entry) -> tuple[float, float]:
    value = entry.value
    if not (
        isinstance(value, list)
        and len(value) == 2
        and all(isinstance(part, (int, float)) and not isinstance(part, bool) for part in value)
        and 0 < value[0] < value[1]
    ):
        entry.fail("must be two factors above 0, the smaller first, such as [0.5, 2]")
    return float(value[0]), float(value[1])


def _setting(present: Any, value: float, unit: str) -> str:
    """A value as the scenario takes it: whole sectors, picoseconds, hertz, bytes per second; and
    a list where the base has one."""
    if unit in units.BYTES:
        sectors = max(1, round(value * units.BYTES[unit] / SECTOR))
        text = f"{sectors * SECTOR} B"
    else:
        text = settable(value, unit)
    return f"[{text}]" if isinstance(present, list) else text


def can_be_scaled(present: Any) -> bool:
    """Whether what the base scenario has is a quantity or a list of them, as `times` needs."""
    if isinstance(present, list):
        return bool(present) and all(map(can_be_scaled, present))
    return not isinstance(present, bool) and units.split(str(present)) is not None


def _scaled(present: Any, factor: float) -> str:
    if isinstance(present, list):
        return f"[{', '.join(_scaled(part, factor) for part in present)}]"
    if isinstance(present, (int, float)) and not isinstance(present, bool):
        value = present * factor
        return setting_text(round(value) if isinstance(present, int) else value)
    number, unit = units.split(str(present))
    return _setting(None, float(f"{number * factor:.9g}"), unit)
