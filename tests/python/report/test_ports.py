"""The list of all ports of a large network: what it says, how it is searched, and that it opens in
a browser."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from browser import CHROMIUM, Browser
from fake_run import FakeRun
from report_page import edit_trials, page_of
from tailrace.report import write
from tailrace.report.sections import ports
from tailrace.results import Run
from tailrace.results.ports.listing import listed_ports

NODE = shutil.which("node")
CODE = Path(__file__).parents[3] / "python" / "tailrace" / "report" / "assets" / "ports.js"
PORTS = 5120
"""Of the switches of a fat tree of 1024 hosts."""
SIZE_BYTES_MAX = 2_000_000
OPENS_S_MAX = 30.0
"""On a busy machine; a tenth of it is usual."""


def many_ports(outcome: dict[str, Any], count: int = PORTS) -> None:
    """As many ports as that, each made of the first one: every hundredth drops frames, the last one
    most."""
    pattern = outcome["ports"][0]
    outcome["ports"] = [_port(pattern, number) for number in range(1, count + 1)]


def _port(pattern: dict[str, Any], number: int) -> dict[str, Any]:
    lost = {"tail-drop": {"frames": number, "bytes": 1500 * number}} if number % 100 == 0 else {}
    queue = pattern["queues"][0] | {"drops": lost, "depth_max_bytes": number}
    count = 2000 if number == 1 else 1000  # the busiest has no other distinction
    frames = {"tx_frames": count, "tx_bytes": 1476 * count}
    return (
        pattern
        | frames
        | {"node": f"leaf{number % 320}", "towards": f"h{number}", "queues": [queue | frames]}
    )


@pytest.fixture(scope="module")
def run_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = FakeRun(trials=2).write(tmp_path_factory.mktemp("ports") / "run")
    edit_trials(path, many_ports)
    return path


def test_the_ports_that_lose_most_come_first_and_use_of_links_counts_the_wire(
    run_path: Path,
) -> None:
    run = Run.read(run_path)
    listed = listed_ports(run.with_outcome("fifo"))
    assert [port.name for port in listed[:2]] == ["leaf300>h5100", "leaf200>h5000"]
    assert listed[0].drops_frames == 5100, "a mean over trials"
    assert listed[51].name == f"leaf0>h{PORTS}", "without drops, the deepest queue is first"
    trial = run.with_outcome("fifo")[0]
    bits = 1000 * 1500 * 8  # 1476 bytes with 24 of the wire
    assert listed[0].utilisation_percent == pytest.approx(
        100 * bits / (trial.counted_ps / 1e12 * trial.outcome.ports[0].rate_bps), rel=0.05
    )


def test_a_report_of_thousands_of_ports_is_small_and_lists_the_worst_without_scripts(
    run_path: Path,
) -> None:
    page = page_of(run_path)
    assert (run_path / "report.html").stat().st_size < SIZE_BYTES_MAX
    assert "leaf300 → h5100" in page.text
    assert "fifo: 51 ports dropped frames." in page.text
    assert ("section", {"id": "ports", "data-omitted": ""}) in page.elements


def test_a_small_network_has_its_ports_in_the_table_of_queues_alone(tmp_path: Path) -> None:
    page = page_of(FakeRun(trials=1).write(tmp_path / "run"))
    assert "ports" not in page.ids()


def test_what_is_beyond_the_limit_of_a_page_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ports, "PORTS_LISTED_MAX", 1000)
    path = FakeRun(trials=1, with_solo=False).write(tmp_path / "run")
    edit_trials(path, lambda outcome: many_ports(outcome, 600))
    page = page_of(path)
    [attributes] = [
        one for tag, one in page.elements if tag == "section" and one.get("id") == "ports"
    ]
    assert attributes["data-omitted"] == "100", "two arms share the list"


@pytest.mark.skipif(NODE is None, reason="node is not installed: the search is not run")
@pytest.mark.parametrize(
    ("query", "order", "found"),
    [
        ("", "drops", ["leaf2>h9", "leaf1>h3", "spine1>leaf1", "leaf10>h30"]),
        ("", "queue", ["spine1>leaf1", "leaf10>h30", "leaf2>h9", "leaf1>h3"]),
        ("", "busy", ["leaf10>h30", "spine1>leaf1", "leaf1>h3", "leaf2>h9"]),
        ("", "name", ["leaf1>h3", "leaf2>h9", "leaf10>h30", "spine1>leaf1"]),
        ("LEAF1", "name", ["leaf1>h3", "leaf10>h30", "spine1>leaf1"]),
        ("leaf1 > h3", "name", ["leaf1>h3"]),
        ("leaf1→h3", "name", ["leaf1>h3"]),
        ("h3 leaf1", "name", ["leaf1>h3", "leaf10>h30"]),
        ("nowhere", "name", []),
    ],
)
def test_typed_words_find_ports_by_name(query: str, order: str, found: list[str]) -> None:
    rows = [
        [0, "h3", 5, 10, 2.0],
        [1, "h9", 7, 20, 1.0],
        [2, "h30", 0, 30, 9.0],
        [3, "leaf1", 0, 40, 3.0],
    ]
    data = {"nodes": ["leaf1", "leaf2", "leaf10", "spine1"], "arms": [{"name": "a", "rows": rows}]}
    call = (
        "ports.ordered(ports.matching(ports.rowsOf(data, 0), query), order).map((row) => row.key)"
    )
    assert ran(call, data=data, query=query, order=order) == found


@pytest.mark.skipif(NODE is None, reason="node is not installed: the search is not run")
def test_numbers_of_the_list_are_written_as_in_the_rest_of_the_report() -> None:
    from tailrace.results.format.numbers import bytes_text, count_text

    values = [0, 0.5, 9.5, 10.4, 999, 12345]
    assert ran("values.map(ports.count)", values=values) == [count_text(value) for value in values]
    sizes = [0, 1, 999, 1000, 1234, 910_000, 999_400, 999_600, 12_345_678, 999_600_000]
    assert ran("values.map(ports.bytes)", values=sizes) == [bytes_text(size) for size in sizes]


def ran(expression: str, **names: Any) -> Any:
    """The value of an expression in Node, with the page's code as `ports`."""
    code = f"const ports = require({json.dumps(str(CODE))});"
    code += "".join(f"const {name} = {json.dumps(value)};" for name, value in names.items())
    code += f"process.stdout.write(JSON.stringify({expression}));"
    assert NODE is not None
    return json.loads(
        subprocess.run([NODE, "-e", code], capture_output=True, text=True, check=True).stdout
    )


@pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed: the list is not looked at")
def test_the_list_is_searched_with_the_keyboard(run_path: Path, tmp_path: Path) -> None:
    with Browser(write(run_path), tmp_path, 390) as browser:
        browser.wait("document.readyState === 'complete'", OPENS_S_MAX)
        rows = "document.querySelectorAll('#port-table tbody tr').length"
        assert browser.eval(rows) == 20
        press(browser, "/")
        assert browser.eval("document.activeElement.type") == "search"
        browser.call("Input.insertText", text="leaf300 h5100")
        assert browser.eval(rows) == 1
        assert (
            browser.eval("document.querySelector('.port-status').textContent")
            == "1 of 5\u202f120 ports"
        )
        press(browser, "Escape")
        assert browser.eval(rows) == 20
        browser.eval("document.querySelector('.port-more').click()")
        assert browser.eval(rows) == 220
        assert browser.eval("document.documentElement.scrollWidth") <= 390
        assert browser.errors() == []


def press(browser: Browser, key: str) -> None:
    """A key goes down and up."""
    text = {"text": key} if len(key) == 1 else {}
    browser.call("Input.dispatchKeyEvent", type="keyDown", key=key, **text)
    browser.call("Input.dispatchKeyEvent", type="keyUp", key=key)
