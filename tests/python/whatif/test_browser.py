"""The page in a real browser, opened as a file: digests, a thousand moves, no request, nothing
wider than a phone.

Needs Chromium; without it these tests say so, and the page's own code is tested without one all the
same.
"""

import json
import random
import re
from pathlib import Path
from urllib.parse import quote

import pytest

from browser import CHROMIUM, Browser
from tailrace.experiment.native import make_trial, run_trial
from tailrace.experiment.plans import Plans
from tailrace.experiment.scale import scaled
from tailrace.experiment.schedule import TrialKey
from tailrace.scenario.loading import load_scenario
from tailrace.whatif.bundle import bundle_of
from tailrace.whatif.lowered import Size
from tailrace.whatif.moves import changes
from tailrace.whatif.page import PAGE_BYTES_MAX, render, write_page
from tailrace.whatif.together import drawn_row

EXAMPLES = Path(__file__).parents[3] / "examples"
RUN_S_MAX = 120
MOVES = 1000
# Moves knobs of the list and of the drawing at random, types numbers, and undoes some.
MOVING = """(async () => {
  let state = 7;
  const draw = (count) => { state = (state * 1103515245 + 12345) % 2147483648; return state % count; };
  const knobs = whatif.data.knobs;
  for (let move = 0; move < MOVES; move++) {
    const knob = knobs[draw(knobs.length)];
    const box = document.querySelector(`input.edit[data-path="${CSS.escape(knob.path)}"]`);
    if (draw(10) === 0) document.getElementById("undo").click();
    else if (draw(40) === 0) document.getElementById("pin").click();
    else if (box && draw(2) === 0) { box.value = `${1 + draw(400)}`; box.dispatchEvent(new Event("change")); }
    else whatif.move(knob.path, draw(knob.texts.length));
    if (draw(8) === 0) await new Promise((done) => setTimeout(done, draw(60)));
  }
  document.getElementById("reset").click();
})()"""  # noqa: E501
# Types into a box, or chooses from a list, of the drawing.
TYPE = """(() => {{ const box = document.querySelector('#policies [data-path="{path}"]');
  box.value = "{text}"; box.dispatchEvent(new Event("change")); }})()"""
DONE = "globalThis.whatif && whatif.isIdle() && whatif.say().startsWith('Done')"
SCALE = 0.01
QUICK = Size("quick", SCALE)
SCENARIOS = (
    "afd",
    "buffers",
    "dctcp",
    "dpp",
    "ets",
    "incast",
    "jumbo",
    "noisy-neighbour",
    "tiers",
    "wred",
)


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("whatif") / "page.html"
    write_page(load_scenario(EXAMPLES / "dpp.yaml"), ["fifo", "dpp"], 0.1, path)
    return path


def test_the_page_is_one_file_that_asks_for_nothing(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert len(text.encode()) <= PAGE_BYTES_MAX
    outside = re.sub(
        r'<script type="(application/json|text/plain)".*?</script>', "", text, flags=re.S
    )
    assert re.findall(r'(?:src|href)="(?!data:,)[^"]*"', outside) == []
    assert "default-src 'none'" in text
    assert "fetch(" not in text


@pytest.mark.skipif(
    CHROMIUM is None, reason="chromium is not installed: the what-if page is not opened"
)
class TestOpened:
    def test_it_simulates_what_the_command_does(self, page: Path, tmp_path: Path) -> None:
        with Browser(page, tmp_path) as browser:
            browser.wait(DONE, RUN_S_MAX)
            found = browser.eval(
                "whatif.data.arms.map((arm) => whatif.results().full[arm].slice(0, "
                "2).map((one) => one.outcome.digest))"
            )
            arms = {
                arm: scaled(one, 0.1)
                for arm, one in load_scenario(EXAMPLES / "dpp.yaml").arms.items()
            }
            plans = Plans(arms)
            trials = [[TrialKey(arm, trial) for trial in (1, 2)] for arm in ("fifo", "dpp")]
            assert found == [
                [run_trial(make_trial(plans.json(key))).outcome.digest for key in keys]
                for keys in trials
            ]
            assert browser.errors() == []

    def test_a_thousand_moves_leave_it_whole(self, page: Path, tmp_path: Path) -> None:
        with Browser(page, tmp_path) as browser:
            browser.wait(DONE, RUN_S_MAX)
            before = browser.eval("document.getElementById('table').textContent")
            browser.call(
                "Runtime.evaluate",
                expression=MOVING.replace("MOVES", str(MOVES)),
                awaitPromise=True,
            )
            browser.wait(DONE, RUN_S_MAX)
            assert browser.errors() == []
            browser.eval("document.getElementById('pin').click()")
            browser.wait(
                "document.getElementById('table').textContent.startsWith('Now' + 'workload')",
                RUN_S_MAX,
            )
            assert browser.eval("document.getElementById('table').textContent") == before, (
                "as it was at first"
            )
            browser.call("HeapProfiler.collectGarbage")
            assert browser.eval("performance.memory.usedJSHeapSize") < 300e6

    def test_ten_scenarios_give_the_digests_of_the_command(self, tmp_path: Path) -> None:
        """Each as it is and with a mixture of positions and typed numbers, by a link."""
        (tmp_path / "empty.html").write_text("<title>empty</title>", encoding="utf-8")
        with Browser(tmp_path / "empty.html", tmp_path) as browser:
            for name in SCENARIOS:
                loaded = load_scenario(EXAMPLES / f"{name}.yaml")
                arms = list(loaded.arms)[:2]
                bundle = bundle_of(loaded, (QUICK, Size("full", SCALE)), arms)
                row = drawn_row(bundle.moved, random.Random(name), "any")
                mixed = bundle.together.repaired(bundle.moved, row)
                (tmp_path / f"{name}.html").write_text(render(bundle), encoding="utf-8")
                for texts in ({}, mixed):
                    away = {
                        one.path: texts[one.path]
                        for one in bundle.moved
                        if texts.get(one.path, one.own) != one.own
                    }
                    link = "&".join(f"{quote(path)}={quote(text)}" for path, text in away.items())
                    browser.call(
                        "Page.navigate", url=f"{(tmp_path / name).as_uri()}.html?{len(away)}#{link}"
                    )
                    quick = "Object.keys(whatif.results().quick).length"
                    browser.wait(
                        f"globalThis.whatif && whatif.data.name === '{name}' "
                        f"&& {quick} === {len(arms)}",
                        RUN_S_MAX,
                    )
                    assert browser.eval("document.getElementById('unknown').hidden"), away
                    values = changes(bundle.moved, texts)
                    changed = load_scenario(EXAMPLES / f"{name}.yaml", values)
                    plans = Plans({arm: scaled(changed.arms[arm], SCALE) for arm in arms})
                    native = [
                        run_trial(make_trial(plans.json(TrialKey(arm, 1)))).outcome.digest
                        for arm in arms
                    ]
                    found = browser.eval(
                        "whatif.data.arms.map((arm) => whatif.results().quick[arm].outcome.digest)"
                    )
                    assert found == native, (name, values)
            assert browser.errors() == []

    def test_the_policies_are_edited_in_their_drawing(self, page: Path, tmp_path: Path) -> None:
        with Browser(page, tmp_path) as browser:
            browser.wait("globalThis.whatif && whatif.isIdle()", RUN_S_MAX)
            browser.eval(TYPE.format(path="policies.dpp.queues.normal.limit", text="7.5MB"))
            browser.eval(TYPE.format(path="policies.dpp.priorities.3", text="0"))
            browser.wait("whatif.isIdle()", RUN_S_MAX)
            browser.eval("document.getElementById('as-command').click()")
            command = browser.wait("document.getElementById('given').textContent", RUN_S_MAX)
            wanted = (
                "--set policies.dpp.queues.normal.limit=7.5MB --set "
                "policies.dpp.priorities.3=express"
            )
            assert command.endswith(wanted)
            assert (
                browser.eval(
                    "document.getElementById('value-policies.dpp.queues.normal.limit').value"
                )
                == "7.5MB"
            )
            browser.eval(TYPE.format(path="policies.dpp.queues.normal.limit", text="99MB"))
            told = browser.eval(
                "document.getElementById('note-policies.dpp.queues.normal.limit').textContent"
            )
            assert told.startswith(
                "99MB is out of range: 0.75MB to 16MB (queue 'normal' of policy 'dpp' may hold"
            )
            assert browser.eval("whatif.positions()['policies.dpp.queues.normal.limit']") == "7.5MB"
            for priority in range(8):
                browser.eval(TYPE.format(path=f"policies.dpp.priorities.{priority}", text="0"))
            told = browser.eval("document.getElementById('refused-drawn').textContent")
            assert "no frame can enter queue 'normal' of dpp" in told
            assert browser.eval("whatif.say()").startswith("Move what is refused")
            browser.eval("document.getElementById('reset').click()")
            browser.wait(DONE, RUN_S_MAX)
            assert browser.eval("document.getElementById('refused-drawn').textContent") == ""
            assert browser.errors() == []

    @pytest.mark.parametrize("is_dark", [False, True])
    def test_a_phone_has_nothing_to_the_side(
        self, page: Path, tmp_path: Path, is_dark: bool
    ) -> None:
        with Browser(page, tmp_path, 390, is_dark=is_dark) as browser:
            browser.wait("document.querySelectorAll('#table .figure').length > 0", RUN_S_MAX)
            assert browser.eval("document.documentElement.scrollWidth") == 390
            assert browser.errors() == []

    def test_a_link_sets_the_knobs_and_what_is_refused_is_said(
        self, page: Path, tmp_path: Path
    ) -> None:
        with Browser(page, tmp_path) as browser:
            browser.wait("globalThis.whatif && whatif.isIdle()", RUN_S_MAX)
            browser.eval("location.hash = '#policies.dpp.dpp.max_packets=5'")
            browser.wait(
                "document.getElementById('table').textContent.includes('before')", RUN_S_MAX
            )
            browser.eval("document.getElementById('as-command').click()")
            assert browser.wait("document.getElementById('given').textContent", RUN_S_MAX).endswith(
                "max_packets=5"
            )
            refused = browser.eval(
                "whatif.data.knobs.find((knob) => knob.path === 'policies.dpp.queues.normal.limit')"
            )
            at = refused["texts"].index(next(iter(refused["refused"])))
            browser.eval(f"whatif.move({json.dumps(refused['path'])}, {at})")
            told = browser.eval(
                "[...document.querySelectorAll('.refused')].map((one) => one.textContent).join('')"
            )
            assert "the switch has a buffer of 16 MB" in told

    def test_every_knob_has_a_name_and_is_reached_by_the_keyboard(
        self, page: Path, tmp_path: Path
    ) -> None:
        with Browser(page, tmp_path) as browser:
            browser.wait("globalThis.whatif && whatif.isIdle()", RUN_S_MAX)
            tree = browser.call("Accessibility.getFullAXTree")["nodes"]
            sliders = [
                node for node in tree if node.get("role", {}).get("value") in ("slider", "switch")
            ]
            assert len(sliders) == browser.eval(
                "whatif.data.knobs.filter((knob) => !knob.drawn).length"
            )
            edited = [
                node
                for node in tree
                if node.get("role", {}).get("value") in ("textbox", "combobox")
            ]
            assert len(edited) > len(sliders)
            assert all(
                node["name"]["value"] for node in (*sliders, *edited) if not node.get("ignored")
            )
            names = [node["name"]["value"] for node in sliders]
            assert len(names) == len(set(names)), "each knob has a name of its own"
            browser.eval("document.querySelector('#knobs input[type=range]').focus()")
            first = browser.eval("document.querySelector('#knobs input[type=range]').value")
            for kind in ("keyDown", "keyUp"):
                browser.call(
                    "Input.dispatchKeyEvent",
                    type=kind,
                    key="ArrowLeft",
                    code="ArrowLeft",
                    windowsVirtualKeyCode=37,
                )
            assert browser.eval("document.querySelector('#knobs input[type=range]').value") == str(
                int(first) - 1
            )

    def test_a_telephone_has_the_results_above_what_moves_them_and_a_switch_for_what_is_on(
        self, tmp_path: Path
    ) -> None:
        path = tmp_path / "page.html"
        write_page(load_scenario(EXAMPLES / "dpp.yaml"), ["fifo", "dpp"], 0.1, path)
        with Browser(path, tmp_path, 390) as browser:
            browser.wait("document.querySelectorAll('#table .figure').length > 0", RUN_S_MAX)
            top = "document.getElementById('{}').getBoundingClientRect().top"
            assert browser.eval(top.format("outcome")) < browser.eval(top.format("controls"))
            assert browser.eval(top.format("outcome")) < 844
            switch = "document.querySelector('#knobs input[role=switch]')"
            named = browser.eval(f"{switch}.dataset.path")
            assert named.endswith(".enabled")
            assert browser.eval(f"{switch}.checked") is True
            browser.eval(f"{switch}.click()")
            knob = f"whatif.data.knobs.find((one) => one.path === '{named}')"
            assert (
                browser.eval(f"whatif.values.textOf({knob}, whatif.positions()['{named}'])")
                == "false"
            )
            assert browser.eval(
                "[...document.querySelectorAll('#table tbody th')].every((one) => "
                "one.textContent.trim())"
            )
            assert browser.errors() == []

    def test_without_webassembly_it_says_so(self, page: Path, tmp_path: Path) -> None:
        text = page.read_text(encoding="utf-8").replace(
            "<head>", "<head><script>delete globalThis.WebAssembly</script>", 1
        )
        (tmp_path / "old.html").write_text(text, encoding="utf-8")
        with Browser(tmp_path / "old.html", tmp_path) as browser:
            browser.wait(
                "document.getElementById('dead') && !document.getElementById('dead').hidden",
                RUN_S_MAX,
            )
            assert "no WebAssembly" in browser.eval(
                "document.getElementById('dead-text').textContent"
            )
