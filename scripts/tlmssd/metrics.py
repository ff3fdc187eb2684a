"""Figures of report.json by name.

A metric has a short name, and its path in report.json means the same:

| name | in report.json |
|---|---|
| `iops`, `bandwidth`, `queue_depth.mean` | `results.total.iops`, ... |
| `read.iops`, `write.commands` | `results.total.operations.read.iops`, ... |
| `read.mean`, `read.p99.9`, `write.max` | `results.total.operations.read.latency.mean`, ... (ns) |
| `read.ledger.sense` | `results.total.operations.read.ledger.sense.mean_ns` |
| `read.tail.ledger.die busy: gc` | the same of the slowest per cent |
| `loads.NAME.own_time.iops` | from its first command to the end of its last |
| `loads.NAME.read.p99` | the same of one load, by its name (without one: `load`, `load 2`, ...) |
| `write_amplification` | `write_amplification.total.value` |
| `write_amplification.refresh` | `write_amplification.refresh.value` |
| `write_amplification.by_mode.slc` | what was programmed in SLC mode, with a pSLC |
| `lifetime.written` | `lifetime.written.value`: bytes until the flash is worn out |
| `lifetime.drive_writes_per_day` | the same in capacities of the drive, a day for five years |
| `cliff.folding_written`, `cliff.folding_time` | where folding began while the host was at work |
| `cliff.written`, `cliff.time` | where writes first found no room in the pSLC |
| `uber`, `reads_lost`, `host_units_lost` | `statistics.firmware.error_correction.uber.value`, ... |
| `erases.min`, `.mean`, `.max`, `.deviation` | `statistics.firmware.blocks.erases_min.value`, ... |
| `statistics.firmware.flash.erases` | `statistics.firmware.flash.erases.value` |
"""

import difflib
import itertools
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from tlmssd.causes import CAUSES
from tlmssd.errors import InputError

OPERATIONS = ("read", "write", "trim", "flush", "write zeroes")
UNITS = {"commands": "commands", "bytes": "B", "iops": "1/s"}
SKIPPED = {"distribution", "series", "ledger_by_latency", "share_of_time_at_depth", "trace"}
"""Members of report.json that are curves or texts, not figures."""
OF_TARGETS = {
    **{
        name: f"statistics.firmware.error_correction.{name}"
        for name in ("uber", "reads_lost", "host_units_lost")
    },
    **{
        f"erases.{name}": f"statistics.firmware.blocks.erases_{name}"
        for name in ("min", "mean", "max", "deviation")
    },
}
"""Short names that targets of a scenario have for statistics."""
RATES = ("iops", "bandwidth", "queue_depth.mean", "queue_depth.max")
"""Of a load, which are not known where no time was measured."""
NEAR = 0.6
"""Likeness (difflib) from which a name may be what was meant: a swap of letters has 0.75, a random
word some 0.5."""


class UnknownMetric(InputError):
    """There is no such figure in the results; the message names the nearest one there is."""


@dataclass(frozen=True)
class Metric:
    """One figure: `value` (NaN where the run does not know it) in `unit` ('' of plain numbers)."""

    value: float
    unit: str


def is_report(content: object) -> bool:
    """Whether this is what a report.json holds, with results of all loads together."""
    node = content
    for key in ("results", "total", "operations"):
        node = node.get(key) if isinstance(node, Mapping) else None
    return isinstance(node, Mapping)


def figures(report: Mapping) -> dict[str, Metric]:
    """Every figure of a report.json by its short name, in the report's order."""
    found: dict[str, Metric] = {}
    for name in ("seed", "simulated_time", "measured_time", "checks"):
        _add(found, name, report.get(name), "")
    _add_load(found, "", report.get("results", {}).get("total", {}))
    for name, load in loads_by_name(report).items():
        _add_load(found, f"loads.{name}.", load)
    if measured_nothing(report):
        for prefix in ("", *(f"loads.{name}." for name in loads_by_name(report))):
            for name in {prefix + rate for rate in RATES} & found.keys():
                found[name] = Metric(math.nan, found[name].unit)
    for group in ("write_amplification", "lifetime", "cliff", "statistics"):
        _add(found, group, report.get(group), "")
    return {canonical(name): figure for name, figure in found.items()}


def measured_nothing(report: Mapping) -> bool:
    """Whether no time was measured: untimed, or all of the load was ramp."""
    return report.get("measured_time", {}).get("value") == 0


def loads_by_name(report: Mapping) -> dict[str, Mapping]:
    """The results of each load of a report.json; a name that is there again gets a number, one with
    which it is no other load's."""
    loads = report.get("results", {}).get("loads", [])
    given = {load["name"] for load in loads}
    found: dict[str, Mapping] = {}
    for load in loads:
        name = load["name"]
        if name in found:
            numbered = (f"{name}_{number}" for number in itertools.count(2))
            name = next(one for one in numbered if one not in found and one not in given)
        found[name] = load
    return found


def canonical(path: str) -> str:
    """The short name of a figure given by name or by its path in report.json."""
    name = path.removeprefix("results.total.").removeprefix("results.")
    name = name.removeprefix("operations.").replace(".operations.", ".").replace(".latency.", ".")
    for ending in (".value", ".mean_ns"):
        name = name.removesuffix(ending)
    return "write_amplification" if name == "write_amplification.total" else name


def is_statistic(path: str) -> bool:
    """Whether a figure is one of `statistics`, by its path or by a short name."""
    name = canonical(path)
    return OF_TARGETS.get(name, name).startswith("statistics.")


def find(found: Mapping[str, Metric], path: str) -> Metric | None:
    """The figure that `path` names, if these results know it.

    Ledgers leave out what took no time: of an operation that has one, such a cause is 0.
    """
    name = canonical(path)
    if metric := found.get(path) or found.get(name) or found.get(OF_TARGETS.get(name, "")):
        return metric
    operation, _, cause = name.partition(".ledger.")
    if f"{operation.removesuffix('.tail')}.tail.above" not in found:
        return None  # no such operation, or a real drive's
    if cause in CAUSES:
        return Metric(0.0, "ns")
    return Metric(0.0, "share") if cause.removesuffix(".share") in CAUSES else None


def look_up(found: Mapping[str, Metric], path: str) -> Metric:
    """What find() finds; raises UnknownMetric with the nearest figure there is."""
    if metric := find(found, path):
        return metric
    near = nearest(canonical(path), found)
    hint = f"; the nearest is '{near}'" if near else ""
    raise UnknownMetric(f"there is no metric '{path}' in these results{hint}")


def nearest(name: str, known: Iterable[str]) -> str:
    """What of `known` may be meant by `name`; empty where nothing is near."""
    choices = list(known)
    first = name.partition(".")[0]
    of_load = [choice for choice in choices if choice.startswith(f"loads.{first}.")]
    if of_load and not any(choice.startswith(f"{first}.") for choice in choices):
        return next(iter(difflib.get_close_matches(f"loads.{name}", of_load, 1, NEAR)), "")
    if without_operation := [choice for choice in choices if choice.endswith(f".{name}")]:
        return without_operation[0]
    return next(iter(difflib.get_close_matches(name, choices, 1, NEAR)), "")


def higher_is_better(name: str) -> bool | None:
    """True of rates, lifetime and the cliff, False of latencies, waits, wear and write
    amplification; None of the rest."""
    last = name.rsplit(".", 1)[-1]
    if last in ("iops", "bandwidth", "bw") or name.startswith("cliff."):
        return True
    if name.startswith("lifetime."):
        return {"cycles_per_drive_write": False, "wear_in_slc_mode": None}.get(last, True)
    lower = name.startswith(("write_amplification", "checks.wrong"))
    parts = _of_operation(name)
    latency = any(part in ("mean", "max", "min", "stddev", "ledger", "tail") for part in parts)
    percentile = any(part[:1] == "p" and part[1:].isdigit() for part in parts)
    return False if lower or (parts and (latency or percentile)) else None


def _of_operation(name: str) -> list[str]:
    """The words of a figure behind its operation; none where it is of none.

    The name of a load, which may be any word, is not looked at.
    """
    parts = name.split(".")
    first = 2 if parts[0] == "loads" else 0
    places = [place for place in range(first, len(parts)) if parts[place] in OPERATIONS]
    return parts[places[-1] + 1 :] if places else []


def _add_load(found: dict[str, Metric], prefix: str, load: Mapping) -> None:
    for name, part in load.items():
        if name == "operations":
            for operation, measured in part.items():
                _add_operation(found, f"{prefix}{operation}.", measured)
        elif name == "own_time":
            _add_own_time(found, prefix, part)
        elif name not in SKIPPED:
            _add(found, prefix + name, part, UNITS.get(name, ""))


def _add_own_time(found: dict[str, Metric], prefix: str, part: Mapping) -> None:
    for name, figure in part.items():
        _add(found, f"{prefix}own_time.{name}", figure, UNITS.get(name, ""))


def _add_operation(found: dict[str, Metric], prefix: str, measured: Mapping) -> None:
    for name, part in measured.items():
        if name == "latency":
            for figure, value in part.items():
                _add(found, prefix + figure, value, "ns")
        elif name in ("ledger", "tail"):
            for key, value in _ledger_figures(name, part):
                found[prefix + key] = value
        elif name == "own_time":
            _add_own_time(found, prefix, part)
        elif name not in SKIPPED:
            _add(found, prefix + name, part, UNITS.get(name, ""))


def _ledger_figures(name: str, part: Mapping) -> Iterator[tuple[str, Metric]]:
    if name == "tail":
        yield "tail.above", Metric(float(part["above_ns"]), "ns")
        yield "tail.share", Metric(float(part["share"]), "share")
        yield from (("tail." + key, value) for key, value in _ledger_figures("", part["ledger"]))
        return
    for cause, spent in part.items():
        yield f"ledger.{cause}", Metric(float(spent["mean_ns"]), "ns")
        yield f"ledger.{cause}.share", Metric(float(spent["share"]), "share")


def _add(found: dict[str, Metric], name: str, part: object, unit: str) -> None:
    """Numbers, quantities {value, unit}, and groups of them; texts and lists are left out."""
    if part is None and unit:  # a rate where no time has passed
        found[name] = Metric(math.nan, unit)
        return
    if isinstance(part, bool) or part is None:
        return
    if isinstance(part, (int, float)):
        found[name] = Metric(float(part), unit)
    elif isinstance(part, Mapping):
        if "value" in part:
            value = math.nan if part["value"] is None else part["value"]
            _add(found, name, value, part.get("unit", unit))
            return
        for key, member in part.items():
            if key != "doc" and key not in SKIPPED:
                _add(found, f"{name}.{key}", member, unit)
