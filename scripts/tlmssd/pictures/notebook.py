"""What a notebook shows of results: figures and a picture, without a network."""

import html
from collections.abc import Sequence

from tlmssd.pictures.axes import colours
from tlmssd.pictures.latencies import cdf, distribution_data
from tlmssd.pictures.page import configured, legend_html
from tlmssd.quantities import quantity_text
from tlmssd.result import Result

FIGURES = ("iops", "mean", "p50", "p99", "p99.9", "max")


def result_html(results: Sequence[Result]) -> str:
    """A table of IOPS and latencies by operation, and the distributions as a picture (SVG)."""
    import vl_convert

    rows, lines = [], {}
    for result in results:
        for operation in result.operations:
            name = f"{operation}, {result.name}" if len(results) > 1 else operation
            found = [result.figures.get(f"{operation}.{figure}") for figure in FIGURES]
            texts = [quantity_text(one.value, one.unit) if one else "-" for one in found]
            rows.append("".join(f"<td>{html.escape(text)}</td>" for text in [name, *texts]))
            if result.has_histogram(operation):
                lines.setdefault(operation, {})[result.name] = result.histogram(operation)
    head = "".join(f"<th>{name}</th>" for name in ("", *FIGURES))
    body = "".join(f"<tr>{row}</tr>" for row in rows)
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    title = html.escape(results[0].title) if results else "no results"
    if not lines:
        return f"<b>{title}</b>{table}"
    palette = colours(list(lines))
    chart = cdf(distribution_data(lines), palette, tail=True).properties(width=480, height=240)
    picture = vl_convert.vegalite_to_svg(configured(chart).to_dict())
    return f"<b>{title}</b>{table}{legend_html(palette)}{picture}"
