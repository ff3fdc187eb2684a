"""tlmssd probe: what it infers of hidden drives from fio's json, and how safe its jobs are."""

import math
import re
import shutil
import subprocess
from dataclasses import replace

import numpy as np
import pytest
from conftest import SCRIPTS
from drawn_drives import ODD, draw

from tlmssd import cli, units
from tlmssd.engine import thread_pool
from tlmssd.errors import InputError
from tlmssd.fio_json import fio_content
from tlmssd.latency import Histogram
from tlmssd.probe import analyse
from tlmssd.probe.cliffs import cliff_findings
from tlmssd.probe.findings import LIKELY, SURE, WEAK, Curve, Finding, not_visible
from tlmssd.probe.page import _chart
from tlmssd.probe.plan import DEPTHS, STAGES, Target, jobs_of, strides
from tlmssd.probe.reads import read_findings
from tlmssd.probe.results import Point, Results
from tlmssd.probe.run import capacity_of, run_on, target_of
from tlmssd.probe.scenario import write_scenario
from tlmssd.probe.strides import Strides, stripe_finding
from tlmssd.program import find_program
from tlmssd.resolve import Resolver

SCENARIOS = SCRIPTS.parent / "scenarios"
KIB, MIB, GIB = 2**10, 2**20, 2**30
TLC = """title: hidden
ssd:
  host: {lba_size: 4 KiB, link: pcie4x4}
  cpu: {cores: 4, clock: 1 GHz}
  dram: {capacity: 1 GiB}
  flash:
    channels: 8
    ways: 2
    bus: 1200 MT/s
    user_capacity: 4 GiB
    over_provisioning: 20 %
    part: {file: parts/nand/tlc-48l.yaml, pages_per_block: 72}
firmware: {buffer: {capacity: 12 MiB}, allocation: {multi_plane: true}}
precondition: [{fill: 100 %, order: sequential}, {overwrite: 1x}]
load: {rw: randread, number_ios: 100}
"""
MLC = """title: hidden
ssd:
  host: {lba_size: 512 B, link: pcie3x2}
  cpu: {cores: 2, clock: 800 MHz}
  dram: {capacity: 1 GiB}
  flash:
    channels: 6
    ways: 4
    bus: 333 MT/s
    user_capacity: 6 GiB
    over_provisioning: 12 %
    part: {file: parts/nand/femu-mlc.yaml, pages_per_block: 64}
firmware: {buffer: {capacity: 40 MiB}, mapping: {unit: 16 KiB}}
precondition: [{fill: 100 %, order: sequential}]
load: {rw: randread, number_ios: 100}
"""
OWN_SIZE = """title: as large as its blocks make it
ssd:
  host: {lba_size: 512 B, link: pcie3x2}
  dram: {capacity: 256 MiB}
  flash:
    channels: 2
    ways: 2
    OVER
    part: {file: parts/nand/femu-mlc.yaml, pages_per_block: 64, blocks_per_plane: 64}
firmware: {buffer: {capacity: 2 MiB}}
precondition: STEPS
load: {rw: randread, number_ios: 100}
"""


def probed(scenario, folder):
    with thread_pool(2) as pool:
        run_on(scenario, folder, pool)
    for left in folder.glob("*.fio"):
        left.unlink()  # the analysis sees fio's json alone
    return {finding.key: finding for finding in analyse(folder)}


def hidden(folder, text):
    path = folder / "hidden.yaml"
    path.write_text(text)
    return path


def about(value):
    return pytest.approx(value, rel=0.10)


def test_axes_of_sizes_are_in_powers_of_two():
    """Findings say 64 KiB; the picture beside them said 65.5k."""
    data = {"fastest": [(4096.0, 1.0), (65536.0, 2.0), (1048576.0, 3.0)]}
    for curve, ticks in (
        (Curve("reads", "size", "latency", data), [2.0**n for n in range(12, 21)]),
        (
            Curve("writes", "written", "bandwidth", data, (), "B", "B/s", False),
            [n * 262144.0 for n in range(5)],
        ),
    ):
        chart, _ = _chart(curve)
        axis = chart.to_dict()["layer"][0]["encoding"]["x"]["axis"]
        assert axis["values"] == ticks
        assert axis["title"] == curve.x and "' KiB'" in axis["labelExpr"]


def test_a_drive_of_blocks_that_are_rewritten_whole(folder):
    found = probed(SCENARIOS / "ryu/drive_a.yaml", folder / "a")
    assert found["grain"].value == 16 * KIB
    assert found["round"].value == 16 * KIB
    assert found["stripe"].value == 32 * KIB
    assert found["queue_limit"].value == 32
    assert found["policy"].value == "write-through"
    assert not found["buffer"].visible
    assert not found["pslc"].visible
    assert found["spare"].value == about(80e6)
    assert found["read_ahead"].value == "none"


def test_an_mlc_drive_with_large_mapping_pages(folder):
    found = probed(hidden(folder, MLC), folder / "mlc")
    assert found["grain"].value == 16 * KIB
    assert found["channels"].value == 6
    assert found["page"].value == 16 * KIB
    assert found["stripe"].value == 24 * 16 * KIB
    assert found["units"].value == 24
    assert found["buffer"].value == about(40 * MIB)
    assert found["policy"].value == "write-back"
    assert found["spare"].value == about(0.12 * 6 * GIB)
    assert not found["pslc"].visible
    assert not found["queue_limit"].visible


@pytest.mark.parametrize(
    ("over", "steps", "capacity", "filled"),
    [
        ("", "[{fill: 30 %}, {trim: 10 %}]", 512 * MIB / 1.25, 0.3),
        ("over_provisioning: 60 %", "{state: steady}", 320 * MIB, 1.0),
        ("spare_factor: 50 %", "[{fill: 20 %}, {until: steady, region: 70 %}]", 256 * MIB, 0.7),
        ("over_provisioning: 28 %", "[{overwrite: 50 %, region: 80 %}]", 400 * MIB, 0.4),
        ("user_capacity: 700 MiB", "[]", 704 * MIB, 0.0),
    ],
)
def test_a_drive_is_probed_as_large_and_as_full_as_it_is(folder, over, steps, capacity, filled):
    path = hidden(folder, OWN_SIZE.replace("OVER", over).replace("STEPS", steps))
    program = find_program()
    with Resolver(program, path) as resolver:
        target = target_of(resolver.resolve(()), capacity_of(program, path))
    assert target.capacity == pytest.approx(capacity, rel=1e-3)
    assert target.filled == pytest.approx(filled)


def test_a_drive_that_reads_ahead_is_found_to_and_the_scenario_does(folder):
    ahead = TLC.replace("firmware: {", "firmware: {read_ahead: {policy: sequential}, ")
    found = probed(hidden(folder, ahead), folder / "ahead")
    assert found["read_ahead"].value == "yes"
    assert cli.main(["probe", "analyse", str(folder / "ahead"), "--no-page"]) == 0
    with Resolver(find_program(), folder / "ahead/drive.yaml") as resolver:
        assert resolver.resolve(())["firmware"]["read_ahead"]["policy"] == "sequential"


SLC = """title: a short buffer over three slow dies
ssd:
  host: {lba_size: 4 KiB, link: pcie3x4}
  cpu: {cores: 2, clock: 700 MHz}
  dram: {capacity: 128 MiB}
  flash:
    channels: 1
    ways: 3
    bus: 166 MT/s
    user_capacity: 600 MiB
    over_provisioning: 30 %
    part:
      cell: slc
      planes: 1
      page_size: 4 KiB
      pages_per_block: 64
      read_latency: [31 us]
      program_latency: [270 us]
firmware: {buffer: {capacity: 700 KiB}}
precondition: [{fill: 100 %, order: sequential}]
load: {rw: randread, number_ios: 10}
"""
FOUR_PLANES = """title: three dies of four planes, whose programs hold up bursts
ssd:
  host: {lba_size: 4 KiB, link: pcie4x4}
  cpu: {cores: 6, clock: 1200 MHz}
  dram: {capacity: 256 MiB}
  flash:
    channels: 3
    ways: 1
    bus: 400 MT/s
    user_capacity: 1500 MiB
    over_provisioning: 25 %
    part:
      file: parts/nand/vendor-tlc-64l.yaml
      pages_per_block: 48
      planes: 4
      page_size: 16 KiB
      read_latency: [70 us]
      program_latency: [600 us]
firmware: {buffer: {capacity: 13000 KiB}, mapping: {unit: 16 KiB}, allocation: {multi_plane: true}}
precondition: [{fill: 100 %, order: sequential}]
load: {rw: randread, number_ios: 10}
"""


@pytest.mark.parametrize(("scenario", "kib"), [(SLC, 700), (FOUR_PLANES, 13000)])
def test_a_buffer_behind_writes_that_wait_for_something_else(folder, scenario, kib):
    """Collection behind long bursts hid what short ones show; a batch of programs, all bursts."""
    buffer = probed(hidden(folder, scenario), folder / "drive")["buffer"]
    assert buffer.visible, buffer.evidence
    assert buffer.low <= kib * KIB <= buffer.high


def test_every_stage_runs_on_a_drive_with_much_spare_flash(folder):
    text = OWN_SIZE.replace("OVER", "over_provisioning: 60 %").replace("STEPS", "{state: steady}")
    found = probed(hidden(folder, text), folder / "own")
    assert found["policy"].value == "write-back"


@pytest.mark.slow
def test_a_drive_with_log_blocks(folder):
    found = probed(SCENARIOS / "ryu/drive_b.yaml", folder / "b")
    assert found["grain"].value == MIB
    assert found["round"].value == 8 * KIB
    buffer = found["buffer"]  # flash is nearly as fast as the host
    assert buffer.confidence == WEAK
    assert buffer.low <= 16 * MIB <= buffer.high
    assert found["queue_limit"].value == 32
    assert not found["stripe"].visible  # its cores are slower than its dies
    assert not found["spare"].visible


@pytest.mark.slow
def test_a_drive_with_ten_channels(folder):
    found = probed(SCENARIOS / "ryu/drive_c.yaml", folder / "c")
    assert found["grain"].value == 4 * KIB
    assert found["channels"].value == 10
    assert found["stripe"].value == 160 * KIB
    assert found["units"].value == 40
    assert found["buffer"].value == about(16 * MIB)
    assert found["spare"].value == about(0.12 * 2e9)


@pytest.mark.slow
def test_a_tlc_drive_on_fast_channels(folder):
    found = probed(hidden(folder, TLC), folder / "tlc")
    assert found["grain"].value == 4 * KIB
    assert found["stripe"].value == 16 * 32 * KIB
    assert found["buffer"].value == about(12 * MIB)
    assert found["spare"].value == about(0.2 * 4 * GIB)
    assert not found["pslc"].visible


@pytest.mark.slow
@pytest.mark.parametrize(
    ("drive", "page", "units", "share"),
    [("665p", 64, 8, 0.11682), ("670p", 64, 8, 0.12392), ("p1", 32, 16, 0.11682)],
)
def test_consumer_drives_with_pslc(folder, drive, page, units, share):
    found = probed(SCENARIOS / f"luo/drive_{drive}.yaml", folder / drive)
    assert found["page"].value == page * KIB
    assert found["channels"].value == 4
    assert found["stripe"].value == 512 * KIB
    assert found["units"].value == units
    assert found["buffer"].value == about(16 * MIB)
    assert found["pslc"].value == about(share * 1.13 * 64e9)
    assert found["pslc"].details["static"] == pytest.approx(0.01062 * 1.13 * 64e9, rel=0.2)
    assert found["spare"].value == about(0.13 * 64e9)


def falling(name, numbers, size, fast, pieces):
    """Pieces of `size` bytes, the first `fast` of them at 1 GB/s, the others at a fifth of that."""
    rates = [1e9 if place < fast else 2e8 for place in range(pieces)]
    one = Histogram.of_points([(1.0, 1)], 1)
    return [Point(name, numbers, 1, size, rate / size, 1.0, 0.0, 1.0, one) for rate in rates]


@pytest.mark.parametrize(("static_pieces", "sure"), [(50, WEAK), (10, LIKELY)])
def test_what_static_slc_blocks_cost_of_the_spare_flash_is_a_range(static_pieces, sure, tmp_path):
    """Of TLC three native blocks, of QLC four: writes do not tell which."""
    capacity, piece, native = 100e9, 0.05e9, 8e9
    cliffs = [
        point
        for turn in (1, 2)
        for point in falling(
            f"cliff-{turn}", (turn, 0, 0, capacity, 0.8), piece, static_pieces, static_pieces + 30
        )
    ]
    static = static_pieces * piece / 0.92
    onset = static + 0.94 * native
    spare = falling("spare", (0, capacity), onset / 10, 10, 40)
    results = Results({"cliff": cliffs, "spare": spare}, ("cliff", "spare"), tmp_path)
    pslc, found = cliff_findings(results, 1.0, 0.0)
    assert pslc.confidence == WEAK  # 80 % full: how much more there is on an emptier one is open
    assert pslc.details["static"] == about(static)
    assert found.confidence == sure
    assert found.value == pytest.approx(native + 3.5 * static, rel=0.03)
    assert found.low == pytest.approx(0.8 * (native + 3 * static), rel=0.03)
    assert found.high == pytest.approx(1.3 * (native + 4 * static), rel=0.03)
    assert "of TLC" in found.evidence and "of QLC" in found.evidence


@pytest.mark.parametrize(("filled", "sure", "left"), [(0.3, LIKELY, 0.85), (0.6, WEAK, 0.25)])
def test_a_drive_that_is_nearly_full_hardly_shows_its_pslc(tmp_path, filled, sure, left):
    """A quarter of the dynamic part is left at 60 and 2.5 %: all that was seen may be static, or
    the pSLC four times as large. 10 % less and more than the estimate were the range."""
    capacity, piece = 100e9, 0.05e9
    cliffs = [
        point
        for turn in (1, 2)
        for point in falling(f"cliff-{turn}", (turn, 0, 0, capacity, filled), piece, 50, 80)
    ]
    pslc, _ = cliff_findings(Results({"cliff": cliffs}, ("cliff",), tmp_path), 1.0, 0.0)
    seen = 50 * piece / 0.92
    assert pslc.confidence == sure
    assert pslc.high == pytest.approx(1.2 * seen / left, rel=0.01)
    assert pslc.low == pytest.approx(0.9 * (seen if sure == WEAK else seen / left), rel=0.01)


@pytest.mark.parametrize(
    ("capacity", "onset", "sure", "high"),
    [(100e9, 0.03, LIKELY, 1.3), (2e9, 0.10, LIKELY, 1.55), (2e9, 0.03, WEAK, 2.8)],
)
def test_the_reserve_of_a_small_drive_may_be_as_much_as_shows(
    tmp_path, capacity, onset, sure, high
):
    """As much as 5.5 % of the drive; the range went to 1.3 times what was seen."""
    spare = falling("spare", (0, capacity), onset * capacity / 10, 10, 40)
    _, found = cliff_findings(Results({"spare": spare}, ("spare",), tmp_path), 1.0, 0.0)
    assert found.confidence == sure
    assert found.high / found.value == pytest.approx(high, rel=0.05)
    assert found.low == pytest.approx(0.8 * found.value)


SEEDS = (101, 102, 105, 106, 109, 114, 115, 116, 203)
DISCRETE = ("channels", "page", "round", "stripe", "units", "grain", "queue_limit")


def truth_of(drive):
    """What is true of a drawn drive, by the keys of findings."""
    return {
        "channels": drive.channels,
        "page": drive.page,
        "round": drive.round,
        "stripe": drive.stripe,
        "units": drive.units,
        "grain": drive.unit,
        "queue_limit": drive.limit,
        "buffer": drive.buffer if drive.write_back else 0,
        "policy": "write-back" if drive.write_back else "write-through",
        "pslc": drive.pslc,
        "spare": drive.spare,
        "read_ahead": "none",
    }


def is_right(finding, truth):
    """Of discrete quantities the value itself, else a range that holds the truth."""
    if finding.key in DISCRETE or isinstance(truth, str):
        return finding.value == truth
    return finding.low <= truth <= finding.high


@pytest.mark.slow
@pytest.mark.parametrize("name", ODD)
def test_what_hardly_shows_is_not_said_to_be_likely(folder, name):
    """What is not weak is right, and of sizes that are weak the range holds."""
    found = probed(hidden(folder, ODD[name].text), folder / "probe")
    for key, truth in truth_of(ODD[name]).items():
        finding = found[key]
        if finding.visible and (finding.confidence != WEAK or key in ("pslc", "spare")):
            assert is_right(finding, truth), (key, finding)
    assert found["stripe"].visible


@pytest.mark.slow
def test_drives_drawn_at_random_are_found_or_said_not_to_be_visible(folder):
    said, wrong = [], []
    for seed in SEEDS:
        drive = draw(seed)
        found = probed(hidden(folder, drive.text), folder / str(seed))
        for key, truth in truth_of(drive).items():
            finding = found[key]
            if finding.visible and finding.confidence != WEAK:
                said.append(key)
                if not is_right(finding, truth):
                    wrong.append((seed, key, finding.value, truth, finding.confidence))
    # What is sure is so; of what is likely, one in ten may be wrong.
    assert [one for one in wrong if one[-1] == SURE] == []
    assert len(wrong) < 0.1 * len(said), wrong
    # Not being visible is the exception.
    assert said.count("stripe") >= 6
    assert said.count("channels") >= 2
    assert said.count("grain") >= 5
    assert said.count("spare") >= 6


def test_plan_touches_one_file_unless_told_in_so_many_words(folder, capsys):
    assert cli.main(["probe", "plan", "--capacity", "1 TB", "--file", "mine.dat"]) == 0
    written = sorted(path.name for path in (folder / "probe").glob("*.fio"))
    assert written == ["calibrate.fio", "cliff.fio", "reads.fio", "writes.fio"]
    for path in (folder / "probe").glob("*.fio"):
        assert re.findall(r"^filename=(.*)$", path.read_text(), re.M) == ["mine.dat"]
    out = ["--out", "all", "--destroy-all-data-on", "/dev/mine"]
    assert cli.main(["probe", "plan", "--capacity", "1 TB", *out]) == 0
    text = (folder / "all/spare.fio").read_text()
    assert "THIS DESTROYS ALL DATA ON /dev/mine" in text
    assert "fio --output-format=json+" in capsys.readouterr().out


@pytest.mark.parametrize("option", ["--file", "--destroy-all-data-on"])
@pytest.mark.parametrize(
    "name", ["notes#1.dat", "a;b", "${HOME}/x", "$ncpus", "a\nfilename=b", " a", "-", "a\\:b", ""]
)
def test_names_that_fio_would_take_for_others_are_refused(folder, capsys, option, name):
    assert cli.main(["probe", "plan", "--capacity", "1 GiB", f"{option}={name}"]) == 2
    assert "cannot be named in a fio job file" in capsys.readouterr().err
    assert not list(folder.glob("**/*.fio"))


@pytest.mark.parametrize("engine", ["psync", "null", "foo", ""])
def test_an_engine_takes_many_requests_at_once(folder, capsys, engine):
    """One that takes one alone shows nothing by depth: the drive seemed to take one at once."""
    assert cli.main(["probe", "plan", "--capacity", "1 GiB", f"--engine={engine}"]) == 2
    assert "is none of libaio, io_uring" in capsys.readouterr().err
    assert not list(folder.glob("**/*.fio"))


def depths(under_way, most_iops=math.inf):
    """Reads by depth: a command takes 100 us, of which so many are under way at each depth."""
    points = []
    for depth in DEPTHS:
        iops = min(under_way(depth) / 100e-6, most_iops)
        mean = 1e9 * under_way(depth) / iops
        histogram = Histogram.of_points([(mean, 1.0)], 1000)
        point = (f"depth-{depth}", (float(depth),), 1000, 4096e3, iops, mean, 0.0, mean)
        points.append(Point(*point, histogram))
    return points


def test_how_many_commands_a_drive_takes_is_said_where_it_shows(tmp_path):
    """By Little's law fio has as many under way as it asks for, whatever the drive holds back."""

    def found(points):
        results = Results({"depth": points}, ("reads",), tmp_path)
        findings = read_findings(results, not_visible("grain", "", ""))
        return next(one for one in findings if one.key == "queue_limit")

    assert found(depths(lambda depth: min(depth, 32))).value == 32
    assert found(depths(float, 480e3)).value == 48
    saturated = found(depths(float, 200e3))
    assert not saturated.visible
    assert "does not show" in saturated.evidence and "all of" not in saturated.evidence
    synchronous = found(depths(lambda depth: 1.0))
    assert not synchronous.visible and "one at a time" in synchronous.evidence


def test_a_drive_is_never_more_than_full(tmp_path):
    """On one that is 70 % full the cliff's writes overwrite what is there."""
    capacity, piece = 6 * GIB, 24 * MIB
    cliffs = [
        replace(point, numbers=(turn, number, piece * (number + (turn == 2) * 96), capacity, 0.7))
        for turn, count in ((1, 96), (2, 48))
        for number, point in enumerate(falling(f"cliff-{turn}", (), piece, 4, count))
    ]
    pslc, _ = cliff_findings(Results({"cliff": cliffs}, ("cliff",), tmp_path), 1.0, 0.0)
    assert pslc.evidence.count("when 70 % full") == 2
    assert "always and" not in pslc.evidence


def test_a_device_is_named_by_no_other_option_than_the_one_that_says_so(folder, capsys):
    (folder / "link").symlink_to("/dev/null")
    for name in ("/dev/no-such-drive", "/dev/../dev/null", "link", "."):
        assert cli.main(["probe", "plan", "--capacity", "1 GiB", "--file", name]) == 2
        assert "name a file on the drive" in capsys.readouterr().err
    assert not list(folder.glob("**/*.fio"))


@pytest.mark.skipif(not shutil.which("fio"), reason="fio is not installed")
def test_a_colon_in_a_name_is_no_second_file(folder):
    (folder / "files").mkdir()
    name = str(folder / "files/one:two,three [4].dat")
    assert cli.main(["probe", "plan", "--capacity", "128 MiB", "--file", name]) == 0
    command = ["fio", "--section=read-4k-qd1", "probe/calibrate.fio"]
    subprocess.run(command, check=True, timeout=60)
    assert [str(path) for path in (folder / "files").iterdir()] == [name]


def test_all_stages_together_take_less_than_an_hour():
    target = Target.of("x", 10**12, 0.5)
    jobs = [job for stage in STAGES for job in jobs_of(stage, target)]
    assert all("runtime" in job.options for job in jobs)
    assert sum(job.options["runtime"] for job in jobs) < 3600


@pytest.mark.skipif(not shutil.which("fio"), reason="fio is not installed")
def test_fio_understands_every_job_and_runs_some(folder):
    plan = ["--capacity", "1 GiB", "--destroy-all-data-on", "never.dat", "--sector", "512 B"]
    assert cli.main(["probe", "plan", "--out", ".", *plan]) == 0
    for stage in STAGES:
        said = subprocess.run(
            ["fio", "--parse-only", f"{stage}.fio"], capture_output=True, text=True
        )
        assert said.returncode == 0, said.stdout + said.stderr
    sections = ("size-4096", "size-65536", "stride-8192", "order-read-4096")
    chosen = [f"--section={name}" for name in sections]
    command = ["fio", "--output-format=json+", "--output=reads.json", *chosen, "reads.fio"]
    subprocess.run(command, check=True, timeout=60)
    jobs = fio_content(folder / "reads.json")["jobs"]
    assert [job["error"] for job in jobs] == [0] * 4
    assert {finding.key for finding in analyse(folder)} >= {"grain", "spare", "channels"}
    assert not (folder / "never.dat").exists()


def test_the_starting_scenario_and_its_study_are_good(folder, capsys):
    with thread_pool(2) as pool:
        run_on(hidden(folder, MLC), folder / "mlc", pool)
    assert cli.main(["probe", "analyse", "mlc"]) == 0
    assert "mapping page" in capsys.readouterr().out
    text = (folder / "mlc/drive.yaml").read_text()
    assert "channels: 6  # probed" in text
    assert "unit: 16384 B  # probed" in text
    from tlmssd.calibrate.study import CalibrationStudy

    find_program().ask("check", str(folder / "mlc/drive.yaml"))
    study = CalibrationStudy.read(folder / "mlc/study.yaml")
    assert "read-4k-qd1" in study.measured.jobs
    mine = (folder / "mlc/study.yaml").read_text() + "# years of work\n"
    (folder / "mlc/study.yaml").write_text(mine)
    assert cli.main(["probe", "analyse", "mlc"]) == 2
    assert "mlc/study.yaml: was changed after tlmssd probe" in capsys.readouterr().err
    assert (folder / "mlc/study.yaml").read_text() == mine
    assert (
        "<svg" in (folder / "mlc/probe.html").read_text()
        or "vega" in (folder / "mlc/probe.html").read_text()
    )


@pytest.mark.parametrize("pages", [1, 2, 3, 5, 6, 12, 20, 24, 35, 72, 128])
def test_the_starting_scenario_has_the_stripe_that_was_found(tmp_path, pages):
    """Of whichever pages: here of 4 KiB, where the page does not show."""
    keys = "round channels page units queue_limit read_ahead grain buffer policy pslc spare"
    findings = [not_visible(key, key, "") for key in keys.split()]
    stripe = pages * 4 * KIB
    findings.append(Finding("stripe", "stripe", float(stripe), "B", SURE, ""))
    (drive,) = write_scenario(findings, Results({}, (), tmp_path), tmp_path)
    with Resolver(find_program(), drive) as resolver:
        flash = resolver.resolve(())["ssd"]["flash"]
    page = flash["part"]["planes"] * units.parse(flash["part"]["page_size"])
    assert flash["channels"] * flash["ways"] * flash["dies_per_way"] * page == stripe


def noisy_strides(deviation, apart):
    """Of a drive that meets one die at multiples of 64 KiB, and `apart` elsewhere; 200 reads each
    take 100 us with such a standard deviation."""
    chance = np.random.default_rng(1)
    alone, many = [], []
    for stride in strides(32 * MIB):
        dies = 1 if stride % (64 * KIB) == 0 else apart
        mean = 100e3 + chance.normal(0, deviation / 200**0.5)
        histogram = Histogram.of_points([(mean, 1.0)], 200)
        for points, rate in ((alone, 1e9 / mean), (many, dies / 80e-6)):
            point = (f"x-{stride}", (float(stride),), 200, 0.0, rate, mean, deviation, mean)
            points.append(Point(*point, histogram))
    return Strides.of(many, alone, [])


def test_a_stripe_is_not_read_out_of_noise():
    """Where reads take so different times that one die is not told from two, all strides met one;
    and so they do where no other stride is tried."""
    assert stripe_finding(noisy_strides(1e3, 4)).value == 64 * KIB
    for deviation, apart in ((500e3, 4), (500e3, 1), (1e3, 1)):
        found = stripe_finding(noisy_strides(deviation, apart))
        assert not found.visible, found


def test_bad_arguments_get_one_line(folder, capsys):
    assert cli.main(["probe", "plan", "--capacity", "big"]) == 2
    assert cli.main(["probe", "plan", "--capacity", "1 TB", "--sector", "3 KiB"]) == 2
    assert cli.main(["probe", "plan", "--capacity", "1 MiB"]) == 2
    assert cli.main(["probe", "run", "nothing.yaml"]) == 2
    assert cli.main(["probe", "analyse", "."]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 5
    with pytest.raises(InputError, match=r"reads\.json"):
        analyse(folder)
