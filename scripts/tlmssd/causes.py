"""The causes of latency in the reports' ledgers: how to say them, and in which colour to draw them.

The colours of causes that meet in one bar differ in hue and in lightness, after Paul Tol's and
Okabe and Ito's palettes for colour-blind readers. A cause that is not listed here (a newer program)
is said by its name and drawn in grey.
"""

import json

from tlmssd.pictures.assets import asset

CAUSES: dict[str, tuple[str, str]] = {
    cause: (words, colour) for cause, (words, colour) in json.loads(asset("causes.json")).items()
}
"""Cause as in report.json: what a command does in it, colour. The program's own report.html takes
them from the same file."""


def cause_words(cause: str) -> str:
    """What a command does while its time is charged to `cause`."""
    return CAUSES.get(cause, (f"in '{cause}'", ""))[0]


def cause_colour(cause: str) -> str:
    """Hex colour of a cause."""
    return CAUSES.get(cause, ("", "#777777"))[1]


def in_order(causes: set[str]) -> list[str]:
    """Causes in the order of a command's way through the drive."""
    order = list(CAUSES)
    return sorted(causes, key=lambda cause: (order.index(cause) if cause in order else 99, cause))
