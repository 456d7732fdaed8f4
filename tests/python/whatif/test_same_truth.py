"""A page simulates what the command simulates: the same digests, for every arm, at ends of knobs
and typed numbers."""

import json
import random
import shutil
import subprocess
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

import pytest

from counts import cases
from simulator_module import Page, run_module
from tailrace.experiment.native import make_trial, run_trial
from tailrace.experiment.plans import Plans
from tailrace.experiment.scale import scaled
from tailrace.experiment.schedule import TrialKey
from tailrace.scenario.loading import load_scenario
from tailrace.whatif.bundle import bundle_of
from tailrace.whatif.content import Bundle
from tailrace.whatif.lowered import Size
from tailrace.whatif.moves import changes
from tailrace.whatif.together import drawn_row

EXAMPLES = Path(__file__).parents[3] / "examples"
NODE = shutil.which("node")
SCALE = 0.01
LIMIT_S = 300
MOVES = cases(1000, 60)
RUN_EVERY = cases(100, 20)
"""Moves between two positions that are simulated."""
HEAP_BYTES_MAX = 300_000_000
USUAL = ("dpp", "ets", "pfc", "requests", "tiers")
SCENARIOS = (
    *USUAL,
    *cases(("afd", "buffers", "dctcp", "incast", "jumbo", "noisy-neighbour", "wred"), ()),
)
"""`test_same_outcomes` runs the module with plans of all mechanisms."""
Positions = dict[str, int | str]


@cache
def page_of(name: str) -> tuple[Bundle, Page, dict[str, Any]]:
    loaded = load_scenario(EXAMPLES / f"{name}.yaml")
    arms = list(loaded.arms)[:4]
    bundle = bundle_of(loaded, (Size("quick", SCALE),), arms)
    data = json.loads(json.dumps(bundle.data()))
    return bundle, Page(data), data


def native(name: str, values: dict[str, Any], arm: str, trial: int) -> str:
    """The digest of a trial of `tailrace run NAME --set ..`."""
    loaded = load_scenario(EXAMPLES / f"{name}.yaml", values)
    plans = Plans({arm: scaled(loaded.arms[arm], SCALE)})
    return str(run_trial(make_trial(plans.json(TrialKey(arm, trial)))).outcome.digest)


def positions_of(bundle: Bundle, texts: dict[str, str]) -> Positions:
    """As the page has them: a position by its number, a typed number by its text."""
    found: Positions = {}
    for one in bundle.moved:
        text = texts.get(one.path, one.own)
        found[one.path] = one.knob.texts.index(text) if text in one.knob.texts else text
    return found


def drawn(name: str, bundle: Bundle) -> list[dict[str, str]]:
    """The scenario as it is, each of some knobs at its ends, and mixtures of all that the checks
    allow."""
    luck = random.Random(name)
    ends: list[dict[str, str]] = []
    for one in bundle.moved:
        for how in ("low", "high"):
            text = drawn_row([one], luck, how).get(one.path, one.own)
            ends.append(bundle.together.repaired(bundle.moved, {one.path: text}))
    rows = [drawn_row(bundle.moved, luck, "any") for _ in range(3)]
    mixed = [bundle.together.repaired(bundle.moved, row) for row in rows]
    return [{}, *luck.sample(ends, min(5, len(ends))), *mixed]


@pytest.mark.parametrize("name", SCENARIOS)
def test_the_digests_are_those_of_the_command(name: str) -> None:
    bundle, page, data = page_of(name)
    luck = random.Random(name)
    runs: list[dict[str, Any]] = []
    expected: list[str] = []
    for texts in drawn(name, bundle):
        values = changes(bundle.moved, texts)
        assert bundle.lowering.tried(values).problem is None, values
        positions = positions_of(bundle, texts)
        assert page.eval(f"values.refusals(data, {json.dumps(positions)})") == []
        given = dict(page.eval(f"core.overrides(data, {json.dumps(positions)})"))
        assert given == {path: _text(value) for path, value in values.items()}
        arm, trial = luck.choice(data["arms"]), luck.choice([1, 2])
        runs.append({"arm": arm, "trial": trial, "positions": positions})
        expected.append(native(name, values, arm, trial))
    for run, digest in list(zip(runs, expected, strict=True))[-4:]:
        answer = run_module(
            page.plan("quick", run["arm"], run["positions"], data["seeds"][run["trial"] - 1])
        )
        assert isinstance(answer, dict), answer
        assert answer["outcome"]["digest"] == digest, run
    if NODE is not None:
        found = in_node(data, runs)
        assert found["digests"] == expected
        assert found["again"] == native(name, {}, data["arms"][0], 1), "as it was before the moves"
        assert found["simulated"] > 0
        assert found["heapBytes"] < HEAP_BYTES_MAX


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def in_node(data: dict[str, Any], runs: list[dict[str, Any]]) -> dict[str, Any]:
    """What the page's code gives in Node, and what it is like after many moves at random."""
    assert NODE is not None, "tests are skipped without Node"
    assets = resources.files("tailrace.whatif") / "assets"
    script = Path(__file__).parents[2] / "support" / "node_page.js"
    given = json.dumps({"data": data, "runs": runs, "moves": MOVES, "runEvery": RUN_EVERY})
    command = [NODE, str(script), str(assets)]
    done = subprocess.run(
        command, input=given, capture_output=True, text=True, timeout=LIMIT_S, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.mark.skipif(
    NODE is None, reason="node is not installed: the page's code is run by other engines only"
)
def test_node_has_run_it() -> None:
    assert NODE is not None


@pytest.mark.parametrize("name", SCENARIOS)
def test_what_the_checks_refuse_together_the_page_refuses(name: str) -> None:
    bundle, page, _ = page_of(name)
    luck = random.Random(f"{name} together")
    verdicts = {True: 0, False: 0}
    for turn in range(60):
        texts = drawn_row(bundle.moved, luck, ("any", "ends")[turn % 2])
        some = set(luck.sample(sorted(texts), min(len(texts), luck.choice([2, 3, 8]))))
        texts = {
            path: text for path, text in texts.items() if path in some or path.endswith(".share")
        }
        problem = bundle.lowering.tried(changes(bundle.moved, texts)).problem
        refused = page.eval(f"values.refusals(data, {json.dumps(positions_of(bundle, texts))})")
        if problem is not None:
            assert refused, (texts, problem)
        else:
            assert not [one for one in refused if "this page" not in one["words"]], (texts, refused)
        verdicts[bool(problem)] += 1
    assert verdicts[False] > 0


def test_a_limit_says_where_it_ends() -> None:
    bundle, page, _ = page_of("dpp")
    texts = {"switches.leaf.buffer": "32MB", "policies.dpp.queues.normal.limit": "16MB"}
    assert page.eval(f"values.refusals(data, {json.dumps(positions_of(bundle, texts))})") == []
    texts["switches.leaf.buffer"] = "13.5MB"
    [refused] = page.eval(f"values.refusals(data, {json.dumps(positions_of(bundle, texts))})")
    assert refused["words"].startswith(
        "13.5MB is refused while policies.dpp.queues.normal.limit is 16MB: at least 16MB (as "
        "in: queue 'normal'"
    )


def test_plans_that_do_not_follow_a_number_have_positions_only() -> None:
    bundle, page, _ = page_of("pfc")
    [rate] = [one for one in bundle.moved if one.path == "network.link.rate"]
    assert rate.number is None, "headroom is rounded to the rate"
    knob = "data.knobs.find((one) => one.path === 'network.link.rate')"
    words = page.eval(f"values.typed(data, {knob}, '12.3Gbit/s')")["words"]
    assert words.endswith("(what it changes does not follow the number)")
    assert words.startswith("only positions: ")


def test_a_value_that_depends_on_another_one_is_not_offered(tmp_path: Path) -> None:
    text = (EXAMPLES / "ets.yaml").read_text(encoding="utf-8").split("expect:")[0]
    text = text.replace("web: {share: 60%, limit: 500kB}", "web: {limit: 500kB}")
    knobs = (
        "{policies.shares.queues.voice.share: [10%, 20%], "
        "policies.shares.queues.storage.share: [30%, 40%]}"
    )
    (tmp_path / "ets.yaml").write_text(f"{text}\nwhatif: {{knobs: {knobs}}}\n", encoding="utf-8")
    bundle = bundle_of(load_scenario(tmp_path / "ets.yaml"), (Size("quick", SCALE),), ["shares"])
    assert [one.path for one in bundle.moved if one.path.endswith(".share")] == [
        "policies.shares.queues.voice.share"
    ]
    assert (
        bundle.left_out[0]
        == "policies.shares.queues.storage.share: what it changes depends on another knob"
    )


def test_what_the_simulator_refuses_comes_in_words() -> None:
    answer = run_module('{"version": 0}')
    assert isinstance(answer, str)
    assert "version" in answer or "missing" in answer


def test_a_run_ends_when_the_page_says_so() -> None:
    _, page, data = page_of("dpp")
    plan = page.plan(
        "quick", "fifo", {knob["path"]: knob["start"] for knob in data["knobs"]}, data["seeds"][0]
    )
    answer = run_module(plan, ends_at=0.0)
    assert isinstance(answer, dict)
    assert answer["outcome"]["cancelled"] is True
    whole = run_module(plan)
    assert isinstance(whole, dict)
    assert whole["outcome"]["cancelled"] is False
