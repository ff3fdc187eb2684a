"""Part (d): disks that are full, for results, snapshots and standard output."""

import os
import random
import shutil
import subprocess
from pathlib import Path

from campaign import bench, processes, verdict
from campaign.findings import Result

NAME = "disks"
COUNT = 40
_FULL = 7  # the exit code for it

# Commands that print to standard output; all must tell when that is full.
_PRINTING = (["run", "s.yaml"], ["check", "s.yaml"], ["figures", "s.yaml"], ["conform", "victim", "greedy", "--quick"],
             ["schema"], ["list"], ["list", "gc"], ["reference"], ["profile"],
             ["profile", "hm_0", "--scale", "0.001"], ["profile", "--json"], ["--help"], ["--version"], ["run", "--help"])


def run(setup, number):
    """One case."""
    chance = random.Random(f"{setup.seed}/{NAME}/{number}")
    how = chance.choice([_limited_files, _limited_files, _small_disk, _full_output])
    return how(setup, number, chance)


def _limited_files(setup, number, chance):
    """No file may be longer than some bytes: a full disk as every user can make one."""
    trial = bench.Bench(setup, NAME, number)
    longest = max((path.stat().st_size for path in trial.folder.rglob("*") if path.is_file()), default=4096)
    most = round((longest * 1.1) ** chance.random())
    return _judged(setup, number, trial, f"files limited to {most} B", file_size=most)


def _small_disk(setup, number, chance):
    """A file system of its own that is full soon; where none can be mounted, a limit on files."""
    pages = chance.randint(1, 400)
    if not _can_mount():
        return _limited_files(setup, number, chance)
    trial = bench.Bench(setup, NAME, number)
    disk = trial.folder / "disk"
    disk.mkdir()
    # Mounted in a name space of its own: gone with the process. What lies there is copied out to be looked at.
    script = (f"mount -t tmpfs -o size={4 * pages}k,nr_inodes={chance.randint(3, 40)} tmpfs disk && "
              '"$0" "$@"; code=$?; ls -A disk > seen; cp -r disk/. copied 2>/dev/null; exit $code')
    command = ["unshare", "--mount", "sh", "-c", script, setup.program.path, *bench.arguments(2, "disk")]
    (trial.folder / "copied").mkdir()
    done = subprocess.run(command, cwd=trial.folder, capture_output=True, text=True, timeout=60, check=False)
    seen = set((trial.folder / "seen").read_text().split())
    what = f"a disk of {4 * pages} KiB"
    if done.returncode not in (0, _FULL):
        trial.found(f"exit code {done.returncode}", f"after {what}: {done.stderr.strip()[:300]}")
    if done.returncode == _FULL and not done.stderr.startswith("tlmssd: "):
        trial.found("unclear refusal", f"after {what}: {done.stderr.strip()[:300]}")
    # The snapshot is whole before the run begins, and stays when its results do not fit.
    wanted = {"drive.snapshot", "results"} if done.returncode == 0 else set()
    if (done.returncode == 0 and seen != wanted) or (done.returncode != 0 and seen - {"drive.snapshot"}):
        trial.found("leftovers", f"after {what} (exit code {done.returncode}): {', '.join(sorted(seen))}")
    trial.close()
    return Result(number, "ran" if done.returncode == 0 else "refused", 0, 1, trial.findings)


def _can_mount():
    if shutil.which("unshare") is None or os.geteuid() != 0:
        return False
    probe = ["unshare", "--mount", "sh", "-c", "mount -t tmpfs tmpfs /mnt"]
    return subprocess.run(probe, capture_output=True, check=False).returncode == 0


def _full_output(setup, number, chance):
    """Standard output on a full device."""
    trial = bench.Bench(setup, NAME, number)
    arguments = chance.choice(_PRINTING)
    with Path("/dev/full").open("wb") as full:
        outcome = processes.run(setup, trial.folder, arguments, output=full)
    if outcome.code != 2:
        trial.found("lost output taken for success", f"{' '.join(arguments)} to a full device: exit code {outcome.code}")
    elif not outcome.err.startswith("tlmssd: "):
        trial.found("unclear refusal", f"{' '.join(arguments)} to a full device: {verdict.last_line(outcome)}")
    trial.close()
    return Result(number, "refused" if outcome.code == 2 else "ran", outcome.seconds, 1, trial.findings)


def _judged(setup, number, trial, what, **limits):
    outcome = processes.run(setup, trial.folder, bench.arguments(2), **limits)
    if outcome.code not in (0, 2):
        trial.found(f"exit code {outcome.code}", f"after {what}: {verdict.last_line(outcome)}")
    elif outcome.code == 2:
        for rule, detail in verdict.promised(outcome, {"tlmssd"}):
            trial.found(rule, f"after {what}: {detail}")
    trial.judge(outcome.code, [2], what)
    trial.close()
    return Result(number, "ran" if outcome.code == 0 else "refused", outcome.seconds, 1, trial.findings)
