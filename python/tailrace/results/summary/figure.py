"""Figures of workloads and groups over the trials of an arm, as the outcome table shows them."""

from collections.abc import Sequence

from tailrace.results.summary.base import Part
from tailrace.statistics import Interval


class FigureSummary(Part, frozen=True, kw_only=True):
    """A metric over the trials of an arm."""

    value: float | None
    """None where it is not known in all of them."""
    values: Sequence[float]
    """Of the trials that have it."""
    interval: Interval | None
    """None where the trials allow none."""
    trials_needed: int | None
    """The number of trials that an interval takes; None where it has one, or none could have
    one."""
    bounds: int
    """Trials because of which the value is a lower bound."""


Figures = dict[str, FigureSummary]
"""By metric."""


class TableSubject(Part, frozen=True, kw_only=True):
    """A workload or group, in the order of tables."""

    name: str
    members: list[str]
    is_group: bool
    is_member: bool
    """Whether it is listed below a group."""
    lead: str | None
    """The metric that it leads with; None where no trial has one."""
