"""The pictures of docs/images: pages, a summary, a timeline (scripts/make_images)."""

import argparse
import contextlib
import html
import io
import subprocess
from pathlib import Path

from PIL import Image

from tests.browser import Looked, chromium
from tests.viewer import ask, open_timeline, unfold, viewer
from tlmssd import cli
from tlmssd.program import SOURCE_TREE, find_program

SCENARIOS = Path("scenarios")
"""From the top of the source tree, so that no picture shows where that lies."""
WIDTH = 1100
COLOURS = 128
DRIVE = """title: {policy}
ssd:
  host: {{lba_size: 4 KiB}}
  flash:
    channels: 2
    ways: 2
    over_provisioning: 15 %
    part: {{planes: 1, blocks_per_plane: 128, pages_per_block: 32, page_size: 16 KiB}}
firmware:
  buffer: {{capacity: 1 MiB}}
  gc: {{policy: {policy}}}
precondition: [{{fill: 100 %}}, {{overwrite: 2x, order: random, random_distribution: "zipf:1.1"}}]
load: {{rw: randrw, rwmixread: 60, bs: 4k, iodepth: 8, number_ios: 20000,
        random_distribution: "zipf:1.1"}}
"""


def pages(folder: Path) -> dict[str, tuple[Path, int]]:
    """Makes the pages: name of the picture, page, and how many pixels of its height are shown."""
    for policy in ("greedy", "fifo"):
        (folder / f"{policy}.yaml").write_text(DRIVE.format(policy=policy))
    compared, asked = folder / "compare.html", folder / "whatif.html"
    few_dies = SCENARIOS / "whatif/few_dies.yaml"
    commands = [
        ["explore", SCENARIOS / "studies/spare.yaml", "--out", folder / "spare"],
        ["compare", folder / "greedy.yaml", folder / "fifo.yaml", "--out", compared],
        ["whatif", few_dies, "--metric", "iops", "--out", asked],
    ]
    for command in commands:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.chdir(SOURCE_TREE):
            assert cli.main([str(word) for word in command]) == 0
    study = folder / "spare/study.html"
    return {"study": (study, 1475), "compare": (compared, 2300), "whatif": (asked, 1000)}


USED = """title: two loads on a used drive
ssd:
  host: {link: pcie3x4, lba_size: 4 KiB}
  flash:
    channels: 4
    ways: 2
    bus: 800 MT/s
    user_capacity: 2 GiB
    spare_factor: 20 %
    part: {file: parts/nand/tlc-48l.yaml, pages_per_block: 144}
precondition: [{fill: 100 %, order: sequential}, {overwrite: 2x, order: random}]
load:
  - {name: oltp, rw: randrw, rwmixread: 70, bs: 4k, iodepth: 16, number_ios: 60000}
  - {name: backup, rw: read, bs: 128k, iodepth: 4, number_ios: 3000}
report: {timeline: true, window: {from: 500 ms, length: 4 ms}}
"""
CHOSEN = """select slice.id, (slice.ts - start_ts) * 1.0 / (end_ts - start_ts)
from slice, trace_bounds join flow on flow.slice_out = slice.id
join slice next on next.id = flow.slice_in
where slice.name glob 'read*' and next.name glob 'command*'
  and slice.ts > start_ts + 200000 and slice.dur > 300000
order by slice.ts limit 1"""
"""A read with a flash operation of its own, and when it begins (share of the window)."""
TERMINAL = """<!doctype html><html data-drawn="yes"><meta charset="utf-8"><style>
body{margin:0;background:#14171b}pre{margin:0;padding:14px;color:#e6e9ee;
font:13px/1.4 'DejaVu Sans Mono',monospace;white-space:pre-wrap;word-break:break-all}
</style><pre>"""


def run_used_drive(folder: Path) -> Path:
    """A run whose results are shown; its summary as a page beside them."""
    (folder / "used.yaml").write_text(USED)
    out = folder / "used"
    command = [find_program().path, "run", folder / "used.yaml", "--out", out]
    told = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    lines = [line for line in told.splitlines() if str(folder) not in line]
    (folder / "summary.html").write_text(TERMINAL + html.escape("\n".join(lines)) + "</pre></html>")
    return out


def save(browser, picture: Path) -> None:
    """What the window shows, in few colours."""
    Looked(browser, picture).screenshot(picture)
    Image.open(picture).convert("RGB").quantize(COLOURS).save(picture, optimize=True)


def make_results(browser, images: Path, folder: Path) -> None:
    """Summary, report and timeline of one run, on a wide and on a narrow screen."""
    out = run_used_drive(folder)
    for name, page, heights in (
        ("summary", folder / "summary.html", (820, 1180)),
        ("report", out / "report.html", (2900, 3000)),
    ):
        for width, height, ending in zip((WIDTH, 390), heights, ("", "-narrow"), strict=True):
            Looked(browser, page).at(width, height)
            browser.execute_script("document.documentElement.style.scrollbarWidth = 'none'")
            save(browser, images / f"{name}{ending}.png")
    with viewer(out / "timeline.perfetto") as address:
        for width, height, ending in ((WIDTH, 800, ""), (600, 700, "-narrow")):
            open_timeline(browser, address, width, height)
            ((chosen, start),) = ask(browser, CHOSEN)
            unfold(browser, ["queues", "channels", "dies"], start - 0.02, start + 0.25, chosen)
            save(browser, images / f"timeline{ending}.png")


def main() -> None:
    """Makes the pages in one folder and their pictures in another."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("images", type=Path)
    parser.add_argument("folder", type=Path)
    arguments = parser.parse_args()
    with chromium() as browser:
        for name, (page, height) in pages(arguments.folder).items():
            looked = Looked(browser, page)
            looked.at(WIDTH, height)
            browser.execute_script("document.documentElement.style.scrollbarWidth = 'none'")
            save(browser, arguments.images / f"{name}.png")
        make_results(browser, arguments.images, arguments.folder)


if __name__ == "__main__":
    main()
