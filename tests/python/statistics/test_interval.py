"""Intervals against scipy and exact theory, and how often they cover what they are of."""

import math
import random
from typing import Any

import pytest
import scipy.stats

from tailrace.statistics import (
    LEVEL,
    mean,
    mean_interval,
    mean_log_interval,
    median,
    median_interval,
)

# Without types: its stubs do not follow every form of its arguments.
ORACLE: Any = scipy.stats
TRIALS = [572.1, 570.2, 575.3, 571.1, 569.9, 574.0]
OTHERS = [390.1, 391.2, 388.7, 392.0, 389.4, 390.6]


def test_the_interval_of_a_mean_is_that_of_student() -> None:
    found = mean_interval(TRIALS)
    assert found is not None
    assert found.high - found.low == pytest.approx(2 * ORACLE.t.ppf(0.96, 5) * ORACLE.sem(TRIALS))
    assert (found.low + found.high) / 2 == pytest.approx(mean(TRIALS))
    assert found.level == LEVEL


@pytest.mark.parametrize("trials", [3, 6, 10])
@pytest.mark.parametrize("sigma", [0.01, 0.5])
def test_the_printed_level_is_what_a_simulation_shows(sigma: float, trials: int) -> None:
    rng, repeats = random.Random(7), 3000
    covered = 0
    for _ in range(repeats):
        found = mean_log_interval([rng.lognormvariate(0, sigma) for _ in range(trials)])
        assert found is not None
        covered += found.low <= math.exp(sigma**2 / 2) <= found.high
    assert 0.85 <= covered / repeats <= 0.96


@pytest.mark.parametrize("trials", [5, 6, 9, 20])
def test_the_interval_of_a_median_holds_its_level(trials: int) -> None:
    rng, repeats = random.Random(8), 3000
    covered = 0
    for _ in range(repeats):
        found = median_interval([[rng.lognormvariate(0, 1) for _ in range(trials)]])
        assert found is not None
        covered += found.low <= 1 <= found.high
    assert covered / repeats >= LEVEL - 3 * math.sqrt(LEVEL * (1 - LEVEL) / repeats)


def test_the_interval_of_a_median_is_that_of_the_binomial() -> None:
    values = sorted(TRIALS)
    found = median_interval([values])
    assert found is not None
    # Of six values the extremes hold it in 1 - 2/64, the next two in 1 - 14/64 of cases.
    assert (found.low, found.high) == (values[0], values[-1])
    assert median_interval([values[:4]]) is None, "1 - 2/16 is below the level"


def test_the_interval_of_a_ratio_of_medians_is_of_the_corners() -> None:
    found = median_interval([TRIALS, OTHERS], combine=lambda first, second: second / first)
    assert found is not None
    assert (found.low, found.high) == (min(OTHERS) / max(TRIALS), max(OTHERS) / min(TRIALS))
    assert found.low < median(OTHERS) / median(TRIALS) < found.high


def test_two_values_have_no_interval_and_three_have_one() -> None:
    for interval in (mean_interval, mean_log_interval):
        assert interval([1.0, 2.0]) is None
        assert interval([1.0, 2.0, 3.0]) is not None
    assert mean_log_interval(TRIALS, below=[[1.0, 2.0]]) is None


def test_equal_values_have_an_interval_of_no_width() -> None:
    for interval in (mean_interval, mean_log_interval):
        found = interval([5.0] * 6)
        assert found is not None
        assert (found.low, found.high) == (5.0, 5.0)


def test_an_interval_does_not_leave_what_is_possible() -> None:
    found = mean_interval([0.1, 0.2, 5.0], bounds=(0.0, math.inf))
    assert found is not None
    assert found.low == 0.0
    positive = mean_log_interval([0.0, 0.2, 5.0])
    assert positive is not None
    assert positive.low > 0
    assert mean_log_interval([-1.0, 5.0, 6.0]) is None


def test_one_of_two_samples_without_spread_adds_nothing() -> None:
    alone = mean_log_interval(TRIALS)
    both = mean_log_interval(TRIALS, below=[[2.0] * 6])
    assert alone is not None
    assert both is not None
    assert (both.low, both.high) == pytest.approx((alone.low / 2, alone.high / 2))
