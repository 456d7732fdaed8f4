"""The report in a real browser: no errors, no requests, nothing wider than a phone.

Needs Chromium; without it these tests say so and the rest of the report's tests still run.
"""

import html
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from fake_run import FakeRun
from tailrace.report import write

ROOT = Path(__file__).parents[3]
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
BROWSER_S_MAX = 90
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--force-color-profile=srgb",
    "--virtual-time-budget=4000",
    "--dump-dom",
)
# Runs in the page before anything else: what goes wrong is collected, and measured at the end.
PROBE = """<script>
const errors = [];
addEventListener("error", (event) => errors.push(String(event.message || event.target)), true);
addEventListener("securitypolicyviolation", (event) => errors.push(`${event.violatedDirective}: ${event.blockedURI}`));
const log = console.error; console.error = (...all) => { errors.push(all.join(" ")); log(...all); };
addEventListener("load", () => setTimeout(() => {
  document.querySelectorAll("details").forEach((one) => { one.open = true; });
  setTimeout(() => {
    const wide = [...document.querySelectorAll("main *")].filter((one) =>
      !one.closest(".scroll, pre") && one.getBoundingClientRect().right > innerWidth + 1);
    parent.document.documentElement.dataset.probe = JSON.stringify({
      errors, width: innerWidth, wide: wide.map((one) => `${one.tagName} ${one.getAttribute("class")}`),
      page_width: document.documentElement.scrollWidth,
      requests: performance.getEntriesByType("resource").map((one) => one.name),
      charts: document.querySelectorAll(".live canvas").length,
      tables: document.querySelectorAll("details.data table").length,
      page: getComputedStyle(document.body).backgroundColor,
    });
  }, 300);
}, 300));
</script>"""

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed: the report is not looked at")


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = FakeRun(missing={("dpp", 6)}).write(tmp_path_factory.mktemp("browser") / "run")
    shutil.copy(ROOT / "reproductions" / "cisco-dpp" / "published.yaml", path / "published.yaml")
    return write(path)


def probe(report: Path, tmp_path: Path, width_px: int, *flags: str) -> dict[str, Any]:
    """Opens the report in a frame of a given width and returns what the probe saw."""
    text = report.read_text(encoding="utf-8").replace("<head>", f"<head>{PROBE}", 1)
    outer = tmp_path / "outer.html"
    frame = f'<iframe style="width:{width_px}px;height:800px;border:0" srcdoc="{html.escape(text)}"></iframe>'
    outer.write_text(f"<!doctype html><html><body style='margin:0'>{frame}</body></html>", encoding="utf-8")
    profile = tmp_path / "profile"
    command = [
        str(CHROMIUM),
        *FLAGS,
        *flags,
        f"--user-data-dir={profile}",
        f"--window-size={width_px},800",
        outer.as_uri(),
    ]
    shown = subprocess.run(command, capture_output=True, text=True, timeout=BROWSER_S_MAX, check=True).stdout
    found = re.search(r'data-probe="([^"]*)"', shown)
    assert found, shown[:400]
    seen: dict[str, Any] = json.loads(html.unescape(found.group(1)))
    return seen


@pytest.mark.parametrize("width_px", [360, 1280])
def test_the_page_fits_and_nothing_goes_wrong(report: Path, tmp_path: Path, width_px: int) -> None:
    seen = probe(report, tmp_path, width_px)
    assert seen["width"] == width_px
    assert seen["errors"] == []
    assert seen["requests"] == []
    assert seen["wide"] == []
    assert seen["page_width"] <= width_px
    assert seen["charts"] == 3, "every time series is live"
    assert seen["tables"] == 9, "the data of every chart opens as a table"


def test_the_page_follows_the_colour_scheme(report: Path, tmp_path: Path) -> None:
    light = probe(report, tmp_path, 800, "--blink-settings=preferredColorScheme=1")["page"]
    (tmp_path / "outer.html").unlink()
    dark = probe(report, tmp_path, 800, "--blink-settings=preferredColorScheme=0")["page"]
    assert brightness(light) > 200
    assert brightness(dark) < 60


def brightness(colour: str) -> float:
    parts = [int(part) for part in re.findall(r"\d+", colour)[:3]]
    return sum(parts) / 3
