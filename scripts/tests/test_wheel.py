"""The wheel in an environment of its own: the program runs without the machine's libraries."""

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

from tlmssd.program import SOURCE_TREE

pytestmark = pytest.mark.slow
BUILD_SECONDS = 1800
BARE = {"PATH": "/usr/bin:/bin", "HOME": "/nonexistent"}
"""What the environment of a user may lack: nothing of this one's gets through."""
LEFT_TO_THE_MACHINE = ("linux-vdso", "ld-linux", "libc.so", "libm.so")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    """The wheel as `pip wheel scripts/` makes it."""
    pytest.importorskip("scikit_build_core")
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps"]
    command += ["--no-build-isolation", "--wheel-dir", folder, SOURCE_TREE / "scripts"]
    subprocess.run(command, check=True, timeout=BUILD_SECONDS)
    (wheel,) = folder.glob("tlmssd-*.whl")
    return wheel


@pytest.fixture(scope="module")
def clean(wheel, tmp_path_factory) -> Path:
    """A new virtual environment with the wheel and nothing else."""
    folder = tmp_path_factory.mktemp("clean") / "environment"
    venv.create(folder, with_pip=True)
    command = [folder / "bin/python3", "-m", "pip", "install", "--quiet", "--no-deps", wheel]
    subprocess.run(command, check=True, env={**os.environ, "PYTHONPATH": ""})
    return folder


def test_wheel_carries_program_scenarios_and_licences(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    assert wheel.name.endswith("-py3-none-linux_x86_64.whl")
    for end in (
        "/scripts/tlmssd", "/scenarios/quickstart.yaml", "/parts/nand/tlc-48l.yaml",
        "/doc/tlmssd/LICENSE", "/doc/tlmssd/LICENSE.libsystemc", "tlmssd/cli.py",
    ):  # fmt: skip
        assert any(name.endswith(end) for name in names), end
    built = [name for name in names if not name.startswith("tlmssd/")]
    assert not [name for name in built if name.endswith((".h", ".a"))]
    assert not [name for name in names if "__pycache__" in name]
    assert wheel.stat().st_size < 20e6


def test_program_needs_no_library_of_the_machine(clean):
    program = clean / "bin/tlmssd"
    listed = subprocess.run(["ldd", program], capture_output=True, text=True, check=True, env=BARE)
    for line in listed.stdout.splitlines():
        name = Path(line.split()[0]).name
        if not name.startswith(LEFT_TO_THE_MACHINE):
            assert str(clean) in line, line


def test_program_runs_with_scenarios_and_parts(clean, tmp_path):
    scenario = tmp_path / "own.yaml"
    scenario.write_text(
        "ssd: {flash: {channels: 2, ways: 1, spare_factor: 60 %, user_capacity: 64 MiB,\n"
        "  part: {file: parts/nand/tlc-48l.yaml, pages_per_block: 144, blocks_per_plane: 40}}}\n"
        "load: {rw: randread, bs: 4k, number_ios: 100}\n"
    )
    shipped = clean / "share/tlmssd/scenarios/quickstart.yaml"
    for command in (["run", scenario, "--out", tmp_path / "out"], ["run", shipped, "--short"]):
        run = subprocess.run(
            [clean / "bin/tlmssd", *command], cwd=tmp_path, env=BARE, capture_output=True, text=True
        )
        assert run.returncode == 0, run.stderr
    assert (tmp_path / "out/report.json").exists()


def test_program_runs_where_there_is_nothing_but_libc(clean, tmp_path):
    """A root of its own (chroot): the wheel's files, the C library, and not a file of this tree."""
    root = tmp_path / "root"
    shutil.copytree(clean, root / "own", symlinks=True)
    listed = subprocess.run(["ldd", clean / "bin/tlmssd"], capture_output=True, text=True, env=BARE)
    for file in re.findall(r"(/\S+) \(0x", listed.stdout):
        if file.startswith(str(clean)):
            continue  # the wheel's own
        (root / file[1:]).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(file, root / file[1:])
    (root / "tmp").mkdir(exist_ok=True)
    enter = ["chroot", root] if os.geteuid() == 0 else ["unshare", "-r", "chroot", root]
    scenario = "/own/share/tlmssd/scenarios/quickstart.yaml"
    command = [*enter, "/own/bin/tlmssd", "run", scenario, "--short", "--out", "/tmp/out"]
    # The loader finds the wheel's libraries beside the program by /proc, which this root has not.
    environment = {"PATH": "/usr/sbin:/sbin:/usr/bin:/bin", "LD_ORIGIN_PATH": "/own/bin"}
    run = subprocess.run(command, env=environment, capture_output=True, text=True)
    if "Operation not permitted" in run.stderr:
        pytest.skip("this machine allows no root of its own")
    assert run.returncode == 0, run.stderr
    assert (root / "tmp/out/report.json").exists()
    files = [file for file in root.rglob("*") if file.is_file() and "own" not in file.parts]
    libraries = [file.name for file in files if ".so" in file.name]
    assert all(name.startswith(LEFT_TO_THE_MACHINE) for name in libraries), libraries


def test_package_finds_the_program_of_its_wheel(wheel, clean, tmp_path):
    code = "from tlmssd.program import find_program; p = find_program(); print(p.path, p.version)"
    python = clean / "bin/python3"
    found = subprocess.run([python, "-c", code], cwd=tmp_path, env=BARE, capture_output=True)
    assert found.stderr == b""
    path, version = found.stdout.decode().split()
    assert Path(path) == (clean / "bin/tlmssd").resolve()
    assert wheel.name.split("-")[1] == version


def test_a_study_runs_from_the_wheel(clean, folder):
    # What the package depends on is taken from this environment, not from a network.
    environment = {**BARE, "PYTHONPATH": sysconfig.get_path("purelib"), "HOME": str(folder)}
    command = [clean / "bin/tlmssd", "explore", "study.yaml", "--jobs", "2", "--store", "own"]
    run = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert len((folder / "out/study/results.csv").read_text().splitlines()) == 1 + 8
    assert (folder / "out/study/study.html").exists()
