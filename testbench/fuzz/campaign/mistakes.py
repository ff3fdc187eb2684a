"""Mistakes that people and tools make in a text: each takes (random, text) and gives the text with the mistake."""

import re

_KEY = re.compile(r"^(\s*(?:- )?)([a-z_][\w-]*)(:.*)$", re.M)
_VALUE = re.compile(r"^(\s*(?:- )?[\w-]+: |\s*- )(\S.*)$", re.M)
_QUANTITY = re.compile(r"^(\s*(?:- )?[\w-]+: )([0-9.]+) (\S+)$", re.M)
_HUGE = ("99999999999999999999", "1e400", "-1", "-9223372036854775808", "18446744073709551616", "1e-400", "0",
         "4294967296", "nan", "inf", ".inf", "-.inf", "0x10", "010", "1_000", "+5", "1e3", "٣", "½", "1,5", "")
_STRANGE = ("ü", "\u202e", "\ufeff", "漢字", "\u0000", "\x1b[31m", "\x07", "'", '"', "%", "&", "*", "!", "|", ">",
            "{", "}", "[", "]", "#", ":", "- ", "? ", "---\n", "...\n", "%YAML 9.9\n", "\t", "\r", "\u2028", "~",
            "\udcff", "<<: *x", "&x ", "!!binary ", "!!python/object:os.system ", "`", "\\", "@", ",", "=")
_ODD = ("null", "~", "{}", "[]", "[[]]", "true", "no", "''", "2026-01-01", "{a: {b: {c: 1}}}", "[1, [2]]", "|",
        "x" * 5000, "&a [*a]", "1:30:00", "0o17", '"\\u0000"', "a\n b", "!!str 5", "? x")
_UNITS = ("KiB", "ns", "MHz", "%", "GB/s", "C", "d", "parsec", "kib", "Ms", "mB", "B B", "")


def _spot(random, pattern, text):
    found = list(pattern.finditer(text))
    return random.choice(found) if found else None


def _put(text, match, group, by):
    return text[:match.start(group)] + by + text[match.end(group):]


def key_typo(random, text):
    """A letter of a key left out, doubled, or exchanged with its neighbour."""
    match = _spot(random, _KEY, text)
    if match is None or len(match.group(2)) < 3:
        return text
    key = match.group(2)
    at = random.randrange(len(key) - 1)
    ways = (key[:at] + key[at + 1:], key[:at] + key[at] + key[at:], key[:at] + key[at + 1] + key[at] + key[at + 2:])
    typo = random.choice([w for w in ways if w != key])
    return _put(text, match, 2, typo)


def unknown_key(random, text):
    """A key that nothing knows, at the top or in a section."""
    match = _spot(random, _KEY, text)
    line = f"{' ' * len(match.group(1))}{random.choice(('frobnicate', 'x', 'größe', 'a b', '0'))}: 1\n"
    return text[:match.start()] + line + text[match.start():] if "- " not in match.group(1) else text


def twice(random, text):
    """A line given twice."""
    found = [m for m in _KEY.finditer(text) if "-" not in m.group(1) and m.group(3).strip() != ":"]
    if not found:
        return text
    line = random.choice(found).group(0) + "\n"
    return text.replace(line, line + line, 1)


def swapped_values(random, text):
    """The values of two lines exchanged."""
    a, b = _spot(random, _VALUE, text), _spot(random, _VALUE, text)
    if a is None or a.start() == b.start():
        return text
    a, b = sorted((a, b), key=lambda m: m.start())
    text = _put(text, b, 2, a.group(2))
    return _put(text, a, 2, b.group(2))


def wrong_unit(random, text):
    """A quantity with another unit, or none."""
    match = _spot(random, _QUANTITY, text)
    return text if match is None else _put(text, match, 3, random.choice(_UNITS))


def foreign_unit(random, text):
    """A quantity with a unit that is none of any quantity."""
    match = _spot(random, _QUANTITY, text)
    return text if match is None or "title" in match.group(1) else _put(text, match, 3, "parsec")


def huge_number(random, text):
    """A number beyond everything."""
    match = _spot(random, re.compile(r"([0-9][0-9.]*)", re.M), text)
    return text if match is None else _put(text, match, 1, random.choice(_HUGE))


def odd_value(random, text):
    """Something else than a value in place of one."""
    match = _spot(random, _VALUE, text)
    return text if match is None else _put(text, match, 2, random.choice(_ODD))


def without_line(random, text):
    """A line left out, or a run of them."""
    lines = text.splitlines(keepends=True)
    if not lines:
        return text
    at = random.randrange(len(lines))
    del lines[at:at + random.choice((1, 1, 1, 3))]
    return "".join(lines)


def moved_line(random, text):
    """A line somewhere else, with its indentation."""
    lines = text.splitlines(keepends=True)
    if not lines:
        return text
    line = lines.pop(random.randrange(len(lines)))
    lines.insert(random.randrange(len(lines) + 1), line)
    return "".join(lines)


def indentation(random, text):
    """A line further in or out, or with a tab."""
    lines = text.splitlines(keepends=True)
    if not lines:
        return text
    at = random.randrange(len(lines))
    lines[at] = random.choice((" ", "  ", "\t", "\u00a0")) + lines[at] if random.random() < 0.7 else lines[at].lstrip()
    return "".join(lines)


def strange_character(random, text):
    """A character or two that mean something to YAML, to terminals or to none."""
    at = random.randrange(len(text) + 1)
    return text[:at] + random.choice(_STRANGE) + text[at:]


def cut_short(random, text):
    """The end is missing."""
    return text[:random.randrange(len(text) + 1)]


def changed_byte(random, text):
    """A byte that is another one, be it valid or not."""
    data = bytearray(text.encode("utf-8", "surrogateescape"))
    if data:
        data[random.randrange(len(data))] = random.randrange(256)
    return data.decode("utf-8", "surrogateescape")


def other_ends(random, text):
    """Lines that end as on another system."""
    return text.replace("\n", random.choice(("\r\n", "\r", "\n\n")))


def deep(random, text):
    """Brackets without end in place of a value."""
    match = _spot(random, _VALUE, text)
    opened = random.choice(("[", "{a: ", "- "))
    return text if match is None else _put(text, match, 2, opened * random.choice((10, 1000, 20000)))


def job_option(random, text):
    """An option of a job file that is unknown, without value, or with a wrong one."""
    line = random.choice(("frobnicate=1", "rw", "bs=", "bs=4q", "=5", "rw=sideways", "[", "[]", "numjobs=0",
                          "iodepth=99999999999", "include x", "size=110%", "runtime=-5", "bs=4k,,,,", "rate=1k,"))
    lines = text.splitlines(keepends=True)
    lines.insert(random.randrange(len(lines) + 1), line + "\n")
    return "".join(lines)


YAML = (key_typo, key_typo, unknown_key, twice, swapped_values, swapped_values, wrong_unit, foreign_unit, huge_number,
        huge_number, odd_value, odd_value, without_line, moved_line, indentation, strange_character,
        strange_character, cut_short, changed_byte, other_ends, deep)
JOBS = (job_option, job_option, huge_number, without_line, moved_line, strange_character, cut_short, changed_byte,
        other_ends)
# What cannot be meant, and must not pass.
REFUSED = (unknown_key, foreign_unit, twice)
