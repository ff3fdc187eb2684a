"""What was fitted or chosen, read from the marks in scenario files.

A mark is how a comment behind a key begins: `S` stated in the paper, `F` found in other public text, `D` derived, `A` assumption, `B` common
practice. A comment that says `calibrated` or `fitted` is about a constant that was set to make a published figure come out. A comment goes on
in the lines below it that hold nothing else.
"""

import re
from dataclasses import dataclass

KEY = re.compile(r"^(?P<indent> *)(?P<key>[A-Za-z_0-9]+):(?P<rest>.*)$")
MARK = re.compile(r"^([SFDAB])\b")
FITTED = re.compile(r"\b(calibrated|fitted)\b", re.IGNORECASE)
MEANINGS = {"fitted": "fitted to published figures", "A": "assumed", "B": "common practice", "D": "derived", "F": "found in other public text",
            "S": "stated in the paper"}


@dataclass(frozen=True)
class Choice:
    """A key (or a constant of the script) with its value, how it came about (a key of MEANINGS, or '' without a mark), and the evidence."""

    key: str
    value: str
    how: str
    evidence: str


def choices(path, sections=("ssd", "firmware", "log_structured", "file_cache")):
    """Every key with a value in some sections of a scenario file, in its order. Loads and preconditions are each figure's own and stand on the page."""
    found, parents, last = [], [], None
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.lstrip().startswith("#"):
            if last is not None and line.startswith(" "):
                found[last] = _with(found[last], line.strip().lstrip("# "))
            continue
        body, _, comment = _split(line)
        match = KEY.match(body)
        if not match:
            last = None
            continue
        indent = len(match["indent"])
        parents = [(depth, key) for depth, key in parents if depth < indent]
        value = match["rest"].strip()
        name = ".".join([key for _, key in parents] + [match["key"]])
        parents.append((indent, match["key"]))
        if name.split(".")[0] not in sections or (not value and not comment):
            last = None
            continue
        found.append(_with(Choice(name, value, "", ""), comment.strip()))
        last = len(found) - 1
    return found


def _split(line):
    """A line without its comment, its sign, and the comment; a blank is ahead of the sign."""
    place = re.search(r"(^|\s)#", line)
    return (line[:place.start()], "#", line[place.end():]) if place else (line, "", "")


def _with(choice, words):
    """The choice with more of its comment."""
    evidence = f"{choice.evidence} {words}".strip()
    mark = MARK.match(evidence)
    how = "fitted" if FITTED.search(evidence) else mark[1] if mark else ""
    return Choice(choice.key, choice.value, how, evidence)


def write(page, files, more=()):
    """The list on a page: what was fitted or assumed one by one, what has evidence of its own as keys; `more` are Choices of the script."""
    page.text("## What was fitted or chosen")
    every = [(path.stem, choice) for path in files for choice in choices(path)] + [("script", choice) for choice in more]
    rows = [[f"`{choice.key}`", choice.value, place, MEANINGS.get(choice.how, "**no mark**"), _words(choice)]
            for how in ("fitted", "A", "B", "") for place, choice in every if choice.how == how]
    page.table(["key", "value", "in", "", "evidence"], rows, left=True)
    counts = {how: sum(choice.how == how for _, choice in every) for how in (*MEANINGS, "")}
    said = ", ".join(f"{counts[how]} {words}" for how, words in MEANINGS.items() if counts[how])
    rest = f", {counts['']} without a mark" if counts[""] else ""
    page.text(f"Made from the marks in {', '.join(f'`{path.name}`' for path in files)} and the script: {said}{rest}. What is stated, found or derived is "
              "marked in those files.")


def _words(choice):
    """The evidence without its mark; an assumption may have none."""
    words = re.sub(rf"^({choice.how or '-'}|calibrated on|fitted)\b[:;,]? *", "", choice.evidence)
    return words or "none"
