"""The page judges as the command does: its statistics are those of `tailrace.statistics`, from the
same outcomes."""

import json
import random
from collections.abc import Sequence
from typing import Any

import pytest

from drawn_trials import measured
from simulator_module import Page
from tailrace.outcome.types import Workload
from tailrace.statistics import (
    Histogram,
    Interval,
    Latencies,
    TrialsNeeded,
    holm_adjusted,
    logs_or_values,
    mean_change,
    mean_log_interval,
    named_stream,
    percentile_change,
    percentile_interval,
    sign_flip_test,
)
from tailrace.statistics.change import joint_scores
from tailrace.statistics.student import student_p_value, student_quantile
from tailrace.statistics.verdict import student_test
from whole import part

PS_PER_MS = 10**9
LOOKS = (6, 8, 12)
P50, P99 = 50.0, 99.0


@pytest.fixture(scope="module")
def page() -> Page:
    return Page({})


def workloads(
    trials: int, transactions: int, *, seed: int, factor: float = 1.0, cut: int = 0
) -> list[dict[str, Any]]:
    """Of two arms of one seed the luck of a trial is the same but for a little."""
    own, shared = random.Random(f"{seed}/{factor}"), random.Random(seed)
    found = []
    for _ in range(trials):
        scale = factor * shared.lognormvariate(0, 0.2) * own.lognormvariate(0, 0.05)
        ended = [round(scale * own.expovariate(1), 2) + 0.01 for _ in range(transactions)]
        found.append(
            {"name": "shop", **measured(ended, [scale * own.expovariate(1) for _ in range(cut)])}
        )
    return found


def outcomes(listed: Sequence[dict[str, Any]]) -> str:
    return json.dumps([{"end_ps": 10**12, "workloads": [one]} for one in listed])


def latencies(listed: Sequence[dict[str, Any]]) -> Latencies:
    outcomes = [part(Workload, latency=one["latency"], cut_off=one["cut_off"]) for one in listed]
    found = [Histogram.from_workloads([own]) for own in outcomes]
    return Latencies([one for one in found if one])


def figure(page: Page, listed: Sequence[dict[str, Any]], metric: str) -> dict[str, Any]:
    row = f"{{workload: 'shop', metric: '{metric}'}}"
    told = (
        "(({value, interval, needed, isBound, count}) => ({value, "
        "interval, needed, isBound, count}))"
    )
    found: dict[str, Any] = page.eval(f"{told}(core.figure({outcomes(listed)}, {row}))")
    return found


@pytest.mark.parametrize("cut", [0, 9])
@pytest.mark.parametrize(("metric", "percent"), [("p50", P50), ("p99", P99)])
@pytest.mark.parametrize(("trials", "transactions"), [(2, 900), (3, 7000), (6, 900), (8, 2600)])
def test_figures_and_intervals(
    page: Page, trials: int, transactions: int, metric: str, percent: float, cut: int
) -> None:
    listed = workloads(trials, transactions, seed=trials, cut=cut)
    pooled = latencies(listed)
    shown, expected = figure(page, listed, metric), pooled.pooled.percentile_ms(percent)
    assert shown["count"] == trials
    assert (shown["value"] * 1000, shown["isBound"]) == (
        pytest.approx(expected.ms),
        expected.is_bound,
    )
    interval = percentile_interval(pooled, percent)
    if isinstance(interval, Interval):
        ends = [1000 * shown["interval"][end] for end in ("low", "high")]
        assert ends == pytest.approx([interval.low, interval.high], rel=1e-6)
    else:
        assert shown["interval"] is None
        assert shown["needed"] == (interval.trials if isinstance(interval, TrialsNeeded) else 0)


def test_a_percentile_among_what_was_cut_off_is_a_lower_bound(page: Page) -> None:
    listed = [{"name": "shop", **measured([1.0, 2.0, 3.0] * 500, [4.0] * 100)} for _ in range(6)]
    shown = figure(page, listed, "p99")
    assert (shown["isBound"], shown["interval"], shown["value"]) == (True, None, 0.004)
    assert page.eval(f"core.figureText({json.dumps(shown)}, 's')") == "> 4.00 ms"


@pytest.mark.parametrize(("metric", "percent"), [("p50", P50), ("p99", P99)])
@pytest.mark.parametrize("factor", [1.02, 1.5])
def test_changes_of_percentiles(page: Page, metric: str, percent: float, factor: float) -> None:
    first, second = (workloads(6, 3400, seed=5, factor=one, cut=4) for one in (1.0, factor))
    row = f"{{workload: 'shop', metric: '{metric}'}}"
    both = f"core.figure({outcomes(first)}, {row}), core.figure({outcomes(second)}, {row})"
    shown = page.eval(f"core.change({both})")
    expected = percentile_change(latencies(first), latencies(second), percent, is_paired=True)
    assert isinstance(expected.interval, Interval)
    assert shown["ratio"] == pytest.approx(expected.ratio)
    assert shown["interval"] == pytest.approx(
        {"low": expected.interval.low, "high": expected.interval.high}, rel=1e-4
    )
    assert shown["p"] == pytest.approx(expected.p_student, rel=1e-5)
    scores = joint_scores(latencies(first), latencies(second), percent)
    assert scores is not None
    flipped = sign_flip_test([y - x for x, y in zip(*scores, strict=True)], named_stream(1, "test"))
    assert page.eval(f"core.pOfLook({both}, 1)") == pytest.approx(
        max(flipped.p_value, expected.p_student)
    )


@pytest.mark.parametrize("factor", [1.02, 1.5])
def test_changes_of_percentiles_of_few_transactions(page: Page, factor: float) -> None:
    first, second = (workloads(6, 40, seed=5, factor=one) for one in (1.0, factor))
    both = ", ".join(
        f"core.figure({outcomes(own)}, {{workload: 'shop', metric: 'p99'}})"
        for own in (first, second)
    )
    expected = percentile_change(latencies(first), latencies(second), P99, is_paired=True)
    assert expected.interval is None
    assert page.eval(f"core.change({both}).p") == pytest.approx(expected.p_student, rel=1e-5)
    own = [
        [one.percentile_ms(P99).ms for one in latencies(each).trials] for each in (first, second)
    ]
    differences = [y - x for x, y in zip(*logs_or_values(*own), strict=True)]
    flipped = sign_flip_test(differences, named_stream(1, "test"))
    assert page.eval(f"core.pOfLook({both}, 1)") == pytest.approx(
        max(flipped.p_value, expected.p_student)
    )


def test_equal_percentiles_are_no_difference(page: Page) -> None:
    first, second = (
        [
            {
                "name": "shop",
                **measured([1.0] * 400 + [2.0] * (600 - slow - n) + [3.0] * (slow + n)),
            }
            for n in (0, 1, 0, 2, 0, 1)
        ]
        for slow in (200, 400)
    )
    both = ", ".join(
        f"core.figure({outcomes(own)}, {{workload: 'shop', metric: 'p50'}})"
        for own in (first, second)
    )
    expected = percentile_change(latencies(first), latencies(second), P50, is_paired=True)
    assert (page.eval(f"core.change({both}).p"), expected.p_student) == (1, 1.0)


def test_means_and_their_changes(page: Page) -> None:
    rng = random.Random(3)
    first, second = ([rng.lognormvariate(mu, 0.3) for _ in range(7)] for mu in (0.0, 0.4))
    interval, change = mean_log_interval(first), mean_change(first, second, is_paired=True)
    assert interval is not None
    assert change.interval is not None
    assert page.eval(f"statistics.logInterval({first})") == pytest.approx(
        {"low": interval.low, "high": interval.high}
    )
    shown = page.eval(f"statistics.meanChange({first}, {second})")
    assert (shown["ratio"], shown["p"]) == (
        pytest.approx(change.ratio),
        pytest.approx(change.p_student),
    )
    assert shown["interval"] == pytest.approx(
        {"low": change.interval.low, "high": change.interval.high}
    )


@pytest.mark.parametrize("trials", [3, 5, 6, 8])
def test_p_values(page: Page, trials: int) -> None:
    rng = random.Random(trials)
    first, second = ([rng.gauss(mu, 1.0) for _ in range(trials)] for mu in (0.0, 1.0))
    apart = [y - x for x, y in zip(first, second, strict=True)]
    shown = page.eval(f"statistics.pOfPairs({first}, {second}, 1000)")
    assert shown == pytest.approx(student_test(apart).p_value)
    equal = page.eval(f"statistics.pOfPairs({[1.0] * trials}, {[2.0] * trials}, 1000)")
    assert equal == pytest.approx(student_test([1.0] * trials).p_value)
    if trials >= 6:
        flipped = sign_flip_test(apart, named_stream(1, "test"))
        assert page.eval(f"statistics.pOfPairs({first}, {second}, 1)") == pytest.approx(
            flipped.p_value
        )
    p_values = [rng.random() * 0.1 for _ in range(trials)]
    assert page.eval(f"statistics.holm({p_values})") == pytest.approx(holm_adjusted(p_values))
    for t in (0.3, 2.0, 12.0):
        assert page.eval(f"statistics.pStudent({t}, {trials})") == pytest.approx(
            student_p_value(t, trials), rel=1e-6
        )
    assert page.eval(f"statistics.quantile({trials})") == pytest.approx(
        student_quantile(trials, 0.9)
    )


def test_nothing_is_told_apart_by_three_trials(page: Page) -> None:
    """A third more in each of three trials was green; in six of them it may be."""
    first, second = (workloads(12, 400, seed=9, factor=factor) for factor in (1.0, 1.33))
    row = "{workload: 'shop', metric: 'p50'}"

    def tone(trials: int) -> tuple[float, str]:
        found = f"core.pOf({outcomes(first[:trials])}, {outcomes(second[:trials])}, {row}, 1)"
        p = float(page.eval(found))
        one = f"{{p: {p}, change: {{ratio: 1.33}}, isMain: true, count: {trials}, tests: 1}}"
        return p, page.eval(f"core.toneOf({one}, {{lower: true}})")

    assert tone(3) == tone(5) == (1.0, "few")
    assert tone(12)[0] == pytest.approx(len(LOOKS) * 2 / 2**12, rel=0.5)
    assert tone(12)[1] == "worse"
    assert page.eval("statistics.LOOKS") == list(LOOKS)
