"""A study: a base scenario, axes, a design or a search, metrics, constraints, objectives.

title: Which victim policy for how much spare flash?
base: ../quickstart.yaml                # from this file's folder
set: {load.number_ios: 20000}           # over the base, for all points
axes:                                   # see tlmssd.study.axes
  firmware.gc.policy: [greedy, fifo]
  ssd.flash.spare_factor: [7 %, 20 %]
design: grid                            # or {random: 100}, {latin-hypercube: 100}, {sobol: 128}
seeds: 3                                # or a list; none: the base's own
metrics: {tail: read.p99.9, WA: write_amplification}
constraints: [read.p99.9 < 10 ms]
objectives: {tail: minimize, iops: maximize}
search: {engine: optuna, sampler: tpe, points: 100}      # instead of a design
limits: {time: 10 min, memory: 4 GiB}   # of each run
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from tlmssd import units
from tlmssd.execute import Limits
from tlmssd.program import find_program
from tlmssd.scenario import setting_text
from tlmssd.schema import sections
from tlmssd.study.axes import Axis, Choice, Settings, read_axis
from tlmssd.study.designs import Design, check_fit, read_design
from tlmssd.study.document import Entry, read_document
from tlmssd.study.expressions import Expression, ExpressionError, parse
from tlmssd.study.overlaps import refuse_overlaps

KEYS = (
    "title",
    "base",
    "set",
    "axes",
    "design",
    "seeds",
    "metrics",
    "constraints",
    "objectives",
    "search",
    "limits",
)
SAMPLERS = ("tpe", "nsga2", "cmaes", "random")
BLIND = "cmaes takes no account of constraints; valid with them: tpe, nsga2"
DEFAULT_METRICS = ("iops", "bandwidth", "read.p99", "write.p99", "write_amplification")


@dataclass(frozen=True)
class Metric:
    """A column of the results: its name and how it is worked out from a report."""

    name: str
    expression: Expression
    entry: Entry | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Objective:
    """A metric that is to be as small, or as large, as can be."""

    metric: str
    maximize: bool


@dataclass(frozen=True)
class Search:
    """A search by Optuna instead of a design; `batch` points are chosen at a time."""

    sampler: str
    points: int
    seed: int = 1
    batch: int = 10


@dataclass(frozen=True)
class Point:
    """A place in the space: one choice for each axis."""

    choices: tuple[Choice, ...]

    @property
    def settings(self) -> Settings:
        """What is put over the base."""
        return tuple(pair for choice in self.choices for pair in choice.settings)


@dataclass(frozen=True)
class Study:
    """A study as read; what the program has to say about it comes with tlmssd.study.check.

    `entry` and `set_entry` are where axes and settings stand in the file.
    """

    file: Path
    title: str
    base: Path
    settings: Settings
    axes: tuple[Axis, ...]
    design: Design
    seeds: tuple[int, ...]
    metrics: tuple[Metric, ...]
    constraints: tuple[Metric, ...]
    objectives: tuple[Objective, ...]
    search: Search | None
    limits: Limits
    entry: Entry = field(repr=False)
    set_entry: Entry | None = field(default=None, repr=False)

    @staticmethod
    def read(path: str | Path, chooses: bool = True) -> "Study":
        """Reads a study; raises InputError 'file:line: key: what is wrong' at the first mistake.

        `chooses`: whether it chooses its points itself, so that its design must fit its axes.
        """
        document = read_document(Path(path))
        parts = document.known(*KEYS)
        for key in ("base", "axes"):
            if key not in parts:
                document.fail(f"a study needs {key}")
        axes = _axes(parts["axes"])
        design = read_design(parts["design"]) if "design" in parts else Design()
        if "search" in parts and "design" in parts:
            parts["search"].fail("a study has a design or a search, not both")
        metrics = _metrics(parts.get("metrics"))
        metrics, objectives = _objectives(parts.get("objectives"), metrics)
        _refuse_shared_names(axes, metrics)
        constraints = _constraints(parts.get("constraints"))
        seeds = _seeds(parts.get("seeds"))
        refuse_overlaps(axes, parts.get("seeds"), parts.get("set"))
        search = None
        if "search" in parts:
            search = _search(parts["search"], objectives, axes, constraints)
        if search is None and chooses:
            check_fit(design, axes, parts.get("design", parts["axes"]))
        return Study(
            Path(path),
            parts["title"].text if "title" in parts else Path(path).stem,
            read_base(parts["base"], Path(path).parent),
            read_settings(parts.get("set")),
            axes,
            design,
            seeds,
            metrics,
            constraints,
            objectives,
            search,
            read_limits(parts.get("limits")),
            parts["axes"],
            parts.get("set"),
        )

    def points(self) -> Iterator[Point]:
        """The points of the design; none for a search, which chooses as it goes."""
        if self.search is None:
            yield from (Point(choices) for choices in self.design.choose(self.axes))

    def settings_of(self, point: Point, seed: int | None) -> Settings:
        """All that is put over the base for one run."""
        last = (("seed", str(seed)),) if seed is not None else ()
        return self.settings + point.settings + last


def is_parameter(name: str) -> bool:
    """Whether an axis of this name varies the parameter or section of that path.

    A name without a dot that is no section of a scenario is one of the user's own.
    """
    return "." in name or name in sections(find_program())


def _axes(entry: Entry) -> tuple[Axis, ...]:
    axes = tuple(read_axis(name, part, is_parameter(name)) for name, part in entry.items())
    if not axes:
        entry.fail("has no axis")
    for axis in axes:
        if axis.name in RESERVED:
            axis.entry.fail("is the name of a column of the results; choose another")
    return axes


def _refuse_shared_names(axes: tuple[Axis, ...], metrics: tuple[Metric, ...]) -> None:
    """Axes and metrics are columns of one table."""
    named = {metric.name: metric for metric in metrics}
    for axis in axes:
        if axis.name in named:
            own = named[axis.name].entry
            where = f" in line {own.line}" if own else ", which a study without metrics has"
            axis.entry.fail(f"is the name of a metric{where}; choose another")


RESERVED = ("point", "seed", "status", "reason", "run", "settings", "feasible")
"""Columns that every table of results has."""
RESERVED_OF_METRICS = (*RESERVED, "violation", "design")
"""With what a point has beside its metrics: of AskTell.evaluate, and in summary.json."""


def read_base(entry: Entry, folder: Path) -> Path:
    """The scenario that a study builds on, found from its folder; raises InputError."""
    path = folder / entry.text
    if not path.is_file():
        entry.fail(f"there is no file {path}")
    return path


def read_settings(entry: Entry | None) -> Settings:
    """Settings that are put over the base, from a map of paths to values."""
    if entry is None:
        return ()
    return tuple(
        (path, setting_text(part.value) if part.is_map or part.is_list else part.text)
        for path, part in entry.items()
    )


def _seeds(entry: Entry | None) -> tuple[int, ...]:
    """Seeds of the runs of each point; empty: the base's own."""
    if entry is None:
        return ()
    if not entry.is_list:
        return tuple(range(1, entry.whole(1, 100000) + 1))
    seeds = [element.whole(0, 2**63 - 1) for element in entry.elements()]
    if not seeds or len(set(seeds)) < len(seeds):
        entry.fail("must be a number of seeds, or a list of different ones")
    return tuple(seeds)


def read_expression(entry: Entry, text: str) -> Expression:
    """An expression of a study; raises InputError with its place."""
    try:
        return parse(text)
    except ExpressionError as error:
        entry.fail(f"'{text}' {error}")


def _read_metric(entry: Entry, name: str, text: str) -> Metric:
    expression = read_expression(entry, text)
    if expression.is_comparison:
        entry.fail(f"'{text}' compares; that is for constraints, such as constraints: [{text}]")
    return Metric(name, expression, entry)


def _metrics(entry: Entry | None) -> tuple[Metric, ...]:
    if entry is None:
        return tuple(Metric(name, parse(name)) for name in DEFAULT_METRICS)
    named = entry.items() if entry.is_map else ((part.text, part) for part in entry.elements())
    metrics = []
    for name, part in named:
        if name in RESERVED_OF_METRICS or name in (metric.name for metric in metrics):
            part.fail(f"'{name}' is taken; choose another name, such as 'own {name}'")
        metrics.append(_read_metric(part, name, part.text))
    return tuple(metrics)


def _constraints(entry: Entry | None) -> tuple[Metric, ...]:
    constraints = []
    for part in entry.elements() if entry else ():
        expression = read_expression(part, part.text)
        if not expression.is_comparison:
            part.fail("must compare, for instance: read.p99.9 < 5 ms")
        constraints.append(Metric(part.text, expression, part))
    return tuple(constraints)


def _objectives(
    entry: Entry | None, metrics: tuple[Metric, ...]
) -> tuple[tuple[Metric, ...], tuple[Objective, ...]]:
    """Objectives, and the metrics with those added that only objectives name."""
    objectives = []
    for name, part in entry.items() if entry else ():
        goal = part.choice("minimize", "maximize")
        if name in RESERVED_OF_METRICS:
            part.fail("is what results have beside metrics; name a metric")
        if name not in (metric.name for metric in metrics):
            metrics += (_read_metric(part, name, name),)
        # One of those that a study without metrics has is asked for here.
        metrics = tuple(
            replace(metric, entry=part) if metric.name == name and not metric.entry else metric
            for metric in metrics
        )
        objectives.append(Objective(name, goal == "maximize"))
    return metrics, tuple(objectives)


def _search(
    entry: Entry,
    objectives: tuple[Objective, ...],
    axes: tuple[Axis, ...],
    constraints: tuple[Metric, ...],
) -> Search:
    parts = entry.known("engine", "sampler", "points", "seed", "batch")
    if "engine" in parts:
        parts["engine"].choice("optuna")
    if not objectives:
        entry.fail("a search needs objectives, such as objectives: {read.p99.9: minimize}")
    if "points" not in parts:
        entry.fail("say how many points: search: {sampler: tpe, points: 100}")
    sampler = "tpe"
    if "sampler" in parts:
        sampler = parts["sampler"].choice(*SAMPLERS)
    if sampler == "cmaes" and constraints:
        parts["sampler"].fail(BLIND)
    if sampler == "cmaes" and len(objectives) > 1:
        parts["sampler"].fail("cmaes knows one objective only; valid: tpe, nsga2, random")
    if sampler == "cmaes":
        refuse_words(axes)
    return Search(
        sampler,
        parts["points"].whole(1, 1_000_000),
        parts["seed"].whole(0, 2**31) if "seed" in parts else 1,
        parts["batch"].whole(1, 10000) if "batch" in parts else 10,
    )


def refuse_words(axes: tuple[Axis, ...]) -> None:
    """Raises InputError for an axis that cmaes could only draw by chance."""
    for axis in axes:
        if axis.unit is None:
            axis.entry.fail("has values that are no numbers, which cmaes cannot search")


def read_limits(entry: Entry | None) -> Limits:
    """What each run may use; raises InputError."""
    if entry is None:
        return Limits()
    parts = entry.known("time", "memory")

    def read(key: str, base: str, example: str) -> float | None:
        if key not in parts:
            return None
        found = units.split(parts[key].text)
        value, unit = units.in_base(*found) if found else (0.0, "")
        if unit != base or value <= 0:
            parts[key].fail(f"must be a quantity such as {example}")
        return value

    memory = read("memory", "B", "4 GiB")
    return Limits(read("time", "s", "10 min"), int(memory) if memory else None)
