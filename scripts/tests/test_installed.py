"""What `cmake --install` makes of documents and of this package."""

import os
import re
import shutil
import subprocess
import sys
import tomllib

import pytest

from tlmssd.program import SOURCE_TREE, find_program


def carry_out(script: str, **values) -> None:
    """A script of CMake, as the installation includes it."""
    words = [f"-D{name}={value}" for name, value in {"source": SOURCE_TREE, **values}.items()]
    subprocess.run(["cmake", *words, "-P", SOURCE_TREE / "cmake" / script], check=True, timeout=60)


def dead_links(folder) -> list[str]:
    found = []
    for page in folder.rglob("*.md"):
        text = re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL)
        for target in re.findall(r"\]\(([^)\s]+)\)", text):
            path = target.partition("#")[0]
            if path and not re.match("[a-z]+:", path) and not (page.parent / path).exists():
                found.append(f"{page.name}: {target}")
    return found


def test_links_of_installed_documents_lead_somewhere(tmp_path):
    """53 of 334 led nowhere: to scenarios, which are elsewhere, and to sources, which are not."""
    docs, scenarios = tmp_path / "share/doc/tlmssd", tmp_path / "share/tlmssd/scenarios"
    shutil.copytree(SOURCE_TREE / "docs", docs)
    shutil.copy(SOURCE_TREE / "LICENSE", docs)
    shutil.copytree(SOURCE_TREE / "scenarios", scenarios)
    assert dead_links(docs)
    carry_out("TlmssdInstalledDocs.cmake", docs=docs, scenarios=scenarios)
    assert dead_links(docs) == []
    page = (docs / "development.md").read_text()
    assert "(../../tlmssd/scenarios/examples)" in page and "testbench/bench/README.md |" in page
    for document in docs.rglob("*.md"):  # and nothing else has changed
        before = (SOURCE_TREE / "docs" / document.relative_to(docs)).read_text()
        words = [
            re.sub(r"\[([^]\[]*)\]\((?!http)[^)]*\)", r"\1", text)
            for text in (before, document.read_text())
        ]
        assert words[0] == words[1], document


def installed_package(folder) -> None:
    shutil.copytree(SOURCE_TREE / "scripts/tlmssd", folder / "tlmssd")
    carry_out("TlmssdInstalledPython.cmake", python=folder, version="1.2.3+4.gabc")


def test_the_installed_package_is_described_as_here_but_builds_no_program(tmp_path):
    installed_package(tmp_path)
    made = tomllib.loads((tmp_path / "pyproject.toml").read_text())
    here = tomllib.loads((SOURCE_TREE / "scripts/pyproject.toml").read_text())["project"]
    del here["dynamic"]
    assert made["project"] == here | {"version": "1.2.3+4.gabc"}
    assert made["build-system"]["build-backend"] == "hatchling.build"
    assert made["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"] == ["tlmssd"]


@pytest.mark.slow
def test_the_installed_package_can_be_made_a_wheel(tmp_path):
    """With every file of it; the folder may not be written to."""
    installed_package(tmp_path / "python")
    subprocess.run(["chmod", "-R", "a-w", tmp_path / "python"], check=True)
    words = ["-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", tmp_path / "out"]
    made = subprocess.run(
        [sys.executable, *words, tmp_path / "python"], capture_output=True, text=True
    )
    subprocess.run(["chmod", "-R", "u+w", tmp_path / "python"], check=True)
    if "No matching distribution found for hatchling" in made.stderr:
        pytest.skip("needs hatchling of PyPI")
    assert made.returncode == 0, made.stderr
    (wheel,) = (tmp_path / "out").glob("tlmssd-1.2.3*.whl")
    shutil.unpack_archive(wheel, tmp_path / "wheel", "zip")
    files = [
        {str(path.relative_to(folder)) for path in (folder / "tlmssd").rglob("*.*")}
        for folder in (tmp_path / "wheel", tmp_path / "python")
    ]
    assert files[0] == {name for name in files[1] if "__pycache__" not in name}


def test_an_installed_program_says_where_the_package_is(tmp_path):
    (tmp_path / "bin").mkdir()
    program = shutil.copy(find_program().path, tmp_path / "bin/tlmssd")
    environment = {"PATH": str(tmp_path / "nothing"), "HOME": os.environ.get("HOME", "/")}
    sources = tmp_path / "share/tlmssd/python"
    for there, told in ((False, "scripts/explore once in the source tree"), (True, str(sources))):
        if there:
            sources.mkdir(parents=True)
            (sources / "pyproject.toml").touch()
        done = subprocess.run(
            [program, "compare", "a", "b"], env=environment, capture_output=True, text=True
        )
        assert done.returncode == 2 and told in done.stderr
        assert done.stderr.endswith("in the Python 3.11 (or newer) environment in use\n")
