"""The kinds of workloads with additional results, and all of their additions."""

from tailrace.results.format.columns import align
from tailrace.results.kinds.blocks import BLOCKS
from tailrace.results.kinds.contribution import (
    Contribution,
    KindFigure,
    KindTable,
    OwnTable,
    TableOfRows,
)
from tailrace.results.kinds.mpi import MPI
from tailrace.results.kinds.storage import STORAGE
from tailrace.results.summary.summary import Summary

CONTRIBUTIONS: tuple[Contribution, ...] = (BLOCKS, STORAGE, MPI)
"""In the order of their tables."""

FIGURES: dict[str, KindFigure] = {
    metric: figure for one in CONTRIBUTIONS for metric, figure in one.figures.items()
}
"""Figure functions of one workload in one trial, by metric."""


def tables_of_kinds(summary: Summary) -> list[KindTable]:
    """The tables of all kinds that the run has."""
    return [table for one in CONTRIBUTIONS for table in one.tables(summary)]


def kinds_text(summary: Summary) -> str:
    """These tables for a terminal."""
    return "\n\n".join(text for table in tables_of_kinds(summary) for text in _texts(table))


def _texts(table: KindTable) -> list[str]:
    if isinstance(table, TableOfRows):
        head = [table.label, "arm", *table.head]
        return [align([head, *([row.name, row.arm, *cells] for row, cells in table.rows)], left=2)]
    return [_own_text(own) for own in table.tables]


def _own_text(own: OwnTable) -> str:
    return f"{own.workload} {own.arm}: {own.words}\n{align([list(own.head), *own.rows], left=0)}"
