"""Axes that set the same: the last would win, and rows would say of the others what is not so."""

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import NoReturn

import yaml

from tlmssd.study.axes import Axis
from tlmssd.study.document import Entry


def refuse_overlaps(axes: Sequence[Axis], seeds: Entry | None, fixed: Entry | None = None) -> None:
    """Raises InputError where two axes, or two settings of one choice, set the same parameter.

    One may set it with the section around it. `seeds` are set for every run, too; `fixed` is what
    the study sets for all points, of which axes may change a part, or all in some points.
    """
    for axis in axes:
        for choice in axis.choices:
            for (first, _), (second, _) in itertools.combinations(choice.settings, 2):
                if _is_within(_words(first), _words(second)):
                    axis.entry.fail(
                        f"'{choice.label}' sets {first}, and then {second} over it; leave one of "
                        "them out"
                    )
    for first, second in itertools.combinations(axes, 2):
        for one, other in itertools.product(_paths(first), _paths(second)):
            if _is_within(_words(one), _words(other)) or _is_within(_words(other), _words(one)):
                _refuse(first, second, one, other)
    if seeds:
        for axis in axes:
            if "seed" in _paths(axis):
                axis.entry.fail(f"sets seed, as seeds in line {seeds.line} do; leave seeds out")
    for path, entry in fixed.items() if fixed else ():
        if seeds and path == "seed":
            entry.fail(f"has no effect beside seeds in line {seeds.line}; leave one of them out")
        for axis in axes:
            if over := _over(path, axis):
                entry.fail(
                    f"has no effect: {axis.entry.path} in line {axis.entry.line} sets {over} in "
                    "every point; leave one of them out"
                )


def _paths(axis: Axis) -> list[str]:
    return list(dict.fromkeys(path for path, _ in _settings(axis)))


def _settings(axis: Axis) -> Iterator[tuple[str, str]]:
    for choice in axis.ends():
        yield from choice.settings


def _over(path: str, axis: Axis) -> str | None:
    """What every choice of an axis sets in place of `path`: the same, or a section around it."""
    words = _words(path)
    over = [
        next((other for other, _ in choice.settings if _is_within(words, _words(other))), None)
        for choice in axis.ends()
    ]
    return over[0] if None not in over else None


def _words(path: str) -> list[str]:
    """The path with numbers of list items in one way of writing."""
    return [str(int(word)) if word.isdecimal() else word for word in path.split(".")]


def _is_within(inner: Sequence[str], outer: Sequence[str]) -> bool:
    """Whether `outer` is `inner` or a section that it is in.

    A list of one item goes without its number: load.iodepth is load.0.iodepth.
    """
    if not outer:
        return True
    if not inner:
        return list(outer) == ["0"]
    if inner[0] == outer[0]:
        return _is_within(inner[1:], outer[1:])
    if inner[0] == "0":
        return _is_within(inner[1:], outer)
    return outer[0] == "0" and _is_within(inner, outer[1:])


def _refuse(first: Axis, second: Axis, one: str, other: str) -> NoReturn:
    """`one` is set by `first`, `other` by `second`."""
    where = f"{first.entry.path} in line {first.entry.line}"
    narrow, wide = (one, other) if _is_within(_words(one), _words(other)) else (other, one)
    if _is_within(_words(wide), _words(narrow)):
        second.entry.fail(f"sets {other}, as {where} does; leave it out of one of them")
    values = dict([*_settings(first), *_settings(second)])
    both = {path: _value(values[path]) for path in (wide, narrow)}
    example = yaml.safe_dump(
        {"a": both}, sort_keys=False, default_flow_style=True, width=math.inf, allow_unicode=True
    )
    second.entry.fail(
        f"sets {other}, and {where} sets {one}, of which one is part of the other; vary them "
        f"together in an axis with a name of its own, such as both: {example.strip()}"
    )


def _value(text: str) -> object:
    try:
        return yaml.safe_load(text)
    except yaml.YAMLError:
        return text
