"""Ratios and differences of two samples of trials."""

import math
import random
from collections.abc import Callable, Sequence
from typing import Any

import pytest
import scipy.stats

from drawn_trials import MS, drawn, trial
from tailrace.programs.latency import cut_off_outcome, latency_outcome
from tailrace.statistics import (
    Histogram,
    Latencies,
    mean_change,
    mean_log_interval,
    percentile_change,
)
from tailrace.statistics.change import joint_scores, mean_latency_change

ORACLE: Any = scipy.stats
TRIALS = [572.1, 570.2, 575.3, 571.1, 569.9, 574.0]
OTHERS = [390.1, 391.2, 388.7, 392.0, 389.4, 390.6]
SHAPES: dict[str, Callable[[random.Random], float]] = {
    "normal": lambda rng: rng.gauss(10, 1),
    "exponential": lambda rng: rng.expovariate(1),
    "log-normal": lambda rng: rng.lognormvariate(0, 0.5),
}


def test_all_trials_8_to_94_times_as_long_are_a_ratio_that_holds_neither_zero_nor_one() -> None:
    baseline = [1.0, 1.2, 0.9, 1.1, 1.0, 1.05, 0.95, 1.3]
    other = [8.0, 94.0, 10.0, 12.0, 30.0, 9.0, 20.0, 15.0]
    for is_paired in (True, False):
        found = mean_change(baseline, other, is_paired=is_paired)
        assert found.interval
        assert found.ratio == pytest.approx(sum(other) / sum(baseline))
        assert 1 < found.interval.low < sum(other) / sum(baseline) < found.interval.high


@pytest.mark.parametrize("is_paired", [True, False])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("trials", [3, 6, 10])
def test_a_ratio_of_means_is_covered(shape: str, trials: int, is_paired: bool) -> None:
    rng, repeats = random.Random(7), 1500
    covered = 0
    for _ in range(repeats):
        baseline = [SHAPES[shape](rng) for _ in range(trials)]
        other = [SHAPES[shape](rng) / 2 for _ in range(trials)]
        found = mean_change(baseline, other, is_paired=is_paired).interval
        assert found
        assert found.low > 0
        covered += found.low <= 0.5 <= found.high
    assert covered / repeats >= 0.85


@pytest.mark.parametrize("is_paired", [True, False])
def test_a_difference_of_shares_is_that_of_student(is_paired: bool) -> None:
    first, second = [0.0, 1.0, 0.5, 0.2], [1.0, 2.0, 1.2, 1.9]
    found = mean_change(first, second, is_paired=is_paired, is_share=True)
    assert found.interval
    assert found.ratio is None
    assert found.second - found.first == pytest.approx(
        (found.interval.low + found.interval.high) / 2
    )
    if is_paired:
        theirs = ORACLE.ttest_rel(second, first)
        assert found.p_student == pytest.approx(theirs.pvalue)
        assert found.interval.high == pytest.approx(theirs.confidence_interval(0.92).high)
    else:
        theirs = ORACLE.ttest_ind(second, first, equal_var=False)
        assert found.p_student == pytest.approx(
            2 * ORACLE.t.sf(theirs.statistic, math.floor(theirs.df))
        )


def test_a_baseline_of_zero_has_a_difference() -> None:
    found = mean_change([0.0] * 4, [1.0, 2.0, 1.5, 1.0], is_paired=False)
    assert found.ratio is None
    assert found.interval
    assert found.interval.low > 0


def test_two_trials_have_no_interval_and_decide_nothing() -> None:
    found = mean_change([1.0, 1.1], [5.0, 5.1], is_paired=True)
    assert (found.interval, found.p_student) == (None, 1.0)


@pytest.mark.parametrize("is_paired", [True, False])
def test_the_interval_and_the_p_value_of_a_change_agree(is_paired: bool) -> None:
    """A p value of 8 % is the edge of the interval, whose quantile is that of 92 %."""
    rng = random.Random(8)
    for _ in range(300):
        factor = rng.choice((1.0, 1.5))
        first, second = (
            [rng.lognormvariate(0, 0.5) * by for _ in range(5)] for by in (1.0, factor)
        )
        found = mean_change(first, second, is_paired=is_paired)
        assert found.interval
        assert (found.p_student < 0.08) == (not found.interval.low <= 1 <= found.interval.high)


@pytest.mark.parametrize("is_paired", [True, False])
@pytest.mark.parametrize("percent", [50, 99])
def test_the_interval_and_the_p_value_of_a_percentile_agree(
    percent: float, is_paired: bool
) -> None:
    rng = random.Random(9)
    for number in range(4):
        first, second = drawn(rng, 4, 5200), drawn(rng, 4, 5200)
        found = percentile_change(first, second, percent, is_paired=is_paired)
        assert found.interval, number
        assert (found.p_student < 0.08) == (not found.interval.low <= 1 <= found.interval.high)
        assert found.interval.low <= found.second / found.first <= found.interval.high


@pytest.mark.parametrize("is_paired", [True, False])
def test_an_interval_beyond_what_an_exponential_can_be_is_finite_and_holds_no_zero(
    is_paired: bool,
) -> None:
    first, second = [1.0, 1.2, 0.9], [8.0, 94.0, 10.0]
    found = mean_change(first, second, is_paired=is_paired, level=1 - 1e-9).interval
    assert found
    assert 0 < found.low < 1e-300
    assert 1e300 < found.high < math.inf


@pytest.mark.parametrize("is_paired", [True, False])
@pytest.mark.parametrize("cut_ms", [2.0005, 9.0])
def test_a_common_percentile_in_the_bucket_of_the_longest_latency_is_known(
    cut_ms: float, is_paired: bool
) -> None:
    """Programs tell the longest latency as it was, and its bucket ends later: before or after what
    was cut off."""
    slow, fast = _told([1.0] * 6 + [2.0] * 12, [cut_ms] * 12), _told([1.0] * 10)
    assert 2 * MS == slow.pooled.max_ps < slow.pooled.edges_ps[-1]
    for first, second, ratio in ((slow, fast, 0.5), (fast, slow, 2.0)):
        found = percentile_change(first, second, 50, is_paired=is_paired)
        assert found.interval
        assert (found.interval.low, found.interval.high) == pytest.approx((ratio, ratio), rel=2e-3)
        assert found.p_student < 0.01


def _told(ended_ms: list[float], cut_ms: Sequence[float] = ()) -> Latencies:
    """Four equal trials of a program."""
    cut_off = [cut_off_outcome([round(ms * MS) for ms in cut_ms])] if cut_ms else []
    own = Histogram.from_outcomes([latency_outcome(round(ms * MS) for ms in ended_ms)], cut_off)
    assert own
    return Latencies([own] * 4)


def test_pairs_leave_common_luck_out() -> None:
    rng = random.Random(10)
    first, second = [], []
    for _ in range(6):
        scale = rng.lognormvariate(0, 0.3)
        values = [scale * rng.expovariate(1) for _ in range(5200)]
        first.append(trial(values))
        second.append(trial([value * 1.3 for value in values]))
    for percent in (50, 99):
        paired = percentile_change(Latencies(first), Latencies(second), percent, is_paired=True)
        apart = percentile_change(Latencies(first), Latencies(second), percent, is_paired=False)
        assert paired.interval
        assert apart.interval
        assert paired.interval.low == pytest.approx(1.3, rel=0.02)
        assert paired.interval.high == pytest.approx(1.3, rel=0.02)
        assert apart.interval.low < 1 < apart.interval.high
        assert apart.p_student > 0.08 > 0.05 > paired.p_student
    means = mean_latency_change(Latencies(first), Latencies(second), is_paired=True)
    assert means.interval
    assert (means.interval.low, means.interval.high) == pytest.approx((1.3, 1.3), rel=1e-3)


def test_scores_say_which_percentile_is_the_longer() -> None:
    rng = random.Random(11)
    for _ in range(20):
        first, second = drawn(rng, 4, 500, cut=5), drawn(rng, 5, 300)
        found = joint_scores(first, second, 90)
        assert found
        longer = second.pooled.percentile_ms(90).ms - first.pooled.percentile_ms(90).ms
        assert math.fsum(found[1]) * longer >= 0
        both = joint_scores(
            Latencies([*first.trials[2:], *second.trials]), Latencies(first.trials[:2]), 90
        )
        assert both
        assert both[0][2:] == pytest.approx(found[1]), "an exchange of trials moves no score"


def test_scores_are_those_of_the_trials_of_each_arm_in_their_order() -> None:
    first, second = (
        Latencies([trial([1, 1, 1, 1])]),
        Latencies([trial([3, 3, 3, 3]), trial([1, 1, 1, 3])]),
    )
    assert joint_scores(first, second, 50) == ([-2], [2, -1]), "beyond 1 ms, more than half of four"


def test_the_interval_of_a_ratio_of_means() -> None:
    found = mean_log_interval(TRIALS, below=[OTHERS])
    assert found
    assert found.low < sum(TRIALS) / sum(OTHERS) < found.high
    errors = [ORACLE.sem(own) / (sum(own) / 6) for own in (TRIALS, OTHERS)]
    alone = mean_log_interval(TRIALS)
    assert alone
    assert math.log(alone.high / alone.low) == pytest.approx(2 * ORACLE.t.ppf(0.96, 5) * errors[0])
    freedom = math.floor(
        ORACLE.ttest_ind(
            *([v / sum(own) for v in own] for own in (TRIALS, OTHERS)), equal_var=False
        ).df
    )
    assert math.log(found.high / found.low) == pytest.approx(
        2 * ORACLE.t.ppf(0.96, freedom) * math.hypot(*errors)
    )
    assert mean_log_interval([0.0, 0.0, 0.0]) is None
    assert mean_log_interval([1.0, 2.0]) is None


@pytest.mark.parametrize("transactions", [250, 6000])
@pytest.mark.parametrize("is_paired", [True, False])
def test_tails_that_are_far_apart_in_every_trial_are_a_difference(
    transactions: int, is_paired: bool
) -> None:
    """Fifty times as long in each of six trials, although those beyond the common percentile are
    mostly in two."""
    rng = random.Random(12)
    scales = (1.0, 1.0, 1.0, 1.0, 1.2, 1.5)
    first = Latencies(
        [trial([50 * s * (2 + rng.random()) for _ in range(transactions)]) for s in scales]
    )
    second = Latencies([trial([2 + rng.random() for _ in range(transactions)]) for _ in scales])
    found = percentile_change(first, second, 99, is_paired=is_paired)
    assert found.p_student < 0.01
    assert (found.interval is None) == (transactions == 250)
    assert found.interval is None or found.interval.high < 0.1


@pytest.mark.parametrize("is_paired", [True, False])
def test_equal_percentiles_are_no_difference_whatever_is_beyond_them(is_paired: bool) -> None:
    """The median is 2 ms in both, and twice as many of the second take longer."""
    first, second = (
        Latencies(
            [
                trial([1.0] * 400 + [2.0] * (600 - slow - n) + [3.0] * (slow + n))
                for n in (0, 1, 0, 2, 0, 1)
            ]
        )
        for slow in (200, 400)
    )
    found = percentile_change(first, second, 50, is_paired=is_paired)
    assert (found.ratio, found.p_student) == (1.0, 1.0)
    assert found.interval
    assert found.interval.low < 1 < found.interval.high


@pytest.mark.parametrize("is_paired", [True, False])
def test_equal_percentiles_without_an_interval_are_no_difference(is_paired: bool) -> None:
    longest = [[200.0] * 2] * 2 + [[100.0] * 2] * 4, [[200.0]] * 6
    first, second = (Latencies([trial([1.0] * 58 + each) for each in own]) for own in longest)
    found = percentile_change(first, second, 99, is_paired=is_paired)
    assert (found.ratio, found.interval, found.p_student) == (1.0, None, 1.0)
