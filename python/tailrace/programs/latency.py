"""Latencies of real programs in the format of the simulator."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from msgspec import convert

from tailrace.outcome.types import CutOff, Latency
from tailrace.statistics import Histogram

SIGNIFICANT_BITS = 11
"""Values are kept to within a part in 2048, as the simulator's three decimal digits are."""
PS_PER_NS = 1000
PERCENTILES = (
    ("p50_ps", 50.0),
    ("p90_ps", 90.0),
    ("p95_ps", 95.0),
    ("p99_ps", 99.0),
    ("p99_9_ps", 99.9),
)


def latency_outcome(latencies_ps: Iterable[int]) -> Latency | None:
    """The `latency` object of an outcome; None when nothing was recorded."""
    values = sorted(latencies_ps)
    if not values:
        return None
    counts = Counter(_edge_ps(value) for value in values)
    summary: dict[str, Any] = {
        "count": len(values),
        "mean_ps": sum(values) / len(values),
        "min_ps": values[0],
        "max_ps": values[-1],
        "buckets": [[edge, count] for edge, count in sorted(counts.items())],
    }
    histogram = Histogram.counted(
        counts, {}, sum_ps=sum(values), min_ps=values[0], max_ps=values[-1]
    )
    return convert(
        summary | {key: histogram.percentile_ps(percent) for key, percent in PERCENTILES}, Latency
    )


def cut_off_outcome(waits_ps: Sequence[int]) -> CutOff:
    """The `cut_off` object of an outcome: the running transactions at the end of the trial, and
    their times so far."""
    counts = Counter(_edge_ps(wait) for wait in waits_ps)
    return CutOff(
        count=len(waits_ps), longest_ps=max(waits_ps, default=0), buckets=sorted(counts.items())
    )


def _edge_ps(value_ps: int) -> int:
    """Upper edge of the value's bucket."""
    value_ns = max(1, -(-value_ps // PS_PER_NS))
    shift = max(0, value_ns.bit_length() - SIGNIFICANT_BITS)
    return ((((value_ns - 1) >> shift) + 1) << shift) * PS_PER_NS
