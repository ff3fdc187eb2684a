"""What-if: effects with their confidence, their ranking, interactions."""

import itertools
import math
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from reports import operation, report, write

from tlmssd import cli
from tlmssd.drive import Drive
from tlmssd.errors import InputError, RunFailed
from tlmssd.result import Result
from tlmssd.runs import Outcome
from tlmssd.whatif import cautions, whatif
from tlmssd.whatif.experiment import Effect, Finding, Trial, _logs
from tlmssd.whatif.interactions import Interaction, Shares, beyond_sum
from tlmssd.whatif.page import page_of
from tlmssd.whatif.resources import Step
from tlmssd.whatif.terminal import interaction_words, text_of

SCENARIO = """
title: by hand
ssd:
  host: {link: pcie3x4}
  flash:
    channels: 4
    ways: 1
    part: {file: parts/nand/tlc-48l.yaml, blocks_per_plane: 64, cost: {die: 2, core: 5}}
load: {rw: randread, bs: 4k, number_ios: 100}
"""


@pytest.fixture
def scenario(tmp_path):
    path = tmp_path / "drive.yaml"
    path.write_text(SCENARIO)
    return path


def test_confidence_of_an_effect():
    effect = Effect((math.log(0.5), math.log(0.5)))
    assert effect.mean == pytest.approx(-0.5)
    assert effect.interval == pytest.approx((-0.5, -0.5))
    assert effect.is_certain
    assert not Effect((-0.1, 0.1, 0.0)).is_certain
    assert Effect((-0.1, 0.1, 0.0)).is_doubtful and not effect.is_doubtful
    assert Effect((0.1,)).interval is None
    assert not Effect((0.1,)).is_certain and not Effect((0.1,)).is_doubtful


def test_the_interval_of_an_effect_is_students():
    """Of the logarithms 0.1, 0.2, 0.3: s = 0.1, t = 4.302653 with two degrees of freedom."""
    width = 4.302653 * 0.1 / math.sqrt(3)
    found = Effect((0.1, 0.2, 0.3))
    assert found.mean == pytest.approx(math.expm1(0.2))
    assert found.interval == pytest.approx((math.expm1(0.2 - width), math.expm1(0.2 + width)))
    for middle, certain in ((1.01 * width, True), (0.99 * width, False)):
        for sign in (-1, 1):
            logs = tuple(sign * middle + off for off in (-0.1, 0, 0.1))
            assert Effect(logs).is_certain is certain


def test_what_a_seed_does_to_both_cancels_where_one_of_them_is_0():
    """All seeds lose half: nothing of it is chance."""
    half = _logs(np.array([0.0, 100, 200]), np.array([0.0, 200, 400]))
    assert half == pytest.approx([math.log(0.5)] * 3)


def test_what_two_have_beyond_the_sum_is_told_without_the_third():
    """At the drive as it is: that the third adds 0.3 with them both is none of theirs."""
    effects = {
        point: (np.dot(point, (-0.5, -0.2, -0.1)) - 0.4 * point[0] * point[1] + 0.3 * all(point),)
        for point in itertools.product((False, True), repeat=3)
    }
    for factors, beyond in (((0, 1), -0.4), ((0, 2), 0), ((1, 2), 0), ((0, 1, 2), -0.1)):
        joint = tuple(i in factors for i in range(3))
        assert beyond_sum(effects, joint) == pytest.approx((beyond,))


@pytest.mark.parametrize("rate", [False, True])
def test_steps_that_follow_each_other_are_independent(rate, scenario, tmp_path):
    """The times that they save add up, so that the ratios do not multiply."""

    def latency(settings, seed):
        clock = 4 if "ssd.cpu.clock" in settings else 1
        bus = 4 if "ssd.bus.clock" in settings else 1
        time = (600 + seed) / clock + 300 / bus + 10
        return 1e6 / time if rate else time

    lab = Lab(tmp_path / "lab", latency)
    options = {"seeds": 3, "steps": [3.0], "goal": "max" if rate else "min"}
    found = whatif(scenario, "read.mean", run=lab, **options)
    (pair,) = [i for i in found.interactions if set(i.names) == {"core clock", "system bus"}]
    assert pair.beyond.is_certain
    assert abs(pair.beyond.mean) > 0.2
    assert interaction_words(pair, found.more_is_better) == "independent"


def test_seeds_go_on_from_the_scenario_s_own(scenario, tmp_path):
    asked = []

    def latency(settings, seed):
        asked.append(seed)
        return 1000 + seed

    lab = Lab(tmp_path / "lab", latency)
    found = whatif(
        scenario, "read.mean", {"seed": 5}, seeds=3, steps=[0.5], factorial=False, run=lab
    )
    assert set(asked) == {5, 6, 7}
    assert found.base == pytest.approx((1005, 1006, 1007))


def test_a_longer_step_counts_for_as_much_as_was_asked_for():
    """One of which half was asked for, twice over, gains the square root."""
    long = Step("4", "8", 4.0, {}, weight=0.5)
    finding = Finding(None, (Trial(long, Effect((math.log(0.25), math.log(0.16))), "", None),))
    assert finding.gains(False) == pytest.approx([math.log(2), math.log(2.5)])
    assert finding.gain(True) == pytest.approx(-math.log(5) / 2)
    assert Finding(None, (Trial(long, None, "why", None),)).gain(False) == -math.inf


class Lab:
    """Runs nothing: works out a latency from the settings, and counts the runs."""

    def __init__(self, folder: Path, latency, causes=None):
        self.folder, self.latency, self.runs = folder, latency, 0
        self.causes = causes or {"sense": 1}

    def __call__(self, requests):
        return [self.outcome(request) for request in requests]

    def outcome(self, request):
        self.runs += 1
        settings = dict(request.settings)
        seed = int(settings.pop("seed"))
        latency = self.latency(settings, seed)
        if latency is None:
            return Outcome(request, "refused", "contradiction")
        parts = self.causes(settings, seed) if callable(self.causes) else self.causes
        whole = sum(parts.values())
        causes = {cause: latency * part / whole for cause, part in parts.items()}
        read = operation(latency, causes, causes)
        folder = write(self.folder / str(self.runs), report(seed, read=read))
        return Outcome(request, "ok", "", folder)


def slow_clock(settings, seed):
    """Half of the time is the core's; a second core helps as much when the clock is as it is."""
    clock = float(settings.get("ssd.cpu.clock", "500 MHz").split()[0]) / 500
    bus = float(settings.get("ssd.bus.clock", "800 MHz").split()[0]) / 800
    if "ssd.flash.ways" in settings and "ssd.flash.channels" not in settings:
        return None
    return 1000 * (1 + 0.1 * seed) / clock / bus**0.5


def test_the_largest_effect_comes_first_and_seeds_cancel(scenario, tmp_path):
    lab = Lab(tmp_path / "lab", slow_clock)
    found = whatif(scenario, "read.mean", seeds=3, run=lab)
    assert [one.resource.name for one in found.findings[:2]] == ["core clock", "system bus"]
    assert found.first == "core clock"
    effect = found.findings[0].largest.effect
    assert effect.mean == pytest.approx(1 / 4 - 1)
    assert effect.is_certain
    assert found.unit == "ns"
    (together,) = [i for i in found.interactions if i.names == ("core clock", "system bus")]
    assert together.beyond.mean == pytest.approx(0, abs=1e-9)
    assert together.together.mean == pytest.approx(1 / 4**1.5 - 1)
    dies = next(one for one in found.findings if one.resource.name == "dies")
    assert dies.largest is None
    assert dies.trials[-1].reason == "contradiction"
    frame = found.frame()
    assert frame.loc[0, "resource"] == "core clock"
    assert set(frame[frame.resource == "dies"].reason) == {"contradiction"}
    assert "core clock" in found._repr_html_()


def test_an_interaction_is_found(scenario, tmp_path):
    """The bus helps only when the clock is fast: each alone does less than both together."""

    def latency(settings, seed):
        fast = settings.get("ssd.cpu.clock") == "750 MHz"
        quick = settings.get("ssd.bus.clock") == "1200 MHz"
        return {(0, 0): 1000, (1, 0): 900, (0, 1): 950, (1, 1): 400}[fast, quick] + seed

    lab = Lab(tmp_path / "lab", latency)
    found = whatif(scenario, "read.mean", seeds=3, steps=[0.5], run=lab)
    (pair,) = [i for i in found.interactions if i.names == ("core clock", "system bus")]
    assert pair.beyond.mean == pytest.approx(400 * 1000 / (900 * 950) - 1, rel=0.02)
    assert pair.beyond.is_certain
    assert interaction_words(pair, found.more_is_better) == "help each other"
    one_seed = whatif(
        scenario, "read.mean", seeds=1, steps=[0.5], run=Lab(tmp_path / "one", latency)
    )
    words = {interaction_words(one, one_seed.more_is_better) for one in one_seed.interactions}
    assert words == {"not known with one seed"}
    assert "not known with one seed" in text_of(one_seed)
    assert "not known with one seed" in one_seed._repr_html_()
    assert "The bottleneck is core clock" in text_of(one_seed)


def test_what_removes_a_cause_comes_first_and_a_seed_without_it_is_one_of_them(scenario, tmp_path):
    """Of 0, 100 and 300 ns a bus four times as fast leaves half, and a clock as fast nothing."""

    def causes(settings, seed):
        spent = (0, 100, 300)[seed - 1] * (0.5 if "ssd.bus.clock" in settings else 1)
        gone = spent == 0 or "ssd.cpu.clock" in settings
        return {"sense": 1000 - spent, **({} if gone else {"die busy: gc": spent})}

    lab = Lab(tmp_path / "lab", lambda settings, seed: 1000, causes)
    metric = "read.ledger.die busy: gc"
    found = whatif(scenario, metric, {"seed": 1}, seeds=3, steps=[3.0], run=lab)
    assert [one.resource.name for one in found.findings[:2]] == ["core clock", "system bus"]
    removed, halved = (one.largest.effect for one in found.findings[:2])
    assert found.base == pytest.approx((0, 100, 300))
    assert found.unit == "ns"
    assert removed.mean == pytest.approx(-1, abs=1e-5)
    assert removed.is_certain
    assert halved.mean == pytest.approx(-0.5)
    assert found.interactions == ()
    assert "core clock: 2000 MHz instead of 500 MHz" in found._repr_html_()
    assert "changes read.ledger.die busy: gc by -100 %" in found._repr_html_()


def test_the_effect_on_a_cause_that_some_seeds_lack():
    """One of four seeds loses 100 of the 400 ns that all have: a quarter, and not everything."""
    effect = Effect(tuple(_logs(np.array([0.0, 100, 100, 100]), np.full(4, 100.0))))
    assert effect.mean == pytest.approx(-0.25)
    assert not effect.is_certain
    assert Effect(tuple(_logs(np.array([2.0, 8]), np.array([1.0, 2])))).logs == pytest.approx(
        (math.log(2), math.log(4))
    )
    with pytest.raises(RunFailed, match="became 0"):
        _logs(np.ones(2), np.zeros(2))


def dies_or(key, faster, latency):
    """1000 alone, that by `faster` with more dies, and `latency` with another value of `key`."""

    def of(settings, seed):
        if "ssd.flash.ways" in settings and "ssd.flash.channels" not in settings:
            return (1000 + seed) / faster
        return latency if key in settings else 1000 + seed

    return of


def test_waiting_comes_before_dies_where_it_is_most_of_their_gain(scenario, tmp_path):
    """More dies do what a faster erase does, too."""

    latency = partial(dies_or, "ssd.flash.part.erase_latency", 2)
    options = {"seeds": 3, "steps": [3.0], "factorial": False}
    most = whatif(scenario, "read.mean", run=Lab(tmp_path / "a", latency(700)), **options)
    assert [one.resource.name for one in most.findings[:2]] == ["erase", "dies"]
    assert most.choice.share == pytest.approx(0.6, rel=0.01)
    assert "the drive is held up by erase, not short of dies" in most._repr_html_()
    less = whatif(scenario, "read.mean", run=Lab(tmp_path / "b", latency(800)), **options)
    assert (less.first, less.choice) == ("dies", None)


def test_no_resource_comes_before_a_larger_gain_by_luck(scenario, tmp_path):
    """Erase saves most of what dies save on average, but seeds differ by more than that."""

    def latency(settings, seed):
        if "ssd.flash.ways" in settings and "ssd.flash.channels" not in settings:
            return 20.0 * seed**4
        erase = {1: 150.0, 2: 100.0, 3: 1600.0}
        return erase[seed] if "ssd.flash.part.erase_latency" in settings else 1000.0

    options = {"seeds": 3, "steps": [3.0], "factorial": False}
    found = whatif(scenario, "read.mean", run=Lab(tmp_path, latency), **options)
    assert (found.first, found.choice) == ("dies", None)
    assert "Most is gained by dies" in text_of(found)


def test_what_seeds_leave_open_is_not_called_independent():
    def words(*logs):
        return interaction_words(Interaction(("a", "b"), Effect(logs), Effect(logs)), True)

    assert words(0.5, -0.5, 0.1) == "not told by these seeds"
    assert words(0.01, -0.01, 0.0) == "independent"
    assert words(0.2, 0.21, 0.2) == "help each other"
    pair = ("a", "b"), Effect((0.2, 0.21, 0.2)), Effect((0.2, 0.21, 0.2))
    for in_time, said in (
        ((0.001, -0.002, 0.0), "independent"),
        ((0.2, -0.2, 0.1), "help each other"),
        ((0.02, 0.021, 0.02), "help each other"),
        ((0.002, 0.0021, 0.002), "independent"),
    ):
        assert interaction_words(Interaction(*pair, Shares(in_time)), True) == said


def test_spare_flash_comes_before_dies_where_it_takes_most_of_their_time(scenario, tmp_path):
    """More dies share the work of collection; more spare flash does away with it."""

    latency = partial(dies_or, "ssd.flash.over_provisioning", 4)
    options = {"seeds": 3, "steps": [3.0], "factorial": False}
    most = whatif(scenario, "read.mean", run=Lab(tmp_path / "a", latency(400)), **options)
    assert [one.resource.name for one in most.findings[:2]] == ["spare flash", "dies"]
    assert most.choice.share == pytest.approx(0.6, rel=0.01)
    assert "It takes 60 % of the time of the dies off them" in most._repr_html_()
    less = whatif(scenario, "read.mean", run=Lab(tmp_path / "b", latency(600)), **options)
    assert (less.first, less.choice) == ("dies", None)


@pytest.mark.parametrize(("waiting", "first"), [(600, "dies"), (200, "array read")])
def test_dies_are_few_where_reads_wait_longer_than_they_are_sensed(
    waiting, first, scenario, tmp_path
):
    def latency(settings, seed):
        if "ssd.flash.part.read_latency" in settings:
            return 250 + seed / 4
        dies = "ssd.flash.ways" in settings and "ssd.flash.channels" not in settings
        return 300 if dies else 1000 + seed

    causes = {"die busy: read": waiting, "die busy: gc": 100, "sense": 900 - waiting}
    lab = Lab(tmp_path, latency, causes)
    found = whatif(scenario, "read.mean", seeds=3, steps=[3.0], factorial=False, run=lab)
    assert found.first == first
    if first == "dies":
        assert found.choice.queued == pytest.approx(0.7)
        assert "70 % of the time that reads spend on dies they wait" in found._repr_html_()


def test_the_advice_of_the_run_is_passed_on(tmp_path):
    content = report(1, read=operation(10.0, {"sense": 10.0}, {"sense": 10.0}))
    content["advice"] = [{"name": "x", "text": "reads of nothing", "look_at": "precondition"}]
    result = Result(write(tmp_path / "run", content))
    buffer = Drive({"firmware.buffer.capacity": "1 MiB"})
    assert cautions(result, buffer) == ("reads of nothing (look at precondition)",)


def test_that_the_buffer_holds_the_load_is_the_advisers_to_say(tmp_path):
    """4 MB are written: of a buffer of 1 MiB that is little, unless the advice says so already."""
    content = report(1, write=operation(10.0, {"memory": 10.0}, {"memory": 10.0}))
    content["results"]["total"]["operations"]["write"]["bytes"] = 4 << 20
    result = Result(write(tmp_path / "little", content))
    (said,) = cautions(result, Drive({"firmware.buffer.capacity": "1 MiB"}))
    assert said.startswith("The load writes 4 MiB, and the write buffer holds 1 MiB: a larger one ")
    assert cautions(result, Drive({"firmware.buffer.capacity": "256 KiB"})) == ()
    content["advice"] = [{"name": "buffer-holds-load", "text": "all fits", "look_at": "number_ios"}]
    held = Result(write(tmp_path / "held", content))
    for capacity in ("8 MiB", "1 MiB", "256 KiB"):
        drive = Drive({"firmware.buffer.capacity": capacity})
        assert cautions(held, drive) == ("all fits (look at number_ios)",)


def test_a_load_that_is_too_short_for_the_cache_is_told(tmp_path):
    """16 MiB fill a buffer of 1 MiB 16 times, and with a cache of 3 MiB both 4 times."""
    content = report(1, write=operation(10.0, {"memory": 10.0}, {"memory": 10.0}))
    content["results"]["total"]["operations"]["write"]["bytes"] = 16 << 20
    result = Result(write(tmp_path / "little", content))
    buffer = {"firmware.buffer.capacity": "1 MiB"}
    assert cautions(result, Drive(buffer)) == ()
    (said,) = cautions(result, Drive(buffer), times=10)
    assert "the write buffer holds 1 MiB" in said
    cache = {"firmware.cache.policy": "nv-wb", "firmware.cache.medium": "scm"}
    of_scm = {**cache, "firmware.cache.capacity": "0 B", "ssd.scm.capacity": "3 MiB"}
    given = {**cache, "firmware.cache.capacity": "3 MiB", "ssd.scm.capacity": "64 MiB"}
    for parameters in (of_scm, given):
        (said,) = cautions(result, Drive(buffer | parameters))
        assert "the write buffer and the cache hold 4 MiB: larger ones may" in said
    small = {**given, "firmware.cache.capacity": "512 KiB"}
    assert cautions(result, Drive(buffer | small)) == ()
    assert cautions(result, Drive(buffer | of_scm | {"firmware.cache.policy": "none"})) == ()


def test_where_single_effects_leave_nothing_their_interaction_is_not_told(scenario, tmp_path):
    """Each of two resources takes away all but a ten thousandth, and so do both together."""

    def latency(left):
        def of(settings, seed):
            fast = {"ssd.cpu.clock", "ssd.bus.clock"} & settings.keys()
            return (left if fast else 1.0) * (1e6 + seed)

        return of

    found = whatif(scenario, "read.mean", seeds=3, run=Lab(tmp_path / "none", latency(1e-4)))
    (pair,) = (i for i in found.interactions if set(i.names) == {"core clock", "system bus"})
    assert pair.together.mean == pytest.approx(-0.9999)
    assert pair.beyond is None
    told = found._repr_html_()
    assert "cannot be told" in told
    assert "would leave next to nothing of read.mean" in told
    assert "999" not in text_of(found) and "000 %" not in text_of(found)
    assert "would leave next to nothing of read.mean" in page_of(found)
    assert '<p class="warn">the load is short</p>' in page_of(
        replace(found, cautions=["the load is short"])
    )
    some = whatif(scenario, "read.mean", seeds=3, run=Lab(tmp_path / "some", latency(0.1)))
    (pair,) = (i for i in some.interactions if set(i.names) == {"core clock", "system bus"})
    assert pair.beyond.mean == pytest.approx(9)
    assert "next to nothing" not in some._repr_html_() + page_of(some)


@pytest.mark.parametrize("service", [10, 900])
def test_few_or_slow_is_told_by_what_is_left_of_the_clock(service, scenario, tmp_path):
    """A queue before the cores that either shortens, and a service that only the clock does."""

    def latency(settings, seed):
        clock = float(settings.get("ssd.cpu.clock", "500 MHz").split()[0]) / 500
        cores = float(settings.get("ssd.cpu.cores", 2)) / 2
        return service / clock + 2000 / clock / cores + 100 + seed

    options = {"seeds": 3, "steps": [3.0], "factorial": False}
    found = whatif(scenario, "read.mean", run=Lab(tmp_path / "lab", latency), **options)
    few = service == 10
    assert found.first == ("cores" if few else "core clock")
    assert (found.choice.left < 0.5) == few
    words = "they are few, not slow" if few else "core clock still saves"
    assert words in found._repr_html_()


def test_what_gains_alike_is_said_to_be_tied(scenario, tmp_path):
    def latency(settings, seed):
        tied = {"ssd.cpu.clock", "ssd.bus.clock"} & settings.keys()
        return 1000 - 300 * len(tied) + (seed * 7919 * len(str(sorted(tied)))) % 50

    found = whatif(scenario, "read.mean", seeds=5, steps=[3.0], run=Lab(tmp_path / "lab", latency))
    other = {"core clock": "system bus", "system bus": "core clock"}[found.first]
    assert f"With these seeds it cannot be told from {other}" in found._repr_html_()


def test_a_goal_turns_the_ranking(scenario, tmp_path):
    lab = Lab(tmp_path / "lab", slow_clock)
    found = whatif(scenario, "read.mean", goal="max", seeds=2, factorial=False, run=lab)
    assert found.findings[0].gain(True) >= 0
    gains = [one.gain(True) for one in found.findings]
    assert gains == sorted(gains, reverse=True)


@pytest.mark.parametrize(
    ("more", "complaint"),
    [
        (["--metric", "read.p98"], "there is no metric 'read.p98'"),
        (["--metric", "statistics.flash.dies.busy_gc"], "say which way is better"),
        (["--metric", "iops", "--seeds", "0"], "--seeds 0: at least 1"),
        (
            ["--metric", "ipos"],
            "--metric ipos: there is no metric 'ipos' in these results; the nearest is 'iops'",
        ),
        (["--metric", "nonsense"], "there is no metric 'nonsense' in these results\n"),
        (["--metric", "load.read.p99.9"], "the nearest is 'loads.load.read.p99.9'\n"),
        (["--metric", "load.raed.p99.9"], "the nearest is 'loads.load.read.p99.9'\n"),
        (["--metric", "p99.9"], "the nearest is 'read.p99.9'\n"),
        (["--metric", "iops", "--steps=-5%"], "--steps -5%: must be shares above 0 %"),
        (["--metric", "iops", "--steps", "abc"], "--steps abc: must be shares above 0 %"),
        (["--metric", "iops", "--steps", "10%,"], "--steps 10%,: must be shares above 0 %"),
        (["--metric", "iops", "--steps", "5 ms"], "--steps 5 ms: must be shares above 0 %"),
        (["--metric", "iops", "--set", "nothing"], "write PATH=VALUE"),
        (["--metric", "iops", "--set", "ssd.cpu.coers=2"], "cores"),
        (["--metric", "iops", "--out", "no/such/page.html"], "there is no folder"),
        (["--metric", "write.iops"], "there is no metric 'write.iops'"),
        (["--metric", "checks.wrong_reads"], "needs a metric above 0"),
    ],
)
def test_mistakes_are_one_line_and_exit_code_2(scenario, tmp_path, capsys, more, complaint):
    assert cli.main(["whatif", str(scenario), "--store", str(tmp_path / "store"), *more]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert complaint in error


def test_a_drive_that_does_not_run_is_said(scenario, tmp_path):
    lab = Lab(tmp_path / "lab", lambda settings, seed: None)
    with pytest.raises((InputError, RunFailed), match="contradiction"):
        whatif(scenario, "read.mean", run=lab)


def test_a_drive_whose_commands_fail_is_refused(scenario, tmp_path):
    """And a step that makes them fail has no effect, but a reason."""
    worn = {"ssd.cpu.clock": "errors"}

    class Worn(Lab):
        def outcome(self, request):
            known = super().outcome(request)
            status = max((worn.get(path, "") for path, _ in request.settings), default="")
            return replace(known, status=status or worn.get("", "ok"), reason="commands failed")

    found = whatif(scenario, "read.mean", seeds=2, run=Worn(tmp_path / "a", slow_clock))
    clock = next(one for one in found.findings if one.resource.name == "core clock")
    assert clock.largest is None
    assert "commands failed" in clock.trials[0].reason
    worn[""] = "errors"
    with pytest.raises(InputError, match="drive.yaml: commands failed"):
        whatif(scenario, "read.mean", seeds=2, run=Worn(tmp_path / "b", slow_clock))
