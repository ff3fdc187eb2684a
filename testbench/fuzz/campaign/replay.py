"""Replays a corpus: each file must come to what its head expects, in every second way too, and break no rule.

    python3 -m campaign.replay PROGRAM CORPUS      (as CTest does)
"""

import sys
import tempfile
from pathlib import Path

import yaml

from campaign import corpus, scenarios, verdict
from campaign.program import Program
from campaign.setup import Setup


def replay(setup, path):
    """What is wrong with this file of the corpus: lines of text, none when all is as expected."""
    entry = corpus.read(path)
    try:
        tree = yaml.safe_load(entry.text.decode())
    except (yaml.YAMLError, UnicodeDecodeError, ValueError, RecursionError):
        tree = None
    code, _, key = entry.expect.partition(" ")
    if isinstance(tree, dict) and isinstance(tree.get("load"), list):
        found = scenarios.judge(setup, 0, tree, entry.files, every_way=True, text=entry.text).findings
        yield from (f"{f.rule}: {f.detail}" for f in found)
    yield from _expected(setup, entry, code, key)


def _expected(setup, entry, code, key):
    """Whether the exit code, and the key of a refusal, are those that the head names."""
    folder = setup.folder("replay", 0)
    for name, data in {**entry.files, "s.yaml": entry.text}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    outcome = setup.program.run(folder, "run", "s.yaml", "--quiet", "--out", "out")
    if code == "any":
        if outcome.code not in (0, 2):
            yield f"exit code {outcome.code}: {verdict.last_line(outcome)}"
    elif str(outcome.code) != code:
        yield f"exit code {outcome.code}, expected {code}: {verdict.last_line(outcome)}"
    if key and not any(key in line for line in outcome.lines):
        yield f"{key} is not named: {verdict.last_line(outcome)}"


def main():
    """0 when every file is as expected."""
    program, folder = sys.argv[1:]
    wrong, files = 0, sorted(Path(folder).glob("*.yaml"))
    with tempfile.TemporaryDirectory(prefix="tlmssd-replay-") as work:
        setup = Setup(Program(program), 0, work, patience=10)
        for path in files:
            for line in replay(setup, path):
                wrong += 1
                print(f"{path.name}: {line}")
    print(f"{len(files)} scenarios replayed, {wrong} things wrong")
    return 0 if files and not wrong else 1


if __name__ == "__main__":
    sys.exit(main())
