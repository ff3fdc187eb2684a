"""What a calibration leaves: the drive as a scenario, its part, every fitted value marked.

drive.yaml      the base scenario with the fitted values; runs the measured jobs
part.yaml       its flash part, where part parameters were fitted
residuals.csv   job, figure, measured, emulated, difference, tolerance, sigma, held_out
profiles.csv    parameter, value, rise of the loss over its least (1 is the 95 % bound)
calibration.json  values, intervals, loss and runs, for programs
calibration.html  the page
"""

import csv
import io
import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from tlmssd.calibrate.parameters import Parameter
from tlmssd.output import write_text
from tlmssd.resolve import FILE_KEYS

if TYPE_CHECKING:
    from tlmssd.calibrate import Calibration

PART = "ssd.flash.part"


class Marked(str):
    """A value with a comment behind it."""

    comment: str

    def __new__(cls, value: str, comment: str) -> "Marked":
        """The value as the scenario writes it, and what is said of it."""
        made = super().__new__(cls, value)
        made.comment = comment
        return made


def write_drive(found: "Calibration", folder: Path) -> None:
    """Writes drive.yaml, and part.yaml where the part was fitted."""
    marked = marked_settings(found)
    tree = yaml.safe_load(found.study.base.read_text(encoding="utf-8"))
    for path, value in found.study.settings:
        put(tree, path, yaml.safe_load(value))
    part = {
        path.removeprefix(PART + "."): value
        for path, value in marked.items()
        if path.startswith(PART + ".")
    }
    if part:
        whole = {k: v for k, v in found.resolved["ssd"]["flash"]["part"].items() if v is not None}
        whole["name"] = f"{whole.get('name', 'part')}-calibrated"
        for path, value in part.items():
            put(whole, path, value)
        write_text(folder / "part.yaml", _head(found, "Flash part") + dump(whole))
        put(tree, PART, "part.yaml")
    for path, value in marked.items():
        if not path.startswith(PART + "."):
            put(tree, path, value)
    tree["title"] = f"{tree.get('title', found.study.title)}, calibrated"
    for load in _loads(tree):
        _bring_along(load, found.study.base.parent, folder)
    write_text(folder / "drive.yaml", _head(found, "Drive") + dump(tree))


def _loads(tree: Any) -> list[dict]:
    loads = tree.get("load") if isinstance(tree, dict) else None
    return [load for load in (loads if isinstance(loads, list) else [loads]) if load]


def names_along(base: Path, folder: Path) -> list[str]:
    """Of the job files that come into the folder with a base; none of one that is no scenario."""
    try:
        loads = _loads(yaml.safe_load(base.read_text(encoding="utf-8")))
    except (OSError, ValueError, yaml.YAMLError):
        return []
    files = [
        base.parent / str(load["fio"])
        for load in loads
        if isinstance(load, dict) and load.get("fio")
    ]
    return [path.name for path in files if path.resolve() != (folder / path.name).resolve()]


def _bring_along(load: dict, base: Path, folder: Path) -> None:
    """Job files come into the folder, so that it is whole; other files are named absolutely."""
    for key in FILE_KEYS:
        if load.get(key):
            path = (base / load[key]).resolve()
            if key == "fio" and path.is_file():
                if path != (folder / path.name).resolve():
                    shutil.copyfile(path, folder / path.name)
                load[key] = path.name
            elif path.exists():
                load[key] = str(path)


def marked_settings(found: "Calibration") -> dict[str, Marked]:
    """The best value of every fitted path, with what is known of it as a comment."""
    marked = {}
    for profile in found.profiles:
        comment = f"calibrated: {profile.sentence()}"
        if not profile.determined:
            comment = f"calibrated, but {profile.sentence()}"
        for path, value in profile.parameter.settings(profile.place, found.base):
            marked[path] = Marked(_tidy(value, profile.parameter), comment)
    return marked


def _tidy(value: str, parameter: Parameter) -> str:
    return value if not parameter.relative else value.replace("  ", " ")


def _head(found: "Calibration", what: str) -> str:
    files = ", ".join(path.name for path in found.study.measured.files)
    return (
        f"# {what} calibrated by `tlmssd calibrate {found.study.file.name}` on {files}.\n"
        "# Values marked calibrated were fitted; all others are as given, and may be wrong.\n"
    )


def put(tree: dict, path: str, value: Any) -> None:
    """Sets a member by its path; a text where a section is to be becomes its `file`."""
    words = path.split(".")
    node: Any = tree
    for word, following in zip(words, words[1:], strict=False):
        if isinstance(node, list):
            node = node[int(word)]
            continue
        below = node.get(word)
        if isinstance(below, str):
            below = node[word] = {"file": below}
        elif isinstance(below, dict) and following.isdigit():
            below = node[word] = [below]
        elif below is None:
            below = node[word] = {}
        node = below
    node[int(words[-1]) if isinstance(node, list) else words[-1]] = value


def dump(tree: dict) -> str:
    """YAML in block style; values that are Marked have their comments behind them."""
    notes: list[Marked] = []

    def plain(node: Any) -> Any:
        if isinstance(node, Marked):
            notes.append(node)
            return f"@@{len(notes) - 1}@@"
        if isinstance(node, Mapping):
            return {key: plain(value) for key, value in node.items()}
        return [plain(part) for part in node] if isinstance(node, list) else node

    text = yaml.safe_dump(plain(tree), sort_keys=False, width=1000, allow_unicode=True)
    for number, note in enumerate(notes):
        text = text.replace(f"'@@{number}@@'", f"@@{number}@@")
        text = text.replace(f"@@{number}@@", f"{str(note)}  # {note.comment}")
    return text


def write_tables(found: "Calibration", folder: Path) -> None:
    """Writes residuals.csv, profiles.csv and calibration.json."""
    columns = ["job", "figure", "measured", "emulated", "difference", "tolerance", "sigma"]
    columns.append("held_out")
    rows = ([getattr(r, column) for column in columns] for r in found.residuals)
    _write_csv(folder / "residuals.csv", columns, rows)
    points = ((p.parameter.name, *point) for p in found.profiles for point in p.points)
    _write_csv(folder / "profiles.csv", ["parameter", "value", "rise"], points)
    held_out = found.study.held_out
    content = {
        "title": found.study.title,
        "runs": found.runs,
        "loss_per_figure": found.loss,
        "caution": found.caution or None,
        "fitted_jobs": [job for job in found.study.measured.jobs if job not in held_out],
        "held_out_jobs": list(held_out),
        "parameters": {p.parameter.name: _parameter(p) for p in found.profiles},
    }
    text = json.dumps(content, indent=1, ensure_ascii=False)
    write_text(folder / "calibration.json", text + "\n")


def _parameter(profile: Any) -> dict:
    return {
        "value": profile.value,
        "unit": profile.parameter.unit,
        "low": profile.low,
        "high": profile.high,
        "determined": profile.determined,
        "says": profile.sentence(),
    }


def _write_csv(path: Path, columns: list[str], rows: Any) -> None:
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow(columns)
    writer.writerows(rows)
    write_text(path, text.getvalue())
