"""What the program says to a study, before anything is run."""

import contextlib
import itertools
import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import NoReturn

from tlmssd import metrics as names
from tlmssd import units
from tlmssd.errors import InputError
from tlmssd.program import Program
from tlmssd.resolve import Resolver, run_key
from tlmssd.scenario import flat
from tlmssd.study.axes import Axis, Choice, Settings
from tlmssd.study.dimensions import Dimension, UnitsError, dimension
from tlmssd.study.document import Entry
from tlmssd.study.expressions import as_name
from tlmssd.study.study import Metric, Point, Study

TRIES = 2000
"""Points in which a value is tried before it is said to fit nowhere."""
EXAMPLES = {"s": "2 ms", "B": "4 GiB", "B/s": "500 MB/s", "Hz": "800 MHz", "C": "40 C"}
"""A quantity of each base unit that a limit must have, too."""
DRIVES = 200
"""Drives that are built in search of one that is not contradictory."""
OWN_TIME_FIGURES = {"start": "s", "span": "s", "iops": "1/s", "bandwidth": "B/s"}
OPERATION_FIGURES = {
    "commands": "commands",
    "bytes": "B",
    "iops": "1/s",
    "bandwidth": "B/s",
    "tail.above": "ns",
    "tail.share": "share",
    **{
        name: "ns"
        for name in [
            "min",
            "mean",
            "stddev",
            "p1",
            "p5",
            "p10",
            "p25",
            "p50",
            "p75",
            "p90",
            "p95",
            "p99",
            "p99.9",
            "p99.99",
            "p99.999",
            "max",
        ]
    },
}


@dataclass(frozen=True)
class Checked:
    """What is known of a study's runs beforehand: the unit of every figure that they may have."""

    units: dict[str, str]

    def unit_of(self, metric: Metric) -> str:
        """Base unit of a metric that is one figure, '' of other expressions."""
        if not metric.expression.is_name:
            return ""
        name = metric.expression.names[0]
        return units.in_base(1.0, self.units.get(names.canonical(name), ""))[1]


def check(study: Study, program: Program, resolver: Resolver) -> Checked:
    """Refuses a study with an axis, a value or a metric that the program does not know, and one
    all of whose points are contradictory: InputError with file and line."""
    for axis in study.axes:
        runs: dict[str, Choice] = {}
        for choice in axis.ends():
            run = run_key(_check_choice(study, axis, choice, resolver), program)
            if (earlier := runs.setdefault(run, choice)) is not choice:
                same = f"{earlier.label} and {choice.label} are the same drive and load"
                axis.entry.fail(f"{same}; leave one of them out")
    own = {metric.name: metric for metric in study.metrics}
    asked = {name for metric in study.metrics for name in metric.expression.names}
    asked |= {name for metric in study.constraints for name in metric.expression.names} - set(own)
    known = _known_of_points(study, program, resolver, asked)
    for metric in study.metrics:
        for name in metric.expression.names:
            _check_name(name, metric.entry or study.entry, known, known.units)

    def dimension_of(name: str) -> Dimension:
        if name in own:
            return dimension(own[name].expression, dimension_of_figure)
        return dimension_of_figure(name)

    def dimension_of_figure(name: str) -> Dimension:
        return Dimension.of(known.base_unit(name))

    for metric in study.metrics:
        _check_units(metric, dimension_of_figure, metric.entry or study.entry)
    for metric in study.constraints:
        for name in metric.expression.names:
            if name not in own:
                _check_name(name, metric.entry, known, {**own, **known.units})
        for name, unit in metric.expression.limits():
            if name not in own:
                _check_limit(name, unit, known.base_unit(name), metric.entry)
            elif own[name].expression.is_name:
                figure = own[name].expression.names[0]
                _check_limit(name, unit, known.base_unit(figure), metric.entry)
        _check_units(metric, dimension_of, metric.entry)
    return Checked(known.units)


def _check_choice(study: Study, axis: Axis, choice: Choice, resolver: Resolver) -> dict:
    """A value must be valid in some point: what else it depends on may be on another axis.

    Returns that point's scenario.
    """
    complaint = None
    others = [(choice,) if other is axis else other.ends() for other in study.axes]
    for choices in itertools.islice(itertools.product(*others), TRIES):
        try:
            return resolver.resolve(study.settings_of(Point(choices), None))
        except InputError as error:
            text = str(error)
            if complaint is None or _is_about(text, choice):
                complaint = text
            if not any(_is_about(text, choice) for choice in choices):
                break  # at fault is the base, or what is set for all points
    _refuse(study, axis.entry, choice, complaint)


def _is_about(complaint: str, choice: Choice) -> bool:
    return any(_reason(complaint, *setting) for setting in choice.settings)


def _reason(complaint: str, path: str, value: str) -> str | None:
    """What the program says of a setting, where the complaint is about that one.

    It begins with '--set path=value: ', in which a long value is cut and ends with '...'.
    """
    rest = complaint.removeprefix(f"--set {path}=")
    if rest == complaint:
        return None
    if rest.startswith(f"{value}: "):
        return rest.removeprefix(f"{value}: ")
    told, cut, reason = rest.partition("...: ")
    return reason if cut and value.startswith(told) else None


def _refuse(study: Study, entry: Entry, choice: Choice, complaint: str) -> NoReturn:
    if not complaint.startswith("--set "):
        raise InputError(complaint)
    for one in (choice, *(end for axis in study.axes for end in axis.ends())):
        for path, value in one.settings:
            if reason := _reason(complaint, path, value):
                raise InputError(f"{entry.file}:{one.line or entry.line}: {reason}")
    refuse_setting(study.settings, study.set_entry, complaint)
    entry.fail(complaint)


def refuse_setting(
    settings: Settings, entry: Entry | None, complaint: str, where: str = ""
) -> None:
    """Raises InputError with the line under `set:` that the program complains about, if it does.

    `entry` is that of `set:`; other `settings` than stand there have no line.
    """
    lines = dict(entry.items()) if entry else {}
    for path, value in settings:
        if path in lines and (reason := _reason(complaint, path, value)):
            lines[path].fail(f"{where}{reason.removeprefix(f'{path}: ')}")


@dataclass
class _Known:
    """What any point may have that was looked at: units of figures, and values of parameters."""

    units: dict[str, str] = field(default_factory=dict)
    parameters: dict[str, str] = field(default_factory=dict)

    def add(self, report: dict, scenario: dict) -> None:
        """Takes in a point: `report` is of `tlmssd figures`."""
        for name, unit in figure_units(report).items():
            self.units.setdefault(name, unit)
        for path, value in flat(scenario).items():
            if units.split(self.parameters.get(path, "")) is None:
                self.parameters[path] = value

    def has(self, name: str) -> bool:
        """Whether a figure, or a parameter that is a number, goes by this name."""
        if name.startswith("scenario."):
            return units.split(self.parameters.get(name.removeprefix("scenario."), "")) is not None
        return names.canonical(name) in self.units

    def base_unit(self, name: str) -> str:
        """Of what has() knows."""
        if name.startswith("scenario."):
            unit = units.split(self.parameters[name.removeprefix("scenario.")])[1]
        else:
            unit = self.units[names.canonical(name)]
        return units.in_base(1.0, unit)[1]


def _known_of_points(
    study: Study, program: Program, resolver: Resolver, asked: Iterable[str]
) -> _Known:
    """What is known of the first point whose drive can be built and, until all that is `asked` for
    is, of those that differ from it by one axis; raises InputError where none can be built."""
    known, first, complaint = _Known(), None, None
    for point in itertools.islice(_points(study), DRIVES):
        try:
            known.add(*_drive(study, point, program, resolver))
            first = point
            break
        except InputError as error:
            complaint = complaint or error
    if first is None:
        said = "every point is contradictory; the first: "
        refuse_setting(study.settings, study.set_entry, str(complaint), said)
        study.entry.fail(f"{said}{complaint}")
    for point in itertools.islice(_neighbours(study, first), DRIVES):
        if all(known.has(name) for name in asked):
            break
        with contextlib.suppress(InputError):
            known.add(*_drive(study, point, program, resolver))
    return known


def _drive(study: Study, point: Point, program: Program, resolver: Resolver) -> tuple[dict, dict]:
    """Figures that a run of `point` may have, and its scenario; raises InputError."""
    settings = study.settings_of(point, study.seeds[0] if study.seeds else None)
    scenario = resolver.resolve(settings)
    arguments = [f"--set={path}={value}" for path, value in settings]
    return json.loads(program.ask("figures", str(study.base), *arguments)), scenario


def _points(study: Study) -> Iterator[Point]:
    if study.search is None:
        return study.points()
    return (Point(choices) for choices in itertools.product(*(axis.ends() for axis in study.axes)))


def _neighbours(study: Study, point: Point) -> Iterator[Point]:
    for place, axis in enumerate(study.axes):
        for choice in axis.ends():
            if choice != point.choices[place]:
                yield Point((*point.choices[:place], choice, *point.choices[place + 1 :]))


def figure_units(report: dict) -> dict[str, str]:
    """Unit of every figure that a report may have; `report` is of `tlmssd figures`."""
    found = {name: figure.unit for name, figure in names.figures(report).items()}
    found |= {name: found[path] for name, path in names.OF_TARGETS.items() if path in found}
    loads = report.get("results", {}).get("loads", [])
    for prefix in ["", *(f"loads.{load['name']}." for load in loads)]:
        if prefix:
            found |= {f"{prefix}own_time.{name}": unit for name, unit in OWN_TIME_FIGURES.items()}
        for operation in names.OPERATIONS:
            for name, unit in OPERATION_FIGURES.items():
                found[f"{prefix}{operation}.{name}"] = unit
            if prefix:
                for name in ("iops", "bandwidth"):
                    found[f"{prefix}{operation}.own_time.{name}"] = OWN_TIME_FIGURES[name]
            for cause in report.get("causes", []):
                for ledger in ("ledger", "tail.ledger"):
                    found[f"{prefix}{operation}.{ledger}.{cause}"] = "ns"
                    found[f"{prefix}{operation}.{ledger}.{cause}.share"] = "share"
    return found


def _check_name(name: str, entry: Entry, known: _Known, offered: Iterable[str]) -> None:
    if known.has(name):
        return
    if not name.startswith("scenario."):
        near = _near(names.canonical(name), offered, as_name)
        entry.fail(f"there is no metric '{name}'{near}")
    path = name.removeprefix("scenario.")
    if path not in known.parameters:
        entry.fail(f"there is no parameter '{path}'{_near(path, known.parameters)}")
    entry.fail(f"'{path}' is no number but '{known.parameters[path]}'")


def _check_limit(name: str, given: str, unit: str, entry: Entry) -> None:
    """A limit has the unit of its figure, and where that is none of EXAMPLES, none."""
    measured = unit if unit in EXAMPLES else ""
    if given == measured:
        return
    right = "a number without unit, or in %"
    if measured:
        right = f"a quantity such as {EXAMPLES[measured]}"
    entry.fail(f"'{entry.text}': '{name}' must be compared with {right}")


def _check_units(metric: Metric, of_name: Callable[[str], Dimension], entry: Entry) -> None:
    try:
        dimension(metric.expression, of_name)
    except UnitsError as error:
        entry.fail(f"'{metric.expression.text}' {error}")


def _near(name: str, known: Iterable[str], written: Callable[[str], str] = str) -> str:
    near = names.nearest(name, known)
    return f"; the nearest is '{written(near)}'" if near else ""
