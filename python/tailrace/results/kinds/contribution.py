"""The results that a kind of workload may add: figures, and tables that terminal and report show
alike."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from tailrace.results.directory.run_directory import Trial
from tailrace.results.metrics.subject_rows import SubjectRow
from tailrace.results.summary.summary import Summary

Nodes = Callable[[], Collection[str]]
"""Gives the hosts that take part in a workload."""
KindFigure = Callable[[Trial, str, Nodes], float | None]
"""A figure of the workload of this name; None where it has none."""


@dataclass(frozen=True)
class TableOfRows:
    """A table with a row for each workload or group and arm."""

    title: str
    label: str
    """Title of the workload column in a terminal."""
    head: Sequence[str]
    """Of the columns behind those of workload and arm."""
    rows: Sequence[tuple[SubjectRow, list[str]]]


@dataclass(frozen=True)
class OwnTable:
    """The table of one workload in one arm."""

    workload: str
    arm: str
    words: str
    """The subject of the table, such as `allreduce, 4 ranks`."""
    head: Sequence[str]
    rows: Sequence[list[str]]


@dataclass(frozen=True)
class TablesOfWorkloads:
    """A table for each workload and arm."""

    title: str
    caption: str
    tables: Sequence[OwnTable]


KindTable = TableOfRows | TablesOfWorkloads


@dataclass(frozen=True, kw_only=True)
class Contribution:
    """The additions of one kind. There are no defaults: a kind must state each of them."""

    figures: Mapping[str, KindFigure]
    """Figures of one workload in one trial, by metric; expectations may name them."""
    tables: Callable[[Summary], Sequence[KindTable]]
    """Of a summary; those without rows are left out."""
