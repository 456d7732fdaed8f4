"""The summary of a run: the content of `result.json`."""

from typing import Any

from msgspec import UNSET, UnsetType

from tailrace.results.summary.base import Part
from tailrace.results.summary.effect import ArmEffect
from tailrace.results.summary.expectation import JudgedFigure
from tailrace.results.summary.figure import Figures, TableSubject
from tailrace.results.summary.hosts import (
    Costs,
    Fidelity,
    HostMeans,
    HypervisorMeans,
    ProcessorMeans,
)
from tailrace.results.summary.looks import LooksSummary
from tailrace.results.summary.network import (
    Deadlock,
    EarlyDrops,
    IdleFairDrop,
    LockOut,
    Lost,
    PauseMeans,
    PortMeans,
    Rates,
)
from tailrace.results.summary.sweep import SweepSummary
from tailrace.results.summary.workload import (
    EarlyEnd,
    GroupSummary,
    WorkloadOrGroup,
    WorkloadSummary,
)
from tailrace.scenario.goal import HeadlineMetric


class Problem(Part, frozen=True, kw_only=True):
    """A trial that is in no average, or was repeated."""

    arm: str
    trial: int
    status: str
    """`invalid`, `failed`, `cancelled` or `missing`."""
    reason: str
    unfinished: bool | UnsetType = UNSET
    """True where only workloads did not finish: a censored result. Absent otherwise."""


class RunFacts(Part, frozen=True, kw_only=True):
    """How the run was made."""

    name: str
    """Of the scenario."""
    engine: str
    """`simulated`, `exact` or `live`."""
    fabric: str | None
    """Of a live run."""
    seed: int
    scale: float
    """Share of the transaction counts, bytes and durations that was run."""
    live_scale: int
    """Divisor of rates, queues and users."""
    workload_scale: dict[str, float]
    """Share of each workload's count that was run."""
    trials_planned: int | None
    """Of each arm."""
    is_partial: bool
    """Whether trials are missing or the run was interrupted."""
    problems: list[Problem]
    repeated: list[Problem]
    """Attempts that the machine invalidated, of trials that were repeated."""
    command: str | None
    """As one types it."""
    order: list[str]
    """In which the trials were run, such as `fifo/3`."""
    description: str | None
    state: str | None
    started: str | None
    finished: str | None
    versions: dict[str, Any] | None
    machine: dict[str, Any] | None
    plan_hashes: dict[str, str] | None
    """By arm."""
    overrides: dict[str, Any] | None
    """Changes of the scenario by arm."""
    calibration: dict[str, Any] | None


class HeadlineFigure(Part, frozen=True, kw_only=True):
    """A figure by which the scenario says that arms are judged."""

    workload: str
    """Or group."""
    metric: HeadlineMetric | UnsetType = UNSET
    """Absent where the scenario leaves it to the kind of workload."""


class ArmSummary(Part, frozen=True, kw_only=True):
    """The summary of an arm over its trials with outcome."""

    trials: list[int]
    """Their numbers."""
    unfinished_trials: list[int]
    """Those in which workloads did not finish."""
    early_end: EarlyEnd | None
    seeds: list[int]
    """Of the trials, as the four that follow."""
    digests: list[str | None]
    wall_s: list[float]
    packet_hops: list[int | None]
    workloads: dict[str, WorkloadSummary]
    groups: dict[str, GroupSummary]
    """Those of which the arm has all members."""
    figures: dict[str, Figures]
    """By workload or group, the content of the outcome table."""
    rates: Rates
    goodput_jain: float | None
    """Jain's index of the goodputs of its workloads."""
    deadlocks: list[Deadlock]
    idle_fair_drop: list[IdleFairDrop]
    lock_outs: list[LockOut]
    drops: dict[str, Lost]
    """By cause, most first."""
    early_drops: list[EarlyDrops]
    ports: list[PortMeans]
    """Those where most happened."""
    ports_omitted: int
    pauses: list[PauseMeans]
    hosts: list[HostMeans]
    processors: list[ProcessorMeans]
    hypervisors: list[HypervisorMeans]
    costs: Costs | None
    """Of live trials, as the fidelity."""
    fidelity: Fidelity | None

    def subject(self, name: str) -> WorkloadOrGroup | None:
        """A workload or group; None where the arm does not have it."""
        return self.workloads.get(name) or self.groups.get(name)


class Summary(Part, frozen=True, kw_only=True):
    """All of a run."""

    format: int
    """Version of this layout."""
    run: RunFacts
    baseline: str | None
    """Arm that the others are compared with; None without an arm."""
    workloads: list[str]
    """In the order of the scenario."""
    subjects: list[TableSubject]
    headline: list[HeadlineFigure]
    """Empty where the scenario states none."""
    arms: dict[str, ArmSummary]
    solo: dict[str, ArmSummary]
    """Workloads alone in the baseline's network, by name."""
    comparisons: list[ArmEffect]
    looks: LooksSummary | None
    """Of a run with `trials: auto`."""
    expectations: list[JudgedFigure]
    sweep: SweepSummary | None
    assumptions: list[dict[str, Any]]

    @property
    def swept(self) -> SweepSummary:
        """The sweep of a run that is one."""
        assert self.sweep is not None, "the run is a sweep"
        return self.sweep
