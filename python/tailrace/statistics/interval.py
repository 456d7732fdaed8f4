"""Confidence intervals for few trials, with a coverage of at least their level.

The interval of a mean, or of a function of means such as a ratio, is the estimate plus and minus a number of standard
errors. The standard error is that of the jackknife (Efron and Stein 1981, `The Jackknife Estimate of Variance`, Annals
of Statistics 9), which for a mean is the usual one; degrees of freedom of several samples follow Welch (1947). That
number is not Student's quantile, which holds for normal values alone: at 95 % it covers the mean of four log-normal
values in 82 % of cases. The number was found by simulation (`scripts/coverage.py`) as the smallest for which normal,
uniform, exponential and log-normal values (sigma 1) are all covered at the level. Normal values are covered more often
than that, in 98 to 99 % of cases.

The interval of a median takes two of the values, at a level that holds exactly whatever the distribution.
"""

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from math import comb, floor, fsum, inf, sqrt
from typing import TypeVar

from tailrace.statistics.sample import mean

Value = TypeVar("Value")
Bounds = tuple[float, float]

LEVEL = 0.9
"""Every interval is printed with this level, and covers at least as often."""
LEVEL_TEXT = f"{LEVEL:.0%}".replace("%", " %")
VALUES_MIN = 3
"""Two values hardly determine a variance."""
QUANTILES = {
    2: 6.41,
    3: 4.96,
    4: 4.29,
    5: 3.86,
    6: 3.57,
    7: 3.37,
    8: 3.22,
    9: 3.07,
    10: 2.97,
    11: 2.89,
    12: 2.81,
    13: 2.74,
    14: 2.67,
    15: 2.62,
    16: 2.58,
    17: 2.53,
    18: 2.49,
    19: 2.47,
    24: 2.34,
    29: 2.23,
    39: 2.09,
    59: 1.96,
    99: 1.86,
    199: 1.77,
}
"""Standard errors by degrees of freedom, from `scripts/coverage.py --quantiles`."""


@dataclass(frozen=True)
class Interval:
    """A confidence interval of `level` (0 to 1), in the statistic's unit."""

    low: float
    high: float
    level: float
    method: str


def quantile_for(freedom: float) -> float:
    """Number of standard errors for these degrees of freedom, rounded down to a simulated value; at least two."""
    known = list(QUANTILES)
    return QUANTILES[known[max(0, bisect_right(known, freedom) - 1)]]


def mean_interval(
    samples: Sequence[Sequence[Value]],
    *,
    reduce: Callable[[Sequence[Value]], float] = mean,  # type: ignore[assignment]
    combine: Callable[..., float] = float,
    bounds: Bounds = (-inf, inf),
) -> Interval | None:
    """Interval of `combine(reduce(first sample), reduce(second sample) ...)`, such as a ratio of means.

    Paired data are one sample of tuples. `bounds` is the range of the statistic. None where a sample is too
    small for an interval to mean anything, or where the statistic does not exist.
    """
    if min(len(sample) for sample in samples) < VALUES_MIN:
        return None
    try:
        reduced = [reduce(sample) for sample in samples]
        estimate = combine(*reduced)
        variances = [_variance(samples, reduced, index, reduce, combine) for index in range(len(samples))]
    except ZeroDivisionError:
        return None
    reach = sqrt(fsum(variances)) * quantile_for(_freedom(variances, samples))
    low, high = max(bounds[0], estimate - reach), min(bounds[1], estimate + reach)
    return Interval(low, high, LEVEL, "jackknife, quantile by simulation")


def median_interval(samples: Sequence[Sequence[float]], *, combine: Callable[..., float] = float) -> Interval | None:
    """Interval of `combine(median of the first sample, ...)`, which must be monotonic in each of them."""
    ends = [_order_statistics(sorted(sample), 1 - (1 - LEVEL) / len(samples)) for sample in samples]
    known = [found for found in ends if found]
    if len(known) < len(ends):
        return None
    try:
        corners = [combine(*corner) for corner in product(*known)]
    except ZeroDivisionError:
        return None
    return Interval(min(corners), max(corners), LEVEL, "order statistics")


def _variance(
    samples: Sequence[Sequence[Value]],
    reduced: Sequence[float],
    index: int,
    reduce: Callable[[Sequence[Value]], float],
    combine: Callable[..., float],
) -> float:
    """Contribution of one sample to the variance of the statistic (delete-one jackknife)."""
    sample = samples[index]
    left_out = []
    for skipped in range(len(sample)):
        others = [*sample[:skipped], *sample[skipped + 1 :]]
        left_out.append(combine(*reduced[:index], reduce(others), *reduced[index + 1 :]))
    centre = mean(left_out)
    return fsum((value - centre) ** 2 for value in left_out) * (len(sample) - 1) / len(sample)


def _freedom(variances: Sequence[float], samples: Sequence[Sequence[Value]]) -> int:
    parts = fsum(each**2 / (len(sample) - 1) for each, sample in zip(variances, samples, strict=True))
    # Rounding could otherwise exceed the degrees of freedom where one sample has all of the variance.
    return floor(fsum(variances) ** 2 / parts + 1e-9) if parts > 0 else len(samples[0]) - 1


def _order_statistics(ascending: Sequence[float], level: float) -> tuple[float, float] | None:
    """The innermost two values between which the median lies with at least this probability."""
    count = len(ascending)
    cut, outside = 0, 0.0
    while 2 * (outside + comb(count, cut) / 2**count) <= 1 - level + 1e-12:
        outside += comb(count, cut) / 2**count
        cut += 1
    return (ascending[cut - 1], ascending[count - cut]) if cut else None
