"""Location of one sample."""

from collections.abc import Sequence
from math import floor, fsum


def mean(values: Sequence[float]) -> float:
    """Arithmetic mean. `values` is not empty."""
    return fsum(values) / len(values)


def median(values: Sequence[float]) -> float:
    """Middle value; the mean of the two middle values of an even number. `values` is not empty."""
    return quantile(sorted(values), 0.5)


def quantile(ascending: Sequence[float], fraction: float) -> float:
    """Quantile by linear interpolation (Hyndman and Fan 1996, type 7) of values in ascending order.

    `fraction` is between 0 and 1.
    """
    position = (len(ascending) - 1) * fraction
    below = floor(position)
    above = min(below + 1, len(ascending) - 1)
    weight = position - below
    return ascending[below] * (1 - weight) + ascending[above] * weight
