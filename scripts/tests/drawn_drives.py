"""Drives drawn at random for tlmssd probe: a scenario and what is true of it, by a seed."""

import random
from collections.abc import Sequence
from dataclasses import dataclass

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
BITS = {"slc": 1, "mlc": 2, "tlc": 3, "qlc": 4}
READ_US = {"slc": (25,), "mlc": (50,), "tlc": (56, 77, 106), "qlc": (48, 76, 135, 228)}
PROGRAM_US = {"slc": (250,), "mlc": (600, 1200), "tlc": (800,), "qlc": (2000,)}
BUFFERS_MIB = (1, 2, 4, 6, 8, 12, 16, 24, 32, 48, 64)
BLOCK_PAGES = 8
"""Of a block, per bit of its cells: small blocks, so that a small drive has many."""


@dataclass(frozen=True)
class Drawn:
    """A drive: its scenario, and what a probe is to find, sizes in B.

    `page`: what lies together on a die; `pslc`: as large as it can be, 0: none; `limit`: of
    commands at once, 0: none.
    """

    text: str
    channels: int
    dies: int
    page: int
    unit: int
    buffer: int
    write_back: bool
    pslc: float
    spare: float
    limit: int

    @property
    def units(self) -> int:
        """Dies that work at once."""
        return self.channels * self.dies

    @property
    def stripe(self) -> int:
        """A page of every die."""
        return self.units * self.page

    @property
    def round(self) -> int:
        """A page on every channel."""
        return self.channels * self.page


def draw(seed: int) -> Drawn:
    """The drive of a seed: 2 to 16 channels of 1 to 8 dies, and the rest as drives have it."""
    rng = random.Random(seed)
    cell = rng.choice(list(BITS))
    bits = BITS[cell]
    channels, dies = rng.randint(2, 16), rng.randint(1, 8)
    planes, size = rng.choice((1, 2, 4)), rng.choice((4, 8, 16)) * KIB
    multi_plane = planes > 1 and rng.random() < 0.6
    word_line = bits > 2 and rng.random() < 0.5
    pslc = bits > 2 and rng.random() < 0.5
    page = size * (planes if multi_plane else 1)
    program = page * (bits if word_line else 1)
    unit = rng.choice([n * KIB for n in (4, 4, 4, 8, 16) if n * KIB <= size])
    sata = rng.random() < 0.3
    limit = 32 if sata else rng.choice((0, 0, 48, 128))
    buffer = max(rng.choice(BUFFERS_MIB) * MIB, 4 * program)
    write_back = rng.random() < 0.85
    spare = rng.choice((0.1, 0.15, 0.2, 0.28))
    block = channels * dies * planes * size * BLOCK_PAGES * bits
    capacity = min(max(2 * GIB, 100 * block), 8 * GIB) // GIB * GIB
    factor = rng.uniform(0.7, 1.4)
    part = {
        "cell": cell,
        "planes": planes,
        "page_size": f"{size} B",
        "pages_per_block": BLOCK_PAGES * bits,
        "program_unit": "word-line" if word_line else "page",
        "read_latency": _times(READ_US[cell], factor),
        "program_latency": _times(PROGRAM_US[cell], factor),
    }
    if pslc:
        part |= {"slc_read_latency": "28 us", "slc_program_latency": "200 us"}
        part |= {"slc_erase_latency": "5 ms"}
    host = {
        "protocol": "sata" if sata else "nvme",
        "link": "sata6" if sata else rng.choice(("pcie3x2", "pcie3x4", "pcie4x4")),
        "lba_size": rng.choice(("512 B", "4 KiB")),
    }
    if limit and not sata:
        host["outstanding_limit"] = limit
    flash = {
        "channels": channels,
        "ways": dies,
        "bus": f"{rng.choice((200, 400, 533, 800, 1200))} MT/s",
        "user_capacity": f"{capacity} B",
        "over_provisioning": f"{100 * spare:g} %",
        "multi_plane_reads": str(rng.random() < 0.5).lower(),
        "part": _flow(part),
    }
    mapping = {"unit": f"{unit} B"}
    if not pslc and rng.random() < 0.2:
        mapping |= {"scheme": "dftl", "cache": rng.choice(("256 KiB", "1 MiB", "4 MiB"))}
    firmware = {
        "buffer": _flow(
            {"capacity": f"{buffer} B", "mode": "write-back" if write_back else "write-through"}
        ),
        "allocation": _flow({"multi_plane": str(multi_plane).lower()}),
        "mapping": _flow(mapping),
    }
    static, dynamic = rng.choice((0.0, 1.2)), rng.choice((6, 10))
    if pslc:
        sizes = {"dynamic": f"{dynamic} %"} | ({"static": f"{static} %"} if static else {})
        firmware |= {
            "pslc": _flow({"policy": "all", **sizes}), "gc": _flow({"idle_after": "100 ms"})
        }  # fmt: skip
    cpu = {"cores": rng.choice((1, 2, 4)), "clock": f"{rng.choice((400, 600, 1000))} MHz"}
    fill = {"fill": "25 %" if pslc else "100 %", "order": "sequential"}
    if pslc:
        fill["idle"] = "true"
    text = "\n".join(
        [
            f"title: drive {seed}",
            f"ssd: {{host: {_flow(host)}, cpu: {_flow(cpu)}, dram: {{capacity: 1 GiB}},",
            f"      flash: {_flow(flash)}}}",
            f"firmware: {_flow(firmware)}",
            f"precondition: [{_flow(fill)}]",
            "load: {rw: randread, number_ios: 100}",
            "",
        ]
    )
    return Drawn(
        text, channels, dies, page if pslc else program, unit, buffer, write_back,
        (static + dynamic) / 100 * (1 + spare) * capacity if pslc else 0.0, spare * capacity, limit,
    )  # fmt: skip


ONE_CHANNEL = Drawn(
    """title: pages that are mapped whole, on one channel
ssd:
  host: {link: pcie3x4, lba_size: 4 KiB}
  cpu: {cores: 4, clock: 1.5 GHz}
  dram: {capacity: 512 MiB, bandwidth: 20 GB/s}
  flash:
    channels: 1
    ways: 2
    bus: 200 MT/s
    user_capacity: 2 GiB
    over_provisioning: 8 %
    part: {file: parts/nand/femu-tlc.yaml, pages_per_block: 96, planes: 4}
firmware:
  mapping: {unit: 16 KiB}
  allocation: {multi_plane: false}
  buffer: {capacity: 1 MiB}
precondition: {fill: 100 %, order: sequential}
load: {rw: randread, number_ios: 100}
""",
    channels=1, dies=2, page=16 * KIB, unit=16 * KIB, buffer=MIB, write_back=True, pslc=0.0,
    spare=0.08 * 2 * GIB, limit=0,
)  # fmt: skip
"""It was called four channels of 4 KiB: reads of less than a mapped unit cost a whole one."""
FEW_BLOCKS = Drawn(
    """title: three blocks of spare flash for each die
ssd:
  host: {link: pcie3x4, lba_size: 4 KiB}
  cpu: {cores: 4, clock: 1.5 GHz}
  dram: {capacity: 512 MiB, bandwidth: 20 GB/s}
  flash:
    channels: 8
    ways: 2
    bus: 200 MT/s
    user_capacity: 1 GiB
    over_provisioning: 8 %
    part: {file: parts/nand/qlc.yaml, pages_per_block: 96, planes: 1}
firmware:
  allocation: {multi_plane: false}
  buffer: {capacity: 2 MiB}
precondition: {fill: 100 %, order: sequential}
load: {rw: randread, number_ios: 100}
""",
    channels=8, dies=2, page=16 * KIB, unit=4 * KIB, buffer=2 * MIB, write_back=True, pslc=0.0,
    spare=0.08 * GIB, limit=0,
)  # fmt: skip
"""Its spare flash was 24 to 39 MiB, likely: most of it is the reserve, which does not show."""
NEARLY_FULL = Drawn(
    """title: little is left of its dynamic pSLC
ssd:
  host: {link: pcie3x2, lba_size: 4 KiB}
  cpu: {cores: 2, clock: 1 GHz}
  flash:
    channels: 2
    ways: 3
    bus: 667 MT/s
    user_capacity: 1200 MB
    over_provisioning: 15 %
    part: {file: parts/nand/qlc-96-layer.yaml, pages_per_block: 96, planes: 2}
firmware:
  buffer: {capacity: 4 MiB}
  gc: {idle_after: 10 ms}
  pslc: {policy: all, static: 20 MiB, dynamic: 60 MB}
precondition: {fill: 60 %, order: sequential, idle: true}
load: {rw: randread, number_ios: 100}
""",
    channels=2, dies=3, page=16 * KIB, unit=4 * KIB, buffer=4 * MIB, write_back=True,
    pslc=76.5 * MIB, spare=0.15 * 1200e6, limit=0,
)  # fmt: skip
"""Its pSLC was 33 to 40 MiB, likely; with whole blocks it is 76.5."""
ODD = {"one channel": ONE_CHANNEL, "few blocks": FEW_BLOCKS, "nearly full": NEARLY_FULL}
"""Drives of which something was said that is not so."""


def _flow(entries: dict) -> str:
    return "{" + ", ".join(f"{key}: {value}" for key, value in entries.items()) + "}"


def _times(microseconds: Sequence[float], factor: float) -> str:
    return "[" + ", ".join(f"{round(factor * time)} us" for time in microseconds) + "]"
