"""Bootstrap intervals against scipy, and against what they promise."""

import random
from typing import Any

import numpy
import pytest
import scipy.stats

from tailrace.statistics import bootstrap_interval, mean, median, named_stream
from tailrace.statistics.bootstrap import Method
from tailrace.statistics.student import t_cdf, t_quantile

# Without types: its stubs do not follow every form of its arguments.
ORACLE: Any = scipy.stats
NUMPY: Any = numpy
TRIALS = [572.1, 570.2, 575.3, 571.1, 569.9, 574.0]
OTHERS = [390.1, 391.2, 388.7, 392.0, 389.4, 390.6]


def luck() -> random.Random:
    return named_stream(1, "test")


@pytest.mark.parametrize("method", ["percentile", "bca"])
@pytest.mark.parametrize("values", [TRIALS, [1.0, 1.1, 1.2, 1.3, 9.0], [3.0, 1.0, 4.0, 1.5, 5.0, 9.0, 2.0]])
def test_the_enumerated_interval_of_a_mean_is_that_of_scipy(values: list[float], method: Method) -> None:
    ours = bootstrap_interval([values], luck(), reduce=mean, method=method, is_expanded=False)
    theirs = ORACLE.bootstrap(
        [values],
        NUMPY.mean,
        n_resamples=200_000,
        method="BCa" if method == "bca" else "percentile",
        rng=NUMPY.random.default_rng(7),
    ).confidence_interval
    assert ours is not None
    spread = max(values) - min(values)
    assert ours.low == pytest.approx(theirs.low, abs=0.02 * spread)
    assert ours.high == pytest.approx(theirs.high, abs=0.02 * spread)


def test_the_interval_of_a_ratio_of_two_samples_is_that_of_scipy() -> None:
    ours = bootstrap_interval(
        [TRIALS, OTHERS], luck(), reduce=mean, combine=lambda first, second: second / first, is_expanded=False
    )
    theirs = ORACLE.bootstrap(
        (TRIALS, OTHERS),
        lambda a, b, axis: NUMPY.mean(b, axis=axis) / NUMPY.mean(a, axis=axis),
        n_resamples=100_000,
        method="BCa",
        rng=NUMPY.random.default_rng(7),
    ).confidence_interval
    assert ours is not None
    assert ours.low == pytest.approx(theirs.low, abs=0.0003)
    assert ours.high == pytest.approx(theirs.high, abs=0.0003)


def test_expanded_intervals_of_six_values_cover_the_mean_as_often_as_they_say() -> None:
    drawn = random.Random(5)
    covered = {True: 0, False: 0}
    repeats = 300
    for _ in range(repeats):
        values = [drawn.gauss(0, 1) for _ in range(6)]
        for is_expanded in covered:
            interval = bootstrap_interval([values], luck(), reduce=mean, is_expanded=is_expanded)
            assert interval is not None
            covered[is_expanded] += interval.low <= 0 <= interval.high
    assert covered[True] / repeats > 0.9
    assert covered[False] / repeats < 0.89


def test_three_values_have_no_interval() -> None:
    assert bootstrap_interval([[1.0, 2.0, 3.0]], luck(), reduce=mean) is None
    assert bootstrap_interval([[1.0, 2.0, 3.0, 4.0]], luck(), reduce=mean) is not None


def test_equal_values_have_an_interval_of_no_width() -> None:
    interval = bootstrap_interval([[5.0] * 6], luck(), reduce=mean)
    assert interval is not None
    assert (interval.low, interval.high) == (5.0, 5.0)


def test_a_drawn_interval_depends_on_the_stream_alone() -> None:
    values = [float(x * x % 17) for x in range(12)]
    first, second = (bootstrap_interval([values], named_stream(3, "a"), reduce=median) for _ in range(2))
    assert first == second
    means = [bootstrap_interval([values], named_stream(3, address), reduce=mean) for address in ("a", "b")]
    assert means[0] != means[1]


@pytest.mark.parametrize("freedom", [1, 2, 3, 4, 5, 10, 29])
def test_students_t_is_that_of_scipy(freedom: int) -> None:
    for value in (-3.0, -0.5, 0.0, 1.7, 12.0):
        assert t_cdf(value, freedom) == pytest.approx(ORACLE.t.cdf(value, freedom), abs=1e-12)
    assert t_quantile(0.975, freedom) == pytest.approx(ORACLE.t.ppf(0.975, freedom), rel=1e-9)


def test_the_interval_of_a_median_is_that_of_scipy_although_many_resamples_tie() -> None:
    values = [1.0, 2.0, 2.1, 5.0, 5.2, 9.0]
    ours = bootstrap_interval([values], luck(), reduce=median, is_expanded=False, level=0.8)
    theirs = ORACLE.bootstrap(
        [values],
        NUMPY.median,
        n_resamples=100_000,
        confidence_level=0.8,
        method="BCa",
        rng=NUMPY.random.default_rng(7),
    ).confidence_interval
    assert ours is not None
    assert [ours.low, ours.high] == pytest.approx([theirs.low, theirs.high], abs=0.01)
