"""Files that go into every page, also into the report.html that the program writes."""

from importlib import resources


def asset(name: str) -> str:
    """The content of a file of this folder."""
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")
