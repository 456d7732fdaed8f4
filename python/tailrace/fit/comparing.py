"""Statistics of a simulated run beside those of the capture."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tailrace.fit.workload import Fit

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


def beside(fits: Mapping[str, Fit], arm: Mapping[str, Any], duration_ns: int) -> Iterator[Beside]:
    """The statistics of all workloads, in order; `duration_ns` is that of the trial."""
    for name, fit in fits.items():
        simulated = _simulated(arm["workloads"][name], duration_ns)
        for statistic, captured in fit.seen.items():
            yield Beside(name, statistic, captured, simulated.get(statistic))


def _simulated(workload: Mapping[str, Any], duration_ns: int) -> dict[str, float | None]:
    latency = workload.get("latency_ms") or {}

    def mean(key: str, factor: float = 1.0) -> float | None:
        value = (workload.get(key) or {}).get("mean")
        return None if value is None else value * factor

    def quantile(key: str) -> float | None:
        value = latency.get(key)
        return None if value is None else value * NS_PER_MS

    ended = mean("transactions", NS_PER_S / duration_ns)
    return {
        # Flows and datagrams have no rate of their own in results.
        "rate_per_s": mean("rate_per_s") or ended,
        "goodput_bits_per_s": mean("goodput_gbps", BITS_PER_GBIT),
        "latency_p50_ns": quantile("p50"),
        "latency_p99_ns": quantile("p99"),
    }
