"""Numbers in fio's words, as scenarios take them (testbench/loads/text/fio_units.h)."""

import re

NUMBER = re.compile(
    r"\s*(?:0x([0-9a-f]{1,16})|([0-9]+\.?[0-9]*|\.[0-9]+)\s*(?:([kmgtp])(i?)(b?)|b)?)\s*",
    re.IGNORECASE,
)


def fio_number(text: str) -> float | None:
    """'4k' and '4 KiB' are 4096, '4 kB' is 4000, '0x10' is 16; None for what is none, such as '10%'
    or a list."""
    found = NUMBER.fullmatch(text)
    if found is None:
        return None
    hexadecimal, number, prefix, binary, byte = found.groups()
    if hexadecimal:
        return float(int(hexadecimal, 16))
    thousand = 1000 if byte and not binary else 1024
    return float(number) * thousand ** " kmgtp".find((prefix or " ").lower())
