"""The wheel's version for scikit-build-core: that of the program it carries."""

import subprocess
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[1] / "cmake/TlmssdVersion.cmake"


def dynamic_metadata(field: str, settings: dict[str, str]) -> str:
    """What `tlmssd --version` says of these sources."""
    if field != "version" or settings:
        raise RuntimeError("gives the version, without settings")
    told = subprocess.run(["cmake", "-P", SCRIPT], check=True, capture_output=True, text=True)
    return told.stdout.strip()
