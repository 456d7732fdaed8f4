"""Latency of one workload: its percentiles with the waits that the end of a trial cut off among them."""

from collections.abc import Callable, Sequence
from typing import Any

from tailrace.results.format.numbers import PS_PER_MS
from tailrace.statistics import Estimate, Histogram

PERCENTILES = {"p50": 50.0, "p90": 90.0, "p95": 95.0, "p99": 99.0, "p99_9": 99.9}
FIGURES: dict[str, Callable[[Histogram], Estimate]] = {
    "mean": Histogram.mean_ms,
    **{key: (lambda percent: lambda found: found.percentile_ms(percent))(p) for key, p in PERCENTILES.items()},
    "max": Histogram.max_ms,
}
"""Name of a figure, and how it follows from the latencies."""


def latency_figure(workload: dict[str, Any], key: str) -> Estimate | None:
    """`mean`, `max` or a percentile of one workload in one trial; None where it recorded no latency.

    Where nothing was cut off it is what the engine recorded.
    """
    latency, cut_off = workload.get("latency"), workload.get("cut_off") or {}
    if not cut_off.get("count") and not (latency or {}).get("above"):
        return Estimate(latency[f"{key}_ps"] / PS_PER_MS, is_bound=False) if latency and latency["count"] else None
    found = Histogram.from_workloads([workload])
    return FIGURES[key](found) if found else None


def latency_of_members(workloads: Sequence[dict[str, Any]], key: str) -> Estimate | None:
    """`latency_figure` of several workloads of one trial together."""
    if len(workloads) == 1:
        return latency_figure(workloads[0], key)
    found = Histogram.from_workloads(workloads)
    return FIGURES[key](found) if found else None


def pooled_latency(workloads: Sequence[dict[str, Any]]) -> dict[str, Any] | None:
    """Figures of all trials together in milliseconds; `bounds` lists those that are lower bounds."""
    pooled = Histogram.from_workloads(workloads)
    if pooled is None:
        return None
    figures = {key: of(pooled) for key, of in FIGURES.items()}
    return {
        "count": pooled.count,
        "min": pooled.min_ps / PS_PER_MS if pooled.count else None,
        **{key: figure.ms for key, figure in figures.items()},
        "bounds": [key for key, figure in figures.items() if figure.is_bound],
        "cut_off": {"count": pooled.cut_off, "longest": pooled.longest_cut_off_ps / PS_PER_MS},
    }
