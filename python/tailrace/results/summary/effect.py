"""Effects of arms, or of other runs, relative to a baseline."""

from msgspec import UNSET, UnsetType

from tailrace.results.summary.base import Part
from tailrace.statistics import Interval, Verdict


class ArmEffect(Part, frozen=True, kw_only=True):
    """The effect of an arm on one figure of a workload or group.

    An improvement is positive: less time, or more goodput.
    """

    metric: str
    workload: str
    """Or group."""
    baseline: str
    arm: str
    baseline_value: float
    arm_value: float
    ratio: float | None
    """Ratio of the arm's value to the baseline's; None for shares, and where the baseline is zero.
    """
    ratio_interval: Interval | None
    difference: float
    difference_interval: Interval | None
    """None where there is a ratio."""
    change_percent: float | None
    change_interval: Interval | None
    """In percent."""
    improvement_percent: float | None
    improvement_interval: Interval | None
    """In percent."""
    p_value: float | None
    """None of figures that are described and not tested, as all that belongs to a test."""
    p_smallest: float | None
    """The smallest p value that this number of trials can reach."""
    p_adjusted: float | None
    tests: int
    """Number of comparisons that share the adjustment."""
    test: str | None
    trials_needed: int | None
    """Trials of each arm with which a difference can be significant; None where there are enough.
    """
    is_paired: bool
    """Whether trials are compared in pairs that share a seed."""
    trials: tuple[int, int]
    """Of the baseline and of the arm."""
    verdict: Verdict
    method: str
    """How it was tested, in words."""
    words: str
    """The effect as a sentence."""
    bounds: tuple[int, int]
    """Trials of both because of which the figure is a lower bound."""
    is_main: bool
    """Whether it is of the main metric of the workload, which is tested."""
    is_group: bool
    noun: str
    """Noun for completed work, such as `transactions`."""
    is_same: bool
    """Whether all trials have the same figure in both."""
    scope: str | UnsetType = UNSET
    """The arm in which two runs are compared; absent within a run."""
