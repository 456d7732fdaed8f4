"""Explained transactions of groups: those of all members together."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from tailrace.results.causes.causes import Transaction
from tailrace.results.metrics.subjects import Subject
from tailrace.results.summary.causes import LostDatagrams


def with_groups(
    subjects: Sequence[Subject], of: Mapping[str, Sequence[Transaction]]
) -> dict[str, list[Transaction]]:
    """By workload and group, a group before its members; each transaction of a group says whose it
    is."""
    return {
        subject.name: grouped(subject.members, of) if subject.is_group else list(of[subject.name])
        for subject in subjects
        if any(name in of for name in subject.members)
    }


def grouped(members: Sequence[str], of: Mapping[str, Sequence[Transaction]]) -> list[Transaction]:
    """The transactions of several workloads."""
    return [replace(one, workload=name) for name in members for one in of.get(name, ())]


def lost_with_groups(
    subjects: Sequence[Subject], lost: Mapping[str, Sequence[LostDatagrams]]
) -> dict[str, list[LostDatagrams]]:
    """By workload and group, the losses in descending order of datagrams."""
    found = {
        subject.name: _lost([one for name in subject.members for one in lost.get(name, ())])
        for subject in subjects
    }
    return {name: losses for name, losses in found.items() if losses}


def _lost(of: Sequence[LostDatagrams]) -> list[LostDatagrams]:
    counts: Counter[tuple[str, str]] = Counter()
    for one in of:
        counts[one.port, one.by] += one.datagrams
    return [
        LostDatagrams(port=port, by=by, datagrams=count)
        for (port, by), count in counts.most_common()
    ]
