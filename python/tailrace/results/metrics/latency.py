"""Latency of one workload: its percentiles with the waits that the end of a trial cut off among them."""

from collections.abc import Callable, Sequence
from typing import Any

from tailrace.results.directory.run_directory import Trial
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
    return _recorded(workload, key) if _is_recorded(workload) else _estimates([workload]).get(key)


def latency_of_trial(trial: Trial, members: Sequence[str], key: str) -> Estimate | None:
    """`latency_figure` of several workloads of one trial together, of those that it has.

    All estimates are kept with the trial: tables, comparisons and curves ask for each of them again.
    """
    workloads = [outcome for name in members if (outcome := trial.workload(name)) is not None]
    if len(workloads) == 1 and _is_recorded(workloads[0]):
        return _recorded(workloads[0], key)
    place = ("latency", *members)
    if place not in trial.kept:
        trial.kept[place] = _estimates(workloads)
    kept: dict[str, Estimate] = trial.kept[place]
    return kept.get(key)


def _is_recorded(workload: dict[str, Any]) -> bool:
    """Whether the engine's own figures are those of all values: nothing was cut off."""
    latency, cut_off = workload.get("latency"), workload.get("cut_off") or {}
    return not cut_off.get("count") and not (latency or {}).get("above")


def _recorded(workload: dict[str, Any], key: str) -> Estimate | None:
    latency = workload.get("latency")
    return Estimate(latency[f"{key}_ps"] / PS_PER_MS, is_bound=False) if latency and latency["count"] else None


def _estimates(workloads: Sequence[dict[str, Any]]) -> dict[str, Estimate]:
    """Every figure of workloads together; none without a value."""
    found = Histogram.from_workloads(workloads)
    return {key: of(found) for key, of in FIGURES.items()} if found else {}


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
