"""What must hold in the results of every run, whatever the scenario: checked from report.json and the log.

Each check yields (rule, detail) for what does not hold.
"""

import csv
import gzip
import io
import math
import re

_ORDERED = ("min", "p1", "p5", "p10", "p25", "p50", "p75", "p90", "p95", "p99", "p99.9", "p99.99", "p99.999",
            "max")


def check(report, timed):
    """All checks of a report; `timed` is false for a run through the untimed path."""
    yield from _numbers(report, "report")
    if report["checks"]["wrong_reads"] != 0:
        yield "wrong reads", f"{report['checks']['wrong_reads']} wrong reads, but exit code 0"
    yield from _amplification(report)
    yield from _lifetime(report)
    yield from _counts(report)
    if not timed:
        return
    yield from _rates(report)
    span = report["measured_picoseconds"]
    for where, scope in _scopes(report):
        yield from _depth(where, scope, span)
        for name, operation in scope["operations"].items():
            yield from _latency(f"{where}, {name}", operation, span, report["rate_time"]["value"])
    yield from _statistics(report)


def _at_drive(operation):
    """Commands as the drive sees them: those that requests longer than max_transfer were split into."""
    return operation.get("device", operation)


def _time_outstanding(scope):
    """What the requests of all operations have spent between submission and completion, in ps."""
    return sum(o["commands"] * o["latency"]["mean"] for o in scope["operations"].values()) * 1000


def _scopes(report):
    yield "total", report["results"]["total"]
    for load in report["results"]["loads"]:
        yield f"load {load['name']}", load


def _near(a, b, relative=1e-9, absolute=1e-6):
    return math.isclose(a, b, rel_tol=relative, abs_tol=absolute)


def _numbers(node, where):
    """No figure is missing, infinite or not a number; but see _has_gaps()."""
    if isinstance(node, dict):
        for key, value in node.items():
            unmeasured = key == "value" and node.get("met") is False  # of a target
            if key not in ("scenario", "doc") and not unmeasured and not _has_gaps(where, key, value):
                yield from _numbers(value, f"{where}.{key}")
    elif isinstance(node, list):
        for value in node:
            yield from _numbers(value, where)
    elif node is None or (isinstance(node, float) and not math.isfinite(node)):
        yield "finite numbers", f"{where} is {node}"


def _has_gaps(where, key, node):
    """A figure over time that a window in which nothing ended, or was written, does not have: null there.

    So are parts of the write amplification of a run in which nothing was written, on which _amplification() looks, a
    lifetime of which nothing was used up (_lifetime()), a cliff that was not met, bit error rates of a drive that has read
    nothing, and rates where no time has passed, on which _rates() looks.
    """
    groups = (".write_amplification.", ".lifetime.", ".cliff.", "bit_error_rate", ".bandwidth")
    if key == "iops" and node is None and where.startswith("report.results."):
        return True
    if key == "value" and node is None and any(group in where for group in groups):
        return True
    over_time = where.endswith(".latency") and ".series." in where or where.endswith(".series") and key == "write_amplification"
    return over_time and isinstance(node, list) and all(v is None or (math.isfinite(v) and v >= 0) for v in node)


def _counts(report):
    """What the loads did adds up to the total, and operations to their load."""
    total, loads = report["results"]["total"], report["results"]["loads"]
    for key in ("commands", "bytes"):
        if total[key] != sum(load[key] for load in loads):
            yield "counts conserve", f"{key} of the loads do not add up to {total[key]}"
        for where, scope in _scopes(report):
            parts = sum(o[key] for o in scope["operations"].values())
            if scope[key] != parts:
                yield "counts conserve", f"{key} of {where}: {scope[key]}, operations add up to {parts}"


def _whole(counted, at_most):
    """A number of commands: not those that completed while the queues drained."""
    return _near(counted, round(counted), 1e-9, 1e-5) and round(counted) <= at_most


def _rates(report):
    """The loads' rates add up, and drain is left out only where it is the smaller part."""
    total, loads = report["results"]["total"], report["results"]["loads"]
    span = report["rate_time"]["value"]
    if span == 0:
        told = [scope["iops"] for scope in (total, *loads) if scope["iops"] is not None]
        if told:
            yield "no time, no rate", f"{told} IOPS"
        return
    parts = sum(load["iops"] for load in loads)
    if not _near(total["iops"], parts):
        yield "rates add up", f"{total['iops']} IOPS, {parts} of the loads"
    counted = total["iops"] * span
    failed = sum(sum(operation["errors"].values()) for operation in total["operations"].values())
    # What completes all at once, at the end of the ramp-up, has no rate.
    if 2 * (round(counted) + failed) < total["commands"]:
        yield "most commands are in the rates", f"{counted} of {total['commands']}"


def _latency(where, operation, span, rate_time):
    if "device" in operation:
        yield from _ledger(f"{where}, in pieces", operation["device"])
    yield from _ledger(where, operation)
    latency, count = operation["latency"], operation["commands"]
    succeeded = count - sum(operation["errors"].values())
    if span > 0 and not _whole(operation["iops"] * rate_time, succeeded):
        yield "rate x time = count", f"{where}: {operation['iops']} IOPS, {succeeded} commands without errors"
    shares = [point[1] for point in operation["distribution"]]
    if shares != sorted(shares) or not shares or not _near(shares[-1], 1):
        yield "distribution ends at 1", f"{where}: {shares[-3:]}"
    tail = operation["tail"]
    if not 0 < tail["share"] <= 1 or sum(operation["errors"].values()) > count:
        yield "tail", f"{where}: share {tail['share']}, errors {operation['errors']}"


def _ledger(where, operation):
    latency = operation["latency"]
    spent = sum(part["mean_ns"] for part in operation["ledger"].values())
    if not _near(spent, latency["mean"], absolute=1e-3):
        yield "ledger = latency", f"{where}: causes add up to {spent} ns of {latency['mean']} ns"
    shares = sum(part["share"] for part in operation["ledger"].values())
    if operation["ledger"] and latency["mean"] > 0 and not _near(shares, 1):
        yield "ledger = latency", f"{where}: shares add up to {shares}"
    if any(part["mean_ns"] < 0 for part in operation["ledger"].values()):
        yield "ledger = latency", f"{where}: a negative cause"
    values = [latency[key] for key in _ORDERED]
    if values != sorted(values) or not values[0] - 1e-6 <= latency["mean"] <= values[-1] + 1e-6:
        yield "percentiles in order", f"{where}: {values}, mean {latency['mean']}"


def _depth(where, scope, span):
    """Little's law, and the time at each depth."""
    depth = scope["queue_depth"]
    if span <= 0:
        return
    shares = depth["share_of_time_at_depth"]
    if not _near(sum(s for _, s in shares), 1):
        yield "time at depths", f"{where}: shares add up to {sum(s for _, s in shares)}"
    if not _near(sum(d * s for d, s in shares), depth["mean"]):
        yield "time at depths", f"{where}: mean {depth['mean']} is not that of the shares"
    inside = _time_outstanding(scope) / span
    # At the window's beginning some commands lie outside in part: no more than are outstanding at once.
    most = max((o["latency"]["max"] for o in scope["operations"].values()), default=0) * 1000 / span
    if depth["mean"] > inside + 1e-6 + 2 * depth["max"] * most:
        yield "Little's law", f"{where}: {inside} by latencies, {depth['mean']} by depth"


def _littles_law_exactly(report, waits):
    """Without ramps and warm-up every command lies inside the measured time.

    With a limited rate the wait in the host is part of the latency, but not of the depth at the drive.
    """
    span = report["measured_picoseconds"]
    for where, scope in _scopes(report):
        inside = _time_outstanding(scope)
        depth = scope["queue_depth"]["mean"]
        if span > 0 and not _near(inside / span, depth, 1e-8) and not (waits and inside / span > depth):
            yield "Little's law", f"{where}: {inside / span} by latencies, {depth} by depth"


def _value(node, *path):
    for step in path:
        if not isinstance(node, dict) or step not in node:
            return None
        node = node[step]
    return node.get("value") if isinstance(node, dict) else node


def _amplification(report):
    """Write amplification is the sum of its causes, and what was programmed by unit written; none of nothing written."""
    shown = report.get("write_amplification")
    firmware = report["statistics"].get("firmware", {})
    if not shown or not firmware:
        return
    written = _value(firmware, "host_units_written_net")
    parts = {k: v["value"] for k, v in shown.items() if k not in ("doc", "total", "by_mode")}
    unknown = [value is None for value in (*parts.values(), shown["total"]["value"])]
    if any(unknown):
        if written or not all(unknown):
            yield "write amplification", f"{shown} of {written} units written"
        return
    if not _near(sum(parts.values()), shown["total"]["value"]):
        yield "write amplification", f"{parts} do not add up to {shown['total']['value']}"
    modes = {k: v["value"] for k, v in shown.get("by_mode", {}).items() if k != "doc"}
    if modes and not (_near(sum(modes.values()), shown["total"]["value"]) and min(modes.values()) >= 0):
        yield "write amplification", f"{modes} do not add up to {shown['total']['value']}"
    flash = {k: v for k, v in firmware.get("flash", {}).items() if isinstance(v, dict) and "units_programmed" in v}
    programmed = sum(_value(v, "units_programmed") + _value(v, "units_padded") for v in flash.values())
    if written and not _near(shown["total"]["value"] * written, programmed, 1e-9, 1e-3):
        yield "write amplification", f"{shown['total']['value']} x {written} units are not {programmed} programmed"


def _lifetime(report):
    """Drive writes follow from bytes; there is none of nothing written or worn; uneven wear takes some of it."""
    shown = report.get("lifetime")
    if not shown:
        return
    written, evenness = _value(shown, "written"), _value(shown, "evenness")
    if evenness is not None and not 0 < evenness <= 1 + 1e-9:
        yield "lifetime", f"evenness is {evenness}"
    if written is None:
        return
    if not written >= 0:  # 0: age.cycles has left none
        yield "lifetime", f"{written} bytes"
    if not _near(_value(shown, "drive_writes_per_day") * 1825, _value(shown, "drive_writes")):
        yield "lifetime", f"{shown} are not five years"
    if evenness is not None and not _near(written * evenness, _value(shown, "written_first_block")):
        yield "lifetime", f"{shown} do not go together"
    if written > 0 and "not_settled" not in shown:
        yield from _wear_of_loads(report, shown)


def _wear_of_loads(report, shown):
    """What the loads wrote has worn no less than the blocks that were erased: behind a layer of the host, too.

    Not of a short run: what it erases was written before. Erases into SLC mode count for less, and what a file cache
    writes is none of the loads'.
    """
    statistics = report["statistics"]
    sizes = [re.search(rf"^ +{key}: (\d+)", report["scenario"], re.MULTILINE) for key in ("planes", "blocks_per_plane")]
    if "pslc" in statistics.get("firmware", {}) or "file_cache" in statistics or None in sizes:
        return
    dies = [die for name, die in statistics["flash"].items() if name.startswith("nand_die_")]
    blocks = len(dies) * math.prod(int(size[1]) for size in sizes)
    erased = sum(_value(die, "erases") for die in dies) / blocks
    written = report["results"]["total"]["operations"].get("write", {"bytes": 0})["bytes"]
    drive = _value(shown, "written") / _value(shown, "drive_writes")
    worn = _value(shown, "cycles_per_drive_write") * written / drive
    if erased > worn * 1.02 + 0.1:  # commands under way when measurement began, or ended
        yield "lifetime", f"{erased} erases of a block, but loads have worn {worn} cycles"


def _utilisations(node, where):
    """Every utilisation of the statistics, wherever it is."""
    for name, member in node.items():
        if isinstance(member, dict) and "value" not in member:
            yield from _utilisations(member, f"{where}.{name}")
        elif name.endswith("utilisation"):
            yield f"{where}.{name}", member["value"]


def _statistics(report):
    """The parts of the drive agree with each other on what happened."""
    statistics = report["statistics"]
    dies = statistics.get("flash", {}).get("dies", {})
    for name, node in dies.items():
        if name != "doc" and not -1e-9 <= node["value"] <= 1 + 1e-9:
            yield "shares within 1", f"dies {name}: {node['value']}"
    for where, share in _utilisations(statistics, "statistics"):
        if not -1e-9 <= share <= 1 + 1e-9:
            yield "shares within 1", f"{where}: {share}"
    busy = sum(v["value"] for k, v in dies.items() if k.startswith("busy_"))
    if dies and busy > 1 + 1e-9:
        yield "shares within 1", f"dies are busy {busy} of the time"


def whole_run(report, by_software, waits):
    """A run measured from its first command to its last: nothing is left over.

    `by_software`: what the drive is given is not what the loads ask; `waits`: commands wait in the host.
    """
    yield from _littles_law_exactly(report, waits)
    host = report["statistics"].get("host", {})
    if by_software or not host:
        return
    commands = sum(_at_drive(o)["commands"] for o in report["results"]["total"]["operations"].values())
    fetched = sum(_value(v, "fetched") for k, v in host.items() if k.removeprefix("queue_").isdigit())
    done = sum(_value(host, kind, "commands") for kind in ("read", "write", "flush", "trim", "write_zeroes"))
    firmware = _value(report["statistics"], "firmware", "commands")
    failed = _value(host, "failed")  # some of these the host interface refuses by itself
    if not commands == fetched == done or not done - failed <= firmware <= done:
        yield "counts conserve", f"{commands} measured, {fetched} fetched, {done} completed, {firmware} in firmware"


def log(data, name, report):
    """The command log: each line's causes add up to its latency to the picosecond, one line per command."""
    if name.endswith(".zst"):
        return
    text = (gzip.decompress(data) if name.endswith(".gz") else data).decode()
    rows = list(csv.reader(io.StringIO(text)))
    head, rows = rows[0], rows[1:]
    if len(rows) < report["results"]["total"]["commands"]:
        yield "command log", f"{len(rows)} lines of {report['results']['total']['commands']} commands"
    at = {column: i for i, column in enumerate(head)}
    for row in rows:
        latency = int(row[at["latency_ps"]])
        causes = sum(int(v) for v in row[at["latency_ps"] + 1:])
        if latency != causes or latency != int(row[at["completed_ps"]]) - int(row[at["submitted_ps"]]):
            yield "ledger = latency", f"command log: {latency} ps of latency, {causes} ps of causes"
            return
