"""The measurements of a program for a workload, from its logs."""

from dataclasses import dataclass, field

from tailrace.outcome.types import Workload
from tailrace.programs.series import Moved, Row

PS_PER_S = 10**12
PS_PER_US = 10**6
US_PER_S = 10**6


@dataclass(frozen=True)
class MeasuredInterval:
    """The measured interval; transactions that end after it do not count."""

    begun_wall_us: int
    """Start by the wall clock."""
    span_s: float
    warm_up_s: float = 0.0
    """Warm-up: work of endless workloads in this time from the start is not reported."""
    begun_within_us: int = 0
    """Time between the request of the start and its confirmation: by the fabric's clock the start
    may be that much earlier."""

    @property
    def counted_from_ps(self) -> int:
        """Start of the measurement of endless workloads; the end, if the interval ended within the
        warm-up."""
        return round(min(self.warm_up_s, self.span_s) * PS_PER_S)

    @property
    def ended_wall_us(self) -> int:
        """End by the wall clock."""
        return self.begun_wall_us + round(self.span_s * US_PER_S)


@dataclass
class Measured:
    """The measurements of one workload."""

    outcome: Workload
    rows: list[Row] = field(default_factory=list)
    moved: list[Moved] = field(default_factory=list)
    begun_ps: int | None = None
    """Start of its first user or connection, from the start of the trial."""
    lag_us: float | None = None
    """Mean lateness of the starts of transactions."""
    cut_off: list[Row] = field(default_factory=list)
    """Transactions that were running at the end of the interval; their latency is the time until
    then."""
    refused: dict[str, int] = field(default_factory=dict)
    """By host, frames that found no room at its interface and whose sender was notified, so that it
    counted them."""
    offset_ps: int = 0
    """Added to times of its rows, gives those since the start of the trial: a workload with an end
    may be timed from its own begin, as a simulated one is.
    """
    client_ports: list[int] = field(default_factory=list)
    """By user, the port of its connection, where the program reports it."""
    start_skew_ms: float | None = None
    """Between the first requests of the first and of the last of its hosts, where several begin
    together."""
