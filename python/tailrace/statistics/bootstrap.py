"""Bootstrap intervals: percentile and BCa (Efron 1987, `Better Bootstrap Confidence Intervals`, JASA 82).

Up to seven values all resamples are enumerated, so that the interval involves no luck at all; above, resamples are
drawn from a named stream.

Plain bootstrap intervals of few values are too narrow: at a nominal 95 % they covered the mean of normal values in
83 % of cases with five trials and 86 % with six. The tails are therefore moved outwards as if by Student's t
(Hesterberg 2015, `What Teachers Should Know About the Bootstrap`, section 5: expanded intervals), which brings both
to 92-93 %.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement
from math import factorial, fsum, prod, sqrt
from random import Random
from statistics import NormalDist
from typing import Literal, TypeVar

from tailrace.statistics.sample import mean
from tailrace.statistics.student import t_quantile

Value = TypeVar("Value")
Method = Literal["percentile", "bca"]

# Seven values have 1716 different resamples, eight have 6435: beyond, drawing is cheaper.
ENUMERATED_VALUES_MAX = 7
# Davison and Hinkley 1997: 999 or more for 95 % intervals; the last digit shown is steady with this many.
RESAMPLES = 4_999
# Of three values even the widest interval, smallest to largest, covered the mean in 75 % of cases only.
VALUES_MIN = 4


@dataclass(frozen=True)
class Interval:
    """A confidence interval of nominal `level` (0 to 1), in the statistic's unit."""

    low: float
    high: float
    level: float
    method: str


def bootstrap_interval(
    samples: Sequence[Sequence[Value]],
    statistic: Callable[..., float],
    luck: Random,
    *,
    level: float = 0.95,
    method: Method = "bca",
    is_expanded: bool = True,
) -> Interval | None:
    """Interval of `statistic(*samples)`, each sample resampled by itself. Paired data are one sample of tuples.

    None where a sample is too small for an interval to mean anything, or where the statistic does not exist.
    """
    if min(len(sample) for sample in samples) < VALUES_MIN:
        return None
    try:
        estimate = statistic(*samples)
        weighted = sorted(_resampled(samples, statistic, luck))
        tails = _tails(level, min(len(sample) for sample in samples) if is_expanded else None)
        if method == "bca":
            tails = _corrected(tails, weighted, estimate, _acceleration(samples, statistic))
    except ZeroDivisionError:
        return None
    name = f"{method}, expanded" if is_expanded else method
    return Interval(_at(weighted, tails[0]), _at(weighted, tails[1]), level, name)


def _tails(level: float, expanded_for: int | None) -> tuple[float, float]:
    """Fractions of the resamples below each end; further out for `expanded_for` values."""
    if expanded_for is None:
        return (1 - level) / 2, (1 + level) / 2
    spread = sqrt(expanded_for / (expanded_for - 1)) * t_quantile((1 + level) / 2, expanded_for - 1)
    return NormalDist().cdf(-spread), NormalDist().cdf(spread)


def _resampled(
    samples: Sequence[Sequence[Value]], statistic: Callable[..., float], luck: Random
) -> Iterator[tuple[float, float]]:
    """Pairs (statistic of a resample, its weight)."""
    if len(samples) == 1 and len(samples[0]) <= ENUMERATED_VALUES_MAX:
        yield from _enumerated(samples[0], statistic)
        return
    for _ in range(RESAMPLES):
        yield statistic(*(luck.choices(sample, k=len(sample)) for sample in samples)), 1.0


def _enumerated(sample: Sequence[Value], statistic: Callable[..., float]) -> Iterator[tuple[float, float]]:
    count = len(sample)
    for chosen in combinations_with_replacement(range(count), count):
        arrangements = factorial(count) // prod(factorial(times) for times in Counter(chosen).values())
        yield statistic([sample[index] for index in chosen]), float(arrangements)


def _corrected(
    tails: tuple[float, float], weighted: list[tuple[float, float]], estimate: float, acceleration: float
) -> tuple[float, float]:
    """Tail fractions after the corrections for bias and skewness; as they were where all resamples agree."""
    total = fsum(weight for _, weight in weighted)
    below = fsum(weight for value, weight in weighted if value < estimate)
    equal = fsum(weight for value, weight in weighted if value == estimate)
    share_below = (below + equal / 2) / total
    if not 0 < share_below < 1:
        return tails
    normal = NormalDist()
    bias = normal.inv_cdf(share_below)

    def moved(tail: float) -> float:
        z = bias + normal.inv_cdf(tail)
        return normal.cdf(bias + z / (1 - acceleration * z))

    return moved(tails[0]), moved(tails[1])


def _acceleration(samples: Sequence[Sequence[Value]], statistic: Callable[..., float]) -> float:
    """Skewness of the jackknife, over all samples together (Davison and Hinkley 1997, equation 5.49)."""
    cubes = squares = 0.0
    for index, sample in enumerate(samples):
        left_out = [_without(samples, index, value, statistic) for value in range(len(sample))]
        centre = mean(left_out)
        influences = [(len(sample) - 1) * (centre - value) for value in left_out]
        cubes += fsum(influence**3 for influence in influences) / len(sample) ** 3
        squares += fsum(influence**2 for influence in influences) / len(sample) ** 2
    return cubes / (6 * squares**1.5) if squares > 0 else 0.0


def _without(samples: Sequence[Sequence[Value]], index: int, left_out: int, statistic: Callable[..., float]) -> float:
    kept = [list(sample) for sample in samples]
    del kept[index][left_out]
    return statistic(*kept)


def _at(weighted: list[tuple[float, float]], fraction: float) -> float:
    """Smallest value that at least `fraction` of the weight does not exceed."""
    remaining = fraction * fsum(weight for _, weight in weighted)
    for value, weight in weighted:
        remaining -= weight
        if remaining <= 0:
            return value
    return weighted[-1][0]
