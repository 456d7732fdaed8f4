"""Bootstrap intervals: percentile and BCa (Efron 1987, `Better Bootstrap Confidence Intervals`, JASA 82).

Up to seven values all resamples are enumerated, so that the interval of one sample, and of two small ones, involves no
luck at all; otherwise resamples are drawn from a named stream.

Plain bootstrap intervals of few values are too narrow: at a nominal 95 % they covered the mean of normal values in
83 % of cases with five trials and 86 % with six. The tails are therefore moved outwards as if by Student's t
(Hesterberg 2015, `What Teachers Should Know About the Bootstrap`, section 5: expanded intervals), which brings both
to 92-93 %.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations_with_replacement
from math import factorial, fsum, prod, sqrt
from random import Random
from statistics import NormalDist
from typing import Literal, TypeVar

from tailrace.statistics.sample import mean
from tailrace.statistics.student import t_quantile

Value = TypeVar("Value")
Method = Literal["percentile", "bca"]
Weighted = list[tuple[float, float]]

# Seven values have 1716 different resamples, eight have 6435: beyond, drawing is cheaper.
ENUMERATED_VALUES_MAX = 7
# Two samples of five have 126 x 126 different pairs of resamples, two of six 462 x 462.
ENUMERATED_PAIRS_MAX = 20_000
# Davison and Hinkley 1997: 999 or more for 95 % intervals; expanded ones look further into the tails.
RESAMPLES = 9_999
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
    luck: Random,
    *,
    reduce: Callable[[Sequence[Value]], float],
    combine: Callable[..., float] = float,
    level: float = 0.95,
    method: Method = "bca",
    is_expanded: bool = True,
) -> Interval | None:
    """Interval of `combine(reduce(first sample), reduce(second sample) ...)`, such as a ratio of means.

    Each sample is resampled by itself; paired data are one sample of tuples. None where a sample is too small for an
    interval to mean anything, or where the statistic does not exist.
    """
    if min(len(sample) for sample in samples) < VALUES_MIN:
        return None
    try:
        reduced = [reduce(sample) for sample in samples]
        estimate = combine(*reduced)
        weighted = sorted(_resampled(samples, reduce, combine, luck))
        tails = _tails(level, min(len(sample) for sample in samples) if is_expanded else None)
        if method == "bca":
            tails = _corrected(tails, weighted, estimate, _acceleration(samples, reduced, reduce, combine))
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
    samples: Sequence[Sequence[Value]],
    reduce: Callable[[Sequence[Value]], float],
    combine: Callable[..., float],
    luck: Random,
) -> Weighted:
    """Statistics of resamples with their weights."""
    if all(len(sample) <= ENUMERATED_VALUES_MAX for sample in samples):
        enumerated = [_enumerated(sample, reduce) for sample in samples]
        if prod(len(reductions) for reductions in enumerated) <= ENUMERATED_PAIRS_MAX:
            chosen: list[tuple[tuple[float, ...], float]] = [((), 1.0)]
            for reductions in enumerated:
                chosen = [((*values, value), weight * w) for values, weight in chosen for value, w in reductions]
            return [(combine(*values), weight) for values, weight in chosen]
    drawn = [_drawn(sample, reduce, luck) for sample in samples]
    return [(combine(*values), 1.0) for values in zip(*drawn, strict=True)]


def _enumerated(sample: Sequence[Value], reduce: Callable[[Sequence[Value]], float]) -> Weighted:
    """Every resample reduced, with the number of its arrangements."""
    return [(reduce([sample[index] for index in chosen]), weight) for chosen, weight in _resamples(len(sample))]


@cache
def _resamples(count: int) -> tuple[tuple[tuple[int, ...], float], ...]:
    """Indices of every resample of `count` values, with the number of its arrangements."""
    return tuple(
        (chosen, float(factorial(count) // prod(factorial(times) for times in Counter(chosen).values())))
        for chosen in combinations_with_replacement(range(count), count)
    )


def _drawn(sample: Sequence[Value], reduce: Callable[[Sequence[Value]], float], luck: Random) -> list[float]:
    """Reductions of drawn resamples. Few values are reduced once for each resample, and then drawn by their weights."""
    if len(sample) <= ENUMERATED_VALUES_MAX:
        values, weights = zip(*_enumerated(sample, reduce), strict=True)
        return luck.choices(values, weights, k=RESAMPLES)
    return [reduce(luck.choices(sample, k=len(sample))) for _ in range(RESAMPLES)]


def _corrected(
    tails: tuple[float, float], weighted: Weighted, estimate: float, acceleration: float
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


def _acceleration(
    samples: Sequence[Sequence[Value]],
    reduced: Sequence[float],
    reduce: Callable[[Sequence[Value]], float],
    combine: Callable[..., float],
) -> float:
    """Skewness of the jackknife, over all samples together (Davison and Hinkley 1997, equation 5.49)."""
    cubes = squares = 0.0
    for index, sample in enumerate(samples):
        left_out = []
        for skipped in range(len(sample)):
            others = [*sample[:skipped], *sample[skipped + 1 :]]
            left_out.append(combine(*reduced[:index], reduce(others), *reduced[index + 1 :]))
        centre = mean(left_out)
        influences = [(len(sample) - 1) * (centre - value) for value in left_out]
        cubes += fsum(influence**3 for influence in influences) / len(sample) ** 3
        squares += fsum(influence**2 for influence in influences) / len(sample) ** 2
    return cubes / (6 * squares**1.5) if squares > 0 else 0.0


def _at(weighted: Weighted, fraction: float) -> float:
    """Smallest value that at least `fraction` of the weight does not exceed."""
    remaining = fraction * fsum(weight for _, weight in weighted)
    for value, weight in weighted:
        remaining -= weight
        if remaining <= 0:
            return value
    return weighted[-1][0]
