"""Findings as files: one YAML each, with what is expected and the files beside it in its head.

    # expect: 2 ssd.host.weights        exit code (0, 2 or "any" of both), for 2 also the key
    # found: scenarios, seed 1, number 55: stalled (exit code 3)
    # file trace0.csv
    #| 0,8,4096,R,0.000001
    # base64 trace1.csv.gz
    #| H4sIAAAA...
    ssd: ...
"""

import base64
import re
from dataclasses import dataclass, field
from pathlib import Path

from campaign.program import to_yaml


@dataclass
class Entry:
    """One file of the corpus, read back."""
    expect: str
    text: bytes
    files: dict = field(default_factory=dict)


def write(folder, finding, seed):
    """Writes the finding; the name says what it is about."""
    Path(folder).mkdir(parents=True, exist_ok=True)
    words = re.sub(r"[^a-z0-9]+", "-", finding.rule.lower()).strip("-")
    path = Path(folder, f"{words[:50].strip('-')}-{finding.kind}-{seed}-{finding.number}.yaml")
    head = ["# expect: any",
            f"# found: {finding.kind}, seed {seed}, number {finding.number}: {_one_line(finding.rule)}",
            f"# said: {_one_line(finding.detail)}"]
    for name, data in sorted(finding.files.items()):
        data = to_yaml(data) if isinstance(data, dict) else data
        head += _embedded(name, data.encode() if isinstance(data, str) else data)
    body = finding.text if finding.text is not None else to_yaml(finding.tree)
    body = body if isinstance(body, bytes) else body.encode("utf-8", "surrogateescape")
    path.write_bytes("".join(line + "\n" for line in head).encode() + body)
    return path


def _one_line(text):
    return " ".join(text.split())[:200]


def _embedded(name, data):
    try:
        text = data.decode()
        if text.isprintable() or all(c.isprintable() or c in "\n\t" for c in text):
            ends = "" if text.endswith("\n") else " without newline"
            return [f"# file{ends} {name}", *("#| " + line for line in text.split("\n")[:None if ends else -1])]
    except UnicodeDecodeError:
        pass
    packed = base64.b64encode(data).decode()
    return [f"# base64 {name}", *("#| " + packed[i:i + 96] for i in range(0, len(packed), 96))]


def read(path):
    """The entry in this file."""
    lines = Path(path).read_bytes().split(b"\n")
    entry = Entry("any", b"")
    kind = name = None
    body = []

    def close():
        if kind == "file":
            entry.files[name] = "".join(line + "\n" for line in body).encode()
        elif kind == "file without newline":
            entry.files[name] = "\n".join(body).encode()
        elif kind == "base64":
            entry.files[name] = base64.b64decode("".join(body))

    for number, line in enumerate(lines):
        if not line.startswith(b"#"):
            close()
            entry.text = b"\n".join(lines[number:])
            return entry
        line = line.decode()
        if line.startswith("#|"):
            body.append(line[3:])
            continue
        close()
        kind, body = None, []
        found = re.match(r"# (file without newline|file|base64) (.+)$", line)
        if found:
            kind, name = found.groups()
        elif line.startswith("# expect: "):
            entry.expect = line[len("# expect: "):].strip()
    close()
    return entry
