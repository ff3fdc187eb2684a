"""Parity over dies, which takes its part of the spare blocks."""


def draw(d):
    """After what it does not go with, and the capacity."""
    f, parity = d.facts, "firmware.parity"
    dies = f.channels * f.ways * f.dies_per_way
    sizes = [n for n in range(2, min(dies, 64) + 1) if dies % n == 0 and f.user <= f.physical * (0.75 - 1 / n)]
    alone = all(d.policy(path) == "none" for path in ("firmware.pslc", "firmware.replicas", "firmware.partition"))
    if not sizes or not alone or f.striped or d.policy("firmware.mapping") != "page" or not d.chance(0.3):
        d.leave_out(parity)
        return
    d.choose(parity, "behind-collection", "behind-writes")
    d.put(parity, "stripe", d.pick(*sizes))
    d.section(parity, 0.5, forming=[2, 3, 8, 64])
