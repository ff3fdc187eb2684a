"""A comparison as one HTML page."""

import math
from typing import TYPE_CHECKING

from tlmssd.causes import cause_words
from tlmssd.compare.differences import Row
from tlmssd.compare.loads import compared_loads, shown_name, tell_apart
from tlmssd.compare.terminal import change_texts, value_text
from tlmssd.compare.why import Explanation
from tlmssd.pictures.axes import colours
from tlmssd.pictures.latencies import cdf, distribution_data, stacked_causes
from tlmssd.pictures.page import Cell, Page
from tlmssd.quantities import quantity_text

if TYPE_CHECKING:
    from tlmssd.compare import Comparison

WORDS = {True: "beyond", False: "within", None: "not known"}
NOTE = (
    "Beyond: the seeds do not explain the difference (95 %). Within: they do. Not known: there is "
    "one run on each side. Of equals, one metric in twenty is told apart by chance at most; with "
    "one run on one of the sides about one in twelve, of parts of percentiles up to one in five."
)


def page_of(comparison: "Comparison") -> str:
    """The HTML of the page."""
    subjects = [
        (side.name, side.results[0].title or "no title", side.seeds) for side in comparison.sides
    ]
    title = " against ".join(side.name for side in comparison.sides)
    page = Page.of_findings(title, subjects, _reasons(comparison))
    for text in comparison.cautions:
        page.text(text, "warn")
    for text in comparison.unmatched:
        page.text(text, "note")
    page.heading("Figures")
    page.text(NOTE, "note")
    _add_metrics(
        page, comparison, [row for row in comparison.metrics if row.is_main and not row.is_nothing]
    )
    _add_latencies(page, comparison)
    _add_causes(page, comparison)
    page.heading("Parameters that differ")
    _add_parameters(page, comparison)
    page.heading("All metrics")
    _add_metrics(page, comparison, comparison.metrics, filtered=True)
    return page.render()


def notebook_html(comparison: "Comparison") -> str:
    """Reasons and main figures for a notebook."""
    import html

    from tlmssd.compare.terminal import text_of

    return f"<pre>{html.escape(text_of(comparison))}</pre>"


def _reasons(comparison: "Comparison") -> list[str]:
    """Why each side differs from the first."""
    sentences = []
    for side in comparison.sides[1:]:
        told = [reason for reason in comparison.reasons if reason.other == side.name]
        if not told:
            reasons = [one.why_no_ledgers for one in (comparison.sides[0], side)]
            sentences += [f"{reason}." for reason in reasons if reason]
        which = f"{side.name}: " if len(comparison.sides) > 2 else ""
        sentences += [f"{which}{reason.sentence()}" for reason in told]
    return sentences


def _add_metrics(
    page: Page, comparison: "Comparison", rows: list[Row], filtered: bool = False
) -> None:
    first, *others = comparison.sides
    columns = ["metric", first.name]
    for side in others:
        columns += [side.name, "difference", "in %", "spread over seeds"]
    page.table(columns, [_cells(row) for row in rows], filtered=filtered)


def _cells(row: Row) -> list[Cell]:
    cells: list[Cell] = [row.name, (row.values[0].mean, value_text(row.values[0], row.shown_unit))]
    for value, change in zip(row.values[1:], row.changes, strict=True):
        difference, share, _ = change_texts(change, row.shown_unit)
        kind = "within"
        if change.beyond is not False:
            kind = {True: "better", False: "worse", None: ""}[change.better]
        word = "" if math.isnan(change.difference) else WORDS[change.beyond]
        cells += [
            (value.mean, value_text(value, row.shown_unit)),
            (change.difference, difference, kind),
            (change.share, share, kind),
            (0.0 if change.beyond is None else 1.0 + change.beyond, word, kind),
        ]
    return cells


def _add_latencies(page: Page, comparison: "Comparison") -> None:
    palette = colours([side.name for side in comparison.sides])
    page.heading("Latencies")
    page.text("A line for each run; to the right and down is slower.", "note")
    page.grid(True)
    for load, operation in _operations(comparison):
        lines = {
            side.name: {
                f"seed {result.seed}" if result.seed is not None else "": result.histogram(
                    operation, load
                )
                for result in side.results
                if result.has_histogram(operation, load)
            }
            for side in comparison.sides
        }
        data = distribution_data({name: part for name, part in lines.items() if part})
        commands = shown_name(load, f"{operation}s")
        page.chart(cdf(data, palette), f"Latency of {commands}: share done", 320, palette)
        caption = f"Latency of {commands}: the slowest, stretched"
        page.chart(cdf(data, palette, tail=True), caption, 320, palette)
    page.grid(False)


def _operations(comparison: "Comparison") -> list[tuple[str, str]]:
    """Load and kind of command of what is compared."""
    first, *others = comparison.sides
    apart = tell_apart(comparison.sides)
    loads = dict.fromkeys(load for side in others for load in compared_loads(first, side, apart))
    return list(
        dict.fromkeys(
            (load, operation)
            for load in loads
            for side in comparison.sides
            for result in side.results
            for operation in result.operations_of(load)
            if result.has_histogram(operation, load)
        )
    )


def _add_causes(page: Page, comparison: "Comparison") -> None:
    if not comparison.reasons:
        return
    page.heading("Where the time goes")
    page.grid(True)
    groups: dict[tuple[str, str], list[Explanation]] = {}
    for reason in comparison.reasons:
        if max(reason.before, reason.after) > 0:
            groups.setdefault((reason.commands, reason.figure), []).append(reason)
    for (commands, figure), reasons in groups.items():
        bars = {reasons[0].first: {c: pair[0] for c, pair in reasons[0].causes.items()}}
        for reason in reasons:
            bars[reason.other] = {c: pair[1] for c, pair in reason.causes.items()}
        chart, legend = stacked_causes(bars)
        page.chart(chart, f"{commands}, {figure}", 34 * len(bars) + 20, legend)
    page.grid(False)
    page.heading("Differences by cause", 3)
    rows = [_cause_row(r, cause, d) for r in comparison.reasons for cause, d in r.differences()]
    columns = ["side", "operation", "figure", "cause", "before", "after", "difference"]
    page.table(columns, rows, filtered=True)


def _cause_row(reason: Explanation, cause: str, difference: float) -> list[Cell]:
    before, after = reason.causes[cause]
    return [
        reason.other,
        reason.commands,
        reason.figure,
        f"{cause_words(cause)} ({cause})",
        (before, quantity_text(before, "ns")),
        (after, quantity_text(after, "ns")),
        (difference, quantity_text(difference, "ns", signed=True)),
    ]


def _add_parameters(page: Page, comparison: "Comparison") -> None:
    if not comparison.parameters:
        page.text("None, as far as the scenarios are known.", "note")
        return
    rows = [[part.path, *(value or "-" for value in part.values)] for part in comparison.parameters]
    page.table(["parameter", *(side.name for side in comparison.sides)], rows)
