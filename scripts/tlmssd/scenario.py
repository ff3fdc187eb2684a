"""Scenarios as the program reads them: settings put over a file, and everything filled in."""

import json
from typing import Any


def setting_text(value: Any) -> str:
    """A value as `--set` takes it: YAML on one line."""
    if isinstance(value, str):
        return value
    if value is None:
        return "null"
    return json.dumps(value, ensure_ascii=False)
