"""What reads show: pages and channels by size, parallel units by stride, queue limits, read-ahead.

By size: a read of one page more costs nothing as long as the page lies on a channel of its own, and
one more transfer when it does not; the latency of reads one at a time jumps at every multiple of
the channels' pages. By stride: reads that are so far apart that all of them meet the same die are
slowest, and the shortest such stride is the stripe, all parallel units' pages (Ryu & Park, 2009).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import nnls

from tlmssd.probe.findings import LIKELY, SURE, WEAK, Curve, Finding, not_visible
from tlmssd.probe.results import Point, Results
from tlmssd.quantities import quantity_text

PAGES = [512 << power for power in range(12)]
MOST_CHANNELS = 64
SLOWEST = 1.19
"""Strides within this of the slowest meet as few dies as it."""
CONTRAST = 1.25
"""A stripe shows when the slowest stride is slower by this."""
LEAST_PAGE = 4096
"""Of pages that explain reads alike, smaller ones are not taken: they are of the last century."""


def read_findings(results: Results, grain: Finding) -> list[Finding]:
    """Everything that the stage of reads shows; `grain` is what writes say of the mapped unit."""
    strides = _Strides.of(results.group("stride"))
    return [
        *_channels(results.group("size"), strides, grain),
        *_queue_and_order(results),
    ]


def _queue_and_order(results: Results) -> list[Finding]:
    return [_queue(results.group("depth")), _read_ahead(results.group("order"))]


def _curve(points: Sequence[Point], title: str, x: str, marks: Sequence[float] = ()) -> Curve:
    data = [(point.numbers[0], point.percentile(50)) for point in points]
    return Curve(title, x, "latency", {"median": data}, tuple(marks))


def _channels(sizes: Sequence[Point], strides: "_Strides | None", grain: Finding) -> list[Finding]:
    """Round, channels and page from how latency grows with size; stripe and units from strides."""
    names = (
        ("round", "a page on every channel"),
        ("channels", "flash channels"),
        ("page", "page (of all planes that work together)"),
    )
    stripe = _stripe(strides)
    if len(sizes) < 20:
        why = "the reads by size were not run"
        return [*(not_visible(key, what, why) for key, what in names), *_with_units(stripe, None)]
    x = np.array([point.numbers[0] for point in sizes])
    y = np.array([point.percentile(50) for point in sizes])
    # Beyond a stripe a die is to be sensed again.
    again = np.ceil(x / float(stripe.value)) - 1 if stripe.visible else np.zeros_like(x)
    fits = sorted(_all_fits(x, again, y), key=lambda fit: fit.error)
    best = fits[0]
    plain = _residual(np.stack([np.ones_like(x), x, again], axis=1), y)[0]
    curve = _curve(sizes, "Reads one at a time, by size", "size", (best.period,))
    if best.error > 0.6 * plain or best.slopes[2] <= 0:
        why = "latency grows evenly with size: pages that share a channel do not show"
        found = [not_visible(key, what, why, curve) for key, what in names]
        return [*found, *_with_units(stripe, None)]
    other = next(fit for fit in fits if fit.period != best.period)
    gap = other.error / max(best.error, 1e-6)
    sure = SURE if gap > 1.5 and best.error < 0.05 else LIKELY if gap > 1.1 else WEAK
    tied = [fit for fit in fits if fit.period == best.period and fit.error < 1.1 * best.error]
    chosen, page_sure, why = _page_of(tied, strides, grain, sure)
    evidence = (
        f"one at a time, reads jump beyond {quantity_text(best.period, 'B')} and each multiple "
        f"(fit {100 * best.error:.1f} %, next best period {100 * other.error:.1f} %)"
    )
    rate = 1e9 / chosen.slopes[2]
    period, count, page = best.period, chosen.channels, chosen.page
    details = {"bus": rate, "channels": count, "page": page}
    whole = Finding(*names[0], period, "B", sure, evidence, period, period, curve, details)
    if page_sure == WEAK:
        return [whole, *(not_visible(*name, why) for name in names[1:]), *_with_units(stripe, None)]
    found = Finding(*names[2], page, "B", page_sure, why, page, page)
    return [
        whole,
        Finding(*names[1], count, "", page_sure, f"{evidence}; {why}", count, count),
        found,
        *_with_units(stripe, found),
    ]


def _page_of(
    tied: Sequence["_Fit"], strides: "_Strides | None", grain: Finding, sure: str
) -> tuple["_Fit", str, str]:
    """Which of the pages that explain the sizes alike: by the mapped unit, where one holds it."""
    tied = sorted(tied, key=lambda fit: fit.page)
    if len(tied) == 1:
        only = tied[0]
        rate = quantity_text(1e9 / only.slopes[2], "B/s")
        return only, sure, f"within a page of {quantity_text(only.page, 'B')} latency grows: {rate}"
    unit = float(grain.value) if grain.visible else 0.0
    most = strides.largest_page() if strides else None
    if unit and most and unit <= most:
        for fit in tied:
            if fit.page >= unit:
                text = f"units of {quantity_text(unit, 'B')} are read whole and lie within a page"
                return fit, min(sure, LIKELY, key=[WEAK, LIKELY, SURE].index), text
    fit = next((fit for fit in tied if fit.page >= LEAST_PAGE), tied[0])
    others = ", ".join(f"{one.channels} of {quantity_text(one.page, 'B')}" for one in tied)
    return fit, WEAK, f"channels and pages that explain the reads alike: {others}"


@dataclass(frozen=True)
class _Fit:
    """How well channels and a page explain the latencies by size."""

    page: int
    channels: int
    error: float
    slopes: list[float]

    @property
    def period(self) -> int:
        """A page on every channel, in B."""
        return self.page * self.channels


def _all_fits(x: np.ndarray, again: np.ndarray, y: np.ndarray) -> Iterator[_Fit]:
    for page in PAGES:
        for channels in range(1, MOST_CHANNELS + 1):
            if page * channels <= x.max() / 2:
                whole = np.ceil(x / page) * page  # where a page is always read whole
                fits = (_fit(x, part, again, y, page, channels) for part in (x, whole))
                yield _Fit(page, channels, *min(fits, key=lambda fit: fit[0]))


def _fit(
    x: np.ndarray, read: np.ndarray, again: np.ndarray, y: np.ndarray, page: int, channels: int
) -> tuple[float, list[float]]:
    """Relative error and slopes of latency = fixed + a size + b (bytes on the fullest channel) +
    c (further senses of the first die)."""
    whole = np.floor(read / (page * channels))
    fullest = whole * page + np.minimum(read - whole * page * channels, page)
    error, slopes = _residual(np.stack([np.ones_like(x), x, fullest, again], axis=1), y)
    return error, slopes


def _residual(matrix: np.ndarray, y: np.ndarray) -> tuple[float, list[float]]:
    scale = np.maximum(np.abs(matrix).max(axis=0), 1e-9)
    slopes, _ = nnls(matrix / scale / y[:, None], np.ones_like(y))
    # The median is not upset by single sizes that met something else on their way.
    off = np.abs(matrix / scale @ slopes / y - 1)
    return float(np.mean(np.minimum(off, 0.3))), list(slopes / scale)


@dataclass(frozen=True)
class _Strides:
    """Reads per second by stride."""

    rates: dict[float, float]

    @staticmethod
    def of(points: Sequence[Point]) -> "_Strides | None":
        """None when there are too few."""
        if len(points) < 20:
            return None
        return _Strides({point.numbers[0]: point.iops for point in points})

    @property
    def slowest(self) -> float:
        """What one parallel unit does."""
        return min(self.rates.values())

    @property
    def fastest(self) -> float:
        """What all do, or what the drive can take."""
        return float(np.percentile(list(self.rates.values()), 90))

    def stripe(self) -> float | None:
        """The shortest stride of which every multiple is as slow as any."""
        limit = SLOWEST * self.slowest
        alike = sorted(stride for stride, rate in self.rates.items() if rate <= limit)
        return next((one for one in alike if _holds(one, self.rates, limit)), None)

    def largest_page(self) -> float:
        """The largest power of two up to which strides are as fast as the shortest one."""
        page = min(self.rates)
        while self.rates.get(2 * page, 0.0) > 0.92 * self.fastest:
            page *= 2
        return page


def _stripe(strides: _Strides | None) -> Finding:
    """The stripe: a page of every parallel unit."""
    key, what = "stripe", "stripe (a page of every parallel unit)"
    if strides is None:
        return not_visible(key, what, "the reads by stride were not run")
    slowest, fastest = strides.slowest, strides.fastest
    rates = (quantity_text(slowest, "1/s"), quantity_text(fastest, "1/s"))
    title = "Reads at multiples of a stride, 32 at a time"
    stripe = strides.stripe()
    marks = (stripe,) if stripe else ()
    data = {"reads": sorted(strides.rates.items())}
    curve = Curve(title, "stride", "reads per second", data, marks, y_unit="1/s")
    if stripe is None or fastest < CONTRAST * slowest:
        why = (
            "no stride meets one unit alone: the data do not lie in stripes, or commands take the "
            f"drive longer than reads its dies ({rates[0]} to {rates[1]})"
        )
        return not_visible(key, what, why, curve)
    evidence = (
        f"from {quantity_text(stripe, 'B')} on, every multiple meets one unit alone: "
        f"{rates[0]} instead of {rates[1]}"
    )
    sure = SURE if fastest / slowest > 1.5 else LIKELY
    return Finding(key, what, stripe, "B", sure, evidence, stripe, stripe, curve)


def _with_units(stripe: Finding, page: Finding | None) -> list[Finding]:
    """The stripe, and how many parallel units it has where the page is known."""
    key, what = "units", "parallel units (dies that work at once)"
    if not stripe.visible:
        return [stripe, not_visible(key, what, stripe.evidence)]
    if page is None or float(stripe.value) % float(page.value):
        text = f"the stripe of {quantity_text(float(stripe.value), 'B')} shows, but not the page"
        return [stripe, not_visible(key, what, text)]
    units = int(float(stripe.value) // float(page.value))
    evidence = f"the stripe is {units} pages of {quantity_text(float(page.value), 'B')}"
    sure = min(stripe.confidence, page.confidence, key=[WEAK, LIKELY, SURE].index)
    return [stripe, Finding(key, what, units, "", sure, evidence, units, units)]


def _holds(stride: float, rates: dict[float, float], limit: float) -> bool:
    """Whether all multiples of a stride are as slow, and there are some."""
    multiples = [rate for other, rate in rates.items() if other % stride == 0]
    return len(multiples) >= 4 and sum(rate <= limit for rate in multiples) >= 0.9 * len(multiples)


def _queue(depths: Sequence[Point]) -> Finding:
    """How many commands the drive takes at once."""
    key, what = "queue_limit", "commands taken at once"
    if len(depths) < 5:
        return not_visible(key, what, "the reads by queue depth were not run")
    asked = np.array([point.numbers[0] for point in depths])
    busy = np.array([point.iops * point.mean * 1e-9 for point in depths])
    rates = np.array([point.iops for point in depths])
    data = {"under way": list(zip(asked.tolist(), busy.tolist(), strict=True))}
    limit = float(np.median(busy[-3:]))
    curve = Curve(
        "Reads under way", "queue depth", "under way (rate times latency)", data, (), "", "", True
    )
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
        f"the rate saturates by and by (97 % at {knee}), as dies and cores do; "
        f"all of {asked[-1]:.0f} are taken"
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
    if ordered < 0.7 * chance:
        return Finding(key, what, "yes", "", SURE, evidence, curve=curve)
    return Finding(key, what, "none", "", LIKELY, evidence, curve=curve)
