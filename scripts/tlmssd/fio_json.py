"""Measurements of real drives: fio's json and json+ output, read as a Result.

Accepts what fio 3.x writes with --output-format=json or json+, also with lines of other output
before or after. Several jobs of one kind are added up: rates are sums, latencies are pooled. With
json+ the pooled distribution is exact to fio's bins; with json it is interpolated between the
percentiles, and p99.9 and the like of several jobs are approximations. Sources: fio's stat.c
(show_thread_status_json) and HOWTO, section "JSON output".
"""

import json
import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np

from tlmssd.errors import InputError
from tlmssd.latency import Histogram
from tlmssd.result import Result

DIRECTIONS = ("read", "write", "trim")
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
    jobs = [job for job in content["jobs"] if isinstance(job, Mapping)]
    if not jobs:
        raise InputError(f"{path}: fio's json without a job")
    loads = []
    for job in jobs:
        loads.append({"name": str(job.get("jobname", "job")), **_load([job], path)})
    device = ", ".join(str(disk.get("name")) for disk in content.get("disk_util", []))
    title = f"{content.get('fio version', 'fio')} on {device or 'a drive'}"
    return {"title": title, "results": {"total": _load(jobs, path), "loads": loads}}


def read_jobs(path: Path, name: Callable[[str], str] = str) -> dict[str, dict]:
    """Each job of fio's json as a load of a report; those of one `name` are taken together.

    Raises InputError with the file's name when it is not fio's json.
    """
    named: dict[str, list[Mapping]] = {}
    for job in fio_content(path)["jobs"]:
        named.setdefault(name(str(job.get("jobname", "job"))), []).append(job)
    return {job: _load(parts, path) for job, parts in named.items()}


def fio_content(path: Path) -> dict:
    """All of fio's json as it is; raises InputError with the file's name when it is none."""
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from error
    # fio prints warnings ("fio: ...") before the object, and json+ to a terminal may add lines.
    start = text.find("{")
    try:
        content, _ = json.JSONDecoder().raw_decode(text, max(start, 0))
    except ValueError as error:
        raise InputError(f"{path}: neither a folder of results nor fio's json: {error}") from error
    if not isinstance(content, dict) or not isinstance(content.get("jobs"), list):
        raise InputError(f"{path}: JSON, but not fio's: it has no list 'jobs'")
    return content


def _load(jobs: Sequence[Mapping], path: Path) -> dict:
    operations = {}
    for direction in DIRECTIONS:
        parts = [job[direction] for job in jobs if job.get(direction, {}).get("total_ios", 0) > 0]
        if parts:
            operations[direction] = _operation(parts, f"{path}: {direction}")
    rates = list(operations.values())
    return {
        "commands": sum(part["commands"] for part in rates),
        "bytes": sum(part["bytes"] for part in rates),
        "iops": sum(part["iops"] for part in rates),
        "bandwidth": {"value": sum(part["bandwidth"]["value"] for part in rates), "unit": "B/s"},
        "operations": operations,
    }


def _operation(parts: Sequence[Mapping], place: str) -> dict:
    commands = sum(part["total_ios"] for part in parts)
    bandwidth = sum(part.get("bw_bytes", part.get("bw", 0) * 1024) for part in parts)
    histograms = [_histogram(part, place) for part in parts]
    pooled = Histogram.pooled(histograms)
    latency = [_latency(part, place) for part in parts]
    weights = np.array([part["total_ios"] for part in parts], dtype=float)
    means = np.array([part["mean"] for part in latency])
    deviations = np.array([part.get("stddev", 0) for part in latency])
    mean = float(np.average(means, weights=weights))
    variance = float(np.average(deviations**2 + (means - mean) ** 2, weights=weights))
    figures = {
        "unit": "ns",
        "min": min(part["min"] for part in latency),
        "mean": mean,
        "stddev": math.sqrt(variance),
        **_percentiles(latency, pooled),
        "max": max(part["max"] for part in latency),
    }
    frame = pooled.frame()
    return {
        "commands": commands,
        "bytes": sum(part.get("io_bytes", 0) for part in parts),
        "iops": sum(part.get("iops", 0.0) for part in parts),
        "bandwidth": {"value": bandwidth, "unit": "B/s"},
        "latency": figures,
        "distribution": frame[["latency", "share"]].values.tolist(),
    }


def _latency(part: Mapping, place: str) -> Mapping:
    """Completion latency in ns: clat_ns, or lat_ns where fio was told to leave that out."""
    for name in ("clat_ns", "lat_ns"):
        if part.get(name, {}).get("mean"):
            return part[name]
    raise InputError(f"{place}: no clat_ns and no lat_ns; fio 3 writes them unless disable_lat=1")


def _histogram(part: Mapping, place: str) -> Histogram:
    latency = _latency(part, place)
    for name in ("clat_ns", "lat_ns"):
        bins = part.get(name, {}).get("bins")
        if bins:
            pairs = sorted((float(value), float(count)) for value, count in bins.items() if count)
            return Histogram(*np.array(pairs).T)
    points = {0.0: float(latency["min"])}
    points |= {100.0: float(latency["max"])}
    points |= _given_percentiles(latency)
    shares = sorted(points)
    values = np.maximum.accumulate([points[share] for share in shares])
    fine = np.unique(np.concatenate([np.linspace(0, 100, 201), 100 - np.logspace(1, -3, 81)]))
    between = np.exp(np.interp(fine, shares, np.log(np.maximum(values, 1))))
    share = np.minimum(fine / 100, 1)
    return Histogram(*_merged(between, np.diff(share, prepend=0) * part["total_ios"]))


def _merged(values: np.ndarray, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    latency, place = np.unique(values, return_inverse=True)
    return latency, np.bincount(place, counts)


def _given_percentiles(latency: Mapping) -> dict[float, float]:
    given = latency.get("percentile", {})
    return {float(share): float(value) for share, value in given.items() if value}


def _percentiles(latency: Sequence[Mapping], pooled: Histogram) -> dict[str, float]:
    """fio's own percentiles of a single job; of several, those of the pooled distribution."""
    given = _given_percentiles(latency[0]) if len(latency) == 1 else {}
    return {
        f"p{percent:g}": given.get(float(percent)) or pooled.percentile(percent)
        for percent in PERCENTILES
    }
