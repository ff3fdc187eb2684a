"""Numbers in fio's words."""

import pytest

from tlmssd.fio_numbers import fio_number


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("512", 512), ("4k", 4096), ("4K", 4096), ("4 KiB", 4096), ("4ki", 4096), ("4 kB", 4000),
        ("1.5m", 1.5 * 2**20), ("2 GB", 2e9), ("1t", 2**40), ("7 B", 7),
        ("10%", None), ("1k,2k", None), ("", None), ("k", None),
    ],
)  # fmt: skip
def test_suffixes_are_those_of_scenarios(text, value):
    assert fio_number(text) == value
