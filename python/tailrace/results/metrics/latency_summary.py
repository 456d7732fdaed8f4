"""The latency of one workload in one arm, in seconds, as programs and notebooks ask for it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tailrace.results.directory.tables import Table
from tailrace.results.metrics.latency import FIGURES

MS_PER_S = 1000


@dataclass(frozen=True)
class Latency:
    """Percentiles of all valid trials together, in seconds, and each transaction by request.

    What the end of a trial cut off counts as a wait of at least that long. Figures that are only known to be larger
    than they say are named in `bounds`.
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
    intervals: Mapping[str, dict[str, Any] | None] = field(repr=False)
    """In milliseconds, by figure."""
    trials_needed: Mapping[str, int]
    """By figure that has no interval yet, about how many trials of this length make one."""
    read_transactions: Callable[[], Table] = field(repr=False, compare=False)

    @classmethod
    def from_summary(cls, arm: str, workload: str, latency_ms: dict[str, Any], read: Callable[[], Table]) -> "Latency":
        """From the milliseconds of `result.json`."""
        figures = {f"{key}_s": latency_ms[key] / MS_PER_S for key in FIGURES}
        cut_off, bounds = latency_ms["cut_off"]["count"], tuple(latency_ms["bounds"])
        more = {key: latency_ms[key] for key in ("of_trials", "intervals", "trials_needed")}
        return cls(
            arm,
            workload,
            latency_ms["count"],
            **figures,
            cut_off=cut_off,
            bounds=bounds,
            **more,
            read_transactions=read,
        )

    def values_s(self, figure: str) -> list[float]:
        """One figure (`mean`, `p50` to `p99_9`, `max`) of each valid trial."""
        return [value / MS_PER_S for value in self._known(figure, self.of_trials)]

    def interval_s(self, figure: str) -> tuple[float, float] | None:
        """The interval of one figure of all trials together; None where there is none, or none yet: `trials_needed`."""
        interval = self._known(figure, self.intervals)
        return (interval["low"] / MS_PER_S, interval["high"] / MS_PER_S) if interval else None

    def transactions(self) -> Table:
        """Every recorded transaction: trial, user, start and latency in seconds, size."""
        return self.read_transactions()

    def _known(self, figure: str, figures: Mapping[str, Any]) -> Any:
        if figure not in figures:
            raise KeyError(f"no figure {figure} (known: {', '.join(figures)})")
        return figures[figure]
