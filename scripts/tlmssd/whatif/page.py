"""What was found by what-if, as one HTML page."""

from typing import TYPE_CHECKING

import altair as alt
import numpy as np
import pandas as pd

from tlmssd.pictures.axes import INK, PERCENT_LABEL, SIDE_COLOURS
from tlmssd.pictures.page import Cell, Page
from tlmssd.quantities import quantity_text
from tlmssd.whatif.experiment import Trial
from tlmssd.whatif.terminal import (
    conclusion,
    effect_text,
    interaction_words,
    interval_text,
    text_of,
    trial_texts,
    untold,
)

if TYPE_CHECKING:
    from tlmssd.whatif import WhatIf

BETTER, WORSE, NEITHER = SIDE_COLOURS[0], SIDE_COLOURS[1], "#999999"
LEGEND = {"better": BETTER, "worse": WORSE, "not told from nothing by these seeds": NEITHER}
METHOD = (
    "Every resource in turn is made faster or more, with the same seeds; the effect is the change "
    "of the metric, seed by seed, and the line its 95 % confidence interval. Smaller steps have "
    "paler bars; the largest ranks."
)


def page_of(found: "WhatIf") -> str:
    """The HTML of the page."""
    mean = quantity_text(float(np.mean(found.base)), found.unit)
    subject = (found.title, f"{found.metric} is {mean}", len(found.base))
    page = Page.of_findings(f"What if: {found.metric}", [subject], [conclusion(found)])
    for text in found.cautions:
        page.text(text, "warn")
    page.heading("Effect of each resource")
    page.text(METHOD, "note")
    data = _bars(found)
    if len(data):
        height = 30 * data["resource"].nunique() + 60
        page.chart(effects_chart(data, found.metric), f"Change of {found.metric}", height, LEGEND)
    page.heading("Ranked")
    _add_table(page, found)
    if found.interactions:
        page.heading("Together")
        _add_interactions(page, found)
    return page.render()


def notebook_html(found: "WhatIf") -> str:
    """The text, and the picture as SVG."""
    import html

    import vl_convert

    from tlmssd.pictures.page import configured, legend_html

    text = f"<pre>{html.escape(text_of(found))}</pre>"
    data = _bars(found)
    if not len(data):
        return text
    chart = configured(effects_chart(data, found.metric).properties(width=560))
    return text + legend_html(LEGEND) + vl_convert.vegalite_to_svg(chart.to_dict())


def effects_chart(data: pd.DataFrame, metric: str) -> alt.LayerChart:
    """A bar for each step, and its interval as a line."""
    order = list(dict.fromkeys(data["resource"]))
    y = alt.Y("resource:N", sort=order, title=None)
    steps = sorted(set(data["step"]))
    paler = [0.3 + 0.7 * (number + 1) / len(steps) for number in range(len(steps))]
    offset = alt.YOffset("step:N", sort=steps[::-1])
    scale = alt.Scale(domain=list(LEGEND), range=list(LEGEND.values()))
    base = alt.Chart(data)
    bars = base.mark_bar().encode(
        y=y,
        yOffset=offset,
        x=alt.X("effect:Q", axis=alt.Axis(title=f"change of {metric}", labelExpr=PERCENT_LABEL)),
        color=alt.Color("kind:N", scale=scale, legend=None),
        opacity=alt.Opacity(
            "step:N",
            sort=steps[::-1],
            legend=None,
            scale=alt.Scale(domain=steps, range=paler),
        ),
        tooltip=["resource:N", "from:N", "to:N", alt.Tooltip("effect:Q", format="+.2%")],
    )
    intervals = base.mark_rule(color=INK, strokeWidth=1.2).encode(
        y=y, yOffset=offset, x="low:Q", x2="high:Q"
    )
    return alt.layer(bars, intervals)


def _bars(found: "WhatIf") -> pd.DataFrame:
    rows = []
    most = max(len(finding.trials) for finding in found.findings)
    for finding in found.findings:
        for place, trial in enumerate(finding.trials, most - len(finding.trials)):
            if not trial.effect:
                continue
            effect = trial.effect
            low, high = effect.interval or (effect.mean, effect.mean)
            rows.append(
                {
                    "resource": finding.resource.name,
                    "step": f"step {place + 1}",
                    "from": trial.step.before,
                    "to": trial.step.after,
                    "effect": effect.mean,
                    "low": low,
                    "high": high,
                    "kind": _kind(trial, found.more_is_better),
                }
            )
    return pd.DataFrame(rows)


def _kind(trial: Trial, more_is_better: bool) -> str:
    effect = trial.effect
    if abs(effect.mean) < 5e-4 or effect.is_doubtful:
        return list(LEGEND)[2]
    return "better" if (effect.mean > 0) == more_is_better else "worse"


def _add_table(page: Page, found: "WhatIf") -> None:
    columns = [
        "rank",
        "resource",
        "what",
        "from",
        "to",
        "effect",
        "95 % confidence",
        "cost",
        "note",
    ]
    rows: list[list[Cell]] = []
    for rank, finding in enumerate(found.findings, 1):
        for trial in reversed(finding.trials):
            before, after, effect, interval, cost = trial_texts(trial)
            mean = trial.effect.mean if trial.effect else float("nan")
            rows.append(
                [
                    (float(rank), str(rank)),
                    finding.resource.name,
                    finding.resource.what,
                    before,
                    after,
                    (mean, effect),
                    (mean, interval),
                    (trial.cost if trial.cost is not None else float("nan"), cost),
                    trial.reason or _note(trial),
                ]
            )
    page.table(columns, rows)


def _note(trial: Trial) -> str:
    share = f"{trial.step.weight:.2f}"
    if share == "1.00":  # as good as all of it: a whole grain or piece more
        return ""
    return f"ranked with {share} of the effect: a shorter step was not possible"


def _add_interactions(page: Page, found: "WhatIf") -> None:
    page.text(
        "All combinations of the first resources. Beyond the sum: what the joint effect has that "
        "the single effects do not explain, as a ratio. Independent: it has nothing, as a ratio or "
        "in time per command.",
        "note",
    )
    for text in untold(found):
        page.text(text, "note")
    rows: list[list[Cell]] = []
    for part in found.interactions:
        beyond: list[Cell] = ["-", "-"]
        if part.beyond:
            mean = part.beyond.mean
            beyond = [(mean, effect_text(part.beyond)), (mean, interval_text(part.beyond))]
        together = (part.together.mean, effect_text(part.together))
        words = interaction_words(part, found.more_is_better)
        rows.append([" + ".join(part.names), together, *beyond, words])
    columns = ["together", "effect", "beyond the sum", "95 % confidence", "they"]
    page.table(columns, rows)
