"""Distributions that are fitted to samples, and their distances."""

from random import Random

import pytest

from tailrace.fit.group import most_at_once
from tailrace.fit.quantities import rate_text, size_text, time_text
from tailrace.fit.shapes import SIZES, TIMES, distance_of_two, fitted
from tailrace.scenario.text.distribution import parse_distribution
from tailrace.scenario.text.units import TIME

COUNT = 2_000


@pytest.mark.parametrize(
    ("name", "draw"),
    [
        ("exponential", lambda draws: draws.expovariate(1e-6)),
        ("uniform", lambda draws: draws.uniform(1e6, 9e6)),
        ("lognormal", lambda draws: draws.lognormvariate(14, 0.8)),
        ("normal", lambda draws: draws.gauss(8e6, 1e6)),
    ],
)
def test_a_named_shape_is_found(name: str, draw) -> None:  # type: ignore[no-untyped-def]  # several kinds of draws
    draws = Random(1)
    found = fitted([draw(draws) for _ in range(COUNT)], TIMES)
    assert str(found.value).startswith(f"{name}(")
    assert found.distance < 0.05
    assert abs(found.mean_off) < 0.05


def test_a_sample_of_two_kinds_has_points_instead_of_a_named_shape() -> None:
    draws = Random(1)
    sample = [draws.gauss(1e6, 1e4) if draws.random() < 0.5 else draws.gauss(50e6, 1e6) for _ in range(COUNT)]
    found = fitted(sample, TIMES)
    assert "cdf" in found.value
    assert found.distance < 0.06
    assert parse_distribution(found.value, TIME).mean / 1000 == pytest.approx(sum(sample) / COUNT, rel=0.05)


def test_sizes_that_repeat_have_a_step_each() -> None:
    found = fitted([100] * 30 + [1_500] * 10, SIZES)
    assert found.value == {"cdf": [["100B", "0%"], ["100B", "75%"], ["1500B", "75%"], ["1500B", "100%"]]}
    assert (found.distance, found.mean_off) == (0, 0)


def test_one_value_and_few_values_are_their_mean() -> None:
    assert fitted([18_000] * 50, SIZES).value == "18kB"
    few = fitted([1_000_000, 3_000_000], TIMES)
    assert few.value == "2ms"
    assert few.distance == 0.5


def test_the_distance_is_the_largest_difference_of_the_cumulative_distributions() -> None:
    assert distance_of_two([1, 2, 3, 4], [1, 2, 3, 4]) == 0
    assert distance_of_two([1, 2, 3, 4], [3, 4, 5, 6]) == 0.5
    assert distance_of_two([1, 2], [3]) == 1


def test_spans_that_only_touch_are_not_at_the_same_time() -> None:
    assert most_at_once([(0, 10), (10, 20), (20, 30)]) == 1
    assert most_at_once([(0, 11), (10, 20), (19, 30)]) == 2
    assert most_at_once([(0, 100), (10, 20), (15, 30)]) == 3


def test_numbers_are_written_as_scenarios_have_them() -> None:
    assert [time_text(ns) for ns in (0, 7, 1_500, 2_000_000, 999_999, 12_345_678)] == [
        "0s",
        "7ns",
        "1.5us",
        "2ms",
        "1ms",
        "12.35ms",
    ]
    assert [size_text(size) for size in (0, 200, 18_000, 5 * 10**9)] == ["1B", "200B", "18kB", "5GB"]
    assert rate_text(2.5e9) == "2.5Gbit/s"
