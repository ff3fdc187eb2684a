"""What a probe has found: each quantity with its evidence and how sure it is."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

SURE, LIKELY, WEAK, NOT_VISIBLE = "sure", "likely", "weak", "not visible"


@dataclass(frozen=True)
class Curve:
    """A picture: points (x, y) by series, and lines at what was read off them."""

    title: str
    x: str
    y: str
    series: Mapping[str, list[tuple[float, float]]]
    marks: tuple[float, ...] = ()
    x_unit: str = "B"
    y_unit: str = "ns"
    logarithmic: bool = True


@dataclass(frozen=True)
class Finding:
    """One quantity: `value` in `unit` (None: not visible), in words, why, and how sure.

    `low` and `high` are what it may be; of discrete quantities they equal the value.
    """

    key: str
    what: str
    value: float | str | None
    unit: str
    confidence: str
    evidence: str
    low: float | None = None
    high: float | None = None
    curve: Curve | None = None
    details: Mapping[str, Any] = field(default_factory=dict)

    @property
    def visible(self) -> bool:
        """Whether the quantity shows."""
        return self.value is not None


def not_visible(key: str, what: str, why: str, curve: Curve | None = None) -> Finding:
    """A quantity that the results do not show, and the reason."""
    return Finding(key, what, None, "", NOT_VISIBLE, why, curve=curve)
