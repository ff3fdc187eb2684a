"""What a page claims, how it is judged, and what the judgements come to.

A claim says what was published, which values of the measured figure would bear it out, and what a **null model** gives, which knows
nothing of the mechanism. The verdict is *yes* when the whole 95 % interval bears the claim out, *no* when none of it does, else
*undecided*. Only predicted claims count in a headline.
"""

from collections import Counter
from dataclasses import dataclass, replace
from enum import Enum
from math import inf

from samples import sample

YES, NO, UNDECIDED = "yes", "no", "undecided"
SHOWN = {YES: "yes", NO: "**no**", UNDECIDED: "*undecided*"}


class Kind(Enum):
    """Where the figure that is claimed comes from."""

    PREDICTED = "predicted"  # nothing of it was used to set the drive
    CALIBRATED = "calibrated"  # constants were chosen so that it comes out
    SELF_CONSISTENT = "self-consistent"  # against this project's own closed form
    GIVEN = "given"  # an input that comes back


@dataclass(frozen=True)
class Region:
    """Values that bear a claim out, bounds included, and how the tolerance is said."""

    low: float
    high: float
    words: str


def within(published, share):
    """Within a share of the published value."""
    return Region(published * (1 - share), published * (1 + share), f"± {100 * share:.0f} %")


def near(published, distance, words=None):
    """Within a distance of the published value."""
    return Region(published - distance, published + distance, words or f"± {distance:g}")


def effect(published, share=0.5):
    """Of a ratio whose news is how far it is from 1: that distance within a share of itself, so that 'no effect' never passes."""
    distance = abs(published - 1) * share
    return Region(published - distance, published + distance, f"± {100 * share:.0f} % of the effect")


def at_least(bound):
    return Region(bound, inf, f"≥ {bound:g}")


def at_most(bound):
    return Region(-inf, bound, f"≤ {bound:g}")


def verdict(measured, region):
    """Whether a Sample lies in a region: yes, no, or undecided."""
    measured = sample(measured)
    if not measured.is_known:
        return UNDECIDED
    if region.low <= measured.low and measured.high <= region.high:
        return YES
    if measured.high < region.low or measured.low > region.high:
        return NO
    return UNDECIDED


def all_of(verdicts):
    """Yes when all are, no when one is no."""
    verdicts = list(verdicts)
    if NO in verdicts:
        return NO
    return YES if verdicts and all(one == YES for one in verdicts) else UNDECIDED


@dataclass(frozen=True)
class Claim:
    """`null`: what a null model gives, (words, value), of a predicted claim; `otherwise`: what explains a verdict other than yes,
    or nothing where that is open."""

    kind: Kind
    words: str
    published: str
    region: Region
    null: tuple[str, float] | None = None
    otherwise: str = ""

    def __post_init__(self):
        if self.kind is Kind.PREDICTED and self.null is None:
            raise ValueError(f"{self.words}: a predicted claim needs a null model beside it")

    @property
    def null_verdict(self):
        return verdict(self.null[1], self.region) if self.null else None

    def about(self, *names):
        """The claim of what is named: `words` have a place `{}` for each."""
        return replace(self, words=self.words.format(*names))

    def judged(self, *measured, form=".2f", unit="", shown=None):
        """The claim with its verdict; of several figures all have to lie in the region."""
        samples = [sample(one) for one in measured]
        text = shown or ", ".join(one.text(form, unit) for one in samples)
        return Judged(self, text, all_of(verdict(one, self.region) for one in samples))


@dataclass(frozen=True)
class Judged:
    claim: Claim
    measured: str
    verdict: str


HEAD = ["claim", "kind", "published", "holds for", "measured", "verdict", "null model"]


def cells(judged):
    """The row of a table with HEAD."""
    claim = judged.claim
    null = f"{claim.null[0]}: {claim.null[1]:.4g}, {claim.null_verdict}" if claim.null else ""
    return [claim.words, claim.kind.value, claim.published, claim.region.words, judged.measured, SHOWN[judged.verdict], null]


def tally(rows):
    """Lines of a headline: predicted claims in full, and what the null models would get; of the other kinds how many there are."""
    lines = []
    for kind in Kind:
        of_kind = [row for row in rows if row.claim.kind is kind]
        counts = Counter(row.verdict for row in of_kind)
        said = f"{counts[YES]} yes, {counts[NO]} no, {counts[UNDECIDED]} undecided"
        if kind is Kind.PREDICTED:
            null = sum(row.claim.null_verdict == YES for row in of_kind)
            lines.append(f"**Predicted: {said}** of {len(of_kind)}; the null models would get {null} of them.")
        elif of_kind:
            lines.append(f"{kind.value.capitalize()}, not counted: {said}.")
    return lines


def not_met(rows):
    """(claim, verdict, explanation) of every claim that is not met."""
    return [(row.claim.words, SHOWN[row.verdict], row.claim.otherwise or "open") for row in rows if row.verdict != YES]
