"""Looks at an experiment: their numbers of trials, their shares of the error, and what both
keep."""

import random
from collections.abc import Callable

import pytest

from tailrace.scenario.experiment import LEAST_DECIDING
from tailrace.statistics import holm_adjusted, mean_change
from tailrace.statistics.looks import (
    FIRST_LOOKS,
    looks_until,
    sequential_p_value,
    share_of,
    trials_to_decide_looking,
)

ERROR = 0.05


def test_looks_are_at_numbers_of_trials_that_do_not_depend_on_the_last_one() -> None:
    assert looks_until(24) == [6, 8, 12, 16, 24]
    assert looks_until(23) == [6, 8, 12, 16], "an experiment ends at its last look"
    assert looks_until(100) == [6, 8, 12, 16, 24, 32, 48, 64, 96]
    assert looks_until(5) == []
    assert FIRST_LOOKS[0] == LEAST_DECIDING, "what a scenario may ask for"


def test_all_looks_together_spend_no_more_than_the_error() -> None:
    shares = [share_of(look) for look in range(60)]
    assert sum(shares) == pytest.approx(1)
    assert sum(shares) <= 1 + 1e-12
    assert shares == sorted(shares, reverse=True)


def test_the_p_value_of_all_looks_is_the_smallest_over_its_share() -> None:
    assert sequential_p_value([]) == 1
    assert sequential_p_value([0.9]) == 1
    assert sequential_p_value([0.018]) == pytest.approx(0.1)
    assert sequential_p_value([0.018, 0.009, 0.9]) == pytest.approx(0.05), (
        "later looks take nothing back"
    )


def test_the_first_look_that_can_decide() -> None:
    assert [trials_to_decide_looking(tests) for tests in (1, 3, 12, 500)] == [6, 6, 8, 12]


LUCK: dict[str, Callable[[random.Random], float]] = {
    "normal": lambda rng: rng.gauss(10, 1),
    "skewed": lambda rng: rng.lognormvariate(0, 1),
    "two paths": lambda rng: rng.choice((1.0, 2.0)) * rng.gauss(1, 0.05),
}


@pytest.mark.parametrize("luck", LUCK)
@pytest.mark.parametrize("comparisons", [3, 12])
def test_identical_arms_differ_in_at_most_one_experiment_of_twenty(
    luck: str, comparisons: int
) -> None:
    rng, experiments = random.Random(f"{luck}/{comparisons}"), 300
    found = sum(_differs(rng, LUCK[luck], comparisons) for _ in range(experiments))
    # 0.05 and three standard errors of 300 experiments.
    assert found <= experiments * ERROR + 3 * (experiments * ERROR * (1 - ERROR)) ** 0.5


def _differs(rng: random.Random, luck: Callable[[random.Random], float], comparisons: int) -> bool:
    """Whether one experiment says at some look that some arm differs from the baseline, which they
    share."""
    baseline = [luck(rng) for _ in range(24)]
    arms = [[luck(rng) for _ in baseline] for _ in range(comparisons)]
    looks = [
        [_p_value(baseline[:trials], arm[:trials]) for trials in looks_until(24)] for arm in arms
    ]
    return min(holm_adjusted([sequential_p_value(each) for each in looks])) < ERROR


def _p_value(first: list[float], second: list[float]) -> float:
    return mean_change(first, second, is_paired=False).p_student


def test_without_the_shares_they_would_differ_more_often() -> None:
    rng, experiments = random.Random(4), 300
    found = 0
    for _ in range(experiments):
        first, second = ([rng.gauss(10, 1) for _ in range(24)] for _ in range(2))
        found += (
            min(_p_value(first[:trials], second[:trials]) for trials in looks_until(24)) < ERROR
        )
    assert found > experiments * 2 * ERROR
