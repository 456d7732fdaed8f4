"""`tailrace sensitivity`: a sum whose parts are known, and what it refuses."""

import json
import sys
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path

import pytest

from command_line import tailrace
from tailrace.errors import RunRefusedError, ScenarioError
from tailrace.experiment.execution import ExecutionOptions
from tailrace.experiment.reporter import Silent
from tailrace.scenario.loading import load_scenario
from tailrace.sensitivity.chart import bars, tornado
from tailrace.sensitivity.options import SensitivityOptions
from tailrace.sensitivity.region import Box
from tailrace.sensitivity.study import Study, Studying
from tailrace.sensitivity.text import study_data, study_page, study_text

SCENARIO = Path(__file__).parent / "path.yaml"
CABLE, SWITCH, BUFFER = 0, 1, 2


def studied(out: Path, **options: object) -> Study:
    wanted = SensitivityOptions(
        **{  # type: ignore[arg-type]
            "assumptions": True,
            "trajectories": 4,
            "samples": 8,
            "factors": 2,
            "checks": 4,
            "out": out,
            **options,
        }
    )
    return Studying(load_scenario(SCENARIO), wanted, Silent()).run()


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Study:
    return studied(tmp_path_factory.mktemp("study") / "out", figures=["load.mean"])


def test_each_assumption_alone_does_what_arithmetic_says(study: Study) -> None:
    own = study.figures[0]
    assert (own.name, own.unit) == ("load.mean, own", "ms")
    base = study.base_mean(own)
    moved = {
        study.factors[bar.factor].name: (bar.low - base, bar.high - base)
        for bar in bars(study, own)
    }
    assert moved["cable"] == pytest.approx((-2 * 0.4e-3, 2 * 4.5e-3), rel=1e-6)
    assert moved["switch"] == pytest.approx((0, 2e-3), rel=1e-6, abs=1e-12)
    assert moved["buffer"] == pytest.approx((0, 0), abs=1e-12)
    assert [study.factors[bar.factor].name for bar in bars(study, own)][:2] == ["cable", "switch"]


def test_an_arm_whose_times_are_longer_is_worse(study: Study) -> None:
    own, fixed, change = study.figures
    assert (own.arm, fixed.arm, change.arm, change.baseline) == ("own", "fixed", "fixed", "own")
    longer = study.base_mean(fixed) / study.base_mean(own) - 1
    assert longer > 0
    assert study.base_mean(change) == pytest.approx(-100 * longer, rel=1e-6)


def test_the_screening_and_the_variance_name_the_deciding_one(study: Study) -> None:
    own = study.figures[0]
    effects = study.screened[own]
    assert effects[CABLE].mu_star > effects[SWITCH].mu_star > effects[BUFFER].mu_star == 0
    assert study.deciding == [CABLE, SWITCH] or study.deciding == [SWITCH, CABLE]
    totals = dict(zip(study.deciding, (one.total for one in study.shares[own]), strict=True))
    assert totals[CABLE] > 0.5 > totals[SWITCH] > 0


def test_the_region_of_a_conclusion_ends_where_the_arms_are_alike(study: Study) -> None:
    # The arm `fixed` has 2 us, so that it is worse than the other until that has as much.
    every = study.holdings[0]
    assert every.at_base
    assert every.box is not None
    assert every.box.cut == [SWITCH]
    share = study.factors[SWITCH].variation.present_share(lambda _path: "2us")
    assert every.box.highs[SWITCH] == pytest.approx(share, abs=0.2)
    assert 0 < every.held < every.points
    assert every.checked == 4


@pytest.mark.parametrize(
    ("high", "told"),
    [
        (
            1.0,
            "All hold over the whole ranges: at all 78 simulated points, "
            "and at 15 of 16 new points.",
        ),
        (
            0.999,
            "(100 % of the space): at all 78 simulated points in it, and at 15 of 16 new "
            "points in it.",
        ),
        (0.125, "(12 % of the space): at all 78"),
        (0.0123, "(1.2 % of the space): at all 78"),
    ],
)
def test_the_size_of_a_region_is_told(study: Study, high: float, told: str) -> None:
    count = len(study.factors)
    box = Box((0.0,) * count, (high, *[1.0] * (count - 1)))
    every = replace(study.holdings[0], box=box, inside=78, checked=16, checked_held=15)
    page = study_page(replace(study, holdings=[every, *study.holdings[1:]]), "command", "chart.svg")
    assert told in " ".join(page.split())


def test_what_has_a_source_or_no_keys_is_not_varied(study: Study) -> None:
    assert [factor.name for factor in study.factors] == ["cable", "switch", "buffer"]
    assert [name for name, _ in study.left] == ["weather"]


def test_the_same_seed_gives_the_same_page(study: Study, tmp_path: Path) -> None:
    again = studied(tmp_path / "out", figures=["load.mean"])
    assert study_page(again, "x", "y") == study_page(study, "x", "y")
    assert tornado(again) == tornado(study)
    assert json.dumps(study_data(study)).count('"factor": "cable"') == 9


def test_the_plot_is_whole(study: Study) -> None:
    drawing = ET.fromstring(tornado(study))
    texts = ["".join(text.itertext()) for text in drawing.iter("{http://www.w3.org/2000/svg}text")]
    assert {"load.mean, own", "load.mean, fixed", "load: fixed better than own"} <= set(texts)
    assert all(
        float(box.get("width", "0")) >= 0
        for box in drawing.iter("{http://www.w3.org/2000/svg}rect")
    )


def test_the_command_writes_the_page_and_its_plot(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    words = (
        "sensitivity",
        str(SCENARIO),
        "--assumptions",
        "--trajectories",
        "2",
        "--samples",
        "0",
        "--checks",
        "0",
        "--figure",
        "load.mean",
        "--out",
        str(tmp_path / "out"),
        "--page",
        str(page),
    )
    done = tailrace(*words)
    assert done.returncode == 0, done.stderr
    assert "cable (" in done.stdout
    assert "(page.svg)" in page.read_text()
    assert (tmp_path / "page.svg").is_file()
    assert (
        json.loads((tmp_path / "out" / "sensitivity.json").read_text())["not_varied"][0]["name"]
        == "weather"
    )


REFUSED = [
    ((), "--assumptions is needed"),
    (("--assumptions", "--figure", "lod.mean"), "no workload 'lod' (hint: did you mean 'load'?)"),
    (("--assumptions", "--figure", "load.maen"), "no metric 'maen' (hint: did you mean 'mean'?)"),
    (("--assumptions", "--figure", "load.mean < 5ms"), "a figure has no bound"),
    (("--assumptions", "--arm", "owm"), "no arm 'owm' (hint: did you mean 'own'?)"),
    (("--assumptions", "--samples", "12"), "--samples 12 must be a power of two"),
    (("--assumptions", "--trajectories", "1000000"), "the limit is 100000 trials"),
    (("--vary", "network.link.delay=5us..1us"), "5us is above 1us"),
    (("--vary", "network.link.dely=1us..5us"), "unknown key (hint: did you mean 'delay'?)"),
    (("--vary", "network.link.delay=1MB..5MB"), "'MB' is not a unit of time"),
    (
        ("--vary", "network.link.delay=1us..5us", "--vary", "network.link.delay=1us,2us"),
        "network.link.delay: it is varied twice",
    ),
    (("--assumptions", "--page", "/no/such/page.md"), "there is no folder /no/such"),
]


@pytest.mark.parametrize(("words", "told"), REFUSED, ids=[told[:30] for _, told in REFUSED])
def test_what_is_wrong_is_said_before_anything_runs(
    tmp_path: Path, words: tuple[str, ...], told: str
) -> None:
    done = tailrace("sensitivity", str(SCENARIO), *words, "--out", str(tmp_path / "out"))
    assert done.returncode == 2
    assert told in " ".join(done.stderr.split())
    assert not (tmp_path / "out").exists()


def test_without_the_package_the_remedy_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "SALib", None)
    with pytest.raises(RunRefusedError, match=r"pip install 'tailrace\[sensitivity\]'"):
        studied(tmp_path / "out")


@pytest.mark.parametrize(
    ("vary", "told"),
    [
        ({"keys": ["network.link.delay"], "range": "5us..1us"}, "5us is above 1us"),
        (
            {"keys": ["network.link.delay"], "range": "1us..5us", "values": ["1us", "2us"]},
            "2 of range, times",
        ),
        ({"range": "1us..5us"}, "keys are missing"),
        ({"keys": ["network.link.delay"], "values": ["1us"]}, "fewer than two values"),
        ({"keys": ["network.link.delay"], "times": "1us..5us"}, "are no factors"),
        ({"keys": ["network.link.delay"], "forms": ["1us", "2us"]}, "a form has no {}"),
        (
            {"keys": ["network.link.delay"], "values": ["1us", "2us"], "names": ["one"]},
            "1 names for 2 values",
        ),
        (
            {"keys": ["network.link.delay"], "values": ["1us", "1000ns"]},
            "1us is the same as 1000ns",
        ),
    ],
)
def test_what_is_wrong_with_a_variation_is_said_by_check(
    vary: dict[str, object], told: str
) -> None:
    part = {"name": "cable", "value": "500 ns", "mark": "assumed", "vary": vary}
    with pytest.raises(ScenarioError) as refused:
        load_scenario(SCENARIO, {"assumptions": [part]})
    assert told in str(refused.value)


def test_cores_that_an_end_of_a_range_cannot_have_are_refused_before_any_trial(
    tmp_path: Path,
) -> None:
    scenario = tmp_path / "lab.yaml"
    scenario.write_text(
        "tailrace: 1\nname: lab\nnetwork:\n"
        "  topology: {kind: leaf-spine, leaves: 2, spines: 1, hosts_per_leaf: 1}\n"
        "  link: {rate: 10Gbit/s, delay: 1us}\n"
        "workloads: {web: {kind: flows, sizes: web-search, load: 10%}}\n"
        "experiment: {duration: 1ms, trials: 1}\n",
        encoding="utf-8",
    )
    wanted = SensitivityOptions(
        assumptions=False,
        vary=["network.link.delay=0s..5us"],
        out=tmp_path / "out",
        execution=ExecutionOptions(cores="2"),
    )
    loaded = load_scenario(scenario)
    with pytest.raises(ScenarioError, match="--cores 2: "):
        Studying(loaded, wanted, Silent())
    assert not (tmp_path / "out").exists()
    Studying(loaded, replace(wanted, vary=["network.link.delay=1us..5us"]), Silent())


def test_a_study_hands_on_the_cores_of_its_trials(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match="--cores 2: "):  # one switch has nothing to divide
        studied(tmp_path / "out", figures=["load.mean"], execution=ExecutionOptions(cores="2"))


def test_assumptions_may_share_a_key_and_options_may_not(tmp_path: Path) -> None:
    shared = [
        {
            "name": name,
            "value": "500 ns",
            "mark": "assumed",
            "vary": {"keys": ["network.link.delay"], "range": ends},
        }
        for name, ends in (("cable", "100ns..5us"), ("plug", "400ns..600ns"))
    ]
    found = Studying(
        load_scenario(SCENARIO, {"assumptions": shared}),
        SensitivityOptions(assumptions=True, out=tmp_path / "out"),
        Silent(),
    )
    assert [factor.name for factor in found.factors] == ["cable", "plug"]
    with pytest.raises(ScenarioError, match="it is varied twice"):
        studied(
            tmp_path / "out", vary=["network.link.delay=1us..5us", "network.link.delay=1us,2us"]
        )


def test_figures_that_are_lower_bounds_are_told(tmp_path: Path) -> None:
    scenario = tmp_path / "lab.yaml"
    scenario.write_text(
        "tailrace: 1\nname: lab\nnetwork:\n  topology: {kind: star, hosts: [web, db]}\n  link: "
        "{rate: 100Mbit/s}\n"
        "workloads:\n  shop: {kind: oltp, client: web, server: db, users: 8, gap: 1ms,\n"
        "         round_trips: [{response: 300kB}]}\n"
        "arms: {slow: {}}\nexperiment: {duration: 200ms, trials: 1}\n",
        encoding="utf-8",
    )
    wanted = SensitivityOptions(
        assumptions=False,
        vary=["network.link.delay=1us..5us"],
        figures=["shop.p99", "shop.mean"],
        trajectories=0,
        samples=0,
        checks=0,
        out=tmp_path / "out",
    )
    found = Studying(load_scenario(scenario), wanted, Silent()).run()
    bounded = {one["metric"]: one["points_with_bounds"] for one in study_data(found)["figures"]}
    assert bounded["latency_p99_ms"] == found.runs + 1, "and the present"
    words = "shop.p99, slow is a lower bound at"
    assert words in " ".join(study_page(found, "command", "chart.svg").split())
    assert words in " ".join(study_text(found).split())
