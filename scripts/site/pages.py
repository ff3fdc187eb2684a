"""Lays out what MkDocs makes the site of: pages.py FOLDER (scripts/docs).

The documents keep their places in the repository, so that their links hold. What they link to
beside documents comes along: pictures and data as they are, a text file as a page that shows it,
a folder as a page that lists its files.
"""

import re
import shutil
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LINK = re.compile(r"(\]\()([^)\s#]*)(#[^)\s]*)?(\))")
AS_THEY_ARE = {".png", ".svg", ".parquet", ".ipynb", ".html"}
LANGUAGES = {".yaml": "yaml", ".py": "python", ".fio": "ini", ".cff": "yaml"}


def sentence(file: Path) -> str:
    """What a scenario or data sheet says first of itself: the first sentence of its comment."""
    comment = []
    for line in file.read_text(encoding="utf-8").splitlines():
        if not line.startswith("# "):
            break
        comment.append(line[2:].strip())
    return re.split(r"(?<=[a-z0-9)\]])\. (?=[A-Z`])", " ".join(comment), maxsplit=1)[0].rstrip(".")


class Site:
    """The folder of pages, and the files that are still to be put there."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.there: set[Path] = set()
        self.waiting: list[Path] = []

    def fill(self) -> None:
        """Puts every document there, and what they link to."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self.want(ROOT / "README.md")
        for page in (ROOT / "docs").rglob("*.md"):
            self.want(page)
        while self.waiting:
            self.put(self.waiting.pop())
        (self.folder / "assets").mkdir()
        for name in ("iframe-worker.js", "site.css"):
            shutil.copy(Path(__file__).parent / name, self.folder / "assets" / name)

    def want(self, file: Path) -> None:
        """Sees to it that `file` will be there."""
        if file not in self.there:
            self.there.add(file)
            self.waiting.append(file)

    def put(self, source: Path) -> None:
        """Puts a document, file or folder of the repository there."""
        target = self.folder / self.place(source)
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            target.write_text(self.linked(listing(source), source), encoding="utf-8")
        elif source.suffix == ".md":
            text = source.read_text(encoding="utf-8")
            target.write_text(self.linked(text, source.parent), encoding="utf-8")
        elif source.suffix in AS_THEY_ARE:
            shutil.copy(source, target)
        else:
            target.write_text(shown(source), encoding="utf-8")

    def place(self, source: Path) -> Path:
        """Where a file or folder lies on the site, as its pages name it."""
        path = source.relative_to(ROOT)
        if path == Path("README.md"):
            return Path("index.md")
        if source.is_dir():
            return path / "index.md"
        if source.suffix in AS_THEY_ARE or source.suffix == ".md":
            return path
        return path.with_name(path.name + ".md")

    def linked(self, text: str, folder: Path) -> str:
        """The text of a page with its links set to where things lie on the site."""

        def link(found: re.Match) -> str:
            before, target, anchor, after = found.groups()
            source = (folder / target).resolve()
            if not target or "://" in target or target.startswith("mailto:"):
                return found[0]
            if not source.exists() or not source.is_relative_to(ROOT):
                return found[0]  # MkDocs complains
            if (source / "README.md").exists():
                source /= "README.md"
            self.want(source)
            up = "../" * len(folder.relative_to(ROOT).parts)
            return f"{before}{up}{self.place(source)}{anchor or ''}{after}"

        parts = re.split(r"(^```.*?^```)", text, flags=re.MULTILINE | re.DOTALL)
        parts[::2] = (LINK.sub(link, part) for part in parts[::2])
        return "".join(parts)


def listing(folder: Path) -> str:
    """A page for a folder: its files, and what they say of themselves."""
    lines = [f"# {folder.relative_to(ROOT)}\n"]
    for file in sorted(folder.iterdir()):
        if file.is_dir() or file.suffix in (".yaml", ".md", ".png", ".svg", ".fio"):
            says = f": {sentence(file)}" if file.suffix == ".yaml" else ""
            lines.append(f"- [{file.name}]({file.name}){says}")
    return "\n".join(lines) + "\n"


def shown(file: Path) -> str:
    """A page that shows a text file."""
    language = LANGUAGES.get(file.suffix, "text")
    text = file.read_text(encoding="utf-8").rstrip()
    return f"# {file.relative_to(ROOT)}\n\n````{language}\n{text}\n````\n"


if __name__ == "__main__":
    Site(Path(sys.argv[1])).fill()
