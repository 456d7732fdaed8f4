"""Blocks of workloads of blocks: how many came, how long each took, and what was lost."""

from typing import Any

from tailrace.results.format.columns import align
from tailrace.results.format.numbers import number
from tailrace.results.metrics.subject_rows import subject_rows

HEAD = ["blocks", "arm", "per second", "p50 ms", "p99 ms", "max ms", "lost", "failed", "failed transactions"]


def blocks_text(summary: dict[str, Any]) -> str:
    """A table of the workloads and arms with blocks; nothing where none has any."""
    rows = [
        [row.name, row.arm, *block_cells(row.own)]
        for row in subject_rows(summary, lambda own: own.get("block_figures"))
    ]
    return align([HEAD, *rows], left=2) if rows else ""


def block_cells(found: dict[str, Any]) -> list[str]:
    """Figures of one workload in one arm."""
    blocks, failed = found["block_figures"], (found.get("request_counts") or {}).get("failed", 0)
    latency = blocks["latency_ms"] or {}
    waits = [number(latency[key]) if key in latency else "-" for key in ("p50", "p99", "max")]
    counts = [number(blocks[key]) for key in ("lost_blocks", "failed_blocks")]
    return [number(blocks["blocks_per_s"]), *waits, *counts, number(failed)]
