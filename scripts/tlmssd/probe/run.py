"""The probe's jobs on a scenario: the drive is the emulator's, what comes out is fio's json."""

import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from tlmssd import units
from tlmssd.campaign import Campaign
from tlmssd.engine import Pool
from tlmssd.errors import RunFailed
from tlmssd.execute import Job, Limits
from tlmssd.probe.plan import DESTRUCTIVE, STAGES, Target, job_file, jobs_of
from tlmssd.program import Program
from tlmssd.runs import Runner, RunRequest, look_through

STAGE_SECONDS = 3600
"""Of processor time that a stage may take before it is given up."""


def run_on(scenario: Path, folder: Path, pool: Pool, store: Path | None = None) -> list[Path]:
    """Runs every stage on the drive of `scenario` and puts STAGE.json into `folder`.

    The scenario's own loads are left out, and what it overwrites: a drive is best probed when it
    has been erased and filled in order, because data that were written anew lie anywhere. So one in
    steady state is probed as a full one. `spare` begins with a full drive. Raises InputError for a
    bad scenario, RunFailed for a failed run.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with Runner(store, Limits(STAGE_SECONDS)) as runner:
        resolved = runner.resolver(scenario).resolve(())
        target = target_of(resolved, capacity_of(runner.program, scenario))
        jobs, stages = [], []
        for stage in STAGES:
            text = job_file(stage, target, _fitting(stage, target))
            path = folder / f"{stage}.fio"
            path.write_text(text, encoding="utf-8")
            settings = [("load", f'[{{"fio": "{path.resolve()}"}}]')]
            filled = 1.0 if stage == DESTRUCTIVE else target.filled
            settings.append(("precondition", _in_order(filled, resolved)))
            jobs.append(runner.job(RunRequest(scenario.resolve(), tuple(settings))))
            stages.append(stage)
        return _carry_out(runner, pool, jobs, stages, folder)


def _in_order(filled: float, resolved: Mapping[str, Any]) -> str:
    if filled == 0:
        return "[]"
    idle = any(step.get("idle") for step in resolved.get("precondition", []))
    return json.dumps([{"fill": f"{100 * filled:g} %", "order": "sequential", "idle": idle}])


def _carry_out(
    runner: Runner, pool: Pool, jobs: list[Job], stages: list[str], folder: Path
) -> list[Path]:
    written: dict[str, Path] = {}
    for number, done in Campaign(runner.workshop, pool, look_through).carry_out(jobs):
        stage = stages[number]
        if done.status != "ok":
            raise RunFailed(f"stage {stage}: {done.reason}")
        written[stage] = folder / f"{stage}.json"
        shutil.copyfile(runner.store.run(jobs[number].key) / "fio.json", written[stage])
    return [written[stage] for stage in stages]


def capacity_of(program: Program, scenario: Path) -> int:
    """Bytes that the host may use of the drive of a scenario; raises InputError for a bad one."""
    state = program.ask("inspect", str(scenario), "--set", "precondition=[]", "--json", "-")
    return int(json.loads(state)["user_bytes"])


def target_of(resolved: Mapping[str, Any], capacity: int) -> Target:
    """What a resolved scenario, whose drive has that `capacity`, offers to be probed."""
    sector = int(units.parse(str(resolved["ssd"]["host"]["lba_size"])))
    filled = _written(resolved.get("precondition", []))
    target = Target.of("tlmssd-probe", capacity, filled, sector)
    start = int(capacity * filled) // (1 << 20) << 20 if filled < 0.6 else 0
    return replace(target, start=start)


def _written(steps: Sequence[Mapping[str, Any]]) -> float:
    """The share of the drive that holds data when it has been preconditioned by `steps`."""
    found = [0.0]
    for step in steps:
        fill, overwrite, region = (
            units.parse(str(step[key])) for key in ("fill", "overwrite", "region")
        )
        found += [fill, region * min(overwrite, 1.0)]
        if step["state"] == "steady":
            found.append(1.0)
        if step["until"] == "steady":
            found.append(region)
    return max(found)


def _fitting(stage: str, target: Target) -> list:
    """Here a drive is filled untimed, before the clock starts."""
    return [job for job in jobs_of(stage, target) if job.name != "fill"]


__all__ = ["capacity_of", "run_on", "target_of"]
