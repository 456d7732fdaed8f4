"""Requests and transactions that failed: percentiles alone would hide them."""

from typing import Any

from tailrace.results.format.columns import align
from tailrace.results.format.numbers import number
from tailrace.results.metrics.subject_rows import subject_rows

WORDS = "Requests that failed have no latency: they are in no rate and no percentile."
ROLLED_BACK = (
    "The database rolled these back because of another transaction. Each was tried again at once: the rate counts\n"
    "what was committed, and the latency is from the first attempt."
)


def failures_text(summary: dict[str, Any]) -> str:
    """A table of the workloads and arms in which requests failed; nothing where none did."""
    rows = [
        [name, arm, number(share["mean"]), *(number(counts[key]) for key in ("failed", "lost_queries", "timed_out"))]
        for name, arm, found in _told(summary)
        if (share := found.get("failed_percent")) and (counts := found.get("request_counts")) and share["mean"]
    ]
    head = ["failed requests", "arm", "%", "per trial", "lost queries", "timed out"]
    return f"{align([head, *rows], left=2)}\n{WORDS}" if rows else ""


def rolled_back_text(summary: dict[str, Any]) -> str:
    """A table of failed transactions in every arm of a database that takes writes, also where none failed."""
    rows = [
        [name, arm, number(failed["mean"]), number(found["transactions"]["mean"]), _errors(failed["by_error"])]
        for name, arm, found in _told(summary)
        if (failed := found.get("failed_attempts"))
    ]
    head = ["failed transactions", "arm", "per trial", "committed", "by error"]
    return f"{align([head, *rows], left=2)}\n{ROLLED_BACK}" if rows else ""


def _told(summary: dict[str, Any]) -> list[tuple[str, str, dict[str, Any]]]:
    return [(row.name, row.arm, row.own) for row in subject_rows(summary, bool)]


def _errors(by_error: dict[str, float]) -> str:
    return ", ".join(f"{error}: {number(count)}" for error, count in by_error.items()) or "-"
