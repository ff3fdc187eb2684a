"""A study driven by other engines: ask and tell, and the Gymnasium environment."""

import contextlib
import math
import re

import pytest

import tlmssd
from tlmssd.errors import InputError

BASE = """
ssd: {flash: {channels: 2, ways: 1, part: {file: parts/nand/tlc-48l.yaml, blocks_per_plane: 16}}}
load: {rw: randread, bs: 4k, iodepth: 16, number_ios: 200}
"""
STUDY = """
base: base.yaml
axes:
  ssd.flash.channels: [1, 2, 4, 8]
  ssd.flash.spare_factor: [20 %, 40 %, 2 %]    # with the last, nothing can be collected
metrics: [iops, read.p99, scenario.ssd.cpu.clock]
objectives: {iops: maximize}
seeds: 2
"""


@pytest.fixture
def study(tmp_path):
    (tmp_path / "base.yaml").write_text(BASE)
    path = tmp_path / "study.yaml"
    path.write_text(STUDY)
    return path


def test_asking_and_telling_finds_the_best(study, tmp_path):
    study.write_text(STUDY.replace(", 2 %]", "]"))
    with tlmssd.AskTell(study, sampler="tpe", store=tmp_path / "store", jobs=2) as asked:
        told = []
        for _ in range(5):
            points = asked.ask(4)
            for point, found in zip(points, asked.evaluate(points), strict=True):
                asked.tell(point, found)
                told.append((found["iops"], point))
        for best, values in asked.best():
            assert values == [max(iops for iops, _ in told)]
            assert asked.evaluate([best])[0]["iops"] == values[0]
        assert len(list((tmp_path / "store/runs").glob("*/*"))) <= 2 * 8  # 8 designs, 2 seeds


def test_figures_may_come_from_elsewhere(study, tmp_path):
    with tlmssd.AskTell(study, sampler="random", store=tmp_path / "store") as asked:
        points = asked.ask(6)
        for point in points:
            asked.tell(point, {"iops": point["ssd.flash.channels"] * 10.0})
        most = max(point["ssd.flash.channels"] for point in points)
        assert asked.best()[0][1] == [most * 10.0]
        assert not list((tmp_path / "store/runs").iterdir())  # nothing was run
        with pytest.raises(InputError, match="told already"):
            asked.tell(points[0], {"iops": 1.0})


def test_what_is_no_result_is_not_taken(study, tmp_path):
    with tlmssd.AskTell(study, sampler="random", store=tmp_path / "store") as asked:
        (point,) = asked.ask()
        for found, problem in (
            ({"iops": math.inf}, "inf is no result"),
            ({"iops": "5"}, "iops: '5' is no number"),
            ({"iops": 5.0, "violation": None}, "violation: None is no number"),
        ):
            with pytest.raises(InputError, match=problem):
                asked.tell(point, found)
        asked.tell(point, {"iops": 5})  # it still waits
        assert asked.best() == [(point, [5.0])]
        with pytest.raises(InputError, match="at least 0"):
            asked.ask(-1)
    with pytest.raises(InputError, match="the study is closed"):
        asked.evaluate([{}])


def test_an_action_is_one_of_its_space(study, tmp_path):
    environment = tlmssd.StudyEnv(study, store=tmp_path / "store")
    for action in ([9, 9], [0], [0, 0, 0]):
        with pytest.raises(InputError, match="is none of MultiDiscrete"):
            environment.step(action)
    environment.close()


@pytest.mark.parametrize("seeds", [0, -1, 1.5])
def test_seeds_of_a_run_are_counted_from_one(study, seeds):
    with pytest.raises(InputError, match="must be a whole number, at least 1"):
        tlmssd.run(study.parent / "base.yaml", seeds=seeds)


def test_bad_points_are_refused_by_name(study, tmp_path):
    with tlmssd.AskTell(study, store=tmp_path / "store") as asked:
        with pytest.raises(InputError, match=r"no axis ssd\.cpu"):
            asked.evaluate([{"ssd.cpu": 1}])
        with pytest.raises(InputError, match=r"ssd\.flash\.channels has no value 3"):
            asked.evaluate([{"ssd.flash.channels": 3}])
        (refused,) = asked.evaluate([{"ssd.flash.channels": 8, "ssd.flash.spare_factor": "2 %"}])
        assert refused["status"] == "refused"
        assert "over_provisioning" in refused["reason"]


@pytest.mark.parametrize("sampler", ["tpe", "nsga2", "random", "cmaes"])
def test_the_best_are_feasible(sampler, study, tmp_path):
    study.write_text(STUDY.replace("[20 %, 40 %, 2 %]", "[20 %, 40 %]"))
    with tlmssd.AskTell(study, sampler=sampler, store=tmp_path / "store") as asked:
        points = asked.ask(6)
        for rate, point in enumerate(points):
            asked.tell(point, {"iops": float(rate), "violation": 0.1 if rate > 3 else -0.1})
        assert asked.best() == [(points[3], [3.0])]


@pytest.mark.parametrize("sampler", ["tpe", "random"])
def test_nothing_feasible_is_no_best(sampler, study, tmp_path):
    with tlmssd.AskTell(study, sampler=sampler, store=tmp_path / "store") as asked:
        for point in asked.ask(3):
            asked.tell(point, {"iops": 1.0, "violation": 0.1})
        assert asked.best() == []


def test_a_sampler_that_takes_no_account_of_constraints_is_refused(study):
    study.write_text(STUDY + "constraints: [iops > 3]\n")
    with pytest.raises(InputError, match=r"study\.yaml:9: .*cmaes .*valid with them: tpe, nsga2"):
        tlmssd.AskTell(study, sampler="cmaes")


def test_cmaes_is_not_asked_for_words(study):
    """It would draw them by chance."""
    text = STUDY.replace("axes:\n", "axes:\n  firmware.gc.policy: [greedy, fifo]\n")
    study.write_text(re.sub("^constraints.*\n", "", text, flags=re.MULTILINE))
    with pytest.raises(InputError, match=r"firmware\.gc\.policy: .*which cmaes cannot search"):
        tlmssd.AskTell(study, sampler="cmaes")


def test_an_unknown_sampler_is_refused(study):
    with pytest.raises(InputError, match="known: tpe, nsga2"):
        tlmssd.AskTell(study, sampler="annealing")


@pytest.mark.filterwarnings("ignore:.*Box observation space")
def test_gymnasium_environment(study, tmp_path):
    checker = pytest.importorskip("gymnasium.utils.env_checker")
    environment = tlmssd.StudyEnv(study, steps=3, store=tmp_path / "store", jobs=2)
    checker.check_env(environment, skip_render_check=True)
    observation, info = environment.reset(seed=1)
    assert environment.observation_space.contains(observation)
    assert info["iops"] == observation[0]
    base = info["iops"]

    designs = [environment.step((channels, 0)) for channels in (0, 1, 3)]
    ends = [truncated for *_, truncated, _ in designs]
    assert ends == [False, False, True]
    for observation, reward, terminated, _, info in designs:
        assert info["point"]["ssd.flash.spare_factor"] == 20
        assert reward == pytest.approx(math.log(observation[0] / base))
        assert not terminated
    rewards = [reward for _, reward, *_ in designs]
    assert rewards == sorted(rewards)
    assert rewards[1] == 0  # the base's own design

    observation, reward, *_, info = environment.step((3, 2))
    assert reward == -10
    assert info["status"] == "refused"
    assert not observation.any()
    environment.close()


def test_axes_without_steps_need_no_design(study, tmp_path):
    """The sampler and the environment choose values themselves; a grid could not."""
    clock = "ssd.cpu.clock: {from: 400 MHz, to: 2 GHz, scale: log}"
    study.write_text(STUDY.replace("ssd.flash.spare_factor: [20 %, 40 %, 2 %]", clock))
    with tlmssd.AskTell(study, store=tmp_path / "store") as asked:
        assert 400 <= asked.ask()[0]["ssd.cpu.clock"] <= 2000
    with contextlib.closing(tlmssd.StudyEnv(study, store=tmp_path / "store")) as environment:
        assert environment.action_space.shape == (2,)
    with pytest.raises(InputError, match="has no steps"):
        tlmssd.Study.read(study)


def test_the_first_step_is_behind_a_reset(study, tmp_path):
    with contextlib.closing(tlmssd.StudyEnv(study, store=tmp_path / "store")) as environment:
        with pytest.raises(InputError, match=r"^step: call reset\(\) first$"):
            environment.step((0, 0))
        environment.reset()
        environment.step((0, 0))


def test_a_reward_of_ones_own_and_axes_without_steps(study, tmp_path):
    clock = "ssd.cpu.clock: {from: 400 MHz, to: 2000 MHz}"
    text = STUDY.replace("ssd.flash.spare_factor: [20 %, 40 %, 2 %]", clock)
    study.write_text(text.replace("objectives: {iops: maximize}", "design: {random: 4}"))

    def minus_tail(found):
        return -found["read.p99"]

    environment = tlmssd.StudyEnv(study, reward=minus_tail, store=tmp_path / "store")
    environment.reset()
    observation, reward, *_, info = environment.step([0.5, 1.0])
    assert info["point"]["ssd.flash.channels"] == 4
    assert observation[2] == 2e9
    assert reward == -info["read.p99"]
    with pytest.raises(InputError, match="needs objectives"):
        environment.study.ask()
    environment.close()


@pytest.mark.filterwarnings("ignore:.*Box observation space")
@pytest.mark.parametrize("order", [("read", "write"), ("write", "read")])
def test_what_a_constraint_asks_for_and_is_not_there_is_infeasible(order, study, tmp_path):
    """Whichever constraint comes first: the base has no writes."""
    constraints = ", ".join(f"{operation}.p99 < 100 ms" for operation in order)
    study.write_text(STUDY + f"constraints: [{constraints}]\n")
    design = {"ssd.flash.channels": 2, "ssd.flash.spare_factor": 20}
    with tlmssd.AskTell(study, store=tmp_path / "store") as asked:
        (found,) = asked.evaluate([design])
        assert found["status"] == "ok"
        assert found["violation"] == math.inf
        for point in asked.ask(3):
            asked.tell(point, found)
        (point,) = asked.ask()
        asked.tell(point, {"iops": 1.0, "violation": math.nan})
        assert asked.best() == []
    pytest.importorskip("gymnasium")
    environment = tlmssd.StudyEnv(study, store=tmp_path / "store")
    environment.reset()
    assert environment.step((1, 0))[1] == -10
    environment.close()


@pytest.mark.filterwarnings("ignore:.*Box observation space")
def test_an_objective_that_comes_to_nothing(study, tmp_path):
    """To the good or to the bad it counts as a millionth of the base's; absent, as a failure."""
    pytest.importorskip("gymnasium")
    text = STUDY.replace("ssd.flash.spare_factor: [20 %, 40 %, 2 %]", "load.rw: [read, write]")
    text = text.replace("    # with the last, nothing can be collected", "")
    fewer = "{few: scenario.ssd.flash.channels - 1, tail: read.p99}"
    text = text.replace("[iops, read.p99, scenario.ssd.cpu.clock]", fewer)

    def step(objectives, action):
        study.write_text(text.replace("{iops: maximize}", objectives))
        environment = tlmssd.StudyEnv(study, store=tmp_path / "store", penalty=-20.0)
        environment.reset()
        observation, reward, *_ = environment.step(action)
        assert environment.observation_space.contains(observation)
        environment.close()
        return observation, reward

    for goal, sign in (("minimize", 1), ("maximize", -1)):
        observation, reward = step(f"{{few: {goal}}}", (0, 0))
        assert observation[0] == 0
        assert reward == pytest.approx(sign * math.log(1e6))
        assert step(f"{{few: {goal}}}", (2, 0))[1] == pytest.approx(-sign * math.log(3))
    observation, reward = step("{tail: minimize}", (0, 1))
    assert observation[1] == 0
    assert reward == -20


@pytest.mark.filterwarnings("ignore:.*Box observation space")
def test_a_base_with_nothing_to_compare_with_is_refused(study, tmp_path):
    pytest.importorskip("gymnasium")
    for objective, value in (("checks.wrong_reads", "0"), ("write.p99", "nan")):
        study.write_text(STUDY.replace("{iops: maximize}", f"{{{objective}: minimize}}"))
        environment = tlmssd.StudyEnv(study, store=tmp_path / "store")
        for _ in range(2):
            with pytest.raises(
                InputError, match=rf"study\.yaml:7: objectives.*{objective} is {value} in .*reward="
            ):
                environment.reset()
        environment.close()
        free = tlmssd.StudyEnv(study, store=tmp_path / "store", reward=lambda found: found["iops"])
        free.reset()
        assert free.step((0, 0))[1] > 0
        free.close()
