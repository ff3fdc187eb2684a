"""The resolved parameters of a drive, and how to write them changed."""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tlmssd.scenario import flat
from tlmssd.units import in_base, kind, parse, split


@dataclass(frozen=True)
class Drive:
    """A resolved scenario's parameters by path, as the program prints them."""

    parameters: Mapping[str, str]

    @staticmethod
    def of(scenario: Mapping[str, Any]) -> "Drive":
        """That of a resolved scenario."""
        return Drive(flat(scenario))

    def has(self, path: str) -> bool:
        """Whether the parameter is there and set."""
        return self.parameters.get(path, "null") != "null"

    def text(self, path: str) -> str:
        """The parameter as it is written."""
        return self.parameters[path]

    def whole(self, path: str) -> int:
        """A whole number."""
        return int(self.parameters[path])

    def number(self, path: str) -> float:
        """A number or quantity, in base units (s, B, B/s, Hz; shares as fractions)."""
        return parse(self.parameters[path])

    def scaled(self, path: str, factor: float) -> str:
        """The parameter times `factor`, in its own unit; a list in each of its entries."""
        text = self.parameters[path]
        if text.startswith("["):
            parts = [_times(str(part), factor) for part in json.loads(text)]
            return json.dumps(parts)
        return _times(text, factor)

    @property
    def write_buffer(self) -> int:
        """Bytes of the write buffer; 0: firmware of one's own, which may have another."""
        return int(self.number(BUFFER)) if self.has(BUFFER) else 0

    @property
    def dies(self) -> int:
        """Dies of the drive."""
        return self.whole(CHANNELS) * self.whole(WAYS) * self.whole(DIES_PER_WAY)

    @property
    def bytes_of_a_block_per_plane(self) -> int:
        """Bytes of one block in each plane of each die."""
        part = "ssd.flash.part."
        pages = self.dies * self.whole(part + "planes") * self.whole(part + "pages_per_block")
        return pages * int(self.number(part + "page_size"))

    @property
    def over_provisioning(self) -> float:
        """Flash beyond the user capacity, as a share of the user capacity."""
        if self.has(SPARE_FACTOR):
            return 1 / (1 - self.number(SPARE_FACTOR)) - 1
        return self.number(OVER_PROVISIONING) if self.has(OVER_PROVISIONING) else 0.25

    @property
    def user_capacity(self) -> int:
        """Bytes that the host may use, as the scenario gives them or as the part's blocks make."""
        given = self.number(USER_CAPACITY)
        return int(given) if given > 0 else int(self.flash_bytes / (1 + self.over_provisioning))

    @property
    def flash_bytes(self) -> int:
        """Bytes of all of the flash, spare blocks included."""
        row = self.bytes_of_a_block_per_plane
        given = self.number(USER_CAPACITY)
        if given > 0:
            return row * math.ceil(given * (1 + self.over_provisioning) / row)
        return row * self.whole("ssd.flash.part.blocks_per_plane")

    @property
    def scm_bytes(self) -> int:
        """Bytes of the storage class memory, 0 without one; a share is of all of the flash."""
        if not self.has(SCM_CAPACITY):
            return 0
        number = self.number(SCM_CAPACITY)
        _, unit = split(self.text(SCM_CAPACITY))
        if kind(unit) != "share":
            return int(number)
        return int(number * self.flash_bytes) // SCM_PIECE * SCM_PIECE

    @property
    def cache_bytes(self) -> int:
        """Bytes of the cache before the write buffer, 0 without one; one in the storage class
        memory that has no size of its own is all of that."""
        if self.parameters.get(CACHE_POLICY, "none") == "none":
            return 0
        given = self.number(CACHE_CAPACITY)
        if given > 0 or self.parameters.get(CACHE_MEDIUM) == "dram":
            return int(given)
        return self.scm_bytes


CHANNELS = "ssd.flash.channels"
WAYS = "ssd.flash.ways"
DIES_PER_WAY = "ssd.flash.dies_per_way"
SCM_CAPACITY = "ssd.scm.capacity"
BUFFER = "firmware.buffer.capacity"
SCM_PIECE = 2**16
"""What an SCM that is a share of the flash has whole pieces of, as the program makes it."""
CACHE_POLICY = "firmware.cache.policy"
CACHE_CAPACITY = "firmware.cache.capacity"
CACHE_MEDIUM = "firmware.cache.medium"
OVER_PROVISIONING = "ssd.flash.over_provisioning"
SPARE_FACTOR = "ssd.flash.spare_factor"
USER_CAPACITY = "ssd.flash.user_capacity"


def bytes_text(number: float) -> str:
    """A size as scenarios write it."""
    return f"{int(number)} B"


def _times(text: str, factor: float) -> str:
    """A quantity times `factor`: in whole ps, bytes, or times per second."""
    number, unit = split(text)
    base, base_unit = in_base(number * factor, unit)
    if base_unit == "s":
        return f"{round(base * 1e12)} ps"
    if base_unit == "B":
        return bytes_text(round(base))
    if base_unit in ("Hz", "B/s"):
        return f"{round(base) * number * factor / base:.12g} {unit}"
    return f"{number * factor:.9g} {unit}".rstrip()
