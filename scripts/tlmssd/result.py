"""Results of runs as objects: figures, histograms, ledgers, time series, and a picture."""

import contextlib
import functools
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pandas as pd
import yaml

from tlmssd import metrics
from tlmssd.advice import advice_by_rule
from tlmssd.errors import InputError
from tlmssd.failures import failed_commands
from tlmssd.latency import Histogram, Ledgers
from tlmssd.scenario import flat_parameters


class Result:
    """What one run left in its folder."""

    def __init__(self, folder: str | Path):
        """`folder` is what `tlmssd run --out` wrote; it is read when something is asked for."""
        self.folder = Path(folder)

    def __repr__(self) -> str:
        return f"Result({str(self.folder)!r})"

    @property
    def name(self) -> str:
        """The folder's name."""
        return self.folder.name

    @functools.cached_property
    def report(self) -> dict:
        """All of report.json; raises InputError when it is not there or not one."""
        path = self.folder / "report.json"
        try:
            report = json.loads(path.read_text(encoding="utf-8"))
        except OSError as error:
            raise InputError(f"{path}: {error.strerror}; not a folder of results") from error
        except ValueError as error:
            raise InputError(f"{path}: not JSON: {error}") from error
        if not metrics.is_report(report):
            raise InputError(f"{path}: not a report of tlmssd (no results.total.operations)")
        return report

    @property
    def title(self) -> str:
        """The scenario's title."""
        return str(self.report.get("title", ""))

    @property
    def seed(self) -> int | None:
        """Seed of the scenario; None for the results of a real drive."""
        return self.report.get("seed")

    @functools.cached_property
    def figures(self) -> dict[str, metrics.Metric]:
        """Every figure by its name, see tlmssd.metrics; raises InputError for a damaged report."""
        with self._damage_told():
            return metrics.figures(self.report)

    def value(self, path: str) -> float:
        """A figure by name or path: 'read.p99.9' (ns), 'statistics.firmware.commands', ...

        A cause of latency that took no time is 0. Raises UnknownMetric with the nearest name.
        """
        return metrics.look_up(self.figures, path).value

    def unit(self, path: str) -> str:
        """Unit of a figure: 'ns', 's', 'B', 'B/s', '1/s', 'share', ..., or '' for plain numbers."""
        return metrics.look_up(self.figures, path).unit

    @functools.cached_property
    def loads(self) -> dict[str, Mapping]:
        """What report.json has of each load, by the name that its figures go by."""
        with self._damage_told():
            return metrics.loads_by_name(self.report)

    @property
    def tells_loads_apart(self) -> bool:
        """Whether it is of several loads other than the jobs of one."""
        return self.report["results"].get("shown", "total") != "total"

    @property
    def operations(self) -> list[str]:
        """Kinds of commands there were: read, write, trim, flush, write zeroes."""
        return self.operations_of()

    def operations_of(self, load: str = "") -> list[str]:
        """The same of one load; none of a load that there is not."""
        return list(self._operations(load))

    def _operations(self, load: str) -> Mapping[str, Mapping]:
        if not load:
            return self.report["results"]["total"]["operations"]
        return self.loads.get(load, {}).get("operations", {})

    def _operation(self, operation: str, load: str) -> Mapping:
        found = self._operations(load)
        if operation not in found:
            of = f" of load '{load}'" if load else ""
            there = ", ".join(found)
            raise InputError(f"no '{operation}'{of} in {self.folder}; there are: {there}")
        return found[operation]

    def frame(self) -> pd.DataFrame:
        """One row per metric: run, metric, value, unit."""
        rows = [(self.name, name, part.value, part.unit) for name, part in self.figures.items()]
        return pd.DataFrame(rows, columns=["run", "metric", "value", "unit"])

    def has_histogram(self, operation: str, load: str = "") -> bool:
        """Whether there were such commands; of a real drive, whether fio wrote percentiles, too."""
        return bool(self._operations(load).get(operation, {}).get("distribution"))

    def histogram(self, operation: str = "read", load: str = "") -> Histogram:
        """Latencies of one kind of command, all loads together or of one by its name; raises
        InputError without any."""
        measured = self._operation(operation, load)
        if not measured["distribution"]:
            raise InputError(f"{self.folder} has no percentiles of {operation}s")
        return Histogram.of_points(measured["distribution"], measured["commands"])

    def ledger(self, operation: str = "read", load: str = "") -> Ledgers:
        """Where the time went of one kind of command, all loads together or of one by its name;
        raises InputError without any."""
        measured = self._operation(operation, load)
        if "ledger" not in measured:
            raise InputError(f"{self.folder} has no ledgers: a real drive says no causes")
        return Ledgers.of(measured)

    @property
    def has_ledgers(self) -> bool:
        """False for the results of real drives, which do not say where the time went."""
        found = self._operations("").values()
        return bool(found) and all("ledger" in part for part in found)

    @property
    def advice(self) -> list[str]:
        """What the program has to say against these results, such as a load that was too short."""
        return list(self.advice_by_rule.values())

    @property
    def advice_by_rule(self) -> dict[str, str]:
        """The same by the name of the adviser's rule."""
        return advice_by_rule(self.report)

    @property
    def failures(self) -> str:
        """Why commands failed; empty where none did, or its scenario accepts it (run.errors)."""
        return failed_commands(self.report, self.parameters.get("run.errors"))

    def time_series(self) -> pd.DataFrame:
        """Columns time (s, start of the step), series ('read.iops', 'queue_depth', ...), value.
        Raises InputError where a report has series and does not say how long their steps are."""
        rows = []
        with self._damage_told():
            series = self.report["results"]["total"].get("series", {})
            step = series["step"]["value"] if series else 0.0
            for name, part in series.items():
                columns = part.items() if isinstance(part, dict) else [("", part)]
                for column, values in columns:
                    if isinstance(values, list):
                        label = f"{name}.{column}" if column else name
                        rows += [(i * step, label, value) for i, value in enumerate(values)]
        return pd.DataFrame(rows, columns=["time", "series", "value"])

    @functools.cached_property
    def parameters(self) -> dict[str, str]:
        """The resolved scenario's parameters by path; empty for a real drive."""
        text = self.report.get("scenario")
        with self._damage_told():
            return flat_parameters(text) if text else {}

    @contextlib.contextmanager
    def _damage_told(self) -> Iterator[None]:
        """Raises InputError where a report's parts are not what they are in a report."""
        try:
            yield
        except (AttributeError, LookupError, TypeError, ValueError, yaml.YAMLError) as error:
            reason = " ".join(repr(error).split())
            raise InputError(f"{self.folder / 'report.json'}: damaged: {reason}") from error

    def _repr_html_(self) -> str:
        from tlmssd.pictures.notebook import result_html

        return result_html([self])


class Results(Sequence):
    """Several results, for instance one for each seed."""

    def __init__(self, results: Sequence[Result]):
        self.results = list(results)

    def __getitem__(self, number):
        return self.results[number]

    def __len__(self) -> int:
        return len(self.results)

    def __repr__(self) -> str:
        return f"Results({self.results!r})"

    def frame(self) -> pd.DataFrame:
        """One row per run and metric: run, metric, value, unit."""
        return pd.concat([result.frame() for result in self.results], ignore_index=True)

    def values(self, path: str) -> list[float]:
        """One figure of every run, in their order; raises UnknownMetric."""
        return [result.value(path) for result in self.results]

    def histogram(self, operation: str = "read") -> Histogram:
        """The latencies of all runs pooled."""
        return Histogram.pooled([result.histogram(operation) for result in self.results])

    def time_series(self) -> pd.DataFrame:
        """As Result.time_series(), with a column run."""
        parts = [result.time_series().assign(run=result.name) for result in self.results]
        return pd.concat(parts, ignore_index=True)

    def _repr_html_(self) -> str:
        from tlmssd.pictures.notebook import result_html

        return result_html(self.results)
