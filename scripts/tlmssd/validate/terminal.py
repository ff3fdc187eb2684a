"""A report card as text."""

from typing import TYPE_CHECKING

from tlmssd.calibrate.terminal import figure_text
from tlmssd.quantities import percent_text
from tlmssd.text_table import columns, shortened
from tlmssd.validate.card import Line

if TYPE_CHECKING:
    from tlmssd.validate import Card

MARKS = {True: "", False: "off", None: "undecided"}


def text_of(card: "Card") -> str:
    """Figures, statements that do not hold, and the verdict."""
    rows = [["job", "figure", "measured", "emulated", "", "spread", "may be", ""]]
    rows += [_cells(line) for line in card.lines]
    failed = [statement for statement in card.statements if not statement.holds]
    parts = [columns(rows, left=2), _notes(card)]
    if failed:
        shown = [f"  {statement.text}" for statement in failed[:20]]
        more = [f"  and {len(failed) - 20} others"] if len(failed) > 20 else []
        parts.append("\n".join(["Measured, and not so in the emulation", *shown, *more]))
    for heading, sentences in card.verdict():
        parts.append("\n".join([heading, *(f"  {sentence}" for sentence in sentences)]))
    return "\n\n".join(parts) + "\n"


def _cells(line: Line) -> list[str]:
    spread = percent_text(line.measured_spread, signed=False) if line.measured_spread else "?"
    return [
        shortened(line.job, 30),
        line.figure,
        figure_text(line.figure, line.measured),
        figure_text(line.figure, line.emulated),
        percent_text(line.difference),
        spread,
        percent_text(line.tolerance, signed=False),
        " ".join(filter(None, [MARKS[line.holds], "(fitted)" if line.fitted else ""])),
    ]


def _notes(card: "Card") -> str:
    held = sum(statement.holds for statement in card.statements)
    repeats = "once: its spread is not known" if card.repeats == 1 else f"{card.repeats} times"
    notes = [f"Measured {repeats}"]
    if all(line.seeds == 1 for line in card.lines):
        notes.append("Emulated with one seed: how far others would be off is not known")
    if card.statements:
        notes.append(
            "Statements of the measurements that the emulation bears out: "
            f"{held} of {len(card.statements)}"
        )
    return ". ".join(notes)
