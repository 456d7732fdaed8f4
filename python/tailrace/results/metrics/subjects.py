"""Subjects of results: workloads, groups with totals, and the main metric of each."""

from collections.abc import Sequence
from dataclasses import dataclass

from tailrace.results.directory.run_directory import Run
from tailrace.results.metrics.definitions import main_metric
from tailrace.results.summary.summary import HeadlineFigure


@dataclass(frozen=True)
class Subject:
    """A workload, or a group of workloads with a total."""

    name: str
    members: tuple[str, ...]
    is_group: bool = False
    is_member: bool = False
    """Whether it is listed below a group."""


def subjects_of(run: Run) -> list[Subject]:
    """Workloads in the order of the scenario; a group stands before the first of its members, which
    follow it."""
    groups = run.groups
    group_of = {member: name for name, members in groups.items() for member in members}
    found: dict[str, Subject] = {}
    for workload in run.workloads:
        group = group_of.get(workload)
        members = tuple(groups[group]) if group else (workload,)
        if group and group not in found:
            found[group] = Subject(group, members, is_group=True)
            found.update({member: Subject(member, (member,), is_member=True) for member in members})
        found.setdefault(workload, Subject(workload, (workload,)))
    return list(found.values())


def chosen_metrics(run: Run) -> dict[str, list[str]]:
    """By name of a workload or group, the metrics that judge it: those of the scenario, or one
    metric of each. Members of a group are judged as parts of it."""
    known = {subject.name for subject in subjects_of(run)}
    named = [one for one in run.manifest.headline if one.workload in known]
    return _metrics(run, named) if named else usual_metrics(run)


def usual_metrics(run: Run) -> dict[str, list[str]]:
    """The same where the scenario says nothing."""
    return _metrics(
        run, [HeadlineFigure(workload=one.name) for one in subjects_of(run) if not one.is_member]
    )


def _metrics(run: Run, figures: Sequence[HeadlineFigure]) -> dict[str, list[str]]:
    subjects = {subject.name: subject for subject in subjects_of(run)}
    chosen: dict[str, list[str]] = {}
    for one in figures:
        subject = subjects[one.workload]
        metric = one.metric or main_metric(run, subject.members, is_group=subject.is_group)
        if metric is not None:
            chosen.setdefault(subject.name, []).append(metric)
    return chosen
