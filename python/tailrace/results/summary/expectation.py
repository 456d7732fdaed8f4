"""Expectations and published figures, judged."""

from typing import Literal

from tailrace.results.summary.base import Part
from tailrace.statistics import Interval

End = Literal["meets", "misses", "undecided"]
"""Of a goal."""


class Verdict(Part, frozen=True, kw_only=True):
    """The result of comparing a figure with a band."""

    value: float | None
    """At full scale, as the published one; None where no trial has it, as the verdict then."""
    interval: Interval | None
    """None of a lower bound."""
    measured: float | None
    """In the trials."""
    multiplied_by: float
    """Factor from the measured value to the figure."""
    passed: bool | None
    holds: bool | None
    """Whether the value alone lies in the band."""
    end: End | None
    takes: str
    is_bound: bool
    """Whether the figure of a trial is a lower bound, because transactions were running when it
    ended."""
    is_open: bool
    """Whether that leaves the verdict open, which does not pass: the figure may be as large as one
    likes."""
    is_clear: bool | None
    """Whether the whole interval lies on the same side of the bounds."""
    trials: int


class JudgedFigure(Verdict, frozen=True, kw_only=True):
    """A figure of the run with the band in which it is expected.

    Bounds of a figure that a goal can name are goals: `end` is whether the interval meets them,
    `takes` the trials that would decide an undecided one, which does not pass. For other bands,
    including those around a published value, the value is judged instead of its interval.
    """

    metric: str
    arm: str | None
    baseline: str | None
    workload: str | None
    noun: str
    """Noun for completed work, such as `transactions`."""
    port: str | None
    queue: str | None
    cause: str | None
    after_s: float | None
    """From when on in each trial."""
    statistic: str
    """`mean` or `median` of the trials."""
    kind: str
    """Its value as evidence."""
    published: float | None
    low: float | None
    high: float | None
    tolerance: str
    difference: float | None
    """From the published figure."""
    difference_percent: float | None
    is_run: bool
    """False for an arm that `--arm` left out."""
    passed_without: bool | None
    """The verdict on an arm that equals its baseline."""
    source: str
