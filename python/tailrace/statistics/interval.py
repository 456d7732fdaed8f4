"""Confidence intervals of means and medians of few trials.

The interval of a mean is Student's, that of a positive one on the log scale: the mean times and
over the exponential of a multiple of its relative standard error. Several samples have the degrees
of freedom of Welch (1947). The quantile is that of `student_quantile`, with which simulations
confirm the printed level of 90 % (`scripts/coverage.py`). The interval of a median takes two of the
values, at a level that holds exactly for any distribution.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import comb, exp, fsum, inf, prod, sqrt

from tailrace.statistics.errors import mean_error, welch_freedom
from tailrace.statistics.sample import mean
from tailrace.statistics.student import student_quantile

Bounds = tuple[float, float]

LEVEL = 0.9
"""Every interval is printed with this level; it covers in 85 to 96 % of simulated cases."""
LEVEL_TEXT = f"{LEVEL:.0%}".replace("%", " %")
LOG_METHOD = "log scale"
LOG_MAX = 700.0
"""Beyond it an exponential overflows."""
VALUES_MIN = 3
"""Two values hardly determine a variance."""


@dataclass(frozen=True)
class Interval:
    """A confidence interval of `level` (0 to 1), in the statistic's unit."""

    low: float
    high: float
    level: float
    method: str

    def scaled(self, factor: float, shift: float = 0.0) -> "Interval":
        """The interval of the figure times `factor` plus `shift`; a negative factor reverses it."""
        low, high = sorted((self.low * factor + shift, self.high * factor + shift))
        return replace(self, low=low, high=high)


def mean_interval(
    values: Sequence[float], *, bounds: Bounds = (-inf, inf), level: float = LEVEL
) -> Interval | None:
    """Interval of a mean, such as one of shares, within the possible range; None below three
    values."""
    if len(values) < VALUES_MIN:
        return None
    centre, reach = mean(values), student_quantile(len(values) - 1, level) * mean_error(values)
    return Interval(
        max(bounds[0], centre - reach), min(bounds[1], centre + reach), level, "Student"
    )


def mean_log_interval(
    above: Sequence[float],
    *others: Sequence[float],
    below: Sequence[Sequence[float]] = (),
    level: float = LEVEL,
) -> Interval | None:
    """Interval of a positive mean on the log scale, or of a product of means over that of the means
    `below`.

    It never holds zero. None where a sample has fewer than three values, a negative one, or none
    above zero.
    """
    samples = [above, *others, *below]
    if min(len(sample) for sample in samples) < VALUES_MIN:
        return None
    if min(min(sample) for sample in samples) < 0 or min(max(sample) for sample in samples) == 0:
        return None
    variances = [(mean_error(sample) / mean(sample)) ** 2 for sample in samples]
    freedom = welch_freedom(variances, [len(sample) for sample in samples])
    reach = exp(min(LOG_MAX, student_quantile(freedom, level) * sqrt(fsum(variances))))
    centre = prod(mean(sample) for sample in (above, *others)) / prod(
        mean(sample) for sample in below
    )
    return Interval(centre / reach, centre * reach, level, LOG_METHOD)


def median_interval(
    samples: Sequence[Sequence[float]], *, combine: Callable[..., float] = float
) -> Interval | None:
    """Interval of `combine(median of the first sample, ...)`, which must be monotonic in each of
    them."""
    ends = [_order_statistics(sorted(sample), 1 - (1 - LEVEL) / len(samples)) for sample in samples]
    known = [found for found in ends if found]
    if len(known) < len(ends):
        return None
    try:
        corners = [combine(*corner) for corner in product(*known)]
    except ZeroDivisionError:
        return None
    return Interval(min(corners), max(corners), LEVEL, "order statistics")


def _order_statistics(ascending: Sequence[float], level: float) -> tuple[float, float] | None:
    """The innermost two values between which the median lies with at least this probability."""
    count = len(ascending)
    cut, outside = 0, 0.0
    while 2 * (outside + comb(count, cut) / 2**count) <= 1 - level + 1e-12:
        outside += comb(count, cut) / 2**count
        cut += 1
    return (ascending[cut - 1], ascending[count - cut]) if cut else None
