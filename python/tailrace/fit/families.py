"""Named families of distributions: their parameters from a sample, and how likely the sample is
under each.

Families are compared by Akaike's criterion, AIC = 2 k - 2 ln L (IEEE Transactions on Automatic
Control 19 (1974), p. 716), with k parameters and the largest likelihood L: the distance of
cumulative distributions hardly depends on tails, and the likelihood does.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean, pstdev

ERLANG_SHAPES = range(2, 101)
SIGMA_MAX = 5.0
"""Largest sigma of a lognormal distribution in a scenario."""
NORMAL_LEAST = 3
"""A normal distribution has this many standard deviations above zero: values below zero are cut
off."""
SMALLEST = 0.5
"""Values are rounded to whole units: zero stands for values below this."""
TAIL_SHARE = 0.01
"""Share of values in the tail that is compared."""
TAIL_DEVIATIONS = 2.576
"""99 % of the ranks of a percentile among sorted values are within this many standard deviations.
"""
TAIL_OFF_MAX = 0.05
"""A percentile may be beyond its bounds by this share: values are written with four digits, and
samples have noise."""


@dataclass(frozen=True)
class Family:
    """A member of a family, as a scenario states it."""

    text: str
    parameters: int
    log_likelihood: float

    @property
    def criterion(self) -> float:
        """Akaike's; the smallest is the best."""
        return 2 * self.parameters - 2 * self.log_likelihood


def families(sample: Sequence[float], write: Callable[[float], str]) -> Iterator[Family]:
    """The members that fit a sorted sample with a spread; `write` makes a quantity of a number."""
    count, mean, deviation = len(sample), fmean(sample), pstdev(sample)
    yield Family(f"exponential({write(mean)})", 1, -count * (math.log(mean) + 1))
    span = sample[-1] - sample[0]
    yield Family(f"uniform({write(sample[0])}, {write(sample[-1])})", 2, -count * math.log(span))
    logarithms = [math.log(max(SMALLEST, value)) for value in sample]
    of_logarithms = fmean(logarithms)
    if sample[0] > 0 and (sigma := pstdev(logarithms)) <= SIGMA_MAX:
        likelihood = -count * (math.log(sigma) + _HALF_LOG_TAU + 0.5 + of_logarithms)
        yield Family(f"lognormal({write(math.exp(of_logarithms))}, {sigma:.3f})", 2, likelihood)
    shape = round((mean / deviation) ** 2)
    if shape in ERLANG_SHAPES:
        each = (
            shape * math.log(shape / mean)
            + (shape - 1) * of_logarithms
            - shape
            - math.lgamma(shape)
        )
        yield Family(f"erlang({write(mean)}, {shape})", 2, count * each)
    if mean > NORMAL_LEAST * deviation:
        likelihood = -count * (math.log(deviation) + _HALF_LOG_TAU + 0.5)
        yield Family(f"normal({write(mean)}, {write(deviation)})", 2, likelihood)


def is_tail_near(sample: Sequence[float], above: Callable[[float], float]) -> bool:
    """Whether the 99th percentile of a distribution is within the bounds of that of a sorted
    sample.

    `above` is the probability of larger values.
    """
    count = len(sample)
    rank, spread = (
        count * (1 - TAIL_SHARE),
        TAIL_DEVIATIONS * math.sqrt(count * TAIL_SHARE * (1 - TAIL_SHARE)),
    )
    low = sample[max(0, math.floor(rank - spread))] * (1 - TAIL_OFF_MAX)
    high = math.ceil(rank + spread)
    # Above the largest value of a sample the percentile has no bound.
    return above(low) >= TAIL_SHARE and (
        high >= count or above(sample[high] * (1 + TAIL_OFF_MAX)) <= TAIL_SHARE
    )


_HALF_LOG_TAU = math.log(math.tau) / 2
