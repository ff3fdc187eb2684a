"""A comparison as text."""

import math
from typing import TYPE_CHECKING

from tlmssd.compare.differences import Change, Row, Value
from tlmssd.quantities import percent_text, quantity_text, runs_text
from tlmssd.text_table import columns, shortened

if TYPE_CHECKING:
    from tlmssd.compare import Comparison

MARKS = {True: "*", False: "=", None: "?"}
LONGEST = 38


def text_of(comparison: "Comparison", every: bool = False) -> str:
    """Sides, metrics, loads without their like, cautions, reasons, parameters; `every`: not only
    the main metrics."""
    parts = [_sides(comparison), _metrics(comparison, every)]
    parts.append("\n".join(comparison.unmatched))
    parts.append("\n".join(f"! {text}" for text in comparison.cautions))
    parts += [_reasons(comparison), _parameters(comparison)]
    return "\n\n".join(part for part in parts if part) + "\n"


def _sides(comparison: "Comparison") -> str:
    rows = []
    for side in comparison.sides:
        rows.append([side.name, runs_text(side.seeds), side.results[0].title])
    return columns(rows, left=3)


def _metrics(comparison: "Comparison", every: bool) -> str:
    others = [side.name for side in comparison.sides[1:]]
    head = ["", comparison.sides[0].name]
    for name in others:
        head += [name, "", "", ""]
    rows = [[shortened(text, 24) for text in head]]
    for row in comparison.metrics:
        if every or (row.is_main and not row.is_nothing):
            rows.append(_metric_cells(row))
    known = "* beyond the spread over seeds, = within it, ? one run each: spread not known"
    return f"{columns(rows, left=1)}\n{known}"


def _metric_cells(row: Row) -> list[str]:
    cells = [shortened(row.name, 60), value_text(row.values[0], row.shown_unit)]
    for value, change in zip(row.values[1:], row.changes, strict=True):
        cells.append(value_text(value, row.shown_unit))
        cells += change_texts(change, row.shown_unit)
    return cells


def value_text(value: Value, unit: str) -> str:
    """Mean and standard deviation over seeds: '4.2 ms ± 0.1 ms'."""
    text = quantity_text(value.mean, unit)
    if value.count < 2 or not value.deviation:
        return text
    return f"{text} ± {quantity_text(value.deviation, unit, 2)}"


def change_texts(change: Change, unit: str) -> list[str]:
    """Difference, relative difference, and the mark of what seeds explain."""
    if math.isnan(change.difference):
        return ["-", "-", ""]
    difference = quantity_text(change.difference, unit, signed=True)
    if unit == "share":  # "%" alone would be a part of the first
        difference = f"{difference.removesuffix('%')}points"
    return [difference, percent_text(change.share), MARKS[change.beyond]]


def _reasons(comparison: "Comparison") -> str:
    lines = []
    for side in comparison.sides[1:]:
        told = [reason for reason in comparison.reasons if reason.other == side.name]
        if told:
            lines.append(f"Why {side.name} differs from {comparison.sides[0].name}")
            lines += [f"  {reason.sentence()}" for reason in told]
        elif not side.has_ledgers:
            lines.append(side.why_no_ledgers)
    if reason := comparison.sides[0].why_no_ledgers:
        lines = [reason, *(side.why_no_ledgers for side in comparison.sides[1:])]
    return "\n".join(line for line in lines if line)


def _parameters(comparison: "Comparison") -> str:
    if not comparison.parameters:
        told = sum(bool(side.results[0].parameters) for side in comparison.sides)
        return "No parameter differs" if told > 1 else ""
    rows = [["Parameters that differ", *(side.name for side in comparison.sides)]]
    for part in comparison.parameters:
        rows.append([part.path, *(shortened(value or "-", LONGEST) for value in part.values)])
    return columns(rows, left=1 + len(comparison.sides))
