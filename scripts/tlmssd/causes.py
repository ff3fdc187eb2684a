"""The causes of latency in the reports' ledgers: how to say them, and in which colour to draw them.

The colours of causes that meet in one bar differ in hue and in lightness, after Paul Tol's and
Okabe and Ito's palettes for colour-blind readers. A cause that is not listed here (a newer program)
is said by its name and drawn in grey.
"""

CAUSES: dict[str, tuple[str, str]] = {
    "submission": ("in the host queue", "#d9d9d9"),
    "converter": ("in the host's software", "#8c6d31"),
    "network": ("on the network", "#c7b299"),
    "link": ("on the host link", "#999999"),
    "firmware": ("in firmware", "#ddcc77"),
    "core wait": ("waiting for a core", "#999933"),
    "map fetch": ("fetching the map", "#44aa99"),
    "memory": ("in memory", "#117733"),
    "buffer wait": ("waiting for the write buffer", "#332288"),
    "space wait": ("waiting for collection to free a block", "#ee3377"),
    "order wait": ("behind earlier commands on the same data", "#aaaa00"),
    "bus wait": ("waiting for the channel", "#aa4499"),
    "die busy: read": ("behind other reads", "#0072b2"),
    "die busy: program": ("behind programs", "#e69f00"),
    "die busy: erase": ("behind erases", "#882255"),
    "die busy: gc": ("behind collection", "#d55e00"),
    "die busy: wear": ("behind wear levelling", "#cc6677"),
    "die busy: migration": ("behind migration", "#6699cc"),
    "die busy: refresh": ("behind refresh", "#997700"),
    "die busy: map": ("behind traffic of the map", "#994455"),
    "suspend": ("suspending", "#ee99aa"),
    "flash command": ("in flash commands", "#bbcc33"),
    "sense": ("sensing", "#56b4e9"),
    "transfer": ("transferring", "#88ccee"),
    "program": ("programming", "#f0c05a"),
    "erase": ("erasing", "#6e2a5c"),
    "decoder wait": ("waiting for a decoder", "#225555"),
    "decode": ("decoding", "#009e73"),
    "retry": ("reading again", "#661100"),
}
"""Cause as in report.json: what a command does in it, colour."""


def cause_words(cause: str) -> str:
    """What a command does while its time is charged to `cause`."""
    return CAUSES.get(cause, (f"in '{cause}'", ""))[0]


def cause_colour(cause: str) -> str:
    """Hex colour of a cause."""
    return CAUSES.get(cause, ("", "#777777"))[1]


def in_order(causes: set[str]) -> list[str]:
    """Causes in the order of a command's way through the drive."""
    order = list(CAUSES)
    return sorted(causes, key=lambda cause: (order.index(cause) if cause in order else 99, cause))
