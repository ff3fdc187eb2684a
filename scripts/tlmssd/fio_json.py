"""Measurements of real drives: fio's json and json+ output, read as a Result.

Accepts what fio 3.x writes with --output-format=json or json+, also with lines of other output
before or after; of the states that --status-interval has it write the last. Several jobs of one
kind are added up: rates are sums, latencies are pooled. With json+ the pooled distribution is exact
to fio's bins; with json it is interpolated between the percentiles, and p99.9 and the like of
several jobs are approximations. What fio has not written (min, max, a percentile that is not listed
and no bins to count it in) is not there. Sources: fio's stat.c (show_thread_status_json) and HOWTO,
section "JSON output".
"""

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tlmssd.errors import InputError
from tlmssd.latency import Histogram
from tlmssd.result import Result
from tlmssd.text_table import shortened

DIRECTIONS = ("read", "write", "trim")
SAME_SIZE = 1.25
"""Factor between the mean size of commands by a job's rates and by its totals: fio has both from
the same counts, tables made by hand from rounded ones."""
ANOTHER = re.compile(r"^\{", re.MULTILINE)
"""Where one object after another begins."""
PERCENTILES = (1, 5, 10, 25, 50, 75, 90, 95, 99, 99.9, 99.99, 99.999)


class FioResult(Result):
    """What fio measured on a real drive; it has no ledgers, statistics and parameters."""

    def __init__(self, path: str | Path):
        """Raises InputError with the file's name when it is not fio's json."""
        super().__init__(path)
        self.__dict__["report"] = report_of(fio_content(self.folder), self.folder)

    @property
    def name(self) -> str:
        """The file's name without its ending."""
        return self.folder.stem


def is_fio_json(path: Path) -> bool:
    """Whether a file looks like fio's json (a folder of results does not)."""
    if not path.is_file():
        return False
    try:
        return "jobs" in fio_content(path)
    except InputError:
        return False


def report_of(content: Mapping, path: Path) -> dict:
    """The same as a report of the program, as far as fio says it."""
    jobs = _jobs_in(content)
    if not jobs:
        raise InputError(f"{path}: fio's json without a job")
    loads = [{"name": _name_of(job), **_load([job], path)} for job in jobs]
    disks = [disk for disk in content.get("disk_util") or [] if isinstance(disk, Mapping)]
    device = ", ".join(str(disk.get("name")) for disk in disks)
    title = f"{content.get('fio version', 'fio')} on {device or 'a drive'}"
    return {"title": title, "results": {"total": _load(jobs, path), "loads": loads}}


def read_jobs(path: Path, name: Callable[[str], str] = str) -> dict[str, dict]:
    """Each job of fio's json as a load of a report; those of one `name` are taken together.

    Raises InputError with the file's name when it is not fio's json.
    """
    named: dict[str, list[Mapping]] = {}
    for job in _jobs_in(fio_content(path)):
        named.setdefault(name(_name_of(job)), []).append(job)
    return {job: _load(parts, path) for job, parts in named.items()}


def failed_jobs(path: Path) -> dict[str, int]:
    """Jobs of fio's json that ended with an error, and its number."""
    errors = ((job, _place(path, job)) for job in _jobs_in(fio_content(path)))
    found = {_name_of(job): int(_number(job, "error", place, 0)) for job, place in errors}
    return {job: error for job, error in found.items() if error}


def check_jobs(path: Path) -> None:
    """Raises InputError where jobs of fio's json cannot have been: other ones under one name, and
    rates that their commands and bytes deny."""
    content = fio_content(path)
    named: dict[str, int] = {}
    for job in _jobs_in(content):
        name, place = _name_of(job), _place(path, job)
        named[name] = named.get(name, 0) + 1
        if named[name] > _copies(content, job):
            raise InputError(
                f"{place}: {named[name]} jobs have this name, and their numjobs does not say so: "
                "give each a name of its own"
            )
        for direction in DIRECTIONS:
            _check_rates(_section(job, direction, place), f"{place}: {direction}")


def same_jobs(path: Path, other: Path) -> bool:
    """Whether two files of fio's json have the same jobs, to the last figure."""
    return path == other or fio_content(path)["jobs"] == fio_content(other)["jobs"]


def _copies(content: Mapping, job: Mapping) -> float:
    """How many jobs of this name fio writes: as many as its numjobs."""
    for options in (job.get("job options"), content.get("global options")):
        given = options.get("numjobs") if isinstance(options, Mapping) else None
        if given is not None and str(given).isdigit():
            return int(given)
    return 1


def _check_rates(part: Mapping, place: str) -> None:
    """fio divides commands and bytes by one runtime (ms); below 1 ms it has none, and no rates. The
    rate in bytes has no fraction: less than 1 B/s is 0."""
    commands, size = (_number(part, key, place, 0) for key in ("total_ios", "io_bytes"))
    runtime = _number(part, "runtime", place)
    if not commands or runtime == 0:
        return
    iops, bandwidth = (_number(part, key, place, math.inf) for key in ("iops", "bw_bytes"))
    is_slow = runtime is not None and 1000 * size / runtime < 1
    for key, value in (("iops", iops), ("bw_bytes", bandwidth)):
        if value == 0 and not (is_slow and size and key == "bw_bytes"):
            raise InputError(f"{place}: {commands:g} commands at a rate of 0 ({key})")
    if size and iops < math.inf and bandwidth < math.inf:
        here, there = bandwidth / iops, size / commands
        if here >= SAME_SIZE * there or (bandwidth + 1) / iops <= there / SAME_SIZE:
            raise InputError(
                f"{place}: iops {iops:g} and bw_bytes {bandwidth:g} make commands of {here:.3g} B, "
                f"and io_bytes {size:g} of {commands:g} commands makes {there:.3g} B"
            )


def fio_content(path: Path) -> dict:
    """All of fio's json as it is; raises InputError with the file's name when it is none."""
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from error
    # fio prints warnings ("fio: ...") before the object, and json+ to a terminal may add lines.
    content, end = _object(path, text, max(text.find("{"), 0))
    # With --status-interval it writes where it stands again and again, and in the end once more.
    while later := ANOTHER.search(text, end):
        before = content
        content, end = _object(path, text, later.start())
        if list(map(_name_of, _jobs_in(content))) != list(map(_name_of, _jobs_in(before))):
            raise InputError(f"{path}: results of several runs of fio: give each a file of its own")
    return content


def _object(path: Path, text: str, start: int) -> tuple[dict, int]:
    """An object of fio's in a text, and where it ends."""
    try:
        content, end = json.JSONDecoder().raw_decode(text, start)
    except ValueError as error:
        raise InputError(
            f"{path}: not what fio writes with --output-format=json or json+: {error}"
        ) from error
    if not isinstance(content, dict) or not isinstance(content.get("jobs"), list):
        raise InputError(f"{path}: JSON, but not fio's: it has no list 'jobs'")
    return content, end


def _jobs_in(content: Mapping) -> list[Mapping]:
    return [job for job in content["jobs"] if isinstance(job, Mapping)]


def _name_of(job: Mapping) -> str:
    return str(job.get("jobname", "job"))


def _place(path: Path, job: Mapping) -> str:
    return f"{path}: job '{_name_of(job)}'"


def _number(part: Mapping, key: str, place: str, default: float | None = None) -> float | None:
    """A number, or `default` where there is none; raises InputError for anything else."""
    value = part.get(key)
    if value is None:
        return default
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < math.inf:
        said = shortened(json.dumps(value), 40)
        raise InputError(f"{place}: {key} must be a number of 0 or more, and is {said}")
    return value


def _section(part: Mapping, key: str, place: str) -> Mapping:
    """An object, empty where there is none; raises InputError for anything else."""
    value = part.get(key)
    if value is not None and not isinstance(value, Mapping):
        said = shortened(json.dumps(value), 40)
        raise InputError(f"{place}: {key} must be an object, and is {said}")
    return value or {}


def _numbers(part: Mapping, key: str, place: str) -> Iterator[tuple[float, float]]:
    """The pairs of an object of numbers by number but those that are 0."""
    table = _section(part, key, place)
    for name in table:
        try:
            by = float(name)
        except ValueError as error:
            raise InputError(f"{place}: {key} has '{name}', which is no number") from error
        if not 0 <= by <= (100 if key == "percentile" else math.inf):
            raise InputError(f"{place}: {key} has '{name}', which cannot be")
        if value := _number(table, name, f"{place}: {key}"):
            yield by, float(value)


@dataclass(frozen=True)
class _Part:
    """One direction of one job. `latency` has what there is of min, mean, stddev and max, in ns;
    `bins` commands by latency."""

    commands: float
    bytes: float
    iops: float
    bandwidth: float
    latency: Mapping[str, float]
    percentiles: Mapping[float, float]
    bins: Mapping[float, float]

    def histogram(self) -> Histogram | None:
        """Its latencies, interpolated where there are no bins; None without percentiles, too."""
        if self.bins:
            return Histogram(*np.array(sorted(self.bins.items())).T)
        if not self.percentiles:
            return None
        ends = ((0.0, self.latency.get("min")), (100.0, self.latency.get("max")))
        points = {share: value for share, value in ends if value is not None}
        points |= self.percentiles
        shares = sorted(points)
        values = np.maximum.accumulate([points[share] for share in shares])
        fine = np.unique(np.concatenate([np.linspace(0, 100, 201), 100 - np.logspace(1, -3, 81)]))
        between = np.exp(np.interp(fine, shares, np.log(np.maximum(values, 1))))
        share = np.minimum(fine / 100, 1)
        return Histogram(*_merged(between, np.diff(share, prepend=0) * self.commands))


def _merged(values: np.ndarray, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    latency, place = np.unique(values, return_inverse=True)
    return latency, np.bincount(place, counts)


def _load(jobs: Sequence[Mapping], path: Path) -> dict:
    operations = {}
    for direction in DIRECTIONS:
        found = (_part(job, direction, _place(path, job)) for job in jobs)
        if parts := [part for part in found if part]:
            operations[direction] = _operation(parts)
    rates = list(operations.values())
    return {
        "commands": sum(part["commands"] for part in rates),
        "bytes": sum(part["bytes"] for part in rates),
        "iops": sum(part["iops"] for part in rates),
        "bandwidth": {"value": sum(part["bandwidth"]["value"] for part in rates), "unit": "B/s"},
        "operations": operations,
    }


def _part(job: Mapping, direction: str, place: str) -> _Part | None:
    """What a job did in one direction; None where that is nothing."""
    part, place = _section(job, direction, place), f"{place}: {direction}"
    commands = _number(part, "total_ios", place, 0)
    if not commands:
        return None
    # Completion latency, or the total one where fio was told to leave that out.
    names = [name for name in ("clat_ns", "lat_ns") if _section(part, name, place).get("mean")]
    if not names:
        raise InputError(
            f"{place}: no clat_ns and no lat_ns; fio 3 writes them unless disable_lat=1"
        )
    given = part[names[0]]
    latency = {
        key: _number(given, key, f"{place}: {names[0]}") for key in ("min", "mean", "stddev", "max")
    }

    def first(key: str) -> dict[float, float]:
        found = (dict(_numbers(part[name], key, f"{place}: {name}")) for name in names)
        return next(filter(None, found), {})

    return _Part(
        commands,
        _number(part, "io_bytes", place, 0),
        _number(part, "iops", place, 0.0),
        _number(part, "bw_bytes", place, _number(part, "bw", place, 0) * 1024),
        {key: value for key, value in latency.items() if value is not None},
        first("percentile"),
        first("bins"),
    )


def _operation(parts: Sequence[_Part]) -> dict:
    histograms = [part.histogram() for part in parts]
    pooled = Histogram.pooled(histograms) if all(histograms) else None
    return {
        "commands": sum(part.commands for part in parts),
        "bytes": sum(part.bytes for part in parts),
        "iops": sum(part.iops for part in parts),
        "bandwidth": {"value": sum(part.bandwidth for part in parts), "unit": "B/s"},
        "latency": {"unit": "ns", **_latency(parts, pooled)},
        "distribution": pooled.frame()[["latency", "share"]].values.tolist() if pooled else [],
    }


def _latency(parts: Sequence[_Part], pooled: Histogram | None) -> dict[str, float]:
    """What all parts say, of all of them together."""

    def of_all(key: str) -> list[float]:
        values = [part.latency.get(key) for part in parts]
        return [] if None in values else values

    weights = [part.commands for part in parts]
    means = np.array(of_all("mean"))
    mean = float(np.average(means, weights=weights))
    found = {}
    if least := of_all("min"):
        found["min"] = min(least)
    found["mean"] = mean
    if deviations := of_all("stddev"):
        squares = np.square(deviations) + (means - mean) ** 2
        found["stddev"] = math.sqrt(float(np.average(squares, weights=weights)))
    found |= _percentiles(parts, pooled)
    if most := of_all("max"):
        found["max"] = max(most)
    return found


def _percentiles(parts: Sequence[_Part], pooled: Histogram | None) -> dict[str, float]:
    """fio's own percentiles of a single job, else those of the pooled distribution, as far as each
    job lists them or has bins."""
    own = parts[0].percentiles if len(parts) == 1 else {}
    return {
        f"p{percent:g}": own.get(percent) or pooled.percentile(percent)
        for percent in map(float, PERCENTILES)
        if all(part.bins or percent in part.percentiles for part in parts)
    }
