"""Part (h): budgets of host time, and both ends of every range.

- A value beyond its range is refused within a second, by its own key. A value at an end of its range, as the
  only thing said, is accepted or refused within a second too.
- Shapes of drives that no machine holds are refused within a second.
- Time in which the host asks for nothing costs the machine next to nothing.
"""

import functools
import shutil
import time

from campaign import quantities, schema, verdict
from campaign.findings import Finding, Result
from campaign.program import write_inputs

NAME = "budgets"
COUNT = 10**6   # all there are

# Seconds of host time for a run of some idle time, and for each simulated second of it.
_IDLE_SECONDS = 2.0
_SECONDS_PER_SECOND = 0.002

_SMALL = {"ssd": {"flash": {"channels": 1, "ways": 1, "over_provisioning": "60 %",
                            "part": {"blocks_per_plane": 24, "pages_per_block": 16}}},
          "load": [{"rw": "randread", "number_ios": 5}]}


def all_of_them(setup):
    """How many cases there are."""
    return len(_cases(setup.program.path))


def run(setup, number):
    """One case of the list."""
    what, tree, judge = _cases(setup.program.path)[number]
    folder = setup.folder(NAME, number)
    begin = time.monotonic()
    findings = []
    try:
        write_inputs(folder, tree, {})
        for rule, detail in judge(setup, folder):
            findings.append(Finding(NAME, number, rule, f"{what}: {detail}", tree))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    kind = {_refused_by_key: "beyond a range", _soon: "at an end of a range", _shape: "impossible drive"}
    word = kind.get(getattr(judge, "func", judge), "idle")
    return Result(number, word, time.monotonic() - begin, 1, findings)


@functools.lru_cache
def _cases(program):
    """(what, scenario, judge) of all cases, always in the same order."""
    return [*_ends(schema.of_program(program)), *_shapes(program), *_idle()]


# ---- both ends of every range


def _ends(known):
    for section in known.sections.values():
        for parameter in section.parameters:
            if parameter.listed or parameter.kind == "size or share":
                continue
            policy = section.owners.get(id(parameter)) or _policy_with(section, parameter.key)
            for end, beyond in ((parameter.low, _below), (parameter.high, _above)):
                if end is None:
                    continue
                tree = _with(section, parameter, policy, end)
                if tree is None:
                    continue
                yield f"{parameter.path} at {end}", tree, _soon
                outside = beyond(parameter, end)
                if outside is not None:
                    yield (f"{parameter.path} beyond {end}", _with(section, parameter, policy, outside),
                           functools.partial(_refused_by_key, key=parameter.key))


def _policy_with(section, key):
    """A policy that has the key; None when it needs none."""
    default = section.policy.default if section.policy else None
    for policy in [default, *(section.policy.choices if section.policy else section.without)]:
        if key not in section.without.get(policy, ()):
            return policy
    return None


def _below(parameter, low):
    # A minus before a size or a share is refused as a number out of range, too.
    return low - 1 if parameter.kind in ("integer", "number", "time", "duration", "frequency", "bandwidth", "size") \
        else None


def _above(parameter, high):
    if parameter.kind in ("integer", "size", "time", "duration", "frequency", "bandwidth"):
        return high + max(1, high // 10**12)  # ranges are compared in doubles
    return high * 1.01 + 0.01


def _with(section, parameter, policy, value):
    """The small scenario with this one value."""
    tree = {"ssd": {"flash": {**_SMALL["ssd"]["flash"], "part": dict(_SMALL["ssd"]["flash"]["part"])}},
            "load": [dict(_SMALL["load"][0])]}
    if section.path.startswith("load"):
        tree["load"] = [{}]
        if section.path == "load.columns" or policy == "trace":
            tree["load"] = [{"trace": "none.csv", **({"format": "csv"} if "columns" in section.path else {})}]
        elif policy == "profile":
            tree["load"] = [{"profile": "hm_0", **({} if parameter.key == "scale" else {"scale": 0.0001})}]
        elif policy == "fio":
            return None
    node = tree
    for step in filter(None, section.path.split(".")):
        node = node.setdefault(step, [{}] if step in ("precondition", "load") else {})
        node = node[0] if isinstance(node, list) else node
    if section.policy is not None and policy is not None:
        node[section.policy.key] = policy
    quantity = quantities.is_quantity(parameter.kind)
    node[parameter.key] = quantities.write(parameter.kind, value) if quantity else value
    if parameter.key == "over_provisioning" or parameter.key == "spare_factor":
        tree["ssd"]["flash"].pop("over_provisioning" if parameter.key == "spare_factor" else "spare_factor", None)
    return tree


def _late(setup, outcome):
    budget = verdict.REFUSE_SECONDS * setup.program.slow * setup.patience
    if outcome.seconds > budget:
        yield "slow refusal", f"exit code {outcome.code} after {outcome.seconds:.1f} s: {verdict.last_line(outcome)}"


def _check(setup, folder):
    return setup.program.run(folder, "check", "s.yaml", limit=20)


def _soon(setup, folder):
    outcome = _check(setup, folder)
    yield from verdict.promised(outcome, _keys(setup))
    yield from _late(setup, outcome)


def _refused_by_key(setup, folder, key):
    outcome = _check(setup, folder)
    yield from verdict.promised(outcome, _keys(setup))
    yield from _late(setup, outcome)
    if outcome.code == 0:
        yield "a value beyond its range is accepted", "check says nothing"
    elif outcome.code == 2 and not any(verdict.key_of(line).split(".")[-1] == key for line in outcome.lines):
        yield "a value beyond its range is not named", verdict.last_line(outcome)


def _keys(setup):
    return {key for _, key in schema.of_program(setup.program.path).parameters()}


# ---- drives that no machine holds


def _shapes(program):
    for channels, ways, dies, blocks in ((1024, 1024, 64, 1024), (1024, 64, 1, 1024), (1024, 1024, 1, 24),
                                         (1, 1, 1, 16777216), (1024, 1024, 64, 1), (64, 64, 64, 16777216)):
        flash = {"channels": channels, "ways": ways, "dies_per_way": dies, "part": {"blocks_per_plane": blocks}}
        yield f"{channels} x {ways} x {dies} dies of {blocks} blocks", {**_SMALL, "ssd": {"flash": flash}}, _shape
    for capacity in ("256 TiB", "64 TiB"):
        yield (f"user capacity {capacity}", {**_SMALL, "ssd": {"flash": {"user_capacity": capacity}}}, _shape)
    yield "DRAM of 1 TiB", {**_SMALL, "ssd": {**_SMALL["ssd"], "dram": {"capacity": "1 TiB"}}}, _runs
    for scheme in schema.of_program(program).sections["firmware.mapping"].policy.choices:
        flash = {"channels": 8, "ways": 8, "over_provisioning": "60 %", "part": {"cell": "mlc"}}
        yield (f"trims of a large empty drive, {scheme}",
               {"ssd": {"flash": flash}, "firmware": {"mapping": {"scheme": scheme}, "buffer": {"capacity": "64 MiB"}},
                "load": [{"rw": "randtrim", "number_ios": 30000, "iodepth": 16}]}, _runs)
    yield "65536 outstanding", {**_SMALL, "load": [{"rw": "randread", "number_ios": 20000, "iodepth": 65536}]}, _runs


def _shape(setup, folder):
    outcome = setup.program.run(folder, "run", "s.yaml", "--quiet", limit=20)
    yield from verdict.promised(outcome, _keys(setup))
    if outcome.code == 2:
        yield from _late(setup, outcome)
    elif outcome.code == 0 and outcome.seconds > 20:
        yield "slow drive", f"{outcome.seconds:.1f} s"


def _runs(setup, folder):
    outcome = setup.program.run(folder, "run", "s.yaml", "--quiet", limit=20)
    yield from verdict.promised(outcome, _keys(setup))
    if outcome.seconds > 5 * setup.program.slow * setup.patience:
        yield "slow run", f"{outcome.seconds:.1f} s"


# ---- idle time


def _idle():
    """The drive left alone for a while, with everything in it that wakes up by itself."""
    def scenario(load, **more):
        return {**_SMALL, "precondition": [{"fill": "90 %"}, {"overwrite": "100 %"}], "load": load, **more}

    late = [{"rw": "randread", "number_ios": 5}, {"rw": "randread", "number_ios": 5, "startdelay": "1000 s",
                                                  "stonewall": True}]
    for idle in ("1 ps", "1 ms", "10 s"):
        yield (f"1000 s with gc.idle_after {idle}", scenario(late, firmware={"gc": {"idle_after": idle}}),
               functools.partial(_costs, simulated=1000))
    for patrol in ("1 s", "1 h"):
        refresh = {"policy": "limits", "patrol": patrol}
        yield (f"1000 s with a patrol every {patrol}", scenario(late, firmware={"refresh": refresh}),
               functools.partial(_costs, simulated=1000))
        yield (f"a year in use with a patrol every {patrol}",
               scenario([{"rw": "randread", "number_ios": 5}], firmware={"refresh": refresh},
                        age={"retention": "1 y", "powered": True}), functools.partial(_costs, simulated=0))
    busy = [{"rw": "randwrite", "number_ios": 1000, "thinktime": "1 s"}]
    for idle in ("1 ps", "1 ms"):
        yield (f"1000 pauses with gc.idle_after {idle}", scenario(busy, firmware={"gc": {"idle_after": idle}}),
               functools.partial(_costs, simulated=1000))
    trace = [{"rw": "randread", "number_ios": 10, "startdelay": "30 d"}]
    yield "30 days before the first request", scenario(trace), functools.partial(_costs, simulated=1000)
    wakeful = {"age": {"retention": "1 d"}, "run": {"stall_after": "1 ms"}}
    yield "1000 s with stall_after 1 ms", scenario(late, **wakeful), functools.partial(_costs, simulated=1000)


def _costs(setup, folder, simulated):
    outcome = setup.program.run(folder, "run", "s.yaml", "--quiet", limit=60)
    if outcome.code not in (0, 2):
        yield from verdict.promised(outcome, _keys(setup))
    budget = (_IDLE_SECONDS + simulated * _SECONDS_PER_SECOND) * setup.program.slow * setup.patience
    if outcome.seconds > budget:
        yield "idle time costs", f"{outcome.seconds:.1f} s of host time, {budget:.1f} s are allowed"
