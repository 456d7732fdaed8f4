"""Confidence interval of a share (Clopper and Pearson 1934, Biometrika 26), which covers at least at its level."""

from collections.abc import Callable
from math import comb

from tailrace.statistics.interval import LEVEL, Interval

HALVINGS = 60


def share_interval(held: int, count: int, level: float = LEVEL) -> Interval:
    """Of the probability with which something holds, from a number of independent trials; both ends 0 to 1."""
    if count == 0:
        return Interval(0.0, 1.0, level, "Clopper-Pearson")
    tail = (1 - level) / 2
    low = 0.0 if held == 0 else _root(lambda share: _at_least(held, count, share) < tail)
    high = 1.0 if held == count else _root(lambda share: 1 - _at_least(held + 1, count, share) > tail)
    return Interval(low, high, level, "Clopper-Pearson")


def _at_least(held: int, count: int, share: float) -> float:
    return sum(comb(count, n) * share**n * (1 - share) ** (count - n) for n in range(held, count + 1))


def _root(is_below: Callable[[float], bool]) -> float:
    low, high = 0.0, 1.0
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if is_below(middle) else (low, middle)
    return (low + high) / 2
