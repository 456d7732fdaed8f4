"""Curves over the points of a sweep, and how throughput grows over them."""

from collections.abc import Mapping, Sequence

from msgspec import field

from tailrace.results.summary.base import Part
from tailrace.statistics import Interval


class PlannedAxis(Part, frozen=True, kw_only=True):
    """An axis, as a manifest keeps it: the values as texts, in the order of the scenario."""

    path: str
    name: str
    values: Sequence[str]


class SweepAxis(PlannedAxis, frozen=True, kw_only=True):
    """An axis with the properties that a chart needs."""

    unit: str
    """Of the values; empty where they have none in common."""
    is_log: bool
    """Whether a logarithmic axis fits."""


class SweepPoint(Part, frozen=True, kw_only=True):
    """A point of the sweep."""

    label: str
    values: Mapping[str, str]
    """By path of the axis."""


class PlannedSweep(Part, frozen=True, kw_only=True):
    """A sweep, as a manifest keeps it. Arms at a point are named `<arm>@<label of the point>`."""

    axes: Sequence[PlannedAxis]
    combine: str
    """`grid`, or `paired`."""
    points: Sequence[SweepPoint]
    arms: Sequence[str]


class CurveValue(Part, frozen=True, kw_only=True):
    """The figure of a curve at a point."""

    mean: float
    low: float | None
    high: float | None
    """The ends of the interval."""
    trials: int
    bounds: int
    """Trials because of which the figure is a lower bound."""


class Knee(Part, frozen=True, kw_only=True):
    """Where a latency bends most."""

    value: str
    """Of the axis."""
    position: int
    """Among the values of the axis."""
    distance: float
    """From the chord of the curve, as a share of both axes."""


class SweepCurve(Part, frozen=True, kw_only=True):
    """One metric of a workload or group in one arm."""

    workload: str
    metric: str
    arm: str
    kinds: Sequence[str]
    """Of the workloads."""
    values: Sequence[CurveValue | None]
    """By point; None without a valid trial."""
    knee: Knee | None


class GrowthPoint(Part, frozen=True, kw_only=True):
    """The throughput at one size."""

    label: str
    size: float
    mean: float
    low: float | None
    high: float | None
    perfect: float
    """The throughput of the first point times the relative size."""
    share: float
    """Of that."""


class GrowthLaw(Part, frozen=True, kw_only=True):
    """A law that was fitted."""

    gain: float
    """Throughput of the first size."""
    contention: float
    """Share of the work that is done by one at a time."""
    coherency: float
    """Cost of every pair, as a share of the work of one."""
    gain_interval: Interval | None
    contention_interval: Interval | None
    coherency_interval: Interval | None
    deviation: float
    """Largest distance of a point from the law, as a share of the point."""
    limit: float | None
    """Throughput of any size; None without a limit."""
    peak: float | None
    """Size of the most throughput, in multiples of the first; None where it grows for ever."""


class Growth(Part, frozen=True, kw_only=True):
    """How throughput grows in one arm."""

    arm: str
    metric: str
    noun: str
    """Noun for the size."""
    title: str
    first: float
    """The smallest size."""
    points: Sequence[GrowthPoint]
    amdahl: GrowthLaw | None
    usl: GrowthLaw | None
    """The Universal Scalability Law."""
    knee: float | None
    """Size from which on throughput grows less."""


class ExcludedTrials(Part, frozen=True, kw_only=True):
    """Trials of a point that are not valid."""

    label: str
    arm: str
    trials: int
    of: int
    is_in_curves: bool = field(name="is_told")
    """Whether they merely did not finish; the curves then contain their measured figures."""
    reason: str


class SweepSummary(Part, frozen=True, kw_only=True):
    """All of a sweep."""

    axes: Sequence[SweepAxis]
    combine: str
    """`grid`, or `paired`."""
    points: Sequence[SweepPoint]
    arms: Sequence[str]
    curves: Sequence[SweepCurve]
    scalability: Sequence[Growth]
    excluded: Sequence[ExcludedTrials]
