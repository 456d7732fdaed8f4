"""The summary of a large sweep: the content of its `result.json`."""

from tailrace.results.summary.base import Part


class LargeSize(Part, frozen=True, kw_only=True):
    """How much was planned."""

    points: int
    trials: int


class LargeRun(Part, frozen=True, kw_only=True):
    """How the sweep was made."""

    name: str
    """Of the scenario."""
    state: str
    engine: str
    seed: int
    scale: float
    """Share of the transaction counts, bytes and durations that was run."""
    trials: int
    """Of each arm at each point."""
    started: str


class LargeAxis(Part, frozen=True, kw_only=True):
    """An axis, without its values."""

    path: str
    name: str
    count: int
    """Of values."""


class LargeProblem(Part, frozen=True, kw_only=True):
    """A trial that is not ok."""

    point: str
    arm: str
    trial: int
    """0 stands for all trials of the arm at the point."""
    status: str
    reason: str


class CurveEnd(Part, frozen=True, kw_only=True):
    """The smallest or the largest value of a curve."""

    value: float
    is_bound: bool
    """Whether it is a lower bound."""
    point: str
    """Where it is."""


class ValueMean(Part, frozen=True, kw_only=True):
    """The mean over all points with one value of an axis."""

    value: str
    mean: float
    points: int
    bounds: int
    """Points at which the figure is a lower bound, because of which the mean is one."""


class LargeCurve(Part, frozen=True, kw_only=True):
    """One metric of one workload and arm over all points."""

    arm: str
    workload: str
    metric: str
    points: int
    """Those that have the figure."""
    mean: float
    bounds: int
    """Points at which the figure is a lower bound."""
    low: CurveEnd
    high: CurveEnd
    below: int
    """Points at which the arm is below the baseline."""
    above: int
    compared: int
    unknown: int
    """Points at which a lower bound leaves open which of the two is smaller."""
    by_value: dict[str, list[ValueMean]]
    """By path of an axis, in its order."""


class LargeSummary(Part, frozen=True, kw_only=True):
    """All of a large sweep."""

    format: int
    """Version of this layout."""
    large: LargeSize
    run: LargeRun
    axes: list[LargeAxis]
    arms: list[str]
    baseline: str | None
    """Arm that the others are compared with."""
    points_run: int
    statuses: dict[str, int]
    """Trials by status."""
    problems: list[LargeProblem]
    """The first trials that are not ok."""
    curves: list[LargeCurve]
    """In the order of the scenario."""
