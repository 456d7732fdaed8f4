"""The kinds of workloads that add something to results, and what all of them add."""

from collections.abc import Sequence
from typing import Any

from tailrace.results.directory.run_directory import Trial
from tailrace.results.format.columns import align
from tailrace.results.kinds.blocks import BLOCKS
from tailrace.results.kinds.contribution import Contribution, KindFigure, KindTable, OwnTable, TableOfRows
from tailrace.results.kinds.mpi import MPI
from tailrace.results.kinds.storage import STORAGE
from tailrace.results.summary.summary import Summary

CONTRIBUTIONS: tuple[Contribution, ...] = (BLOCKS, STORAGE, MPI)
"""In the order of their tables."""

FIGURES: dict[str, KindFigure] = {metric: figure for one in CONTRIBUTIONS for metric, figure in one.figures.items()}
"""By metric, what it is of one workload in one trial."""


def figures_of_kinds(trials: Sequence[Trial], members: Sequence[str], *, is_group: bool) -> dict[str, Any]:
    """The parts of all kinds by their key in the summary of a workload or group: None for those of other kinds."""
    return {one.key: one.summarise(trials, members) for one in CONTRIBUTIONS if one.is_of_groups or not is_group}


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
