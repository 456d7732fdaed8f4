"""Slowdown of flows by their size: completion time divided by the least time of that size on an
empty path."""

from bisect import bisect_left
from collections.abc import Collection, Iterable, Sequence
from math import ceil

from msgspec.structs import asdict

from tailrace.results.directory.run_directory import Trial
from tailrace.results.directory.tables import read_trial_table
from tailrace.results.summary.workload import FlowSlowdown, SizeClass, SlowdownPercentiles

SIZE_EDGES_BYTES = tuple(digit * 10**decade for decade in range(2, 9) for digit in (1, 2, 5))
"""A size class ends at each of these; the last class has no end."""
P99_COUNT_MIN = 100
"""A 99th percentile of fewer flows would be their maximum."""


def summarise_flow_slowdown(
    trials: Sequence[Trial], members: Collection[str]
) -> FlowSlowdown | None:
    """Percentiles over the flows of workloads in all trials, by class of size; None where no flow
    has a size."""
    classes: dict[int, list[float]] = {}
    for trial in trials:
        for size_bytes, slowdown in _flows(trial, members):
            classes.setdefault(bisect_left(SIZE_EDGES_BYTES, size_bytes), []).append(slowdown)
    if not classes:
        return None
    everything = [slowdown for found in classes.values() for slowdown in found]
    return FlowSlowdown(
        **asdict(_percentiles(everything)),
        sizes=[_size_class(at, classes[at]) for at in sorted(classes)],
    )


def _flows(trial: Trial, members: Collection[str]) -> Iterable[tuple[int, float]]:
    numbers = {number for name, number in trial.workload_numbers.items() if name in members}
    if not numbers or not trial.has_table("transactions"):
        return
    table = read_trial_table(trial, "transactions")
    if "ideal_ps" not in table.column_names:
        return
    columns = (table.column(name) for name in ("workload", "size_bytes", "latency_ps", "ideal_ps"))
    for owner, size_bytes, latency_ps, ideal_ps in zip(*columns, strict=True):
        if owner in numbers and ideal_ps > 0:
            yield size_bytes, latency_ps / ideal_ps


def _size_class(index: int, slowdowns: list[float]) -> SizeClass:
    return SizeClass(
        **asdict(_percentiles(slowdowns)),
        from_bytes=SIZE_EDGES_BYTES[index - 1] if index > 0 else 0,
        to_bytes=SIZE_EDGES_BYTES[index] if index < len(SIZE_EDGES_BYTES) else None,
    )


def _percentiles(slowdowns: list[float]) -> SlowdownPercentiles:
    ordered = sorted(slowdowns)
    return SlowdownPercentiles(
        count=len(ordered),
        mean=sum(ordered) / len(ordered),
        p50=value_at(ordered, 0.5),
        p99=value_at(ordered, 0.99) if len(ordered) >= P99_COUNT_MIN else None,
    )


def value_at(ordered: list[float], share: float) -> float:
    """The least value that at least this share of all does not exceed."""
    return ordered[ceil(share * len(ordered)) - 1]
