"""Latency histograms as trials record them: counts by upper edge, and the latencies censored by the end of a trial.

A transaction that was running when its trial ended has a latency of which only a lower bound is known: it is censored.
Omitting it would bias latencies downwards, the more so the more congested the network is. Shares are therefore
estimated by the product-limit method (Kaplan and Meier 1958, `Nonparametric Estimation from Incomplete Observations`,
JASA 53): at every latency, the transactions that ended then are counted relative to those that had run for at least as
long. Beyond the longest censored latency the distribution is unknown, and a percentile that lies there is a lower
bound. So is one that lies where fewer than `FOLLOWED_MIN` of the transactions could be observed: where a queue grows
until the end, the slowest transaction that ended stands for all that were censored.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import ceil
from typing import Any

PS_PER_MS = 1_000_000_000
# Rounding of a product of many factors; a share that is an exact fraction is met within this.
TOLERANCE = 1e-12
FOLLOWED_MIN = 0.1
"""Share of the values that were observed for as long as a percentile, at least; a percentile of fewer is a bound."""


@dataclass(frozen=True)
class Estimate:
    """A figure in milliseconds; where `is_bound`, a lower bound of it."""

    ms: float
    is_bound: bool


@dataclass(frozen=True)
class Histogram:
    """Latencies pooled over trials: `cumulative[i]` ended after at most `edges_ps[i]`; edges ascend.

    `shares[i]` estimates the share of all values, censored ones included, that end after at most that.
    """

    edges_ps: Sequence[int]
    cumulative: Sequence[int]
    shares: Sequence[float]
    followed: Sequence[float]
    """Share of the values that were not censored before `edges_ps[i]`, estimated like `shares`; empty without them."""
    sum_ps: float
    min_ps: int
    max_ps: int
    cut_off: int = 0
    """Number of values that the end of a trial has censored."""
    censored: int = 0
    """Number of censored values: these, and those of which a program has told no more than a bound."""
    longest_cut_off_ps: int = 0

    @classmethod
    def from_workloads(cls, workloads: Iterable[dict[str, Any]]) -> "Histogram | None":
        """Pools the outcomes of a workload. None when none of them has a recorded or censored value."""
        listed = list(workloads)
        cut_off = [found for workload in listed if (found := workload.get("cut_off")) and found["count"] > 0]
        return cls.pooled([workload.get("latency") for workload in listed], cut_off)

    @classmethod
    def from_outcomes(cls, latencies: Iterable[dict[str, Any] | None]) -> "Histogram | None":
        """Pools the `latency` objects of outcomes. None when no value was recorded in any of them."""
        return cls.pooled(latencies, [])

    @classmethod
    def pooled(
        cls, latencies: Iterable[dict[str, Any] | None], cut_off: Sequence[dict[str, Any]]
    ) -> "Histogram | None":
        """Pools `latency` and `cut_off` objects of outcomes."""
        recorded = [latency for latency in latencies if latency and latency["count"] > 0]
        if not recorded and not cut_off:
            return None
        above = [latency["above"] for latency in recorded if latency.get("above")]
        counts, censored = _counted(recorded), _counted([*cut_off, *above])
        edges = sorted(counts)
        cumulative = list(accumulate(counts[edge] for edge in edges))
        shares, followed = (
            _shares(edges, counts, censored) if censored else ([n / cumulative[-1] for n in cumulative], [])
        )
        return cls(
            edges_ps=edges,
            cumulative=cumulative,
            shares=shares,
            followed=followed,
            sum_ps=sum(latency["mean_ps"] * latency["count"] for latency in recorded),
            min_ps=min((latency["min_ps"] for latency in recorded), default=0),
            max_ps=max((latency["max_ps"] for latency in recorded), default=0),
            cut_off=sum(found["count"] for found in cut_off),
            censored=censored.total(),
            longest_cut_off_ps=max((found["longest_ps"] for found in [*cut_off, *above]), default=0),
        )

    @property
    def count(self) -> int:
        """Number of recorded values."""
        return self.cumulative[-1] if self.cumulative else 0

    @property
    def longest_ms(self) -> float:
        """The longest recorded or censored value."""
        return max(self.max_ps, self.longest_cut_off_ps) / PS_PER_MS

    def mean_ms(self) -> Estimate:
        """Mean; without censored values from the exact sums, not from the buckets.

        With censored values it is the area above the estimated distribution, up to the longest value.
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
        """The longest value; a bound where it is censored, or where hardly any value was observed for so long."""
        is_censored = self.longest_cut_off_ps >= self.max_ps and self.censored > 0
        return Estimate(self.longest_ms, is_bound=is_censored or self._is_hardly_followed(-1))

    def _is_hardly_followed(self, position: int) -> bool:
        return bool(self.followed) and self.followed[position] < FOLLOWED_MIN

    def percentile_ps(self, percent: float) -> int | None:
        """Smallest edge that at least `percent` of the values do not exceed; never beyond the largest value.

        None where it lies beyond the longest censored value.
        """
        found = self._position(percent)
        return min(self.edges_ps[found], self.max_ps) if found < len(self.edges_ps) else None

    def _position(self, percent: float) -> int:
        """Position of the edge of a percentile; the number of edges where it lies beyond them."""
        # Rounded before ceil, so that 99.9 % of 1000 is 999 and not 1000.
        rank = max(1, ceil(round(percent / 100 * self.count, 9)))
        low, high = 0, len(self.edges_ps)
        while low < high:
            middle = (low + high) // 2
            reached = self.shares[middle] >= percent / 100 - TOLERANCE
            if reached if self.censored else self.cumulative[middle] >= rank:
                high = middle
            else:
                low = middle + 1
        return low

    def percentile_ms(self, percent: float) -> Estimate:
        """`percentile_ps` in milliseconds; the longest value as a bound where it is unknown."""
        found_ps = self.percentile_ps(percent)
        if found_ps is None:
            return Estimate(self.longest_ms, is_bound=True)
        return Estimate(found_ps / PS_PER_MS, is_bound=self._is_hardly_followed(self._position(percent)))

    def cdf(self) -> list[tuple[float, float]]:
        """Points (milliseconds, share of values at most that), one per bucket."""
        edges = (min(edge, self.max_ps) / PS_PER_MS for edge in self.edges_ps)
        return list(zip(edges, self.shares, strict=True))


def _counted(found: Iterable[dict[str, Any]]) -> Counter[int]:
    """Values by upper edge, of all trials together."""
    counts: Counter[int] = Counter()
    for one in found:
        for edge_ps, count in one["buckets"]:
            counts[edge_ps] += count
    return counts


def _shares(edges: Sequence[int], ended: Counter[int], censored: Counter[int]) -> tuple[list[float], list[float]]:
    """Estimated share that ends after at most each edge, and the share that is not censored before it.

    A value censored at an edge was at risk up to that edge. Those at risk are those that neither ended nor were
    censored, so that the two shares are theirs when multiplied.
    """
    every = left = ended.total() + censored.total()
    cuts = sorted(censored)
    position, running = 0, 1.0
    shares: list[float] = []
    followed: list[float] = []
    for edge in edges:
        while position < len(cuts) and cuts[position] < edge:
            left -= censored[cuts[position]]
            position += 1
        followed.append(left / every / running if running > 0 else 0.0)
        running *= 1 - ended[edge] / left
        left -= ended[edge]
        shares.append(1 - running)
    return shares, followed
