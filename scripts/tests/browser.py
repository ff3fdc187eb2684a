"""Pages in a real browser: headless Chromium, driven by Selenium, without a network."""

import json
import shutil
import tempfile
from contextlib import contextmanager
from pathlib import Path

import pytest

WIDTHS = (360, 768, 1280, 2560)

OVERFLOWING = """
const wrong = [];
const page = document.documentElement;
if (page.scrollWidth > page.clientWidth) wrong.push(`page ${page.scrollWidth} px wide`);
const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
const range = document.createRange();
while (texts.nextNode()) {
  const owner = texts.currentNode.parentElement;
  const elsewhere = owner.closest(".scroll, svg, script, style, option");
  const folded = owner.closest("details:not([open])") && !owner.closest("summary");
  if (elsewhere || folded || !texts.currentNode.data.trim()) continue;
  range.selectNodeContents(texts.currentNode);
  const box = range.getBoundingClientRect();
  const block = owner.closest("p, li, h1, h2, h3, figcaption, pre, label, button, div, body");
  const room = block.getBoundingClientRect();
  const right = Math.min(room.right, page.clientWidth) + 1;
  if (box.width && (box.right > right || box.left < room.left - 1))
    wrong.push(`'${texts.currentNode.data.slice(0, 30)}' at ${box.left}..${box.right}`);
}
for (const text of document.querySelectorAll(".chart svg text")) {
  if (!text.textContent || getComputedStyle(text).opacity === "0") continue;
  const box = text.getBoundingClientRect();
  const chart = text.closest(".chart");
  for (const room of [text.closest("svg"), chart].map((one) => one.getBoundingClientRect()))
    if (box.width && (box.left < room.left - 2 || box.right > room.right + 2
        || box.top < room.top - 2 || box.bottom > room.bottom + 2))
      wrong.push(`label '${text.textContent}' leaves ${chart.id}`);
  if (text.textContent.endsWith("…"))
    wrong.push(`label '${text.textContent}' of ${chart.id} is cut`);
}
for (const cell of document.querySelectorAll("td, th"))
  if (cell.scrollWidth > cell.clientWidth + 1) wrong.push(`cell '${cell.textContent}'`);
return wrong;
"""
"""What does not lie in its box: text beyond the page, a label beyond its chart, a cell's text."""


@contextmanager
def chromium():
    """A Chromium that reaches nothing but this machine; skips the test where there is none."""
    webdriver = pytest.importorskip("selenium.webdriver")
    browser, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if not browser or not driver:
        pytest.skip("needs Debian's chromium and chromium-driver")
    with tempfile.TemporaryDirectory() as profile:
        options = webdriver.ChromeOptions()
        options.binary_location = browser
        for flag in (
            "headless", "no-sandbox", "disable-gpu", "no-first-run", "disable-component-update",
            "disable-background-networking", "disable-sync", f"user-data-dir={profile}",
            "host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
            "allow-file-access-from-files",
        ):  # fmt: skip
            options.add_argument(f"--{flag}")
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        made = webdriver.Chrome(options, webdriver.ChromeService(driver))
        try:
            yield made
        finally:
            made.quit()


class Looked:
    """A page in the browser."""

    def __init__(self, browser, page: Path):
        self.browser = browser
        self.page = page

    def at(self, width: int, height: int = 1400) -> None:
        """Opens the page in a window of this size and waits until it is drawn."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        self.browser.get(self.page.resolve().as_uri())
        from selenium.webdriver.support.ui import WebDriverWait

        drawn = "return document.documentElement.dataset.drawn === 'yes'"
        WebDriverWait(self.browser, 60).until(lambda one: one.execute_script(drawn))

    def complaints(self) -> list[str]:
        """Errors and warnings on the console since the last time."""
        return [f"{entry['level']}: {entry['message']}" for entry in self.browser.get_log("browser")
                if entry["level"] in ("SEVERE", "WARNING")]  # fmt: skip

    def out_of_box(self) -> list[str]:
        """Texts that leave their box."""
        return self.browser.execute_script(OVERFLOWING)

    def requests(self) -> list[str]:
        """Addresses that the page has asked for beside its own."""
        code = "return JSON.stringify(performance.getEntriesByType('resource').map(e => e.name))"
        return json.loads(self.browser.execute_script(code))

    def screenshot(self, path: Path) -> None:
        """Saves what the window shows as PNG."""
        import base64

        shot = self.browser.execute_cdp_cmd(
            "Page.captureScreenshot", {"captureBeyondViewport": False, "format": "png"}
        )
        path.write_bytes(base64.b64decode(shot["data"]))


def check_page(browser, page: Path) -> Looked:
    """The page draws at every width without complaint, request, or text that leaves its box."""
    looked = Looked(browser, page)
    for width in WIDTHS:
        looked.at(width)
        assert looked.complaints() == []
        assert looked.out_of_box() == [], f"at {width} px"
        assert looked.requests() == []
    return looked
