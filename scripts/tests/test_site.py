"""The documentation as a site: opened as a file, without a network, and searched."""

import re
import shutil
import subprocess
import sys

import pytest
from browser import chromium

from tlmssd.program import SOURCE_TREE

CODE = r"^```.*?^```|(?<=\n\n)(?: {4}(?! *\|)[^\n]*\n+)+"
"""Blocks of code, fenced or indented; an indented table is none."""
CONFIGURATION = SOURCE_TREE / "scripts/site/mkdocs.yml"


@pytest.fixture(scope="module")
def site():
    done = subprocess.run([SOURCE_TREE / "scripts/docs"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return SOURCE_TREE / "build/docs/site"


@pytest.fixture(scope="module")
def browser():
    with chromium() as made:
        yield made


def test_every_document_is_on_the_site(site):
    for page in (SOURCE_TREE / "docs").rglob("*.md"):
        path = page.relative_to(SOURCE_TREE).with_suffix(".html")
        made = path.with_name("index.html") if path.stem == "README" else path
        assert (site / made).exists(), path


def test_lists_and_tables_are_those_of_the_sources(site):
    """Markdown that forges and MkDocs read alike: as many list items and rows on both."""
    for page in (SOURCE_TREE / "docs").glob("*.md"):
        text = re.sub(CODE, "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
        path = page.relative_to(SOURCE_TREE).with_suffix(".html")
        made = path.with_name("index.html") if path.stem == "README" else path
        html = (site / made).read_text()
        article = html[html.index("<article") : html.index("</article>")]
        rows = len(re.findall(r"^ *\|(?!-)", text, re.MULTILINE))
        assert article.count("<tr") == rows, page
        items = len(re.findall(r"^ *(?:[-*]|\d+\.) ", text, re.MULTILINE))
        assert article.count("<li>") == items, page


def requests(browser) -> list[str]:
    code = "return performance.getEntriesByType('resource').map((one) => one.name)"
    return [name for name in browser.execute_script(code) if not name.startswith("file:")]


def test_search_works_offline_from_a_file(browser, site):
    from selenium.webdriver.support.ui import WebDriverWait

    browser.get((site / "index.html").as_uri())
    browser.execute_script("document.querySelector('[data-md-toggle=search]').click()")
    field = browser.find_element("css selector", "input[data-md-component=search-query]")
    WebDriverWait(browser, 60).until(lambda _: field.is_displayed())
    field.send_keys("copyback")

    def found(one) -> list[str]:
        links = one.find_elements("css selector", ".md-search-result__link")
        return [link.get_attribute("href") for link in links]

    WebDriverWait(browser, 120).until(found)
    assert any("docs/reference.html" in link for link in found(browser))
    assert requests(browser) == []
    complaints = [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"]
    assert complaints == []


@pytest.mark.parametrize("width", [390, 1280])
def test_pages_fit(browser, site, width):
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    for name in ("index", "docs/gallery", "docs/user-guide", "docs/reference"):
        browser.get((site / f"{name}.html").as_uri())
        page = "const page = document.documentElement; return page.scrollWidth - page.clientWidth"
        assert browser.execute_script(page) <= 0, name
        broken = "return [...document.images].filter((one) => one.complete && !one.naturalWidth)"
        assert browser.execute_script(broken + ".map((one) => one.src)") == []
        assert requests(browser) == []


def test_no_dead_link_passes(site, tmp_path):
    """What the site is made of, with a link to nowhere: MkDocs refuses it."""
    shutil.copytree(SOURCE_TREE / "build/docs/pages", tmp_path / "pages")
    page = tmp_path / "pages/docs/glossary.md"
    page.write_text(page.read_text() + "\n[nowhere](nowhere.md)\n")
    text = CONFIGURATION.read_text()
    text = re.sub("docs_dir: .*", f"docs_dir: {tmp_path}/pages", text)
    text = re.sub("site_dir: .*", f"site_dir: {tmp_path}/site", text)
    (tmp_path / "mkdocs.yml").write_text(text)
    command = [sys.executable, "-m", "mkdocs", "build", "-f", tmp_path / "mkdocs.yml"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode != 0 and "nowhere.md" in done.stderr
