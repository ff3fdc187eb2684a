"""How exactly a measured figure is known, by formulas, and what repetitions come to."""

import json
import math
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from tlmssd.calibrate.measured import Known, Measured, figures_of, join_measured
from tlmssd.calibrate.model import targets_of
from tlmssd.errors import InputError


def job(path, *, commands=10_000, mean=1000.0, bins=None, way="read", more=None, name="a"):
    """A file of one job; its latencies are `mean` ± 300 ns."""
    latency = {"mean": mean, "stddev": 300.0, **({"bins": bins} if bins else {})}
    part = {"total_ios": commands, "iops": 2e5, "bw_bytes": 1e6, "clat_ns": latency}
    path.write_text(json.dumps({"jobs": [{"jobname": name, way: part, **(more or {})}]}))
    return path


def test_a_mean_of_reads_is_known_to_its_standard_error(tmp_path):
    read = figures_of(job(tmp_path / "read.json", commands=900))["a"]
    for figure in ("mean", "iops", "bandwidth"):
        assert read[f"read.{figure}"].error == pytest.approx(300 / math.sqrt(900) / 1000)
    write = figures_of(job(tmp_path / "write.json", way="write"))["a"]
    assert write["write.mean"].error == 0


@pytest.mark.parametrize(
    ("commands", "percentile", "width"),
    [
        (1e6, 50, 0.1 * 0.5),
        (1e6, 90, 0.1 * (1 - 0.9)),
        (400, 50, 2 * math.sqrt(0.5 * 0.5 / 400)),
        (400, 90, 2 * math.sqrt(0.9 * 0.1 / 400)),
    ],
)
def test_a_percentile_is_known_to_its_neighbours(tmp_path, commands, percentile, width):
    """Of latencies whose logarithm grows by 3 from the first rank to the last one."""
    bins = {str(1e6 * math.exp(3 * i / 5000)): commands / 5000 for i in range(1, 5001)}
    found = figures_of(job(tmp_path / "fio.json", commands=commands, bins=bins))["a"]
    known = found[f"read.p{percentile}"]
    assert known.value == pytest.approx(1e6 * math.exp(3 * percentile / 100), rel=1e-3)
    assert known.error == pytest.approx(3 * width, rel=1e-2)


@pytest.mark.parametrize(
    ("commands", "there"), [(299, {"p5", "p50"}), (301, {"p1", "p5", "p50", "p99"}), (59, {"p50"})]
)
def test_a_percentile_needs_three_commands_beyond_it(tmp_path, commands, there):
    bins = {"900": 0.5 * commands, "1100": 0.5 * commands}
    found = figures_of(job(tmp_path / "fio.json", commands=commands, bins=bins))["a"]
    assert {name for name in ("p1", "p5", "p50", "p99") if f"read.{name}" in found} == there


def test_repeated_measurements_are_their_geometric_mean(tmp_path):
    means, counts = (1000.0, 4000.0, 2000.0), (900, 100, 400)
    files = [
        job(tmp_path / f"{n}.json", mean=mean, commands=count)
        for n, (mean, count) in enumerate(zip(means, counts, strict=True))
    ]
    known = join_measured(files).figures["a"]["read.mean"]
    assert known.value == pytest.approx(2000)
    assert known.spread == pytest.approx(math.log(2))  # of log 1, log 2 and log 4
    errors = [300 / mean / math.sqrt(count) for mean, count in zip(means, counts, strict=True)]
    assert known.error == pytest.approx(np.mean(errors))


def jobs_file(path, parts, **more):
    path.write_text(json.dumps({"jobs": parts, **more}))
    return path


def read_part(**changes):
    latency = {"mean": 1000.0, "stddev": 300.0}
    part = {"total_ios": 100, "io_bytes": 409600, "runtime": 10, "iops": 1e4, "bw_bytes": 40960000}
    return part | {"clat_ns": latency} | changes


def test_parts_of_numjobs_have_one_name(tmp_path):
    """Without group_reporting fio writes each; more of them than it started are other jobs."""
    jobs = [{"jobname": "a", "job options": {"numjobs": "2"}, "read": read_part()}] * 2
    known = join_measured([jobs_file(tmp_path / "1.json", jobs)])
    assert known.figures["a"]["read.iops"].value == pytest.approx(2e4)
    jobs = [{"jobname": "a", "read": read_part()}] * 2
    everywhere = {"global options": {"numjobs": "2"}}
    assert join_measured([jobs_file(tmp_path / "2.json", jobs, **everywhere)]).jobs == ("a",)
    with pytest.raises(InputError, match="3 jobs have this name"):
        join_measured([jobs_file(tmp_path / "3.json", jobs + jobs[:1], **everywhere)])


@pytest.mark.parametrize(
    "changes",
    [
        {"iops": 1.2e4},  # rounded by hand
        {"io_bytes": 0, "bw_bytes": 1e6},  # sizes are not known
        {"total_ios": 50, "io_bytes": 409600, "iops": 5e3},  # 8 KiB on average, whatever the mix
        {"runtime": 0, "iops": 0, "bw_bytes": 0},  # over in less than 1 ms
    ],
)
def test_rates_that_can_be(tmp_path, changes):
    join_measured(
        [jobs_file(tmp_path / "m.json", [{"jobname": "a", "read": read_part(**changes)}])]
    )


@pytest.mark.parametrize(
    "changes",
    [{"iops": 1.3e4}, {"iops": 0.7e4}, {"io_bytes": 819200}, {"iops": 0}, {"bw_bytes": 0}],
)
def test_rates_that_cannot_be(tmp_path, changes):
    path = jobs_file(tmp_path / "m.json", [{"jobname": "a", "read": read_part(**changes)}])
    with pytest.raises(InputError, match="m.json: job 'a': read: "):
        join_measured([path])


def test_a_figure_that_one_repetition_lacks_is_left_out(tmp_path):
    bins = {"1000": 10_000}
    files = [job(tmp_path / "1.json", bins=bins), job(tmp_path / "2.json")]
    for order in (files, files[::-1]):
        assert set(join_measured(order).figures["a"]) == {
            "read.iops",
            "read.bandwidth",
            "read.mean",
        }


def study(loss, held_out=()):
    def refuse(complaint):
        raise InputError(complaint)

    known = Known(5.0, error=0.04, spread=0.06)
    figures = {"a": {"read.mean": known, "read.p50": known}, "b": {"read.mean": Known(7.0, 0.0)}}
    measured = Measured(("a", "b"), figures, 2, (Path("m.json"),))
    parts = {"measured": SimpleNamespace(fail=refuse)}
    return SimpleNamespace(measured=measured, loss=loss, held_out=held_out, parts=parts)


def test_what_a_figure_may_be_off():
    """Its tolerance, the error of its sample and of the emulator's, and what does not repeat."""
    (first, other) = targets_of(study({"mean": 0.03}, ["b"]))
    assert first.sigma == pytest.approx(math.sqrt(0.03**2 + 2 * 0.04**2 + 0.06**2))
    assert other.sigma == pytest.approx(0.03)
    assert [(one.job, one.figure, one.held_out) for one in (first, other)] == [
        ("a", "read.mean", False),
        ("b", "read.mean", True),
    ]
    with pytest.raises(InputError, match="nothing that was measured has a place in the loss"):
        targets_of(study({"p50": 0.03}, ["a"]))
