"""Prints what the package needs, as pip reads it: requirements.py [EXTRA,EXTRA...]."""

import sys
import tomllib
from pathlib import Path

project = tomllib.loads((Path(__file__).parent / "pyproject.toml").read_text())["project"]
extras = [extra for argument in sys.argv[1:] for extra in argument.split(",") if extra]
for lines in (project["dependencies"], *map(project["optional-dependencies"].get, extras)):
    print(*lines, sep="\n")
