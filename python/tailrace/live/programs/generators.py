"""What makes a workload's load in a live trial, and what it measured, whatever program it is."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from tailrace.live.lab.lab import Lab
from tailrace.live.lab.program import Program
from tailrace.live.measure.closings import Meant
from tailrace.live.measure.series import Moved, Row

PS_PER_S = 10**12
PS_PER_US = 10**6
US_PER_S = 10**6


@dataclass(frozen=True)
class Interval:
    """The measured interval: what ended later does not count."""

    begun_wall_us: int
    """Wall clock at which it began."""
    span_s: float
    warm_up_s: float = 0.0
    """What workloads without end do in this time, from the beginning, is not reported."""

    @property
    def counted_from_ps(self) -> int:
        """From when workloads without end count; the end where the interval ended within the warm-up."""
        return round(min(self.warm_up_s, self.span_s) * PS_PER_S)

    @property
    def ended_wall_us(self) -> int:
        """Wall clock at which it ended."""
        return self.begun_wall_us + round(self.span_s * US_PER_S)


@dataclass
class Measured:
    """What one workload did."""

    outcome: dict[str, Any]
    rows: list[Row] = field(default_factory=list)
    moved: list[Moved] = field(default_factory=list)
    begun_ps: int | None = None
    """When its first user or connection began to work, from the beginning of the trial."""
    lag_us: float | None = None
    """How late the load generator began a transaction, on average."""
    cut_off: list[Row] = field(default_factory=list)
    """What was running at the end of the interval; the latency is the wait until then."""


class Generator(Protocol):
    """The load of one workload."""

    name: str
    is_finite: bool

    def prepare(self, lab: Lab) -> None: ...
    def tick(self, lab: Lab, elapsed_s: float) -> None: ...
    @property
    def programs(self) -> Sequence[Program]: ...
    @property
    def is_done(self) -> bool: ...
    def stop(self, lab: Lab) -> None: ...
    def connections(self, lab: Lab) -> Meant | None: ...
    def measured(self, interval: Interval) -> Measured: ...
