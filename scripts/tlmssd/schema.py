"""Every parameter of a scenario, with its type, from `tlmssd schema`."""

import functools
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from tlmssd.program import Program, find_program

if TYPE_CHECKING:
    import pandas as pd

JSON_TYPES = ("integer", "number", "boolean")
RANGE = "range: "


@dataclass(frozen=True)
class Parameter:
    """One parameter by its path, such as 'ssd.flash.channels'; the rest as in parameters()."""

    path: str
    type: str
    default: object
    range: str
    choices: tuple[str, ...]
    meaning: str


def parameters() -> "pd.DataFrame":
    """One row per parameter: path, type, default, range, choices, meaning.

    `type`: integer, number, boolean, text, choice, or a quantity (share, size, time, ...), also as
    'list of ...', or several of these with ' or ' between them. `default`: as scenarios write it,
    None where there is none. `range`: with units, '' where there is none.
    """
    import pandas as pd

    return pd.DataFrame([asdict(one) for one in known(find_program()).values()])


def type_of(path: str) -> str | None:
    """Type of a parameter, by its path with or without numbers of list items; None: unknown."""
    name = ".".join(word for word in path.split(".") if not word.isdigit())
    found = known(find_program()).get(name)
    return found.type if found else None


@functools.cache
def sections(program: Program) -> frozenset[str]:
    """Names at the top of a scenario: ssd, firmware, load, ..."""
    return frozenset(program.schema()["properties"])


@functools.cache
def known(program: Program) -> dict[str, Parameter]:
    """The parameters of a program by their paths, in the order of the reference."""
    found: dict[str, Parameter] = {}
    for path, node in _leaves("", program.schema()):
        found.setdefault(path, _parameter(path, node))  # variants of a model share names
    return found


def _leaves(path: str, node: Mapping) -> Iterator[tuple[str, Mapping]]:
    """Parameters of a part of the schema: what is neither a section nor a list of sections."""
    variants = [part for part in node.get("anyOf", ()) if _is_section(part)] or [node]
    sections = [part for part in variants if _is_section(part)]
    for section in sections:
        section = section.get("items", section)
        for name, part in section["properties"].items():
            yield from _leaves(f"{path}.{name}" if path else name, part)
    if not sections:
        yield path, node


def _is_section(node: Mapping) -> bool:
    return "properties" in node or "properties" in node.get("items", {})


def _parameter(path: str, node: Mapping) -> Parameter:
    variants = (part.get("description") for part in node.get("anyOf", ()))
    described = node.get("description") or next(filter(None, variants), "")
    lines = described.split("\n")
    bounds = next((line.removeprefix(RANGE) for line in lines if line.startswith(RANGE)), "")
    choices = tuple(node.get("enum", ())) or tuple(
        part["const"] for part in node.get("oneOf", ()) if "const" in part
    )
    return Parameter(path, _type(node, lines), node.get("default"), bounds, choices, lines[0])


def _type(node: Mapping, lines: list[str]) -> str:
    """Of quantities it stands in the description: 'share (%, x)', 'list, each a time (ps, ...)'."""
    if "anyOf" in node:
        parts = ((part, part.get("description", "").split("\n")) for part in node["anyOf"])
        return " or ".join(dict.fromkeys(_type(part, told) for part, told in parts))
    if node.get("type") == "array":
        inner = dict(node.get("items", {}))
        return f"list of {_type(inner, lines)}"
    if "enum" in node or any("const" in part for part in node.get("oneOf", ())):
        return "choice"
    if "pattern" in node:
        told = next((line for line in lines[1:] if " (" in line), "quantity (")
        return told.split(" (")[0].removeprefix("list, each a ").removeprefix("list, each an ")
    types = node.get("type")
    first = types[0] if isinstance(types, list) else types  # a flag may also be 1 or 0
    return first if first in JSON_TYPES else "text"
