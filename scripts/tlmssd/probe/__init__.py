"""tlmssd probe: fio jobs whose results show what is inside a drive, and their analysis."""

import argparse
import contextlib
import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from tlmssd import units
from tlmssd.engine import positive
from tlmssd.errors import InputError
from tlmssd.output import OwnFiles, add_force, check_folder, write_text
from tlmssd.probe.analyse import analyse, findings_of
from tlmssd.probe.findings import Finding
from tlmssd.probe.plan import ENGINES, STAGES, Target, plan_texts
from tlmssd.probe.results import read_results

OK = 0
MARK = ".tlmssd-probe"
FOUND = ("drive.yaml", "study.yaml", "probe-findings.json", "probe.html")
"""What an analysis writes beside the results."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What `tlmssd probe` understands."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="plan|run|analyse")
    plan = actions.add_parser("plan", help="write the fio job files for a drive")
    folder = "folder (default: probe)"
    plan.add_argument("-o", "--out", type=Path, default=Path("probe"), help=folder)
    plan.add_argument(
        "--file",
        default="tlmssd-probe.dat",
        help="file that is read and written (default: tlmssd-probe.dat, beside the job files); "
        "nothing else is touched",
    )
    plan.add_argument(
        "--capacity", required=True, metavar="SIZE", help="of the whole drive, such as '1 TB'"
    )
    plan.add_argument(
        "--filled", default="0 %", metavar="SHARE", help="of the drive, before (default: 0 %%)"
    )
    plan.add_argument("--sector", default="4 KiB", help="smallest request (default: 4 KiB)")
    plan.add_argument(
        "--engine",
        default="libaio",
        help=f"fio's ioengine (default: libaio), one of {', '.join(ENGINES)}",
    )
    plan.add_argument(
        "--destroy-all-data-on",
        metavar="DEVICE",
        help="write spare.fio too, which overwrites the whole device: the spare flash shows no "
        "other way",
    )
    add_force(plan)
    run = actions.add_parser("run", help="run the jobs on the drive of a scenario")
    run.add_argument("scenario", type=Path, help="scenario (YAML); its own loads are left out")
    run.add_argument("-o", "--out", type=Path, help="folder (default: out/SCENARIO-probe)")
    run.add_argument("--jobs", type=positive, metavar="N", help="runs at a time")
    run.add_argument("--store", type=Path, help="folder of known runs (default: TLMSSD_STORE)")
    add_force(run)
    analysis = actions.add_parser("analyse", help="say what fio's results show")
    analysis.add_argument("results", type=Path, help="folder with reads.json, writes.json, ...")
    analysis.add_argument("--no-page", action="store_true", help="write no probe.html")
    add_force(analysis)


def main(arguments: argparse.Namespace) -> int:
    """Plans, runs or analyses; 0."""
    return {"plan": _plan, "run": _run, "analyse": _analyse}[arguments.action](arguments)


def _plan(arguments: argparse.Namespace) -> int:
    capacity = int(_size(arguments.capacity, "--capacity"))
    filled = _share(arguments.filled, "--filled")
    sector = int(_size(arguments.sector, "--sector"))
    if sector not in (512, 1024, 2048, 4096):
        raise InputError("--sector: must be 512 B, 1 KiB, 2 KiB or 4 KiB")
    if arguments.engine not in ENGINES:
        raise InputError(f"--engine: '{arguments.engine}' is none of {', '.join(ENGINES)}")
    target = replace(Target.of(arguments.file, capacity, filled, sector), engine=arguments.engine)
    _refuse_device(arguments.file)
    texts = plan_texts(target, arguments.destroy_all_data_on)
    with _own(arguments.out, list(texts), arguments.force):
        for name, text in texts.items():
            path = arguments.out / name
            write_text(path, text)
            print(f"fio --output-format=json+ --output={path.with_suffix('.json')} {path}")
    print(f"# then: tlmssd probe analyse {arguments.out}")
    return OK


def _refuse_device(name: str) -> None:
    """A device has no file system that would keep the jobs to one file of it; one that is not there
    now may be where fio runs."""
    path = Path(name).resolve()
    is_device = path.is_relative_to("/dev") and not path.is_relative_to("/dev/shm")
    if is_device or (path.exists() and not path.is_file()):
        raise InputError(
            f"--file: {name} is no file, but a folder or a device, whose data would be lost; name "
            "a file on the drive"
        )


def _run(arguments: argparse.Namespace) -> int:
    from tlmssd.engine import thread_pool
    from tlmssd.probe.run import run_on

    if not arguments.scenario.is_file():
        raise InputError(f"{arguments.scenario}: there is no such file")
    out = arguments.out or Path("out") / f"{arguments.scenario.stem}-probe"
    names = [f"{stage}.{end}" for stage in STAGES for end in ("fio", "json")]
    with _own(out, names, arguments.force), thread_pool(arguments.jobs) as pool:
        run_on(arguments.scenario, out, pool, arguments.store)
    print(f"Results in {out}; tlmssd probe analyse {out}")
    return OK


def _analyse(arguments: argparse.Namespace) -> int:
    from tlmssd.probe.scenario import write_scenario
    from tlmssd.probe.terminal import text_of

    results = read_results(arguments.results)
    names = FOUND[:-1] if arguments.no_page else FOUND
    if "calibrate" not in results.stages:
        names = [name for name in names if name != "study.yaml"]
    findings = findings_of(results)
    with _own(arguments.results, names, arguments.force):
        written = write_scenario(findings, results, arguments.results)
        path = arguments.results / "probe-findings.json"
        write_text(path, json.dumps(_as_json(findings), indent=1, ensure_ascii=False) + "\n")
        written.append(path)
        if not arguments.no_page:
            from tlmssd.probe.page import page_of

            page = arguments.results / "probe.html"
            write_text(page, page_of(findings, f"Probe: {arguments.results.name}"))
            written.append(page)
    sys.stdout.write(text_of(findings))
    print(f"\nWritten: {', '.join(map(str, written))}")
    return OK


def _own(
    folder: Path, names: Sequence[str], force: bool
) -> contextlib.AbstractContextManager[None]:
    """In which files of these names are written; refuses to replace the user's."""
    check_folder(folder)
    files = OwnFiles(folder, MARK, "probe")
    files.check(names, force)
    return files.writing(names)


def _as_json(findings: list[Finding]) -> list[dict]:
    keys = ("key", "what", "value", "unit", "confidence", "evidence", "low", "high")
    return [{key: getattr(finding, key) for key in keys} for finding in findings]


def _size(text: str, option: str) -> float:
    value, unit = units.in_base(*(units.split(text) or (0.0, "")))
    if unit != "B" or value <= 0:
        raise InputError(f"{option}: '{text}' is not a size; write for instance '1 TB'")
    return value


def _share(text: str, option: str) -> float:
    found = units.split(text)
    if not found or found[1] != "%" or not 0 <= found[0] <= 100:
        raise InputError(f"{option}: '{text}' is not a share; write for instance '25 %'")
    return found[0] / 100


__all__ = ["Finding", "add_arguments", "analyse", "main"]
