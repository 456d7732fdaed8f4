"""Rank statistics: robust against outliers, exact for small samples."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from math import comb, fsum
from random import Random

from tailrace.statistics.interval import LEVEL
from tailrace.statistics.permutation import TestResult, permutation_test
from tailrace.statistics.sample import median


@dataclass(frozen=True)
class Shift:
    """Hodges-Lehmann estimate of the shift from the first to the second sample, in the samples' unit.

    The `level` of the interval is exact for any distribution; the interval is None for too few trials.
    """

    estimate: float
    low: float | None
    high: float | None
    level: float | None


def cliffs_delta(a: Sequence[float], b: Sequence[float]) -> float:
    """Cliff's delta, -1 to 1: the probability that a value of `b` is above one of `a`, minus that of the opposite."""
    return sum((y > x) - (y < x) for x in a for y in b) / (len(a) * len(b))


def mann_whitney_test(a: Sequence[float], b: Sequence[float], random: Random) -> TestResult:
    """Mann-Whitney U test, two-sided: a permutation test of the ranks (ties share their mean rank)."""
    ranks = _mean_ranks([*a, *b])
    result = permutation_test(ranks[: len(a)], ranks[len(a) :], random)
    name = "exact Mann-Whitney test" if result.is_exact else "Mann-Whitney test, drawn"
    return TestResult(result.p_value, result.p_smallest, name, result.is_exact)


def hodges_lehmann(a: Sequence[float], b: Sequence[float], *, paired: bool, level: float = LEVEL) -> Shift:
    """Shift from `a` to `b`: median of all differences; of all means of two differences where `paired`."""
    if paired:
        differences = [y - x for x, y in zip(a, b, strict=True)]
        steps = sorted((x + y) / 2 for i, x in enumerate(differences) for y in differences[i:])
        ways = _signed_rank_ways(len(differences))
        total = 2 ** len(differences)
    else:
        steps = sorted(y - x for x in a for y in b)
        ways = _rank_sum_ways(len(a), len(b))
        total = comb(len(a) + len(b), len(a))
    cut = 0
    outside = 0.0
    for count in ways:
        if 2 * (outside + count / total) > 1 - level + 1e-12:
            break
        outside += count / total
        cut += 1
    if cut == 0:
        return Shift(median(steps), None, None, None)
    return Shift(median(steps), steps[cut - 1], steps[len(steps) - cut], 1 - 2 * outside)


def _mean_ranks(values: Sequence[float]) -> list[float]:
    below = [sum(other < value for other in values) for value in values]
    equal = [sum(other == value for other in values) for value in values]
    return [fsum((low, (same + 1) / 2)) for low, same in zip(below, equal, strict=True)]


@cache
def _rank_sum_ways(first: int, second: int) -> tuple[int, ...]:
    """Number of arrangements with U = 0, 1, 2 ...: coefficients of the Gaussian binomial."""
    ways = [1] + [0] * (first * second)
    for part in range(1, first + 1):
        for u in range(len(ways) - 1, second + part - 1, -1):
            ways[u] -= ways[u - second - part]
        for u in range(part, len(ways)):
            ways[u] += ways[u - part]
    return tuple(ways)


@cache
def _signed_rank_ways(count: int) -> tuple[int, ...]:
    """Number of sign patterns with a signed-rank sum of 0, 1, 2 ..."""
    ways = [1] + [0] * (count * (count + 1) // 2)
    for rank in range(1, count + 1):
        for total in range(len(ways) - 1, rank - 1, -1):
            ways[total] += ways[total - rank]
    return tuple(ways)
