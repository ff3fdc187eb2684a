"""fio's json and json+ of real drives."""

import json

import pytest

from tlmssd.errors import InputError
from tlmssd.fio_json import FioResult


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
    result = write(tmp_path / "fio.json", first, second, before="fio: a warning\n")
    assert result.value("read.commands") == 400
    assert result.value("read.mean") == pytest.approx(175.0)
    assert result.value("read.stddev") == pytest.approx((10**2 + 0.1875 * 300**2) ** 0.5)
    assert result.value("iops") == 500.0
    assert result.value("loads.b.read.mean") == 400.0
    assert result.histogram("read").frame()["share"].tolist() == [0.5, 0.75, 1.0]


def test_total_latency_where_there_is_no_completion_latency(tmp_path):
    job = {"jobname": "a", "read": direction(100.0, 500, lat="lat_ns")}
    assert write(tmp_path / "fio.json", job).value("read.mean") == 100.0


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "neither a folder of results nor fio's json"),
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
