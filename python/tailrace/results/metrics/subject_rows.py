"""Rows of tables about workloads and groups: each of them in every arm that has it."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from tailrace.scenario.workloads.kinds import facts_of

Summary = dict[str, Any]


@dataclass(frozen=True)
class SubjectRow:
    """A workload or group in one arm."""

    name: str
    arm: str
    arm_index: int
    own: Summary
    """Its summary in this arm."""
    is_first: bool
    """Whether it is the first row of the workload or group: the one that is labelled."""
    at: int | None
    """Place among the workloads; None for a group."""

    @property
    def place(self) -> Summary:
        """What a table of the report says of a row."""
        places = {} if self.at is None else {"at": self.at}
        return {"workload": self.name, "arm": self.arm, "index": self.arm_index, "is_first": self.is_first} | places


def subject_of_arm(arm: Summary, name: str) -> Summary | None:
    """The summary of a workload or group in the summary of an arm; None where the arm does not have it."""
    found: Summary | None = arm["workloads"].get(name) or arm["groups"].get(name)
    return found


def has_completion(own: Summary) -> bool:
    """Whether a workload, or every member of a group, has an end of its own."""
    return not any(facts_of(kind).is_open_loop for kind in kinds_of(own))


def kinds_of(own: Summary) -> list[str]:
    """The kinds of a workload or group."""
    return [own["kind"]] if "kind" in own else list(own["kinds"])


def subject_rows(summary: Summary, has: Callable[[Summary], Any]) -> list[SubjectRow]:
    """The rows of a table of what `has` something to tell, in the order of tables: a group before its members."""
    places = {name: at for at, name in enumerate(summary["workloads"])}
    return [row for subject in summary["subjects"] for row in _rows(summary, subject["name"], places, has)]


def _rows(summary: Summary, name: str, places: dict[str, int], has: Callable[[Summary], Any]) -> Iterator[SubjectRow]:
    is_first = True
    for index, (arm, of_arm) in enumerate(summary["arms"].items()):
        own = subject_of_arm(of_arm, name)
        if own is not None and has(own):
            yield SubjectRow(name, arm, index, own, is_first, places.get(name))
            is_first = False
