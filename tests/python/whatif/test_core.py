"""What the page works out itself."""

import json
from pathlib import Path
from typing import Any

import pytest

from simulator_module import Page
from tailrace.experiment.plans import Plans
from tailrace.experiment.schedule import TrialKey
from tailrace.results.format.numbers import change_text
from tailrace.results.text.outcome_table import SIGNS
from tailrace.scenario.goal import BETTER_HIGHER
from tailrace.scenario.loading import load_scenario
from tailrace.scenario.text.document import read_yaml
from tailrace.whatif import module
from tailrace.whatif import page as whatif_page
from tailrace.whatif.bundle import bundle_of
from tailrace.whatif.knobs import Knob, own_labels
from tailrace.whatif.lowered import Size

EXAMPLES = Path(__file__).parents[3] / "examples"


@pytest.fixture(scope="module")
def page() -> Page:
    loaded = load_scenario(EXAMPLES / "dpp.yaml")
    return Page(
        json.loads(json.dumps(bundle_of(loaded, (Size("quick", 0.01),), ["fifo", "dpp"]).data()))
    )


def test_arms_are_compared_with_the_baseline_of_the_scenario() -> None:
    loaded = load_scenario(EXAMPLES / "dpp.yaml", {"experiment.baseline": "dpp"})
    for arms, expected in ((["fifo", "dpp"], "dpp"), (["fifo"], "fifo")):
        assert bundle_of(loaded, (Size("quick", 0.01),), arms).data()["baseline"] == expected


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (0.00461, "s", "4.61 ms"),
        (46.2e-6, "s", "46.2 µs"),
        (5.41e9, "bit/s", "5.41 Gbit/s"),
        (1260.4, "/s", "1260 /s"),
        (None, "s", "–"),
    ],
)
def test_numbers_have_the_unit_that_fits(
    page: Page, value: float | None, unit: str, text: str
) -> None:
    assert page.eval(f"core.text({json.dumps(value)}, '{unit}')") == text


def test_a_link_carries_the_knobs_and_names_what_it_does_not_know(page: Page) -> None:
    data: dict[str, Any] = page.eval("data")
    positions = {knob["path"]: knob["start"] for knob in data["knobs"]} | {
        "policies.dpp.dpp.max_packets": 2
    }
    fragment = page.eval(f"core.toFragment(data, {json.dumps(positions)})")
    assert fragment == "policies.dpp.dpp.max_packets=5"
    assert page.eval(f"core.fromFragment(data, '#{fragment}').positions") == positions
    unknown = page.eval(
        "core.fromFragment(data, '#policies.dpp.dpp.max_packets=0&nothing=1&%E0%A4%A=2').unknown"
    )
    assert unknown == ["policies.dpp.dpp.max_packets=0", "nothing=1", "%E0%A4%A=2"]


def test_words_with_blanks_are_quoted_for_the_shell(page: Page) -> None:
    data: dict[str, Any] = page.eval("data")
    positions = {knob["path"]: knob["start"] for knob in data["knobs"]} | {"workloads.small.gap": 0}
    assert page.eval(f"core.asCommand(data, {json.dumps(positions)})").endswith(
        "--set 'workloads.small.gap=exponential(0.4375ms)'"
    )


def test_the_number_in_a_distribution_is_typed_alone(page: Page) -> None:
    knob = "data.knobs.find((one) => one.path === 'workloads.small.gap')"
    assert page.eval(f"values.typed(data, {knob}, '6')") == {"at": "exponential(6ms)"}
    assert page.eval(f"values.typed(data, {knob}, 'exponential(0.5 ms)')") == {
        "at": "exponential(0.5ms)"
    }
    assert page.eval(f"values.typed(data, {knob}, 'uniform(1ms,2ms)')")["words"].startswith(
        "uniform(1ms,2ms) is not a"
    )


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ({"dscp": ["ef"]}, "dscp 46"),
        ({"protocol": "tcp", "destination_port": 5432}, "destination port 5432, protocol tcp"),
        (
            {"protocol": "udp", "source_port": "4000-4010", "pcp": [3, 4]},
            "pcp 3 or 4, protocol udp, source port 4000-4010",
        ),
        ({"source": "bulk"}, "source bulk"),
    ],
)
def test_a_rule_of_a_plan_is_told_in_words(rule: dict[str, Any], words: str) -> None:
    document = read_yaml((EXAMPLES / "dpp.yaml").read_text(encoding="utf-8"), "dpp.yaml")[0]
    document["switches"]["leaf"]["classify"] = [{"class": 5, **rule}]
    scenario = load_scenario(document).arms["fifo"]
    [lowered] = json.loads(Plans({"fifo": scenario}).json(TrialKey("fifo", 1)))["switches"][0][
        "classify"
    ]
    page = Page({})
    assert page.eval(f"core.ruleWords({json.dumps(lowered)})") == words


def test_rates_are_those_until_a_workload_has_ended(page: Page) -> None:
    ended = {
        "name": "shop",
        "completion_ps": 3 * 10**12,
        "counted_from_ps": 10**12,
        "goodput_bytes": 1000,
    }
    bulk = {"name": "bulk", "completion_ps": None, "latency": None, "goodput_bytes": 1000}
    shop = {**ended, "latency": {"count": 20, "p50_ps": 10**9, "p99_ps": 2 * 10**9}}
    found = page.eval(
        f"core.figures({json.dumps({'end_ps': 8 * 10**12, 'workloads': [shop, bulk, ended]})})"
    )
    assert [(row["workload"], row["metric"], row["value"]) for row in found] == [
        ("shop", "p50", 0.001),
        ("shop", "p99", 0.002),
        ("shop", "rate", 10),
        ("bulk", "goodput", 1000),
        ("shop", "goodput", 4000),
    ]


def test_what_is_better_is_what_the_command_says(page: Page) -> None:
    names = {
        "p50": "latency_p50_ms",
        "p99": "latency_p99_ms",
        "rate": "rate_per_s",
        "goodput": "goodput_gbps",
    }
    is_lower = dict(page.eval("core.METRICS.map((metric) => [metric.key, metric.lower])"))
    assert is_lower == {key: name not in BETTER_HIGHER for key, name in names.items()}


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"ratio": 0.685, "interval": {"low": 0.65, "high": 0.7}}, "−31.5 % (−35.0 to −30.0 %)"),
        ({"ratio": 81.04, "interval": {"low": 60, "high": 101}}, "× 81.0 (× 60.0 to 101)"),
        ({"ratio": 3.9, "interval": None}, "+290.0 %"),
        ({"ratio": None, "interval": None}, "–"),
    ],
)
def test_changes_are_written_as_in_the_tables_of_a_run(
    page: Page, change: dict[str, Any], text: str
) -> None:
    assert page.eval(f"core.changeText({json.dumps({'change': change})})") == text
    if change["ratio"] is not None:
        assert change_text((change["ratio"] - 1) * 100) == text.split(" (")[0]


def test_verdicts_are_those_of_a_run(page: Page) -> None:
    def tone(p: float, count: int, *, ratio: float | None = 2.0, is_main: bool = True) -> str:
        one = {"p": p, "count": count, "tests": 1, "isMain": is_main, "change": {"ratio": ratio}}
        return str(page.eval(f"core.toneOf({json.dumps(one)}, {{lower: true}})"))

    assert [tone(0.01, 8), tone(0.01, 8, ratio=0.5), tone(0.5, 8), tone(0.5, 5)] == [
        "worse",
        "better",
        "same",
        "few",
    ]
    assert [tone(0.01, 8, ratio=None), tone(0.01, 8, is_main=False)] == ["censored", ""]
    signs = page.eval("core.SIGNS")
    assert {name: sign.strip() for name, sign in signs.items()} == SIGNS


def test_two_knobs_have_different_names() -> None:
    paths = [
        "a.x.calls.0.size",
        "a.x.calls.1.size",
        "switches.leaf.limit",
        "policies.leaf.limit",
        "a.y.size",
        "b.y.size",
    ]
    labels = [
        ("x:", "size"),
        ("x:", "size"),
        ("leaf:", "limit"),
        ("leaf:", "limit"),
        ("y:", "size"),
        ("y:", "size"),
    ]
    knobs = [Knob(path, (1,), 0, label) for path, label in zip(paths, labels, strict=True)]
    found = own_labels(knobs)
    assert found[paths[0]] == ("x:", "size of call 1")
    assert found[paths[2]] == ("switch leaf:", "limit")
    assert len(set(found.values())) == len(paths)


def test_no_share_is_moved_to_nothing(page: Page) -> None:
    texts = {
        "a": ["50%", "99%"],
        "b": ["0.5%", "0.1%"],
        "c": ["0.5%", "0.1%"],
        "d": ["49%", "0.8%"],
    }
    knobs = [
        {"path": f"{name}.share", "group": "g", "texts": own, "start": 0}
        for name, own in texts.items()
    ]
    start = {knob["path"]: 0 for knob in knobs}
    moved = f"((own) => values.balanced(own, own.knobs[0], 1, {json.dumps(start)}))"
    found = page.eval(f"{moved}({json.dumps({'knobs': knobs})})")
    assert found == dict.fromkeys(start, 1), "of the 1 % that is left, b and c had 0.01 % each"


def test_a_page_names_the_version_of_its_module(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "simulator.json").write_text('{"version": "9.8.7"}', encoding="utf-8")
    monkeypatch.setattr(module, "ASSETS", tmp_path)
    monkeypatch.setattr(whatif_page, "packed", lambda: b"module")
    bundle = bundle_of(
        load_scenario(EXAMPLES / "dpp.yaml"), (Size("quick", 0.01), Size("full", 0.1)), ["fifo"]
    )
    assert "by tailrace 9.8.7, the same code" in whatif_page.render(bundle)
