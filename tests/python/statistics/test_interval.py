"""Intervals against scipy and exact theory, and how often they cover what they are of."""

import math
import random
from collections.abc import Callable
from typing import Any

import pytest
import scipy.stats

import coverage
from tailrace.statistics import LEVEL, change_interval, mean, mean_interval, median, median_interval
from tailrace.statistics.interval import QUANTILES, quantile_for

# Without types: its stubs do not follow every form of its arguments.
ORACLE: Any = scipy.stats
TRIALS = [572.1, 570.2, 575.3, 571.1, 569.9, 574.0]
OTHERS = [390.1, 391.2, 388.7, 392.0, 389.4, 390.6]
REPEATS = 20_000
# Three standard errors of a share of 90 % among so many.
NOISE = 3 * math.sqrt(LEVEL * (1 - LEVEL) / REPEATS)


@pytest.mark.parametrize("trials", range(3, 21))
@pytest.mark.parametrize("name", coverage.DISTRIBUTIONS)
def test_the_printed_level_is_what_a_simulation_shows(name: str, trials: int) -> None:
    assert coverage.coverage(name, trials, REPEATS) >= LEVEL - NOISE


@pytest.mark.parametrize("trials", [3, 4, 6, 12, 20])
def test_an_interval_is_no_wider_than_that_takes(trials: int) -> None:
    least = min(coverage.coverage(name, trials, REPEATS) for name in coverage.DISTRIBUTIONS)
    assert least <= LEVEL + NOISE + 0.003  # the quantiles are rounded up


def test_the_simulation_looks_at_the_interval_that_is_printed() -> None:
    found = mean_interval([TRIALS])
    assert found is not None
    error = ORACLE.sem(TRIALS)
    assert found.high - found.low == pytest.approx(2 * quantile_for(5) * error)
    assert (found.low + found.high) / 2 == pytest.approx(mean(TRIALS))
    assert found.level == LEVEL


@pytest.mark.parametrize("freedom", [2, 3, 5, 9, 19, 59, 199])
def test_normal_values_need_no_more_than_is_taken(freedom: int) -> None:
    assert QUANTILES[freedom] > ORACLE.t.ppf(0.5 + LEVEL / 2, freedom)


def test_quantiles_between_the_simulated_ones_are_the_wider() -> None:
    assert quantile_for(21.5) == QUANTILES[19]
    assert quantile_for(1.0) == QUANTILES[2]
    assert quantile_for(1e9) == QUANTILES[199]


SHAPES: dict[str, Callable[[random.Random], float]] = {
    "normal": lambda rng: rng.gauss(10, 1),
    "exponential": lambda rng: rng.expovariate(1),
    "log-normal": lambda rng: rng.lognormvariate(0, 1),
}


@pytest.mark.parametrize("trials", [3, 4, 6, 10])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("is_paired", [True, False])
def test_a_change_is_covered_too(shape: str, trials: int, is_paired: bool) -> None:
    rng, repeats = random.Random(7), 1000
    covered = 0
    for _ in range(repeats):
        baseline = [SHAPES[shape](rng) for _ in range(trials)]
        other = [SHAPES[shape](rng) / 2 for _ in range(trials)]
        found = change_interval(baseline, other, is_paired=is_paired)
        assert found is not None
        covered += found.low <= -50 <= found.high
    assert covered / repeats >= LEVEL - 3 * math.sqrt(LEVEL * (1 - LEVEL) / repeats)


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
    assert mean_interval([[1.0, 2.0]]) is None
    assert mean_interval([[1.0, 2.0, 3.0]]) is not None
    assert mean_interval([TRIALS, [1.0, 2.0]], combine=lambda a, b: b / a) is None


def test_equal_values_have_an_interval_of_no_width() -> None:
    found = mean_interval([[5.0] * 6])
    assert found is not None
    assert (found.low, found.high) == (5.0, 5.0)


def test_an_interval_does_not_leave_what_is_possible() -> None:
    found = mean_interval([[0.1, 0.2, 5.0]], bounds=(0.0, math.inf))
    assert found is not None
    assert found.low == 0.0
    change = change_interval([1.0, 9.0, 2.0], [0.1, 0.2, 5.0], is_paired=False)
    assert change is not None
    assert change.low == -100.0


def test_one_of_two_samples_without_spread_adds_nothing() -> None:
    alone = mean_interval([TRIALS])
    both = mean_interval([TRIALS, [2.0] * 6], combine=lambda first, second: first / second)
    assert alone is not None
    assert both is not None
    assert (both.low, both.high) == pytest.approx((alone.low / 2, alone.high / 2))
