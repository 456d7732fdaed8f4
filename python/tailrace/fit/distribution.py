"""Distributions of what was seen: a simple one where it fits, otherwise the empirical one."""

import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tailrace.statistics import mean

POINTS = 40
"""Points of an empirical distribution."""
SAME_SHARE = 0.02
"""A spread (standard deviation over mean) below this is a constant."""
KS_LEAST, KS_FACTOR = 0.02, 1.36
"""A simple distribution is taken below 1.36 / sqrt(n), the 5 % point of Kolmogorov and Smirnov for known parameters,
and at least at 0.02: of many values every simple distribution is rejected.
"""
SIZE, TIME = "B", "ns"


@dataclass(frozen=True)
class Fitted:
    """A distribution as a scenario writes it."""

    value: Any
    """Text, or a mapping with `cdf`."""
    mean: float
    """Of what was seen, in bytes or nanoseconds."""
    count: int
    distance: float
    """Largest difference of the cumulative distributions (Kolmogorov and Smirnov), 0 to 1."""

    @property
    def words(self) -> str:
        """What it is, with its distance."""
        kind = "empirical" if isinstance(self.value, dict) else str(self.value)
        return f"{kind}, {self.count} values, distance {self.distance:.3f}"


def fit(values: Sequence[float], unit: str) -> Fitted:
    """The simplest distribution that fits at least one value: constant, exponential, uniform, empirical."""
    ordered = sorted(values)
    middle = mean(ordered)
    spread = math.sqrt(sum((value - middle) ** 2 for value in ordered) / len(ordered))
    if spread <= SAME_SHARE * middle or middle <= 0:
        at = max(0.0, middle)
        return Fitted(
            _text(at, unit), middle, len(ordered), _distance(ordered, lambda x: 1.0 if x >= at * 0.98 else 0.0)
        )
    candidates = [
        (f"exponential({_text(middle, unit)})", _distance(ordered, lambda x: 1 - math.exp(-x / middle))),
    ]
    low, high = max(0.0, middle - math.sqrt(3) * spread), middle + math.sqrt(3) * spread
    if low > 0:
        uniform = f"uniform({_text(low, unit)}, {_text(high, unit)})"
        candidates.append((uniform, _distance(ordered, lambda x: min(1.0, max(0.0, (x - low) / (high - low))))))
    best, distance = min(candidates, key=lambda one: one[1])
    if distance <= max(KS_LEAST, KS_FACTOR / math.sqrt(len(ordered))):
        return Fitted(best, middle, len(ordered), distance)
    return _empirical(ordered, middle, unit)


def _empirical(ordered: Sequence[float], middle: float, unit: str) -> Fitted:
    """Quantiles, between which a scenario is linear."""
    points = _steps(ordered) or _quantiles(ordered)
    cdf = [[f"{value}{unit}", f"{100 * share:g}%"] for value, share in points]
    line = [(float(value), share) for value, share in points]
    return Fitted({"cdf": cdf}, middle, len(ordered), _distance(ordered, lambda x: _linear(line, x)))


def _steps(ordered: Sequence[float]) -> list[tuple[int, float]]:
    """A step at each value, where there are few; empty where there are many."""
    counts = Counter(round(value) for value in ordered)
    if len(counts) > POINTS // 2:
        return []
    points: list[tuple[int, float]] = []
    below = 0
    for value in sorted(counts):
        points.append((max(0, value - 1), below / len(ordered)))
        below += counts[value]
        points.append((value, below / len(ordered)))
    # A value of zero, or one just above another, has no room for its step.
    return [point for place, point in enumerate(points) if place + 1 == len(points) or points[place + 1][0] > point[0]]


def _quantiles(ordered: Sequence[float]) -> list[tuple[int, float]]:
    points: list[tuple[int, float]] = []
    for number in range(POINTS + 1):
        share = number / POINTS
        value = round(ordered[min(len(ordered) - 1, math.floor(share * (len(ordered) - 1)))])
        if points and points[-1][0] == value:
            points[-1] = (value, share)
        else:
            points.append((value, share))
    if points[0][1] > 0:  # more than one value is the smallest: a step there
        points.insert(0, (max(0, points[0][0] - 1), 0.0))
    return points


def _linear(points: Sequence[tuple[float, float]], x: float) -> float:
    place = bisect_right(points, (x, 2.0))
    if place == 0:
        return 0.0
    if place == len(points):
        return 1.0
    (x0, y0), (x1, y1) = points[place - 1], points[place]
    return y0 + (y1 - y0) * (x - x0) / (x1 - x0) if x1 > x0 else y1


def _distance(ordered: Sequence[float], cumulative: Any) -> float:
    """Kolmogorov and Smirnov, at the values; ties count once, from above."""
    count, worst = len(ordered), 0.0
    for place, value in enumerate(ordered):
        if place + 1 < count and ordered[place + 1] == value:
            continue
        worst = max(worst, abs((place + 1) / count - cumulative(value)))
    return worst


def distance_between(first: Sequence[float], second: Sequence[float]) -> float:
    """Kolmogorov and Smirnov of two samples, neither of them empty."""
    a, b = sorted(first), sorted(second)
    places = sorted({*a, *b})
    return max(abs(bisect_right(a, x) / len(a) - bisect_right(b, x) / len(b)) for x in places)


def _text(value: float, unit: str) -> str:
    return f"{max(0, round(value))}{unit}"
