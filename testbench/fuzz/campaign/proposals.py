"""What a refusal proposes must help: scenarios are drawn, made invalid, and each "nearest valid" is put in.

A proposal by itself is accepted, or refused for another key. All proposals together, put in again and again, come
to an end in two rounds: the scenario is accepted, or nothing is proposed any more.
"""

import json
import random
import shutil
import time

from campaign import knowledge, schema, verdict
from campaign.findings import Finding, Result
from campaign.program import write_inputs

NAME = "proposals"
COUNT = 60
_MOST_ROUNDS = 2


def run(setup, number):
    """One case: a drawn scenario, one to five of its values far from where they were."""
    d = knowledge.draw(schema.of_program(setup.program.path), f"{setup.seed}/{number}")
    d.random = random.Random(f"proposal/{setup.seed}/{number}")
    d.wild = True
    for _ in range(d.pick(1, 2, 3, 5)):
        _move_a_value(d)
    return _judge(setup, number, d.finished(), d.files)


def trial(setup, number, tree, text, files):
    """What is found in this scenario."""
    del text
    return _judge(setup, number, tree, files).findings


def _move_a_value(d):
    """Any value of any section that is drawn or always there, to an end of its range or a factor away."""
    sections = [p for p, s in d.schema.sections.items() if p and not s.listed and not s.optional and "load." not in p]
    path = d.pick("load.0", "ssd.flash", "ssd.flash.part", "firmware.mapping", "firmware.buffer", *sections)
    numbers = [p for p in d.schema.sections[d.section_of(path)].of(d.policy(path)) if not p.listed and p.kind != "text"]
    if numbers:
        parameter = d.pick(*numbers)
        d.put(path, parameter.key, d.any_value(parameter))


def _judge(setup, number, tree, files):
    folder = setup.folder(NAME, number)
    begin = time.monotonic()
    trial_ = _Trial(setup, number, tree, files, folder)
    try:
        write_inputs(folder, tree, files)
        outcome = trial_.judge()
    except _TooLarge:
        outcome = "more than there is memory"
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return Result(number, outcome, time.monotonic() - begin, trial_.runs, trial_.findings)


class _TooLarge(Exception):
    """The scenario takes more memory than a case may have."""


class _Trial:
    """One refused scenario, and what becomes of it with its proposals."""

    def __init__(self, setup, number, tree, files, folder):
        self.setup, self.number, self.tree, self.files, self.folder = setup, number, tree, files, folder
        self.runs = 0
        self.findings = []

    def found(self, rule, detail):
        self.findings.append(Finding(NAME, self.number, rule, detail, self.tree, None, self.files))

    def errors(self, settings):
        """What `tlmssd check` says with these settings; an empty list: it is accepted."""
        self.runs += 1
        words = [word for setting in settings for word in ("--set", setting)]
        outcome = self.setup.program.run(self.folder, "check", "s.yaml", "--json", *words)
        if outcome.code == 2 and outcome.seconds > verdict.REFUSE_SECONDS * self.setup.program.slow * self.setup.patience:
            self.found("slow refusal", f"{outcome.seconds:.1f} s with {settings}")
        if outcome.code not in (0, 2):
            self.found("check fails", f"exit code {outcome.code} with {settings}: {verdict.last_line(outcome)}")
            return []
        if verdict.out_of_memory(outcome):
            raise _TooLarge
        return json.loads(outcome.out)["errors"] if outcome.code == 2 else []

    def judge(self):
        errors = self.errors([])
        if not errors:
            return "accepted"
        proposing = [error for error in errors if "proposal" in error]
        if not proposing:
            return "refused without a proposal"
        for error in proposing:
            self._by_itself(error)
        return self._together(errors)

    def _by_itself(self, error):
        for other in self.errors([_setting(error)]):
            if other["key"] == error["key"]:
                self.found("a proposal is refused for its key", f"{error['text']} | {_setting(error)} | {other['text']}")

    def _together(self, errors):
        settings = []
        for rounds in range(_MOST_ROUNDS + 2):
            proposed = [_setting(error) for error in errors if "proposal" in error]
            if not proposed:
                return "mended" if not errors else "mended in part"
            if rounds > _MOST_ROUNDS:
                break
            settings += proposed
            errors = self.errors(settings)
        self.found("proposals without end", f"after {settings}: {errors[0]['text']}")
        return "refused again and again"


def _setting(error):
    return f"{error['proposal']['key']}={error['proposal']['value']}"
