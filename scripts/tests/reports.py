"""Reports made by hand, small enough to know what must come out."""

import json
from pathlib import Path


def operation(latency: float, causes: dict[str, float], slow: dict[str, float], commands=1000):
    """An operation of report.json: most commands take `latency` ns, one per cent as `slow` says."""
    mean = {cause: 0.99 * causes.get(cause, 0) + 0.01 * slow.get(cause, 0)
            for cause in causes | slow}  # fmt: skip
    worst = sum(slow.values())
    total = sum(mean.values())

    def ledger(parts):
        whole = sum(parts.values())
        return {c: {"mean_ns": ns, "share": ns / whole} for c, ns in parts.items()}

    return {
        "commands": commands,
        "bytes": 4096 * commands,
        "iops": 1e9 / total,
        "bandwidth": {"value": 4096e9 / total, "unit": "B/s"},
        "latency": {"unit": "ns", "mean": total, "p50": latency, "p99": latency, "p99.9": worst,
                    "max": worst},
        "distribution": [[latency, 0.99], [worst, 1.0]],
        "ledger": ledger(mean),
        "tail": {"share": 0.01, "above_ns": worst * 0.9, "ledger": ledger(slow)},
        "ledger_by_latency": [
            {"from_ns": 0.9 * latency, "commands": 990, "mean_ns": causes},
            {"from_ns": 0.9 * worst, "commands": 10, "mean_ns": slow},
        ],
    }  # fmt: skip


def report(seed: int = 1, scenario: str = "seed: 1\n", **operations) -> dict:
    """A report with these operations."""
    iops = sum(part["iops"] for part in operations.values())
    bandwidth = sum(part["bandwidth"]["value"] for part in operations.values())
    total = {"commands": 1000, "iops": iops, "bandwidth": {"value": bandwidth, "unit": "B/s"},
             "operations": operations}  # fmt: skip
    return {
        "title": "made by hand",
        "seed": seed,
        "results": {"total": total, "loads": [{"name": "load", **total}]},
        "write_amplification": {"doc": "x", "total": {"value": 1.5, "unit": "", "doc": "all"}},
        "lifetime": {"doc": "x", "written": {"value": 6e14, "unit": "B", "doc": "all"},
                     "evenness": {"value": 0.8, "unit": "share", "doc": "mean / most"}},
        "cliff": {"doc": "x", "written": {"value": 1e11, "unit": "B", "doc": "by then"},
                  "time": {"value": 25.0, "unit": "s", "doc": "then"}},
        "statistics": {"flash": {"die_0": {"busy": {"value": 0.2, "unit": "share", "doc": "x"}},
                                 "die_1": {"busy": {"value": 0.4, "unit": "share", "doc": "x"}},
                                 "scheme": {"value": "page", "doc": "x"}}},
        "scenario": scenario,
    }  # fmt: skip


def of_loads(content: dict, loads: dict[str, dict]) -> dict:
    """The same report with several loads, by name, of these operations."""
    content["results"]["loads"] = [
        {"name": name, **report(**operations)["results"]["total"]}
        for name, operations in loads.items()
    ]
    content["results"]["shown"] = "loads"
    return content


def write(folder: Path, content: dict) -> Path:
    """A folder of results with this report."""
    folder.mkdir(parents=True)
    (folder / "report.json").write_text(json.dumps(content))
    return folder
