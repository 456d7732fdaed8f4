"""Summaries of runs that hold no more than a table needs."""

from collections.abc import Mapping, Sequence
from typing import Any

from parts import part
from tailrace.results.summary.figure import TableSubject
from tailrace.results.summary.summary import ArmSummary, Summary
from tailrace.results.summary.workload import SubjectSummary


def summary_of(
    arms: Mapping[str, Mapping[str, SubjectSummary]],
    workloads: Sequence[str],
    groups: Mapping[str, Mapping[str, SubjectSummary]] | None = None,
    **given: Any,
) -> Summary:
    """By arm the summaries of workloads; `groups` are those of groups by arm, which stand before
    all workloads."""
    held = groups or {}
    names = list(dict.fromkeys(name for of_arm in held.values() for name in of_arm))
    return part(
        Summary,
        workloads=list(workloads),
        subjects=[part(TableSubject, name=name) for name in [*names, *workloads]],
        arms={
            arm: part(ArmSummary, workloads=dict(own), groups=dict(held.get(arm, {})))
            for arm, own in arms.items()
        },
        **given,
    )
