"""Comparisons of two runs, and of two arms of one."""

from tailrace.results.summary.base import Part
from tailrace.results.summary.effect import ArmEffect


class ComparedRun(Part, frozen=True, kw_only=True):
    """A run that is compared."""

    path: str
    name: str
    """Of the scenario."""
    seed: int
    scale: float
    is_partial: bool
    fabric: str | None
    """Of a live run."""


class ComparedRuns(Part, frozen=True, kw_only=True):
    """The second of two runs against the first."""

    a: ComparedRun
    b: ComparedRun
    same_plan: dict[str, bool | None]
    """By common arm; None where a run kept no plan of it."""
    identical_trials: dict[str, int]
    """By common arm, the trials with the same events."""
    only_in_a: list[str]
    """Arms."""
    only_in_b: list[str]
    differences: list[ArmEffect]


class ComparedPair(Part, frozen=True, kw_only=True):
    """Two arms, in a sweep at one point."""

    arms: tuple[str, str]
    same_plan: bool | None
    """None where one has no plan."""
    identical_trials: int
    """Those with the same events."""


class ComparedArms(Part, frozen=True, kw_only=True):
    """The second of two arms of a run against the first."""

    run: ComparedRun
    arms: tuple[str, str]
    pairs: list[ComparedPair]
    """One, or one for each point of a sweep."""
    differences: list[ArmEffect]
