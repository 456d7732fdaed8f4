"""Laws of scalability against known data, against scipy, and how often their intervals cover."""

import random
from collections.abc import Callable
from itertools import pairwise
from math import inf
from typing import Any

import numpy as np
import pytest
import scipy.optimize

from tailrace.statistics import LEVEL, Law, fit_amdahl, fit_usl
from tailrace.statistics.linear import inverse, solved
from tailrace.statistics.scalability import Point, throughput

# Without types: its stubs do not follow every form of its arguments.
ORACLE: Any = scipy.optimize
SPEC_SDM91 = [
    (1, 64.9),
    (18, 995.9),
    (36, 1652.4),
    (72, 1853.2),
    (108, 1828.9),
    (144, 1775.0),
    (216, 1702.2),
]
"""Sun SPARCcenter 2000 in the SPEC SDM 91 benchmark, the example of the R package `usl`."""
COUNTS = [1, 2, 4, 8, 16, 24, 32, 40]
REPEATS = 250


def of_law(
    gain: float, contention: float, coherency: float, noise: float = 0.0, seed: int = 1
) -> list[Point]:
    rng = random.Random(seed)
    return [
        (n, throughput((gain, contention, coherency), n) * (1 + noise * rng.gauss(0, 1)))
        for n in COUNTS
    ]


def test_the_published_fit_of_known_data_comes_out() -> None:
    law = fit_usl([(float(n), x) for n, x in SPEC_SDM91])
    assert law is not None
    assert law.gain == pytest.approx(89.9952, rel=1e-5)
    assert law.contention == pytest.approx(0.0277285, rel=1e-5)
    assert law.coherency == pytest.approx(0.0001044, rel=1e-3)
    assert law.peak_users == pytest.approx(96.5, abs=0.1)


@pytest.mark.parametrize(
    ("contention", "coherency"), [(0.05, 0.002), (0.3, 1e-5), (0.0, 0.001), (0.004, 0.0)]
)
def test_exact_points_give_their_law(contention: float, coherency: float) -> None:
    law = fit_usl(of_law(16_000, contention, coherency))
    assert law is not None
    assert (law.gain, law.contention, law.coherency) == pytest.approx(
        (16_000, contention, coherency), rel=1e-5, abs=1e-9
    )
    assert law.deviation < 1e-6


@pytest.mark.parametrize("seed", range(20))
def test_noisy_points_give_the_optimum_that_scipy_finds(seed: int) -> None:
    points = of_law(100, 0.03, 0.0005, noise=0.03, seed=seed)
    users, values = zip(*points, strict=True)
    found, _ = ORACLE.curve_fit(
        lambda n, a, b, c: a * n / (1 + b * (n - 1) + c * n * (n - 1)),
        np.array(users),
        values,
        p0=(100, 0.03, 0.0005),
        bounds=(0, inf),
        xtol=1e-14,
        ftol=1e-14,
        gtol=1e-14,
    )
    law = fit_usl(points)
    assert law is not None
    assert (law.gain, law.contention, law.coherency) == pytest.approx(
        tuple(found), rel=1e-3, abs=1e-6
    )


def test_amdahls_law_has_a_limit_and_no_peak() -> None:
    law = fit_amdahl(of_law(10, 0.1, 0.0))
    assert law is not None
    assert law.coherency == 0
    assert law.coherency_interval is None
    assert law.limit == pytest.approx(100)
    assert law.peak_users is None


def test_more_than_linear_growth_is_fitted_by_a_straight_line_and_told_by_its_deviation() -> None:
    law = fit_usl([(float(n), n**1.2) for n in COUNTS])
    assert law is not None
    assert (law.contention, law.coherency) == (0, 0)
    assert law.limit == inf
    assert law.deviation > 0.5


@pytest.mark.parametrize("fit", [fit_amdahl, fit_usl])
@pytest.mark.parametrize("power", [-1.0, -0.5, -0.01, 0.0, 0.001])
def test_a_serial_share_is_at_most_the_whole(
    fit: Callable[[list[Point]], Law | None], power: float
) -> None:
    """Throughput that falls from the beginning is not more than all of the work in series."""
    law = fit([(float(n), 500 * n**power) for n in COUNTS])
    assert law is not None
    assert 0.9 < law.contention <= 1
    assert law.contention_interval is not None
    assert law.contention_interval.high <= 1


def test_more_users_that_do_less_are_coherency_where_a_law_has_it() -> None:
    points = [(float(n), 500 / (1 + 0.1 * (n - 1))) for n in COUNTS]
    law = fit_usl(points)
    assert law is not None
    assert (law.contention, law.coherency) == pytest.approx((1, 0.1))
    assert law.deviation < 1e-6


def test_too_few_points_have_no_law_and_few_have_no_interval() -> None:
    assert fit_usl([(1, 1.0), (2, 1.9)]) is None
    assert fit_usl([(1, 1.0), (2, 0.0), (3, 1.0)]) is None
    assert fit_amdahl([(2, 1.0), (2, 1.1)]) is None
    few = fit_usl(of_law(10, 0.1, 0.001)[:4])
    assert few is not None
    assert few.contention_interval is None


def test_intervals_cover_what_they_are_of() -> None:
    """Of a law whose coefficients are away from zero, with noise of 2 %."""
    truth = (100.0, 0.05, 0.0005)
    covered = [0, 0, 0]
    for seed in range(REPEATS):
        law = fit_usl(of_law(*truth, noise=0.02, seed=seed))
        assert law is not None
        found = (law.gain_interval, law.contention_interval, law.coherency_interval)
        for index, (interval, true) in enumerate(zip(found, truth, strict=True)):
            assert interval is not None
            covered[index] += interval.low <= true <= interval.high
    assert min(covered) >= (LEVEL - 0.02) * REPEATS


def test_an_interval_of_linear_scaling_begins_at_zero() -> None:
    law = fit_usl(of_law(16_000, 0.0, 0.0, noise=0.01))
    assert law is not None
    assert law.contention_interval is not None
    assert law.coherency_interval is not None
    assert law.contention_interval.low == law.coherency_interval.low == 0
    assert law.contention_interval.high < 0.02


def test_a_law_grows_up_to_its_peak_and_falls_beyond() -> None:
    law = fit_usl(of_law(10, 0.02, 0.001))
    assert law is not None
    assert law.peak_users is not None
    peak = round(law.peak_users)
    rising = [law.throughput(n) for n in range(1, peak + 1)]
    assert all(b > a for a, b in pairwise(rising))
    assert law.throughput(2 * peak) < law.limit == pytest.approx(law.throughput(law.peak_users))


def test_equations_are_solved_and_dependent_ones_are_not() -> None:
    assert solved([[4.0, 1.0], [1.0, 3.0]], [1.0, 2.0]) == pytest.approx([1 / 11, 7 / 11])
    assert solved([[1.0, 2.0], [2.0, 4.0]], [1.0, 2.0]) is None
    assert inverse([[1.0, 2.0], [2.0, 4.0]]) is None
    found = inverse([[2.0, 0.0], [0.0, 1e-20]])
    assert found is not None
    assert [found[0][0], found[1][1]] == pytest.approx([0.5, 1e20])
