"""The Debian package in roots of its own: it installs, runs, and leaves nothing when it goes."""

import json
import os
import platform
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tlmssd.program import SOURCE_TREE

pytestmark = pytest.mark.slow
BARE = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/nonexistent"}


def said(*command: object, **more) -> str:
    """Standard output of a command that works."""
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, **more)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def package() -> Path:
    if not shutil.which("dpkg-deb"):
        pytest.skip("needs a Debian system")
    return Path(said(SOURCE_TREE / "scripts/package", timeout=3000).splitlines()[-1])


def field(package: Path, name: str) -> str:
    return said("dpkg-deb", "--field", package, name).strip()


def test_package_carries_what_is_needed(package):
    listed = said("dpkg-deb", "-c", package).splitlines()
    files = {line.split(" ./", 1)[1] for line in listed}
    for name in (
        "usr/bin/tlmssd",
        "usr/share/man/man1/tlmssd.1.gz",
        "usr/share/bash-completion/completions/tlmssd",
        "usr/share/zsh/vendor-completions/_tlmssd",
        "usr/share/fish/vendor_completions.d/tlmssd.fish",
        "usr/share/doc/tlmssd/copyright",
        "usr/share/doc/tlmssd/changelog.gz",
        "usr/share/doc/tlmssd/user-guide.md",
        "usr/share/tlmssd/scenarios/quickstart.yaml",
        "usr/share/tlmssd/python/pyproject.toml",
        "usr/share/tlmssd/python/tlmssd/pictures/assets/vega.js",
        "usr/share/tlmssd/scenarios/parts/nand/tlc-48l.yaml",
        "usr/include/tlmssd/platform/plugins/interface.h",
        "usr/lib/libtlmssd.a",
        "usr/lib/cmake/tlmssd/tlmssdConfig.cmake",
    ):
        assert name in files, name
    assert not [name for name in files if name.startswith(("etc/", "usr/local/", "var/"))]


def test_package_has_the_programs_version(package):
    program = said(SOURCE_TREE / "build/release/tlmssd", "--version").split()[-1]
    assert field(package, "Version") == program
    said("dpkg", "--compare-versions", program, "ge", "0.1.0")


def test_package_depends_on_every_library(package):
    wanted = {part.split()[0] for part in field(package, "Depends").split(",")}
    dynamic = said("readelf", "--dynamic", SOURCE_TREE / "build/release/tlmssd")
    for library in re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic):
        told = said("dpkg", "-S", f"*/lib/*/{library}").splitlines()
        owners = {line.split(":")[0] for line in told}
        assert owners & wanted, f"{library} of {owners}"


def tree(root: Path) -> set[str]:
    """All files and folders of a root, but for what dpkg keeps for itself."""
    found = {str(path.relative_to(root)) for path in root.rglob("*")}
    return {name for name in found if not name.startswith(("var", "proc", "dev"))}


@pytest.fixture(scope="module")
def root(package, tmp_path_factory) -> Path:
    """A root with an empty data base of packages and the libraries that the program needs."""
    if os.geteuid() != 0:
        pytest.skip("needs root for a root of its own")
    root = tmp_path_factory.mktemp("root")
    for name in ("info", "updates", "triggers", "parts"):
        (root / "var/lib/dpkg" / name).mkdir(parents=True)
    (root / "var/lib/dpkg/status").touch()
    for folder in ("usr/bin", "tmp"):
        (root / folder).mkdir(parents=True)
    listed = said("ldd", SOURCE_TREE / "build/release/tlmssd")
    for file in re.findall(r"(/\S+) \(0x", listed):
        target = root / file[1:]
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(Path(file).resolve(), target)
    return root


def dpkg(root: Path, *arguments: object) -> str:
    # The libraries are there, but as files of no package.
    forced = ("--force-depends", "--force-script-chrootless")
    return said("dpkg", f"--root={root}", *forced, *arguments)


def test_package_comes_runs_and_goes(package, root):
    before = tree(root)
    dpkg(root, "--install", package)
    scenario = "/usr/share/tlmssd/scenarios/quickstart.yaml"
    command = ["chroot", root, "/usr/bin/tlmssd"]
    assert field(package, "Version") in said(*command, "--version", env=BARE)
    assert "over_provisioning" in said(*command, "list", "over-provisioning", env=BARE)
    said(*command, "run", scenario, "--short", "--quiet", "--out", "/tmp/out", env=BARE)
    assert (root / "tmp/out/report.json").exists()
    shutil.rmtree(root / "tmp/out")
    dpkg(root, "--remove", "tlmssd")
    left = tree(root) - before  # folders that were empty before go, too: no package holds them here
    assert left == set()
    assert "tlmssd" not in (root / "var/lib/dpkg/status").read_text()
    assert not list((root / "var/lib/dpkg/info").glob("tlmssd*"))


@pytest.fixture(scope="module")
def debian(tmp_path_factory) -> Path:
    """A new Debian of this release, from its mirror."""
    if os.geteuid() != 0 or not shutil.which("debootstrap"):
        pytest.skip("needs root and debootstrap")
    release = platform.freedesktop_os_release().get("VERSION_CODENAME", "")
    root = tmp_path_factory.mktemp("debian")
    made = subprocess.run(
        ["debootstrap", "--variant=minbase", release, root], capture_output=True, text=True
    )
    if made.returncode != 0:
        pytest.skip(f"debootstrap makes no root: {(made.stdout.splitlines() or ['?'])[-1]}")
    shutil.copy("/etc/resolv.conf", root / "etc/resolv.conf")
    return root


def test_package_comes_and_goes_by_apt(package, debian):
    """With nothing there that it needs: apt brings that, and takes all of it away again."""

    def inside(*command: object) -> str:
        environment = BARE | {"DEBIAN_FRONTEND": "noninteractive", "LC_ALL": "C.UTF-8"}
        return said("chroot", debian, *command, env=environment)

    def installed() -> set[str]:
        return set(
            inside("dpkg-query", "-W", "-f", "${Package} ${db:Status-Status}\n").splitlines()
        )

    def files() -> set[str]:
        folders = ("etc", "home", "opt", "root", "srv", "tmp", "usr", "var/lib")
        made = (path for name in folders for path in (debian / name).rglob("*tlmssd*"))
        return {str(path.relative_to(debian)) for path in made}

    inside("apt-get", "update")
    before = installed()
    shutil.copy(package, debian / "tmp/tlmssd.deb")
    inside("apt-get", "install", "--yes", "--no-install-recommends", "/tmp/tlmssd.deb")
    (debian / "tmp/tlmssd.deb").unlink()
    assert "tlmssd installed" in installed()
    shipped = "/usr/share/tlmssd/scenarios"
    inside("tlmssd", "run", f"{shipped}/examples/sata.yaml", "--quiet", "--out", "/tmp/out")
    report = json.loads((debian / "tmp/out/report.json").read_text(encoding="utf-8"))
    assert report["advice"] == []
    shutil.rmtree(debian / "tmp/out")
    inside("apt-get", "purge", "--yes", "--autoremove", "tlmssd")
    assert installed() == before
    assert files() == set()


def test_lintian_is_content(package):
    if not shutil.which("lintian"):
        pytest.skip("needs lintian")
    told = subprocess.run(
        ["lintian", "--allow-root", "--fail-on", "error,warning", package],
        capture_output=True,
        text=True,
    )
    assert told.returncode == 0, told.stdout
