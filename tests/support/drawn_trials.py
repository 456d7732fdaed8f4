"""Trials with luck of their own, as histograms."""

import math
import random
from collections import Counter
from collections.abc import Sequence
from typing import Any

from tailrace.outcome.types import Workload
from tailrace.results.metrics.latency import PERCENTILES
from tailrace.statistics import Histogram, Latencies
from whole import part

MS = 10**9


def measured(ended_ms: Sequence[float], cut_ms: Sequence[float] = ()) -> dict[str, Any]:
    """The latencies of a workload as an outcome has them; edges are the values, to a
    microsecond."""

    def buckets(values: Sequence[float]) -> list[list[int]]:
        return [
            [edge * 1000, count]
            for edge, count in sorted(Counter(round(v * 1e6) for v in values).items())
        ]

    ended = [edge for edge, _ in buckets(ended_ms)]
    latency = {
        "count": len(ended_ms),
        "mean_ps": math.fsum(ended_ms) * MS / len(ended_ms),
        "min_ps": min(ended),
        "max_ps": max(ended),
        **{f"{key}_ps": _percentile_ps(ended_ms, percent) for key, percent in PERCENTILES.items()},
        "buckets": buckets(ended_ms),
    }
    longest = max((edge for edge, _ in buckets(cut_ms)), default=0)
    return {
        "latency": latency,
        "cut_off": {"count": len(cut_ms), "longest_ps": longest, "buckets": buckets(cut_ms)},
    }


def _percentile_ps(ended_ms: Sequence[float], percent: float) -> int:
    """The smallest value that so many are not above."""
    return (
        round(sorted(ended_ms)[max(0, math.ceil(len(ended_ms) * percent / 100) - 1)] * 1e6) * 1000
    )


def trial(ended_ms: Sequence[float], cut_ms: Sequence[float] = ()) -> Histogram:
    """One trial."""
    found = Histogram.from_workloads([part(Workload, **measured(ended_ms, cut_ms))])
    assert found is not None
    return found


def drawn(
    rng: random.Random, trials: int, transactions: int, *, spread: float = 0.3, cut: int = 0
) -> Latencies:
    """Trials with luck of their own: exponential latencies around a log-normal mean."""
    found = []
    for _ in range(trials):
        scale = rng.lognormvariate(0, spread)
        ended = [scale * rng.expovariate(1) for _ in range(transactions)]
        found.append(trial(ended, [scale * rng.expovariate(1) for _ in range(cut)]))
    return Latencies(found)
