"""What meeting the targets takes, as one HTML page."""

from typing import TYPE_CHECKING

from tlmssd.meet.terminal import base_lines, conclusion, head, not_enough, rows
from tlmssd.pictures.page import Page

if TYPE_CHECKING:
    from tlmssd.meet import Meet

METHOD = (
    "For each thing that can be changed, the mildest step by which the targets are met with 95 % "
    "confidence (Student's t, one side); the figures are those of other seeds than the step was "
    "chosen by. Bandwidth is that of each load in its own time, against the scenario as it is."
)


def page_of(found: "Meet") -> str:
    """The HTML of the page."""
    subject = (found.title, "; ".join(base_lines(found)), found.seeds)
    page = Page.of_findings("What would meet the targets", [subject], [conclusion(found)])
    for text in found.cautions:
        page.text(text, "note")
    if found.enough:
        page.heading("Enough")
        page.text(METHOD, "note")
        page.table(head(found), rows(found, enough=True))
    others = not_enough(found)
    if others:
        page.heading("Not enough")
        for text in others:
            page.text(text)
    return page.render()
