"""Scenarios as the program reads them: settings put over a file, and everything filled in."""

import json
from collections.abc import Sequence
from typing import Any

import yaml

from tlmssd.errors import InputError


def setting_text(value: Any) -> str:
    """A value as `--set` takes it: YAML on one line."""
    if isinstance(value, str):
        return value
    if value is None:
        return "null"
    return json.dumps(value, ensure_ascii=False)


def settings_of(given: Sequence[str]) -> dict[str, str]:
    """What a command's --set options say; raises InputError for one without '='."""
    for one in given:
        if "=" not in one:
            raise InputError(f"--set {one}: write PATH=VALUE")
    return dict(one.split("=", 1) for one in given)


def flat_parameters(text: str) -> dict[str, str]:
    """The parameters of a resolved scenario (YAML), see flat()."""
    return flat(yaml.safe_load(text))


def flat(scenario: Any) -> dict[str, str]:
    """A resolved scenario as parameter paths and values: {'ssd.flash.channels': '4', ...}.

    Lists of plain values are one parameter; lists of sections are numbered ('load.0.bs').
    """
    found: dict[str, str] = {}

    def walk(path: str, node: Any) -> None:
        if isinstance(node, dict):
            for key, value in node.items():
                walk(f"{path}.{key}" if path else str(key), value)
        elif isinstance(node, list) and any(isinstance(part, dict) for part in node):
            for number, part in enumerate(node):
                walk(f"{path}.{number}", part)
        else:
            found[path] = setting_text(node)

    walk("", scenario)
    return found
