"""The latency of one workload in one arm, in seconds, for programs and notebooks."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from tailrace.results.directory.tables import Table
from tailrace.results.summary.workload import LatencySummary
from tailrace.statistics import Interval

MS_PER_S = 1000
Value = TypeVar("Value")


@dataclass(frozen=True)
class Latency:
    """Percentiles of all valid trials together, in seconds, and each transaction by request.

    A transaction that the end of a trial cut off counts as a wait of at least that long. `bounds`
    names figures that are lower bounds.
    """

    arm: str
    workload: str
    count: int
    """Transactions, flows or datagrams that were recorded."""
    mean_s: float
    p50_s: float
    p90_s: float
    p95_s: float
    p99_s: float
    p99_9_s: float
    max_s: float
    cut_off: int
    """Waits that the end of a trial cut off."""
    bounds: tuple[str, ...]
    """Figures, such as `p99`, that are lower bounds."""
    of_trials: Mapping[str, list[float]] = field(repr=False)
    """Milliseconds of each trial, by figure."""
    intervals: Mapping[str, Interval | None] = field(repr=False)
    """In milliseconds, by figure."""
    trials_needed: Mapping[str, int]
    """By figure that has no interval yet, about how many trials of this length make one."""
    read_transactions: Callable[[], Table] = field(repr=False, compare=False)

    @classmethod
    def from_summary(
        cls, arm: str, workload: str, found: LatencySummary, read: Callable[[], Table]
    ) -> "Latency":
        """From the milliseconds of `result.json`."""
        return cls(
            arm,
            workload,
            found.count,
            mean_s=found.mean / MS_PER_S,
            p50_s=found.p50 / MS_PER_S,
            p90_s=found.p90 / MS_PER_S,
            p95_s=found.p95 / MS_PER_S,
            p99_s=found.p99 / MS_PER_S,
            p99_9_s=found.p99_9 / MS_PER_S,
            max_s=found.max / MS_PER_S,
            cut_off=found.cut_off.count,
            bounds=tuple(found.bounds),
            of_trials=found.of_trials,
            intervals=found.intervals,
            trials_needed=found.trials_needed,
            read_transactions=read,
        )

    def values_s(self, figure: str) -> list[float]:
        """One figure (`mean`, `p50` to `p99_9`, `max`) of each valid trial."""
        return [value / MS_PER_S for value in _known(figure, self.of_trials)]

    def interval_s(self, figure: str) -> tuple[float, float] | None:
        """The interval of one figure of all trials together; None where there is none, or none yet:
        `trials_needed`."""
        interval = _known(figure, self.intervals)
        return (interval.low / MS_PER_S, interval.high / MS_PER_S) if interval else None

    def transactions(self) -> Table:
        """Every recorded transaction: trial, user, start and latency in seconds, size."""
        return self.read_transactions()


def _known(figure: str, figures: Mapping[str, Value]) -> Value:
    if figure not in figures:
        raise KeyError(f"no figure {figure} (known: {', '.join(figures)})")
    return figures[figure]
