"""YAML whose every part knows its line, so that complaints name the place."""

import itertools
from collections.abc import Iterator
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NoReturn

import yaml

from tlmssd.errors import InputError

LONGEST = 1 << 20
"""Bytes of a study at most."""


class Entry:
    """A part of a YAML file: its value, and where it stands."""

    def __init__(self, node: yaml.Node, file: str, path: str = ""):
        self.node, self.file, self.path = node, file, path
        self.line = node.start_mark.line + 1

    def fail(self, message: str) -> NoReturn:
        """Raises InputError 'file:line: path: message'."""
        where = f"{self.path}: " if self.path else ""
        raise InputError(f"{self.file}:{self.line}: {where}{message}")

    @property
    def is_map(self) -> bool:
        """Whether it has keys."""
        return isinstance(self.node, yaml.MappingNode)

    @property
    def is_list(self) -> bool:
        """Whether it has items."""
        return isinstance(self.node, yaml.SequenceNode)

    @property
    def value(self) -> Any:
        """The value as plain Python."""
        constructor = yaml.constructor.SafeConstructor()
        try:
            return constructor.construct_document(self.node)
        except yaml.YAMLError as error:
            self.fail(f"cannot be understood: {str(error).splitlines()[0]}")

    @property
    def text(self) -> str:
        """A scalar as it was written."""
        if not isinstance(self.node, yaml.ScalarNode):
            self.fail("must be a single value")
        return self.node.value

    def items(self) -> Iterator[tuple[str, "Entry"]]:
        """Keys and values of a map, in order; a key given twice is refused."""
        if not self.is_map:
            self.fail("must be a map (key: value)")
        seen = set()
        for key, value in self.node.value:
            if not isinstance(key, yaml.ScalarNode):
                self.fail("keys must be single words")
            path = f"{self.path}.{key.value}" if self.path else key.value
            entry = Entry(value, self.file, path)
            entry.line = key.start_mark.line + 1
            if key.value in seen:
                entry.fail("given twice")
            seen.add(key.value)
            yield key.value, entry

    def elements(self) -> list["Entry"]:
        """Items of a list; a single value is a list of one."""
        if not self.is_list:
            return [self]
        return [Entry(node, self.file, self.path) for node in self.node.value]

    def known(self, *keys: str) -> dict[str, "Entry"]:
        """A map in which only `keys` may stand."""
        found = dict(self.items())
        for key, entry in found.items():
            if key not in keys:
                entry.fail(f"unknown key{nearest(key, keys)}")
        return found

    def choice(self, *valid: str) -> str:
        """One of `valid`."""
        if self.text not in valid:
            self.fail(f"'{self.text}' is not known{nearest(self.text, valid)}")
        return self.text

    def whole(self, least: int, most: int = 1 << 31) -> int:
        """A whole number from `least` to `most`."""
        value = self.value
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            self.fail(f"must be a whole number from {least} to {most}")
        return value


def nearest(word: str, valid: tuple[str, ...] | list[str]) -> str:
    """What to add to a complaint about `word`: the nearest valid one, or all of them."""
    near = get_close_matches(word, valid, 1, 0.5)
    return f"; did you mean '{near[0]}'?" if near else f"; valid: {', '.join(valid)}"


def read_document(path: Path) -> Entry:
    """The document in a file; raises InputError with its line when it is not YAML."""
    try:
        text = path.read_bytes()[: LONGEST + 1].decode()
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: is not text (UTF-8)") from error
    if len(text) > LONGEST:
        raise InputError(f"{path}: is longer than 1 MiB")
    try:
        node = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        line = (error.problem_mark or error.context_mark).line + 1
        raise InputError(f"{path}:{line}: is not YAML: {error.problem}") from error
    except yaml.YAMLError as error:
        raise InputError(f"{path}: is not YAML: {str(error).splitlines()[0]}") from error
    except RecursionError as error:
        raise InputError(f"{path}: is nested too deep") from error
    if node is None:
        raise InputError(f"{path}: is empty")
    _refuse_circles(node, path, set(), set())
    return Entry(node, str(path))


def _refuse_circles(node: yaml.Node, path: Path, above: set[int], good: set[int]) -> None:
    """Raises InputError for a part with an alias to one that it is in, of those `above`."""
    if id(node) in above:
        line = node.start_mark.line + 1
        raise InputError(f"{path}:{line}: is part of itself by an alias; write its values out")
    if id(node) in good or isinstance(node, yaml.ScalarNode):
        return
    is_map = isinstance(node, yaml.MappingNode)
    for part in itertools.chain.from_iterable(node.value) if is_map else node.value:
        _refuse_circles(part, path, above | {id(node)}, good)
    good.add(id(node))
