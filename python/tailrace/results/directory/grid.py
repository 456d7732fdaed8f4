"""Expectations as a grid: one row per workload, one column per metric and arm, as publications
print results."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tailrace.results.directory.published import COMPARISONS
from tailrace.results.summary.expectation import JudgedFigure
from tailrace.scenario.experiment import SOLO

METRIC_NAMES = {
    "completion_s": "completion, s",
    "acceleration_percent": "acceleration, %",
    "goodput_gbps": "goodput, Gbit/s",
    "slowdown": "slowdown",
    "fairness_jain": "Jain index",
    "users_jain": "Jain index of users",
    "goodput_share_percent": "share of goodput, %",
    "connections_spread_percent": "spread of connections, %",
    "failed_percent": "failed requests, %",
    "lost_queries": "lost queries",
    "timed_out": "requests timed out",
    "connections_opened": "connections opened",
    "drops_frames": "frames dropped",
    "marked_frames": "frames marked",
    "prioritised_frames": "frames prioritised",
    "queue_share_percent": "share of the line, %",
    "pauses_frames": "pauses sent",
    "paused_percent": "time paused, %",
    "deadlock_links": "links in deadlock",
    "notifications_frames": "notifications sent",
}


@dataclass(frozen=True)
class Column:
    """The common properties of a column's cells; `tolerance` and `noun` are empty where they differ
    between them."""

    metric: str
    where: str
    tolerance: str
    noun: str

    @property
    def name(self) -> str:
        """`completion, s`."""
        return metric_name(self.metric, self.noun)


@dataclass(frozen=True)
class Grid:
    """`cells[row][column]` belongs to `workloads[row]`; a cell is a judged expectation."""

    columns: list[Column]
    workloads: list[str]
    cells: list[list[JudgedFigure]]


def grid_of(expectations: Sequence[JudgedFigure], workloads: Sequence[str]) -> Grid | None:
    """None unless the published figures fill at least two columns and two rows without a gap."""
    found: dict[tuple[str, str], dict[str, JudgedFigure]] = {}
    for judged in expectations:
        found.setdefault((judged.metric, _where(judged)), {})[judged.workload or ""] = judged
    names = [name for name in workloads if any(name in cells for cells in found.values())]
    is_full = len(expectations) == len(found) * len(names) and all(
        set(cells) == set(names) for cells in found.values()
    )
    if (
        not is_full
        or len(found) < 2
        or len(names) < 2
        or any(judged.published is None for judged in expectations)
    ):
        return None
    columns = [
        Column(
            metric,
            where,
            _common(c.tolerance for c in cells.values()),
            _common(c.noun for c in cells.values()),
        )
        for (metric, where), cells in found.items()
    ]
    return Grid(columns, names, [[cells[name] for cells in found.values()] for name in names])


def metric_name(metric: str, noun: str) -> str:
    """`latency_p99_ms` as `latency p99, ms`, and the rate of workloads that do `noun` as `requests
    per second`."""
    if metric == "rate_per_s":
        return f"{noun} per second".strip()
    if metric in METRIC_NAMES:
        return METRIC_NAMES[metric]
    words, _, unit = metric.rpartition("_")
    is_unit = unit in ("ms", "s", "bytes", "percent")
    return (
        f"{words.replace('_', ' ').replace('99 9', '99.9')}, {unit}"
        if is_unit
        else metric.replace("_", " ")
    )


def _where(judged: JudgedFigure) -> str:
    arm = judged.arm or ""
    if arm.startswith(SOLO):
        return "alone"
    is_comparison = judged.metric in COMPARISONS and judged.baseline
    return f"{arm} against {judged.baseline}" if is_comparison else arm


def _common(values: Iterable[str]) -> str:
    found = set(values)
    return found.pop() if len(found) == 1 else ""
