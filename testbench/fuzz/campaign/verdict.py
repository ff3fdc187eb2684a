"""Whether an outcome of the program is one of those that it promises."""

import re

# A refusal of 1 s is a promise; the rest is for a machine that does other things as well.
REFUSE_SECONDS = 1.0


def promised(outcome, keys):
    """Yields (rule, detail) for an outcome that the program does not promise.

    Exit code 0, or 2 with lines that each name a place or a key; `keys` are all keys there are.
    """
    if outcome.code is None:
        yield "hang", f"stopped after {outcome.seconds:.0f} s"
    elif outcome.code == 2:
        yield from _clear(outcome, keys)
    elif outcome.code == 3:
        yield "stalled (exit code 3)", last_line(outcome)
    elif outcome.code == 99:
        yield "sanitizer", sanitizer_line(outcome)
    elif outcome.code != 0:
        yield f"exit code {outcome.code}", last_line(outcome)


def out_of_memory(outcome):
    """Whether the program had less memory than the input takes."""
    return outcome.code == 2 and outcome.err.strip() == "tlmssd: out of memory"


def last_line(outcome):
    return outcome.lines[-1][:300] if outcome.lines else "without a word"


def sanitizer_line(outcome):
    for line in outcome.lines:
        if "runtime error" in line or "ERROR: AddressSanitizer" in line or "LeakSanitizer" in line:
            return line[:300]
    return last_line(outcome)


def _clear(outcome, keys):
    if not outcome.lines:
        yield "unclear refusal", "exit code 2 without a word"
    for line in outcome.lines:
        if not line.startswith("tlmssd: "):
            yield "unclear refusal", f"a line that the program did not begin: {line[:200]}"
        elif any(ord(c) < 32 or c == "\x7f" for c in line):
            yield "unclear refusal", f"control characters: {line[:200]!r}"
        elif not has_place(line, keys):
            yield "unclear refusal", f"names neither line nor key: {line[:200]}"


def has_place(line, keys):
    """Whether the line names a line of a file, or a key."""
    if re.search(r"[^ :]+:[0-9]+: ", line):
        return True
    words = set(re.findall(r"[A-Za-z_][\w-]*", line))
    return bool(words & keys)


def key_of(line):
    """The dotted key that a refusal is about, or ''."""
    found = re.match(r"tlmssd: (?:\S+?:[0-9]+: )?([a-z][\w.-]*): ", line)
    if found:
        return found.group(1)
    found = re.match(r"tlmssd: (?:\S+?:[0-9]+: )?key '([^']+)'", line)
    return found.group(1) if found else ""
