"""What the specification tests, as runs of the program."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tlmssd.drive import Drive

KIB = 1024


@dataclass(frozen=True)
class Terms:
    """What tests are carried out with."""

    commands: int
    """Of an access pattern in a round, fewer of blocks above 16 KiB."""
    depth: int
    """Commands outstanding."""
    idle_ms: float
    """The shortest idle time of the host, in simulated milliseconds."""
    lba: int
    """Bytes of a logical block."""
    ramp_s: float = 10.0
    """Simulated seconds that the first pattern of a mix runs before it is measured; those behind
    it run for LATER_RAMPS of it."""
    turn: int = 0
    """Bytes that fill a block in each plane of each die, or the write buffer if that is more."""

    @staticmethod
    def of(
        scenario: Mapping[str, Any], commands: int, depth: int, idle_ms: float, ramp_s: float
    ) -> "Terms":
        """For a resolved scenario."""
        drive = Drive.of(scenario)
        lba = int(drive.number("ssd.host.lba_size"))
        turn = max(drive.bytes_of_a_block_per_plane, drive.write_buffer)
        return Terms(commands, depth, idle_ms, lba, ramp_s, turn)

    def word_on_rounds(self) -> str:
        """Why rounds may never be alike: '' where each collects several blocks."""
        bytes_of_round = self.commands * max(self.lba, 4 * KIB)
        if bytes_of_round >= self.turn:
            return ""
        share = bytes_of_round / self.turn
        enough = -(-2 * self.turn // (bytes_of_round // self.commands))
        return (
            f"A round writes {share:.2f} of what the write buffer holds or of a block in each "
            "plane, so that collection falls into some rounds and not into others: "
            f"--commands {enough} makes rounds long enough"
        )

    def count(self, kib: float) -> int:
        """Commands of a block size in a round."""
        return max(min(self.commands, 64), min(self.commands, int(self.commands * 16 / kib)))

    def sizes(self, *kib: float) -> list[float]:
        """Those block sizes (KiB) that the drive's logical blocks allow."""
        return [size for size in kib if size * KIB >= self.lba and size * KIB % self.lba == 0]


@dataclass(frozen=True)
class Run:
    """One run of the program: settings over the drive's scenario, and a word for what it is."""

    label: str
    settings: dict[str, Any]


@dataclass(frozen=True)
class PtsTest:
    """A test: its title, the pattern that has to be steady and its figure, and its runs."""

    name: str
    title: str
    tracked: str
    """Pattern (without round) whose figure must be steady; '' where nothing has to be."""
    figure: str
    unit: str
    runs: Callable[[Terms, int], list[Run]]


def settings(title: str, steps: list[dict], loads: list[dict]) -> dict[str, Any]:
    """A run of `loads` one after another on a drive prepared by `steps`."""
    for load in loads[1:]:
        load["stonewall"] = True
    return {
        "title": f"SNIA PTS: {title}",
        "precondition": steps,
        "load": loads,
        "targets": [],
        "run": {"errors": "fail"},
        "report": {"merge": False},
    }


def size_text(kib: float) -> str:
    """A block size as loads take it: 0.5 KiB is 512."""
    return f"{int(kib)}k" if kib >= 1 else str(int(kib * KIB))


def pattern(reads: int, kib: float) -> str:
    """Name of an access pattern: R/W mix and block size."""
    return f"{reads}/{100 - reads} {kib:g} KiB"


def step_load(name: str, terms: Terms, reads: int, kib: float, **more: Any) -> dict[str, Any]:
    """An access pattern in one round."""
    rw = {100: "randread", 0: "randwrite"}.get(reads, "randrw")
    load = {"name": name, "rw": rw, "bs": size_text(kib), "iodepth": terms.depth}
    if rw == "randrw":
        load["rwmixread"] = reads
    load |= {"norandommap": True, "loops": 100_000, "number_ios": terms.count(kib)}
    return load | more


HEAD = ", head"
"""Behind the name of a load that is not measured."""
LATER_RAMPS = 0.05


def behind_head(load: dict[str, Any], terms: Terms, first: bool) -> list[dict[str, Any]]:
    """An access pattern behind the same one for a while, which is not measured.

    What the pattern before has left to be done goes on beneath this one: the write buffer is
    emptied, free blocks are collected or used up. It differs most from mix to mix.
    """
    seconds = terms.ramp_s * (1 if first else LATER_RAMPS)
    head = {key: value for key, value in load.items() if key != "number_ios"}
    head |= {
        "name": load["name"] + HEAD,
        "time_based": True,
        "runtime": f"{seconds * 1e9:.0f} ns",
    }
    return [head, load]


def twice_over() -> list[dict]:
    """Workload independent preconditioning: twice the capacity, 128 KiB in sequence."""
    return [
        {"fill": "100 %", "order": "sequential", "bs": "128 KiB"},
        {"overwrite": "1x", "order": "sequential", "bs": "128 KiB"},
    ]


def until_steady(metric: str, kib: float, depth: int, order: str = "random") -> dict[str, Any]:
    """Workload dependent preconditioning: the test's own writes, until they are steady."""
    return {
        "until": "steady",
        "metric": metric,
        "bs": f"{int(kib * KIB)} B",
        "iodepth": depth,
        "order": order,
    }


MIXES = (100, 95, 65, 50, 35, 5, 0)
SIZES = (1024, 128, 64, 32, 16, 8, 4, 0.5)
LATENCY_MIXES = (100, 65, 0)
LATENCY_SIZES = (8, 4, 0.5)


def small(terms: Terms) -> float:
    """4 KiB, or the smallest block above that the drive takes."""
    return 4 if terms.sizes(4) else terms.lba / KIB


def rounds_of(
    mixes: Sequence[int], sizes: Sequence[float], terms: Terms, rounds: int
) -> list[dict[str, Any]]:
    """Loads: in each round every mix with every block size, each behind its head."""
    return [
        load
        for number in range(1, rounds + 1)
        for reads in mixes
        for kib in sizes
        for load in behind_head(
            step_load(f"{number}: {pattern(reads, kib)}", terms, reads, kib), terms, kib == sizes[0]
        )
    ]


def iops_runs(terms: Terms, rounds: int) -> list[Run]:
    """Rounds of every mix with every block size, at random."""
    loads = rounds_of(MIXES, terms.sizes(*SIZES), terms, rounds)
    steps = [*twice_over(), until_steady("write_iops", small(terms), terms.depth)]
    return [Run("iops", settings("IOPS", steps, loads))]


def throughput_runs(terms: Terms, rounds: int) -> list[Run]:
    """For each block size rounds of sequential writes and reads."""
    runs = []
    for kib in terms.sizes(1024, 128):
        loads = []
        for number in range(1, rounds + 1):
            for reads in (0, 100):
                rw = "read" if reads else "write"
                name = f"{number}: {pattern(reads, kib)}"
                loads += behind_head(step_load(name, terms, reads, kib, rw=rw), terms, True)
        steps = [*twice_over(), until_steady("write_bandwidth", kib, terms.depth, "sequential")]
        runs.append(Run(f"{kib:g} KiB", settings(f"throughput, {kib:g} KiB", steps, loads)))
    return runs


def latency_runs(terms: Terms, rounds: int) -> list[Run]:
    """Rounds with one command outstanding."""
    one = replace(terms, depth=1)
    loads = rounds_of(LATENCY_MIXES, terms.sizes(*LATENCY_SIZES), one, rounds)
    steps = [*twice_over(), until_steady("write_latency", small(terms), 1)]
    return [Run("latency", settings("latency", steps, loads))]


def saturation_runs(terms: Terms, _rounds: int) -> list[Run]:
    """Four times the capacity at random onto an empty drive."""
    load = {"name": "writes", "rw": "randwrite", "bs": size_text(small(terms))}
    load |= {"iodepth": terms.depth, "norandommap": True, "loops": 4}
    return [Run("write saturation", settings("write saturation", [], [load]))]


WAITS = (1, 2, 3, 5, 10)
"""Idle times of the host, as multiples of the shortest."""
LOOPS = 10


def idle_runs(terms: Terms, _rounds: int) -> list[Run]:
    """Steady writes; then writes and idle times by turns, the idle times growing."""
    loads = [step_load(f"before: {n}", terms, 0, small(terms)) for n in range(1, LOOPS + 1)]
    for wait in WAITS:
        pause = f"{wait * terms.idle_ms * 1e6:.0f} ns"
        loads += [
            step_load(f"idle {wait}x: {n}", terms, 0, small(terms), startdelay=pause)
            for n in range(1, LOOPS + 1)
        ]
        after = range(1, LOOPS + 1)
        loads += [step_load(f"after {wait}x: {n}", terms, 0, small(terms)) for n in after]
    steps = [*twice_over(), until_steady("write_iops", small(terms), terms.depth)]
    return [Run("host idle", settings("host idle recovery", steps, loads))]


def stimulus_runs(terms: Terms, _rounds: int) -> list[Run]:
    """Sequential writes, random writes, sequential writes; each twice the capacity."""
    common = {"iodepth": terms.depth, "loops": 2}
    sequential = {"rw": "write", "bs": size_text(terms.sizes(1024, 128)[0])} | common
    eight = terms.sizes(8) or [terms.lba / KIB]
    random = {"rw": "randwrite", "bs": size_text(eight[0]), "norandommap": True} | common
    loads = [
        {"name": "group 1: sequential"} | sequential,
        {"name": "group 2: random"} | random,
        {"name": "group 3: sequential"} | sequential,
    ]
    return [Run("cross stimulus", settings("cross stimulus recovery", [], loads))]


TESTS = {
    test.name: test
    for test in (
        PtsTest("iops", "IOPS", "0/100 4 KiB", "iops", "1/s", iops_runs),
        PtsTest("throughput", "Throughput", "0/100", "bandwidth", "B/s", throughput_runs),
        PtsTest("latency", "Latency", "0/100 4 KiB", "latency", "ns", latency_runs),
        PtsTest("write-saturation", "Write saturation", "", "iops", "1/s", saturation_runs),
        PtsTest("host-idle", "Host idle recovery", "", "iops", "1/s", idle_runs),
        PtsTest("cross-stimulus", "Cross stimulus recovery", "", "bandwidth", "B/s", stimulus_runs),
    )
}
