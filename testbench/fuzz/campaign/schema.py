"""What `tlmssd schema` says, as a flat list of parameters.

The generator draws from this list, so that a new parameter is drawn without touching the generator.
"""

import functools
import json
import re
import subprocess
from dataclasses import dataclass, field

from campaign import quantities

# The words that a parameter's description begins its line about units with.
_UNITS = ("size", "time", "duration", "share", "frequency", "bandwidth", "temperature")


@dataclass
class Parameter:
    """One key of a section: what may stand there."""
    section: str
    key: str
    kind: str                    # integer, number, boolean, text, enum, policy, or a kind of quantity
    listed: bool = False         # a list of such values
    low: float | None = None     # in base units: bytes, ps, s, Hz, B/s, share 1, degrees C
    high: float | None = None
    default: object = None       # as it stands in the schema
    choices: list[str] = field(default_factory=list)

    @property
    def path(self):
        return f"{self.section}.{self.key}" if self.section else self.key


@dataclass
class Section:
    """A section: its parameters by the policy chosen in it (or by what kind of load it is)."""
    path: str
    optional: bool               # absent unless given
    listed: bool                 # several of them, numbered
    parameters: list[Parameter]  # a key may appear once for each policy that has it
    policy: Parameter | None
    without: dict                # policy -> keys that do not go with it
    owners: dict                 # (key, policy) -> which of several parameters of that name

    def of(self, policy):
        """The parameters that go with `policy` (None: whatever is always there)."""
        banned = self.without.get(policy, set())
        found = {}
        for p in self.parameters:
            if p.key in banned or p is self.policy:
                continue
            found.setdefault(p.key, p)
            if self.owners.get(id(p)) == policy:
                found[p.key] = p
        return list(found.values())


def _kind_of(node, description):
    listed = node.get("type") == "array"
    inner = node["items"] if listed else node
    if "oneOf" in inner:
        return "policy", listed, [c["const"] for c in inner["oneOf"]]
    if "enum" in inner:
        return "enum", listed, list(inner["enum"])
    if isinstance(inner.get("type"), list):
        return "boolean" if inner["type"][0] == "boolean" else "text", listed, []
    if inner["type"] in ("integer", "number", "boolean"):
        return inner["type"], listed, []
    if "TiB" in inner.get("pattern", "") and "%" in inner["pattern"]:
        return "size or share", listed, []
    for line in description.splitlines():
        for word in _UNITS:
            if re.match(rf"(list, each an? )?{word} \(", line):
                return word, listed, []
    return "text", listed, []


def _range_of(kind, node, description):
    inner = node.get("items", node)
    if "minimum" in inner or "maximum" in inner:
        return inner.get("minimum"), inner.get("maximum")
    found = re.search(r"^range: (?:at least (.+)|(.+) to (.+))$", description, re.M)
    if not found:
        return None, None
    least, low, high = found.groups()
    base = "size" if kind == "size or share" else kind
    return (quantities.parse(base, least or low), None if high is None else quantities.parse(base, high))


def _parameter(section, key, node):
    description = node.get("description", "")
    kind, listed, choices = _kind_of(node, description)
    low, high = _range_of(kind, node, description)
    return Parameter(section, key, kind, listed, low, high, node.get("default"), choices)


class Schema:
    """All sections by path; loads and steps of preconditioning stand under their list's name."""

    def __init__(self, document):
        self.sections = {}
        self._walk("", document, optional=False, listed=False)

    def parameters(self):
        """Every (section, key) once."""
        return sorted({(p.section, p.key) for s in self.sections.values() for p in s.parameters})

    def find(self, section, key, policy=None):
        for p in self.sections[section].of(policy):
            if p.key == key:
                return p
        for p in self.sections[section].parameters:
            if p.key == key:
                return p
        raise KeyError(f"the schema has no parameter {key} in {section or 'its top level'}")

    def _walk(self, path, node, optional, listed):
        section = Section(path, optional, listed, [], None, {}, {})
        self.sections[path] = section
        for key, child in node.get("properties", {}).items():
            below = f"{path}.{key}" if path else key
            inner, many = self._section_in(child)
            if inner is not None:
                self._walk(below, inner, "only when given" in inner.get("description", child.get("description", ""))
                           or "absent unless given" in child.get("description", ""), many)
                continue
            for variant in child.get("anyOf", [child]):
                p = _parameter(path, key, variant)
                section.parameters.append(p)
                owner = re.match(r"\(([\w-]+)\) ", variant.get("description", ""))
                if owner:
                    section.owners[id(p)] = owner.group(1)
                if p.kind == "policy" and key in ("policy", "scheme", "model", "timing", "admission"):
                    section.policy = p
        for rule in node.get("allOf", []):
            banned = {k for k, v in rule["then"]["properties"].items() if v is False}
            condition = rule["if"]
            if "properties" in condition:
                for test in condition["properties"].values():
                    section.without[test["const"]] = banned
            elif "required" in condition:
                section.without[condition["required"][0]] = banned
            else:
                section.without[None] = banned

    @staticmethod
    def _section_in(node):
        """The section that a property is, if it is one; and whether it is a list of them."""
        for variant in node.get("anyOf", [node]):
            if "properties" in variant:
                many = any(v.get("type") == "array" and "properties" in v["items"]
                           for v in node.get("anyOf", []))
                return variant, many
            if variant.get("type") == "array" and "properties" in variant["items"]:
                return variant["items"], True
        return None, False


@functools.lru_cache
def of_program(program):
    """The schema of this program."""
    text = subprocess.run([program, "schema"], check=True, capture_output=True, text=True, timeout=60).stdout
    return Schema(json.loads(text))
