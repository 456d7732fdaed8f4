"""Rows of tables with several for each arm."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

from tailrace.results.summary.summary import ArmSummary

Own = TypeVar("Own")


@dataclass(frozen=True)
class ArmRow(Generic[Own]):
    """The content of an arm's row."""

    arm: str
    index: int
    """Of the arm."""
    own: Own
    is_first: bool
    """Whether it is the first row of its arm."""


def arm_rows(
    arms: Mapping[str, ArmSummary], own_of: Callable[[ArmSummary], Iterable[Own]]
) -> list[ArmRow[Own]]:
    """A row for each thing that `own_of` gives of each arm."""
    return [
        ArmRow(arm, index, own, is_first=at == 0)
        for index, (arm, summary) in enumerate(arms.items())
        for at, own in enumerate(own_of(summary))
    ]
