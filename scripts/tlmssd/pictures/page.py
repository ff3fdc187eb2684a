"""A page in one file: charts, legends, tables that sort; works offline.

Vega, Vega-Lite and Vega-Embed (assets/vega.js, see scripts/check_vega) lie in the file. Legends are
HTML and not Vega's, so that they wrap on narrow screens. Tables are drawn by the page's own script,
a hundred rows at a time, so that thousands of rows stay quick.
"""

import html
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import altair

from tlmssd.pictures.assets import asset
from tlmssd.pictures.axes import INK
from tlmssd.quantities import runs_text

Cell = str | tuple[float, str] | tuple[float, str, str]
"""A text; or a number to sort by and its text; or these and a class or '#link' of the page."""


class Page:
    """Collects parts and renders them as one HTML file."""

    def __init__(self, title: str, lead: str = ""):
        """`title` and `lead` (a sentence or two below it) are plain text."""
        self.title = title
        self.parts = [f"<h1>{html.escape(title)}</h1>"]
        if lead:
            self.parts.append(f'<p class="lead">{html.escape(lead)}</p>')
        self.charts: dict[str, Any] = {}
        self.tables: dict[str, Any] = {}
        self.data: dict[str, Any] = {}
        self.scripts: list[str] = []

    @classmethod
    def of_findings(
        cls, title: str, subjects: Sequence[tuple[str, str, int]], findings: Sequence[str]
    ) -> "Page":
        """A page that begins with what was found, in sentences.

        `subjects`: name, what there is to say of it, and number of runs of each thing looked at.
        """
        told = (f"{name}: {what}, {runs_text(runs)}" for name, what, runs in subjects)
        page = cls(title, "; ".join(told))
        for sentence in findings:
            page.text(sentence, "why")
        return page

    def heading(self, text: str, level: int = 2, anchor: str = "") -> None:
        """A heading of plain text."""
        where = f' id="{html.escape(anchor)}"' if anchor else ""
        self.parts.append(f"<h{level}{where}>{html.escape(text)}</h{level}>")

    def text(self, text: str, kind: str = "") -> None:
        """A paragraph of plain text; `kind` is its class ('note', 'why')."""
        self.parts.append(f'<p class="{kind}">{html.escape(text)}</p>')

    def raw(self, markup: str) -> None:
        """Markup that is put in as it is."""
        self.parts.append(markup)

    def chart(
        self,
        chart: altair.Chart | altair.LayerChart,
        caption: str,
        height: int = 300,
        legend: Mapping[str, str] | None = None,
        template: bool = False,
    ) -> None:
        """A chart as wide as its place; `legend` gives the colour of each name.

        A `template` is drawn by a script of the page, when it has data for it.
        """
        name = f"chart-{len(self.charts) + 1}"
        spec = configured(chart).properties(width="container", height=height).to_dict()
        self.charts[name] = {"spec": spec, "template": template}
        self.parts.append(
            f"<figure><figcaption>{html.escape(caption)}</figcaption>{legend_html(legend or {})}"
            f'<div class="chart" id="{name}" role="img" aria-label="{html.escape(caption)}"></div>'
            "</figure>"
        )

    def grid(self, begin: bool) -> None:
        """Between grid(True) and grid(False) charts stand side by side where there is room."""
        self.parts.append('<div class="grid">' if begin else "</div>")

    def table(
        self,
        columns: Sequence[str],
        rows: Iterable[Sequence[Cell]],
        *,
        sort: int | None = None,
        filtered: bool = False,
    ) -> None:
        """A table that sorts by a click on a column's head; `filtered` adds a field to search."""
        name = f"table-{len(self.tables) + 1}"
        self.tables[name] = {
            "columns": list(columns),
            "rows": [list(row) for row in rows],
            "sort": sort,
            "filtered": filtered,
        }
        self.parts.append(f'<div class="table" id="{name}"></div>')

    def script(self, code: str, **data: Any) -> None:
        """Code that runs when the page is drawn, and data it finds in `pageData`."""
        self.data.update(data)
        self.scripts.append(code)

    def render(self) -> str:
        """The HTML of the page."""
        content = {"charts": self.charts, "tables": self.tables, "data": self.data}
        return "\n".join(
            [
                '<!doctype html><html lang="en"><head><meta charset="utf-8">',
                '<meta name="viewport" content="width=device-width, initial-scale=1">',
                f"<title>{html.escape(self.title)}</title>",
                f"<style>{asset('page.css')}</style></head><body>",
                *self.parts,
                f'<script type="application/json" id="content">{json_for_html(content)}</script>',
                f'<script type="module">{asset("vega.js") if self.charts else ""}</script>',
                f'<script type="module">{asset("page.js")}',
                *self.scripts,
                'document.documentElement.dataset.drawn = "yes";',
                "</script></body></html>\n",
            ]
        )


def legend_html(colours: Mapping[str, str]) -> str:
    """Names beside squares in their colours."""
    items = (
        f'<li><span style="background:{colour}"></span>{html.escape(name)}</li>'
        for name, colour in colours.items()
    )
    return f'<ul class="legend">{"".join(items)}</ul>' if colours else ""


def configured(chart: altair.Chart | altair.LayerChart) -> altair.Chart | altair.LayerChart:
    """The looks that all charts share."""
    return (
        chart.configure(font="system-ui, 'DejaVu Sans', sans-serif", background="transparent")
        .configure_view(stroke=None)
        .configure_axis(
            labelFontSize=12, titleFontSize=12, titleFontWeight="normal", labelLimit=220,
            titleColor=INK, labelColor=INK, gridColor=INK, gridOpacity=0.13, domainColor=INK,
            domainOpacity=0.5, tickColor=INK, tickOpacity=0.5, labelOverlap=True, titleLimit=320,
        )
        .configure_text(color=INK)
        .configure_title(color=INK)
        .configure_legend(titleColor=INK, labelColor=INK)
    )  # fmt: skip


def json_for_html(content: Any) -> str:
    """JSON that cannot end the script element it stands in; NaN and infinity become null."""
    text = json.dumps(_finite(content), separators=(",", ":"), ensure_ascii=False)
    return text.replace("<", "\\u003c")


def _finite(node: Any) -> Any:
    if isinstance(node, float):
        return node if abs(node) < float("inf") else None
    if isinstance(node, Mapping):
        return {key: _finite(value) for key, value in node.items()}
    if isinstance(node, (list, tuple)):
        return [_finite(part) for part in node]
    return node
