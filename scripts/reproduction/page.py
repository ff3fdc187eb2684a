"""Results pages: Markdown with tables and figures, the same bytes for the same results.

Figures tell series apart by colour (Tol's palette, safe for colour-blind readers) and, for print, by marker, line style or hatching;
whiskers and bands are 95 % intervals.
"""

import matplotlib

import claims
from samples import sample

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
    "hatch.linewidth": 0.6,
})
from matplotlib import pyplot  # noqa: E402 (the back end must be chosen first)

COLOURS = ["#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377", "#999999"]
MARKERS = ["o", "s", "^", "D", "v", "P", "X"]
HATCHES = ["", "///", "...", "\\\\\\", "xxx", "+++", "ooo"]
LINES = ["-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (1, 3)), (0, (8, 2))]


class Page:
    """A page under construction, the claims judged on it, and the folder of its figures beside it."""

    def __init__(self, folder, name):
        self.path = folder / f"{name}.md"
        self.figures = folder / name
        folder.mkdir(parents=True, exist_ok=True)
        self.lines = []
        self.judged = []

    def text(self, text):
        """A paragraph, a heading or a list; blank lines around it are made."""
        self.lines += [text.strip(), ""]

    def table(self, head, rows, left=False):
        """A table; numbers must be formatted already. The first column is left-aligned, the others right unless `left`."""
        self.lines.append("| " + " | ".join(head) + " |")
        self.lines.append("|---|" + ("---|" if left else "---:|") * (len(head) - 1))
        self.lines += ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]
        self.lines.append("")

    def claims(self, *judged):
        """A table of judged claims, which count in the headline."""
        self.judged += judged
        self.table(claims.HEAD, [claims.cells(one) for one in judged], left=True)

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
            self.page.figures.mkdir(exist_ok=True)
            self.figure.savefig(self.page.figures / f"{self.name}.svg", metadata={"Date": None})
            self.page.text(f"![{self.alt}]({self.page.figures.name}/{self.name}.svg)")
        pyplot.close(self.figure)


def bars(axes, groups, series):
    """Grouped bars: `groups` are the labels below, `series` maps a label to one figure per group; Samples get whiskers."""
    width = 0.8 / len(series)
    for n, (label, values) in enumerate(series.items()):
        places = [g - 0.4 + width * (n + 0.5) for g in range(len(groups))]
        known = [sample(value) for value in values]
        axes.bar(places, [one.mean for one in known], width, label=label, color=COLOURS[n % len(COLOURS)], hatch=HATCHES[n % len(HATCHES)],
                 edgecolor="white", linewidth=0.5)
        whiskers(axes, places, known)
    axes.set_xticks(range(len(groups)), groups)
    axes.grid(axis="x", visible=False)
    columns = len(series) if sum(len(label) for label in series) < 60 else 2
    axes.legend(frameon=False, ncols=columns, loc="lower center", bbox_to_anchor=(0.5, 1.0))


def whiskers(axes, places, samples, colour="black"):
    """Intervals of Samples, where they are finite and not nothing."""
    shown = [(place, one.mean, one.half) for place, one in zip(places, samples) if 0 < one.half < float("inf")]
    if shown:
        x, y, half = zip(*shown)
        axes.errorbar(x, y, half, fmt="none", ecolor=colour, elinewidth=0.8, capsize=2)


def curve(axes, x, samples, n, label):
    """A line through the means of Samples in the nth style, with their intervals."""
    known = [sample(one) for one in samples]
    axes.plot(x, [one.mean for one in known], linestyle=LINES[n % len(LINES)], marker=MARKERS[n % len(MARKERS)], markersize=4,
              color=COLOURS[n % len(COLOURS)], label=label)
    whiskers(axes, x, known, COLOURS[n % len(COLOURS)])


def percent(ratio):
    """+6.6 % from 1.066; of a Sample with its interval."""
    change = (sample(ratio) - 1) * 100
    return change.text("+.1f") + " %"
