"""Part (b): mistakes in the text of valid scenarios, parts and job files.

Whatever the mistake, the program ends with exit code 0 or 2, soon, and says one clear line for each error. A
mistake that cannot be meant (an unknown key, a unit of another kind, a key given twice) must be refused.
"""

import random
import shutil
import time

from campaign import mistakes, scenarios, schema, verdict
from campaign.findings import Finding, Result
from campaign.program import to_yaml, write_inputs

NAME = "mutations"
COUNT = 150
# A mistake may make a valid scenario of any length; that is no hang of the program.
_LIMIT = 20


def run(setup, number):
    """One case: a valid scenario, or a file beside it, with one mistake or a few."""
    tree, files, _ = scenarios.draw(setup, number)
    _shorten(tree)
    chance = random.Random(f"mutation/{setup.seed}/{number}")
    texts = {"s.yaml": to_yaml(tree)}
    for name, data in files.items():
        if isinstance(data, (dict, str)):
            texts[name] = to_yaml(data) if isinstance(data, dict) else data
    which = chance.choice([n for n in texts if not n.startswith("recorded")] + ["s.yaml"])
    refused = False
    for _ in range(chance.choice((1, 1, 1, 2, 4))):
        kind = mistakes.JOBS if which.endswith(".fio") else mistakes.YAML
        mistake = chance.choice(kind)
        changed = mistake(chance, texts[which])
        if changed != texts[which]:  # a later one may undo an earlier one: a line twice, then one of them missing
            refused = mistake in mistakes.REFUSED
        texts[which] = changed
    whole = {**files, **{n: t for n, t in texts.items() if n != "s.yaml"}}
    return _judge(setup, number, texts["s.yaml"], whole, refused)


def trial(setup, number, tree, text, files):
    """What is found in this text."""
    del tree
    return _judge(setup, number, text, files, refused=False).findings


def _shorten(tree):
    """Few requests, so that what is slow is slow by the mistake."""
    for load in tree["load"]:
        if "number_ios" in load:
            load["number_ios"] = min(load["number_ios"], 100)


def _judge(setup, number, text, files, refused):
    folder = setup.folder(NAME, number)
    begin = time.monotonic()
    found = []

    def note(rule, detail):
        found.append(Finding(NAME, number, rule, detail, None, text, files))

    try:
        write_inputs(folder, {}, {n: _bytes(d) for n, d in files.items()})
        (folder / "s.yaml").write_bytes(_bytes(text))
        outcome = _run(setup, folder, note, refused)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return Result(number, outcome, time.monotonic() - begin, 2, found)


def _bytes(data):
    return data.encode("utf-8", "surrogateescape") if isinstance(data, str) else data


def _run(setup, folder, note, refused):
    # A mistake can make up a key, so what a refusal names need not be a known one: it is quoted then.
    keys = {key for _, key in schema.of_program(setup.program.path).parameters()}
    keys |= {step for path in schema.of_program(setup.program.path).sections for step in path.split(".")}
    checked = setup.program.run(folder, "check", "s.yaml", limit=_LIMIT)
    for rule, detail in verdict.promised(checked, keys):
        note(rule, f"check: {detail}")
    if checked.code == 2 and checked.seconds > verdict.REFUSE_SECONDS * setup.program.slow * setup.patience:
        note("slow refusal", f"{checked.seconds:.1f} s: {verdict.last_line(checked)}")
    ran = setup.program.run(folder, "run", "s.yaml", "--quiet", "--short", "--out", "out", limit=_LIMIT)
    if ran.code is None and checked.code == 0:
        return "runs long"
    for rule, detail in verdict.promised(ran, keys):
        note(rule, f"run: {detail}")
    if checked.code == 0 and ran.code == 2:
        note("check accepts what run refuses", verdict.last_line(ran))
    if ran.code == 2 and (folder / "out").exists():
        note("half-written results", "the output folder exists after a refusal")
    if refused and ran.code == 0:
        note("a mistake is accepted", "the scenario runs as if nothing were wrong")
    return {0: "ran", 2: "refused"}.get(ran.code, "failed")
