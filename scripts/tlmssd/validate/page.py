"""The page of a report card."""

from typing import TYPE_CHECKING

from tlmssd.calibrate.terminal import figure_text
from tlmssd.pictures.page import Cell, Page
from tlmssd.quantities import percent_text
from tlmssd.validate.terminal import MARKS

if TYPE_CHECKING:
    from tlmssd.validate import Card


def page_of(card: "Card") -> str:
    """The page as one HTML file."""
    page = Page(f"Report card of {card.drive.name}", f"{len(card.lines)} figures compared.")
    for heading, sentences in card.verdict():
        page.heading(heading)
        for sentence in sentences:
            page.text(sentence)
    page.heading("Figures")
    rows: list[list[Cell]] = [
        [
            line.job,
            line.figure,
            (line.measured, figure_text(line.figure, line.measured)),
            (line.emulated, figure_text(line.figure, line.emulated)),
            (line.difference, percent_text(line.difference)),
            (line.measured_spread, percent_text(line.measured_spread, signed=False)),
            (line.emulated_spread, percent_text(line.emulated_spread, signed=False)),
            MARKS[line.holds] or "holds",
            "fitted" if line.fitted else "held out",
        ]
        for line in card.lines
    ]
    head = [
        "job", "figure", "measured", "emulated", "difference", "measured spread", "over seeds",
        "", "used",
    ]  # fmt: skip
    page.table(head, rows, filtered=True)
    page.heading("Statements")
    told = [[s.kind, s.text, "holds" if s.holds else "does not hold"] for s in card.statements]
    page.table(["about", "measured", "emulated"], told, filtered=True)
    return page.render()
