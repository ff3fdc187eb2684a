"""The stripe, from reads at multiples of a stride: how many dies each stride keeps busy.

Reads that are so far apart that all of them meet the same die are slowest, and the shortest such
stride is the stripe (Ryu & Park, 2009). Pages of a die may take different times to read (lower,
upper), and then a stride of many stripes meets pages of one kind: rates alone say little. So each
stride is read both one at a time (latency L) and many at a time (rate X). Of L, a part c is not the
die's (link, cores); one die alone gives X = 1 / (L - c), n dies give at most n / (L - c). Since L -
1 / X is at least c, and c where one die is met, its least value over all strides is c, and X (L -
c) is the number of dies that are busy at once, whatever kind of pages a stride meets.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tlmssd.probe.findings import LIKELY, SURE, WEAK, Curve, Finding, not_visible
from tlmssd.probe.results import Point
from tlmssd.quantities import quantity_text

ALONE = 1.12
"""A stride that keeps no more dies busy meets one."""
TOLD = 0.5
"""Where three standard errors are more, one die is not told from two."""
SHOWN = 1.25
"""A stripe shows when some stride keeps so many dies busy."""
DEPTH = 32
"""Of the reads many at a time."""
SMALL, NEAR, MOST_EXACT = 2.0, 0.025, 8
"""Strides of fewer pages meet all dies; so near to a whole number, and no more dies, are exact."""
LEAST_PAGE = 2048
"""B."""
LEAST_SHARE, GOOD_SHARE = 0.2, 0.35
"""Of the latency of a read, the die's own part must be so large that one die is told from many."""
ONE_COST = 0.02
"""Overheads c of strides are alike within this share of the latency."""


@dataclass(frozen=True)
class Strides:
    """What each stride (in B) showed: commands per second, dies busy at once and that number's
    standard error, the die's share of the latency. `peak`: reads per second at the deepest queue.
    """

    rates: Mapping[float, float]
    busy: Mapping[float, float]
    doubt: Mapping[float, float]
    share: Mapping[float, float]
    peak: float

    @staticmethod
    def of(
        many: Sequence[Point], alone: Sequence[Point], depths: Sequence[Point]
    ) -> "Strides | None":
        """From the reads 32 at a time and one at a time; None when there are too few."""
        single = {point.numbers[0]: point for point in alone}
        deep = {point.numbers[0]: point for point in many if point.numbers[0] in single}
        if len(deep) < 20:
            return None
        over = {stride: single[stride].mean - 1e9 / deep[stride].iops for stride in deep}
        doubt = {
            stride: 3 * single[stride].doubt + ONE_COST * single[stride].mean for stride in deep
        }
        least = min(over, key=lambda stride: over[stride])
        alike = [over[one] for one in deep if over[one] <= over[least] + doubt[least] + doubt[one]]
        cost = max(float(np.median(alike)), 0.0)
        rates = {stride: point.iops for stride, point in deep.items()}
        return Strides(
            rates,
            {one: (single[one].mean - cost) * rate * 1e-9 for one, rate in rates.items()},
            {one: single[one].doubt * rate * 1e-9 for one, rate in rates.items()},
            {one: 1e9 / rate / single[one].mean for one, rate in rates.items()},
            max((point.iops for point in depths), default=0.0),
        )

    def most(self, stripe: float) -> float:
        """Dies that the best of those strides keeps busy that are no multiples of the stripe."""
        others = [busy for one, busy in self.busy.items() if one % stripe]
        return float(np.percentile(others, 90)) if others else 0.0

    def stripe(self) -> float | None:
        """The shortest stride of which every multiple, and no other stride, meets one die alone."""
        one = [one for one in sorted(self.busy) if self._is_alone(one)]
        for stride in one:
            multiples = self.multiples(stride)
            alike = [other for other in one if other % stride == 0]
            if len(alike) >= 0.9 * max(len(multiples), len(one)):
                return stride
        return None

    def _is_alone(self, stride: float) -> bool:
        """Whether a stride meets one die: no more, and no less, as noise has it."""
        doubt = 3 * self.doubt[stride]
        return doubt < TOLD and abs(self.busy[stride] - 1) < ALONE - 1 + doubt

    def multiples(self, stride: float) -> list[float]:
        """Those strides that are multiples of one."""
        return [other for other in self.busy if other % stride == 0]

    def least_units(self, stripe: float) -> float:
        """Dies that the drive has at least: so many were busy at once, at whatever depth."""
        each = [1 / self.rates[one] for one in self.multiples(stripe) if one // stripe % 2]
        return max(self.peak * float(np.mean(each)), *self.busy.values())

    def exact_units(self, stripe: float) -> int | None:
        """Dies that the drive has, where these alone limit it: so many are busy with the deepest
        queue, and fewer with one of 32, in which some wait for the same die. What else may limit a
        drive (cores, link) would do so at both depths alike."""
        most = self.least_units(stripe)
        count = round(most)
        short = [self.busy[one] for one in self.busy if one < stripe / max(count, 1) * SMALL]
        near = 2 <= count <= MOST_EXACT and abs(most / count - 1) < NEAR
        if not near or stripe % (count * LEAST_PAGE) or len(short) < 3:
            return None
        middle = float(np.median(short))
        by_chance = count * DEPTH / (DEPTH + count - 1)
        return count if 0.93 * by_chance < middle < 0.98 * most else None


def stripe_finding(strides: Strides | None) -> Finding:
    """The stripe: what one die after the other holds until the first has its turn again."""
    key, what = "stripe", "stripe (a page of every parallel unit)"
    if strides is None:
        return not_visible(key, what, "the reads by stride were not run")
    stripe = strides.stripe()
    data = {"busy at once": sorted(strides.busy.items())}
    title = "Dies kept busy by reads at multiples of a stride, 32 at a time"
    curve = Curve(title, "stride", "dies", data, (stripe,) if stripe else (), y_unit="")
    if stripe is None:
        why = (
            "no stride meets one die alone: the data do not lie in stripes, commands take the "
            "drive longer than reads its dies, or reads take too different times"
        )
        return not_visible(key, what, why, curve)
    most = strides.most(stripe)
    if most < SHOWN:
        why = "no stride meets more dies than others: the data do not lie in stripes, or on one die"
        return not_visible(key, what, why, curve)
    multiples = strides.multiples(stripe)
    share = float(np.median([strides.share[one] for one in multiples]))
    if share < LEAST_SHARE or len(multiples) < 2:
        why = (
            f"reads hardly wait for dies: {100 * share:.0f} % of their time"
            if share < LEAST_SHARE
            else f"only the longest stride, {quantity_text(stripe, 'B')}, seems to meet one die"
        )
        return not_visible(key, what, why, curve)
    evidence = (
        f"from {quantity_text(stripe, 'B')} on, every multiple meets one die alone "
        f"({len(multiples)} were tried), other strides up to {most:.1f} dies at once"
    )
    good = share > GOOD_SHARE and len(multiples) >= 4 and most > 1.5
    sure = SURE if good else LIKELY
    return Finding(key, what, stripe, "B", sure, evidence, stripe, stripe, curve)


def units_finding(stripe: Finding, page: Finding) -> Finding:
    """How many parallel units the stripe has, where the page is known."""
    key, what = "units", "parallel units (dies that work at once)"
    if not stripe.visible:
        return not_visible(key, what, stripe.evidence)
    if not page.visible or float(stripe.value) % float(page.value):
        text = f"the stripe of {quantity_text(float(stripe.value), 'B')} shows, but not the page"
        return not_visible(key, what, text)
    units = int(float(stripe.value) // float(page.value))
    evidence = f"the stripe is {units} pages of {quantity_text(float(page.value), 'B')}"
    sure = min(stripe.confidence, page.confidence, key=[WEAK, LIKELY, SURE].index)
    return Finding(key, what, units, "", sure, evidence, units, units)
