"""What can happen to a file: bits, bytes, lines and fields of it."""

import re

_NUMBERS = ("0", "-1", "18446744073709551616", "99999999999999999999999999", "1e400", "0x10", "1.5", "nan", "", "4294967295",
            "9223372036854775807")
_MAGIC = (b"\x1f\x8b\x08\x00", b"\xfd7zXZ\x00", b"BZh9", b"\x28\xb5\x2f\xfd", b"TLMSSDSN", b"\xef\xbb\xbf", b"PK\x03\x04")


def damaged(data, chance, text):
    """(words for what was done, the bytes after it); `text`: the file has lines and fields."""
    ways = _ANY + (_TEXT * 2 if text else ())
    done, result = [], data
    for _ in range(chance.choice((1, 1, 1, 2, 3))):
        way = chance.choice(ways)
        result = way(bytes(result), chance)
        done.append(way.__name__.strip("_").replace("_", " "))
    return ", ".join(done), result


def _place(data, chance):
    """A random piece, mostly a short one."""
    start = chance.randrange(len(data) + 1)
    return start, min(len(data), start + round(max(len(data), 1) ** chance.random()))


def _bits_flipped(data, chance):
    changed = bytearray(data)
    for _ in range(chance.choice((1, 1, 2, 8, 64)) if data else 0):
        changed[chance.randrange(len(changed))] ^= 1 << chance.randrange(8)
    return changed


def _cut_short(data, chance):
    return data[: chance.randrange(len(data) + 1)]


def _beginning_lost(data, chance):
    return data[_place(data, chance)[1] - _place(data, chance)[0]:]


def _zeroed(data, chance):
    start, end = _place(data, chance)
    return data[:start] + bytes(end - start) + data[end:]


def _noise(data, chance):
    start, end = _place(data, chance)
    return data[:start] + chance.randbytes(end - start) + data[end:]


def _piece_doubled(data, chance):
    start, end = _place(data, chance)
    return data[:end] + data[start:end] + data[end:]


def _piece_lost(data, chance):
    start, end = _place(data, chance)
    return data[:start] + data[end:]


def _bytes_inserted(data, chance):
    at = chance.randrange(len(data) + 1)
    return data[:at] + chance.randbytes(chance.choice((1, 4, 100, 70_000))) + data[at:]


def _garbage_behind(data, chance):
    return data + chance.randbytes(chance.choice((1, 16, 5000)))


def _another_beginning(data, chance):
    magic = chance.choice(_MAGIC)
    return magic + data[len(magic):] if chance.random() < 0.5 else magic + data


def _emptied(data, chance):
    return b"" if chance.random() < 0.5 else bytes(min(len(data), 4096))


_ANY = (_bits_flipped, _bits_flipped, _cut_short, _beginning_lost, _zeroed, _noise, _piece_doubled, _piece_lost,
        _bytes_inserted, _garbage_behind, _another_beginning, _emptied)

# ---- files of lines


def _line_changed(data, chance, change):
    lines = data.splitlines(keepends=True)
    if not lines:
        return data
    at = chance.randrange(len(lines))
    return b"".join([*lines[:at], *change(lines, at), *lines[at + 1:]])


def _line_doubled(data, chance):
    return _line_changed(data, chance, lambda lines, at: [lines[at]] * chance.choice((2, 2, 1000)))


def _line_lost(data, chance):
    return _line_changed(data, chance, lambda lines, at: [])


def _lines_swapped(data, chance):
    return _line_changed(data, chance, lambda lines, at: [chance.choice(lines)])


def _line_joined(data, chance):
    return _line_changed(data, chance, lambda lines, at: [lines[at].rstrip(b"\r\n")])


def _line_very_long(data, chance):
    return _line_changed(data, chance, lambda lines, at: [lines[at].rstrip(b"\r\n") * chance.choice((10, 5000)) + b"\n"])


def _number_changed(data, chance):
    found = list(re.finditer(rb"\d+(?:\.\d+)?", data))
    if not found:
        return data
    at = chance.choice(found)
    return data[: at.start()] + chance.choice(_NUMBERS).encode() + data[at.end():]


def _separator_changed(data, chance):
    found = list(re.finditer(rb"[,;:\t =\[\]{}-]", data))
    if not found:
        return data
    at = chance.choice(found).start()
    return data[:at] + chance.choice((b"", b",", b";", b"\t", b"\0", b"  ", b":", b"\r", b"\xc3")) + data[at + 1:]


_TEXT = (_line_doubled, _line_lost, _lines_swapped, _line_joined, _line_very_long, _number_changed, _separator_changed)
