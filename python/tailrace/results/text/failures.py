"""Requests and transactions that failed: percentiles alone would hide them."""

from tailrace.results.format.columns import align
from tailrace.results.format.numbers import number
from tailrace.results.metrics.subject_rows import subject_rows
from tailrace.results.summary.summary import Summary

WORDS = "Requests that failed have no latency: they are in no rate and no percentile."
ROLLED_BACK = (
    "The database rolled these back because of another transaction. Each was tried again at "
    "once: the rate counts\n"
    "what was committed, and the latency is from the first attempt."
)


def failures_text(summary: Summary) -> str:
    """A table of the workloads and arms in which requests failed; nothing where none did."""
    rows = [
        [
            row.name,
            row.arm,
            *(number(n) for n in (percent, counts.failed, counts.lost_queries, counts.timed_out)),
        ]
        for row in subject_rows(summary, lambda own: own.request_counts)
        if (percent := row.own.failed_percent.mean) and (counts := row.own.request_counts)
    ]
    head = ["failed requests", "arm", "%", "per trial", "lost queries", "timed out"]
    return f"{align([head, *rows], left=2)}\n{WORDS}" if rows else ""


def rolled_back_text(summary: Summary) -> str:
    """A table of failed transactions in every arm of a database that takes writes, also where none
    failed."""
    rows = [
        [
            row.name,
            row.arm,
            number(failed.mean),
            number(row.own.transactions.mean),
            _errors(failed.by_error),
        ]
        for row in subject_rows(summary, lambda own: own.failed_attempts)
        if (failed := row.own.failed_attempts)
    ]
    head = ["failed transactions", "arm", "per trial", "committed", "by error"]
    return f"{align([head, *rows], left=2)}\n{ROLLED_BACK}" if rows else ""


def _errors(by_error: dict[str, float]) -> str:
    return ", ".join(f"{error}: {number(count)}" for error, count in by_error.items()) or "-"
