"""Meeting targets: the levers, and the steps of each."""

from itertools import pairwise

import pytest
from test_meet import TWO_TENANTS

import tlmssd
from tlmssd.drive import Drive
from tlmssd.meet.levers import _down, _loads, _scaled, _up, levers
from tlmssd.program import find_program
from tlmssd.scenario import flat_parameters


@pytest.fixture
def scenario(tmp_path):
    path = tmp_path / "tenants.yaml"
    path.write_text(TWO_TENANTS)
    return path


def drive_of(scenario, *settings):
    given = [f"--set={setting}" for setting in settings]
    return Drive(flat_parameters(find_program().ask("check", str(scenario), *given)))


def test_loads_are_called_as_in_results(scenario):
    text = scenario.read_text().replace("name: batch, ", "").replace("{load: web,", "{load: load,")
    scenario.write_text(text)
    found = levers(drive_of(scenario), [tlmssd.run(scenario)], ["load"])
    names = {lever.name for lever in found}
    assert {"rate of load", "turns of its queue", "turns of its queue + commands at once"} <= names
    (turns,) = (one.steps[0].settings for one in found if one.name == "turns of its queue")
    assert turns["ssd.host.weights"] == "[1, 2]"


def test_a_drive_with_one_queue_has_no_turns(scenario):
    sata = ("ssd.host.protocol=sata", "ssd.host.link=sata6")
    base = tlmssd.run(scenario, dict(one.split("=") for one in sata))
    names = {one.name for one in levers(drive_of(scenario, *sata), [base], ["web"])}
    assert "commands at once" in names
    assert "turns of its queue" not in names


def test_ladders():
    assert list(_down(32, 0.8))[:3] == [26, 21, 17]
    assert list(_down(3, 0.8)) == [2, 1]
    assert list(_down(1, 0.8)) == []
    assert list(_up(1, 6)) == [2, 3, 4, 5, 6]
    assert list(_up(32, 32)) == []
    assert _scaled("10k", 0.5) == "5120"
    assert _scaled("100m,50m,", 0.5) == f"{50 << 20},{25 << 20},"
    assert _scaled("1", 0.5) == ""
    assert _scaled("100 MB", 0.5) == "50000000"
    assert _scaled("10 KiB", 0.5) == "5120"


def test_every_step_is_a_scenario_that_the_program_takes(scenario):
    base = [tlmssd.run(scenario)]
    found = levers(drive_of(scenario), base, ["web"])
    names = {lever.name for lever in found}
    assert {"rate of batch", "turns of its queue", "commands at once", "reads first"} <= names
    for lever in found:
        for step in lever.steps:
            given = [f"--set={path}={value}" for path, value in step.settings.items()]
            find_program().ask("check", str(scenario), *given)
        ratios = [step.ratio for step in lever.steps]
        assert all(one <= other for one, other in pairwise(ratios)), lever.name


def test_limits_of_loads_without_any_are_shares_of_what_they_reached(scenario):
    base = tlmssd.run(scenario)
    reached = base.value("loads.batch.own_time.bandwidth")
    found = levers(drive_of(scenario), [base], ["web"])
    (lever,) = (one for one in found if one.name == "rate of batch")
    assert float(lever.steps[4].settings["load.1.rate"]) == pytest.approx(reached / 2, abs=1)
    slow = tlmssd.run(scenario, lever.steps[4].settings)
    assert slow.value("loads.batch.own_time.bandwidth") == pytest.approx(reached / 2, rel=0.02)


def test_weights_go_to_the_queue_of_the_load_that_misses(scenario):
    base = [tlmssd.run(scenario)]

    def weights(missed, *settings):
        found = levers(drive_of(scenario, *settings), base, missed)
        return [one.steps[0].settings for one in found if one.name == "turns of its queue"]

    (of_web,), (of_batch,) = weights(["web"]), weights(["batch"])
    assert of_web["ssd.host.weights"] == "[2, 1]"
    assert of_batch["ssd.host.weights"] == "[1, 2]"
    assert of_web["load.0.queue"] == "0"
    (turned,) = weights(["web"], "load.0.queue=1", "load.1.queue=0")
    assert turned["ssd.host.weights"] == "[1, 2]"
    assert not weights(["web"], "load.0.queue=1", "load.1.queue=1")  # one queue has no turns
    assert not weights(["web", "batch"])


@pytest.mark.parametrize("target", ["web", "web.0", "web.1"])
def test_a_job_of_a_load_means_the_load(scenario, target):
    text = scenario.read_text().replace("{name: web,", "{name: web, numjobs: 2,")
    scenario.write_text(text.replace("{load: web,", f"{{load: {target},"))
    base = [tlmssd.run(scenario)]
    assert list(base[0].loads) == ["web.0", "web.1", "batch"]
    found = levers(drive_of(scenario), base, [target])
    (turns,) = (one.steps[0].settings for one in found if one.name == "turns of its queue")
    assert turns["ssd.host.weights"] == "[2, 1]"


def test_results_of_job_files_are_those_that_other_entries_leave(scenario, tmp_path):
    (tmp_path / "jobs.fio").write_text(
        "[global]\nrw=randread\nbs=4k\nsize=1m\nnumber_ios=50\n[one]\nnumjobs=2\n[two]\n"
    )
    text = scenario.read_text().replace("  - {name: web,", "  - {fio: jobs.fio}\n  - {name: web,")
    text = text.replace("  - {name: batch", "  - {fio: jobs.fio, name: more}\n  - {name: batch")
    one_file = "\n".join(line for line in text.splitlines() if "more" not in line)
    for content, shares in ((one_file, [3, 1, 1]), (text, [0, 0, 0, 1])):
        scenario.write_text(content)
        result = tlmssd.run(scenario)
        loads = _loads(drive_of(scenario), result)
        assert [len(load.results) for load in loads] == shares
        assert loads[-1].results == ("batch",)
        names = [name for load in loads for name in load.results]
        assert content is text or names == list(result.loads)
