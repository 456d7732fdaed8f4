"""Requests that failed: they have no latency, so that percentiles alone would hide them."""

from typing import Any

from tailrace.results.format.columns import align
from tailrace.results.format.numbers import number

WORDS = "Requests that failed have no latency: they are in no rate and no percentile."


def failures_text(summary: dict[str, Any]) -> str:
    """A table of the workloads and arms in which requests failed; nothing where none did."""
    rows = [
        [name, arm, number(share["mean"]), *(number(counts[key]) for key in ("failed", "lost_queries", "timed_out"))]
        for name in summary["workloads"]
        for arm, arm_summary in summary["arms"].items()
        if (found := arm_summary["workloads"].get(name))
        if (share := found.get("failed_percent")) and (counts := found.get("request_counts")) and share["mean"]
    ]
    head = ["failed requests", "arm", "%", "per trial", "lost queries", "timed out"]
    return f"{align([head, *rows], left=2)}\n{WORDS}" if rows else ""
