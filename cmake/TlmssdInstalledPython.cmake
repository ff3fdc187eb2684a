# Writes the pyproject.toml of the installed Python package: run by `cmake --install`, and by hand (a test does) as
#
#   cmake -D source=SOURCES -D python=FOLDER -D version=VERSION -P cmake/TlmssdInstalledPython.cmake
#
# That of the sources builds the program, too, which is installed already. Hatchling writes nothing into the folder, which
# belongs to root as a rule.
cmake_minimum_required(VERSION 3.25)

file(READ ${source}/scripts/pyproject.toml text)
string(FIND "${text}" "[project]" begin)
string(FIND "${text}" "# The wheel carries" end)
math(EXPR length "${end} - ${begin}")
string(SUBSTRING "${text}" ${begin} ${length} project)
string(REPLACE "dynamic = [\"version\"]" "version = \"${version}\"" project "${project}")
file(WRITE ${python}/pyproject.toml "# The Python half of tlmssd: pip install this folder.
[build-system]
requires = [\"hatchling>=1.21\"]
build-backend = \"hatchling.build\"

${project}[tool.hatch.build.targets.wheel]
packages = [\"tlmssd\"]
")
