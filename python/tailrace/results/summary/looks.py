"""Decisions of the looks of `trials: auto`."""

from collections.abc import Sequence
from typing import Literal

from tailrace.results.summary.base import Part

State = Literal["different", "alike", "precise", "undecided"]


class Standing(Part, frozen=True, kw_only=True):
    """The state of one main comparison, or of one main figure of an arm, after the looks."""

    arm: str
    baseline: str | None
    """None for a figure."""
    workload: str
    metric: str
    what: str
    """The metric in words."""
    state: State
    p_value: float | None
    """Over all looks; None for a figure."""
    p_adjusted: float | None
    """By Holm's method over the main comparisons."""
    trials_needed: int | None
    """The look, in trials of each arm, at which it would be decided if the estimates stay; always
    after more trials than have run. None where that is unknown, or it is decided."""
    interval_needs: int | None
    """Approximate number of trials that an interval requires; without an interval the time of
    decision is unknown. None where it has one, or is decided."""

    @property
    def is_decided(self) -> bool:
        """Whether more trials are of no use."""
        return self.state != "undecided"


class LooksSummary(Part, frozen=True, kw_only=True):
    """All standings."""

    trials: int
    """Trials of each arm at the last look; 0 before the first."""
    trials_max: int
    precision: float
    """Within which figures are alike, 0 to 1."""
    is_decided: bool
    standings: Sequence[Standing]
    sentence: str
