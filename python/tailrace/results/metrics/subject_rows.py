"""Rows of tables about workloads and groups: each of them in every arm that has it."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from tailrace.results.summary.summary import Summary
from tailrace.results.summary.workload import GroupSummary, WorkloadOrGroup
from tailrace.scenario.workloads.kinds import facts_of

Has = Callable[[WorkloadOrGroup], object]
"""Returns the content of a row; nothing for a workload or group without a row."""


@dataclass(frozen=True)
class SubjectRow:
    """A workload or group in one arm."""

    name: str
    arm: str
    index: int
    """Of the arm."""
    own: WorkloadOrGroup
    """Its summary in this arm."""
    is_first: bool
    """Whether it is the first row of the workload or group, which has the label."""
    at: int | None
    """Index among the workloads; None for a group."""


def has_completion(own: WorkloadOrGroup) -> bool:
    """Whether a workload, or every member of a group, has an end of its own."""
    kinds = own.kinds if isinstance(own, GroupSummary) else [own.kind]
    return not any(facts_of(kind).is_open_loop for kind in kinds)


def subject_rows(summary: Summary, has: Has) -> list[SubjectRow]:
    """The rows of a table for the workloads and groups with content in `has`, in the order of
    tables: a group before its members."""
    order = {name: at for at, name in enumerate(summary.workloads)}
    return [row for subject in summary.subjects for row in _rows(summary, subject.name, order, has)]


def _rows(summary: Summary, name: str, order: Mapping[str, int], has: Has) -> Iterator[SubjectRow]:
    is_first = True
    for index, (arm, of_arm) in enumerate(summary.arms.items()):
        own = of_arm.subject(name)
        if own is not None and has(own):
            yield SubjectRow(name, arm, index, own, is_first, order.get(name))
            is_first = False
