"""Numbers in fio's words."""

import pytest

from tlmssd.errors import InputError
from tlmssd.fio_numbers import fio_number
from tlmssd.program import find_program

SCENARIO = """ssd: {flash: {part: {blocks_per_plane: 64}}}
load: [{name: web, rw: randread, bs: 4k}]
"""


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("512", 512), ("4k", 4096), ("4K", 4096), ("4 KiB", 4096), ("4ki", 4096), ("4 kB", 4000),
        ("1.5m", 1.5 * 2**20), ("2 GB", 2e9), ("1t", 2**40), ("7 B", 7),
        ("0x1000000", 2**24), ("0X1f", 31), (" 7 ", 7), ("1.", 1), (".5k", 512), ("2 PiB", 2**51),
        (".", None), ("1.2.3", None), ("0x", None), ("0x10k", None), ("0xg", None), ("-1", None),
        ("4i", None), ("4 iB", None), ("4kk", None), ("1e3", None), ("inf", None), ("٣", None),
        ("10%", None), ("1k,2k", None), ("", None), ("k", None),
    ],
)  # fmt: skip
def test_suffixes_are_those_of_scenarios(text, value):
    assert fio_number(text) == value


@pytest.mark.parametrize(
    "text", ["0x10000", "1.", ".5k", "1.2.3k", ".", "4i", "4 iB", "64 kB", "0x10k", "1e3", "-1"]
)
def test_the_program_takes_the_same(text, tmp_path):
    path = tmp_path / "scenario.yaml"
    path.write_text(SCENARIO)
    try:
        find_program().ask("check", str(path), f"--set=load.0.io_size={text}")
        taken = True
    except InputError as error:
        taken = "io_size" not in str(error)
    assert taken == (fio_number(text) is not None)
