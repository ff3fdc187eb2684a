"""Which resource is the bottleneck: what gains most, or what explains that gain.

All resources are made faster by the same factor, and the gain by itself ranks them. But there are
pairs of which the wider does all that the narrower does, and more. It comes first whichever of the
two is short, unless one looks closer. What a step saves is a share of the time per command (or of
whatever the metric is, if less of it is better): 3/4 where it makes things four times as fast.

- Few or slow: a faster clock does what more cores do, a faster flash bus what more channels do.
  Where each saves more than half of what the other saves, it is asked what being faster saves
  where there are as many as can be used. More than half of what it did: they are slow, however
  many there are. Otherwise they are few.
- Work or waiting: more dies do what a faster erase does, for while one erases another works; more
  spare flash does it too, by erasing less. A faster erase saves as large a part of what more dies
  save as erases take of the dies' time. More than half: the drive is not short of dies or spare
  flash but held up by erases.
- Work or waste: more dies do what more spare flash does, for they share the work of collection.
  Dies `r` times as many save 1 - 1/r of the dies' time, and so tell how long it is; what more
  spare flash saves of it is collection that need not be. More than half: the drive is not short of
  dies, but of spare flash.
- Queue or service: reads that wait for a busy die wait less with a faster array, as with more dies,
  and are sensed faster, too. Where each saves more than half of what the other saves, the ledger of
  the reads says which it is: they wait for busy dies longer than they are sensed, so dies are few.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tlmssd.errors import InputError, RunFailed
from tlmssd.whatif.experiment import Bench, Effect, Finding

LEAST_GAIN = 0.005
"""A gain below this (a logarithm) is none."""
HALF = 0.5
FEW_OR_SLOW = (("core clock", "cores"), ("flash bus", "channels"))
WORK_OR_WAITING = (("dies", "erase"), ("spare flash", "erase"))
WORK_OR_WASTE = (("dies", "spare flash"),)
QUEUE_OR_SERVICE = ("array read", "dies")
"""Pairs: the wider resource and the narrower one, whose work it does too."""
UNBOUND = 63.0
"""Share by which there are more, so that none is wanting: 64 times, or as many as can be."""


@dataclass(frozen=True)
class Choice:
    """Of two resources that gain alike, why `first` is the bottleneck and not `second`.

    `share`: what `first` saves, as a share of what `second` does; for waste, of the time that
    `second` takes. `left`: what being faster saves where there are as many as can be used, as a
    share of what it did; None for waiting and waste. `queued`: share of the time on dies that reads
    wait for them, where that decides.
    """

    first: str
    second: str
    share: float
    left: float | None = None
    queued: float | None = None


def ranked(
    bench: Bench, findings: Sequence[Finding], more_is_better: bool
) -> tuple[list[Finding], Choice | None]:
    """The largest gain first, or what explains it; and why, if there was a choice."""
    found = sorted(findings, key=lambda one: -one.gain(more_is_better))
    choice = _choice(bench, found, more_is_better)
    if choice is None:
        return found, None
    first = next(one for one in found if one.resource.name == choice.first)
    return [first, *(one for one in found if one is not first)], choice


def cannot_tell(first: Finding, other: Finding, more_is_better: bool) -> bool:
    """Whether the seeds do not tell which of two gains is the larger."""
    if other.largest is None or other.gain(more_is_better) < LEAST_GAIN:
        return False
    pairs = zip(first.gains(more_is_better), other.gains(more_is_better), strict=True)
    difference = Effect(tuple(one - two for one, two in pairs))
    return difference.is_doubtful or abs(difference.mean) < LEAST_GAIN


def _choice(bench: Bench, found: Sequence[Finding], more_is_better: bool) -> Choice | None:
    top, by_name = found[0], {one.resource.name: one for one in found if one.largest}
    for wider, narrower in WORK_OR_WAITING + WORK_OR_WASTE:
        if wider != top.resource.name or narrower not in by_name:
            continue
        share = _part(by_name[narrower], top, more_is_better)
        if share > HALF:
            return Choice(narrower, wider, share)
    if top.resource.name == QUEUE_OR_SERVICE[0]:
        return _queue_or_service(bench, by_name, more_is_better)
    pair = next((pair for pair in FEW_OR_SLOW if top.resource.name in pair), None)
    return _few_or_slow(bench, pair, by_name, more_is_better) if pair else None


def _part(narrower: Finding, wider: Finding, more_is_better: bool) -> float:
    """The share of what the wider does that the narrower explains; 0 where it gains nothing, or
    seeds leave a doubt about either."""
    gain = narrower.gain(more_is_better)
    if gain <= LEAST_GAIN or _are_doubtful(wider, narrower):
        return 0.0
    share = saved(gain) / saved(wider.gain(more_is_better))
    if (wider.resource.name, narrower.resource.name) in WORK_OR_WASTE:
        share *= 1 - 1 / wider.largest.step.reach
    return share


def _alike(wider: Finding, narrower: Finding, more_is_better: bool) -> float | None:
    """What the wider saves as a share of the narrower; None where they are not alike, or seeds
    leave a doubt about either."""
    gains = [one.gain(more_is_better) for one in (wider, narrower)]
    if min(gains) <= 0 or _are_doubtful(wider, narrower):
        return None
    share = saved(gains[0]) / saved(gains[1])
    return share if HALF < share < 1 / HALF else None


def _are_doubtful(*findings: Finding) -> bool:
    """Whether seeds leave a doubt about one of the gains: what they are of one another is then a
    matter of luck."""
    return any(finding.largest.effect.is_doubtful for finding in findings)


def _few_or_slow(
    bench: Bench, pair: tuple[str, str], found: Mapping[str, Finding], more_is_better: bool
) -> Choice | None:
    if not found.keys() >= set(pair):
        return None
    wider, narrower = (found[name] for name in pair)
    share = _alike(wider, narrower, more_is_better)
    left = _left(bench, wider, narrower, more_is_better) if share else None
    if left is None:
        return None
    return Choice(*pair, share, left) if left > HALF else Choice(*pair[::-1], 1 / share, left)


def _queue_or_service(
    bench: Bench, found: Mapping[str, Finding], more_is_better: bool
) -> Choice | None:
    wider, narrower = QUEUE_OR_SERVICE
    if narrower not in found:
        return None
    share = _alike(found[wider], found[narrower], more_is_better)
    queued = queued_for_dies(bench)
    if share is None or queued is None or queued <= HALF:
        return None
    return Choice(narrower, wider, 1 / share, queued=queued)


def queued_for_dies(bench: Bench) -> float | None:
    """Of the time of reads on dies, the share that they wait for them; None without any."""
    waiting = sensing = 0.0
    for figures in (outcome.result.figures for outcome in bench.known[()]):
        for name, figure in figures.items():
            if name.startswith("read.ledger.die busy: ") and not name.endswith(".share"):
                waiting += figure.value
        for name in ("read.ledger.sense", "read.ledger.power budget"):
            if name in figures:
                sensing += figures[name].value
    return waiting / (waiting + sensing) if waiting + sensing > 0 else None


def saved(gain: float) -> float:
    """The share of the time per command that a gain (a logarithm) saves."""
    return -math.expm1(-gain)


def _left(bench: Bench, wider: Finding, narrower: Finding, more_is_better: bool) -> float | None:
    """What the wider saves where the narrower is unbound, as a share of what it did; or unknown."""
    unbound = narrower.resource.step(bench.drive, UNBOUND)
    both = {**unbound.settings, **wider.largest.step.settings}
    bench.fetch([unbound.settings, both])
    try:
        logs = bench.effect(both, unbound.settings).logs
    except (InputError, RunFailed):
        return None
    gain = float(np.mean(logs)) * (1 if more_is_better else -1)
    return saved(gain) / saved(wider.gain(more_is_better))
