"""What a probe has found as a scenario, and a study that calibrates it."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tlmssd.calibrate.files import Marked, dump
from tlmssd.probe.cliffs import GONE_AT, STATIC_BITS
from tlmssd.probe.findings import WEAK, Finding
from tlmssd.probe.plan import KIB, MIB
from tlmssd.probe.results import Results

LARGEST_UNIT = 64 * KIB
"""Beyond it a unit is not one of the map, but a block-mapped region."""
LARGEST_PAGE = 16 * KIB


def write_scenario(findings: Sequence[Finding], results: Results, folder: Path) -> list[Path]:
    """Writes drive.yaml, and study.yaml where calibrate's jobs were measured."""
    found = {finding.key: finding for finding in findings}
    drive = folder / "drive.yaml"
    scenario = _scenario(found, results)
    planes = scenario["ssd"]["flash"]["part"]["planes"]
    drive.write_text(
        "# What tlmssd probe has inferred; all else is a default, and may be wrong.\n"
        + dump(scenario),
        encoding="utf-8",
    )
    written = [drive]
    if "calibrate" in results.stages:
        study = folder / "study.yaml"
        study.write_text(_study(found, planes), encoding="utf-8")
        written.append(study)
    return written


def _said(finding: Finding, value: Any) -> Any:
    return Marked(str(value), f"probed, {finding.confidence}")


def _scenario(found: Mapping[str, Finding], results: Results) -> dict:
    capacity = _capacity(results)
    flash: dict[str, Any] = {"user_capacity": f"{capacity} B"}
    drive: dict[str, Any] = {
        "title": "probed drive",
        "ssd": {"host": {"lba_size": "4 KiB"}, "dram": {"capacity": _dram(capacity)}},
        "firmware": {},
        "precondition": [{"fill": "100 %", "order": "sequential"}],
        "load": [{"fio": "calibrate.fio"}],
    }
    stripe, bus = found["stripe"], _bus(found)
    channels, page = _geometry(found)
    flash["channels"] = Marked(str(channels), f"probed, {found['channels'].confidence}")
    flash["bus"] = Marked(f"{bus:.0f} MT/s", "probed, weak")
    if stripe.visible and stripe.value % (channels * page) == 0:
        flash["ways"] = _said(stripe, int(stripe.value // (channels * page)))
    flash["part"], planes = _part(found, page)
    flash["over_provisioning"] = "12 %"
    if found["spare"].visible:
        share = _spare(found) / capacity
        flash["over_provisioning"] = _said(found["spare"], f"{100 * share:.3g} %")
    drive["ssd"]["flash"] = flash
    firmware = drive["firmware"]
    if planes > 1:
        firmware["allocation"] = {"multi_plane": True}
    _mapping(found, firmware)
    if found["buffer"].visible:
        size = round(found["buffer"].value / KIB) * KIB
        firmware["buffer"] = {"capacity": _said(found["buffer"], f"{size} B")}
    elif found["policy"].value == "write-through":
        firmware["buffer"] = {"mode": _said(found["policy"], "write-through")}
    if found["read_ahead"].value == "yes":
        firmware["read_ahead"] = {"policy": _said(found["read_ahead"], "sequential")}
    if found["queue_limit"].visible:
        limit = _said(found["queue_limit"], found["queue_limit"].value)
        drive["ssd"]["host"]["outstanding_limit"] = limit
    if found["pslc"].visible:
        _pslc(found["pslc"], drive)
    return drive


def _geometry(found: Mapping[str, Finding]) -> tuple[int, int]:
    """Channels and page: as probed, else as common, within the stripe if that is known."""
    whole, stripe = found["round"], found["stripe"]
    if whole.visible and whole.confidence != WEAK:
        return whole.details["channels"], whole.details["page"]
    page, units = LARGEST_PAGE, 8
    if stripe.visible:
        page = math.gcd(int(stripe.value), LARGEST_PAGE)
        units = int(stripe.value) // page
    return next(count for count in (8, 4, 2, 1) if count < 2 or units % (2 * count) == 0), page


def _bus(found: Mapping[str, Finding]) -> float:
    """Transfers per second in millions: as probed, else as common."""
    whole = found["round"]
    if whole.visible and whole.confidence != WEAK:
        return max(whole.details["bus"] / 1e6, 1.0)
    return 800.0


def _part(found: Mapping[str, Finding], size: int) -> tuple[dict[str, Any], int]:
    """A part whose pages are as probed; timings are for calibrate to find."""
    planes = max(1, size // LARGEST_PAGE)
    part: dict[str, Any] = {"file": "parts/nand/vendor-tlc-64l.yaml"}
    if found["pslc"].visible:
        part["file"] = "parts/nand/qlc-96-layer.yaml"
    # Small blocks, so that a small drive has many of them.
    part |= {"pages_per_block": 96, "planes": planes}
    part["page_size"] = Marked(f"{size // planes} B", f"probed, {found['page'].confidence}")
    return part, planes


def _spare(found: Mapping[str, Finding]) -> float:
    """Spare flash of the part that _part() takes, QLC where there is a pSLC."""
    static = found["pslc"].details["static"] if found["pslc"].visible else 0.0
    return found["spare"].details["native"] + max(STATIC_BITS) * static


def _mapping(found: Mapping[str, Finding], firmware: dict) -> None:
    grain = found["grain"]
    largest = min(LARGEST_UNIT, _geometry(found)[1])
    if grain.visible and 512 <= grain.value <= largest:
        firmware["mapping"] = {"unit": _said(grain, f"{int(grain.value)} B")}


def _pslc(pslc: Finding, drive: dict) -> None:
    sizes = {key: round(pslc.details[key] / MIB) for key in ("static", "dynamic")}
    drive["firmware"]["pslc"] = {
        "policy": "all",
        **{key: _said(pslc, f"{size} MiB") for key, size in sizes.items() if size},
        "gone_at": f"{100 * GONE_AT:.0f} %",
    }
    drive["firmware"]["gc"] = {"idle_after": "100 ms"}
    fill = min(100 * pslc.details["filled"], 100)
    drive["precondition"] = [{"fill": f"{fill:.3g} %", "order": "sequential", "idle": True}]


def _dram(capacity: int) -> str:
    return f"{max(64, capacity // (700 * MIB) + 64)} MiB"


def _capacity(results: Results) -> int:
    for group, place in (("spare", 1), ("cliff", 3)):
        points = results.group(group)
        if points:
            return int(points[0].numbers[place])
    return 64 * 1000**3


def _study(found: Mapping[str, Finding], planes: int) -> str:
    buffer = found["buffer"].value / MIB if found["buffer"].visible else 16
    bus = _bus(found)
    lines = [
        "title: the probed drive",
        "base: drive.yaml",
        "measured: calibrate.json",
        "parameters:",
        "  ssd.flash.part.read_latency: {from: 3 us, to: 300 us}",
        "  ssd.flash.part.program_latency: {from: 50 us, to: 5 ms}",
        f"  ssd.flash.bus: {{from: {max(bus / 4, 1):.0f} MT/s, to: {bus * 4:.0f} MT/s}}",
        "  ssd.cpu.cycles.command: {from: 20, to: 40000}",
    ]
    if found["policy"].value != "write-through":
        span = f"{{from: {buffer / 4:.3g} MiB, to: {buffer * 4:.3g} MiB}}"
        lines.append(f"  firmware.buffer.capacity: {span}")
    if planes == 1:  # a die that programs page by page may sense several together
        lines.append("  ssd.flash.part.planes: {choices: [1, 2, 4]}")
    lines.append("hold_out: [read-16k-qd64, write-burst-32m]")
    return "\n".join([*lines, "search: {runs: 300}", ""])
