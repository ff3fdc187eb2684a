"""What fio said of the probe's jobs, by the numbers in their names."""

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from tlmssd.errors import InputError
from tlmssd.fio_json import failed_jobs, read_jobs
from tlmssd.latency import Histogram, under_way
from tlmssd.probe.plan import STAGES

NUMBER = re.compile(r"-(\d+(?:\.\d+)?)")


@dataclass(frozen=True)
class Point:
    """One job: the numbers of its name, its commands, bytes, latencies in ns (`deviation`: standard
    deviation, `least`: of the fastest command)."""

    name: str
    numbers: tuple[float, ...]
    commands: int
    bytes: float
    iops: float
    mean: float
    deviation: float
    least: float
    histogram: Histogram

    @property
    def seconds(self) -> float:
        """How long the job took."""
        return self.commands / self.iops

    @property
    def under_way(self) -> float:
        """How many commands were under way on average."""
        return under_way(self.iops, self.mean)

    @property
    def bandwidth(self) -> float:
        """Bytes per second."""
        return self.bytes / self.seconds

    def percentile(self, percent: float) -> float:
        """Latency in ns."""
        return self.histogram.percentile(percent)

    @property
    def best(self) -> float:
        """Latency in ns of the fastest commands: of the fastest one, unless it stands alone."""
        usual = self.percentile(5)
        return self.least if self.least > 0.97 * usual else usual

    @property
    def doubt(self) -> float:
        """Standard error of the mean in ns."""
        return self.deviation / math.sqrt(self.commands)


@dataclass(frozen=True)
class Results:
    """Points by the first word of their names, in order; and which stages there were."""

    groups: Mapping[str, list[Point]]
    stages: tuple[str, ...]
    folder: Path

    def group(self, name: str) -> list[Point]:
        """Points whose names begin with `name`; none when their stage was not run."""
        return self.groups.get(name, [])


def read_results(folder: Path) -> Results:
    """Reads STAGE.json of every stage that is there; raises InputError when there is none."""
    groups: dict[str, list[Point]] = {}
    stages = []
    for stage in STAGES:
        path = folder / f"{stage}.json"
        if path.is_file():
            stages.append(stage)
            for point in _points(path):
                groups.setdefault(point.name.split("-")[0], []).append(point)
    if not stages:
        raise InputError(
            f"{folder}: holds no results of a probe ({', '.join(f'{s}.json' for s in STAGES)})"
        )
    return Results(groups, tuple(stages), folder)


def _points(path: Path) -> Iterator[Point]:
    failed = failed_jobs(path)
    for name, part in read_jobs(path).items():
        for operation in part["operations"].values():
            numbers = tuple(float(number) for number in NUMBER.findall(name))
            count, mean = operation["commands"], operation["latency"]["mean"]
            if name in failed or operation["iops"] <= 0 or mean <= 0:
                continue
            latency, size = operation["latency"], operation["bytes"]
            if not operation["distribution"] or not {"min", "stddev"} <= latency.keys():
                raise InputError(
                    f"{path}: job '{name}': without min, stddev or percentiles nothing can be "
                    "found out; run fio with --output-format=json+"
                )
            histogram = Histogram.of_points(operation["distribution"], count)
            least, deviation = latency["min"], latency["stddev"]
            yield Point(
                name, numbers, count, size, operation["iops"], mean, deviation, least, histogram
            )
