"""Acceptance bands: how they are written, and what lies inside."""

import re
from pathlib import Path
from typing import Any

import pytest

from fake_run import FakeRun, cut_off_in_the_last
from tailrace.results import Run, RunDirectoryError
from tailrace.results.compare.effects import compare_arms
from tailrace.results.compare.judge import judge
from tailrace.results.directory.published import Band, read_published
from tailrace.results.summary.expectation import JudgedFigure
from tailrace.results.text.run import figure_text, verdict_text
from tailrace.statistics import mean

ROOT = Path(__file__).parents[3]
DPP = {"metric": "completion_s", "arm": "dpp", "workload": "XS"}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return Run.read(FakeRun(trials=4).write(tmp_path_factory.mktemp("run") / "run"))


def judged(run: Run, **raw: Any) -> JudgedFigure:
    return judge(run, Band.parse(raw, "test"))


def test_the_published_figures_are_those_of_the_papers_tables() -> None:
    bands = read_published(ROOT / "reproductions" / "cisco-dpp" / "published.yaml")
    values = {(b.metric, b.arm, b.workload): b.value for b in bands}
    mixed = {
        name: (values["completion_s", "fifo", name], values["completion_s", "dpp", name])
        for name in ["XS", "S", "M"]
    }
    assert mixed == {"XS": (572, 390), "S": (585, 396), "M": (672, 479)}
    for name in ("XS", "S", "M", "L1", "L2"):
        assert values["completion_s", f"solo:{name}", name] == 300
        slow, fast = values["completion_s", "fifo", name], values["completion_s", "dpp", name]
        assert slow is not None
        assert fast is not None
        assert values["acceleration_percent", "dpp", name] == pytest.approx(
            (1 - fast / slow) * 100, abs=0.05
        )


def test_the_published_figures_say_what_they_can_prove() -> None:
    bands = read_published(ROOT / "reproductions" / "cisco-dpp" / "published.yaml")
    kinds = {(b.metric, b.arm, b.workload): b.kind for b in bands}
    independent = {
        ("completion_s", arm, name) for arm in ("fifo", "dpp") for name in ("XS", "S", "M")
    }
    assert {figure for figure, kind in kinds.items() if kind == "independent"} == independent
    assert {
        kinds["completion_s", f"solo:{name}", name] for name in ("XS", "S", "M", "L1", "L2")
    } == {"fitted"}
    assert {kinds["acceleration_percent", "dpp", name] for name in ("XS", "S", "M")} == {"derived"}
    assert {kind for (_, _, name), kind in kinds.items() if name in ("L1", "L2")} == {
        "fitted",
        "bound",
    }


def test_the_bands_of_speed_ups_tell_a_working_mechanism_from_a_dead_one() -> None:
    bands = read_published(ROOT / "reproductions" / "cisco-dpp" / "published.yaml")
    speed_ups = [band for band in bands if band.metric == "acceleration_percent"]
    assert {band.workload for band in speed_ups if not band.holds(0)} == {"XS", "S", "M"}
    assert {band.kind for band in speed_ups if band.holds(0)} == {"bound"}


@pytest.mark.parametrize("kind", ["independent", "derived"])
def test_a_band_that_a_dead_mechanism_holds_is_refused(kind: str) -> None:
    raw = {"metric": "acceleration_percent", "value": 0.8, "tolerance_points": 5}
    with pytest.raises(
        RunDirectoryError,
        match=rf"kind {kind}, but the band -4.2 to 5.8 contains 0.*hint.*kind: bound",
    ):
        Band.parse(raw | {"kind": kind}, "published.yaml: figures.3")
    assert Band.parse(raw | {"kind": "bound"}, "test").kind == "bound"
    assert Band.parse(raw, "test").kind == "independent", (
        "files from before there were kinds stay readable"
    )


def test_what_a_dead_mechanism_would_score_is_judged_beside_each_figure(run: Run) -> None:
    assert judged(run, **DPP, value=390, tolerance="10%").passed_without is False
    assert judged(run, **DPP, value=480, tolerance="30%").passed_without is True
    fifo = judged(run, **(DPP | {"arm": "fifo"}), value=572, tolerance="10%")
    assert (fifo.passed, fifo.passed_without) == (True, True)
    speed_up = {
        "metric": "acceleration_percent",
        "arm": "dpp",
        "baseline": "fifo",
        "workload": "XS",
    }
    assert judged(run, **speed_up, value=31.8, tolerance_points=5).passed_without is False
    assert judged(run, **speed_up, value=1, tolerance_points=5).passed_without is True


def test_a_relative_tolerance_is_inclusive(run: Run) -> None:
    band = Band.parse(DPP | {"value": 100, "tolerance": "10%"}, "test")
    assert (band.low, band.high) == (90, 110)
    assert band.holds(90)
    assert band.holds(110)
    assert not band.holds(110.001)
    assert not band.holds(89.999)


def test_a_tolerance_in_points_is_absolute() -> None:
    band = Band.parse(
        {"metric": "acceleration_percent", "value": 31.8, "tolerance_points": 5}, "test"
    )
    assert [band.low, band.high] == pytest.approx([26.8, 36.8])
    assert band.tolerance == "±5 points"


def test_bounds_may_be_open(run: Run) -> None:
    assert judged(run, **DPP, at_most=400).passed
    assert not judged(run, **DPP, at_least=400).passed
    assert judged(run, **DPP, at_least=380, at_most=400).tolerance == "at least 380, at most 400"


def test_completion_is_compared_at_full_scale_and_says_so(run: Run) -> None:
    result = judged(run, **DPP, value=390, tolerance="3%")
    assert result.passed
    assert result.multiplied_by == pytest.approx(41_805 / 2_090)
    assert result.measured is not None
    assert result.measured * result.multiplied_by == result.value


def test_acceleration_is_that_of_the_means(run: Run) -> None:
    result = judged(
        run,
        metric="acceleration_percent",
        arm="dpp",
        baseline="fifo",
        workload="XS",
        value=31.8,
        tolerance_points=2,
    )
    means = [
        mean([t.workloads["XS"].completion_ps or 0 for t in run.valid(arm)])
        for arm in ("fifo", "dpp")
    ]
    assert result.value == pytest.approx((1 - means[1] / means[0]) * 100)
    assert result.multiplied_by == 1


@pytest.mark.parametrize(
    ("metric", "of"),
    [
        ("rate_ratio", "rate_per_s"),
        ("goodput_ratio", "goodput_gbps"),
        ("latency_ratio", "latency_mean_ms"),
        ("latency_p99_ratio", "latency_p99_ms"),
    ],
)
def test_a_ratio_is_that_of_the_comparison_in_the_same_run(run: Run, metric: str, of: str) -> None:
    [effect] = [
        e for e in compare_arms(run, "fifo") if (e.arm, e.workload, e.metric) == ("dpp", "XS", of)
    ]
    assert effect.is_paired
    found = judged(run, metric=metric, arm="dpp", workload="XS", at_least=0.1)
    assert (found.value, found.interval) == (effect.ratio, effect.ratio_interval)
    assert found.trials == 4


def test_an_acceleration_is_that_of_the_comparison_in_the_same_run(run: Run) -> None:
    [effect] = [
        e for e in compare_arms(run, "fifo") if (e.workload, e.metric) == ("XS", "completion_s")
    ]
    found = judged(run, metric="acceleration_percent", arm="dpp", workload="XS", at_least=1)
    assert found.value == pytest.approx(effect.improvement_percent)
    assert found.interval
    assert effect.improvement_interval
    ends = effect.improvement_interval.low, effect.improvement_interval.high
    assert (found.interval.low, found.interval.high) == pytest.approx(ends)


def test_a_ratio_of_lower_bounds_is_open_where_larger_ones_would_not_pass(tmp_path: Path) -> None:
    run = cut_off_in_the_last(tmp_path)
    ratio = {"metric": "latency_p99_ratio", "arm": "dpp", "baseline": "fifo", "workload": "XS"}
    [effect] = [
        e for e in compare_arms(run, "fifo") if (e.workload, e.metric) == ("XS", "latency_p99_ms")
    ]
    assert any(effect.bounds)
    found = judged(run, **ratio, at_least=0.0001)
    assert (found.value, found.is_bound, found.interval) == (effect.ratio, True, None)
    assert (found.holds, found.passed) == (True, not effect.bounds[0])


def test_bounds_of_a_goal_have_three_ends(run: Run) -> None:
    centre = judged(run, **DPP, at_least=0)
    value, interval = centre.value, centre.interval
    assert value is not None
    assert interval is not None
    assert interval.low < value < interval.high
    assert (interval.low, interval.high) == pytest.approx((value, value), rel=0.02)
    told = {}
    for where, edge in {
        "inside": interval.high + 1,
        "outside": interval.low - 1,
        "edge": value,
    }.items():
        found = judged(run, **DPP, at_most=edge * 1.0001)
        told[where] = found.end, found.passed, found.is_clear, verdict_text(found)
    assert told["inside"] == ("meets", True, True, "pass")
    assert told["outside"] == ("misses", False, True, "FAIL")
    assert told["edge"][:3] == ("undecided", False, False)
    assert re.fullmatch(
        r"FAIL: undecided \(takes (about \d+|more than 1000) trials.*\)", told["edge"][3]
    )
    floor = judged(run, **DPP, at_least=interval.low - 1, at_most=value)
    assert (floor.end, floor.holds) == ("undecided", True)
    assert judged(run, **DPP, at_least=interval.high + 1, at_most=1000).end == "misses"


def test_a_verdict_says_when_the_interval_reaches_over_the_edge(run: Run) -> None:
    centre = judged(run, metric="retransmits", arm="fifo", workload="XS", at_least=0)
    value, interval = centre.value, centre.interval
    assert value is not None
    assert interval is not None
    assert interval.low < value < interval.high

    def verdict(at_most: float) -> tuple[bool | None, bool | None, str]:
        found = judged(run, metric="retransmits", arm="fifo", workload="XS", at_most=at_most)
        assert found.end is None, "it is no metric of a goal"
        return found.passed, found.is_clear, verdict_text(found)

    assert verdict(interval.high + 1) == (True, True, "pass")
    assert verdict((value + interval.high) / 2) == (True, False, "just pass")
    assert verdict((value + interval.low) / 2) == (False, False, "just FAIL")
    assert verdict(interval.low - 1) == (False, True, "FAIL")


@pytest.mark.parametrize(
    ("metric", "place", "low", "high"),
    [
        ("slowdown", {"workload": "XS"}, 1.85, 1.95),
        ("goodput_gbps", {"workload": "L1"}, 3.5, 4.5),
        ("latency_p99_ms", {"workload": "XS"}, 5, 20),
        ("latency_mean_ms", {"workload": "XS"}, 2, 10),
        ("transactions", {"workload": "L2"}, 4_800, 4_800),
        ("retransmits", {"workload": "XS"}, 1, 10_000),
        ("fairness_jain", {}, 0.2, 1),
        ("users_jain", {"workload": "XS"}, 0.99, 1),
        ("drops_frames", {"port": "leaf1>client", "queue": "default"}, 40_000, 60_000),
        ("drops_frames", {"port": "leaf1>nobody"}, 0, 0),
        ("marked_frames", {}, 0, 0),
        ("queue_depth_max_bytes", {"port": "leaf1>client"}, 4_666_000, 4_666_000),
        ("queue_depth_mean_bytes", {}, 4_190_000, 4_190_000),
    ],
)
def test_every_metric_can_be_expected(
    run: Run, metric: str, place: dict[str, str], low: float, high: float
) -> None:
    result = judged(run, metric=metric, arm="fifo", at_least=low, at_most=high, **place)
    assert result.passed, result.value


def test_the_baseline_is_meant_where_no_arm_is_named(run: Run) -> None:
    named = judged(run, metric="completion_s", arm="fifo", workload="XS", at_least=0)
    assert judged(run, metric="completion_s", workload="XS", at_least=0).value == named.value


def test_a_median_can_be_asked_for(run: Run) -> None:
    values = sorted(t.workloads["XS"].completion_ps or 0 for t in run.valid("dpp"))
    result = judged(run, **DPP, value=390, tolerance="5%", statistic="median")
    assert result.measured == pytest.approx((values[1] + values[2]) / 2e12)


@pytest.mark.parametrize(
    ("raw", "what"),
    [
        ({"metric": "completion_s", "value": 3, "tolerence": "1%"}, "unknown key tolerence"),
        ({"value": 3, "tolerance": "1%"}, "metric is missing"),
        ("XS", "'XS' is not a mapping"),
        ({"metric": "completion_s"}, "needs value and tolerance"),
        ({"metric": "completion_s", "value": 3}, "needs a unit"),
        ({"metric": "completion_s", "value": 3, "tolerance": 0.1}, "tolerance '0.1' needs a unit"),
        (
            {"metric": "completion_s", "value": 3, "tolerance": "ten%"},
            "tolerance 'ten%' is not a percentage",
        ),
        (
            {"metric": "completion_s", "value": "fast", "tolerance": "1%"},
            "value must be a number, not 'fast'",
        ),
        ({"metric": "completion_s", "statistic": "mode", "at_most": 1}, "statistic 'mode'"),
        ({"metric": "completion_s", "kind": "fited", "at_most": 1}, "unknown kind 'fited'"),
        ({"metric": "completion_s", "kind": ["fitted"], "at_most": 1}, "unknown kind"),
    ],
)
def test_what_is_wrong_with_a_band_is_said(raw: Any, what: str) -> None:
    with pytest.raises(RunDirectoryError, match=rf"published\.yaml: figures\.3: .*{what}.*hint"):
        Band.parse(raw, "published.yaml: figures.3")


def test_an_unknown_metric_is_refused_with_those_that_there_are(run: Run) -> None:
    with pytest.raises(
        RunDirectoryError, match=r"unknown metric speed in an expectation \(hint: completion_s"
    ):
        judged(run, metric="speed", workload="XS", at_least=1)


@pytest.mark.parametrize("text", ["figures: 3", "- a\n- [", "hello"])
def test_a_file_without_figures_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "published.yaml"
    path.write_text(text)
    with pytest.raises(RunDirectoryError, match=r"published\.yaml"):
        read_published(path)


def test_a_lower_bound_passes_only_where_a_larger_figure_would(tmp_path: Path) -> None:
    run = cut_off_in_the_last(tmp_path)
    p99 = {"metric": "latency_p99_ms", "arm": "fifo", "workload": "XS", "value": 10}
    value = judged(run, **p99, tolerance="10%").value
    assert value is not None

    def verdict(**band: Any) -> tuple[bool | None, bool, str]:
        found = judged(run, **p99 | band)
        assert (found.is_bound, figure_text(found, found.value)[:2]) == (True, "> ")
        assert (found.interval, found.is_clear) == (None, None)
        return found.passed, found.is_open, verdict_text(found)

    assert verdict(value=value, tolerance="100%") == (False, True, "FAIL: a lower bound")
    assert verdict(value=value / 4, tolerance="10%")[:2] == (False, False)


def test_a_goal_is_about_what_was_cut_off_too(tmp_path: Path) -> None:
    run, p99 = (
        cut_off_in_the_last(tmp_path),
        {"metric": "latency_p99_ms", "arm": "fifo", "workload": "XS"},
    )
    value = judged(run, **p99, at_least=0).value
    assert value is not None
    assert judged(run, **p99, at_most=value / 20).end == "misses"
    assert judged(run, **p99, at_least=value / 20).end == "meets"
    above = judged(run, **p99, at_most=20 * value)
    assert verdict_text(above) == "FAIL: undecided (takes a longer experiment.duration)"


def test_one_trial_is_judged_by_its_value(tmp_path: Path) -> None:
    run = Run.read(FakeRun(trials=1).write(tmp_path / "run"))
    found = judged(run, **DPP, at_most=400)
    assert (found.passed, found.end, found.interval) == (True, None, None)
