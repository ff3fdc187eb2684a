"""What is compared: results of one scenario with one or several seeds, or of a real drive."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tlmssd.errors import InputError
from tlmssd.failures import ACCEPT
from tlmssd.fio_json import FioResult, fio_content, is_fio_json
from tlmssd.result import Result, Results

PER_RUN = {"seed", "title"}
"""Parameters that may differ between the runs of one side."""
PAIRS = 3
"""Seeds from which on sides that have the same ones are compared seed by seed."""


@dataclass(frozen=True)
class Side:
    """Runs that differ in their seed alone."""

    name: str
    results: Results

    @property
    def seeds(self) -> int:
        """How many runs there are."""
        return len(self.results)

    @property
    def cautions(self) -> list[str]:
        """What makes these runs hard to believe: that they did not run to their end, commands that
        failed, and each advice once."""
        ended = Counter(result.report.get("partial") for result in self.results)
        partial = [
            f"{reason}, in {count} of {self.seeds} runs: results of a part of the run, not to be "
            "compared with those of a whole one"
            for reason, count in ended.items()
            if reason
        ]
        failed = Counter(result.failures for result in self.results if result.failures)
        told = [
            f"{reason}, in {count} of {self.seeds} runs: not to be compared; {ACCEPT}"
            for reason, count in failed.items()
        ]
        advice: dict[str, str] = {}
        for result in self.results:
            advice = result.advice_by_rule | advice
        return partial + told + list(advice.values())

    @property
    def why_no_ledgers(self) -> str:
        """A sentence on why it does not say where the time went; empty where it does."""
        if self.has_ledgers:
            return ""
        if self.results[0].parameters.get("run.timed") == "false":
            return (
                f"{self.name} took no simulated time (run.timed: false): it has no rates and no "
                "latencies, and no causes of them"
            )
        if self.results[0].seed is not None:
            return f"{self.name} measured no commands: it has no latencies and no causes of them"
        return f"{self.name} is a real drive: it does not say where its time goes"

    @property
    def has_ledgers(self) -> bool:
        """Whether it says where the time went."""
        return all(result.has_ledgers for result in self.results)


def read_sides(
    given: Sequence[str | Path | Result | Results], ran: Mapping[Path, Results] | None = None
) -> list[Side]:
    """Reads at least two sides; raises InputError with one line for what is wrong.

    `ran` has the results of those that are scenarios.
    """
    if len(given) < 2:
        raise InputError("compare needs two results or more: compare A B [C...]")
    labels, places, contents = zip(*(_read(one, ran or {}) for one in given), strict=True)
    names = _distinct(labels, places)
    sides = [
        Side(name, Results(_by_seed(content)))
        for name, content in zip(names, contents, strict=True)
    ]
    for side in sides:
        _check(side)
    return sides


def _read(
    given: str | Path | Result | Results, ran: Mapping[Path, Results]
) -> tuple[str, Path, list[Result]]:
    """What a side is called, the file or folder that it is, and its results."""
    if isinstance(given, Result):
        return given.name, given.folder, [given]
    if isinstance(given, Sequence) and not isinstance(given, (str, Path)):
        return given[0].name, given[0].folder, list(given)
    label, parts = split_side(str(given))
    scenarios = [part for part in parts if part in ran]
    if scenarios:
        if len(parts) > 1:
            raise InputError(f"{scenarios[0]}: a scenario is a side of its own; give it alone")
        return label or scenarios[0].stem, scenarios[0], list(ran[scenarios[0]])
    found = [result for part in parts for result in _results_in(part)]
    if len(parts) > 1:
        return label or found[0].name, found[0].folder, found
    place = found[0].folder if parts[0].name == "report.json" else parts[0]
    return label or place.resolve().name, place, found


def split_side(text: str) -> tuple[str, list[Path]]:
    """Label (or '') and paths of a side as it stands on the command line."""
    label = ""
    if "=" in text and not Path(text).exists():
        label, text = text.split("=", 1)
    return label, [Path(part) for part in ([text] if Path(text).exists() else text.split(","))]


def files_read(sides: Sequence[str]) -> list[Path]:
    """The files of sides as they stand on the command line: themselves, and reports in folders."""
    paths = [path for side in sides for path in split_side(side)[1]]
    inside = ("report.json", "*/report.json")
    return paths + [file for path in paths for place in inside for file in path.glob(place)]


def _results_in(path: Path) -> list[Result]:
    if (path / "report.json").is_file():
        return [Result(path)]
    if path.is_dir():
        inside = sorted(folder.parent for folder in path.glob("*/report.json"))
        if not inside:
            raise InputError(f"{path}: no results in it (no report.json, here or one folder below)")
        return [Result(folder) for folder in inside]
    if not path.exists():
        raise InputError(f"{path}: there is no such file or folder")
    if path.name == "report.json":
        return [Result(path.parent)]
    if not is_fio_json(path):
        if path.suffix == ".json":
            fio_content(path)  # which says what is wrong with it
        raise InputError(f"{path}: neither a folder of results, nor fio's json, nor a scenario")
    return [FioResult(path)]


def _distinct(labels: Sequence[str], places: Sequence[Path]) -> list[str]:
    """Names of sides; of equal ones the folder above is told as well, or they are numbered."""
    often = Counter(labels)
    names = [
        f"{place.resolve().parent.name}/{label}" if often[label] > 1 else label
        for label, place in zip(labels, places, strict=True)
    ]
    often = Counter(names)
    return [f"{name} ({i + 1})" if often[name] > 1 else name for i, name in enumerate(names)]


def _by_seed(results: Sequence[Result]) -> list[Result]:
    """As given where a real drive is among them, which has no seed."""
    if any(result.seed is None for result in results):
        return list(results)
    return sorted(results, key=lambda result: result.seed)


def are_paired(first: Side, other: Side) -> bool:
    """Whether runs of one side can be set against those of the other, seed by seed.

    Of two pairs there is too little to learn how far they spread.
    """
    seeds = [[result.seed for result in side.results] for side in (first, other)]
    return seeds[0] == seeds[1] and len(seeds[0]) >= PAIRS and None not in seeds[0]


def _check(side: Side) -> None:
    """Runs of one side differ in their seed, and each seed is there once."""
    first = side.results[0]
    for other in side.results[1:]:
        for path in first.parameters.keys() | other.parameters.keys():
            values = first.parameters.get(path), other.parameters.get(path)
            if path not in PER_RUN and values[0] != values[1] and not _is_seed(path):
                raise InputError(
                    f"{side.name}: runs of one side may differ in their seed only; {path} is "
                    f"{values[0]} in {first.folder} and {values[1]} in {other.folder}"
                )
    seeds = Counter(result.seed for result in side.results if result.seed is not None)
    twice = [seed for seed, count in seeds.items() if count > 1]
    if twice:
        raise InputError(f"{side.name}: seed {twice[0]} is there {seeds[twice[0]]} times")


def _is_seed(path: str) -> bool:
    return path.endswith(".randseed")


@dataclass(frozen=True)
class ParameterDifference:
    """A parameter that is not the same on all sides; None where a side does not have it."""

    path: str
    values: tuple[str | None, ...]


def parameter_differences(sides: Sequence[Side]) -> list[ParameterDifference]:
    """What differs in the resolved scenarios, seeds and titles left out; real drives have none."""
    known = [side.results[0].parameters for side in sides]
    paths = dict.fromkeys(path for parameters in known for path in parameters)
    rows = []
    for path in paths:
        values = tuple(parameters.get(path) for parameters in known)
        told = {value for value, parameters in zip(values, known, strict=True) if parameters}
        if len(told) > 1 and path not in PER_RUN:
            rows.append(ParameterDifference(path, values))
    return rows
