"""The manifest of a run, as results read it; it has other keys besides."""

import sys
from typing import Annotated, Any

from msgspec import Meta, Struct

from tailrace.results.summary.summary import HeadlineFigure
from tailrace.results.summary.sweep import PlannedSweep
from tailrace.scenario.experiment import TRIALS_MOST

Positive = Annotated[float, Meta(gt=0, le=sys.float_info.max)]
"""A divisor: a finite positive number."""
Trials = Annotated[int, Meta(ge=0, le=TRIALS_MOST)]
"""More than a scenario can have are damage."""


class AutoTrials(Struct, frozen=True, kw_only=True):
    """How the number of trials is decided."""

    trials_max: Trials
    precision: Positive
    """Half of an interval that is narrow enough, as a share of the mean."""


class Manifest(Struct, frozen=True, kw_only=True):
    """The request, the software, the machine and the progress of a run."""

    name: str | None = None
    """Of the scenario."""
    description: str | None = None
    state: str | None = None
    """`running`, `interrupted` or `finished`."""
    engine: str = "simulated"
    """`simulated`, `exact` or `live`."""
    fabric: str | None = None
    """Of a live run."""
    versions: dict[str, Any] | None = None
    machine: dict[str, Any] | None = None
    seed: int = 0
    scale: Positive = 1.0
    """Share of the transaction counts, bytes and durations that is run."""
    live_scale: Annotated[int, Meta(ge=1)] = 1
    """Divisor of rates, queues and users."""
    workload_scale: dict[str, Positive] = {}
    """Share of each workload's count that is run."""
    trials: Trials | None = None
    """Of each arm."""
    order: list[str] = []
    """In which the trials are run, such as `fifo/3`."""
    auto: AutoTrials | None = None
    """None where the number of trials was given."""
    arms: list[str] = []
    """In a sweep, each at every point."""
    baseline: str | None = None
    workloads: list[str] = []
    """In the order of the scenario."""
    groups: dict[str, list[str]] = {}
    """Members of each group of workloads, by the name of the group."""
    headline: list[HeadlineFigure] = []
    overrides: dict[str, dict[str, Any]] | None = None
    """Changes of the scenario by arm."""
    sweep: PlannedSweep | None = None
    command: list[str] | None = None
    """Its words."""
    started: str | None = None
    finished: str | None = None
    """ISO 8601, as `started`."""
    plan_hashes: dict[str, str] | None = None
    """By arm."""
    calibration: dict[str, Any] | None = None
    assumptions: list[dict[str, Any]] = []
    expectations: list[dict[str, Any]] = []
    """Published figures with their tolerances (`published.Band` reads them)."""
