"""Whether the accounts of a report balance: what one layer has counted must be what its neighbour has."""

import json

from campaign import invariants


def results(report):
    """What was measured, without the name of the run."""
    return json.loads(report)["results"]["total"]


def of_firmware(report, key):
    """A count of the firmware's flash operations."""
    return _plain(json.loads(report)["statistics"])["firmware"]["flash"][key]


def check(report, failures=False):
    """What does not balance in a report.json (bytes), or an empty text. `failures`: commands may fail."""
    content = json.loads(report)
    statistics = _plain(content["statistics"])
    software = "log_structured" in statistics or "file_cache" in statistics
    paced = any("rate" in load["description"] for load in content["results"]["loads"])
    rules = [*invariants.check(content, True), *invariants.whole_run(content, software, paced)]
    if rules:
        return ": ".join(rules[0])
    if not failures and _failures(content):
        return _failures(content)
    return _programs(statistics) or _erases(statistics)


def _plain(node):
    """Statistics as plain values, without their units and sentences."""
    if not isinstance(node, dict):
        return node
    if "value" in node:
        return node["value"]
    return {key: _plain(value) for key, value in node.items() if key not in ("doc", "unit")}


def _failures(content):
    for kind, operation in content["results"]["total"]["operations"].items():
        if operation["errors"]:
            return f"{kind}s failed: {operation['errors']}"
    return f"the run warned: {content['warnings'][0]}" if content["warnings"] else ""


def _of_firmware(statistics, key):
    flash = statistics["firmware"]["flash"]
    return sum(purpose.get(key, 0) for purpose in flash.values() if isinstance(purpose, dict))


def _of_channels(statistics, command, key):
    kinds = statistics["flash"].get(command, {})
    return sum(purpose.get(key, 0) for purpose in kinds.values() if isinstance(purpose, dict))


def _of_dies(statistics, key):
    return sum(die[key] for name, die in statistics["flash"].items() if name.startswith("nand_die_"))


def _programs(statistics):
    """Firmware counts a program when it ends, the channels too, the dies when it begins."""
    under_way = statistics["flash"]["controller"]["outstanding"]
    firmware = _of_firmware(statistics, "programs")
    channels = _of_channels(statistics, "program", "operations") + _of_channels(statistics, "copyback", "operations")
    if abs(channels - firmware) > under_way:
        return f"firmware counted {firmware} programs, the channels {channels}, {under_way} were under way"
    if _of_dies(statistics, "copies") > 0 or "slc_programs" in statistics["flash"]["nand_die_0"] or channels == 0:
        return ""  # a page does not hold the same everywhere
    units = _of_firmware(statistics, "units_programmed") + _of_firmware(statistics, "units_padded")
    pages = _of_channels(statistics, "program", "pages")
    # Units and pages are whole multiples of each other, but for what is under way at the ends.
    to_a_page = max(round(units / pages), 1)
    if abs(units - pages * to_a_page) > under_way * to_a_page * pages / channels:
        return f"firmware counted {units} units programmed, the channels {pages} pages of {to_a_page} units"
    return ""


def _erases(statistics):
    under_way = statistics["flash"]["controller"]["outstanding"]
    flash = statistics["firmware"]["flash"]
    firmware = flash["erases"] + flash["erase_failures"]
    channels = _of_channels(statistics, "erase", "operations")
    if abs(channels - firmware) > under_way:
        return f"firmware counted {firmware} erases, the channels {channels}, {under_way} operations were under way"
    blocks = _of_channels(statistics, "erase", "pages")
    dies = _of_dies(statistics, "erases") + _of_dies(statistics, "erase_failures")
    if channels > 0 and abs(blocks - dies) > under_way * blocks / channels:
        return f"the channels erased {blocks} blocks, the dies {dies}"
    return ""
