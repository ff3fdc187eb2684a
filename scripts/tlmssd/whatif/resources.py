"""The resources of a drive, and how each is made faster or more.

A resource that has a speed is made faster by the share that is asked for. One that comes in pieces
(dies, cores) gets as many more as fit into that share, and at least one; a link goes to the next
one that can be bought. More dies make the drive larger, in nothing else another one; all other
changes leave the host's capacity as it was.
"""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

from tlmssd import drive as at
from tlmssd.drive import Drive, bytes_text
from tlmssd.fio_numbers import fio_number
from tlmssd.quantities import quantity_text
from tlmssd.units import parse

PART = "ssd.flash.part."
MAP_CACHE = "firmware.mapping.cache"
DRAM = "ssd.dram.capacity"
ROUNDING = 1e-9
"""Share by which a ratio of two numbers may be off the step that it was made by."""


@dataclass(frozen=True)
class Step:
    """One change to one resource.

    `ratio`: how much faster or more it is (1.5: half as much again); `weight`: share of its effect
    that counts in the ranking, below 1 where no step as short as was asked for is to be had.
    """

    before: str
    after: str
    ratio: float
    settings: dict[str, str]
    weight: float = 1.0

    @property
    def reach(self) -> float:
        """How much faster it is as far as it counts."""
        return self.ratio**self.weight


@dataclass(frozen=True)
class Resource:
    """What may be the bottleneck: `change` makes it faster by a share; None where it cannot."""

    name: str
    what: str
    change: Callable[[Drive, float], Step | None]
    needs: Callable[[Drive], bool] = lambda drive: True

    def step(self, drive: Drive, share: float) -> Step | None:
        """The change by a share, with the weight that its effect has."""
        step = self.change(drive, share)
        if step is None or step.ratio <= (1 + share) * (1 + ROUNDING):
            return step
        return replace(step, weight=math.log(1 + share) / math.log(step.ratio))


def resources() -> list[Resource]:
    """All that are tried, in the order of a command's way."""
    return [
        Resource("link", "host link: lanes, then generation", _link),
        Resource("link latency", "latency of link and interrupt", _times(
            "ssd.host.link_latency", "ssd.host.interrupt_latency")),
        Resource("cores", "controller cores", _cores),
        Resource("core clock", "clock of the cores", _rate("ssd.cpu.clock")),
        Resource("DRAM", "DRAM: bandwidth, and its latency", _dram,
                 lambda drive: drive.has("ssd.dram.bandwidth") and drive.has("ssd.dram.latency")),
        Resource("system bus", "clock of the controller's bus", _rate("ssd.bus.clock")),
        Resource("SCM", "storage-class memory", _scm,
                 lambda drive: drive.has("ssd.scm.program_latency")),
        Resource("write buffer", "capacity of the write buffer",
                 _within(DRAM, at.BUFFER, 4096), lambda drive: drive.has(at.BUFFER)),
        Resource("cache", "capacity of the cache", _cache, _has_cache),
        Resource("map cache", "capacity of the cache of map pages",
                 _map_cache, _has_map_cache),
        Resource("pSLC", "blocks in SLC mode, static and dynamic", _pslc, _has_pslc),
        Resource("decoders", "decoders of each kind", _decoders, _has_decoders),
        Resource("flash bus", "transfers per second of a channel", _rate("ssd.flash.bus")),
        Resource("channels", "channels, with as many dies as before", _channels),
        Resource("dies", "dies like those that are there", _dies),
        Resource("array read", "tR", _times(PART + "read_latency", PART + "slc_read_latency")),
        Resource("program", "tPROG", _times(
            PART + "program_latency", PART + "slc_program_latency")),
        Resource("erase", "tBERS", _times(PART + "erase_latency", PART + "slc_erase_latency")),
        Resource("spare flash", "over-provisioning", _spare),
        Resource("collection thresholds", "collection starts and stops earlier",
                 _thresholds, _has_thresholds),
    ]  # fmt: skip


def _times(*paths: str) -> Callable[[Drive, float], Step | None]:
    """Makes times shorter."""

    def step(drive: Drive, share: float) -> Step | None:
        there = [path for path in paths if drive.has(path)]
        settings = {path: drive.scaled(path, 1 / (1 + share)) for path in there}
        first = paths[0]
        return Step(_plain(drive.text(first)), _plain(settings[first]), 1 + share, settings)

    return step


def _rate(path: str) -> Callable[[Drive, float], Step | None]:
    """Makes a rate higher."""

    def step(drive: Drive, share: float) -> Step | None:
        text = drive.scaled(path, 1 + share)
        return Step(drive.text(path), text, 1 + share, {path: text})

    return step


def _dram(drive: Drive, share: float) -> Step:
    bandwidth, latency = "ssd.dram.bandwidth", "ssd.dram.latency"
    settings = {
        bandwidth: drive.scaled(bandwidth, 1 + share),
        latency: drive.scaled(latency, 1 / (1 + share)),
    }
    return Step(drive.text(bandwidth), settings[bandwidth], 1 + share, settings)


def _scm(drive: Drive, share: float) -> Step:
    bandwidth = "ssd.scm.bandwidth"
    settings = {bandwidth: drive.scaled(bandwidth, 1 + share)}
    for name in ("read_latency", "program_latency"):
        settings[f"ssd.scm.{name}"] = drive.scaled(f"ssd.scm.{name}", 1 / (1 + share))
    return Step(drive.text(bandwidth), settings[bandwidth], 1 + share, settings)


GENERATIONS = {
    1: 2.5 * 0.8,
    2: 5 * 0.8,
    3: 8 * 128 / 130,
    4: 16 * 128 / 130,
    5: 32 * 128 / 130,
    6: 64 * 236 / 256,
}
"""Gb/s of a lane after its line code, by generation (of 6: after its flits), as the emulator's."""
LANES = (1, 2, 4, 8, 16)
NEARLY = 0.98
"""Twice as fast but for the line code is twice as fast."""


def _link(drive: Drive, share: float) -> Step | None:
    """The slowest link that is at least so much faster: more lanes, then later generations."""
    path, link = "ssd.host.link", drive.text("ssd.host.link")
    if after := {"sata1.5": "sata3", "sata3": "sata6"}.get(link):
        return Step(link, after, 2.0, {path: after})
    if not link.startswith("pcie"):
        return None
    generation, lanes = (int(number) for number in link.removeprefix("pcie").split("x"))
    rate = GENERATIONS[generation] * lanes
    faster = sorted(
        (GENERATIONS[other] * width / rate, other, width)
        for other in GENERATIONS
        if other >= generation
        for width in LANES
        if width >= lanes and (other, width) != (generation, lanes)
    )
    if not faster:
        return None
    enough = (one for one in faster if one[0] >= NEARLY * (1 + share))
    ratio, other, width = next(enough, faster[-1])
    after = f"pcie{other}x{width}"
    return Step(link, after, ratio, {path: after})


def more_pieces(count: int, share: float) -> int:
    """As many more as fit into the share, at least one."""
    return count + max(1, math.floor(count * share + 1e-9))


MOST_CORES, MOST_DECODERS = 256, 1024
"""That the program takes."""


def _cores(drive: Drive, share: float) -> Step | None:
    return _more(drive, "ssd.cpu.cores", share, MOST_CORES)


def _decoders(drive: Drive, share: float) -> Step | None:
    return _more(drive, "ssd.flash.ecc.engines", share, MOST_DECODERS)


def _more(drive: Drive, path: str, share: float, most: int) -> Step | None:
    """More of them, up to the `most` that there may be; None where there are as many."""
    before = drive.whole(path)
    after = min(more_pieces(before, share), most)
    if after <= before:
        return None
    return Step(str(before), str(after), after / before, {path: str(after)})


def _has_decoders(drive: Drive) -> bool:
    return drive.parameters.get("firmware.ecc.policy", "none") != "none"


def _has_cache(drive: Drive) -> bool:
    return drive.cache_bytes > 0


def _cache(drive: Drive, share: float) -> Step:
    """The cache, and the memory it lies in by as much; one without a size grows with its memory."""
    in_dram = drive.parameters.get(at.CACHE_MEDIUM) == "dram"
    memory, there = (DRAM, drive.number(DRAM)) if in_dram else (at.SCM_CAPACITY, drive.scm_bytes)
    before = drive.cache_bytes
    after = round(before * (1 + share))
    settings = {memory: bytes_text(there + after - before)}
    if drive.number(at.CACHE_CAPACITY) > 0:
        settings[at.CACHE_CAPACITY] = bytes_text(after)
    return Step(_size(before), _size(after), after / before, settings)


def _has_map_cache(drive: Drive) -> bool:
    return drive.parameters.get("firmware.mapping.scheme") == "dftl" and drive.has(MAP_CACHE)


PSLC = ("firmware.pslc.static", "firmware.pslc.dynamic")


def _has_pslc(drive: Drive) -> bool:
    policy = drive.parameters.get("firmware.pslc.policy", "none")
    return policy != "none" and any(_pslc_sizes(drive))


def _pslc_sizes(drive: Drive) -> list[float]:
    return [drive.number(path) if drive.has(path) else 0 for path in PSLC]


def _pslc(drive: Drive, share: float) -> Step:
    """More of both kinds; the drive's flash stays, so that less of it is left in native mode."""
    there = [path for path, size in zip(PSLC, _pslc_sizes(drive), strict=True) if size > 0]
    before = {path: drive.text(path) for path in there}
    after = {path: drive.scaled(path, 1 + share) for path in there}
    return Step(_told_sizes(before), _told_sizes(after), 1 + share, after)


def _told_sizes(sizes: Mapping[str, str]) -> str:
    """The size of one kind by itself; of two each with its last word: '4 MiB static and ...'."""
    if len(sizes) == 1:
        return _told(*sizes.values())
    kinds = (f"{_told(size)} {path.rpartition('.')[2]}" for path, size in sizes.items())
    return " and ".join(kinds)


def _told(text: str) -> str:
    """A size in the unit that fits; a share as it is."""
    return text if "%" in text else _size(int(parse(text)))


def _map_cache(drive: Drive, share: float) -> Step:
    """DFTL's cache, and the memory it lies in by as much: DRAM, or the host memory buffer."""
    in_host = drive.parameters.get("firmware.mapping.cache_in") == "host"
    return _within("ssd.host.memory_buffer" if in_host else DRAM, MAP_CACHE)(drive, share)


def _within(memory: str, path: str, grain: int = 1) -> Callable[[Drive, float], Step]:
    """Makes a capacity in a memory larger, in whole grains, and the memory by as much."""

    def step(drive: Drive, share: float) -> Step:
        before = int(drive.number(path))
        after = -(-int(before * (1 + share)) // grain) * grain
        more = int(drive.number(memory)) + after - before
        settings = {path: bytes_text(after), memory: bytes_text(more)}
        return Step(_size(before), _size(after), after / before, settings)

    return step


def _fio_size(drive: Drive, text: str, ratio: float) -> str | None:
    """So many times a size in fio's words, in whole logical blocks; None for what is none. One in
    per cent grows with the drive by itself."""
    size = fio_number(text)
    if size is None:
        return None
    block = int(drive.number("ssd.host.lba_size"))
    return str(round(size * ratio / block) * block)


def _dies(drive: Drive, share: float) -> Step:
    """More packages on each channel, each with dies as they are: the drive grows with them.

    With fewer blocks in each die, the blocks that collection keeps free would weigh more; with
    smaller ones, victims would be emptier: both would be told of dies. The load grows, too, in
    requests and in bytes: each die is to see as much of it, or its free blocks last to the end.
    """
    before = drive.whole(at.WAYS)
    after = more_pieces(before, share)
    ratio = after / before
    memory = "ssd.dram.capacity"
    settings = {at.WAYS: str(after), memory: bytes_text(drive.number(memory) * ratio)}
    if drive.number(at.USER_CAPACITY) > 0:
        settings[at.USER_CAPACITY] = bytes_text(drive.number(at.USER_CAPACITY) * ratio)
    for path in drive.parameters:
        word = path.rpartition(".")[2] if path.startswith("load.") else ""
        if word == "number_ios" and drive.whole(path) > 0:
            settings[path] = str(round(drive.whole(path) * ratio))
        elif word in ("size", "io_size", "offset"):
            size = _fio_size(drive, drive.text(path), ratio)
            settings |= {path: size} if size else {}
    dies = drive.dies
    return Step(str(dies), str(dies * after // before), ratio, settings)


def _channels(drive: Drive, share: float) -> Step | None:
    """More channels for the same dies: fewer dies on each, down to one."""
    before, ways, inside = (drive.whole(path) for path in (at.CHANNELS, at.WAYS, at.DIES_PER_WAY))
    times = [n for n in range(2, max(ways, inside) + 1) if ways % n == 0 or inside % n == 0]
    if not times:
        return None
    more = next((n for n in times if n >= 1 + share), times[-1])
    path, dies = (at.WAYS, ways) if ways % more == 0 else (at.DIES_PER_WAY, inside)
    after = before * more
    settings = {at.CHANNELS: str(after), path: str(dies // more)}
    settings |= _gang(drive, after)
    return Step(str(before), str(after), float(more), settings)


def _gang(drive: Drive, channels: int) -> dict[str, str]:
    """A gang must divide the channels; one that no longer does becomes the largest that does."""
    path = "ssd.flash.gang"
    if not drive.has(path) or drive.parameters.get("ssd.flash.organisation") == "channels":
        return {}
    gang = drive.whole(path)
    fitting = [size for size in range(1, gang + 1) if channels % size == 0]
    return {path: str(fitting[-1])}


MOST_SPARE = 0.5
"""Over-provisioning of drives built for heavy writing, about; no step goes further."""
LEAST_STEP = 1.1
"""But for drives that have as much already: they get a tenth more."""


def _spare(drive: Drive, share: float) -> Step | None:
    """More flash for the same host's capacity, within what drives are built with.

    Four times 30 % would be more flash than all that the host sees: with that no drive collects,
    and every one that is written at random would seem to be short of it.
    """
    before = drive.over_provisioning
    if before <= 0:
        return None
    after = min(before * (1 + share), max(MOST_SPARE, before * LEAST_STEP))
    settings = {at.USER_CAPACITY: bytes_text(drive.user_capacity)}
    if drive.has(at.SPARE_FACTOR):
        settings[at.SPARE_FACTOR] = f"{100 * after / (1 + after):.9g} %"
    else:
        settings[at.OVER_PROVISIONING] = f"{100 * after:.9g} %"
    return Step(f"{100 * before:.3g} %", f"{100 * after:.3g} %", after / before, settings)


THRESHOLDS = ("firmware.gc.background_start", "firmware.gc.background_stop")


def _has_thresholds(drive: Drive) -> bool:
    return all(drive.has(path) for path in THRESHOLDS) and drive.number(THRESHOLDS[0]) > 0


def _thresholds(drive: Drive, share: float) -> Step | None:
    after = [min(1.0, drive.number(path) * (1 + share)) for path in THRESHOLDS]
    if after[0] <= drive.number(THRESHOLDS[0]):
        return None
    settings = {p: f"{100 * value:.9g} %" for p, value in zip(THRESHOLDS, after, strict=True)}
    ratio = after[0] / drive.number(THRESHOLDS[0])
    return Step(drive.text(THRESHOLDS[0]), f"{100 * after[0]:.3g} %", ratio, settings)


def _plain(text: str) -> str:
    """Times in us, the ends of a list: '77.1..116 us'."""
    values = sorted({parse(part) for part in _parts(text)})
    texts = [quantity_text(value, "s") for value in values]
    return texts[0] if len(texts) == 1 else f"{texts[0]} to {texts[-1]}"


def _parts(text: str) -> Iterable[str]:
    import json

    return json.loads(text) if text.startswith("[") else [text]


def _size(number: int) -> str:
    return quantity_text(number, "B")
