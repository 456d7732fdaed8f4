"""Standard errors of figures of few trials, and the t of scores."""

from collections.abc import Sequence
from math import copysign, floor, fsum, inf, sqrt

from tailrace.statistics.sample import mean


def squares(values: Sequence[float], centre: float) -> float:
    """Sum of squared deviations."""
    return fsum((value - centre) ** 2 for value in values)


def mean_error(values: Sequence[float]) -> float:
    """Standard error of the mean of at least two values."""
    return sqrt(squares(values, mean(values)) / (len(values) - 1) / len(values))


def jackknife_error(left_out: Sequence[float]) -> float:
    """Standard error of a figure from its values without one trial each."""
    return sqrt(squares(left_out, mean(left_out)) * (len(left_out) - 1) / len(left_out))


def sectioning_error(own: Sequence[float], centre: float) -> float:
    """Standard error of a figure of all trials, `centre`, from its values in each of them."""
    return sqrt(squares(own, centre) / (len(own) - 1) / len(own))


def t_of(values: Sequence[float]) -> float:
    """Mean of at least two values over its standard error; infinite where they are equal, but for
    zeros."""
    return t_ratio(mean(values), mean_error(values))


def t_ratio(value: float, error: float) -> float:
    """A value over its standard error, which may be zero."""
    if error > 0:
        return value / error
    return copysign(inf, value) if value else 0.0


def welch_freedom(variances: Sequence[float], counts: Sequence[int]) -> int:
    """Degrees of freedom of a sum of means with these variances and numbers of values (Welch 1947),
    rounded down."""
    parts = fsum(each**2 / (count - 1) for each, count in zip(variances, counts, strict=True))
    # Rounding could otherwise exceed the degrees of freedom where one sample has all of the
    # variance.
    return floor(fsum(variances) ** 2 / parts + 1e-9) if parts > 0 else min(counts) - 1
