"""What the looks of `trials: auto` have decided."""

from collections.abc import Sequence
from typing import Literal

from tailrace.results.summary.base import Part

State = Literal["different", "alike", "precise", "undecided"]


class Standing(Part, frozen=True, kw_only=True):
    """What the looks say about one main comparison, or about one main figure of an arm."""

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
    """At the look after about so many trials of each arm it is decided if it is as it seems, which
    is after more trials than have run; None where that is not known, or is decided.
    """
    interval_needs: int | None
    """About so many trials an interval takes, without which nothing tells when it is decided; None
    where it has one, or is decided.
    """

    @property
    def is_decided(self) -> bool:
        """Whether more trials are of no use."""
        return self.state != "undecided"


class LooksSummary(Part, frozen=True, kw_only=True):
    """All standings."""

    trials: int
    """Of each arm, after the last look; 0 before the first."""
    trials_max: int
    precision: float
    """Within which figures are alike, 0 to 1."""
    is_decided: bool
    standings: Sequence[Standing]
    sentence: str
