"""The program's own report.html in a real browser: drawn, quiet, every text in its box."""

import base64
import subprocess

import pytest
from browser import WIDTHS, Looked, check_page, chromium

from tlmssd.program import find_program

SCENARIO = """
title: two loads on a used drive
ssd:
  host: {lba_size: 4 KiB}
  flash:
    channels: 2
    ways: 2
    spare_factor: 25 %
    part: {planes: 2, blocks_per_plane: 40, pages_per_block: 32}
firmware: {buffer: {capacity: 1 MiB}}
precondition: [{fill: 100 %}, {overwrite: 1x, order: random}]
load:
  - {name: oltp, rw: randrw, rwmixread: 60, bs: 4k, iodepth: 8, number_ios: 8000}
  - {name: backup, rw: read, bs: 64k, iodepth: 2, number_ios: 500}
"""
FILLED = """
ssd:
  host: {lba_size: 4 KiB}
  flash:
    channels: 4
    ways: 1
    part: {planes: 1, blocks_per_plane: 16, pages_per_block: 16}
"""


@pytest.fixture(scope="module")
def browser():
    with chromium() as made:
        yield made


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    folder = tmp_path_factory.mktemp("report")
    (folder / "drive.yaml").write_text(SCENARIO)
    command = [
        str(find_program().path),
        "run",
        str(folder / "drive.yaml"),
        "--out",
        str(folder / "out"),
    ]
    subprocess.run(command, check=True, capture_output=True, timeout=300)
    return folder / "out/report.html"


def test_report(browser, page):
    looked = check_page(browser, page)
    sections = {"latency": 1, "blame": 3, "over-time": 1, "queues": 2, "busy": 1, "dies": 1,
                "wear": 2, "blocks": 2}  # fmt: skip
    for section, figures in sections.items():
        drawn = browser.find_elements("css selector", f"#{section} .chart svg")
        assert len(drawn) == figures, section
    titles = [one.text for one in browser.find_elements("css selector", "#over-time svg text")]
    for panel in ("bandwidth (B/s)", "write amplification", "free blocks", "commands outstanding"):
        assert panel in titles
    browser.execute_script(
        "for (const one of document.querySelectorAll('details')) one.open = true"
    )
    assert looked.out_of_box() == []


def prefer(browser, scheme: str) -> None:
    """What the reader's system prefers: light or dark."""
    feature = {"name": "prefers-color-scheme", "value": scheme}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})


FAINT = """
const channels = (colour) => (colour.match(/[\\d.]+/g) || []).map(Number);
function luminance(colour) {
  const parts = channels(colour).slice(0, 3).map((value) => value / 255)
    .map((value) => (value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4));
  return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2];
}
function ground(owner) {
  for (let one = owner; one; one = one.parentElement) {
    const colour = getComputedStyle(one).backgroundColor, parts = channels(colour);
    if (parts.length === 3 || parts[3] > 0) return colour;
  }
  return "rgb(255, 255, 255)";
}
const faint = [];
const texts = ["h1", "h2", "p", "li", "td", "th", "figcaption", "summary", ".doc"];
for (const role of ["axis-label", "axis-title", "title-text", "legend-label", "legend-title"])
  texts.push(`.role-${role} text`);
for (const text of document.querySelectorAll(texts.join())) {
  if (!text.textContent.trim() || !text.getClientRects().length) continue;
  const style = getComputedStyle(text);
  const ink = text.closest("svg") ? style.fill : style.color;
  const [bright, dark] = [luminance(ink), luminance(ground(text))].sort((a, b) => b - a);
  const contrast = (bright + 0.05) / (dark + 0.05);
  if (contrast < 4.5) faint.push(`${text.textContent.slice(0, 30)}: ${contrast.toFixed(1)}`);
}
return faint;
"""
"""Texts that do not stand out from what is behind them as much as WCAG asks for."""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_both_schemes_can_be_read(browser, page, scheme):
    prefer(browser, scheme)
    check_page(browser, page)
    ground = browser.execute_script("return getComputedStyle(document.body).backgroundColor")
    assert ground == {"light": "rgb(255, 255, 255)", "dark": "rgb(24, 28, 33)"}[scheme]
    assert browser.execute_script(FAINT) == []
    behind_reads = browser.find_elements("css selector", "#blame path[fill='#0072b2']")
    assert behind_reads  # a cause has one colour in both


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_print(browser, page, scheme):
    """On A4, from either scheme: light, every text within the margins and large enough."""
    pdfium = pytest.importorskip("pypdfium2")
    prefer(browser, scheme)
    looked = Looked(browser, page)
    looked.at(1280)
    told = browser.execute_cdp_cmd(
        "Page.printToPDF", {"preferCSSPageSize": True, "printBackground": False}
    )
    assert looked.complaints() == []
    printed = pdfium.PdfDocument(base64.b64decode(told["data"]))
    margin = 14 / 25.4 * 72
    words = ""
    for sheet in printed:
        assert [round(side) for side in sheet.get_size()] == [595, 842]
        texts = sheet.get_textpage()
        words += texts.get_text_bounded()
        for number in range(texts.count_rects()):
            left, bottom, right, top = texts.get_rect(number)
            where = texts.get_text_bounded(left, bottom, right, top)
            assert left > margin - 2 and right < 595 - margin + 2, where
        picture = sheet.render(scale=0.5).to_pil().convert("L")
        brightness = picture.resize((1, 1)).getpixel((0, 0))
        assert brightness > 128 and picture.getpixel((3, 3)) == 255
    for told in ("two loads on a used drive", "Where the time goes", "bandwidth (B/s)", "p99.999"):
        assert told in words, told
    looked.at(1280)
    widths = "return [...document.querySelectorAll('#latency svg')].map((one) => one.clientWidth)"
    assert browser.execute_script(widths)[0] > 1000  # as on the screen before


@pytest.mark.parametrize("width", WIDTHS)
def test_a_planted_label_is_found(browser, page, tmp_path, width):
    """A label that is too long for its place, and one that Vega has cut."""
    text = page.read_text()
    planted = text.replace('title: "share of the commands"', 'title: "' + "too long " * 60 + '"')
    planted = planted.replace("titleLimit: 320", "titleLimit: 0")
    assert planted != text
    (tmp_path / "page.html").write_text(planted)
    looked = Looked(browser, tmp_path / "page.html")
    looked.at(width)
    assert any("too long" in line for line in looked.out_of_box())
    cut = text.replace("labelLimit: 130", "labelLimit: 30")
    assert cut != text
    (tmp_path / "page.html").write_text(cut)
    looked.at(width)
    assert any("is cut" in line for line in looked.out_of_box())


def test_dragging_zooms_every_panel(browser, page):
    from selenium.webdriver import ActionChains

    looked = Looked(browser, page)
    looked.at(1280)
    svg = browser.find_element("css selector", "#over-time svg")

    def last_tick() -> str:
        return browser.find_elements("css selector", "#over-time .role-axis-label text")[-1].text

    def ticks() -> list[str]:
        return [one.text for one in browser.find_elements("css selector", "#over-time svg text")]

    before = ticks()
    browser.execute_script("arguments[0].scrollIntoView({block: 'end'})", svg)
    box = svg.rect
    bottom = box["height"] / 2 - 40
    chain = ActionChains(browser).move_to_element_with_offset(svg, -100, bottom)
    chain.click_and_hold().move_by_offset(150, 0).release().perform()
    assert ticks() != before
    assert looked.complaints() == []


def test_pages_carry_the_vega_that_altair_writes_for():
    import altair

    from tlmssd.pictures.assets import asset

    wanted = altair.SCHEMA_VERSION.removeprefix("v").rsplit(".", 1)[0]
    vl_convert = pytest.importorskip("vl_convert")
    assert wanted in vl_convert.get_vegalite_versions()
    assert asset("vega.js") == vl_convert.javascript_bundle(vl_version=wanted)


def page_of(folder, scenario: str):
    """The page of a run of this scenario."""
    (folder / "drive.yaml").write_text(scenario)
    words = ["run", str(folder / "drive.yaml"), "--out", str(folder / "out"), "--quiet"]
    subprocess.run([str(find_program().path), *words], check=True, timeout=300)
    return folder / "out/report.html"


def heads(browser):
    return [one.text for one in browser.find_elements("css selector", "h2")]


def test_more_loads_than_colours_have_dashes_in_the_legend(browser, tmp_path):
    """24 loads had four squares of each colour; dashes over time were those of percentiles."""
    loads = ", ".join(
        f"{{name: reader{n}, rw: randread, bs: 4k, number_ios: 300}}" for n in range(10)
    )
    looked = check_page(browser, page_of(tmp_path, FILLED + f"load: [{loads}]\n"))
    looked.at(1280)
    lines = browser.find_elements("css selector", "#latency .legend line")
    looks = [(one.get_attribute("stroke"), one.get_attribute("stroke-dasharray")) for one in lines]
    assert len(looks) == len(set(looks)) == 10
    titles = [one.text for one in browser.find_elements("css selector", "#over-time svg text")]
    assert "latency: p50 thick, p99, p99.9 thin" in titles


def test_what_was_not_measured_has_no_head(browser, tmp_path):
    load = "load: {rw: randread, bs: 4k, number_ios: 300}\nrun: {timed: false}\n"
    check_page(browser, page_of(tmp_path, FILLED + load))
    assert "Statistics" in heads(browser)
    assert not {"Utilisation", "Latency", "Over time"} & set(heads(browser))


def test_a_line_of_one_command_is_a_point(browser, tmp_path):
    page = page_of(tmp_path, FILLED + "load: {rw: randread, bs: 4k, number_ios: 1}\n")
    check_page(browser, page)
    for section in ("latency", "over-time"):
        assert browser.find_elements("css selector", f"#{section} .mark-symbol path"), section


def test_numbers_stand_in_cells_that_have_room(browser, tmp_path):
    """With 64 parallel units the cells are 6 pixels high."""
    load = "precondition: [{fill: 100 %}]\nload: {rw: randread, bs: 4k, number_ios: 300}\n"
    for ways, has_numbers in ((1, True), (16, False)):
        folder = tmp_path / str(ways)
        folder.mkdir()
        scenario = FILLED.replace("ways: 1", f"ways: {ways}") + load
        looked = check_page(browser, page_of(folder, scenario))
        looked.at(2000)
        numbers = browser.find_elements("css selector", "#blocks .mark-text.role-mark text")
        assert bool(numbers) == has_numbers
