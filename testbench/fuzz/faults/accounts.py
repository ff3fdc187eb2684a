"""Whether the accounts of a report balance: what one layer has counted must be what its neighbour has."""

import json

CLOSE = 1e-9  # relative: sums of rounded means


def results(report):
    """What was measured, without the name of the run."""
    return json.loads(report)["results"]["total"]


def check(report, failures=False):
    """What does not balance in a report.json (bytes), or an empty text. `failures`: commands may fail."""
    content = json.loads(report)
    statistics = _plain(content["statistics"])
    for account in (_ledgers, *(() if failures else (_failures,)), _littles_law, _commands, _programs, _erases, _utilisation):
        wrong = account(content, statistics)
        if wrong:
            return wrong
    return ""


def _plain(node):
    """Statistics as plain values, without their units and sentences."""
    if not isinstance(node, dict):
        return node
    if "value" in node:
        return node["value"]
    return {key: _plain(value) for key, value in node.items() if key not in ("doc", "unit")}


def _differs(one, other, tolerance=CLOSE):
    return abs(one - other) > tolerance * max(abs(one), abs(other), 1)


def _failures(content, _):
    for kind, operation in content["results"]["total"]["operations"].items():
        if operation["errors"]:
            return f"{kind}s failed: {operation['errors']}"
    return f"the run warned: {content['warnings'][0]}" if content["warnings"] else ""


def _ledgers(content, _):
    for kind, operation in content["results"]["total"]["operations"].items():
        parts = sum(part["mean_ns"] for part in operation["ledger"].values())
        if _differs(parts, operation["latency"]["mean"]):
            return f"the ledger of {kind}s adds up to {parts} ns, their mean latency is {operation['latency']['mean']} ns"
    return ""


def _littles_law(content, _):
    total = content["results"]["total"]
    inside = sum(one["commands"] * one["latency"]["mean"] for one in total["operations"].values())
    depth = total["queue_depth"]["mean"] * content["measured_picoseconds"] / 1000
    # Open-loop loads submit at their time stamps, the host driver counts from when it could send.
    if _differs(inside, depth, 1e-6) and inside < depth:
        return f"Little's law: commands spent {inside} ns in the drive, the queue depth says {depth} ns"
    return ""


def _commands(content, statistics):
    if "converter" in statistics or "file_cache" in statistics:
        return ""  # these have commands of their own
    for kind, operation in content["results"]["total"]["operations"].items():
        counted = statistics["host"]["host"][kind.replace(" ", "_")]["commands"]
        if counted != operation["commands"]:
            return f"{operation['commands']} {kind}s completed, the host interface counted {counted}"
    total = content["results"]["total"]["commands"]
    if statistics["firmware"]["ftl"]["commands"] != total:
        return f"{total} commands completed, firmware counted {statistics['firmware']['ftl']['commands']}"
    return ""


def _by_purpose(statistics, key):
    flash = statistics["firmware"]["ftl"]["flash"]
    return sum(purpose.get(key, 0) for purpose in flash.values() if isinstance(purpose, dict))


def _dies(statistics, key):
    return sum(die[key] for name, die in statistics["flash"].items() if name.startswith("nand_die_"))


def _programs(_, statistics):
    """Units that firmware has programmed against pages that the dies have; what is under way counts for both sides."""
    programs = _by_purpose(statistics, "programs")
    units = _by_purpose(statistics, "units_programmed") + _by_purpose(statistics, "units_padded")
    pages = _dies(statistics, "programs")
    bytes_of = sum(_channels(statistics, "program", "bytes"))
    if programs == 0 or pages == 0 or bytes_of == 0:
        return ""
    outstanding = statistics["flash"]["controller"]["outstanding"]
    flash_programs = sum(_channels(statistics, "program", "operations"))
    if abs(flash_programs + _copybacks(statistics) - programs) > outstanding:
        return f"firmware counted {programs} programs, the channels {flash_programs}, {outstanding} were under way"
    amplification = statistics["firmware"]["ftl"]["write_amplification"]["total"]
    net = statistics["firmware"]["ftl"]["host_units_written_net"]
    if net > 0 and _differs(amplification * net, units):
        return f"write amplification {amplification} of {net} units are not {units} units"
    copies = _dies(statistics, "copies")
    if copies > 0 or "slc_programs" in statistics["flash"]["nand_die_0"]:
        return ""  # units to a page are not the same everywhere
    page_bytes = bytes_of / sum(_channels(statistics, "program", "pages"))
    unit = _unit_bytes(statistics, bytes_of, units)
    if unit and abs(units * unit - pages * page_bytes) > outstanding * bytes_of / flash_programs:
        return f"firmware counted {units} units of {unit} B programmed, the dies {pages} pages of {page_bytes:g} B"
    return ""


def _unit_bytes(statistics, bytes_of, units):
    """The power of two that bytes per unit come closest to."""
    del statistics
    guess = bytes_of / units
    unit = 512
    while unit * 1.4 < guess:
        unit *= 2
    return unit


def _copybacks(statistics):
    return sum(_channels(statistics, "copyback", "operations"))


def _channels(statistics, command, key):
    kinds = statistics["flash"].get(command, {})
    return [purpose[key] for purpose in kinds.values() if isinstance(purpose, dict)]


def _erases(_, statistics):
    erased = sum(_channels(statistics, "erase", "operations"))
    flash = statistics["firmware"]["ftl"]["flash"]
    counted = flash["erases"] + flash["erase_failures"]
    outstanding = statistics["flash"]["controller"]["outstanding"]
    if abs(erased - counted) > outstanding:
        return f"firmware counted {counted} erases, the channels {erased}, {outstanding} operations were under way"
    pages = sum(_channels(statistics, "erase", "pages"))
    done = _dies(statistics, "erases") + _dies(statistics, "erase_failures")
    if erased > 0 and abs(pages - done) > outstanding * pages / erased:
        return f"the channels erased {pages} blocks, the dies {done}"
    return ""


def _utilisation(_, statistics, path=""):
    for key, value in statistics.items():
        if isinstance(value, dict):
            wrong = _utilisation(_, value, f"{path}{key}.")
            if wrong:
                return wrong
        elif "utilisation" in key and not -CLOSE <= value <= 1 + CLOSE:
            return f"{path}{key} is {value}"
    return ""
