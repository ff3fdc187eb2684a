"""tlmssd calibrate: hidden parameters from fio's json with noise, and what is not determined."""

import csv
import json
import math
import random
from pathlib import Path

import pytest

from tests.conftest import fake_program
from tlmssd import cli, run
from tlmssd.calibrate import calibrate
from tlmssd.calibrate.fitting import Explorer
from tlmssd.calibrate.measured import Known, Measured, check_units
from tlmssd.calibrate.model import targets_of
from tlmssd.calibrate.study import CalibrationStudy
from tlmssd.errors import InputError
from tlmssd.probe.plan import Target, job_file
from tlmssd.program import find_program

BASE = """title: base  # as far as it is known
ssd:
  host: {lba_size: 4 KiB}
  cpu: {cores: 2, clock: 500 MHz}
  flash:
    channels: 4
    ways: 2
    bus: 600 MT/s
    user_capacity: 1 GiB
    over_provisioning: 25 %
    part: {file: parts/nand/tlc-48l.yaml, pages_per_block: 72, read_latency: [50 us]}
firmware: {buffer: {capacity: 8 MiB}, allocation: {multi_plane: true}}
precondition: [{fill: 100 %, order: sequential}]
load: {fio: jobs.fio}
"""
STUDY = """base: base.yaml
measured: measured.json
set: {run.quantum: 1 ms}
parameters:
  ssd.flash.part.read_latency: {from: 15 us, to: 250 us}
  ssd.flash.part.program_latency: {from: 100 us, to: 4 ms}
  ssd.flash.bus: {from: 200 MT/s, to: 2400 MT/s}
  ssd.cpu.cycles.command: {from: 50, to: 20000}
  firmware.buffer.capacity: {from: 2 MiB, to: 64 MiB}
  ssd.flash.part.t_rcbsy: {from: 1 us, to: 10 us}
hold_out: [read-16k-qd64, write-burst-32m]
search: {runs: 400, seed: SEED}
"""
HIDDEN = [
    ({"read": 77, "program": 430, "bus": 911, "cycles": 1300, "buffer": 13}, {}),
    ({"read": 45, "program": 660, "bus": 533, "cycles": 900, "buffer": 5}, {"ssd.flash.ways": 1}),
    (
        {"read": 110, "program": 1900, "bus": 1000, "cycles": 5200, "buffer": 24},
        {"ssd.cpu.cores": 4, "ssd.cpu.clock": "1 GHz"},
    ),
    (
        {"read": 28, "program": 820, "bus": 400, "cycles": 700, "buffer": 3.5},
        {"ssd.flash.channels": 2},
    ),
]
PATHS = {
    "read": "ssd.flash.part.read_latency",
    "program": "ssd.flash.part.program_latency",
    "bus": "ssd.flash.bus",
    "cycles": "ssd.cpu.cycles.command",
    "buffer": "firmware.buffer.capacity",
}


def measure(folder, truth, more, seed, noise=0.02):
    """What fio would say of the hidden drive, every figure `noise` off."""
    (folder / "base.yaml").write_text(BASE)
    (folder / "jobs.fio").write_text(job_file("calibrate", Target.of("x", 2**30, 1.0)))
    settings = {
        PATHS["read"]: f"[{truth['read']} us]",
        PATHS["program"]: f"[{truth['program']} us]",
        PATHS["bus"]: f"{truth['bus']} MT/s",
        PATHS["cycles"]: truth["cycles"],
        PATHS["buffer"]: f"{int(truth['buffer'] * 2048) * 512} B",
        "seed": seed + 5,
    }
    result = run(folder / "base.yaml", settings | more, store=folder / "hidden")
    content = json.loads((result.folder / "fio.json").read_text())
    rng = random.Random(seed)

    def off(value):
        return value * (1 + rng.gauss(0, noise))

    for job in content["jobs"]:
        for direction in ("read", "write"):
            part = job[direction]
            if part["total_ios"]:
                part["bw_bytes"], part["iops"] = off(part["bw_bytes"]), off(part["iops"])
                latency = part["clat_ns"]
                latency["mean"] = off(latency["mean"])
                latency.pop("bins")
                for rank, value in latency["percentile"].items():
                    latency["percentile"][rank] = int(off(value))
    (folder / "measured.json").write_text(json.dumps(content))
    lines = "".join(f"  {path}: {value}\n" for path, value in more.items())
    text = STUDY.replace("SEED", str(seed + 1))
    (folder / "study.yaml").write_text(text.replace("set: {run.quantum: 1 ms}\n", f"set:\n{lines}")
                                       if more else text)  # fmt: skip


def check_recovered(found, truth, error=0.05):
    for name, path in PATHS.items():
        assert found.values[path] == pytest.approx(truth[name], rel=error), name
    assert found.runs <= 500
    assert "ssd.flash.part.t_rcbsy" in found.undetermined
    determined = [p for p in found.profiles if p.determined]
    assert len(determined) >= 4
    for profile in determined:
        assert profile.low <= profile.value <= profile.high
        assert profile.sentence().startswith("determined: ")


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("number", range(len(HIDDEN)))
def test_hidden_drives_are_found_within_five_per_cent(folder, number, seed):
    truth, more = HIDDEN[number]
    measure(folder, truth, more, seed)
    check_recovered(calibrate("study.yaml", jobs=2), truth)


@pytest.fixture
def small(folder):
    """Two parameters and few jobs, for what does not need the whole of it."""
    jobs = """[global]
ioengine=libaio
norandommap
stonewall
[read-4k]
rw=randread
bs=4k
number_ios=200
[read-64k]
rw=randread
bs=64k
iodepth=8
number_ios=300
[read-256k]
rw=randread
bs=256k
number_ios=50
"""
    truth = {"read": 77, "program": 430, "bus": 911, "cycles": 1300, "buffer": 13}
    measure(folder, truth, {}, 3)
    (folder / "jobs.fio").write_text(jobs)
    settings = {PATHS["read"]: "[77 us]"}
    result = run(folder / "base.yaml", settings, store=folder / "hidden")
    (folder / "measured.json").write_text((result.folder / "fio.json").read_text())
    (folder / "study.yaml").write_text(
        "base: base.yaml\nmeasured: measured.json\nparameters:\n"
        "  ssd.flash.part.read_latency: {from: 15 us, to: 250 us}\n"
        "  ssd.flash.part.erase_latency: {times: [0.5, 2]}\n"
        "hold_out: [read-256k]\nsearch: {runs: 60}\n"
    )
    return folder


def check_the_loss(residuals, loss):
    """A reader has all of it there: `sigma` was what the study allows, not what was used."""
    rows = list(csv.DictReader(residuals.open(encoding="utf-8")))
    assert all(0.02 <= float(row["tolerance"]) <= 3 * float(row["sigma"]) for row in rows)
    assert any(row["tolerance"] != row["sigma"] for row in rows)
    parts = []
    for row in rows:
        if row["held_out"] == "False":
            sigmas = math.log(float(row["emulated"]) / float(row["measured"]))
            sigmas /= float(row["sigma"])
            assert abs(sigmas) < 4
            is_smooth = row["figure"].split(".")[1] in ("mean", "iops", "bandwidth")
            parts.append(sigmas**2 if is_smooth else 16 * math.log1p(sigmas**2 / 16))
    assert sum(parts) / len(parts) == pytest.approx(loss)


def test_a_drive_that_is_found_and_what_is_not_determined(small, capsys):
    assert cli.main(["calibrate", "study.yaml", "--jobs", "2", "--out", "found"]) == 0
    said = capsys.readouterr().out
    assert "ssd.flash.part.erase_latency  not determined: every value from 0.5 x to 2 x" in said
    assert "held out and predicted" in said
    content = json.loads((small / "found/calibration.json").read_text())
    read = content["parameters"][PATHS["read"]]
    assert read["determined"]
    assert read["value"] == pytest.approx(77, rel=0.02)
    assert content["runs"] <= 60
    assert content["held_out_jobs"] == ["read-256k"]
    part = (small / "found/part.yaml").read_text()
    (line,) = [line for line in part.splitlines() if line.startswith("read_latency")]
    assert "# calibrated: determined" in line
    find_program().ask("check", str(small / "found/drive.yaml"))
    emulated = run(small / "found/drive.yaml")
    assert emulated.value("loads.read-4k.read.mean") > 77e3
    assert (small / "found/calibration.html").exists()
    check_the_loss(small / "found/residuals.csv", content["loss_per_figure"])
    # Once more with known runs gives the same bytes.
    assert cli.main(["calibrate", "study.yaml", "--jobs", "1", "--out", "again"]) == 0
    for name in ("drive.yaml", "part.yaml", "residuals.csv", "profiles.csv"):
        assert (small / "found" / name).read_bytes() == (small / "again" / name).read_bytes()
    # What the user has changed is kept, the job file that came along, too.
    for name in ("jobs.fio", "drive.yaml"):
        with (small / "again" / name).open("a") as file:
            file.write("# years of work\n")
        mine = (small / "again" / name).read_text()
        assert cli.main(["calibrate", "study.yaml", "--jobs", "1", "--out", "again"]) == 2
        said = f"again/{name}: was changed after tlmssd calibrate had written it; move it away\n"
        assert capsys.readouterr().err.endswith(said)
        assert (small / "again" / name).read_text() == mine
        (small / "again" / name).unlink()


def test_a_job_that_is_held_out_decides_nothing(small):
    """However wrong it is: it is predicted as it would have been."""
    found = {}
    for factor in (1, 5):
        content = json.loads((small / "measured.json").read_text())
        for latency in (job["read"]["clat_ns"] for job in content["jobs"][2:]):
            latency.pop("bins", None)
            latency["mean"] *= factor
        (small / "measured.json").write_text(json.dumps(content))
        found[factor] = calibrate("study.yaml", jobs=2)
    assert found[5].values == found[1].values
    assert (found[5].loss, found[5].fit_text) == (found[1].loss, found[1].fit_text)
    off = {r.job: r.difference for r in found[5].residuals if r.figure == "read.mean"}
    assert off["read-256k"] == pytest.approx(1 / 5 - 1, abs=0.01)


def test_shares_of_a_study(small):
    """Of the jobs, those that are held out; of a figure, what counts as one sigma."""
    text = (small / "study.yaml").read_text().replace("[read-256k]", "34 %")
    (small / "study.yaml").write_text(text + "loss: {mean: 3 %, p50: 0.5 %}\n")
    study = CalibrationStudy.read(small / "study.yaml")
    assert len(study.held_out) == 1 and set(study.held_out) < set(study.measured.jobs)
    assert study.loss == pytest.approx({"mean": 0.03, "p50": 0.005})


def test_one_of_some_choices_is_found(small):
    text = (small / "study.yaml").read_text()
    choices = "ssd.flash.channels: {choices: [2, 4, 8]}"
    text = text.replace("ssd.flash.part.erase_latency: {times: [0.5, 2]}", choices)
    (small / "study.yaml").write_text(text.replace("runs: 60", "runs: 80"))
    found = calibrate("study.yaml", jobs=2)
    assert found.values["ssd.flash.channels"] == 4
    assert found.values[PATHS["read"]] == pytest.approx(77, rel=0.02)
    (channels,) = [p for p in found.profiles if p.parameter.choices]
    assert channels.determined
    assert (channels.low, channels.high) == (4, 4)
    assert {value for value, _ in channels.points} == {2, 4, 8}
    assert channels.sentence() == "determined: 4; no other choice fits the measurements"


def test_choices_that_nothing_depends_on_are_alike(small):
    text = (small / "study.yaml").read_text()
    choices = "ssd.flash.part.max_suspends: {choices: [4, 8]}"
    text = text.replace("ssd.flash.part.erase_latency: {times: [0.5, 2]}", choices)
    (small / "study.yaml").write_text(text)
    found = calibrate("study.yaml", jobs=2)
    (suspends,) = [p for p in found.profiles if p.parameter.choices]
    assert not suspends.determined
    assert suspends.sentence() == "not determined: 4, 8 fit the measurements alike"


def test_choices_that_all_have_been_run_end_the_search(small, monkeypatch):
    """None of them fits, and there are fewer than the runs that may be spent."""
    text = (small / "study.yaml").read_text()
    begin, end = text.index("  ssd.flash.part.read_latency"), text.index("hold_out")
    few = "  ssd.flash.channels: {choices: [1, 2]}\n  ssd.flash.ways: {from: 3, to: 4}\n"
    (small / "study.yaml").write_text(text[:begin] + few + text[end:])
    explore, rounds = Explorer.explore, []

    def counted(*arguments):
        rounds.append(arguments)
        assert len(rounds) < 5
        explore(*arguments)

    monkeypatch.setattr(Explorer, "explore", counted)
    found = calibrate("study.yaml", jobs=2)
    assert found.values["ssd.flash.channels"] == 2
    assert found.runs < 20


def test_repeated_measurements_widen_what_is_known(small):
    content = json.loads((small / "measured.json").read_text())
    for job in content["jobs"]:
        job["read"]["clat_ns"]["mean"] *= 1.2
    (small / "second.json").write_text(json.dumps(content))
    text = (small / "study.yaml").read_text()
    (small / "study.yaml").write_text(text.replace("measured.json", "[measured.json, second.json]"))
    study = CalibrationStudy.read(small / "study.yaml")
    assert study.measured.repeats == 2
    known = study.measured.figures["read-4k"]["read.mean"]
    assert known.spread == pytest.approx(0.129, abs=0.002)


def test_percentiles_that_fio_did_not_write_are_not_fitted(small):
    """fio's clat_percentiles=0: rates and means are left, and nothing for a loss of percentiles."""
    content = json.loads((small / "measured.json").read_text())
    for job in content["jobs"]:
        for latency in (job["read"]["clat_ns"], job["read"]["lat_ns"]):
            latency.pop("percentile", None)
            latency.pop("bins", None)
    (small / "measured.json").write_text(json.dumps(content))
    study = CalibrationStudy.read(small / "study.yaml")
    figures = {target.figure for target in targets_of(study)}
    assert figures == {"read.iops", "read.bandwidth", "read.mean"}
    text = (small / "study.yaml").read_text() + "loss: {p50: 2 %}\n"
    (small / "study.yaml").write_text(text)
    with pytest.raises(InputError, match=r"p50: was not measured .*: bandwidth, iops, mean$"):
        targets_of(CalibrationStudy.read(small / "study.yaml"))


def test_which_writes_wait_for_room_is_no_chance(folder):
    """Half of a burst that fills the buffer waits: its mean is known all the same."""
    measure(folder, *HIDDEN[0], 3)
    figures = CalibrationStudy.read(folder / "study.yaml").measured.figures
    assert figures["write-burst-16m"]["write.mean"].error == 0
    assert figures["write-burst-16m"]["write.p50"].error > 0
    assert figures["read-256k-qd16"]["read.mean"].error > 0


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (("base: base.yaml", "base: none.yaml"), "study.yaml:1: base: there is no file none.yaml"),
        (("measured: measured.json\n", ""), "a calibration needs measured"),
        (
            ("measured.json", "base.yaml"),
            "base.yaml: not what fio writes with --output-format=json",
        ),
        (("[read-256k]", "[read-256]"), "no job 'read-256' was measured; did you mean 'read-256k'"),
        (("[read-256k]", "[read-4k, read-64k, read-256k]"), "leaves no job to fit"),
        (("runs: 60", "runs: 501"), "must be a whole number from 50 to 500"),
        (("to: 250 us", "to: 10 us"), "must be above from"),
        (("to: 250 us", "to: 250 MHz"), "needs a unit that goes with 'us'"),
        (("times: [0.5, 2]", "times: [2, 0.5]"), "must be two factors above 0"),
        (("times: [0.5, 2]", "choices: [2 ms]"), "two or more values of one unit in ascending"),
        (("times: [0.5, 2]", "choices: [2 ms, 1 ms]"), "two or more values of one unit"),
        (("times: [0.5, 2]", "choices: [1 ms, 2 ms], to: 3 ms"), "to: does not go with choices"),
        (("times: [0.5, 2]", "choices: [one, two]"), "must be a number, with its unit"),
        (
            ("ssd.flash.part.erase_latency", "firmware.gc.policy"),
            "study.yaml:5: parameters.firmware.gc.policy: times needs a number, and ",
        ),
        (
            ("ssd.flash.part.erase_latency", "firmware.allocation.multi_plane"),
            "firmware.allocation.multi_plane of the base scenario is 'true'; fit a parameter that",
        ),
        (("ssd.flash.part.read_latency", "seed"), "parameters.seed: a seed is chance, and no"),
        (("part.read_latency", "part.read_latenzy"), "no parameter ssd.flash.part.read_latenzy"),
        (("search:", "loss: {p50: 3 %, speed: 2 %}\nsearch:"), "speed: is no figure of a job"),
        (("search:", "loss: {p50: 3}\nsearch:"), "must be a relative error"),
        (
            ("search:", "loss: {p50: 3 %, p10.5: 3 %}\nsearch:"),
            "study.yaml:7: loss.p10.5: was not measured in any job; measured: bandwidth, iops, ",
        ),
        (
            ("measured:", "set: {ssd.host.quues: 8}\nmeasured:"),
            "study.yaml:2: set.ssd.host.quues: key 'quues' is not known in ssd.host; did you mean",
        ),
        (
            ("measured:", "set:\n  seed: 3\n  ssd.cpu.cores: many\nmeasured:"),
            "study.yaml:4: set.ssd.cpu.cores: 'many' is not a whole number",
        ),
    ],
)
def test_a_bad_study_gets_one_line(small, change, complaint, capsys):
    text = (small / "study.yaml").read_text()
    assert change[0] in text
    (small / "study.yaml").write_text(text.replace(*change))
    assert cli.main(["calibrate", "study.yaml"]) == 2
    said = capsys.readouterr().err
    assert complaint in said
    assert len(said.splitlines()) == 1
    assert not (small / "out").exists()


def in_other_units(job, factor):
    for latency in (job["read"]["clat_ns"], job["read"]["lat_ns"]):
        latency.pop("bins", None)
        for key in ("min", "max", "mean", "stddev"):
            latency[key] *= factor
        listed = latency["percentile"]
        latency["percentile"] = {share: value * factor for share, value in listed.items()}


@pytest.mark.parametrize("factor", [1e-3, 1e3])
def test_latencies_in_other_units_are_refused_after_one_run(small, factor, capsys):
    """Microseconds under clat_ns: no drive keeps a thousandth of a command under way."""
    content = json.loads((small / "measured.json").read_text())
    for job in content["jobs"]:
        in_other_units(job, factor)
    (small / "measured.json").write_text(json.dumps(content))
    assert cli.main(["calibrate", "study.yaml", "--jobs", "1"]) == 2
    assert cli.main(["validate", "base.yaml", "measured.json", "--seeds", "1"]) == 2
    said = capsys.readouterr().err.splitlines()
    assert len(said) == 2
    for line in said:
        assert "measured.json: job 'read-4k': its rate and its mean latency come to" in line
        assert "in the emulation 1 are (Little's law): latencies must be in ns" in line
    assert not (small / "out").exists()


def test_one_job_in_other_units_is_refused(small, capsys):
    content = json.loads((small / "measured.json").read_text())
    in_other_units(content["jobs"][0], 1e-3)
    (small / "measured.json").write_text(json.dumps(content))
    assert cli.main(["calibrate", "study.yaml", "--jobs", "1"]) == 2
    (said,) = capsys.readouterr().err.splitlines()
    assert f"job '{content['jobs'][0]['jobname']}': its rate and its mean latency come to" in said


def test_jobs_that_wait_say_nothing_of_units():
    """Of a job with a pace or pauses few commands are under way, and how many is the drive's."""

    def known(iops, mean):
        return {"read.iops": Known(iops, 0), "read.mean": Known(mean, 0)}

    def check(measured, emulated):
        plain = {job: {k: v.value for k, v in known(*pair).items()} for job, pair in emulated}
        figures = {job: known(*pair) for job, pair in measured}
        check_units(Measured(tuple(figures), figures, 1, (Path("m.json"),)), plain)

    paced = ("paced", (100, 8e4))
    check([paced], [("paced", (100, 3e6))])
    check([paced, ("busy", (1e5, 1.6e5))], [("paced", (100, 3e6)), ("busy", (5e4, 3.2e5))])
    with pytest.raises(InputError, match="job 'busy': .* come to 0.0160 .* emulation 16 are"):
        check([paced, ("busy", (1e5, 1.6e2))], [("paced", (100, 3e6)), ("busy", (5e4, 3.2e5))])


@pytest.mark.parametrize(
    "order", [("measured.json", "second.json"), ("second.json", "measured.json")]
)
def test_repetitions_have_the_same_jobs(small, order, capsys):
    """Jobs that one file lacks were left out of the fit without a word."""
    content = json.loads((small / "measured.json").read_text())
    content["jobs"] = content["jobs"][:1]
    (small / "second.json").write_text(json.dumps(content))
    text = (small / "study.yaml").read_text()
    (small / "study.yaml").write_text(text.replace("measured.json", f"[{', '.join(order)}]"))
    assert cli.main(["calibrate", "study.yaml"]) == 2
    said = capsys.readouterr().err
    assert "second.json: 'read-64k', 'read-256k' of measured.json did not run 8 commands" in said
    assert len(said.splitlines()) == 1


def renamed(content):
    content["jobs"][1]["jobname"] = "read-4k"


def too_fast(content):
    content["jobs"][0]["read"]["iops"] = 1e300


def at_a_stand(content):
    content["jobs"][1]["read"]["bw_bytes"] = 0


@pytest.mark.parametrize(
    ("spoil", "complaint"),
    [
        (renamed, "job 'read-4k': 2 jobs have this name, and their numjobs does not say so: give "),
        (too_fast, "job 'read-4k': read: iops 1e+300 and bw_bytes "),
        (at_a_stand, "job 'read-64k': read: 300 commands at a rate of 0 (bw_bytes)"),
        (lambda content: None, "measured.json: has every figure of "),
    ],
)
def test_what_cannot_have_been_measured_is_refused(small, capsys, spoil, complaint):
    """It was fitted or dropped without a word; so was a measurement that is its own repetition."""
    content = json.loads((small / "measured.json").read_text())
    (small / "other.json").write_text(json.dumps(content, indent=1))
    spoil(content)
    (small / "measured.json").write_text(json.dumps(content))
    text = (small / "study.yaml").read_text()
    (small / "study.yaml").write_text(text.replace("measured.json", "[other.json, measured.json]"))
    assert cli.main(["calibrate", "study.yaml"]) == 2
    assert cli.main(["validate", "base.yaml", "other.json", "measured.json"]) == 2
    said = capsys.readouterr().err.splitlines()
    assert len(said) == 2
    for line in said:
        assert complaint in line and "measured.json: " in line


def test_a_job_that_has_failed_is_refused(small, capsys):
    content = json.loads((small / "measured.json").read_text())
    content["jobs"][1]["error"] = 5
    (small / "measured.json").write_text(json.dumps(content))
    assert cli.main(["calibrate", "study.yaml"]) == 2
    assert cli.main(["validate", "base.yaml", "measured.json"]) == 2
    said = capsys.readouterr().err.splitlines()
    assert len(said) == 2
    for line in said:
        assert "measured.json: job 'read-64k' ended with error 5 (Input/output error)" in line


def test_jobs_that_the_scenario_does_not_run_are_named(small):
    content = json.loads((small / "measured.json").read_text())
    content["jobs"][0]["jobname"] = "another"
    (small / "measured.json").write_text(json.dumps(content))
    with pytest.raises(InputError, match=r"no read\.\w+ of the measured job 'another'"):
        calibrate("study.yaml", jobs=1)


@pytest.mark.parametrize("name", ["drive.yaml", "part.yaml", "calibration.json"])
def test_what_is_read_is_never_written(small, capsys, name):
    """A base or a measurement among the results of an earlier calibration."""
    (small / "found").mkdir()
    (small / "found/.tlmssd-calibration").touch()
    key, file = ("measured", "measured.json") if name.endswith("json") else ("base", "base.yaml")
    (small / "found" / name).write_text((small / file).read_text())
    study = (small / "study.yaml").read_text()
    (small / "study.yaml").write_text(study.replace(f"{key}: {file}", f"{key}: found/{name}"))
    (small / "found/jobs.fio").write_text((small / "jobs.fio").read_text())
    assert cli.main(["calibrate", "study.yaml", "--out", "./found"]) == 2
    error = capsys.readouterr().err
    assert error == f"tlmssd: found/{name}: is what the command reads; name another\n"


def test_a_folder_of_the_users_is_left_alone(small, capsys):
    (small / "mine").mkdir()
    (small / "mine/file").touch()
    assert cli.main(["calibrate", "study.yaml", "--out", "mine"]) == 2
    assert "is not empty and holds no calibration" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("action", "complaint"),
    [
        # As by a build beneath it: another content under the same name, or none.
        ('echo "#" >>"$0"', "fake-tlmssd is not the build any more that this began with"),
        ('rm "$0"', "fake-tlmssd is not the build any more that this began with"),
        ('echo "tlmssd: no room" >&2; exit 7', "runs: no room"),
        ("rm ../../tlmssd-store", "store is not to be seen from this worker's machine"),
        ("rm -r ../../locks", "the worker could not read or write: No such file or directory"),
    ],
)
def test_what_is_not_the_parameters_fault_ends_the_study(
    small, monkeypatch, capsys, action, complaint
):
    """None of it may count as a drive that does not fit, and so as something about a parameter."""
    condition = f"echo >>{small}/count; [ $(wc -l <{small}/count) -eq 3 ]"
    monkeypatch.setenv("TLMSSD_PROGRAM", str(fake_program(small, condition, action)))
    code = cli.DISK_FULL if "exit 7" in action else cli.INPUT
    assert cli.main(["calibrate", "study.yaml", "--jobs", "1", "--out", "found"]) == code
    captured = capsys.readouterr()
    assert complaint in captured.err
    assert len(captured.err.splitlines()) == 1
    assert captured.out == ""
    assert not (small / "found").exists()
