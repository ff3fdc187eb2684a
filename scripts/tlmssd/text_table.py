"""Tables for the terminal."""

from collections.abc import Sequence


def columns(rows: Sequence[Sequence[str]], left: int) -> str:
    """Aligned columns, the first `left` of them to the left, the others to the right."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = []
    for row in rows:
        cells = [
            cell.ljust(width) if i < left else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def shortened(text: str, longest: int) -> str:
    """At most `longest` characters, the end cut off."""
    return text if len(text) <= longest else text[: longest - 3] + "..."
