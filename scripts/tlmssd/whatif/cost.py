"""What a step costs, where the part says what a drive with it is made of (ssd.flash.part.cost)."""

from collections.abc import Mapping

from tlmssd import drive as at
from tlmssd.drive import Drive

PRICES = "ssd.flash.part.cost."


def price(drive: Drive) -> float | None:
    """Sum over dies, channels, cores, DRAM, SCM and lanes; None where no price is given.

    In the part's currency; what has no price counts nothing. More spare flash with as many dies is
    more of the same dies: their price grows with their blocks.
    """
    prices = {
        path.removeprefix(PRICES): float(text)
        for path, text in drive.parameters.items()
        if path.startswith(PRICES)
    }
    if not any(prices.values()):
        return None
    amounts = {
        "die": float(drive.dies),
        "channel": float(drive.whole(at.CHANNELS)),
        "core": float(drive.whole("ssd.cpu.cores")),
        "dram_gib": drive.number("ssd.dram.capacity") / 2**30,
        "scm_gib": drive.scm_bytes / 2**30,
        "link_lane": _lanes(drive.text("ssd.host.link")),
    }
    return sum(prices.get(name, 0.0) * amount for name, amount in amounts.items())


def extra_cost(
    drive: Drive, settings: Mapping[str, str], control: Mapping[str, str] | None = None
) -> float | None:
    """What a step costs more than `control` (by default the drive as it is); None if not known.

    Making a time shorter or a rate higher has no price of its own: that gives None, too.
    """
    base = changed(drive, control or {})
    faster = changed(drive, settings)
    before, after = price(base), price(faster)
    if before is None or after is None:
        return None
    spare = _spare_cost(base, faster)
    difference = after - before + spare
    return difference if difference else None


def changed(drive: Drive, settings: Mapping[str, str]) -> Drive:
    """The drive with settings put over it."""
    return Drive({**drive.parameters, **settings})


def _spare_cost(base: Drive, faster: Drive) -> float:
    if faster.dies != base.dies or faster.over_provisioning == base.over_provisioning:
        return 0.0
    more = (1 + faster.over_provisioning) / (1 + base.over_provisioning) - 1
    return float(base.parameters.get(PRICES + "die", "0")) * base.dies * more


def _lanes(link: str) -> float:
    return float(link.split("x")[1]) if link.startswith("pcie") else 1.0
