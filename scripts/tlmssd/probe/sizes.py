"""Channels and pages, from reads one at a time by size.

A read of one page more costs nothing as long as the page lies on a channel of its own, and one more
transfer when it does not: the latency rises in a step beyond a page on every channel (a round) and
beyond each multiple of it. Within the first page it rises with the bytes, and where the pages of a
die are read one by one, in a step at each of them. Beyond the stripe, dies are to read again.

Where the stripe is known, a round is a whole part of it; candidates are compared by how well they
explain the latencies (least squares, each further step paid for as by Schwarz's criterion).
Latencies are those of the fastest reads: pages of a die may take different times.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import nnls

from tlmssd.probe.findings import LIKELY, NOT_VISIBLE, SURE, WEAK, Curve, Finding, not_visible
from tlmssd.probe.results import Point
from tlmssd.probe.strides import Strides
from tlmssd.quantities import quantity_text

KIB = 1 << 10
PAGES = [n * KIB << power for n in (1, 3) for power in range(1, 9)]
MOST_CHANNELS = 64
BENDS = (16, 32, 64, 128, 256)
"""KiB from which on cores, memory or link may be what a read waits for."""
ENOUGH = 14
"""Sizes within a stripe."""
EXACT = 0.003
"""Relative error below which no explanation is better than another."""
BETTER, FAR_BETTER = 12.0, 40.0
"""By so much the criterion must be lower to be believed, and to be sure."""
REGULAR = 0.3
"""Steps are at least this share of the median step, most of them."""
SHOWN = 0.3
"""The first page shows where it costs more than this share of a step."""
MOST_UNIT = 16 * KIB
"""Of mapping, where writes do not tell it."""
RANKS = (NOT_VISIBLE, WEAK, LIKELY, SURE)
NAMES = (
    ("round", "a page on every channel"),
    ("channels", "flash channels"),
    ("page", "page (what lies together on a die: of all planes, or of a word line)"),
)


@dataclass(frozen=True)
class _Fit:
    """A way to explain the latencies: `page` in B, read in pieces of `single`, `channels` and, per
    channel, `ways`; `score` is Schwarz's criterion, `error` relative. `step`: of a round, `first`:
    the rise within the first page, in ns, of which `transfer` is in proportion to the bytes.
    `regular`: every round has its step."""

    page: int
    single: int
    channels: int
    ways: int
    score: float
    error: float
    step: float
    first: float
    transfer: float
    regular: bool

    @property
    def round(self) -> int:
        """A page on every channel, in B."""
        return self.page * self.channels


def size_findings(
    sizes: Sequence[Point], strides: Strides | None, stripe: Finding, grain: Finding
) -> list[Finding]:
    """Round, channels and page; `grain` is what writes say of the mapped unit."""
    if len(sizes) < 20:
        return [not_visible(*name, "the reads by size were not run") for name in NAMES]
    x = np.array([point.numbers[0] for point in sizes])
    y = np.array([point.best for point in sizes])
    if strides is None or not stripe.visible:
        return _without_stripe(x, y)
    whole = float(stripe.value)
    unit = _mapped_unit(grain)
    die = 1e9 / max(strides.rates[one] for one in strides.multiples(whole))
    exact = strides.exact_units(whole)
    pages = [whole / exact] if exact else _pages(whole, strides.least_units(whole), unit)
    most = _largest_unit(grain)
    largest = max(float(grain.high), 4 * KIB) if grain.visible else MOST_UNIT
    fits = [_judged(fit, most, die) for page in pages for fit in _fits(x, y, whole, int(page))]
    fits = sorted(fits, key=lambda fit: fit.score)
    if not fits:
        return [not_visible(*name, "no page goes with the stripe") for name in NAMES]
    alone = min((fit for fit in fits if fit.ways == 1), key=lambda fit: fit.score)
    shared = [fit for fit in fits if fit.ways > 1 and fit.regular]
    best = shared[0] if shared else alone
    if best.ways > 1 and best.score < alone.score - BETTER:
        others = [fit.score for fit in (alone, *shared) if fit.round != best.round]
        return _found(x, y, best, shared, min(others) - best.score, stripe, strides, largest)
    # Two dies on a channel would add a step of a page, less what a read of half a stripe takes
    # anyway beyond its first page. Pages that a die reads piece by piece leave room for transfers.
    half = float(np.interp(whole / 2, x, y) - np.interp(alone.page, x, y))
    if alone.transfer - half > 6 * alone.error * float(np.interp(whole / 2, x, y)):
        tied = [fit for fit in fits if fit.ways == 1]
        return _found(x, y, alone, tied, 0.0, stripe, strides, largest)
    why = "latency grows evenly with size: pages that share a channel do not show"
    return [not_visible(*name, why, _curve(x, y)) for name in NAMES]


def _found(
    x: np.ndarray, y: np.ndarray, best: _Fit, fits: Sequence[_Fit], gap: float, stripe: Finding,
    strides: Strides, unit: float,
) -> list[Finding]:  # fmt: skip
    """Findings of the best fit; `gap`: how much worse any other round is; `unit`: what may be
    mapped as a whole, in B."""
    period = best.round
    sure = SURE if gap > FAR_BETTER and best.error < 0.02 else LIKELY
    sure = min(sure, stripe.confidence, key=RANKS.index)
    if best.ways > 1:
        evidence = (
            f"one at a time, reads jump beyond {quantity_text(period, 'B')} and each multiple"
        )
    else:
        evidence = "one at a time, reads jump nowhere within a stripe: each die has its channel"
    evidence += f" (fit {100 * best.error:.1f} %)"
    details = {
        "bus": 1e9 * best.page / max(best.step if best.ways > 1 else best.first, 1.0),
        "channels": best.channels, "page": best.page,
    }  # fmt: skip
    curve = _curve(x, y, period)
    whole = Finding(*NAMES[0], period, "B", sure, evidence, period, period, curve, details)
    tied = {
        fit.page: fit for fit in fits if fit.round == period and fit.score < best.score + BETTER
    }
    if stripe.confidence != SURE:
        why = "the stripe is not sure enough to tell pages and channels apart"
        return [whole, *(not_visible(*name, why) for name in NAMES[1:])]
    if best.first <= SHOWN * best.step and best.round <= unit:
        why = (
            f"a whole {quantity_text(period, 'B')} may be read for less, as a mapped unit or a "
            "page: pages within it do not show"
        )
        return [whole, *(not_visible(*name, why) for name in NAMES[1:])]
    if len(tied) > 1:
        ways = ", ".join(
            f"{fit.channels} of {quantity_text(fit.page, 'B')}" for fit in tied.values()
        )
        why = f"channels and pages that explain the reads alike: {ways}"
        return [whole, *(not_visible(*name, why) for name in NAMES[1:])]
    count, page = best.channels, best.page
    # Dies that were busy at once prove a page no smaller; else it rests on latencies alone.
    dies = strides.least_units(float(stripe.value))
    if abs(dies * page / float(stripe.value) - 1) > 0.08:
        sure = min(sure, LIKELY, key=RANKS.index)
    why = f"{evidence}; the first page is {quantity_text(page, 'B')}"
    return [
        whole,
        Finding(*NAMES[1], count, "", sure, why, count, count),
        Finding(*NAMES[2], page, "B", sure, why, page, page),
    ]


def _mapped_unit(grain: Finding) -> float:
    """Smaller reads bring in a mapped unit, or a whole 4 KiB of the file."""
    value = float(grain.value) if grain.visible and grain.confidence == SURE else 0.0
    return value if 4 * KIB <= value <= 16 * KIB else 4 * KIB


def _largest_unit(grain: Finding) -> float:
    """What a smaller read may bring in at most, so that a page of it does not show."""
    value = float(grain.value) if grain.visible else 0.0
    return min(max(value, 4 * KIB), 16 * KIB)


def _pages(stripe: float, dies: float, unit: float) -> list[float]:
    """Pages that a stripe of so many dies or more may be made of, no smaller than a unit."""
    whole = [page for page in PAGES if stripe % page == 0 and page >= unit]
    return [page for page in whole if stripe / page >= 0.95 * dies]


def _fits(x: np.ndarray, y: np.ndarray, stripe: float, page: int) -> Iterator[_Fit]:
    # Beyond a stripe dies read again, pages of other kinds: only where there is little else.
    inside = x <= stripe if (x <= stripe).sum() >= ENOUGH else x <= max(2 * stripe, 24 * KIB)
    x, y = x[inside], y[inside]
    units = int(stripe) // page
    for channels in {*range(1, min(units, MOST_CHANNELS) + 1), units}:
        if units % channels == 0:
            for single in (page, page // 2, page // 4):
                if single >= 2 * KIB:
                    yield _fit(x, y, stripe, page, channels, single, False)
                    yield _fit(x, y, stripe, page, channels, single, True)


def _judged(fit: _Fit, unit: float, die: float) -> _Fit:
    """Not regular where it cannot be: a page more on the same channel costs about what the first
    page does, but for its reads one by one, if each is as long as one of the die (`die` ns)."""
    each = (fit.first - fit.transfer) * fit.single / fit.page
    moved = fit.transfer if each > 0.6 * die else fit.first
    # On a single channel steps leave no flat between them: nothing but their height tells them from
    # what cores or memory take for each page.
    least = 0.4 if fit.channels > 1 else 0.8
    shown = fit.first > SHOWN * fit.step or (fit.page <= unit and fit.channels > 1)
    alike = fit.step > least * moved and shown
    return replace(fit, regular=fit.regular and alike)


def _fit(
    x: np.ndarray, y: np.ndarray, stripe: float, page: int, channels: int, single: int, whole: bool
) -> _Fit:
    """Latency as a line that may bend upwards (where cores or link fill up), the first page, its
    single pages read one by one, and a step of a page at each round."""
    period = page * channels
    part = np.ceil(x / page) * page if whole else x
    rounds = [k for k in range(1, int(x.max() // period) + 1) if (x > k * period).any()]
    steps = [np.clip((part - k * period) / page, 0, 1) for k in rounds]
    lines = [np.ones_like(x), x, *(np.maximum(0, x - bend * KIB) for bend in BENDS)]
    first = [np.minimum(x, page) / page]
    if single < page:
        turn = np.floor((x - 1) / stripe)
        rest = np.minimum(x - turn * stripe, page)
        first.append((turn * (page // single) + np.ceil(rest / single)) * single / page)
    score, error, slopes = _solve([*lines, *first, *steps], y)
    rises = slopes[len(lines) + len(first) :]
    own = [
        rise for k, rise in zip(rounds, rises, strict=True) if k * period % stripe
    ]  # those that are not of a die that reads again
    typical = float(np.median(own)) if own else 0.0
    # What the first page costs more than any page of the line that goes on behind it.
    usual = sum(slopes[2 + k] * bend * KIB for k, bend in enumerate(BENDS) if bend * KIB <= page)
    transfer = max(float(slopes[len(lines)] - usual), 0.0)
    within = transfer + float(slopes[len(lines) + 1 : len(lines) + len(first)].sum())
    regular = (
        typical > 4 * error * float(np.interp(period, x, y))
        and np.mean(np.array(own) > REGULAR * typical) >= 0.7
    )
    ways = round(stripe / period)
    return _Fit(
        page, single, channels, ways, score, error, typical, within, transfer, bool(regular)
    )


def _solve(columns: Sequence[np.ndarray], y: np.ndarray) -> tuple[float, float, np.ndarray]:
    """Schwarz's criterion, relative error and slopes, none of which is negative."""
    matrix = np.stack(columns, axis=1)
    scale = np.maximum(np.abs(matrix).max(axis=0), 1e-9)
    slopes, _ = nnls(matrix / scale / y[:, None], np.ones_like(y))
    off = np.minimum(np.abs(matrix / scale @ slopes / y - 1), 0.3)
    square = float(np.mean(off**2))
    used = int((slopes > 1e-9).sum())
    score = len(y) * math.log(square + EXACT**2) + used * math.log(len(y))
    return score, math.sqrt(square), slopes / scale


def _without_stripe(x: np.ndarray, y: np.ndarray) -> list[Finding]:
    """The period of the steps alone: what it is, a stripe would have to tell."""
    even = _solve([np.ones_like(x), x], y)[1]
    found: list[tuple[float, int, np.ndarray]] = []
    for page in PAGES:
        for channels in range(1, MOST_CHANNELS + 1):
            period = page * channels
            if period <= x.max() / 2:
                for part in (x, np.ceil(x / page) * page):  # as asked for, or whole pages
                    turns = np.floor(part / period)
                    fullest = turns * page + np.minimum(part - turns * period, page)
                    _, error, slopes = _solve([np.ones_like(x), x, fullest], y)
                    found.append((error, period, slopes))
    error, period, slopes = min(found, key=lambda one: one[0])
    other = min(one[0] for one in found if one[1] != period)
    curve = _curve(x, y, period)
    why = "where the stripe is not visible, a page does not show"
    if error > 0.005 or even < 5 * error or other < 2 * error or slopes[2] <= 0:
        why = "latency grows evenly with size: pages that share a channel do not show"
        return [not_visible(*name, why, curve) for name in NAMES]
    evidence = (
        f"one at a time, reads jump beyond {quantity_text(period, 'B')} and each multiple (fit "
        f"{100 * error:.2f} %, next best period {100 * other:.2f} %)"
    )
    details = {"bus": 1e9 / slopes[2], "channels": 1, "page": period}
    whole = Finding(*NAMES[0], period, "B", LIKELY, evidence, period, period, curve, details)
    return [whole, *(not_visible(*name, why) for name in NAMES[1:])]


def _curve(x: np.ndarray, y: np.ndarray, *marks: float) -> Curve:
    data = list(zip(x.tolist(), y.tolist(), strict=True))
    return Curve("Reads one at a time, by size", "size", "latency", {"fastest": data}, marks)
