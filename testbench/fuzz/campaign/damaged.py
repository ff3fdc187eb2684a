"""Part (c): damaged traces, job files, snapshots, data sheets and scenarios.

None may crash or hang the program, or be taken in part without a word: what is compressed or has checksums is refused
as soon as anything is wrong with it, or its content is what it was.
"""

import bz2
import gzip
import json
import lzma
import random
import shutil
import zlib
from dataclasses import dataclass
from pathlib import Path

import yaml

from campaign import bench, damage, schema, verdict
from campaign.draft import Draft
from campaign.findings import Finding, Result
from campaign.knowledge import traces
from campaign.program import to_yaml

NAME = "damaged"
COUNT = 150

_ROOT = Path(__file__).resolve().parents[3]
_DETECTORS = _ROOT / "testbench" / "fuzz" / "faults" / "detectors"
_FORMATS = ("msr", "mqsim", "spc", "alibaba", "tencent", "fio-iolog", "blkparse")
_PACKED = {"": lambda data: data, ".gz": lambda data: gzip.compress(data, mtime=0), ".xz": lzma.compress,
           ".bz2": bz2.compress}
_UNPACKED = {".gz": gzip.decompress, ".xz": lzma.decompress, ".bz2": bz2.decompress}
_SNAPSHOTS = ("collection", "dftl", "superblock", "cache", "pslc", "replicas", "log_structured", "errors")


@dataclass
class Material:
    """A sound file, the scenario that uses it, and how the program is called."""
    name: str
    data: bytes
    scenario: dict
    arguments: tuple = ("run", "s.yaml", "--quiet", "--out", "results")
    text: bool = True
    sealed: bool = False  # has a checksum: either it is refused or nothing has changed
    bounded: bool = True  # its content cannot ask for a run without end


def _small(**more):
    tree = yaml.safe_load(bench.SCENARIO)
    del tree["report"]
    return {**tree, **more}


def _trace(setup, chance):
    form = chance.choice(_FORMATS)
    drawn = Draft(schema.of_program(setup.program.path), chance.random())
    packed = chance.choice(list(_PACKED))
    name = f"damaged.trace{packed}"
    data = _PACKED[packed](traces.text_of(drawn, form).encode())
    load = {"trace": name, "addresses": "wrap"}
    if chance.random() < 0.5:
        load["format"] = form
    arguments = Material.arguments if chance.random() < 0.8 else ("trace-info", name)
    return Material(name, data, _small(load=[load]), arguments, packed == "", packed != "")


def _snapshot(setup, chance):
    """A snapshot of one of the drives that look for planted faults, with a load of one request behind it."""
    name = chance.choice(_SNAPSHOTS)
    tree = yaml.safe_load((_DETECTORS / f"{name}.yaml").read_text())
    tree["load"] = [{"rw": "randread", "bs": "4k", "number_ios": 50}]

    def make():
        folder = setup.folder(NAME, name)
        (folder / "s.yaml").write_text(to_yaml(tree))
        outcome = setup.program.run(folder, "run", "s.yaml", "--quiet", "--save-snapshot", "damaged.snapshot")
        if outcome.code != 0:
            raise RuntimeError(f"no snapshot of {name}: {outcome.err}")
        return (folder / "damaged.snapshot").read_bytes()

    data = bench.once(setup, f"snapshot of {name}", make)
    return Material("damaged.snapshot", data, tree, (*Material.arguments, "--from-snapshot", "damaged.snapshot"), False, True)


def _job(_, chance):
    jobs = sorted((_ROOT / "scenarios" / "examples" / "jobs").glob("*.fio"))
    data = chance.choice(jobs).read_bytes().replace(b"size=2g", b"size=4m").replace(b"runtime=1s", b"runtime=20ms")
    return Material("damaged.fio", data, _small(load=[{"fio": "damaged.fio"}]), bounded=False)


def _part(_, chance):
    nand = sorted((_ROOT / "scenarios" / "parts" / "nand").glob("*.yaml"))
    tree = _small()
    tree["ssd"]["flash"]["part"] = {"file": "damaged.yaml", "blocks_per_plane": 24, "pages_per_block": 48}
    tree["firmware"]["buffer"]["capacity"] = "4 MiB"
    return Material("damaged.yaml", chance.choice(nand).read_bytes(), tree, bounded=False)


def _sheet_of_errors(_, chance):
    sheets = sorted((_ROOT / "scenarios" / "parts" / "reliability").glob("*.yaml"))
    tree = _small()
    tree["ssd"]["flash"]["reliability"] = {"file": "damaged.yaml"}
    tree["firmware"]["ecc"] = {"policy": "fixed"}
    return Material("damaged.yaml", chance.choice(sheets).read_bytes(), tree, bounded=False)


def _scenario(_, chance):
    found = sorted([*_DETECTORS.glob("*.yaml"), *(_ROOT / "scenarios" / "examples").glob("*.yaml")])
    return Material("damaged.yaml", chance.choice(found).read_bytes(), {}, ("check", "damaged.yaml"))


_KINDS = (_trace, _trace, _trace, _snapshot, _snapshot, _job, _part, _sheet_of_errors, _scenario)


def run(setup, number):
    """One case: one file, damaged."""
    chance = random.Random(f"{setup.seed}/{NAME}/{number}")
    material = chance.choice(_KINDS)(setup, chance)
    what, data = damage.damaged(material.data, chance, material.text)
    folder = setup.folder(NAME, number)
    (folder / "s.yaml").write_text(to_yaml(material.scenario))
    (folder / material.name).write_bytes(data)
    outcome = setup.program.run(folder, *material.arguments)
    findings = []

    def found(rule, detail):
        findings.append(Finding(NAME, number, rule, f"{material.name} ({what}): {detail}", material.scenario, None,
                                {material.name: data}))

    if outcome.code is not None or material.bounded:
        keys = {key for _, key in schema.of_program(setup.program.path).parameters()} | {"damaged"}
        for rule, detail in verdict.promised(outcome, keys):
            found(rule, detail)
    if outcome.code == 0 and material.sealed and not _as_it_was(setup, material, data, folder, outcome):
        found("damaged data taken for good", "exit code 0, and other results")
    if outcome.code == 2 and (folder / "results").exists():
        found("half-written results", "the output folder exists after a refusal")
    shutil.rmtree(folder, ignore_errors=True)
    return Result(number, {0: "taken", 2: "refused", None: "long"}.get(outcome.code, "failed"), outcome.seconds, 1, findings)


def _as_it_was(setup, material, data, folder, outcome):
    """Whether what was made of the damaged file is what the sound one gives, or what others read from it as well."""
    unpack = _UNPACKED.get(Path(material.name).suffix)
    if unpack is not None and _unpacks(unpack, data):
        return True
    after = _result(folder, outcome)
    (folder / material.name).write_bytes(material.data)
    shutil.rmtree(folder / "results", ignore_errors=True)
    return after == _result(folder, setup.program.run(folder, *material.arguments))


def _unpacks(unpack, data):
    try:
        unpack(data)
    except (OSError, EOFError, ValueError, lzma.LZMAError, zlib.error):
        return False
    return True


def _result(folder, outcome):
    report = folder / "results" / "report.json"
    return json.loads(report.read_text())["results"] if report.exists() else outcome.out
