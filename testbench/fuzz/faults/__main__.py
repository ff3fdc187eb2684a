"""scripts/plant_faults: plants faults in a scratch copy of the sources, one at a time, and says which check finds each."""

import argparse
import math
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from faults import catalogue, finders, tree

PROGRAM = "TLMSSD_PROGRAM"  # names the program that tests of the package take, as for scripts/test --python


def _arguments():
    parser = argparse.ArgumentParser(prog="scripts/plant_faults", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="faults to plant (a part of the name will do); default: all")
    parser.add_argument("--count", type=int, metavar="N", help="only N of them, others with every commit")
    parser.add_argument("--list", action="store_true", help="list the faults, plant none")
    parser.add_argument("--check", action="store_true", help="only see whether all of them still apply to the sources")
    parser.add_argument("--sound", metavar="BUILD", type=Path,
                        help="only see whether no detector finds anything in a build folder of these sources")
    parser.add_argument("--jobs", type=int, default=2, metavar="N", help="compilations at a time (2)")
    parser.add_argument("--folder", default=tree.ROOT / "build" / "faults", type=Path,
                        help="where the copy and its build are kept (build/faults)")
    return parser.parse_args()


def _chosen(faults, arguments):
    chosen = [fault for fault in _spread(faults)
              if not arguments.names or any(name in fault.name for name in arguments.names)]
    for name in arguments.names:
        if not any(name in fault.name for fault in faults):
            raise catalogue.CatalogueError(f"no fault is called {name}; --list shows all")
    if arguments.count is None or arguments.count >= len(chosen):
        return chosen
    start = _commits() * arguments.count
    return [chosen[(start + i) % len(chosen)] for i in range(arguments.count)]


def _spread(faults):
    """Neighbours in the catalogue far from each other: however few are planted, they are of all modules."""
    step = round(len(faults) * 0.618)
    while math.gcd(step, len(faults)) != 1:
        step += 1
    return [faults[i * step % len(faults)] for i in range(len(faults))]


def _commits():
    """Number of commits: moves the choice on with every change."""
    command = ["git", "-C", str(tree.ROOT), "rev-list", "--count", "HEAD"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return int(done.stdout) if done.returncode == 0 else 0


def _find(fault, scratch, lab):
    """What finds the fault, or None."""
    scratch.plant(fault)
    if fault.run:
        scratch.build("tlmssd")
    for detector in fault.run:
        found = lab.detect(detector)
        if found:
            return found
    if not fault.test:
        return None
    area = fault.test.partition(":")[0]
    if area != catalogue.PYTHON:
        scratch.build(f"test_{area}")
    elif PROGRAM not in os.environ:
        scratch.build("tlmssd")  # without the fault before
    return lab.test(fault.test)


def _check_sound(faults, lab):
    """Nothing may be found in a build without a fault; returns how many detectors were asked."""
    detectors = sorted({detector for fault in faults for detector in fault.run})
    for detector in detectors:
        found = lab.detect(detector)
        if found:
            raise catalogue.CatalogueError(f"without any fault, {detector} finds one ({found.finder}): {found.detail}")
        lab.expect_failures(detector)
    return len(detectors)


def _plant_all(faults, arguments):
    scratch = tree.Tree(arguments.folder, arguments.jobs)
    lab = finders.Lab(scratch.build_folder, scratch.folder / "build" / "runs", scratch.folder)
    scratch.refresh()
    if any(fault.is_compiled for fault in faults) or PROGRAM not in os.environ:
        scratch.build("tlmssd")
    _check_sound(faults, lab)
    missed = []
    for number, fault in enumerate(faults, 1):
        begin = time.monotonic()
        try:
            found = _find(fault, scratch, lab)
        except tree.BuildFailed as error:
            missed.append(fault.name)
            print(f"{number}/{len(faults)} DOES NOT COMPILE  {fault.name}: {error}", flush=True)
            continue
        took = f"{time.monotonic() - begin:.0f} s"
        if found is None:
            missed.append(fault.name)
            print(f"{number}/{len(faults)} NOT FOUND  {fault.name} ({took}): {fault.breaks}", flush=True)
            continue
        print(f"{number}/{len(faults)} {found.finder:16} {fault.name} ({took}): {found.detail}", flush=True)
        if found.finder != fault.found_by:
            print(f"  the catalogue says: {fault.found_by}", flush=True)
    scratch.plant(None)
    return missed


def main():
    arguments = _arguments()
    try:
        faults = catalogue.read()
        catalogue.check(tree.ROOT, faults)
        if arguments.check:
            print(f"all {len(faults)} faults apply to the sources")
            return 0
        if arguments.sound:
            if not (arguments.sound / "tlmssd").is_file():
                raise ValueError(f"--sound {arguments.sound}: has no program tlmssd; build one, or name its folder")
            with tempfile.TemporaryDirectory() as folder:
                asked = _check_sound(faults, finders.Lab(arguments.sound, folder))
            print(f"none of {asked} detectors finds a fault where there is none")
            return 0
        faults = _chosen(faults, arguments)
        if arguments.list:
            for fault in faults:
                print(f"{fault.found_by:16} {fault.name}: {fault.breaks} ({fault.file})")
            return 0
        missed = _plant_all(faults, arguments)
    except (catalogue.CatalogueError, tree.BuildFailed, ValueError) as error:
        print(f"scripts/plant_faults: {error}", file=sys.stderr)
        return 2
    if missed:
        print(f"scripts/plant_faults: not found: {', '.join(missed)}", file=sys.stderr)
        return 1
    print(f"all {len(faults)} faults were found")
    return 0


if __name__ == "__main__":
    sys.exit(main())
