"""Requests of storage: how many, how fast, and what they waited for."""

from typing import Any

from tailrace.results.format.columns import align
from tailrace.results.format.numbers import number
from tailrace.results.metrics.subject_rows import subject_rows
from tailrace.scenario.vocabulary import STORAGE_PARTS

RATES = {
    "reads/s": "read_iops",
    "MB/s": "read_mbytes_per_s",
    "p50 ms": "read_latency_p50_ms",
    "p99 ms": "read_latency_p99_ms",
    "writes/s": "write_iops",
    "MB/s ": "write_mbytes_per_s",
    "p50 ms ": "write_latency_p50_ms",
    "p99 ms ": "write_latency_p99_ms",
    "device/s": "device_requests_per_s",
    "await ms": "device_await_ms",
    "busy %": "device_busy_percent",
}
"""Columns with their figures."""
WAITS = {f"{part} %": f"waits_{part}_percent" for part in STORAGE_PARTS}
TABLES = {"Requests of storage": RATES, "Time of requests of storage": WAITS}
"""Tables with their columns."""


def storage_text(summary: dict[str, Any]) -> str:
    """Two tables of the workloads and arms with requests of storage; nothing where none has any."""
    texts = []
    for table in storage_tables(summary):
        head = [table["title"].lower(), "arm", *table["head"]]
        rows = [[row["workload"], row["arm"], *row["cells"]] for row in table["rows"]]
        texts.append(align([head, *rows], left=2))
    return "\n\n".join(texts)


def storage_tables(summary: dict[str, Any]) -> list[dict[str, Any]]:
    """The same with their titles, heads and rows; none where no workload has any."""
    found = [
        (row.place, row.own["storage_figures"]) for row in subject_rows(summary, lambda own: own.get("storage_figures"))
    ]
    return [
        {
            "title": title,
            "head": [name.strip() for name in columns],
            "rows": [place | {"cells": _cells(figures, columns)} for place, figures in found],
        }
        for title, columns in TABLES.items()
        if found
    ]


def _cells(figures: dict[str, float | None], columns: dict[str, str]) -> list[str]:
    return ["-" if (value := figures[key]) is None else number(value) for key in columns.values()]
