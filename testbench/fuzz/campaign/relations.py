"""Part (g): metamorphic relations. Two scenarios that differ in a known way must give results that differ so.

Exact relations compare the command logs to the picosecond; statistical ones say what they allow and why.
"""

import csv
import math
import random
import shutil
import statistics
import time

from campaign import knowledge, schema, twice_as_slow
from campaign.findings import Finding, Result
from campaign.program import write_inputs
from campaign.verdict import last_line

NAME = "relations"
COUNT = 60


class _Pair:
    """Runs scenarios of one case and compares their command logs."""

    def __init__(self, setup, number, chance):
        self.setup, self.number, self.random = setup, number, chance
        self.folder = setup.folder(NAME, number)
        self.runs = 0
        self.findings = []

    def log(self, name, tree, files=None):
        """The command log of a scenario as rows of columns, or None when it is refused."""
        tree = {**tree, "report": {"command_log": "csv"}}
        write_inputs(self.folder / name, tree, files or {})
        outcome = self.setup.program.run(self.folder / name, "run", "s.yaml", "--quiet", "--out", "out")
        self.runs += 1
        if outcome.code == 2:
            return None
        if outcome.code != 0:
            self.found(tree, files, "a scenario of the pair fails", f"{outcome.code}: {last_line(outcome)}")
            return None
        with (self.folder / name / "out" / "commands.csv").open() as file:
            return list(csv.DictReader(file))

    def found(self, tree, files, rule, detail):
        self.findings.append(Finding(NAME, self.number, rule, detail, tree, None, files or {}))

    def expect(self, rule, tree, files, first, second, change, rounded=0):
        """Each row of `second` is the row of `first` after `change`; causes within `rounded` ps."""
        if first is None or second is None:
            if (first is None) != (second is None):
                self.found(tree, files, rule, "one of the two is refused")
            return "refused"
        if len(first) != len(second):
            self.found(tree, files, rule, f"{len(first)} commands and {len(second)}")
        for at, (a, b) in enumerate(zip(first, second)):
            wanted = change(dict(a))
            odd = {k: (wanted[k], b[k]) for k in wanted
                   if wanted[k] != b[k] and not (_is_cause(k) and abs(int(wanted[k]) - int(b[k])) <= rounded)}
            if odd:
                self.found(tree, files, rule, f"command {at} of {len(first)}: expected and found {odd}")
                break
        return "held" if not self.findings else "broken"


def _is_cause(column):
    return column.endswith("_ps") and column not in ("submitted_ps", "completed_ps", "latency_ps")


def run(setup, number):
    """One case: draws what the relation needs, runs both, compares."""
    relation = _RELATIONS[number % len(_RELATIONS)]
    chance = random.Random(f"relation/{setup.seed}/{number}")
    pair = _Pair(setup, number, chance)
    begin = time.monotonic()
    try:
        outcome = relation(pair)
    finally:
        shutil.rmtree(pair.folder, ignore_errors=True)
    return Result(number, f"{relation.__name__.strip('_').replace('_', ' ')} {outcome}",
                  time.monotonic() - begin, pair.runs, pair.findings)


# ---- drives


def _drawn(pair):
    """A drive of the generator, without what goes by days, tables or formulas, or paces writes (for 50 ms at most, whatever else
    doubles) while it prepares in simulated time, and over PCIe (SATA's bytes take no whole picoseconds)."""
    for attempt in range(50):
        d = knowledge.draw(schema.of_program(pair.setup.program.path), f"{pair.setup.seed}/{pair.number}/{attempt}")
        tree = d.finished()
        if "file_cache" in tree or "log_structured" in tree or ".yaml" in str(tree["ssd"]["flash"]) \
                or d.policy("firmware.refresh") != "none" or d.policy("ssd.flash.reliability") != "none" \
                or d.policy("firmware.pacing") != "none" and any("until" in step for step in tree.get("precondition", ())) \
                or "protocol" in tree["ssd"]["host"] or _rounds(tree["ssd"]["flash"]):
            continue
        for key in ("age", "run", "report", "load"):
            tree.pop(key, None)
        return tree, d
    return None, None


def _rounds(flash):
    """Whether latencies are products or parts of the data sheet's, which are rounded to picoseconds."""
    part = flash.get("part", {})
    return "timing" in part or "program_passes" in part or any(key.endswith("_variation") for key in part) \
        or flash.get("read_power") == "budgeted"


def _plain_drive(pair):
    """A drive on which sequential data go round channels, ways, dies and planes."""
    channels, ways = pair.random.choice((2, 3, 4)), pair.random.choice((1, 2))
    return {"ssd": {"host": {"lba_size": "4 KiB"},
                    "flash": {"channels": channels, "ways": ways, "over_provisioning": "60 %",
                              "part": {"cell": "mlc", "planes": pair.random.choice((1, 2)), "page_size": "4 KiB",
                                       "blocks_per_plane": 32, "pages_per_block": 32, "read_latency": ["60 us"]}}},
            "firmware": {"buffer": {"capacity": "256 KiB"}},
            "seed": pair.random.randrange(1000)}


# ---- exact relations


def _times_twice_as_long(pair):
    """Every time of the scenario doubled, every rate halved: each time in the log doubles exactly.

    A wait for others is shared out to their causes in whole picoseconds, so causes may be some of these off.
    """
    tree, d = _drawn(pair)
    if tree is None:
        return "not drawn"
    tree["load"] = [_closed_loop(pair, d.facts)]
    both = twice_as_slow.pair(tree, d, pair.random)
    logs = [pair.log(name, scenario, d.files) for name, scenario in zip("ab", both)]

    def doubled(row):
        return {k: str(2 * int(v)) if k.endswith("_ps") else v for k, v in row.items()}

    return pair.expect("times doubled", both[1], d.files, *logs, doubled, rounded=8)


def _closed_loop(pair, facts):
    return {"rw": pair.random.choice(("randread", "randwrite", "randrw", "rw", "read", "write", "randtrimwrite")),
            "bs": str(facts.lba * pair.random.choice((1, 2, 4, 8))), "number_ios": pair.random.randrange(20, 600),
            "iodepth": pair.random.choice((1, 4, 32))}


def _channels_relabelled(pair):
    """Data lie round the channels; a region that begins some units later lies on the same flash, relabelled.

    Reads of it take the same times: the shift maps channels to channels and dies of a channel to dies of one. But
    pages of two planes lie at the same place or not by where a request begins: they are read one by one.
    """
    tree = _plain_drive(pair)
    tree["ssd"]["flash"]["multi_plane_reads"] = False
    tree["precondition"] = [{"fill": "100 %", "order": "sequential"}]
    load = {"rw": pair.random.choice(("randread", "read")), "bs": pair.random.choice(("4k", "8k", "32k")),
            "size": "2m", "number_ios": 400, "iodepth": pair.random.choice((1, 3, 16)), "offset": "0"}
    shift = 4096 * pair.random.randrange(1, 64)
    first = pair.log("a", {**tree, "load": [load]})
    shifted = {**tree, "load": [{**load, "offset": str(shift)}]}
    second = pair.log("b", shifted)

    def moved(row):
        return {**row, "lba": str(int(row["lba"]) + shift // 4096)}

    return pair.expect("channels relabelled", shifted, {}, first, second, moved)


def _load_in_two_halves(pair):
    """A sequential load at depth 1, and its two halves one after the other: the same commands at the same times."""
    tree = _plain_drive(pair)
    tree["precondition"] = [{"fill": "60 %"}]
    load = {"rw": pair.random.choice(("read", "write")), "bs": "8k", "queue": 0, "size": "1m"}
    halves = [{**load, "size": "512k"}, {**load, "size": "512k", "offset": "512k", "stonewall": True}]
    first = pair.log("a", {**tree, "load": [load]})
    second = pair.log("b", {**tree, "load": halves})

    def either(row):
        return {k: v for k, v in row.items() if k != "load"}

    return pair.expect("load in two halves", {**tree, "load": halves}, {}, first, second, either)


def _requests(pair):
    time_us, found = 0, []
    for _ in range(pair.random.randrange(20, 400)):
        time_us += pair.random.randrange(300)
        found.append((time_us, pair.random.choice("RW"), pair.random.randrange(1500) * 8, 8 * pair.random.choice((1, 2, 8))))
    return found


def _msr(asked):
    words = {"R": "Read", "W": "Write"}
    return "".join(f"{t * 10},h,0,{words[o]},{s * 512},{n * 512},0\n" for t, o, s, n in asked)


def _alibaba(asked):
    return "".join(f"0,{o},{s * 512},{n * 512},{t}\n" for t, o, s, n in asked)


def _mqsim(asked):
    return "".join(f"{t * 1000} 0 {s} {n} {int(o == 'R')}\n" for t, o, s, n in asked)


def _trace_said_otherwise(pair):
    """The same requests in two formats, or a part of a trace and that part alone, are the same load."""
    tree, asked = _plain_drive(pair), _requests(pair)
    tree["precondition"] = [{"fill": "50 %"}]
    load = {"trace": "t", "addresses": "wrap", **pair.random.choice(
        ({"pacing": "open-loop"}, {"queue_depth": 1}, {"queue_depth": 16}))}
    skip, many = pair.random.randrange(5), pair.random.randrange(5, 15)
    other = pair.random.choice((_alibaba, _mqsim))
    ways = {"format": (load, _msr(asked), load, other(asked)),
            "skip": ({**load, "skip": skip, "requests": many}, _msr(asked), load, _msr(asked[skip:skip + many])),
            "repeat": ({**load, "queue_depth": 4, "pacing": "closed-loop", "repeat": 2}, _msr(asked),
                       {**load, "queue_depth": 4, "pacing": "closed-loop"},
                       _msr(asked + [(t + asked[-1][0], *rest) for t, *rest in asked]))}
    one, text, two, other_text = ways[pair.random.choice(sorted(ways))]
    first = pair.log("a", {**tree, "load": [one]}, {"t": text})
    second = pair.log("b", {**tree, "load": [two]}, {"t": other_text})
    return pair.expect("trace said otherwise", {**tree, "load": [two]}, {"t": other_text}, first, second, dict)


def _job_file_or_load(pair):
    """A job file's job, and the same words as a made load (fio remembers positions unless told not to)."""
    tree = _plain_drive(pair)
    tree["precondition"] = [{"fill": "70 %"}]
    words = {"rw": pair.random.choice(("randrw", "randread", "write", "rw")), "bs": pair.random.choice(("4k", "16k")),
             "iodepth": pair.random.choice((1, 8)), "number_ios": pair.random.randrange(20, 400),
             "rwmixread": pair.random.choice((20, 70))}
    job = "[j]\nioengine=libaio\nnorandommap=1\n" + "".join(f"{k}={v}\n" for k, v in words.items())
    first = pair.log("a", {**tree, "load": [{**words, "name": "j"}]})
    second = pair.log("b", {**tree, "load": [{"fio": "j.fio"}]}, {"j.fio": job})
    return pair.expect("job file or load", {**tree, "load": [{"fio": "j.fio"}]}, {"j.fio": job}, first, second, dict)


# ---- statistical relations


def _batch_means(rows, batches=20):
    """Means of latency over consecutive batches: nearly independent, however commands hang together."""
    values = [int(row["latency_ps"]) for row in rows]
    size = len(values) // batches
    return [statistics.fmean(values[i * size:(i + 1) * size]) for i in range(batches)]


def _differ(a, b):
    """Welch's t of two sets of batch means; beyond 6 is no chance (2e-6 even with 20 batches each)."""
    spread = math.sqrt(statistics.variance(a) / len(a) + statistics.variance(b) / len(b))
    mean = statistics.fmean(a)
    return abs(mean - statistics.fmean(b)) / max(spread, 1e-3 * mean)


def _another_seed(pair):
    """Another seed is another sample of the same distribution."""
    tree = _plain_drive(pair)
    tree["precondition"] = [{"fill": "100 %", "order": "sequential"}]
    tree["load"] = [{"rw": "randread", "bs": "4k", "number_ios": 4000, "iodepth": pair.random.choice((1, 4, 16))}]
    return _same_distribution(pair, "another seed", tree, {**tree, "seed": tree["seed"] + 1})


def _load_split_in_two(pair):
    """One load, and two of half its depth and half its requests: the drive sees the same in distribution.

    The ends differ: one of the two may finish first. They are a depth of commands, of which we take away ten.
    """
    tree = _plain_drive(pair)
    tree["precondition"] = [{"fill": "100 %", "order": "sequential"}]
    depth = pair.random.choice((2, 4, 16))
    load = {"rw": "randread", "bs": "4k", "number_ios": 8000, "iodepth": depth}
    half = {**load, "number_ios": 4000, "iodepth": depth // 2}
    return _same_distribution(pair, "load split in two", {**tree, "load": [load]},
                              {**tree, "load": [half, half]}, ends=10 * depth)


def _same_distribution(pair, rule, one, two, ends=0):
    logs = [pair.log(name, tree) for name, tree in (("a", one), ("b", two))]
    if None in logs:
        return "refused"
    first, second = (_batch_means(log[ends:len(log) - ends]) for log in logs)
    if _differ(first, second) > 6:
        pair.found(two, {}, rule, f"mean latencies {statistics.fmean(first):.0f} and {statistics.fmean(second):.0f} "
                                  f"ps differ by {_differ(first, second):.1f} deviations")
        return "broken"
    return "held"


_RELATIONS = (_times_twice_as_long, _channels_relabelled, _times_twice_as_long, _load_in_two_halves,
              _times_twice_as_long, _trace_said_otherwise, _job_file_or_load, _another_seed, _trace_said_otherwise,
              _load_split_in_two)
