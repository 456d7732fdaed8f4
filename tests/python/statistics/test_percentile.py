"""Percentiles of all trials together: against every latency tried one by one, and how often
intervals cover."""

import math
import random
from typing import Any

import numpy
import pytest
import scipy.stats

from drawn_trials import MS, drawn, trial
from tailrace.statistics import Histogram, Interval, Latencies, TrialsNeeded, percentile_interval
from tailrace.statistics.percentile import BEYOND_MIN, mean_latency_interval, percentile_low
from tailrace.statistics.student import TAIL, student_p_value, student_quantile

ORACLE: Any = scipy.stats


def known(found: Interval | TrialsNeeded | None) -> Interval:
    assert isinstance(found, Interval)
    return found


@pytest.mark.parametrize("freedom", [1, 2, 3, 5, 9, 11, 38, 200, 5000])
def test_p_values_and_quantiles_of_student_are_those_of_scipy(freedom: int) -> None:
    for t in (0.0, 1e-6, 0.1, -1.0, 2.3, 5.0, -20.0, 1000.0):
        assert student_p_value(t, freedom) == pytest.approx(
            2 * ORACLE.t.sf(abs(t), freedom), rel=1e-6
        )
    for level in (0.9, 0.95, 0.999):
        assert student_quantile(freedom, level) == pytest.approx(
            ORACLE.t.isf(TAIL * (1 - level) / 2, freedom)
        )


@pytest.mark.parametrize("percent", [50, 75, 90])
@pytest.mark.parametrize("trials", [3, 6, 10])
def test_the_interval_holds_every_latency_that_shares_do_not_contradict(
    percent: float, trials: int
) -> None:
    latencies = drawn(random.Random(trials), trials, 700)
    edges = latencies.pooled.edges_ps
    beyond = numpy.array(
        [[one.count - one.ended_by(edge) for one in latencies.trials] for edge in edges]
    )
    scores = beyond - (1 - percent / 100) * 700
    with numpy.errstate(divide="ignore"):
        t = scores.mean(axis=1) / (scores.std(axis=1, ddof=1) / math.sqrt(trials))
    limit = ORACLE.t.ppf(0.96, trials - 1)
    found = known(percentile_interval(latencies, percent))
    low, high = (edges.index(round(end * MS)) for end in (found.low, found.high))
    # Of three trials t may cross the limit more than once.
    assert t[low] > limit >= t[low + 1]
    assert t[high - 1] >= -limit > t[high]
    assert low < latencies.pooled.position(percent) <= high


@pytest.mark.parametrize(("percent", "transactions"), [(50, 60), (90, 700)])
@pytest.mark.parametrize("trials", [3, 6])
def test_intervals_cover_although_transactions_of_a_trial_are_alike(
    percent: float, transactions: int, trials: int
) -> None:
    repeats = 150
    rng, spread = numpy.random.default_rng([trials, transactions]), 0.3
    scales = numpy.exp(rng.normal(0, spread, 4000))
    at = numpy.linspace(0.01, 20, 4000)
    shares = numpy.array([numpy.mean(numpy.exp(-q / scales)) for q in at])
    truth = float(at[numpy.searchsorted(-shares, -(1 - percent / 100))])
    covered = 0
    for _ in range(repeats):
        scale = numpy.exp(rng.normal(0, spread, trials))
        values = (
            numpy.round(rng.exponential(size=(trials, transactions)) * scale[:, None], 2) + 0.01
        )
        found = percentile_interval(Latencies([trial(list(row)) for row in values]), percent)
        covered += known(found).low <= truth <= known(found).high
    error = math.sqrt(0.85 * 0.15 / repeats)
    assert covered / repeats >= 0.85 - 3 * error


def test_a_gap_at_the_percentile_is_covered() -> None:
    """One in a hundred waits for a timer: the 99th percentile is 1 or 200 ms by luck, and the
    interval says so."""
    rng = random.Random(1)
    latencies = Latencies(
        [
            trial([200.0 if rng.random() < 0.01 else 1 + rng.random() for _ in range(4000)])
            for _ in range(6)
        ]
    )
    found = known(percentile_interval(latencies, 99))
    assert found.low < 3 < 199 < found.high


@pytest.mark.parametrize("trials", [3, 6, 12])
def test_what_cannot_cover_says_how_many_trials_it_takes(trials: int) -> None:
    latencies = drawn(random.Random(2), trials, 1600)
    needed = percentile_interval(latencies, 99)
    assert needed == TrialsNeeded(math.ceil(BEYOND_MIN / 16))
    enough = drawn(random.Random(2), 13, 1600)
    assert isinstance(percentile_interval(enough, 99), Interval)
    assert isinstance(percentile_interval(latencies, 50), Interval)


def test_two_trials_have_no_interval() -> None:
    latencies = drawn(random.Random(3), 2, 30_000)
    assert [percentile_interval(latencies, percent) for percent in (50, 99)] == [
        TrialsNeeded(3),
        TrialsNeeded(3),
    ]
    assert mean_latency_interval(latencies) == TrialsNeeded(3)


def test_a_lower_bound_has_no_interval() -> None:
    latencies = Latencies([trial([1.0] * 500, [2.0] * 500) for _ in range(4)])
    assert latencies.pooled.percentile_ms(90).is_bound
    assert percentile_interval(latencies, 90) is None
    assert percentile_interval(latencies, 99.9) is None, "more such trials would not help"
    assert mean_latency_interval(latencies) is None


@pytest.mark.parametrize("cut", [0, 40])
def test_chances_of_what_was_cut_off_add_up(cut: int) -> None:
    """Efron 1967: what is redistributed is the estimate of Kaplan and Meier."""
    latencies = drawn(random.Random(4), 5, 300, cut=cut)
    for latency in (0.1 * MS, 0.7 * MS, 2 * MS):
        expected = latencies.pooled.values * latencies.pooled.surviving(latency)
        assert math.fsum(latencies.scores(latency, 100)) == pytest.approx(expected)


@pytest.mark.parametrize("cut", [0, 40])
def test_figures_without_a_trial_are_those_of_the_others(cut: int) -> None:
    latencies = drawn(random.Random(5), 5, 400, cut=cut)
    others = [
        Histogram.together([*latencies.trials[:at], *latencies.trials[at + 1 :]]) for at in range(5)
    ]
    for percent in (50, 90, 99):
        assert latencies.percentiles_without(percent) == [
            one.percentile_ps(percent) for one in others
        ]


@pytest.mark.parametrize(
    ("percent", "without_ms"), [(50, [4, 2, 2]), (75, [5, 5, 3]), (90, [None, None, 4])]
)
def test_percentiles_without_a_trial_by_hand(percent: float, without_ms: list[int | None]) -> None:
    latencies = Latencies([trial([1, 2]), trial([3, 4]), trial([5], [9])])
    expected = [None if ms is None else ms * MS for ms in without_ms]
    assert latencies.percentiles_without(percent) == expected, (
        "of 3 4 5 9+, of 1 2 5 9+, and of 1 2 3 4"
    )


@pytest.mark.parametrize(
    ("percent", "without_ms"), [(50, [4, 2, 2]), (75, [5, 5, 3]), (76, [6, 6, 4])]
)
def test_percentiles_without_a_trial_by_hand_where_all_ended(
    percent: float, without_ms: list[int]
) -> None:
    latencies = Latencies([trial([1, 2]), trial([3, 4]), trial([5, 6])])
    assert latencies.percentiles_without(percent) == [ms * MS for ms in without_ms]


def test_scores_by_hand() -> None:
    """5/8 of all survive 2 ms, and 5/24 survive 4 ms: a third of those that were cut off at 2 ms
    count as beyond."""
    latencies = Latencies([trial([1, 2, 3, 4]), trial([1, 5], [2, 2])])
    assert latencies.scores(4 * MS, 75) == pytest.approx([0 - 1, 1 + 2 / 3 - 1])
    assert latencies.scores(2 * MS, 75) == pytest.approx([2 - 1, 1 + 2 - 1]), (
        "what was cut off then is beyond"
    )


def test_an_interval_ends_with_the_longest_wait_where_no_latency_is_certainly_longer() -> None:
    """It was cut off, beyond all that ended."""
    found = known(
        percentile_interval(Latencies([trial([1] * 10), trial([1] * 10), trial([1], [50] * 9)]), 50)
    )
    assert (found.low, found.high) == (1, 50)


def test_the_interval_of_the_mean_is_that_of_the_trials_where_they_are_alike() -> None:
    latencies = Latencies([trial([mean] * 10) for mean in (1.0, 1.1, 1.2, 1.05)])
    found = known(mean_latency_interval(latencies))
    error = ORACLE.sem([1.0, 1.1, 1.2, 1.05]) / 1.0875
    assert math.log(found.high / found.low) == pytest.approx(
        2 * ORACLE.t.ppf(0.96, 3) * error, rel=0.02
    )


@pytest.mark.parametrize("percent", [90, 95, 99, 99.9])
def test_the_estimate_is_inside(percent: float) -> None:
    for seed in range(10):
        latencies = drawn(random.Random(seed), 3, 2500, spread=1.5)
        found = percentile_interval(latencies, percent)
        if isinstance(found, Interval):
            assert (
                0 < found.low <= latencies.pooled.percentile_ms(percent).ms <= found.high < math.inf
            )


@pytest.mark.parametrize("odd", [6.0, 0.2])
def test_beyond_the_ninetieth_percentile_the_larger_of_two_errors_widens_the_interval(
    odd: float,
) -> None:
    """That of the jackknife where one trial has the tail, that of sectioning where one has none."""
    rng = random.Random(5)
    trials = [
        trial([scale * (1 + rng.expovariate(1)) for _ in range(4000)])
        for scale in (1, 1, 1, 1, 1, odd)
    ]
    latencies = Latencies(trials)
    own = [math.log(one.percentile_ms(99).ms) for one in trials]
    pooled = latencies.pooled.percentile_ms(99).ms
    without = [
        math.log(Latencies(trials[:at] + trials[at + 1 :]).pooled.percentile_ms(99).ms)
        for at in range(len(trials))
    ]
    jackknife = math.sqrt(5 / 6 * sum((one - numpy.mean(without)) ** 2 for one in without))
    sectioning = math.sqrt(sum((one - math.log(pooled)) ** 2 for one in own) / 5 / 6)
    assert (jackknife > 1.5 * sectioning, sectioning > 1.5 * jackknife) == (odd > 1, odd < 1)
    reach = math.exp(ORACLE.t.ppf(0.96, 5) * max(jackknife, sectioning))
    found = known(percentile_interval(latencies, 99))
    assert found.low == pytest.approx(pooled / reach, rel=1e-3)
    assert found.high == pytest.approx(min(pooled * reach, 2 * latencies.longest_ps / MS), rel=1e-3)


def test_a_surer_lower_end_is_lower() -> None:
    latencies = drawn(random.Random(3), 6, 3000)
    ends = [percentile_low(latencies, 99, level) for level in (0.5, 0.9, 0.999)]
    assert ends[0] > ends[1] > ends[2]
