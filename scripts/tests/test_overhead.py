"""What the engine itself costs: processor time per run, and memory."""

import os
import resource
import subprocess
from dataclasses import dataclass

import psutil
import pytest

from tests.conftest import SMALL, explore
from tlmssd.campaign import Campaign
from tlmssd.engine import local_pool
from tlmssd.execute import Done, Job
from tlmssd.program import find_program
from tlmssd.runs import look_through
from tlmssd.store import Store

MANY = """base: tiny.yaml
axes:
  load.iodepth: {from: 1, to: 10, step: 1}
  ssd.cpu.clock: {from: 200 MHz, to: 2 GHz, steps: 10}
seeds: SEEDS
"""


def processor_seconds() -> float:
    """Of all processes that this one has waited for, and those that they have."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


@pytest.mark.slow
def test_a_run_costs_at_most_30_ms_beside_itself(folder):
    tiny = SMALL.split("precondition")[0] + "load: {rw: randrw, bs: 4k, number_ios: 1000}\n"
    (folder / "tiny.yaml").write_text(tiny)

    def cost(seeds: int) -> float:
        (folder / "many.yaml").write_text(MANY.replace("SEEDS", str(seeds)))
        begin = processor_seconds()
        more = ["--store", f"store{seeds}", "--out", f"out{seeds}"]
        done = explore("many.yaml", "--jobs", 2, "--no-page", *more)
        assert done.returncode == 0, done.stderr
        return processor_seconds() - begin

    few, many = cost(1), cost(5)
    begin = processor_seconds()
    for seed in range(1, 51):
        command = [find_program().path, "run", "tiny.yaml", "--quiet", "--out", "out"]
        subprocess.run([*command, f"--set=seed={seed}"], check=True)
    own = (processor_seconds() - begin) / 50
    overhead = (many - few) / 400 - own
    start = few - 100 * (own + overhead)
    print(f"{own * 1e3:.1f} ms each run, {overhead * 1e3:.1f} ms beside it, {start:.1f} s to start")
    assert overhead + start / 2000 < 0.030


@dataclass(frozen=True)
class Idle:
    """A workshop in which nothing is done."""

    store: str

    def run(self, _job: Job, _read: object, _snapshot: bool) -> Done:
        return Done("ok", figures={"iops": 1.0, "read.p99": 2.0})


@pytest.mark.slow
def test_memory_is_flat(folder):
    workshop = Idle(str(Store.create().folder))
    jobs = [Job(f"{i:032x}", None, os.urandom(2500)) for i in range(6000)]
    process = psutil.Process()
    used = {}
    with local_pool(2) as pool:
        for number, _ in enumerate(Campaign(workshop, pool, look_through).carry_out(jobs), 1):
            if number % 2000 == 0:
                used[number] = process.memory_info().rss / 2**20
    print(used)
    assert used[6000] - used[2000] < 25  # MiB: client and scheduler, which are this process
