"""Latency histograms as trials record them: counts by upper edge, and the latencies censored by the
end of a trial.

A transaction that was running when its trial ended has a latency of which only a lower bound is
known: it is censored. Omitting it would bias latencies downwards, the more so the more congested
the network is. Shares are therefore estimated by the product-limit method (Kaplan and Meier 1958,
`Nonparametric Estimation from Incomplete Observations`, JASA 53): at every latency, the
transactions that ended then are counted relative to those that had run for at least as long. Beyond
the longest censored latency the distribution is unknown, and a percentile that lies there is a
lower bound. So is one that lies where fewer than `FOLLOWED_MIN` of the transactions could be
observed: where a queue grows until the end, the slowest transaction that ended stands for all that
were censored.
"""

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise
from math import ceil

from tailrace.outcome.types import CutOff, Latency, Workload
from tailrace.statistics.survival import Survival

PS_PER_MS = 1_000_000_000
# Rounding of a product of many factors; a share that is an exact fraction is met within this.
TOLERANCE = 1e-12
FOLLOWED_MIN = 0.1
"""Share of the values that were observed for as long as a percentile, at least; a percentile of
fewer is a bound."""


@dataclass(frozen=True)
class Estimate:
    """A figure in milliseconds; where `is_bound`, a lower bound of it."""

    ms: float
    is_bound: bool


@dataclass(frozen=True)
class Histogram:
    """Latencies of one trial, or of several together: `cumulative[i]` ended after at most
    `edges_ps[i]`, ascending."""

    edges_ps: Sequence[int]
    cumulative: Sequence[int]
    cuts: Mapping[int, int]
    """Values with a known lower bound, by bound: a trial ended, or a program reported no more.
    Bounds ascend."""
    sum_ps: float
    min_ps: int
    max_ps: int
    cut_off: int = 0
    """Number of values that the end of a trial has censored."""
    longest_cut_off_ps: int = 0

    @classmethod
    def from_workloads(cls, workloads: Iterable[Workload]) -> "Histogram | None":
        """Pools the outcomes of a workload. None when none of them has a recorded or censored
        value."""
        listed = list(workloads)
        cut_off = [own.cut_off for own in listed if own.cut_off.count > 0]
        return cls.from_outcomes([own.latency for own in listed], cut_off)

    @classmethod
    def from_outcomes(
        cls, latencies: Iterable[Latency | None], cut_off: Sequence[CutOff] = ()
    ) -> "Histogram | None":
        """Pools the latencies of outcomes and the transactions that their ends cut off. None
        without a value."""
        recorded = [latency for latency in latencies if latency and latency.count > 0]
        if not recorded and not cut_off:
            return None
        above = [latency.above for latency in recorded if latency.above]
        return cls.counted(
            _counts(one.buckets for one in recorded),
            _counts(one.buckets for one in [*cut_off, *above]),
            sum_ps=sum(latency.mean_ps * latency.count for latency in recorded),
            min_ps=min((latency.min_ps for latency in recorded), default=0),
            max_ps=max((latency.max_ps for latency in recorded), default=0),
            cut_off=sum(found.count for found in cut_off),
            longest_cut_off_ps=max((found.longest_ps for found in [*cut_off, *above]), default=0),
        )

    @classmethod
    def together(cls, trials: Sequence["Histogram"]) -> "Histogram":
        """All values of these, at least one."""
        return cls.counted(
            _counts(one.buckets for one in trials),
            _counts(one.cuts.items() for one in trials),
            sum_ps=sum(one.sum_ps for one in trials),
            min_ps=min((one.min_ps for one in trials if one.count), default=0),
            max_ps=max(one.max_ps for one in trials),
            cut_off=sum(one.cut_off for one in trials),
            longest_cut_off_ps=max(one.longest_cut_off_ps for one in trials),
        )

    @classmethod
    def counted(
        cls,
        ended: Mapping[int, int],
        cuts: Mapping[int, int],
        *,
        sum_ps: float,
        min_ps: int,
        max_ps: int,
        cut_off: int = 0,
        longest_cut_off_ps: int = 0,
    ) -> "Histogram":
        """From numbers of values by upper edge, and of censored values by bound."""
        edges = sorted(ended)
        cumulative = list(accumulate(ended[edge] for edge in edges))
        ordered = {edge: cuts[edge] for edge in sorted(cuts)}
        return cls(edges, cumulative, ordered, sum_ps, min_ps, max_ps, cut_off, longest_cut_off_ps)

    @property
    def buckets(self) -> Iterable[tuple[int, int]]:
        """Upper edges, and the number of values that ended in each bucket."""
        counts = (after - before for before, after in pairwise([0, *self.cumulative]))
        return zip(self.edges_ps, counts, strict=True)

    @cached_property
    def censored(self) -> int:
        """Number of values of which a lower bound is known."""
        return sum(self.cuts.values())

    @cached_property
    def values(self) -> int:
        """Number of recorded and censored values."""
        return self.count + self.censored

    @cached_property
    def shares(self) -> Sequence[float]:
        """Estimated share of all values, censored ones included, that end after at most each
        edge."""
        if not self.cuts:
            return [n / self.count for n in self.cumulative]
        return [1 - self._survival.beyond(edge) for edge in self.edges_ps]

    @cached_property
    def _survival(self) -> Survival:
        return Survival(self.ended_by, self.values, self.cuts)

    def ended_by(self, latency_ps: float) -> int:
        """Number of values that ended after at most this."""
        at = bisect_right(self.edges_ps, latency_ps)
        return self.cumulative[at - 1] if at else 0

    def surviving(self, latency_ps: float) -> float:
        """Estimated share of the values beyond a latency."""
        if not self.cuts:
            return 1 - self.ended_by(latency_ps) / self.count
        return self._survival.beyond(latency_ps)

    @cached_property
    def count(self) -> int:
        """Number of recorded values."""
        return self.cumulative[-1] if self.cumulative else 0

    @property
    def longest_ms(self) -> float:
        """The longest recorded or censored value."""
        return max(self.max_ps, self.longest_cut_off_ps) / PS_PER_MS

    def mean_ms(self) -> Estimate:
        """Mean; without censored values from the exact sums, not from the buckets.

        With censored values it is the area above the estimated distribution, up to the longest
        value.
        """
        if not self.censored:
            return Estimate(self.sum_ps / self.count / PS_PER_MS, is_bound=False)
        area_ps, before_ps, running = 0.0, 0, 1.0
        for edge, share in zip(self.edges_ps, self.shares, strict=True):
            edge_ps = min(edge, self.max_ps)
            area_ps += (edge_ps - before_ps) * running
            before_ps, running = edge_ps, 1 - share
        longest_ps = max(self.max_ps, self.longest_cut_off_ps)
        is_bound = running > TOLERANCE or self._is_hardly_followed(-1)
        return Estimate((area_ps + (longest_ps - before_ps) * running) / PS_PER_MS, is_bound)

    def max_ms(self) -> Estimate:
        """The longest value; a bound where it is censored, or where hardly any value was observed
        for that long."""
        is_censored = self.longest_cut_off_ps >= self.max_ps and self.censored > 0
        return Estimate(self.longest_ms, is_bound=is_censored or self._is_hardly_followed(-1))

    def _is_hardly_followed(self, position: int) -> bool:
        if not self.cuts or not self.edges_ps:
            return False
        at = position % len(self.edges_ps)
        before_ps = self.edges_ps[at - 1] if at else 0
        return self._survival.followed(self.edges_ps[at], before_ps) < FOLLOWED_MIN

    def percentile_ps(self, percent: float) -> int | None:
        """Smallest edge that at least `percent` of the values do not exceed; never beyond the
        largest value.

        None where it lies beyond the longest censored value.
        """
        found = self.position(percent)
        return min(self.edges_ps[found], self.max_ps) if found < len(self.edges_ps) else None

    def position(self, percent: float) -> int:
        """Position of the edge of a percentile; the number of edges where it lies beyond them."""
        if self.cuts:
            return position_of(self._survival, self.edges_ps, percent)
        return bisect_left(self.cumulative, rank_of(percent, self.count))

    def percentile_ms(self, percent: float) -> Estimate:
        """`percentile_ps` in milliseconds; the longest value as a bound where it is unknown."""
        found_ps = self.percentile_ps(percent)
        if found_ps is None:
            return Estimate(self.longest_ms, is_bound=True)
        return Estimate(
            found_ps / PS_PER_MS, is_bound=self._is_hardly_followed(self.position(percent))
        )

    def cdf(self) -> list[tuple[float, float]]:
        """Points (milliseconds, share of values at most that), one per bucket."""
        edges = (min(edge, self.max_ps) / PS_PER_MS for edge in self.edges_ps)
        return list(zip(edges, self.shares, strict=True))


def position_of(survival: Survival, edges_ps: Sequence[int], percent: float) -> int:
    """Position of the first edge that at least `percent` of the values do not exceed."""
    most = 1 - percent / 100 + TOLERANCE
    return bisect_left(edges_ps, True, key=lambda edge_ps: survival.beyond(edge_ps) <= most)


def rank_of(percent: float, count: int) -> int:
    """The rank of a percentile among `count` values in ascending order, from 1 on."""
    # Rounded before ceil, so that 99.9 % of 1000 is 999 and not 1000.
    return max(1, ceil(round(percent / 100 * count, 9)))


def _counts(found: Iterable[Iterable[Sequence[int]]]) -> dict[int, int]:
    """Values by upper edge, of all trials together."""
    counts: dict[int, int] = defaultdict(int)
    for buckets in found:
        for edge_ps, count in buckets:
            counts[edge_ps] += count
    return counts
