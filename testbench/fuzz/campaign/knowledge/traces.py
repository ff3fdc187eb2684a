"""Traces that the campaign writes itself, in every format, plain or compressed."""

import bz2
import gzip
import lzma

_MS = 10**9
_FORMATS = ("msr", "mqsim", "spc", "alibaba", "tencent", "fio-iolog", "blkparse", "csv")


def draw(d, path):
    kind = d.pick(*_FORMATS)
    text = text_of(d, kind)
    name, data = _packed(d, f"trace{path[-1]}", text.encode())
    d.files[name] = data
    d.put(path, "trace", name)
    if kind == "csv" or d.chance(0.4):
        d.put(path, "format", kind)
    if kind == "csv":
        _draw_columns(d, path)
    if kind == "blkparse" and d.chance(0.3):
        d.put(path, "action", d.pick("Q", "D", "C"))
    d.put(path, "addresses", d.pick("wrap", "scale"))
    _draw_pace(d, path, kind)
    d.section(path, 0.15, leave=_not_here(d), skip=[0, 1, 3], requests=[0, 1, 10], repeat=[1, 2, 3],
              zero_size=["refuse", "skip"], max_disorder=[0, _MS, 60 * 1000 * _MS])
    if d.chance(0.15):
        draw_region(d, path)
    if d.chance(0.1) and kind in ("spc", "alibaba", "tencent", "mqsim"):
        d.put(path, "volume", "0")


def draw_region(d, path):
    """A part of the drive for the load, in pieces that any logical block divides."""
    pieces = max(d.facts.user // 4 // 16384, 2)
    d.put(path, "region_size", d.whole(1, pieces) * 16384)
    d.put(path, "region_offset", d.whole(0, pieces) * 16384)


def _not_here(d):
    here = ("skip", "requests", "repeat", "zero_size", "max_disorder", "addresses")
    return [p.key for p in d.schema.sections["load"].of("trace") if p.key not in here]


def _draw_pace(d, path, kind):
    timed = kind not in ("csv", "fio-iolog") or d.node(path).get("columns", {}).get("time", 0) > 0
    if timed and d.chance(0.3) and d.facts.timed:
        d.put(path, "pacing", "open-loop")
        if d.chance(0.5):
            d.put(path, "time_scale", d.pick(0.01, 0.5, 1, 3))
        if d.chance(0.3):
            d.put(path, "longest_gap", d.pick("0 s", "1 us", "1 ms", "1 s"))
        if d.chance(0.3):
            d.put(path, "max_outstanding", d.pick(0, 1, 16))
    elif d.chance(0.6):
        d.put(path, "queue_depth", d.pick(1, 4, 32, 256))


def requests(d, step):
    """Requests (time in ns, volume, letter, sector, sectors), in order of time."""
    time, found = d.pick(0, 10**9), []
    for _ in range(d.log_whole(5, 800)):
        time += d.whole(0, step)
        align = d.pick(1, 8, 8)
        found.append((time, d.pick(0, 0, 1), d.pick(*"RRWWWD"), d.whole(0, 50000) * align,
                      d.pick(1, 8, 8, 16, 64) * align))
    return found


def text_of(d, kind):
    """A trace of this format."""
    asked = requests(d, d.pick(1000, 100_000, 5_000_000))
    writer = globals()["_" + kind.replace("-", "_")]
    return writer(d, asked)


def _msr(d, asked):
    words = {"R": "Read", "W": "Write", "D": "Discard"}
    base = d.pick(0, 128166372002061629)
    return "".join(f"{base + t // 100},host,{v},{words[o]},{s * 512},{n * 512},{d.whole(0, 9999)}\n"
                   for t, v, o, s, n in asked)


def _mqsim(d, asked):
    return "".join(f"{t} {v} {s} {n} {'1' if o == 'R' else '0'}\n" for t, v, o, s, n in asked)


def _spc(d, asked):
    return "".join(f"{v},{s},{n * 512},{'r' if o == 'R' else 'W'},{t / 1e9:.6f}\n" for t, v, o, s, n in asked)


def _alibaba(d, asked):
    return "".join(f"{v},{'R' if o == 'R' else 'W'},{s * 512},{n * 512},{1577808144360767 + t // 1000}\n"
                   for t, v, o, s, n in asked)


def _tencent(d, asked):
    return "".join(f"{1538323200 + t // 10**9},{s},{n},{'0' if o == 'R' else '1'},{v}\n"
                   for t, v, o, s, n in asked)


def _fio_iolog(d, asked):
    words = {"R": "read", "W": "write", "D": "trim"}
    if d.chance(0.5):
        lines = ["fio version 3 iolog", "0 /dev/x add", "0 /dev/x open"]
        lines += [f"{t // 1000} /dev/x {words[o]} {s * 512} {n * 512}" for t, v, o, s, n in asked]
        return "\n".join([*lines, f"{asked[-1][0] // 1000} /dev/x close"]) + "\n"
    lines = ["fio version 2 iolog", "/dev/x add", "/dev/x open"]
    for t, v, o, s, n in asked:
        lines.append(f"/dev/x {words[o]} {s * 512} {n * 512}")
        if d.chance(0.1):
            lines.append(d.pick("/dev/x sync 0 0", f"/dev/x wait {d.whole(1, 1000)} 0"))
    return "\n".join([*lines, "/dev/x close"]) + "\n"


def _blkparse(d, asked):
    lines = []
    for i, (t, v, o, s, n) in enumerate(asked):
        for action in "QDC":
            lines.append(f"  8,{v} {d.whole(0, 3)} {3 * i} {t / 1e9:.9f} 4162 {action} {o} {s} + {n} [host]")
    return "\n".join(lines) + "\n"


def _csv(d, asked):
    separator = d.pick(",", ";", "\t")
    head = separator.join(("when", "what", "where", "how many")) + "\n" if d.chance(0.5) else ""
    d.facts.csv = separator
    return head + "".join(separator.join((str(t), o, str(s), str(n))) + "\n" for t, v, o, s, n in asked)


def _draw_columns(d, path):
    columns = path + ".columns"
    words = {",": "comma", ";": "semicolon", "\t": "tab"}
    d.put(columns, "separator", words[d.facts.csv])
    for key, value in (("op", 2), ("offset", 3), ("size", 4)):
        d.put(columns, key, value)
    if d.chance(0.7):
        d.put(columns, "time", 1)
        d.put(columns, "time_unit", d.pick("ns", "ns", "ps", "100ns", "us"))
    d.put(columns, "offset_unit", 512)
    d.put(columns, "size_unit", 512)
    for key, letter in (("read", "R"), ("write", "W"), ("trim", "D"), ("flush", "F")):
        if d.chance(0.3):
            d.put(columns, key, f"{letter},{letter.lower()}{letter.lower()}")
    if d.chance(0.1):
        d.put(columns, "device", 1)
    if d.chance(0.1):
        d.put(columns, "header_lines", d.pick(0, 1))


def _packed(d, stem, data):
    pack = d.pick(None, None, None, "gz", "xz", "bz2")
    if pack is None:
        return f"{stem}.csv", data
    packer = {"gz": lambda b: gzip.compress(b, mtime=0), "xz": lzma.compress, "bz2": bz2.compress}[pack]
    return f"{stem}.csv.{pack}", packer(data)
