"""What two samples are said to say about each other."""

import random
from collections.abc import Callable

import pytest

from tailrace.outcome.types import Latency
from tailrace.statistics import (
    Effect,
    Histogram,
    Verdict,
    adjusted,
    bounded_verdict,
    holm_adjusted,
    jain_index,
    logs_or_values,
    mean_change,
    quantile,
    trials_to_decide,
    with_test,
)
from whole import part

SLOW = [572.1, 570.2, 575.3, 571.1, 569.9, 574.0]
FAST = [390.1, 391.2, 388.7, 392.0, 389.4, 390.6]


def compared(
    baseline: list[float], other: list[float], *, is_paired: bool = True, tests: int = 1
) -> Effect:
    """One of so many tests, adjusted as if it were alone."""
    effect = Effect(
        mean_change(baseline, other, is_paired=is_paired), is_paired, (len(baseline), len(other))
    )
    samples = logs_or_values(baseline, other)
    return adjusted([with_test(effect, samples, seed=1, address="test", tests=tests)])[0]


def p_value(effect: Effect) -> float:
    assert effect.test
    return effect.test.p_value


def test_a_clear_difference_has_a_direction_and_a_size() -> None:
    effect = compared(SLOW, FAST)
    assert effect.verdict == "lower"
    assert effect.change_percent == pytest.approx(-31.77, abs=0.01)
    assert effect.change.interval
    assert 0.67 < effect.change.interval.low < 0.6823 < effect.change.interval.high < 0.69
    assert compared(FAST, SLOW).verdict == "higher"


def test_three_trials_are_too_few_whatever_they_say() -> None:
    effect = compared(SLOW[:3], FAST[:3])
    assert effect.verdict == "too few trials"
    assert effect.test
    assert effect.test.p_smallest == pytest.approx(0.1)
    assert effect.change.interval, "it is described all the same"


def test_one_trial_of_each_is_too_few_and_not_an_error() -> None:
    effect = compared(SLOW[:1], FAST[:1])
    assert effect.verdict == "too few trials"
    assert effect.change_percent == pytest.approx(-31.8, abs=0.05)


@pytest.mark.parametrize(
    ("tests", "trials"), [(1, 4), (2, 5), (6, 5), (7, 6), (12, 6), (23, 6), (24, 7), (85, 7)]
)
def test_how_many_trials_can_decide_so_many_comparisons(tests: int, trials: int) -> None:
    assert trials_to_decide(tests) == trials
    values = [float(number) for number in range(trials)]

    def family(count: int) -> list[Effect]:
        apart = [
            compared(values[:count], [value + 1e6 for value in values[:count]], is_paired=False)
        ] * tests
        return adjusted(apart)

    assert {effect.verdict for effect in family(trials)} == {"higher"}
    assert {effect.verdict for effect in family(trials - 1)} == {"too few trials"}


def test_overlapping_samples_show_no_difference() -> None:
    assert (
        compared(SLOW, [*SLOW[1:], SLOW[0]], is_paired=False).verdict == "no significant difference"
    )


def test_a_verdict_never_contradicts_the_interval() -> None:
    # A bond by host: in three of ten trials both hosts have one link, in the others a little less
    # than a bond by flow.
    by_flow = [18.82 + number / 1e3 for number in range(10)]
    by_host = [value - (9.4 if number < 3 else 0.01) for number, value in enumerate(by_flow)]
    effect = compared(by_flow, by_host)
    assert effect.change.interval
    assert effect.change.interval.low < 0.75 < 1 < effect.change.interval.high
    assert p_value(effect) > 0.05, "although every trial is lower"
    assert effect.verdict == "no significant difference"
    assert compared(by_flow, [value - 0.01 for value in by_flow]).verdict == "lower"


def test_pairs_stay_pairs_whatever_their_number() -> None:
    assert p_value(compared(SLOW, FAST)) == 2 / 2**6, "six pairs can exchange their labels"
    five = compared(SLOW[:5], FAST[:5])
    assert five.test
    assert five.test.name == "Student's test"
    assert p_value(five) == pytest.approx(2 / 252), (
        "no less than five trials against five without pairs"
    )
    assert five.verdict == "lower"
    assert p_value(compared(SLOW, FAST, is_paired=False)) == pytest.approx(2 / 924)


@pytest.mark.parametrize("tests", [1, 2, 6, 12])
def test_luck_that_arms_share_hides_no_difference_that_the_interval_shows(tests: int) -> None:
    """Trials of one arm differ by a factor of two, those of a pair by 29 %: p was 0.2 beside +25 to
    +32 %."""
    first = [100.0, 200.0, 130.0, 150.0, 180.0, 110.0]
    second = [
        value * ratio
        for value, ratio in zip(first, (1.27, 1.31, 1.28, 1.3, 1.29, 1.27), strict=True)
    ]
    effect = compared(first, second, tests=tests)
    assert effect.change.interval
    assert 1.25 < effect.change.interval.low < effect.change.interval.high < 1.33
    assert tests * p_value(effect) < 0.05
    assert p_value(compared(first, second, is_paired=False)) > 0.1, (
        "without pairs the luck hides it"
    )


SHARED: dict[str, Callable[[random.Random], float]] = {
    "normal": lambda rng: rng.gauss(10, 1),
    "skewed": lambda rng: rng.lognormvariate(0, 1),
    "two paths": lambda rng: rng.choice((1.0, 2.0)) * rng.gauss(1, 0.05),
    "a slow trial in seven": lambda rng: rng.gauss(1, 0.05) * (5 if rng.random() < 0.15 else 1),
}


@pytest.mark.parametrize("luck", SHARED)
@pytest.mark.parametrize("tests", [2, 12])
def test_pairs_of_identical_arms_differ_in_at_most_one_run_of_twenty(luck: str, tests: int) -> None:
    """Among so many tests six pairs cannot exchange their labels."""
    rng, runs, found = random.Random(f"{luck}/{tests}"), 400, 0
    for _ in range(runs):
        family = []
        for _ in range(tests):
            common = [SHARED[luck](rng) for _ in range(6)]
            arms = [[value * rng.lognormvariate(0, 0.2) for value in common] for _ in range(2)]
            family.append(compared(*arms, tests=tests))
        found += any(effect.verdict in ("lower", "higher") for effect in adjusted(family))
    assert found / runs <= 0.05 + 3 * (0.05 * 0.95 / runs) ** 0.5


def test_among_many_tests_pairs_exchange_labels_where_that_can_reach_the_threshold() -> None:
    assert p_value(compared(SLOW, FAST, tests=1)) == 2 / 2**6
    among = compared(SLOW, FAST, tests=2)
    assert among.test
    assert among.test.name == "Student's test"
    assert p_value(among) == pytest.approx(2 / 924)
    assert among.change == compared(SLOW, FAST).change, (
        "a figure has one interval, whatever stands beside it"
    )


def test_the_larger_of_two_p_values_counts() -> None:
    rng = random.Random(4)
    for _ in range(50):
        first, second = ([rng.lognormvariate(0, 1) for _ in range(5)] for _ in range(2))
        effect = compared(first, second, is_paired=False)
        assert p_value(effect) >= effect.change.p_student


def test_a_family_of_tests_has_adjusted_p_values_and_verdicts() -> None:
    effects = [compared(SLOW, FAST, is_paired=False)] * 2 + [
        compared(SLOW, [*SLOW[1:], SLOW[0]], is_paired=False)
    ] * 3
    family = adjusted(effects)
    assert [effect.p_adjusted for effect in family[:2]] == pytest.approx([5 * 2 / 924] * 2)
    assert [effect.verdict for effect in family] == ["lower"] * 2 + [
        "no significant difference"
    ] * 3
    assert {effect.tests for effect in family} == {5}
    assert {effect.verdict for effect in adjusted(effects[:1] * 30)} == {"too few trials"}, (
        "30 x 2/924 is above 0.05"
    )


def test_holm_is_the_worked_example() -> None:
    # 0.01 x 4, 0.02 x 3, 0.03 x 2 below the one before, 0.04.
    assert holm_adjusted([0.03, 0.01, 0.04, 0.02]) == pytest.approx([0.06, 0.04, 0.06, 0.06])
    assert holm_adjusted([0.4, 0.9]) == pytest.approx([0.8, 0.9])
    assert holm_adjusted([]) == []


def test_tests_of_nothing_find_a_difference_as_rarely_as_they_say() -> None:
    rng = random.Random(3)
    runs = 400
    found = 0
    for _ in range(runs):
        samples = [[[rng.gauss(0, 1) for _ in range(6)] for _ in range(2)] for _ in range(8)]
        family = adjusted([compared(first, second, is_paired=False) for first, second in samples])
        found += any(effect.verdict in ("lower", "higher") for effect in family)
    # Eight tests at 0.05 by themselves would find one in a third of the runs.
    assert found / runs <= 0.05 + 3 * (0.05 * 0.95 / runs) ** 0.5


def test_a_baseline_of_zero_has_no_percentages() -> None:
    effect = compared([0.0] * 6, [1.0] * 6)
    assert effect.change_percent is None
    assert effect.change.ratio is None
    assert effect.difference == 1.0
    assert effect.verdict == "higher"


def test_jain_index() -> None:
    assert jain_index([5, 5, 5, 5]) == 1.0
    assert jain_index([1, 0, 0, 0]) == 0.25
    assert jain_index([]) is None
    assert jain_index([0, 0]) is None


def test_quantiles_interpolate() -> None:
    assert quantile([1.0, 2.0, 3.0, 4.0], 0.5) == 2.5
    assert quantile([1.0, 2.0, 3.0, 4.0], 1.0) == 4.0


def latency(buckets: list[list[int]], **values: int) -> Latency:
    count = sum(n for _, n in buckets)
    known = {
        "count": count,
        "mean_ps": 10,
        "min_ps": 1,
        "max_ps": buckets[-1][0] - 1,
        "buckets": buckets,
    }
    return part(Latency, **known | values)


def test_histograms_of_trials_are_pooled_and_not_averaged() -> None:
    pooled = Histogram.from_outcomes([latency([[10, 99], [1_000, 1]]), latency([[10, 100]])])
    assert pooled is not None
    assert pooled.count == 200
    assert pooled.percentile_ps(50) == 10
    assert pooled.percentile_ps(99.5) == 10
    assert pooled.percentile_ps(99.6) == 999, (
        "never beyond the largest value, though its bucket ends at 1000"
    )


def test_a_percentile_is_the_smallest_value_that_enough_do_not_exceed() -> None:
    pooled = Histogram.from_outcomes(
        [latency([[edge, 1] for edge in range(1, 1_001)], max_ps=1_000)]
    )
    assert pooled is not None
    for percent, expected in ((50, 500), (90, 900), (99, 990), (99.9, 999), (100, 1_000), (0, 1)):
        assert pooled.percentile_ps(percent) == expected
    assert pooled.cdf()[499] == (500 / 1e9, 0.5)


def test_no_values_make_no_histogram() -> None:
    assert Histogram.from_outcomes([]) is None
    assert Histogram.from_outcomes([part(Latency)]) is None


@pytest.mark.parametrize(
    ("verdict", "bounds", "told"),
    [
        ("higher", (0, 1), "higher"),
        ("higher", (1, 1), "not comparable"),
        ("lower", (1, 0), "lower"),
        ("lower", (0, 1), "not comparable"),
        ("no significant difference", (0, 1), "not comparable"),
        ("too few trials", (1, 1), "too few trials"),
        ("not tested", (1, 1), "not tested"),
    ],
)
def test_what_larger_values_than_the_bounds_could_turn_is_not_told(
    verdict: Verdict, bounds: tuple[int, int], told: Verdict
) -> None:
    assert bounded_verdict(verdict, bounds) == told
