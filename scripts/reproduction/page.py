"""Results pages: Markdown with tables and figures, the same bytes for the same results."""

import matplotlib

matplotlib.use("svg")
matplotlib.rcParams.update({
    "svg.hashsalt": "tlmssd",
    "font.size": 9,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#dddddd",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "figure.constrained_layout.use": True,
})
from matplotlib import pyplot  # noqa: E402 (the back end must be chosen first)

COLOURS = ["#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377", "#999999"]


class Page:
    """A page under construction, and the folder of its figures beside it."""

    def __init__(self, folder, name):
        self.path = folder / f"{name}.md"
        self.figures = folder / name
        self.figures.mkdir(parents=True, exist_ok=True)
        self.lines = []

    def text(self, text):
        """A paragraph, a heading or a list; blank lines around it are made."""
        self.lines += [text.strip(), ""]

    def table(self, head, rows):
        """A table; numbers must be formatted already. The first column is left-aligned, the others right."""
        self.lines.append("| " + " | ".join(head) + " |")
        self.lines.append("|---|" + "---:|" * (len(head) - 1))
        self.lines += ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]
        self.lines.append("")

    def figure(self, name, alt, width=7, height=3.2):
        """`with page.figure(...) as axes:` draws; saved and shown on the page in the end."""
        return _Figure(self, name, alt, width, height)

    def write(self):
        self.path.write_text("\n".join(self.lines), encoding="utf-8")


class _Figure:
    def __init__(self, page, name, alt, width, height):
        self.page, self.name, self.alt = page, name, alt
        self.figure, self.axes = pyplot.subplots(figsize=(width, height))

    def __enter__(self):
        return self.axes

    def __exit__(self, kind, *_):
        if kind is None:
            self.figure.savefig(self.page.figures / f"{self.name}.svg", metadata={"Date": None})
            self.page.text(f"![{self.alt}]({self.page.figures.name}/{self.name}.svg)")
        pyplot.close(self.figure)


def bars(axes, groups, series):
    """Grouped bars: `groups` are the labels below, `series` maps a label to one value per group."""
    width = 0.8 / len(series)
    for n, (label, values) in enumerate(series.items()):
        places = [g - 0.4 + width * (n + 0.5) for g in range(len(groups))]
        axes.bar(places, values, width, label=label, color=COLOURS[n % len(COLOURS)])
    axes.set_xticks(range(len(groups)), groups)
    axes.grid(axis="x", visible=False)
    columns = len(series) if sum(len(label) for label in series) < 60 else 2
    axes.legend(frameon=False, ncols=columns, loc="lower center", bbox_to_anchor=(0.5, 1.0))


def percent(ratio):
    """+6.6 % from 1.066."""
    return f"{100 * (ratio - 1):+.1f} %"
