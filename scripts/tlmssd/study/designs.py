"""Designs: which points of a space are looked at."""

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tlmssd.study.axes import Axis, Choice
from tlmssd.study.document import Entry

KINDS = ("grid", "random", "latin-hypercube", "sobol")
MOST_POINTS = 1_000_000


@dataclass(frozen=True)
class Design:
    """A way to choose points: all of them (grid), or `points` of them by a seed."""

    kind: str = "grid"
    points: int = 0
    seed: int = 1

    def choose(self, axes: Sequence[Axis]) -> Iterator[tuple[Choice, ...]]:
        """The points, each once, in a fixed order: of a grid, the last axis changes fastest."""
        if self.kind == "grid":
            yield from itertools.product(*(axis.choices for axis in axes))
            return
        seen = set()
        for shares in self._shares(len(axes)):
            point = tuple(axis.choose(share) for axis, share in zip(axes, shares, strict=True))
            label = tuple(choice.label for choice in point)
            if label not in seen:
                seen.add(label)
                yield point

    def _shares(self, axes: int) -> Sequence[Sequence[float]]:
        import numpy
        from scipy.stats import qmc  # slow to import, and a grid does without

        if self.kind == "sobol":
            sampler = qmc.Sobol(axes, seed=self.seed)
            return sampler.random_base2(math.ceil(math.log2(self.points)))[: self.points]
        if self.kind == "latin-hypercube":
            return qmc.LatinHypercube(axes, seed=self.seed).random(self.points)
        return numpy.random.default_rng(self.seed).random((self.points, axes))


def read_design(entry: Entry) -> Design:
    """`grid`, or {random | latin-hypercube | sobol: POINTS, seed: N}; raises InputError."""
    if not entry.is_map:
        kind = entry.choice(*KINDS)
        if kind != "grid":
            entry.fail(f"say how many points: design: {{{kind}: 100}}")
        return Design()
    parts = entry.known("seed", *KINDS[1:])
    kinds = [kind for kind in KINDS if kind in parts]
    if len(kinds) != 1:
        entry.fail(f"needs one of {', '.join(KINDS[1:])}")
    seed = parts["seed"].whole(0) if "seed" in parts else 1
    return Design(kinds[0], parts[kinds[0]].whole(1, MOST_POINTS), seed)


def check_fit(design: Design, axes: Sequence[Axis], place: Entry) -> None:
    """Refuses a grid over an axis without steps, and one that is beyond all measure."""
    if design.kind != "grid":
        return
    for axis in axes:
        if axis.span:
            axis.entry.fail("has no steps; a grid needs step, steps or factor")
    count = math.prod(len(axis.choices) for axis in axes)
    if count > MOST_POINTS:
        place.fail(f"a grid of {count} points; at most {MOST_POINTS}: choose a design that samples")
