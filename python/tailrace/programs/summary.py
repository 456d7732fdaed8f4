"""Measurements of programs that report latencies without users, or as a distribution only."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from msgspec import convert

from tailrace.outcome.types import Latency, Workload
from tailrace.programs.latency import PERCENTILES, cut_off_outcome
from tailrace.programs.measured import PS_PER_US, Measured, MeasuredInterval
from tailrace.programs.requests import KIND, RequestWork, tallies
from tailrace.programs.series import Moved
from tailrace.statistics import Histogram


@dataclass(frozen=True)
class Distribution:
    """Latencies: upper edges of buckets in picoseconds, in order, and the count of each."""

    buckets: Sequence[tuple[int, int]]
    mean_ps: float
    least_ps: int
    above: tuple[int, int] = (0, 0)
    """A latency and the number of transactions that took at least as long."""

    @property
    def count(self) -> int:
        """Number of known latencies."""
        return sum(count for _, count in self.buckets)

    def outcome(self) -> Latency | None:
        """The `latency` object of an outcome; None without any."""
        if not self.count:
            return None
        counts: Counter[int] = Counter()
        for edge, count in self.buckets:
            counts[edge] += count
        counts = +counts
        longest_ps = max(counts)
        summary: dict[str, Any] = {
            "count": self.count,
            "mean_ps": self.mean_ps,
            "min_ps": self.least_ps,
            "max_ps": longest_ps,
            "buckets": [[edge, count] for edge, count in self.buckets if count],
        }
        least, above = self.above
        if above:
            summary["above"] = {"count": above, "longest_ps": least, "buckets": [[least, above]]}
        histogram = Histogram.counted(
            counts,
            {least: above} if above else {},
            sum_ps=self.mean_ps * self.count,
            min_ps=self.least_ps,
            max_ps=longest_ps,
            longest_cut_off_ps=least if above else 0,
        )
        # A percentile among those of which only a bound is known is that bound.
        found = {key: histogram.percentile_ps(percent) or least for key, percent in PERCENTILES}
        return convert(summary | found, Latency)


@dataclass(frozen=True)
class Summary:
    """The results of a program in the measured interval."""

    latencies: Distribution | None
    completed: int
    counted_from_ps: int
    begun_wall_us: int
    ended_wall_us: int | None
    """When all of a number of requests had been done; None where they were not, or there is no such
    number."""
    failed: int = 0
    """Requests without a response."""
    moved: Sequence[Moved] = field(default_factory=list)


def measured(work: RequestWork, summary: Summary, interval: MeasuredInterval) -> Measured:
    """The results in the format of other workloads, without rows of requests. Requests running at
    the end are unknown."""
    begun_wall_us = interval.begun_wall_us
    ended_ps = (
        None
        if summary.ended_wall_us is None
        else (summary.ended_wall_us - begun_wall_us) * PS_PER_US
    )
    outcome = Workload(
        name=work.name,
        kind=KIND,
        completion_ps=ended_ps,
        counted_from_ps=summary.counted_from_ps,
        transactions=summary.completed,
        goodput_bytes=summary.completed * work.response_bytes,
        latency=summary.latencies.outcome() if summary.latencies else None,
        cut_off=cut_off_outcome([]),
        user_completion_ps=[ended_ps] * (work.users if work.arrival_gap_ps is None else 1),
        request_counts=tallies(
            summary.completed + summary.failed,
            summary.completed,
            connections=0 if work.is_udp else work.users,
            failed=summary.failed,
            lost_queries=summary.failed,
        ),
    )
    return Measured(
        outcome,
        moved=list(summary.moved),
        begun_ps=(summary.begun_wall_us - begun_wall_us) * PS_PER_US,
    )
