"""Statistics of a simulated run beside those of the capture."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from tailrace.fit.workload import Fit
from tailrace.results.summary.summary import ArmSummary
from tailrace.results.summary.workload import WorkloadSummary

NS_PER_MS = 1e6
NS_PER_S = 1e9
BITS_PER_GBIT = 1e9


@dataclass(frozen=True)
class Beside:
    """One statistic of one workload."""

    workload: str
    statistic: str
    captured: float
    simulated: float | None

    @property
    def off(self) -> float | None:
        """Relative difference of the simulation; None without one."""
        if self.simulated is None or not self.captured:
            return None
        return self.simulated / self.captured - 1


def beside(fits: Mapping[str, Fit], arm: ArmSummary, duration_ns: int) -> Iterator[Beside]:
    """The statistics of all workloads, in order; `duration_ns` is that of the trial."""
    for name, fit in fits.items():
        simulated = _simulated(arm.workloads[name], duration_ns)
        for statistic, captured in fit.seen.items():
            yield Beside(name, statistic, captured, simulated.get(statistic))


def _simulated(workload: WorkloadSummary, duration_ns: int) -> dict[str, float | None]:
    latency = workload.latency_ms
    ended = _times(workload.transactions.mean, NS_PER_S / duration_ns)
    return {
        # Flows and datagrams have no rate of their own in results.
        "rate_per_s": workload.rate_per_s.mean or ended,
        "goodput_bits_per_s": _times(workload.goodput_gbps.mean, BITS_PER_GBIT),
        "latency_p50_ns": latency.p50 * NS_PER_MS if latency else None,
        "latency_p99_ns": latency.p99 * NS_PER_MS if latency else None,
    }


def _times(value: float | None, factor: float) -> float | None:
    return None if value is None else value * factor
