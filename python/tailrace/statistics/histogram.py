"""Latency histograms as trials record them: counts under upper edges."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import ceil
from typing import Any

PS_PER_MS = 1_000_000_000


@dataclass(frozen=True)
class Histogram:
    """Latencies pooled over trials: `cumulative[i]` values are at most `edges_ps[i]`; edges ascend."""

    edges_ps: Sequence[int]
    cumulative: Sequence[int]
    sum_ps: float
    min_ps: int
    max_ps: int

    @classmethod
    def from_outcomes(cls, latencies: Iterable[dict[str, Any]]) -> "Histogram | None":
        """Pools the `latency` objects of outcomes. None when no value was recorded in any of them."""
        recorded = [latency for latency in latencies if latency["count"] > 0]
        if not recorded:
            return None
        counts: Counter[int] = Counter()
        for latency in recorded:
            for edge_ps, count in latency["buckets"]:
                counts[edge_ps] += count
        edges = sorted(counts)
        return cls(
            edges_ps=edges,
            cumulative=list(accumulate(counts[edge] for edge in edges)),
            sum_ps=sum(latency["mean_ps"] * latency["count"] for latency in recorded),
            min_ps=min(latency["min_ps"] for latency in recorded),
            max_ps=max(latency["max_ps"] for latency in recorded),
        )

    @property
    def count(self) -> int:
        """Number of recorded values."""
        return self.cumulative[-1]

    def mean_ms(self) -> float:
        """Mean in milliseconds, from the exact sums and not from the buckets."""
        return self.sum_ps / self.count / PS_PER_MS

    def percentile_ps(self, percent: float) -> int:
        """Smallest edge that at least `percent` of the values do not exceed; never beyond the largest value."""
        # Rounded before ceil, so that 99.9 % of 1000 is 999 and not 1000.
        rank = max(1, ceil(round(percent / 100 * self.count, 9)))
        low, high = 0, len(self.edges_ps) - 1
        while low < high:
            middle = (low + high) // 2
            if self.cumulative[middle] >= rank:
                high = middle
            else:
                low = middle + 1
        return min(self.edges_ps[low], self.max_ps)

    def percentile_ms(self, percent: float) -> float:
        """`percentile_ps` in milliseconds."""
        return self.percentile_ps(percent) / PS_PER_MS

    def cdf(self) -> list[tuple[float, float]]:
        """Points (milliseconds, share of values at most that), one per bucket."""
        edges = (min(edge, self.max_ps) / PS_PER_MS for edge in self.edges_ps)
        return [(edge, below / self.count) for edge, below in zip(edges, self.cumulative, strict=True)]
