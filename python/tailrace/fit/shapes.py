"""The distribution of a sample in the language of scenarios, and how far it is from the sample."""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from statistics import fmean, pstdev
from typing import Any

from tailrace.fit.families import families, is_tail_near
from tailrace.fit.quantities import rounded, size_text, time_text
from tailrace.scenario.text.distribution import Distribution, parse_distribution
from tailrace.scenario.text.units import SIZE, TIME, Dimension

SAMPLE_LEAST = 10
"""Values below which a sample does not show a shape; its mean stands for it."""
SPREAD_CONSTANT = 0.02
"""A sample whose standard deviation is at most this share of its mean is one value."""
DISTANCE_GOOD = 0.05
"""A named shape is taken up to this Kolmogorov-Smirnov distance, or up to the 5 % bound of a sample
of its size."""
BOUND_5_PERCENT = 1.358
"""The Kolmogorov-Smirnov statistic times the root of the sample's size exceeds this with a
probability of 5 % (Kolmogorov's limit distribution).
"""
MEAN_OFF_MAX = 0.05
"""A named shape whose mean differs by more than this share is not taken."""
STEPS_MAX = 24
"""A sample with at most this many different values has a step for each."""
SHARES = (0, 1, 2, 5, *range(10, 100, 10), 95, 98, 99, 99.5, 99.9, 100)
"""Percentiles of an empirical distribution."""
EMPTY = 1.2
"""A range without values is stated as empty where its upper end is at least this many times its
lower one."""
COMPARED_MAX = 2_000
"""Quantiles at which a distribution is compared with a large sample: an error of the distance of at
most 0.0005."""
PS_PER_NS = 1000


@dataclass(frozen=True)
class Measure:
    """The quantity of a sample's values."""

    dimension: Dimension
    write: Callable[[float], str]
    round: Callable[[float], float]
    """Rounds to a value that can be written."""
    scale: int
    """Units of the scenario in a unit of the sample."""


SIZES = Measure(SIZE, size_text, round, 1)
"""Bytes."""
TIMES = Measure(TIME, time_text, rounded, PS_PER_NS)
"""Nanoseconds."""


@dataclass(frozen=True)
class Fitted:
    """A distribution and how well it fits; distances are those of the sample to the
    distribution."""

    value: Any
    """As a scenario states it: a quantity, a call such as `exponential(8ms)`, or a mapping
    `cdf`."""
    count: int
    mean: float
    """Of the sample, in bytes or ns."""
    distance: float
    """Kolmogorov-Smirnov: the largest difference of the two cumulative distributions, 0 to 1."""
    mean_off: float
    """Mean of the distribution relative to that of the sample, minus 1."""

    @property
    def is_constant(self) -> bool:
        """One value."""
        return isinstance(self.value, str) and "(" not in self.value


def fitted(values: Iterable[float], measure: Measure, *, keeps_few: bool = False) -> Fitted:
    """A distribution that is close to the values, of which there is at least one; `keeps_few` has a
    step for each where they are few, and not their mean.

    That is their mean where they hardly differ, else the likeliest named shape whose cumulative
    distribution, mean and tail are near, else their own percentiles.
    """
    sample = sorted(map(measure.round, values))
    mean, deviation = fmean(sample), pstdev(sample)
    if (len(sample) < SAMPLE_LEAST and not keeps_few) or deviation <= SPREAD_CONSTANT * mean:
        return _judged(measure.write(mean), sample, measure)
    good = max(DISTANCE_GOOD, BOUND_5_PERCENT / math.sqrt(len(sample)))
    if not _is_stepped(sample):
        likeliest_first = sorted(families(sample, measure.write), key=lambda one: one.criterion)
        for family in likeliest_first:
            one = _judged(family.text, sample, measure)
            if (
                abs(one.mean_off) <= MEAN_OFF_MAX
                and one.distance <= good
                and _has_tail(one, sample, measure)
            ):
                return one
    return _judged(empirical(sample, measure), sample, measure)


def empirical(sample: Sequence[float], measure: Measure) -> dict[str, Any]:
    """A sorted sample as points: a step for each value, or percentiles with straight lines between
    them."""
    points = _steps(sample) if _is_stepped(sample) else _percentiles(sample)
    return {"cdf": [[measure.write(value), f"{share:.4g}%"] for value, share in points]}


def distance(sample: Sequence[float], at_most: Callable[[float], float], step: float) -> float:
    """The Kolmogorov-Smirnov distance of a sorted sample to a cumulative distribution of multiples
    of `step`."""
    count, below, largest = len(sample), 0, 0.0
    for value, group in groupby(sample):
        upto = below + len(list(group))
        differences = (at_most(value) - upto / count, below / count - at_most(value - step))
        largest = max(largest, *map(abs, differences))
        below = upto
    return largest


def _has_tail(fit: Fitted, sample: Sequence[float], measure: Measure) -> bool:
    distribution = parse_distribution(fit.value, measure.dimension)
    return is_tail_near(sample, lambda bound: distribution.above(round(bound * measure.scale)))


def _judged(value: Any, sample: Sequence[float], measure: Measure) -> Fitted:
    distribution = parse_distribution(value, measure.dimension)
    mean = fmean(sample)

    def at_most(bound: float) -> float:
        return 1 - distribution.above(round(bound * measure.scale))

    apart = distance(_near(_thinned(sample), distribution, measure), at_most, 1 / measure.scale)
    off = distribution.mean / measure.scale / mean - 1 if mean else 0.0
    return Fitted(value, len(sample), mean, apart, off)


def _thinned(sample: Sequence[float]) -> Sequence[float]:
    if len(sample) <= COMPARED_MAX or _is_stepped(sample):
        return sample
    return [
        sample[round(at * (len(sample) - 1) / (COMPARED_MAX - 1))] for at in range(COMPARED_MAX)
    ]


def _near(sample: Sequence[float], distribution: Distribution, measure: Measure) -> Sequence[float]:
    """For one value: the sample without the spread that counts as none."""
    if "constant" not in distribution.raw:
        return sample
    mean = distribution.mean / measure.scale
    return sorted(
        mean if abs(value - mean) <= 3 * SPREAD_CONSTANT * mean else value for value in sample
    )


def _is_stepped(sample: Sequence[float]) -> bool:
    return len(set(sample)) <= STEPS_MAX


def _steps(sample: Sequence[float]) -> Iterator[tuple[float, float]]:
    before = 0
    for value, group in groupby(sample):
        after = before + len(list(group))
        yield value, 100 * before / len(sample)
        yield value, 100 * after / len(sample)
        before = after


def _percentiles(sample: Sequence[float]) -> Iterator[tuple[float, float]]:
    """Percentiles, and both ends of the widest empty range between two of them."""
    last = len(sample) - 1
    ranks = [round(last * share / 100) for share in SHARES]
    for rank, after in pairwise(ranks):
        yield sample[rank], 100 * rank / last
        if after - rank <= 1:
            continue
        widest = max(range(rank, after), key=lambda at: sample[at + 1] - sample[at])
        if sample[widest + 1] > EMPTY * max(1, sample[widest]):
            yield sample[widest], 100 * (widest + 1) / len(sample)
            yield sample[widest + 1], 100 * (widest + 1) / len(sample)
    yield sample[-1], 100
