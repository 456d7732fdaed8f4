"""Statistics of a simulated run beside those of the capture."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from tailrace.fit.workload import Fit
from tailrace.results.summary.summary import ArmSummary
from tailrace.results.summary.workload import WorkloadSummary

NS_PER_MS = 1e6
NS_PER_S = 1e9
BITS_PER_GBIT = 1e9
BITS_PER_BYTE = 8
FAR = 0.5
"""A larger relative difference is a warning: the scenario does not describe the workload."""


@dataclass(frozen=True)
class Beside:
    """One statistic of one workload."""

    workload: str
    statistic: str
    captured: float
    simulated: float | None
    active_ns: int
    """Time in which the workload was active in the capture."""

    @property
    def off(self) -> float | None:
        """Relative difference of the simulation; None without one."""
        if self.simulated is None or not self.captured:
            return None
        return self.simulated / self.captured - 1

    @property
    def is_far(self) -> bool:
        """Whether the simulation differs by more than `FAR`, or has nothing of it."""
        return self.captured > 0 and (self.off is None or abs(self.off) > FAR)


def beside(fits: Mapping[str, Fit], arm: ArmSummary, duration_ns: int) -> Iterator[Beside]:
    """The statistics of all workloads, in order; `duration_ns` is that of the trial.

    Both rates are counts over the time from the first event of the workload to its last, each in
    its own course: of a simulated workload without end, to the end of the trial.
    """
    for name, fit in fits.items():
        simulated = _simulated(fit, arm.workloads[name], duration_ns)
        for statistic, captured in fit.seen.items():
            yield Beside(name, statistic, captured, simulated.get(statistic), fit.active.span_ns)


def _simulated(fit: Fit, workload: WorkloadSummary, duration_ns: int) -> dict[str, float | None]:
    latency = workload.latency_ms if workload.latency_ms and workload.latency_ms.count else None
    end_ns = _times(workload.completion_s.mean, NS_PER_S)
    goodput_ns = duration_ns if end_ns is None else end_ns
    count = workload.transactions.mean
    payload_bytes = _times(
        workload.goodput_gbps.mean, BITS_PER_GBIT * goodput_ns / NS_PER_S / BITS_PER_BYTE
    )
    if end_ns is None and fit.is_finite:
        # Datagrams are done when they are sent; results do not contain that time.
        end_ns = fit.active.begin_ns + fit.active.span_ns
    active_ns = max(1.0, (duration_ns if end_ns is None else end_ns) - fit.active.begin_ns)
    return {
        "count": count,
        "payload_bytes": payload_bytes,
        "rate_per_s": _times(count, NS_PER_S / active_ns),
        "goodput_bits_per_s": _times(payload_bytes, BITS_PER_BYTE * NS_PER_S / active_ns),
        "latency_p50_ns": latency.p50 * NS_PER_MS if latency else None,
        "latency_p99_ns": latency.p99 * NS_PER_MS if latency else None,
    }


def _times(value: float | None, factor: float) -> float | None:
    return None if value is None else value * factor
