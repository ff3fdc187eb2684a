"""Meeting targets: the search for the mildest step, and what it says."""

import json
import math

import numpy as np
import pytest
from reports import of_loads, operation, report, write

import tlmssd
from tlmssd import cli
from tlmssd.errors import InputError
from tlmssd.meet import Meet, meet
from tlmssd.meet.levers import Lever
from tlmssd.meet.page import method, page_of
from tlmssd.meet.search import (
    MISSED_BY_OTHERS,
    NOT_ENOUGH,
    NOT_SURE_WITH_ALL,
    Answer,
    search,
)
from tlmssd.meet.targets import Reading, Target
from tlmssd.meet.terminal import not_enough, text_of
from tlmssd.meet.together import helps, pairs
from tlmssd.runs import Outcome
from tlmssd.whatif.resources import Step
from tlmssd.whatif.seeded_runs import SeededRuns

TWO_TENANTS = """
title: two tenants
seed: 11
ssd:
  host: {link: pcie3x4, lba_size: 4 KiB, queues: 2}
  flash:
    channels: 1
    ways: 1
    bus: 800 MT/s
    part: {file: parts/nand/tlc-48l.yaml, blocks_per_plane: 64, cost: {die: 2, core: 5}}
precondition: [{fill: 100 %, order: sequential}]
load:
  - {name: web, rw: randread, bs: 4k, iodepth: 1, time_based: true, runtime: 100 ms}
  - {name: batch, rw: randread, bs: 4k, iodepth: 32, time_based: true, runtime: 100 ms}
targets:
  - {load: web, metric: read.mean, at_most: 500 us}
"""


@pytest.fixture
def scenario(tmp_path):
    path = tmp_path / "tenants.yaml"
    path.write_text(TWO_TENANTS)
    return path


AT_MOST = Target("web", "read.mean", 500.0, True, "ns")


class Lab:
    """Runs nothing: works out every target's value from the settings and the seed; None: refused.

    `targets` are (metric, limit, at most or not), `advice` gives names of rules of settings; the
    loads web and batch move the same whatever is changed.
    """

    def __init__(self, folder, values, targets=(("read.mean", 500.0, True),), advice=None):
        self.folder, self.values, self.targets, self.seeds = folder, values, targets, []
        self.advice = advice

    def __call__(self, requests):
        return [self.outcome(request) for request in requests]

    def outcome(self, request):
        settings = dict(request.settings)
        seed = int(settings.pop("seed"))
        self.seeds.append(seed)
        values = self.values(settings, seed)
        if values is None:
            return Outcome(request, "refused", "contradiction")
        part = operation(100.0, {"sense": 100}, {"sense": 100})
        part["own_time"] = {"iops": 1.0, "bandwidth": {"value": 1e6, "unit": "B/s"}}
        loads = {name: {"read": part} for name in ("web", "batch")}
        made = of_loads(report(seed, read=part), loads)
        made["results"]["total"]["queue_depth"] = {"max": 33}
        for load in made["results"]["loads"]:
            load["own_time"] = part["own_time"]
        made["targets"] = [
            {
                "load": "web",
                "metric": metric,
                "at_most" if at_most else "at_least": limit,
                "value": value,
                "unit": "ns",
            }
            for (metric, limit, at_most), value in zip(self.targets, values, strict=True)
        ]
        if self.advice:
            rules = self.advice(settings)
            made["advice"] = [{"name": one, "text": f"{one}!", "look_at": "x"} for one in rules]
        folder = write(self.folder / str(len(self.seeds)), made)
        return Outcome(request, "ok", "", folder)


def lever_of(values, **options):
    """A lever whose steps set `x` to each of these."""
    steps = (Step("0", str(value), value + 1.0, {"x": str(value)}) for value in values)
    return Lever("x", tuple(steps), **options)


def answer(scenario, lab, lever, seeds=3, missed=(AT_MOST,)):
    (found,) = search(SeededRuns(scenario, {}, seeds, lab), [lever], missed)
    return found


def x_of(settings):
    return float(settings.get("x", 0))


@pytest.mark.parametrize("enough", range(1, 12))
def test_the_mildest_step_that_is_enough_is_found(scenario, tmp_path, enough):
    lab = Lab(tmp_path / "lab", lambda settings, seed: [1000.0 - 500 * x_of(settings) / enough])
    found = answer(scenario, lab, lever_of(range(1, 12)))
    assert found.is_enough
    assert found.step.after == str(enough)
    tries = len(lab.seeds) / 3 - 3  # but for the drive as it is, and other seeds at the end
    assert tries <= 1 + math.ceil(math.log2(11))


def test_other_seeds_than_the_chosen_ones_judge(scenario, tmp_path):
    """Seeds 11 to 13 choose; those behind them take twice as much to be content."""

    def values(settings, seed):
        return [1000.0 - 500 * x_of(settings) / (3 if seed < 14 else 6)]

    lab = Lab(tmp_path / "lab", values)
    found = answer(scenario, lab, lever_of(range(1, 12)))
    assert (found.step.after, found.is_enough) == ("6", True)
    assert {11, 12, 13} < set(lab.seeds) <= set(range(11, 17))
    (reading,) = found.readings
    assert reading.mean == pytest.approx(500)
    never = answer(scenario, Lab(tmp_path / "none", values), lever_of(range(1, 6)))
    assert (never.step.after, never.reason) == ("5", MISSED_BY_OTHERS)


def test_steps_beyond_the_one_that_was_chosen_must_be_sure_by_all_seeds(scenario, tmp_path):
    """Step 1 passes with the seeds 11 to 13 and misses with the others; these meet the target with
    step 2 by their mean, 493, and leave it in doubt."""
    others = {1: (600.0, 600.0, 600.0), 2: (100.0, 900.0, 480.0), 3: (420.0, 430.0, 440.0)}

    def values(settings, seed):
        x = int(x_of(settings))
        return [1000.0 if not x else 400.0 if seed < 14 else others[x][seed - 14]]

    found = answer(scenario, Lab(tmp_path / "lab", values), lever_of([1, 2, 3]))
    assert (found.step.after, found.is_enough) == ("3", True)
    assert found.readings[0].is_surely_met
    last = answer(scenario, Lab(tmp_path / "last", values), lever_of([1, 2]))
    assert (last.step.after, last.reason) == ("2", NOT_SURE_WITH_ALL)


def test_steps_that_the_first_seeds_found_too_little_are_not_taken(scenario, tmp_path):
    """Of a lever with too much: step 2, beyond the one that was chosen, has failed by the first
    seeds, though the others meet the target by a hair."""

    def values(settings, seed):
        if seed < 14:
            return [400.0 if x_of(settings) == 1 else 900.0]
        return [600.0 if x_of(settings) == 1 else 499.0]

    lab = Lab(tmp_path / "lab", values)
    found = answer(scenario, lab, lever_of([1, 2, 3], may_be_too_much=True))
    assert (found.step.after, found.reason) == ("3", NOT_SURE_WITH_ALL)


def test_with_one_seed_both_runs_of_a_step_beyond_must_meet_the_target(scenario, tmp_path):
    def values(settings, seed):
        return [1000.0 - 500 * x_of(settings) / (3 if seed < 12 else 6)]

    found = answer(scenario, Lab(tmp_path / "lab", values), lever_of(range(1, 12)), seeds=1)
    assert (found.step.after, found.is_enough) == ("6", True)


def test_with_one_seed_no_confidence_is_claimed():
    assert "95 %" in method(2)
    assert "95 %" not in method(1)


def test_too_much_of_what_helps_is_seen(scenario, tmp_path):
    """Only the middle of eleven steps is enough."""
    lab = Lab(tmp_path / "lab", lambda settings, seed: [400.0 + 90 * abs(x_of(settings) - 5)])
    alone = answer(scenario, lab, lever_of(range(11)))
    assert (alone.step.after, alone.is_enough) == ("10", False)
    found = answer(scenario, lab, lever_of(range(11), may_be_too_much=True))
    assert found.step.after == "4"


def test_steps_that_cannot_run_give_way_to_milder_ones(scenario, tmp_path):
    def values(settings, seed):
        return None if x_of(settings) > 4 else [1000.0 - 200 * x_of(settings)]

    found = answer(scenario, Lab(tmp_path / "lab", values), lever_of(range(1, 12)))
    assert (found.step.after, found.is_enough) == ("3", True)
    refused = answer(
        scenario, Lab(tmp_path / "none", lambda s, seed: None if s else [900.0]), lever_of([1, 2])
    )
    assert (refused.step, refused.reason) == (None, "contradiction")


def test_steps_in_the_middle_that_cannot_run_are_passed_over(scenario, tmp_path):
    """What cannot run is not asked for for ever, though stronger steps are enough."""

    def values(settings, seed):
        return None if 2 < x_of(settings) < 8 else [1000.0 - 70 * x_of(settings)]

    lab = Lab(tmp_path / "lab", values)
    found = answer(scenario, lab, lever_of(range(1, 12)))
    assert (found.step.after, found.is_enough) == ("8", True)
    assert len(lab.seeds) < 3 * 9


def test_what_loads_pay_is_told_with_the_same_seeds(scenario, tmp_path):
    """Seeds 14 to 16 move twice as much, whatever is changed."""

    class Lucky(Lab):
        def outcome(self, request):
            found = super().outcome(request)
            made = found.result.report
            for load in made["results"]["loads"]:
                load["own_time"]["bandwidth"]["value"] *= 1 + (made["seed"] > 13)
            (found.folder / "report.json").write_text(json.dumps(made))
            return found

    lab = Lucky(tmp_path / "lab", lambda settings, seed: [1000.0 - 100 * x_of(settings)])
    found = answer(scenario, lab, lever_of(range(1, 12)))
    assert found.is_enough
    assert found.loads == {"web": 0.0, "batch": 0.0}


def test_what_was_met_must_not_be_broken(scenario, tmp_path):
    """The latency falls with x, and so does a rate that is to be at least 60."""

    def values(settings, seed):
        return [1000.0 - 100 * x_of(settings), 100.0 - 10 * x_of(settings)]

    targets = (("read.mean", 500.0, True), ("iops", 60.0, False))
    found = answer(scenario, Lab(tmp_path / "lab", values, targets), lever_of(range(1, 9)))
    assert found.step.after == "5"
    assert found.reason == "web iops becomes 50 ns, at least 60 ns"


def test_two_together_where_none_is_enough(scenario, tmp_path):
    """Either takes a half away at most, and a quarter is wanted; cores are no help."""

    def values(settings, seed):
        depth = float(settings.get("load.1.iodepth", 32)) / 32
        limited = 2 if settings.get("ssd.host.outstanding_limit") else 1
        return [1600.0 * max(depth, 0.5) / limited]

    lab = Lab(tmp_path / "lab", values)
    found = meet(
        scenario, seeds=2, run=lab, only="fewer outstanding of batch,commands at once,cores"
    )
    (both,) = found.enough
    assert both.lever.name == "fewer outstanding of batch + commands at once"
    assert both.step.settings["load.1.iodepth"] == "17"  # 16 would be milder only as the last
    assert "commands at once, " in text_of(found)


def test_two_together_where_each_leaves_a_little(scenario, tmp_path):
    """A near miss: 540 at most 500, either makes it 502, and both 464; ratios to the limit hardly
    tell these apart."""

    def values(settings, seed):
        changed = settings.keys() & {"load.1.iodepth", "ssd.host.outstanding_limit"}
        return [540.0 - 38 * len(changed)]

    lab = Lab(tmp_path / "lab", values)
    found = meet(scenario, seeds=2, run=lab, only="fewer outstanding of batch,commands at once")
    (both,) = found.enough
    assert both.lever.name == "fewer outstanding of batch + commands at once"
    assert both.readings[0].mean == 464


@pytest.mark.parametrize(
    ("before", "after", "help"),
    [
        (540.0, 502.0, True), (540.0, 537.0, False), (540.0, 535.0, True), (540.0, 400.0, True),
        (5000.0, 4600.0, False), (5000.0, 4500.0, True), (540.0, math.nan, False),
    ],
)  # fmt: skip
def test_a_tenth_of_the_distance_is_help(before, after, help):
    def of(value):
        return Reading(AT_MOST, (value, value))

    assert helps([of(after)], [of(before)]) is help


def test_of_a_target_that_the_mean_meets_the_bound_tells_what_helps():
    def of(*values):
        return Reading(AT_MOST, values)

    doubtful = of(300.0, 600.0)
    assert doubtful.is_met and not doubtful.is_surely_met
    assert helps([of(400.0, 500.0)], [doubtful])
    assert not helps([of(299.0, 599.0)], [doubtful])
    assert not helps([of(250.0, 650.0)], [doubtful])


@pytest.mark.parametrize(
    ("only", "said"),
    [
        ("cores", "meets the targets. None were tried together: there are no two that help."),
        ("commands at once", "None were tried together: there are no two that help."),
        ("commands at once,fewer*batch", "meets the targets, nor two together of those that help"),
        ("fewer*batch,more*batch", "meets the targets; those that help cannot be made together."),
    ],
)
def test_it_is_said_whether_changes_were_tried_together(scenario, tmp_path, only, said):
    def values(settings, seed):
        changed = settings.keys() & {"load.1.iodepth", "ssd.host.outstanding_limit"}
        return [9000.0 * 0.8 ** len(changed)]

    found = meet(scenario, seeds=2, run=Lab(tmp_path / "lab", values), only=only)
    assert said in text_of(found)
    assert said in page_of(found)
    both = "fewer outstanding of batch + more outstanding of batch"
    apart = f"not together, because they set one parameter differently: {both}"
    assert (apart in text_of(found)) == (found.not_together == (both,)) == ("more" in only)


def test_nothing_measured_meets_nothing(scenario, tmp_path):
    lab = Lab(tmp_path / "lab", lambda settings, seed: [None])
    found = answer(scenario, lab, lever_of([1, 2, 3]))
    assert not found.is_enough
    assert math.isnan(found.readings[0].mean)


def test_a_target_is_surely_met_with_95_per_cent():
    """Of 1, 2, 3: s = 1, one-sided t = 2.919986 with two degrees of freedom."""
    bound = 2 + 2.919986 / math.sqrt(3)
    for at_most, sign in ((True, 1), (False, -1)):
        for limit, sure in ((2 + sign * (bound - 2) * 1.001, True), (2 + sign * 1.6, False)):
            reading = Reading(Target("", "m", limit, at_most, "ns"), (1.0, 2.0, 3.0))
            assert reading.is_met
            assert reading.is_surely_met == sure
    single = Reading(AT_MOST, (499.0,))
    assert single.is_surely_met


def test_how_often_what_is_sure_is_wrong():
    """Of 4,000 targets that are missed by next to nothing, as many are called met as is said: 5 %,
    to 1.2 % (three and a half deviations)."""
    draws = np.random.default_rng(5).normal(500.001, 20.0, (4000, 5))
    sure = np.mean([Reading(AT_MOST, tuple(values)).is_surely_met for values in draws])
    assert abs(sure - 0.05) < 0.012


def test_fewer_outstanding_of_the_neighbour(scenario):
    """One die that serves reads one after another: a read waits for all others, so that its latency
    goes with how many there are. What is found is enough by runs of its own; one step less is not.
    """
    found = meet(scenario, only="fewer outstanding of batch", seeds=3)
    (lever,) = found.enough
    depths = [int(step.after) for step in lever.lever.steps]
    chosen = int(lever.step.after)

    def mean(depth):
        runs = [tlmssd.run(scenario, {"load.1.iodepth": depth, "seed": seed}) for seed in (91, 92)]
        return np.mean([run.value("loads.web.read.mean") for run in runs])

    assert mean(chosen) <= 500e3 < mean(depths[depths.index(chosen) - 1])
    before, after = mean(32), mean(chosen)
    assert before / after == pytest.approx(33 / (chosen + 1), rel=0.1)


def test_the_command(scenario, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = ["meet", str(scenario), "--seeds", "2", "--only", "rate of *, dies", "--jobs", "2"]
    assert cli.main([*words, "--out", "page.html", "--csv", "table.csv"]) == 0
    told = capsys.readouterr().out
    assert "Target  MISSED  web read.mean" in told
    assert "rate of batch" in told
    assert "web read.mean" in (tmp_path / "table.csv").read_text()
    assert "Enough" in (tmp_path / "page.html").read_text()
    for arguments, problem in (
        (["--only", "chips"], "--only chips: no change is called so; there are: "),
        (["--seeds", "0"], "--seeds 0: at least 1"),
        (["--set", "targets=[]"], "has no targets to meet; add"),
        (["--set", "load"], "--set load: write PATH=VALUE"),
    ):
        assert cli.main(["meet", str(scenario), *arguments]) == 2
        assert problem in capsys.readouterr().err


def test_what_is_to_be_doubted_stands_out_on_the_page():
    """As the lines with `!` do in the terminal, and a target that these seeds leave open."""
    readings = (
        Reading(AT_MOST, (100.0, 101.0)),
        Reading(AT_MOST, (300.0, 600.0)),
        Reading(AT_MOST, (900.0, 901.0)),
    )
    page = page_of(Meet("two tenants", 2, readings, cautions=("the load is short",)))
    for word, kind in (("met", ""), ("not sure", "warn"), ("MISSED", "warn")):
        assert f'<p class="{kind}">Target  {word}  ' in page
    assert '<p class="warn">the load is short</p>' in page


def test_advice_against_what_is_enough_is_passed_on(scenario, tmp_path):
    """What the scenario's own runs have is said once; what only those with a change have, with its
    name; of changes that are not enough nothing."""

    def values(settings, seed):
        enough = settings.keys() & {"ssd.flash.bus", "ssd.cpu.clock"}
        return [400.0 if enough else 1000.0]

    def advice(settings):
        new = {"ssd.flash.bus": "held", "ssd.cpu.clock": "held", "ssd.bus.clock": "other"}
        return ["few", *(rule for path, rule in new.items() if path in settings)]

    lab = Lab(tmp_path / "lab", values, advice=advice)
    found = meet(scenario, seeds=2, only="flash bus,core clock,system bus", run=lab)
    assert {one.lever.name for one in found.enough} == {"flash bus", "core clock"}
    few, held = found.cautions
    assert few == "few! (look at x)"
    names = [f"{one.lever.name} {one.step.after}" for one in found.enough]
    assert held == f"With {', '.join(names)}: held! (look at x)"
    assert f"! {held}" in text_of(found)
    assert held in page_of(found)


def test_by_cost_what_is_free_comes_first_and_what_has_no_price_last(scenario, tmp_path, capsys):
    """A die costs 2, a core 5, a faster clock has no price, and fewer commands need none."""

    def values(settings, seed):
        return [400.0 if len(settings) else 1000.0]

    names = ["fewer outstanding of batch", "dies", "cores", "core clock"]
    lab = Lab(tmp_path / "lab", values)
    found = meet(scenario, seeds=2, only=",".join(names), order="cost", run=lab)
    assert [one.lever.name for one in found.answers] == names
    assert [one.is_enough for one in found.answers] == [True] * 4
    assert list(found.costs) == [None, 2, 5, None]
    lab = Lab(tmp_path / "mildest", values)
    by_ratio = meet(scenario, seeds=2, only=",".join(names), run=lab)
    order = [one.lever.name for one in by_ratio.answers]
    assert order.index("core clock") < order.index("cores")
    assert sorted(zip(order, map(str, by_ratio.costs), strict=True)) == sorted(
        zip(names, map(str, found.costs), strict=True)
    )
    with pytest.raises(InputError, match="--order price: must be one of mildest, cost"):
        meet(scenario, order="price")
    free = ["--set=ssd.flash.part.cost.die=0", "--set=ssd.flash.part.cost.core=0"]
    assert cli.main(["meet", str(scenario), "--order", "cost", *free]) == 2
    assert "has no prices; add, for instance, cost: {die: 2" in capsys.readouterr().err


def test_two_changes_together_need_hardware_where_one_does():
    one, other = (
        Lever(name, (Step("0", "1", 2.0, {name: "1"}),), needs_hardware=name == "clock")
        for name in ("clock", "policy")
    )
    told = Reading(AT_MOST, (600.0,))
    answers = [Answer(lever, lever.steps[0], (told,), reason=NOT_ENOUGH) for lever in (one, other)]
    (both,), _ = pairs(answers, [Reading(AT_MOST, (1000.0,))])
    assert both.needs_hardware


@pytest.mark.parametrize(
    ("at_most", "values", "said"),
    [
        (True, (400.0, 420.0), "web read.mean 410 ns (not certain: up to 473 ns)"),
        (False, (620.0, 600.0), "web read.mean 610 ns (not certain: down to 547 ns)"),
        # 95 % of one side of two values is 6.3138 times half their difference.
        (True, (449.96, 450.02), "web read.mean 450 ns (not certain: up to 450.2 ns)"),
        (True, (470.0, 480.0), "web read.mean 475 ns"),
    ],
)
def test_a_mean_that_meets_the_target_without_being_enough_says_why(at_most, values, said):
    limit = 450.0 if at_most else 580.0
    target = Target("web", "read.mean", limit, at_most, "ns")
    missed = Reading(target, (900.0, 901.0) if at_most else (100.0, 101.0))
    reading = Reading(target, values)
    step = Step("1", "2", 2.0, {"x": "2"})
    answer = Answer(Lever("dies", (step,)), step, (reading,), reason=NOT_ENOUGH)
    found = Meet("t", 2, (missed,), (answer,), (None,))
    (line,) = not_enough(found)
    assert line == f"dies, 2: {said}"
    assert line in page_of(found)


def test_met_as_it_is(scenario):
    found = meet(scenario, {"targets.0.at_most": "1 s"}, seeds=2)
    assert not found.answers
    assert "All targets are met as it is." in text_of(found)
    assert "All targets are met as it is." in page_of(found)
    assert list(found.frame().columns)[:2] == ["rank", "change"]


def test_a_load_that_pays_comes_behind_one_that_does_not(scenario, tmp_path):
    found = meet(scenario, seeds=2, only="fewer outstanding of batch,array read,cores")
    assert [one.lever.name for one in found.enough][0] == "fewer outstanding of batch"
    assert "no help: cores" in text_of(found)


def test_runs_that_fail_are_said(scenario):
    with pytest.raises(InputError, match="load.0.iodepth"):
        meet(scenario, {"load.0.iodepth": 0})
