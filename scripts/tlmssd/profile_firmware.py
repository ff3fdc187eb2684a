"""Counts the instructions of firmware stages: a table for ssd.cpu.costs.

Firmware in C or C++, its stages marked (firmware/tlmssd_stages.h), is built for RISC-V (or any
processor that QEMU's user mode knows) and run there one instruction at a time; QEMU writes down the
address of each. What lies between two marks belongs to the stage. QEMU and the compiler are
programs of their own: nothing of theirs is linked with this package.
"""

import argparse
import os
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from tlmssd.errors import InputError, RunFailed
from tlmssd.output import add_force, check_writable, not_written_by, refuse_inputs, write_text

MARKS = Path(__file__).parent / "firmware"
STAGES = ("command", "translate", "buffer", "flash", "complete", "gc", "victim")
CACHED = ("any", "miss", "hit")
MADE_BY = "measured by tlmssd profile-firmware"
CALIBRATION = "mark"
"""The stage of the empty run with which the marks begin."""
PACKAGES = {
    "riscv64-linux-gnu-gcc": "gcc-riscv64-linux-gnu",
    "aarch64-linux-gnu-gcc": "gcc-aarch64-linux-gnu",
    "qemu-riscv64": "qemu-user",
    "qemu-aarch64": "qemu-user",
}
"""Debian's package of each tool."""


@dataclass(frozen=True)
class Case:
    """What a run of a stage was about: the columns of the table."""

    stage: str
    policy: str
    cached: str
    entries: int


@dataclass(frozen=True)
class Mark:
    """The addresses of one of the two functions that mark a stage."""

    first: int
    end: int

    def holds(self, address: int) -> bool:
        return self.first <= address < self.end


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "sources", nargs="+", metavar="SOURCE", help="C or C++ files of the firmware, with a main()"
    )
    parser.add_argument(
        "-o", "--out", default="", metavar="FILE.csv", help="the table; by default standard output"
    )
    add_force(parser)
    parser.add_argument(
        "--cc", default="riscv64-linux-gnu-gcc", help="the cross compiler (%(default)s)"
    )
    parser.add_argument("--cflags", default="-O2", help="its options (%(default)s)")
    parser.add_argument(
        "--emulator", default="qemu-riscv64", help="QEMU's user mode for its code (%(default)s)"
    )
    parser.add_argument(
        "--cpu", default="", help="the processor that the emulator is to be, e.g. rv64"
    )
    parser.add_argument(
        "--cpi",
        type=float,
        default=1.0,
        help="cycles that an instruction takes on the core (%(default)s)",
    )


def main(arguments: argparse.Namespace) -> int:
    if not 0 < arguments.cpi <= 1000:
        raise InputError(f"--cpi {arguments.cpi}: expected a number above 0, at most 1000")
    for source in arguments.sources:
        if not Path(source).is_file():
            raise InputError(f"{source}: there is no such file")
    if arguments.out:
        _check_out(Path(arguments.out), arguments)
    compiler, emulator = find_tools(arguments.cc, arguments.emulator)
    with tempfile.TemporaryDirectory() as folder:
        program = build(Path(folder), compiler, arguments)
        counts = count(Path(folder), program, emulator, arguments)
    text = table(counts, heading(compiler, emulator, arguments), arguments.cpi)
    if arguments.out:
        write_text(Path(arguments.out), text)
        print(f"{len(counts)} lines in {arguments.out}; use it as ssd.cpu.costs")
    else:
        print(text, end="")
    return 0


def _check_out(out: Path, arguments: argparse.Namespace) -> None:
    """Raises InputError where the table cannot be written, or is not to be."""
    check_writable(out)
    refuse_inputs([out], map(Path, arguments.sources))
    if out.is_file() and out.stat().st_size and not arguments.force:
        with out.open("rb") as file:
            if not file.readline().startswith(f"# {MADE_BY}".encode()):
                raise InputError(not_written_by(out, "profile-firmware"))


def find_tools(*names: str) -> list[str]:
    """Their paths; one line names all packages that are missing."""
    paths = [shutil.which(name) for name in names]
    missing = [name for name, path in zip(names, paths, strict=True) if path is None]
    if missing:
        packages = sorted({PACKAGES[name] for name in missing if name in PACKAGES})
        hint = (
            f"; on Debian: apt-get install {' '.join(packages)} libc6-dev-riscv64-cross"
            if packages
            else ""
        )
        raise InputError(f"profile-firmware needs {' and '.join(missing)}{hint}")
    return [path for path in paths if path is not None]


def build(folder: Path, compiler: str, arguments: argparse.Namespace) -> Path:
    program = folder / "firmware"
    flags = [*shlex.split(arguments.cflags), "-static", "-DTLMSSD_PROFILE", f"-I{MARKS}"]
    objects = []
    # One by one, so that nothing is inlined across files.
    for number, source in enumerate([*arguments.sources, str(MARKS / "tlmssd_stages.c")]):
        made = folder / f"{number}.o"
        run([compiler, *flags, "-c", source, "-o", str(made)], InputError)
        objects.append(str(made))
    run([compiler, "-static", *objects, "-o", str(program)], InputError)
    return program


def run(command: list[str], error: type[Exception]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        said = [
            line for line in done.stderr.splitlines() if "error" in line
        ] or done.stderr.splitlines()[-1:]
        raise error(f"{Path(command[0]).name} failed: {said[0] if said else done.returncode}")
    return done.stdout


def marks_of(program: Path, compiler: str) -> tuple[Mark, Mark]:
    nm = shutil.which(compiler.removesuffix("gcc").removesuffix("g++") + "nm") or "nm"
    found = {}
    for line in run([nm, "-S", str(program)], RunFailed).splitlines():
        fields = line.split()
        if len(fields) == 4 and fields[3] in ("tlmssd_stage_begin", "tlmssd_stage_end"):
            found[fields[3]] = Mark(int(fields[0], 16), int(fields[0], 16) + int(fields[1], 16))
    if len(found) != 2:
        raise RunFailed("the marks of stages are not in the program")
    return found["tlmssd_stage_begin"], found["tlmssd_stage_end"]


def count(
    folder: Path, program: Path, emulator: str, arguments: argparse.Namespace
) -> dict[Case, tuple[float, int]]:
    """Mean instructions and runs of each case."""
    begin, end = marks_of(program, shutil.which(arguments.cc) or arguments.cc)
    runs = folder / "runs"
    command = [emulator, *(["-cpu", arguments.cpu] if arguments.cpu else [])]
    command += ["-singlestep", "-d", "exec,nochain", str(program)]  # to its standard error
    environment = {**os.environ, "TLMSSD_STAGE_RUNS": str(runs)}
    with subprocess.Popen(
        command,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        said: list[str] = []
        lengths = list(between(addresses(process.stderr or [], said), begin, end))
    if process.returncode != 0:
        raise RunFailed(
            f"the firmware ended with {process.returncode}" + (f": {said[-1]}" if said else "")
        )
    return means(read_runs(runs), lengths)


def addresses(lines: Iterable[str], others: list[str]) -> Iterator[int]:
    """Of the instructions in QEMU's log: "Trace 0: 0x7f... [flags/000000000001068a/...] symbol".

    What else is said goes to `others`, the last of it.
    """
    for line in lines:
        if line.startswith("Trace "):
            yield int(line.split("/", 2)[1], 16)
        else:
            others[:] = [*others[-4:], line.strip()]


def between(trace: Iterable[int], begin: Mark, end: Mark) -> Iterator[int]:
    """Instructions of each stage, from behind one mark to the next."""
    length = -1  # outside of any stage
    inside = False
    for address in trace:
        if begin.holds(address):
            if length > 0:
                raise InputError(
                    "stages are nested: TLMSSD_STAGE without TLMSSD_STAGE_END before it"
                )
            inside, length = True, 0
        elif end.holds(address):
            if inside:
                yield length
            inside, length = False, -1
        elif inside:
            length += 1


def read_runs(file: Path) -> list[Case]:
    if not file.is_file():
        raise RunFailed("the firmware did not come to its end: it must return from main()")
    *lines, last = file.read_text().splitlines()
    if last != f"end,{len(lines)}":
        raise InputError(f"the firmware runs more than {len(lines)} stages; let it do less")
    cases = []
    for line in lines:
        stage, policy, cached, entries = line.split(",")
        if stage not in (*STAGES, CALIBRATION):
            raise InputError(f"TLMSSD_STAGE: '{stage}' is no stage, expected {', '.join(STAGES)}")
        if cached not in CACHED:
            raise InputError(
                f"TLMSSD_STAGE: '{cached}' is no state of a cache, expected {', '.join(CACHED)}"
            )
        cases.append(Case(stage, policy, cached, int(entries)))
    return cases


def means(cases: list[Case], lengths: list[int]) -> dict[Case, tuple[float, int]]:
    if len(cases) != len(lengths):
        raise InputError(f"{len(cases)} stages begin and {len(lengths)} end")
    if cases[:1] != [Case(CALIBRATION, "any", "any", 1)]:
        raise RunFailed("the marks have not been measured")
    mark, sums = lengths[0], {}
    for case, length in zip(cases[1:], lengths[1:], strict=True):
        total, runs = sums.get(case, (0, 0))
        sums[case] = (total + max(0, length - mark), runs + 1)
    if not sums:
        raise InputError("the firmware marks no stage (TLMSSD_STAGE of tlmssd_stages.h)")
    return {case: (total / runs, runs) for case, (total, runs) in sums.items()}


def heading(compiler: str, emulator: str, arguments: argparse.Namespace) -> list[str]:
    first = run([compiler, "--version"], RunFailed).splitlines()[0]
    emulated = run([emulator, "--version"], RunFailed).splitlines()[0]
    return [
        f"{MADE_BY}: instructions of each stage, the mean over its runs",
        f"firmware: {', '.join(Path(source).name for source in arguments.sources)}",
        f"compiler: {first}, flags {arguments.cflags}",
        f"processor: {arguments.cpu or Path(emulator).name.removeprefix('qemu-')}, {emulated}",
        f"cycles per instruction: {arguments.cpi:g}, assumed",
    ]


def table(counts: dict[Case, tuple[float, int]], notes: list[str], cpi: float) -> str:
    lines = [f"# {note}" for note in notes]
    lines.append("stage, policy, cached, entries, cycles")
    order = sorted(
        counts, key=lambda c: (STAGES.index(c.stage), c.policy, CACHED.index(c.cached), c.entries)
    )
    for case in order:
        mean, _ = counts[case]
        lines.append(
            f"{case.stage}, {case.policy}, {case.cached}, {case.entries}, {mean * cpi:.1f}"
        )
    return "\n".join(lines) + "\n"
