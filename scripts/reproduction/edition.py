"""Parts of a results page that has been written before, so that a new edition can keep what was not run again.

A part goes from the end of the part before it to the line that says how to run it alone. Its claims are read back from their tables.
"""

import re
from dataclasses import dataclass, field

import claims

NOT_MET, OPEN = "What is not met, and why", "open"
KEPT = re.compile(r"^- \*\*Kept as they stood, not run again:\*\* (.*); made by (.*)\.$", re.MULTILINE)


@dataclass(frozen=True)
class KeptClaim:
    """What of a Claim counts in a headline and in the list of what is not met."""

    kind: claims.Kind
    words: str
    null_verdict: str | None
    otherwise: str


@dataclass(frozen=True)
class Edition:
    """Text of each part by its name, which program made it, and what explains claims that are not met, by their words."""

    parts: dict[str, str]
    makers: dict[str, str]
    explanations: dict[str, str] = field(default_factory=dict)


def ending(name, part):
    """The line that ends a part of the page `name`."""
    return f"This part alone: `scripts/reproduce {name} --only {part}`"


def read(path, name):
    """The Edition in the file `path`; without any part where there is none."""
    if not path.exists():
        return Edition({}, {})
    text = path.read_text(encoding="utf-8")
    pieces = re.split(re.escape(ending(name, "")[:-1]) + r"(\S+)`\n", text)
    parts = {part: body.strip() for body, part in zip(pieces[::2], pieces[1::2])}
    for first in list(parts)[:1]:
        parts[first] = parts[first][parts[first].index("\n## ") + 1:]
    made = re.search(r"^\d+ runs? of (tlmssd \S*\w)", pieces[-1], re.MULTILINE)
    makers = dict.fromkeys(parts, made[1] if made else "an earlier program")
    for names, maker in KEPT.findall(pieces[0]):
        makers |= dict.fromkeys(re.findall("`(.*?)`", names), maker)
    return Edition(parts, makers, _explanations(pieces[-1]))


def kept(names, makers):
    """Lines of the headline about parts that are kept: one for each program that made some."""
    by_maker = {}
    for name in names:
        by_maker.setdefault(makers[name], []).append(f"`{name}`")
    return [f"**Kept as they stood, not run again:** {', '.join(some)}; made by {maker}." for maker, some in by_maker.items()]


def _explanations(ending):
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in ending.partition(f"## {NOT_MET}")[2].splitlines() if line.startswith("|")]
    return {words: why for words, _, why in rows[2:] if why != OPEN}


def judged(text, explanations):
    """The judged claims in a part's text; `explanations`: of claims that are not met, by their words."""
    found, in_claims = [], False
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")] if line.startswith("|") else []
        if cells == claims.HEAD:
            in_claims = True
        elif not cells:
            in_claims = False
        elif in_claims and not set(cells[0]) <= {"-"}:
            found.append(_judged(cells, explanations))
    return found


def _judged(cells, explanations):
    words, kind, _, _, measured, shown, null = cells
    verdict = next(one for one, text in claims.SHOWN.items() if text == shown)
    known = KeptClaim(claims.Kind(kind), words, null.rpartition(", ")[2] or None, explanations.get(words, ""))
    return claims.Judged(known, measured, verdict)
