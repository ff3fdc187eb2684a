"""The version: from tags and commits in a checkout, else from CMakeLists.txt."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tlmssd.program import SOURCE_TREE

SCRIPT = "cmake/TlmssdVersion.cmake"
CMAKE = (SOURCE_TREE / "CMakeLists.txt").read_text()
RELEASE = re.search(r"project\(tlmssd VERSION ([0-9.]+)", CMAKE)[1]


def version(tree: Path) -> str:
    command = ["cmake", "-P", tree / SCRIPT]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def tree(tmp_path):
    """Sources as in a tarball: no repository."""
    for name in ("CMakeLists.txt", SCRIPT, "README.md", "firmware/CMakeLists.txt"):
        target = tmp_path / "tlmssd" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(SOURCE_TREE / name, target)
    return tmp_path / "tlmssd"


def git(tree: Path, *words: str) -> str:
    who = ["-c", "user.name=a", "-c", "user.email=a@b"]
    command = ["git", "-C", str(tree), *who, *words]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def commit(tree: Path) -> str:
    git(tree, "add", "--all")
    git(tree, "commit", "--quiet", "--message", "change")
    return git(tree, "rev-parse", "--short", "HEAD")


def test_version_follows_the_programs_sources(tree):
    assert version(tree) == RELEASE
    git(tree.parent, "init", "--quiet")
    assert version(tree) == RELEASE  # another project's repository around it
    git(tree, "init", "--quiet")
    assert version(tree) == RELEASE  # a repository without a commit
    first = commit(tree)
    assert version(tree) == f"{RELEASE}+1.g{first}"
    git(tree, "tag", "v9.8.7")
    assert version(tree) == "9.8.7"
    (tree / "README.md").write_text("another")
    commit(tree)
    assert version(tree) == "9.8.7"  # nothing that the program is built of
    (tree / "firmware/new.cpp").write_text("int x;")
    assert version(tree) == "9.8.7+dirty"
    changed = commit(tree)
    assert version(tree) == f"9.8.7+1.g{changed}"
    (tree / "firmware/new.cpp").write_text("int y;")
    assert version(tree) == f"9.8.7+1.g{changed}.dirty"
    shutil.rmtree(tree / ".git")
    shutil.rmtree(tree.parent / ".git")
    assert version(tree) == RELEASE


def test_versions_can_be_compared():
    packaging = pytest.importorskip("packaging.version")
    told = ["9.8.7", "9.8.7+1.gabc1234", "9.8.7+12.gabc1234.dirty", "9.9.0"]
    assert sorted(told, key=packaging.Version) == told


def test_citation_names_the_release():
    cited = (SOURCE_TREE / "docs/CITATION.cff").read_text()
    assert f"\nversion: {RELEASE}\n" in cited
