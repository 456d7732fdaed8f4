"""The first screen in a real browser: the sentence, one picture and the causes, on a screen and on
a telephone.

Needs Chromium; without it these tests say so and the rest of the report's tests still run.
"""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import night
from browser import CHROMIUM, Browser
from fake_causes import add_causes
from fake_run import FakeRun
from tailrace.experiment.explain import explain_finished
from tailrace.experiment.options import Options
from tailrace.experiment.reporter import Silent
from tailrace.experiment.run import ExperimentRun
from tailrace.report import write
from tailrace.scenario.loading import load_scenario
from tailrace.scenario.text.document import read_yaml

pytestmark = pytest.mark.skipif(
    CHROMIUM is None, reason="chromium is not installed: the report is not looked at"
)

SIZES = ((1280, 800), (390, 844))
SCREENS_MAX = 8
"""Of 800 pixels, for a run of 15 workloads with everything folded."""
TEXT_CONTRAST_MIN = 4.5
"""WCAG 2.1, 1.4.3."""
BOXES = """Object.fromEntries(['.answers, .answer', '#picture', '#limits'].map((one) => {
  const box = document.querySelector(one)?.getBoundingClientRect();
  return [one, box ? [box.left, box.top, box.right, box.bottom] : null]; }))"""
NAMELESS = """[...document.querySelectorAll('tbody th[scope=row]')].filter((one) => !one.textContent.trim()).length"""  # noqa: E501
# Texts of the first screen, with the ratio of their luminance to that of what they stand on.
CONTRASTS = """(() => {
  const channels = (text) => (text.match(/[\\d.]+/g) || []).map(Number);
  const over = (ink, share, under) => ink.slice(0, 3).map((one, at) => one * share + under[at] * (1 - share));
  const linear = (one) => (one <= 0.03928 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4);
  const light = (rgb) => [0.2126, 0.7152, 0.0722].reduce((sum, share, at) => sum + share * linear(rgb[at] / 255), 0);
  const ground = (one) => {
    for (let at = one; at; at = at.parentElement) {
      const rgb = channels(getComputedStyle(at).backgroundColor);
      if (rgb.length && rgb[3] !== 0) return rgb.slice(0, 3);
    }
    return [255, 255, 255];
  };
  const hasText = (one) => [...one.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
  const isSeen = (one) => one.getClientRects().length && !one.closest('title, pre, .hidden');
  const told = [...document.querySelectorAll('header.top *, section.first *')];
  return told.filter((one) => hasText(one) && isSeen(one)).map((one) => {
    const style = getComputedStyle(one), cell = one.previousElementSibling;
    const ink = channels(one.ownerSVGElement ? style.fill : style.color).slice(0, 3);
    const isOnCell = one.classList.contains('heat-text') && !cell.classList.contains('heat-nothing');
    const paint = isOnCell && getComputedStyle(cell);
    const under = paint ? over(channels(paint.fill), Number(paint.fillOpacity), ground(one)) : ground(one);
    const [dark, bright] = [light(ink), light(under)].sort((a, b) => a - b);
    return [one.textContent.trim().slice(0, 30), (bright + 0.05) / (dark + 0.05)];
  }).filter(([text]) => text !== '●');
})()"""  # noqa: E501


def simulated(path: Path, document: dict[str, Any]) -> Path:
    """The report of a run of this scenario, explained."""
    run = ExperimentRun(load_scenario(document), Options(jobs=1, out=path)).run().path
    explain_finished(run, 1, Silent(), is_asked=True)
    return write(run)


def cisco(path: Path) -> Path:
    """Five workloads in three arms."""
    run = FakeRun(arms=("fifo", "dpp", "wred")).write(path)
    add_causes(run, "XS")
    return write(run)


def one_workload(path: Path) -> Path:
    document = scenario()
    document["workloads"] = {"pg1": {**document["workloads"]["pg1"], "group": None}}
    document["arms"] = {"tonight": {}, "strict": {"switches.defaults.policy": "split"}}
    del document["headline"]
    return simulated(path, document)


def fifteen_workloads(path: Path) -> Path:
    document = scenario()
    first = document["workloads"]["pg1"]
    document["workloads"] |= {
        f"pg{number}": {**first, "server": f"pg{number % 2 + 1}"} for number in range(1, 14)
    }
    return simulated(path, document)


def unfinished(path: Path) -> Path:
    document = scenario()
    document["workloads"]["analytics"]["size"] = document["workloads"]["backup"]["size"] = "1GB"
    return simulated(path, document)


def swept(path: Path) -> Path:
    document = scenario()
    del document["headline"]
    document["arms"] = {"tonight": {}, "strict": {"switches.defaults.policy": "split"}}
    document["sweep"] = {"axes": {"workloads.pg1.users": [2, 4, 8]}}
    return simulated(path, document)


def scenario() -> dict[str, Any]:
    document: dict[str, Any] = read_yaml(night.SCENARIO, "night.yaml")[0]
    document["experiment"] |= {"trials": 3, "duration": "30ms", "warm_up": "5ms"}
    return document


PAGES: dict[str, Callable[[Path], Path]] = {
    "five workloads": cisco,
    "one workload": one_workload,
    "fifteen workloads": fifteen_workloads,
    "unfinished": unfinished,
    "sweep": swept,
}


@pytest.fixture(scope="module", params=list(PAGES))
def page(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[str, Path]]:
    folder = tmp_path_factory.mktemp("first")
    yield request.param, PAGES[request.param](folder / "run")
    shutil.rmtree(folder)


@pytest.mark.parametrize("is_dark", [False, True])
def test_the_first_screen_answers(page: tuple[str, Path], tmp_path: Path, is_dark: bool) -> None:
    name, path = page
    with Browser(path, tmp_path, is_dark=is_dark) as browser:
        browser.wait("document.readyState === 'complete'", 60)
        for width, height in SIZES:
            metrics = {
                "width": width,
                "height": height,
                "deviceScaleFactor": 1,
                "mobile": width < 500,
            }
            browser.call("Emulation.setDeviceMetricsOverride", **metrics)
            for what, box in browser.eval(BOXES).items():
                assert box is not None, what
                left, top, right, bottom = box
                assert 0 <= left < right <= width, (what, box)
                assert 0 <= top < bottom <= height, (what, box, width)
            assert browser.eval("document.documentElement.scrollWidth") <= width
            if width > 500:
                tall = browser.eval("document.documentElement.scrollHeight")
                assert tall <= SCREENS_MAX * 800, (name, tall)
        assert browser.eval("document.querySelectorAll('#limits .share').length") > 0
        assert browser.eval(NAMELESS) == 0
        faint = [
            (text, ratio) for text, ratio in browser.eval(CONTRASTS) if ratio < TEXT_CONTRAST_MIN
        ]
        assert faint == []
        assert browser.errors() == []
