"""tlmssd profile-firmware: what lies between two marks, and what is said when it cannot be told."""

import argparse
import shutil

import pytest

from tlmssd import cli, profile_firmware
from tlmssd.errors import InputError
from tlmssd.profile_firmware import Case, Mark, addresses, between, means, read_runs, table

BEGIN, END = Mark(100, 104), Mark(200, 202)
MARK = Case("mark", "any", "any", 1)
needs_tools = pytest.mark.skipif(
    not (shutil.which("qemu-riscv64") and shutil.which("riscv64-linux-gnu-gcc")),
    reason="no qemu-riscv64 or riscv64-linux-gnu-gcc",
)


def test_addresses_of_qemus_log():
    log = [
        "Trace 0: 0x7f00 [0000000000000000/0000000000025d1c/00207600/00000201] _exit\n",
        "something else\n",
        "Trace 0: 0x7f40 [0000000000000000/00000000000000ff/00207600/00000201] main\n",
    ]
    others = []
    assert list(addresses(log, others)) == [0x25D1C, 0xFF]
    assert others == ["something else"]


def test_instructions_between_marks():
    trace = [1, 100, 102, 7, 8, 9, 200, 201, 5, 5, 100, 102, 200]
    assert list(between(trace, BEGIN, END)) == [3, 0]


def test_nested_stages_are_refused():
    with pytest.raises(InputError, match="nested"):
        list(between([100, 7, 100, 8, 200], BEGIN, END))


def test_means_are_without_what_a_mark_costs():
    hit = Case("translate", "dftl", "hit", 1)
    assert means([MARK, hit, hit], [2, 12, 22]) == {hit: (15, 2)}


def test_ends_and_beginnings_must_match():
    with pytest.raises(InputError, match="2 stages begin and 1 end"):
        means([MARK, MARK], [2])
    with pytest.raises(InputError, match="marks no stage"):
        means([MARK], [2])


@pytest.mark.parametrize(
    ("line", "message"),
    [("translat,any,any,1", "is no stage"), ("gc,any,maybe,1", "no state of a cache")],
)
def test_words_of_marks_are_checked(tmp_path, line, message):
    file = tmp_path / "runs"
    file.write_text(f"mark,any,any,1\n{line}\nend,2\n")
    with pytest.raises(InputError, match=message):
        read_runs(file)


def test_the_table_says_where_it_comes_from():
    text = table(
        {Case("victim", "greedy", "any", 16): (10.0, 1), Case("gc", "any", "any", 1): (2.0, 1)},
        ["a note"],
        1.5,
    )
    assert text.splitlines() == [
        "# a note",
        "stage, policy, cached, entries, cycles",
        "gc, any, any, 1, 3.0",
        "victim, greedy, any, 16, 15.0",
    ]


def test_missing_tools_are_one_line_with_their_packages(tmp_path, capsys, monkeypatch):
    source = tmp_path / "a.c"
    source.write_text("int main(void) { return 0; }\n")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert cli.main(["profile-firmware", str(source)]) == cli.INPUT
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "gcc-riscv64-linux-gnu" in said
    assert "qemu-user" in said


def test_bad_arguments(tmp_path, capsys):
    assert cli.main(["profile-firmware", str(tmp_path / "none.c")]) == cli.INPUT
    assert "there is no such file" in capsys.readouterr().err


def profile(tmp_path, text: str) -> dict[Case, float]:
    source = tmp_path / "firmware.c"
    source.write_text(text)
    out = tmp_path / "costs.csv"
    parser = argparse.ArgumentParser()
    profile_firmware.add_arguments(parser)
    assert profile_firmware.main(parser.parse_args([str(source), "-o", str(out)])) == 0
    rows = [line.split(", ") for line in out.read_text().splitlines() if not line.startswith("#")]
    return {
        Case(stage, policy, cached, int(entries)): float(cycles)
        for stage, policy, cached, entries, cycles in rows[1:]
    }


@needs_tools
def test_instructions_of_known_code(tmp_path):
    costs = profile(
        tmp_path,
        """#include "tlmssd_stages.h"
        int main(void) {
          TLMSSD_STAGE("flash", "any", "any", 1);
          TLMSSD_STAGE_END();
          TLMSSD_STAGE("gc", "any", "any", 1);
          __asm__ volatile("nop\\nnop\\nnop\\nnop\\nnop\\nnop\\nnop" ::: "memory");
          TLMSSD_STAGE_END();
          for (int n = 10; n <= 20; n += 10) {
            TLMSSD_STAGE("victim", "greedy", "any", n);
            for (int i = 0; i < n; ++i) __asm__ volatile("nop\\nnop" ::: "memory");
            TLMSSD_STAGE_END();
          }
          return 0;
        }""",
    )
    assert costs[Case("flash", "any", "any", 1)] == 0
    assert costs[Case("gc", "any", "any", 1)] == 7
    ten, twenty = (costs[Case("victim", "greedy", "any", n)] for n in (10, 20))
    assert 30 <= twenty - ten <= 50  # two nops and the loop's own


@needs_tools
def test_firmware_that_does_not_build_or_fails(tmp_path):
    with pytest.raises(InputError, match="expected"):
        profile(tmp_path, "int main(void) { return 0 }")
    with pytest.raises(Exception, match="ended with 3"):
        profile(tmp_path, "int main(void) { return 3; }")
