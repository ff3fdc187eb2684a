"""fio's json and json+ of real drives."""

import json
import shutil
import subprocess

import pytest

from tlmssd.calibrate.measured import figures_of
from tlmssd.compare import compare
from tlmssd.compare.page import page_of
from tlmssd.errors import InputError
from tlmssd.fio_json import FioResult, check_jobs, failed_jobs, read_jobs
from tlmssd.pictures.notebook import result_html

RATES = {"read.iops", "read.bandwidth", "read.mean"}


def direction(mean: float, ios: int, bins: dict | None = None, lat: str = "clat_ns") -> dict:
    latency = {"min": 50, "max": 4000, "mean": mean, "stddev": 10.0, "N": ios,
               "percentile": {"50.000000": 90, "99.000000": 1000, "99.900000": 2000}}  # fmt: skip
    if bins:
        latency["bins"] = bins
    return {"io_bytes": 4096 * ios, "bw_bytes": 1000000, "bw": 976, "iops": 250.0,
            "total_ios": ios, lat: latency}  # fmt: skip


def write(path, *jobs, before=""):
    content = {"fio version": "fio-3.28", "jobs": list(jobs),
               "disk_util": [{"name": "nvme0n1"}]}  # fmt: skip
    path.write_text(before + json.dumps(content))
    return FioResult(path)


def test_json_of_one_job(tmp_path):
    job = {"jobname": "a", "read": direction(100.0, 500), "write": {"total_ios": 0}}
    result = write(tmp_path / "fio.json", job)
    assert result.operations == ["read"]
    assert result.value("read.p99.9") == 2000
    assert result.value("read.mean") == 100.0
    assert result.value("iops") == 250.0
    assert result.title == "fio-3.28 on nvme0n1"
    assert result.seed is None
    assert not result.has_ledgers
    curve = result.histogram("read").frame()
    assert curve["latency"].is_monotonic_increasing
    assert curve["latency"].iloc[-1] == pytest.approx(4000)
    assert result.histogram("read").percentile(50) == pytest.approx(90, rel=0.05)


def test_json_plus_of_several_jobs_is_pooled(tmp_path):
    first = {"jobname": "a", "read": direction(100.0, 300, {"90": 200, "120": 100})}
    second = {"jobname": "b", "read": direction(400.0, 100, {"400": 100})}
    second["read"]["clat_ns"] |= {"min": 20, "max": 9000}
    result = write(tmp_path / "fio.json", first, second, before="fio: a warning\n")
    assert result.value("read.commands") == 400
    assert result.value("read.mean") == pytest.approx(175.0)
    assert result.value("read.stddev") == pytest.approx((10**2 + 0.1875 * 300**2) ** 0.5)
    assert (result.value("read.min"), result.value("read.max")) == (20, 9000)
    assert result.value("iops") == 500.0
    assert result.value("bandwidth") == result.value("read.bandwidth") == 2e6
    assert result.value("read.p99") == pytest.approx(120 + 0.24 / 0.25 * (400 - 120))
    assert result.value("loads.b.read.mean") == 400.0
    assert result.histogram("read").frame()["share"].tolist() == [0.5, 0.75, 1.0]


def test_of_the_states_of_a_run_the_last_is_read(tmp_path):
    """As fio writes them with --status-interval: of a job that has not begun, too."""
    path = tmp_path / "fio.json"

    def state(first: int, second: int) -> str:
        jobs = [{"jobname": "a", "read": direction(100.0, first)}, {"jobname": "b"}]
        jobs[1] |= {"read": direction(100.0, second)} if second else {}
        return json.dumps({"fio version": "fio-3.33", "jobs": jobs}, indent=2)

    path.write_text("\n".join([state(179, 0), state(500, 23), state(500, 300), "a word {\n"]))
    assert {name: job["commands"] for name, job in read_jobs(path).items()} == {"a": 500, "b": 300}
    path.write_text("\n".join([state(179, 0), state(500, 23)[:-40]]))
    with pytest.raises(InputError, match="not what fio writes"):
        read_jobs(path)
    path.write_text("\n".join([state(179, 0), state(500, 0).replace('"b"', '"c"')]))
    with pytest.raises(InputError, match="give each a file of its own"):
        read_jobs(path)


@pytest.mark.skipif(not shutil.which("fio"), reason="fio is not installed")
def test_fio_itself_says_where_it_stands_in_between(tmp_path):
    words = ["--name=a", "--size=1m", "--rw=randread", "--rate_iops=40", "--number_ios=90"]
    out = ["--output-format=json", "--output=o.json", "--status-interval=1", "--ioengine=psync"]
    subprocess.run(["fio", *words, *out], check=True, timeout=60, cwd=tmp_path)
    assert (tmp_path / "o.json").read_text().count("fio version") > 1
    assert read_jobs(tmp_path / "o.json")["a"]["commands"] == 90


@pytest.mark.parametrize(
    ("key", "name"),
    [("percentile", "200"), ("percentile", "-5"), ("percentile", "nan"), ("bins", "-1")],
)
def test_shares_and_latencies_that_cannot_be_are_refused(tmp_path, key, name):
    job = {"jobname": "a", "read": direction(100.0, 500, {"100": 500})}
    job["read"]["clat_ns"][key] |= {name: 90}
    with pytest.raises(InputError, match=f"{key} has '{name}', which cannot be"):
        write(tmp_path / "fio.json", job)


def test_bandwidth_in_bytes_or_else_in_kib(tmp_path):
    job = {"jobname": "a", "read": direction(100.0, 500)}
    assert write(tmp_path / "fio.json", job).value("read.bandwidth") == 1000000
    del job["read"]["bw_bytes"]
    assert write(tmp_path / "fio.json", job).value("read.bandwidth") == 976 * 1024


def test_completion_latency_goes_before_the_total_one(tmp_path):
    job = {"jobname": "a", "read": direction(100.0, 500)}
    job["read"]["lat_ns"] = direction(150.0, 500)["clat_ns"] | {"percentile": {"50.000000": 140}}
    result = write(tmp_path / "fio.json", job)
    assert (result.value("read.mean"), result.value("read.p50")) == (100, 90)


def test_between_two_percentiles_latencies_go_by_ratios(tmp_path):
    job = {"jobname": "a", "read": direction(100.0, 500)}
    job["read"]["clat_ns"] = {"mean": 500, "percentile": {"50.000000": 100, "99.000000": 10000}}
    curve = write(tmp_path / "fio.json", job).histogram("read")
    assert curve.percentile(74.5) == pytest.approx(1000, rel=0.03)


def test_total_latency_where_there_is_no_completion_latency(tmp_path):
    job = {"jobname": "a", "read": direction(100.0, 500, lat="lat_ns")}
    assert write(tmp_path / "fio.json", job).value("read.mean") == 100.0


def test_a_percentile_that_is_not_in_the_file_is_absent(tmp_path):
    """Neither listed, as with fio's percentile_list=50:99:99.9, nor to be counted in bins."""
    listed = {"jobname": "a", "read": direction(100.0, 5000)}
    result = write(tmp_path / "fio.json", listed)
    there = ["read.p50", "read.p99", "read.p99.9"]
    assert [name for name in result.figures if name.startswith("read.p")] == there
    assert figures_of(tmp_path / "fio.json")["a"].keys() == {*RATES, *there}
    counted = {"jobname": "b", "read": direction(400.0, 5000, {"90": 2000, "400": 3000})}
    assert "read.p10" in write(tmp_path / "plus.json", counted).figures
    both = write(tmp_path / "both.json", listed, counted)
    assert [name for name in both.figures if name.startswith("read.p")] == there


def test_without_percentiles_there_are_the_other_figures(tmp_path):
    """fio's clat_percentiles=0."""
    job = {"jobname": "a", "read": direction(100.0, 5000)}
    del job["read"]["clat_ns"]["percentile"]
    result = write(tmp_path / "fio.json", job)
    assert figures_of(tmp_path / "fio.json")["a"].keys() == RATES
    assert not result.has_histogram("read")
    with pytest.raises(InputError, match=r"fio\.json has no percentiles of reads"):
        result.histogram("read")
    assert "<td>-</td>" in result_html([result])
    other = write(tmp_path / "other.json", {"jobname": "a", "read": direction(100.0, 500)})
    assert "Latency of reads" in page_of(compare(result, other))
    assert "Latency of reads" not in page_of(compare(result, result))


@pytest.mark.parametrize("key", ["min", "max", "stddev"])
def test_what_a_file_leaves_out_is_not_there(tmp_path, key):
    job = {"jobname": "a", "read": direction(100.0, 500)}
    del job["read"]["clat_ns"][key]
    result = write(tmp_path / "fio.json", job)
    assert f"read.{key}" not in result.figures
    assert result.value("read.p99") == 1000
    assert result.histogram("read").percentile(50) == pytest.approx(90, rel=0.05)


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"iops": "343k"}, "job 'a': read: iops must be a number of 0 or more, and is \"343k\""),
        ({"total_ios": "5k"}, "job 'a': read: total_ios must be a number"),
        ({"bw_bytes": -1}, "job 'a': read: bw_bytes must be a number of 0 or more, and is -1"),
        ({"iops": float("nan")}, "read: iops must be a number of 0 or more, and is NaN"),
        ({"clat_ns": {"mean": "5 us"}}, "read: clat_ns: mean must be a number"),
        ({"clat_ns": {"mean": 5, "max": [7]}}, "read: clat_ns: max must be a number"),
        ({"clat_ns": 5}, "job 'a': read: clat_ns must be an object, and is 5"),
        ({"clat_ns": {"mean": 5, "percentile": {"50": "1 us"}}}, "percentile: 50 must be a number"),
        ({"clat_ns": {"mean": 5, "bins": {"many": 3}}}, "bins has 'many', which is no number"),
        ({"clat_ns": {"mean": None}}, "no clat_ns and no lat_ns"),
    ],
)
def test_what_is_no_number_is_refused_with_file_job_and_key(tmp_path, change, complaint):
    job = {"jobname": "a", "read": direction(100.0, 500) | change}
    with pytest.raises(InputError) as caught:
        write(tmp_path / "fio.json", job)
    assert str(caught.value).startswith(f"{tmp_path / 'fio.json'}: job 'a': ")
    assert complaint in str(caught.value)


def test_jobs_that_have_failed(tmp_path):
    jobs = [{"jobname": name, "error": error} for name, error in (("a", 0), ("b", 5))]
    write(tmp_path / "fio.json", *jobs)
    assert failed_jobs(tmp_path / "fio.json") == {"b": 5}


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "not what fio writes with --output-format=json or json\\+"),
        ('{"a": 1}', "no list 'jobs'"),
        ('{"jobs": []}', "without a job"),
        ('{"jobs": [{"jobname": "a", "read": {"total_ios": 5}}]}', "no clat_ns and no lat_ns"),
    ],
)
def test_other_files_are_refused_with_one_line(tmp_path, text, complaint):
    path = tmp_path / "fio.json"
    path.write_text(text)
    with pytest.raises(InputError, match=complaint) as caught:
        FioResult(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("size", "runtime", "bandwidth", "complaint"),
    [
        (512, 600_000, 0, None),  # 0.85 B/s, of which fio writes the whole bytes
        (512, 300_000, 1, None),  # 1.7 B/s
        (512, 300_000, 0, "1 commands at a rate of 0"),
        (512, None, 0, "1 commands at a rate of 0"),
        (0, 600_000, 0, "1 commands at a rate of 0"),
        (512, 600_000, 40, "make commands of"),
        (1 << 20, 60_000, 3, "make commands of"),
    ],
)
def test_a_job_may_be_very_slow(tmp_path, size, runtime, bandwidth, complaint):
    section = direction(1e6, 1) | {"io_bytes": size, "runtime": runtime, "bw_bytes": bandwidth}
    section["iops"] = 1000 / (runtime or 1000)
    path = write(tmp_path / "fio.json", {"jobname": "slow", "read": section}).folder
    if complaint is None:
        check_jobs(path)
    else:
        with pytest.raises(InputError, match=complaint):
            check_jobs(path)
