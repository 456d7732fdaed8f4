"""Exact tests against scipy."""

import random
from typing import Any

import pytest
import scipy.stats

from tailrace.statistics import named_stream, permutation_test, sign_flip_test

# Without types: its stubs do not follow every form of its arguments.
ORACLE: Any = scipy.stats


def rng() -> random.Random:
    return named_stream(1, "test")


def drawn(count: int, seed: int, shift: float = 0.0) -> list[float]:
    stream = random.Random(seed)
    return [stream.gauss(10 + shift, 1) for _ in range(count)]


def mean_difference(a: Any, b: Any, axis: int) -> Any:
    return a.mean(axis=axis) - b.mean(axis=axis)


@pytest.mark.parametrize("sizes", [(3, 3), (4, 6), (5, 5), (6, 6)])
@pytest.mark.parametrize("shift", [0.0, 1.0, 5.0])
def test_the_permutation_test_is_that_of_scipy(sizes: tuple[int, int], shift: float) -> None:
    a, b = drawn(sizes[0], 1), drawn(sizes[1], 2, shift)
    theirs = ORACLE.permutation_test((a, b), mean_difference, n_resamples=10**6)
    ours = permutation_test(a, b, rng())
    # With unequal sizes scipy doubles one tail; ours counts both tails by their distance.
    if sizes[0] == sizes[1]:
        assert ours.p_value == pytest.approx(theirs.pvalue)
    assert ours.p_value >= ours.p_smallest
    assert ours.is_exact


@pytest.mark.parametrize("count", [5, 6, 9])
def test_the_paired_test_is_that_of_scipy(count: int) -> None:
    a, b = drawn(count, 3), drawn(count, 4, 0.8)
    theirs = ORACLE.permutation_test(
        (a, b), mean_difference, permutation_type="samples", n_resamples=10**6
    )
    ours = sign_flip_test([y - x for x, y in zip(a, b, strict=True)], rng())
    assert ours.p_value == pytest.approx(theirs.pvalue)


def test_five_pairs_cannot_reach_five_percent_and_six_can() -> None:
    assert sign_flip_test([1.0] * 5, rng()).p_value == 0.0625
    assert sign_flip_test([1.0] * 6, rng()).p_value == 0.03125


def test_a_drawn_p_value_is_never_zero() -> None:
    """What was observed is one of the arrangements (Phipson and Smyth 2010)."""
    apart = permutation_test([1.0] * 20, [9.0] * 20, rng())
    pairs = sign_flip_test([1.0] * 30, rng())
    assert [test.is_exact for test in (apart, pairs)] == [False, False]
    assert (apart.p_value, pairs.p_value) == (1 / 20_000, 1 / 20_000)


def test_many_trials_are_drawn_and_say_so() -> None:
    a, b = drawn(20, 7), drawn(20, 8, 0.9)
    result = permutation_test(a, b, rng())
    assert not result.is_exact
    theirs = ORACLE.ttest_ind(a, b).pvalue
    assert result.p_value == pytest.approx(theirs, abs=0.005)
    assert result == permutation_test(a, b, rng())


def test_identical_samples_are_as_likely_as_can_be() -> None:
    assert permutation_test([1.0, 2.0, 3.0], [1.0, 2.0, 3.0], rng()).p_value == 1.0
    assert sign_flip_test([0.0] * 6, rng()).p_value == 1.0
