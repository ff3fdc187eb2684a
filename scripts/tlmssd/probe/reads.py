"""What reads show: the stripe by stride, channels and pages by size, queue limits, read-ahead."""

from collections.abc import Sequence

import numpy as np

from tlmssd.probe.findings import LIKELY, SURE, WEAK, Curve, Finding, not_visible
from tlmssd.probe.results import Point, Results
from tlmssd.probe.sizes import size_findings
from tlmssd.probe.strides import Strides, stripe_finding, units_finding
from tlmssd.quantities import quantity_text

FASTER = 0.7
"""Reads whose data wait for them take less than this share of the time."""


def read_findings(results: Results, grain: Finding) -> list[Finding]:
    """Everything that the stage of reads shows; `grain` is what writes say of the mapped unit."""
    depths = results.group("depth")
    strides = Strides.of(results.group("stride"), results.group("alone"), depths)
    stripe = stripe_finding(strides)
    sizes = size_findings(results.group("size"), strides, stripe, grain)
    units = units_finding(stripe, sizes[-1])
    return [*sizes, stripe, units, _queue(depths), _read_ahead(results.group("order"))]


def _queue(depths: Sequence[Point]) -> Finding:
    """How many commands the drive takes at once."""
    key, what = "queue_limit", "commands taken at once"
    if len(depths) < 5:
        return not_visible(key, what, "the reads by queue depth were not run")
    asked = np.array([point.numbers[0] for point in depths])
    busy = np.array([point.under_way for point in depths])
    rates = np.array([point.iops for point in depths])
    data = {"under way": list(zip(asked.tolist(), busy.tolist(), strict=True))}
    limit = float(np.median(busy[-3:]))
    curve = Curve(
        "Reads under way", "queue depth", "under way (rate times latency)", data, (), "", "", True
    )
    if limit < 2:
        why = "fio has handed over one at a time, as by an ioengine that can do no more"
        return not_visible(key, what, why, curve)
    if limit < 0.8 * asked[-1] and busy[-1] < 1.05 * busy[-3]:
        near = int(asked[np.argmin(np.abs(asked - limit))])
        value = near if abs(near / limit - 1) < 0.05 else round(limit)
        evidence = f"asked for up to {asked[-1]:.0f}, no more than {limit:.1f} are ever under way"
        return Finding(key, what, value, "", SURE, evidence, value, value, curve)
    full = rates >= 0.97 * rates.max()
    knee = int(asked[np.argmax(full)])
    flat = rates[asked >= knee]
    before = rates[asked < knee]
    steep = len(before) and flat[0] / before[-1] > 0.9 * knee / asked[asked < knee][-1]
    if steep and flat.max() < 1.02 * flat.min():
        evidence = f"the rate grows in proportion up to {knee} at once and not at all beyond"
        return Finding(key, what, knee, "", LIKELY, evidence, knee, knee, curve)
    why = (
        f"the rate saturates by and by (97 % at {knee}), as dies and cores do: a limit that "
        "only keeps them from more does not show"
    )
    return not_visible(key, what, why, curve)


def _read_ahead(order: Sequence[Point]) -> Finding:
    """Whether sequential reads find their data waiting."""
    key, what = "read_ahead", "read-ahead"
    by_name = {point.name: point for point in order}
    pairs = []
    for name, point in by_name.items():
        other = by_name.get(name.replace("order-read-", "order-randread-"))
        if name.startswith("order-read-") and other:
            pairs.append((point.numbers[0], point.percentile(50), other.percentile(50)))
    if not pairs:
        return not_visible(key, what, "the reads in order were not run")
    data = {
        "in order": [(size, ordered) for size, ordered, _ in pairs],
        "at random": [(size, chance) for size, _, chance in pairs],
    }
    curve = Curve("Reads in order and at random, one at a time", "size", "latency", data)
    size, ordered, chance = min(pairs, key=lambda pair: pair[1] / pair[2])
    evidence = (
        f"reads of {quantity_text(size, 'B')} take {quantity_text(ordered, 'ns')} in order and "
        f"{quantity_text(chance, 'ns')} at random"
    )
    faster = [before < FASTER * after for _, before, after in pairs]
    if all(faster):
        return Finding(key, what, "yes", "", SURE, evidence, curve=curve)
    if any(faster):
        evidence += "; not those of every size, so it may be chance"
        return Finding(key, what, "yes", "", WEAK, evidence, curve=curve)
    return Finding(key, what, "none", "", LIKELY, evidence, curve=curve)
