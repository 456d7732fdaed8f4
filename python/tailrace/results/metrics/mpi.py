"""Figures of MPI jobs by size, as the Intel MPI Benchmarks print them."""

from collections.abc import Sequence
from typing import Any

from tailrace.results.directory.run_directory import Trial
from tailrace.statistics import mean

PS_PER_US = 10**6
CROSSINGS = {"ring": 2, "exchange": 4}
"""Messages of an iteration that the bandwidth of a pattern counts for each rank (IMB Sendrecv, Exchange)."""
WITH_BANDWIDTH = ("pingpong", *CROSSINGS)
"""Patterns whose bandwidth the benchmarks print."""


def summarise_mpi(trials: Sequence[Trial], name: str) -> dict[str, Any] | None:
    """Means over trials, for each size; None for a workload that is no job of MPI."""
    found = [own["mpi_times"] for trial in trials if (own := trial.workload(name)) and own.get("mpi_times")]
    if not found:
        return None
    sizes = zip(*(own["sizes"] for own in found), strict=True)
    rows = [row for by_size in sizes if (row := _row(found[0]["pattern"], by_size))]
    return {"pattern": found[0]["pattern"], "ranks": found[0]["ranks"], "rows": rows}


def _row(pattern: str, by_size: Sequence[dict[str, Any]]) -> dict[str, Any] | None:
    """One size in all trials that came to it; None where none did."""
    done = [own for own in by_size if own["mean_of_ranks_ps"]]
    if not done:
        return None
    share = 0.5 if pattern == "pingpong" else 1.0
    times = [[ps * share / PS_PER_US for ps in own["mean_of_ranks_ps"]] for own in done]
    slowest = mean([max(of_ranks) for of_ranks in times])
    size = done[0]["bytes"]
    return {
        "bytes": size,
        "repetitions": mean([float(own["repetitions"]) for own in done]),
        "t_min_us": mean([min(of_ranks) for of_ranks in times]),
        "t_max_us": slowest,
        "t_avg_us": mean([mean(of_ranks) for of_ranks in times]),
        "longest_us": max(own["max_ps"] for own in done) * share / PS_PER_US,
        "mb_per_s": _bandwidth(pattern, size, slowest),
        "algorithm": done[0]["algorithm"],
    }


def _bandwidth(pattern: str, size: int, time_us: float) -> float | None:
    """Megabytes (a million bytes) per second; None for patterns without."""
    if pattern not in WITH_BANDWIDTH or not time_us:
        return None
    return CROSSINGS.get(pattern, 1) * size / time_us
