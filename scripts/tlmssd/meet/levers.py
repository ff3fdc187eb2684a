"""What may be changed so that a scenario meets its targets, in steps from the mildest on.

Three kinds: what the host asks for (outstanding commands and rates of each load), how the drive
divides itself among what is asked (arbitration, scheduling, pacing), and the drive's resources, as
what-if makes them faster (tlmssd.whatif.resources).
"""

import json
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from tlmssd.drive import Drive
from tlmssd.fio_numbers import fio_number
from tlmssd.quantities import percent_text, quantity_text
from tlmssd.result import Result
from tlmssd.whatif.resources import Step, resources

SHARES = (0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 5.0, 7.0)
"""By how much faster or more resources are made: up to eight times."""
RATES = (0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0.05)
"""Shares to which the rate of a load is lowered."""
LESS, MORE = 0.8, 1.25
"""Of outstanding commands, from step to step."""
MOST_TIMES = 64
"""Outstanding commands of a load, as many times what they are."""
FEWER_AT_ONCE = 0.7
"""Of the commands that the drive works on at once, from step to step."""
WEIGHTS = (2, 4, 8, 16, 32, 64, 128, 256)
"""Of the queues whose loads miss their targets; the others have 1."""
DIRECTIONS = ("read", "write", "trim")
"""The order of fio's lists of rates."""


@dataclass(frozen=True)
class Lever:
    """Something that can be changed: `steps` from the mildest to the strongest.

    `may_be_too_much`: of which a strong step may help less than a milder one. `needs_hardware`: the
    drive has other parts with it, whether they have a price or not.
    """

    name: str
    steps: tuple[Step, ...]
    may_be_too_much: bool = False
    needs_hardware: bool = False


def levers(drive: Drive, base: Sequence[Result], missed: Iterable[str]) -> list[Lever]:
    """All that this scenario has, from its runs as it is; `missed` are the loads whose targets are
    missed."""
    loads = _loads(drive, base[0])
    found = [lever for load in loads for lever in _of_load(load, base)]
    found += _of_host(drive, loads, base, set(missed))
    found += _of_firmware(drive, writes="write" in base[0].operations)
    found += _of_resources(drive)
    return [lever for lever in found if lever.steps]


@dataclass(frozen=True)
class _Load:
    """An entry of `load`: its parameters by their last word.

    `results`: what the results call it, a name for each of its jobs; empty where that cannot be
    told.
    """

    drive: Drive
    number: int
    name: str
    results: tuple[str, ...] = ()

    def path(self, word: str) -> str:
        return f"load.{self.number}.{word}"

    def has(self, word: str) -> bool:
        return self.drive.has(self.path(word)) and self.text(word) != ""

    def text(self, word: str) -> str:
        return self.drive.text(self.path(word))

    @property
    def is_made(self) -> bool:
        """By the scenario's own words, not by a trace, a profile or a job file."""
        return self.drive.has(self.path("rw"))

    @property
    def is_file(self) -> bool:
        """A fio job file, of any number of jobs."""
        return self.drive.has(self.path("fio"))

    @property
    def jobs(self) -> int:
        return self.drive.whole(self.path("numjobs")) if self.is_made else 1

    @property
    def names(self) -> set[str]:
        """By which a target may mean it or one of its jobs."""
        return {self.name, *self.results}

    @property
    def rate(self) -> str | None:
        """The word by which its rate is limited."""
        return next((word for word in ("rate", "rate_iops") if self.has(word)), None)


def _loads(drive: Drive, result: Result) -> list[_Load]:
    """The entries of `load`; those without a name are called as the results call them."""
    paths = (path.split(".") for path in drive.parameters)
    numbers = sorted({int(words[1]) for words in paths if words[0] == "load"})
    entries = [_Load(drive, number, "") for number in numbers]
    loads = []
    for place, entry in enumerate(entries):
        results = _results_of(entries, place, list(result.loads))
        name = drive.parameters.get(entry.path("name"))
        if not name:
            name = results[0] if results else f"load {entry.number + 1}"
        loads.append(replace(entry, name=name, results=results))
    return loads


def _results_of(entries: Sequence[_Load], place: int, called: Sequence[str]) -> tuple[str, ...]:
    """Of one entry: its share of `called`, the names of all results in their order.

    A job file has as many as jobs, which are those that the other entries leave.
    """
    before, behind = entries[:place], entries[place + 1 :]
    first = sum(other.jobs for other in before)
    end = len(called) - sum(other.jobs for other in behind)
    if any(other.is_file for other in before):
        if entries[place].is_file or any(other.is_file for other in behind):
            return ()
        first = end - entries[place].jobs
    elif not entries[place].is_file:
        end = first + entries[place].jobs
    elif any(other.is_file for other in behind):
        return ()
    return tuple(called[first:end])


def _of_load(load: _Load, base: Sequence[Result]) -> Iterator[Lever]:
    """Fewer or more outstanding commands, and a lower rate."""
    word = next((word for word in ("iodepth", "queue_depth") if load.has(word)), None)
    if word and not _goes_by_time(load):
        depth, path = load.drive.whole(load.path(word)), load.path(word)
        most = min(_queue_entries(load.drive), MOST_TIMES * depth)
        yield _of_counts(f"fewer outstanding of {load.name}", path, depth, _down(depth, LESS))
        yield _of_counts(f"more outstanding of {load.name}", path, depth, _up(depth, most))
    yield Lever(f"rate of {load.name}", tuple(_rates(load, base)))


def _goes_by_time(load: _Load) -> bool:
    return load.drive.parameters.get(load.path("pacing")) == "open-loop"


def _queue_entries(drive: Drive) -> int:
    of_queue = drive.whole("ssd.host.queue_depth")
    return min(of_queue, 32) if drive.text("ssd.host.protocol") == "sata" else of_queue


def _down(count: int, factor: float) -> Iterator[int]:
    while count > 1:
        count = min(count - 1, round(count * factor))
        yield max(count, 1)


def _up(count: int, most: int) -> Iterator[int]:
    while count < most:
        count = min(max(count + 1, round(count * MORE)), most)
        yield count


def _of_counts(name: str, path: str, before: int, counts: Iterable[int]) -> Lever:
    steps = (
        Step(str(before), str(count), max(count / before, before / count), {path: str(count)})
        for count in counts
    )
    return Lever(name, tuple(steps))


def _rates(load: _Load, base: Sequence[Result]) -> Iterator[Step]:
    """Its own rate lowered; of one without any, what it reached as it is, with a limit below."""
    if _goes_by_time(load):
        scale = load.drive.number(load.path("time_scale"))
        now = "as recorded" if scale == 1 else percent_text(1 / scale, signed=False)
        for share in RATES:
            settings = {load.path("time_scale"): f"{scale / share:.9g}"}
            after = percent_text(share / scale, signed=False)
            yield Step(now, after, 1 / share, settings)
    elif load.rate:
        for share in RATES:
            after = _scaled(load.text(load.rate), share)
            if after:
                path = load.path(load.rate)
                yield Step(load.text(load.rate), after, 1 / share, {path: after})
    elif _may_be_limited(load) and (reached := _reached(load, base)):
        for share in RATES:
            parts = [str(round(share * part / load.jobs)) if part else "" for part in reached]
            after = parts[0] if not any(parts[1:]) else ",".join(parts)
            yield Step(
                "no limit",
                quantity_text(share * sum(reached), "B/s"),
                1 / share,
                {load.path("rate"): after},
            )


def _may_be_limited(load: _Load) -> bool:
    if not load.is_made or load.text("rw") in ("trimwrite", "randtrimwrite"):
        return False
    return load.drive.number(load.path("thinktime")) == 0


def _reached(load: _Load, base: Sequence[Result]) -> list[float]:
    """B/s by direction that all its jobs together reached; empty where that cannot be told."""
    found = [0.0] * len(DIRECTIONS)
    for result in base:
        for name in load.results:
            for place, direction in enumerate(DIRECTIONS):
                told = result.loads[name]["operations"].get(direction, {}).get("own_time", {})
                found[place] += told.get("bandwidth", {}).get("value", 0.0) / len(base)
    return found if any(found) else []


def _scaled(text: str, share: float) -> str:
    """A share of one of fio's numbers, or of each of a list; empty where there is nothing less."""
    after = []
    for part in text.split(","):
        number = fio_number(part)
        if part.strip() and number is None:
            return ""
        after.append("" if number is None else str(max(1, round(share * number))))
    return "" if after == text.split(",") else ",".join(after)


LIMIT = "ssd.host.outstanding_limit"


def _of_host(
    drive: Drive, loads: Sequence[_Load], base: Sequence[Result], missed: set[str]
) -> Iterator[Lever]:
    """Fewer commands in the drive at once, so that the others wait in queues that are served by
    turns; and more of these turns for the loads that miss their targets."""
    if len(loads) < 2:
        return
    limit = drive.whole(LIMIT)
    before = str(limit) if limit else "no limit"
    most = limit or _most_at_once(base)
    counts = list(_down(most, FEWER_AT_ONCE))
    fewer = (Step(before, str(count), most / count, {LIMIT: str(count)}) for count in counts)
    yield Lever("commands at once", tuple(fewer), may_be_too_much=True)
    turns = _turns(drive, loads, missed)
    yield Lever("turns of its queue", tuple(turns))
    if turns:
        strongest = turns[-1]
        both = (
            Step(
                f"{strongest.before} + {before}",
                f"{strongest.after} + {count}",
                most / count,
                {**strongest.settings, LIMIT: str(count)},
            )
            for count in counts
        )
        yield Lever("turns of its queue + commands at once", tuple(both), may_be_too_much=True)


def _most_at_once(base: Sequence[Result]) -> int:
    """Commands that were outstanding at once; 0 where no time was measured."""
    depths = [result.value("queue_depth.max") for result in base]
    return 0 if any(map(math.isnan, depths)) else round(max(depths))


def _turns(drive: Drive, loads: Sequence[_Load], missed: set[str]) -> list[Step]:
    """Weighted arbitration with ever more for the queues of loads that miss their targets."""
    if drive.text("ssd.host.protocol") == "sata":
        return []  # which has one queue
    queues = drive.whole("ssd.host.queues")
    given = [load.drive.whole(load.path("queue")) for load in loads]
    if all(queue < 0 for queue in given) and all(load.is_made for load in loads):
        given = list(range(len(loads)))
    whose = {queue for queue, load in zip(given, loads, strict=True) if load.names & missed}
    others = {queue for queue, load in zip(given, loads, strict=True) if not load.names & missed}
    apart = min(given) >= 0 and max(given) < queues and not whose & others
    if not (apart and whose and others) or drive.text("ssd.host.arbitration") == "weighted":
        return []
    chosen = {load.path("queue"): str(queue) for load, queue in zip(loads, given, strict=True)}
    steps = []
    for weight in WEIGHTS:
        weights = [weight if queue in whose else 1 for queue in range(queues)]
        settings = {"ssd.host.arbitration": "weighted", "ssd.host.weights": json.dumps(weights)}
        steps.append(Step("1 : 1", f"{weight} : 1", float(weight), {**settings, **chosen}))
    return steps


SCHEDULING, SUSPEND = "ssd.flash.scheduling.policy", "ssd.flash.suspend"
PACING = "firmware.pacing.policy"


def _of_firmware(drive: Drive, writes: bool) -> Iterator[Lever]:
    """Reads before other work of a die, suspending it; and writes at the pace of collection."""
    policy, suspend = drive.text(SCHEDULING), drive.text(SUSPEND)
    steps, settings = [], {}
    if policy not in ("read-first", "write-drain"):
        settings = {SCHEDULING: "read-first"}
        steps.append(Step(policy, "read-first", 2.0, dict(settings)))
    if drive.parameters.get("ssd.flash.part.suspend") == "true" and suspend != "both":
        for what in ("program", "both"):
            if what != suspend:
                steps.append(Step(suspend, f"suspend {what}", 2.0, {**settings, SUSPEND: what}))
    yield Lever("reads first", tuple(steps))
    if writes and drive.parameters.get(PACING) == "none":
        for pace in ("credit", "proportional"):
            yield Lever(f"{pace} pacing", (Step("none", pace, 2.0, {PACING: pace}),))


def _of_resources(drive: Drive) -> Iterator[Lever]:
    for resource in resources():
        if not resource.needs(drive):
            continue
        found: dict[str, Step] = {}
        for share in SHARES:
            step = resource.step(drive, share)
            if step and math.isfinite(step.ratio):
                found.setdefault(json.dumps(step.settings, sort_keys=True), step)
        paths = {path for step in found.values() for path in step.settings}
        parts = any(path.startswith("ssd.") for path in paths)
        yield Lever(resource.name, tuple(found.values()), needs_hardware=parts)
