"""A results page put together from its sections, each of which can be run alone."""

from collections.abc import Callable
from dataclasses import dataclass

import claims
import edition
import marks
import page as pages
import runs


@dataclass(frozen=True)
class Section:
    """A part of a page: `start` asks for its runs, `write` writes what they gave."""

    name: str
    start: Callable[[], None]
    write: Callable[[pages.Page], None]


METHOD = """
**Method.** {seeds} seeds of everything in which chance has a part; figures are means ± half their 95 % interval (Student's t), and variants of
a comparison share their seeds, so that ratios are taken seed by seed. A verdict is *yes* or *no* only when the whole interval says so, else
*undecided*. What a claim holds for stands in the script (`CLAIMS`) and not in its results; most tolerances were set when results of one seed
were known, so a narrow *yes* says little. Claims are **predicted** (nothing of it was used to set the
drive), **calibrated**, **self-consistent** (against a closed form of this project) or **given** (an input that comes back); the headline counts
the predicted ones. Beside each stands a **null model**, which knows nothing of the mechanism.
"""


def selected(name, only, sections):
    """Sections that `only` names (comma-separated; all without it); raises InputError."""
    if only is None:
        return sections
    known = {section.name: section for section in sections}
    wanted = only.split(",")
    for one in wanted:
        if one not in known:
            raise runs.InputError(f"--only: {name} has no part '{one}'; it has: {', '.join(known)}")
    return [section for section in sections if section.name in wanted]


def publish(name, options, runner, introduce, sections, files, constants=(), method=True, explained=()):
    """Writes the page `name`: `introduce(page)`, headline, sections, what was fitted or chosen in scenario `files` and `constants`, what is not met.

    `method`: whether its sections judge claims. `explained`: claims whose explanations hold for sections that are kept as they stand, too; else what the page
    said holds."""
    chosen = selected(name, options.only, sections)
    for section in chosen:
        section.start()
    before = edition.read(options.out / f"{name}.md", name) if options.keep else edition.Edition({}, {})
    whole = options.keep or len(chosen) > 1
    page = pages.Page(options.out, name if whole else f"{name}-{chosen[0].name}")
    explanations = before.explanations | {claim.words: claim.otherwise for claim in explained}
    introduce(page)
    if method:
        page.text(METHOD.format(seeds=runner.seeds))
    head = len(page.lines)
    kept = [section for section in sections if section not in chosen and section.name in before.parts]
    for section in sections:
        if section in chosen:
            section.write(page)
        elif section in kept:
            page.text(before.parts[section.name])
            page.judged += edition.judged(before.parts[section.name], explanations)
        else:
            continue
        page.text(edition.ending(name, section.name))
    left_out = [f"`{section.name}`" for section in sections if section not in chosen and section not in kept]
    headline = claims.tally(page.judged) if method else []
    headline += edition.kept([section.name for section in kept], before.makers)
    if left_out:
        headline.append(f"**Not in this edition:** {', '.join(left_out)}. To run one: `scripts/reproduce {name} --only PART`.")
    if headline:
        page.lines[head:head] = [*(f"- {line}" for line in headline), ""]
    if whole:
        marks.write(page, [runs.ROOT / file for file in files], constants)
    missed = claims.not_met(page.judged)
    if missed:
        page.text(f"## {edition.NOT_MET}")
        page.table(["claim", "verdict", "explanation"], missed, left=True)
    runs.close(page, options, runner)
