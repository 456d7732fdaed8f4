"""`tailrace explain` of trials that cannot be taken apart: the verdict of counters, labelled as
such."""

from collections.abc import Sequence
from functools import partial
from typing import Any

from msgspec import to_builtins

from tailrace.cli.console import emit_table
from tailrace.results import Run, summarise_run
from tailrace.results.format.columns import WIDTH, fill
from tailrace.results.metrics.subject_rows import SubjectRow, subject_rows
from tailrace.results.summary.summary import Summary
from tailrace.results.text.limiting_text import limiting_sentence
from tailrace.results.text.unexplained import counters_of


def counted_rows(
    run: Run, arms: Sequence[str], workloads: Sequence[str]
) -> tuple[Summary, list[SubjectRow]]:
    """The workloads and groups of these arms (of all arms if none is named) that the counters
    explain."""
    summary = summarise_run(run)
    rows = subject_rows(summary, lambda own: own.limits)
    return summary, [
        row
        for row in rows
        if (not arms or row.arm in arms) and (not workloads or row.name in workloads)
    ]


def print_counted(rows: Sequence[SubjectRow]) -> None:
    """A sentence for each."""
    for row in rows:
        sentence = limiting_sentence(row.arm, row.name, row.own) or ""
        emit_table(partial(lambda text: fill(text, WIDTH) + "\n", sentence))


def counted_data(rows: Sequence[SubjectRow]) -> list[dict[str, Any]]:
    """The same for programs."""
    return [
        {
            "arm": row.arm,
            "workload": row.name,
            "measured": counters_of(row.own),
            **to_builtins(row.own.limits),
        }
        for row in rows
    ]
