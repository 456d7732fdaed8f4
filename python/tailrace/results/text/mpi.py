"""Times of MPI jobs by size, in the columns of the Intel MPI Benchmarks."""

from typing import Any

from tailrace.results.format.columns import align
from tailrace.results.format.numbers import number

HEADS = ("#bytes", "#repetitions", "t_min[usec]", "t_max[usec]", "t_avg[usec]", "longest", "Mbytes/sec")
PAIR_HEADS = ("#bytes", "#repetitions", "t[usec]", "longest", "Mbytes/sec")
"""Of a pingpong, whose time is half of that there and back."""


def mpi_text(summary: dict[str, Any]) -> str:
    """A table for each job and arm; nothing where there is none."""
    tables = []
    for name in summary["workloads"]:
        for arm, arm_summary in summary["arms"].items():
            found = (arm_summary["workloads"].get(name) or {}).get("mpi_figures")
            if found and found["rows"]:
                title = f"{name} {arm}: {found['pattern']}, {found['ranks']} ranks"
                tables.append(f"{title}\n{align([list(mpi_heads(found)), *mpi_rows(found)], left=0)}")
    return "\n\n".join(tables)


def mpi_heads(found: dict[str, Any]) -> tuple[str, ...]:
    """The heads of the columns that this pattern has."""
    heads = PAIR_HEADS if found["pattern"] == "pingpong" else HEADS
    return heads if any(row["mb_per_s"] is not None for row in found["rows"]) else heads[:-1]


def _count(repetitions: float) -> str:
    """A mean over trials: whole where all trials had as many."""
    return f"{repetitions:.0f}" if repetitions == round(repetitions) else number(repetitions)


def mpi_rows(found: dict[str, Any]) -> list[list[str]]:
    """A row for each size."""
    is_pair = found["pattern"] == "pingpong"
    times = ("t_avg_us", "longest_us") if is_pair else ("t_min_us", "t_max_us", "t_avg_us", "longest_us")
    has_bandwidth = len(mpi_heads(found)) == len(times) + 3
    return [
        [
            str(row["bytes"]),
            _count(row["repetitions"]),
            *(number(row[key]) for key in times),
            *([number(row["mb_per_s"])] if has_bandwidth else []),
        ]
        for row in found["rows"]
    ]
