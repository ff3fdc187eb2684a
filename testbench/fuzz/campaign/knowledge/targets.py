"""Figures that a run is to reach; missed ones are no error without --strict."""

_LIMITS = {"iops": ("1000", "2e6"), "bandwidth": ("500 kB/s", "3 GB/s"), "read.p99.9": ("1 us", "2 ms"),
           "write.mean": ("20 us", "1 s"), "queue_depth.mean": ("0.5", "8"), "write_amplification": ("0", "3"),
           "lifetime.written": ("1 TB", "100 TB"), "lifetime.drive_writes_per_day": ("0.3", "3"), "cliff.written": ("1 MB", "1 GB"),
           "cliff.time": ("1 ms", "1 s")}
_OF_DRIVE = ("write_amplification", "lifetime.written", "lifetime.drive_writes_per_day", "cliff.written", "cliff.time")


def draw(d):
    if not d.chance(0.06):
        d.leave_out("targets")
        return
    metrics = [metric for metric in (sorted(_LIMITS) if d.facts.timed else _OF_DRIVE[:4]) if _can_be_had(d, metric)]
    for i in range(d.whole(1, 2)):
        path = f"targets.{i}"
        metric = d.put(path, "metric", d.pick(*metrics))
        low, high = _LIMITS[metric]
        limits = d.pick(("at_least",), ("at_most",), ("at_least", "at_most"))
        for key in limits:
            d.put(path, key, low if key == "at_least" else high)
        names = _names(d, metric)
        if names and metric not in _OF_DRIVE and d.chance(0.7):
            d.put(path, "load", d.pick(*names))


def _can_be_had(d, metric):
    if metric.startswith("cliff."):
        return d.facts.pslc
    return any(_may_have(load or {}, metric) for load in d.tree["load"])


def _may_have(load, metric):
    """Whether the load may have commands that the metric is of."""
    operation = metric.split(".")[0]
    if operation not in ("read", "write") or any(kind in load for kind in ("trace", "profile", "fio", "source")):
        return True
    rw = load.get("rw", "randread")
    if rw not in ("rw", "readwrite", "randrw"):
        return operation in rw
    reads = 100 - load["rwmixwrite"] if "rwmixwrite" in load else load.get("rwmixread", 50)
    return "rate" in load or "rate_iops" in load or reads != (0 if operation == "read" else 100)


def _names(d, metric):
    """Of loads that are called what the scenario says: no job files, and no two of a name."""
    loads = d.tree["load"]
    names = [load.get("name") for load in loads if load and "fio" not in load]
    if len(names) != len(loads):
        return []
    return [name for name, load in zip(names, loads, strict=True) if name and names.count(name) == 1 and _may_have(load, metric)]
