"""Where results are kept: a folder of runs, each known by the hash of what determines it."""

import os
from pathlib import Path


def store_folder(named: str | Path | None = None) -> Path:
    """`named`, or what TLMSSD_STORE names, or tlmssd/ in the user's cache folder."""
    if named:
        return Path(named).resolve()
    if os.environ.get("TLMSSD_STORE"):
        return Path(os.environ["TLMSSD_STORE"]).resolve()
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "tlmssd"
