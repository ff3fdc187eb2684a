"""What meeting the targets takes, as one HTML page."""

from typing import TYPE_CHECKING

from tlmssd.meet.terminal import base_lines, conclusion, head, not_enough, rows
from tlmssd.pictures.page import Page

if TYPE_CHECKING:
    from tlmssd.meet import Meet

SURELY = (
    "with 95 % confidence (Student's t, one side) and by the mean of as many other seeds, whose "
    "figures these are. Where the mean of the others missed a target, a stronger step was taken, "
    "with which all seeds together meet it with that confidence."
)
ONCE = (
    "in one run, and in one with another seed, whose figures these are; what chance has to do with "
    "it, one seed does not say."
)
BANDWIDTH = "Bandwidth is that of each load in its own time, against the scenario as it is."


def method(seeds: int) -> str:
    """How what is enough was found."""
    met = SURELY if seeds > 1 else ONCE
    return (
        "For each thing that can be changed, the mildest step by which the targets are met "
        f"{met} {BANDWIDTH}"
    )


def page_of(found: "Meet") -> str:
    """The HTML of the page."""
    subject = (found.title, "its targets as the scenario is", found.seeds)
    page = Page.of_findings("What would meet the targets", [subject], [conclusion(found)])
    for text, reading in zip(base_lines(found), found.base, strict=True):
        page.text(text, "" if reading.is_surely_met else "warn")
    for text in found.cautions:
        page.text(text, "warn")
    if found.enough:
        page.heading("Enough")
        page.text(method(found.seeds), "note")
        page.table(head(found), rows(found, enough=True))
    others = not_enough(found)
    if others:
        page.heading("Not enough")
        for text in others:
            page.text(text)
    return page.render()
