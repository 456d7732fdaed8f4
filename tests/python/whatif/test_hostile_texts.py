"""Texts of a scenario stay texts in both pages: none ends the script that has the data, or keeps it
from ending."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from browser import CHROMIUM, Browser
from fake_run import FakeRun
from report_page import page_of
from tailrace.report.embedded import script_json
from tailrace.scenario.loading import load_scenario
from tailrace.whatif.page import write_page

EXAMPLE = Path(__file__).parents[3] / "examples" / "dpp.yaml"
HOSTILE = (
    "<!--<script> can this page load?",
    "</script><script>document.title = 'owned'</script>",
    "<img src=x onerror=\"document.title = 'owned'\">",
    "&lt;b&gt; ]]> {{ 7 * 7 }} ${7 * 7} \u2028 \ud83d",
)


def whatif_page(tmp_path: Path, text: str) -> Path:
    scenario = tmp_path / "dpp.yaml"
    lines = EXAMPLE.read_text(encoding="utf-8").splitlines()
    place = next(at for at, line in enumerate(lines) if line.startswith("description:"))
    lines[place] = f"description: {json.dumps(text)}\nwhatif: {{try: [{json.dumps(text)}]}}"
    scenario.write_text("\n".join(lines), encoding="utf-8")
    path = tmp_path / "page.html"
    write_page(load_scenario(scenario), ["fifo"], 0.01, path)
    return path


def data_of(text: str, element: str) -> Any:
    """What a browser takes for the element's text: without `<` it ends at the first end tag, in
    every state."""
    found = re.search(rf"<script[^>]*{element}[^>]*>([^<]*)</script>", text)
    assert found is not None, "the data of the page have no `<`"
    return json.loads(found[1])


@pytest.mark.parametrize("text", HOSTILE)
def test_data_come_back_as_they_are_and_end_no_element(text: str) -> None:
    written = script_json({text: [text]})
    assert "<" not in written
    assert json.loads(written) == {text: [text]}
    written.encode()  # a half of a pair, too


@pytest.mark.parametrize("text", HOSTILE[:3])
def test_the_what_if_page_has_the_description_as_it_is(tmp_path: Path, text: str) -> None:
    page = whatif_page(tmp_path, text).read_text(encoding="utf-8")
    assert data_of(page, 'id="data"')["question"] == text
    assert "<img" not in page
    assert "&amp;lt;" not in page, "it is escaped once"


def test_the_report_has_the_same_elements_whatever_a_run_is_called(tmp_path: Path) -> None:
    def elements(name: str) -> list[str]:
        run = FakeRun(name=name, trials=1, arms=("fifo",), with_solo=False).write(
            tmp_path / f"{len(name)}"
        )
        return [tag for tag, _ in page_of(run).elements]

    usual = elements("usual")
    assert [elements(text) for text in HOSTILE[:3]] == [usual] * 3


@pytest.mark.skipif(
    CHROMIUM is None, reason="chromium is not installed: the what-if page is not opened"
)
@pytest.mark.parametrize("text", HOSTILE[:3])
def test_the_what_if_page_simulates_and_its_title_is_its_own(tmp_path: Path, text: str) -> None:
    with Browser(whatif_page(tmp_path, text), tmp_path) as browser:
        browser.wait("globalThis.whatif && whatif.isIdle() && whatif.say().startsWith('Done')", 120)
        assert browser.eval("whatif.data.question") == text
        assert browser.eval("document.title") != "owned"
