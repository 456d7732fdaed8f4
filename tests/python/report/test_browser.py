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

from browser import CHROMIUM
from fake_causes import add_causes
from fake_run import FakeRun
from tailrace.report import write

ROOT = Path(__file__).parents[3]
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
      cut: [...document.querySelectorAll(".scroll")]
        .filter((one) => !one.closest(".data") && one.scrollWidth > one.clientWidth + 1)
        .map((one) => `${one.querySelector("table").tHead.textContent} ${one.scrollWidth} > ${one.clientWidth}`),
      acted: globalThis.act ? globalThis.act() : null,
      tables: document.querySelectorAll("details.data table").length,
      page: getComputedStyle(document.body).backgroundColor,
    });
  }, 300);
}, 300));
</script>"""  # noqa: E501

pytestmark = pytest.mark.skipif(
    CHROMIUM is None, reason="chromium is not installed: the report is not looked at"
)


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = FakeRun(missing={("dpp", 6)}).write(tmp_path_factory.mktemp("browser") / "run")
    shutil.copy(ROOT / "reproductions" / "cisco-dpp" / "published.yaml", path / "published.yaml")
    return write(path)


def probe(report: Path, tmp_path: Path, width_px: int, *flags: str) -> dict[str, Any]:
    """Opens the report in a frame of a given width and returns what the probe saw."""
    text = report.read_text(encoding="utf-8").replace("<head>", f"<head>{PROBE}", 1)
    outer = tmp_path / "outer.html"
    frame = (
        f'<iframe style="width:{width_px}px;height:800px;border:0" '
        f'srcdoc="{html.escape(text)}"></iframe>'
    )
    outer.write_text(
        f"<!doctype html><html><body style='margin:0'>{frame}</body></html>", encoding="utf-8"
    )
    profile = tmp_path / "profile"
    command = [
        str(CHROMIUM),
        *FLAGS,
        *flags,
        f"--user-data-dir={profile}",
        f"--window-size={width_px},800",
        outer.as_uri(),
    ]
    shown = subprocess.run(
        command, capture_output=True, text=True, timeout=BROWSER_S_MAX, check=True
    ).stdout
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
    assert seen["charts"] == 14, "every time series is live"
    assert seen["tables"] == 21, "the data of every chart opens as a table"
    assert not [table for table in seen["cut"] if table.startswith("figure")], (
        "expectations are stacked on a phone"
    )
    if width_px == 1280:
        assert seen["cut"] == []


@pytest.mark.parametrize("width_px", [360, 1280])
def test_explained_transactions_fit_the_page(tmp_path: Path, width_px: int) -> None:
    path = FakeRun(trials=2, arms=("fifo", "an-arm-with-a-long-name")).write(tmp_path / "run")
    add_causes(path, "XS")
    seen = probe(write(path), tmp_path, width_px)
    assert seen["errors"] == []
    assert seen["wide"] == []
    assert seen["page_width"] <= width_px
    assert not [table for table in seen["cut"] if "behind frames of" in table]


ACT = """<script>globalThis.act = () => {
  const shown = (kind) => [...document.querySelectorAll(kind)].filter((one) => one.getClientRects().length).length;
  const count = () => ({ lines: shown("#latency path.of-arm-1"), rows: shown("tr.of-arm-0"),
    figures: shown("figure.of-workload-1") });
  const before = count();
  const saved = [];
  const make = URL.createObjectURL;
  URL.createObjectURL = (blob) => { saved.push(blob.type); return make(blob); };
  HTMLAnchorElement.prototype.click = function () { saved.push(this.download); };
  [...document.querySelectorAll("#latency .key [data-of]")].find((one) => one.textContent.includes("dpp")).click();
  document.querySelector(".filter [data-of=of-workload-1]").click();
  const after = count();
  const live = document.querySelector(".live[data-csv=queue-0]").chart.series.map((one) => one.show);
  const press = (text) => [...document.querySelectorAll("#latency figure button")]
    .find((one) => one.textContent === text).click();
  press("SVG"); press("CSV");
  [...document.querySelectorAll("#latency button")].find((one) => one.textContent === "Table as CSV").click();
  document.querySelector(".filter .all").click();
  return { before, after, live, saved, again: shown("#latency path.of-arm-1"),
    nameless: [...document.querySelectorAll("tbody th")].filter((one) => !one.textContent.trim()).length };
};</script>"""  # noqa: E501


def test_a_legend_hides_and_drawings_can_be_saved(report: Path, tmp_path: Path) -> None:
    text = report.read_text(encoding="utf-8").replace("<head>", f"<head>{ACT}", 1)
    acting = tmp_path / "acting.html"
    acting.write_text(text, encoding="utf-8")
    seen = probe(acting, tmp_path, 1280)
    acted = seen["acted"]
    assert seen["errors"] == []
    assert acted["before"]["lines"] == acted["again"] > acted["after"]["lines"] == 0
    assert acted["before"]["figures"] > acted["after"]["figures"] == 0
    assert acted["after"]["rows"] > 0, "rows of the other arm stay"
    assert acted["live"] == [True, True, True, False, False], (
        "live charts hide the lines of an arm as well"
    )
    assert acted["saved"] == [
        "image/svg+xml",
        "cisco-dpp-latency-s-transaction-latency.svg",
        "text/csv",
        "latency-1.csv",
        "text/csv",
        acted["saved"][-1],
    ]
    assert acted["nameless"] == 0, "every row has its name, whatever is hidden"


def test_the_page_follows_the_colour_scheme(report: Path, tmp_path: Path) -> None:
    light = probe(report, tmp_path, 800, "--blink-settings=preferredColorScheme=1")["page"]
    (tmp_path / "outer.html").unlink()
    dark = probe(report, tmp_path, 800, "--blink-settings=preferredColorScheme=0")["page"]
    assert brightness(light) > 200
    assert brightness(dark) < 60


def brightness(colour: str) -> float:
    parts = [int(part) for part in re.findall(r"\d+", colour)[:3]]
    return sum(parts) / 3
