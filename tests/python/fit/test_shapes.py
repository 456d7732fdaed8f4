"""Distributions that are fitted to samples, and their distances."""

import math
from random import Random
from statistics import fmean

import pytest

from tailrace.fit.families import families, is_tail_near
from tailrace.fit.group import most_at_once
from tailrace.fit.quantities import rate_text, size_text, time_text
from tailrace.fit.shapes import SIZES, TIMES, fitted
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


@pytest.mark.parametrize("count", [100, 400, 3_000])
def test_an_exponential_sample_with_noise_keeps_its_tail(count: int) -> None:
    tails = []
    for seed in range(20):
        draws = Random(seed)
        sample = sorted(draws.expovariate(1e-6) + draws.uniform(0, 2e4) for _ in range(count))
        found = fitted(sample, TIMES)
        distribution = parse_distribution(found.value, TIME)
        tails.append(
            distribution.above(round(4.605e6 * 1000 * 1.1))
        )  # the true 99th percentile, and 10 % more
        assert str(found.value).startswith(("exponential(", "erlang(")) or "cdf" in found.value, (
            found.value
        )
    assert fmean(tails) < 0.01


def test_a_body_of_one_shape_with_another_tail_has_points() -> None:
    draws = Random(3)
    sample = sorted(draws.expovariate(1e-6) for _ in range(COUNT))
    cut = [min(value, 2.6e6 + value / 1e3) for value in sample]
    found = fitted(cut, TIMES)
    assert "cdf" in found.value
    assert parse_distribution(found.value, TIME).above(round(2.7e6 * 1000)) < 0.01


@pytest.mark.parametrize(("mean", "is_near"), [(1e6, True), (1.4e6, False), (0.7e6, False)])
def test_a_tail_is_near_within_the_bounds_of_its_percentile(mean: float, is_near: bool) -> None:
    draws = Random(5)
    sample = sorted(draws.expovariate(1e-6) for _ in range(COUNT))
    assert is_tail_near(sample, lambda bound: math.exp(-bound / mean)) is is_near
    # The largest of few values does not bound the tail.
    assert is_tail_near(sample[:: COUNT // 20], lambda bound: math.exp(-bound / 3e6))


def test_a_likelier_shape_is_taken_though_another_is_nearer() -> None:
    sample = [1e6 * -math.log(1 - (at + 0.5) / 500) for at in range(500)]
    listed = {one.text.split("(")[0]: one.criterion for one in families(sample, TIMES.write)}
    assert min(listed, key=lambda name: listed[name]) == "exponential"
    # Densities of the written parameters, summed by hand.
    assert listed["exponential"] == pytest.approx(
        2 + 2 * sum(math.log(fmean(sample)) + x / fmean(sample) for x in sample)
    )


def test_a_sample_of_two_kinds_has_points_instead_of_a_named_shape() -> None:
    draws = Random(1)
    sample = [
        draws.gauss(1e6, 1e4) if draws.random() < 0.5 else draws.gauss(50e6, 1e6)
        for _ in range(COUNT)
    ]
    found = fitted(sample, TIMES)
    assert "cdf" in found.value
    assert found.distance < 0.06
    assert parse_distribution(found.value, TIME).mean / 1000 == pytest.approx(
        sum(sample) / COUNT, rel=0.05
    )


@pytest.mark.parametrize("count", [25, 30, 60, 150])
def test_few_values_of_no_shape_have_points_up_to_the_largest(count: int) -> None:
    sample = [1e6 + at if at % 3 else 5e8 + 1e5 * at for at in range(count)]
    found = fitted(sample, TIMES)
    assert found.value["cdf"][-1] == [TIMES.write(max(sample)), "100%"]


def test_sizes_that_repeat_have_a_step_each() -> None:
    found = fitted([100] * 30 + [1_500] * 10, SIZES)
    assert found.value == {
        "cdf": [["100B", "0%"], ["100B", "75%"], ["1500B", "75%"], ["1500B", "100%"]]
    }
    assert (found.distance, found.mean_off) == (0, 0)


def test_one_value_and_few_values_are_their_mean() -> None:
    assert fitted([18_000] * 50, SIZES).value == "18kB"
    few = fitted([1_000_000, 3_000_000], TIMES)
    assert few.value == "2ms"
    assert few.distance == 0.5


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
    assert [size_text(size) for size in (0, 200, 18_000, 5 * 10**9)] == [
        "1B",
        "200B",
        "18kB",
        "5GB",
    ]
    assert rate_text(2.5e9) == "2.5Gbit/s"
