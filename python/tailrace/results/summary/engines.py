"""A comparison of runs of one scenario by different engines."""

from collections.abc import Sequence

from tailrace.results.summary.base import Part
from tailrace.statistics import Interval


class LeftOut(Part, frozen=True, kw_only=True):
    """Trials of an arm that are in no figure."""

    unfinished: int
    invalid: int
    """Or failed."""
    trials: int
    """All trials of the arm."""


class EngineRun(Part, frozen=True, kw_only=True):
    """The run of one engine."""

    path: str
    name: str
    """Of the scenario."""
    seed: int
    fabric: str | None
    """Of a live run."""
    valid_trials: int
    left_out: dict[str, LeftOut]
    """By arm, where there are any."""


class Disagreement(Part, frozen=True, kw_only=True):
    """How far an engine is from the reference."""

    percent: float | None
    """None where the figure of one of the two is a lower bound."""
    interval: Interval | None
    """In percent; None where the trials allow none."""


class EngineFigures(Part, frozen=True, kw_only=True):
    """One figure by every engine."""

    workload: str
    """Or group."""
    arm: str
    metric: str
    values: dict[str, float]
    """By engine, as all that follow."""
    bounds: dict[str, int]
    """Trials because of which the value is a lower bound."""
    intervals: dict[str, Interval | None]
    published: float | None
    disagreements: dict[str, Disagreement]
    """Of all engines but the reference."""
    trials: dict[str, int]
    """That have the figure."""


class ComparedEngines(Part, frozen=True, kw_only=True):
    """Runs of different engines by workload or group and arm."""

    engines: list[str]
    reference: str
    """The last of them, with which the others are compared."""
    runs: dict[str, EngineRun]
    """By engine."""
    same_plan: dict[str, bool]
    """By arm."""
    goals_percent: dict[str, float]
    """By metric, the disagreement that counts as agreement."""
    rows: Sequence[EngineFigures]
