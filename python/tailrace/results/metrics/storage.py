"""Figures of workloads of storage: rates and latencies by what requests ask for, what they waited for, devices."""

from collections.abc import Sequence
from typing import Any

from tailrace.results.directory.run_directory import Trial
from tailrace.results.format.numbers import PS_PER_MS, PS_PER_S
from tailrace.results.metrics.definitions import counted_ps
from tailrace.results.metrics.latency import FIGURES
from tailrace.scenario.vocabulary import STORAGE_METRICS, STORAGE_PARTS
from tailrace.statistics import Histogram, mean

OPS = ("read", "write")
OF_ALL = (*OPS, "flush")
DEVICE_METRICS = ("device_requests_per_s", "device_await_ms", "device_queue_mean", "device_busy_percent")


def summarise_storage(trials: Sequence[Trial], members: Sequence[str]) -> dict[str, float | None] | None:
    """Means over the trials that have the figure; None for workloads without requests of storage.

    Of several, rates are what all did over the longest of their times, percentiles those of all requests. Devices are
    told of one workload alone: several may share them.
    """
    measured = [found for trial in trials if (found := _measured(trial, members))]
    if not measured:
        return None
    figures = {metric: [_figure(*found, metric) for found in measured] for metric in STORAGE_METRICS}
    known = {metric: [value for value in values if value is not None] for metric, values in figures.items()}
    return {metric: mean(values) if values else None for metric, values in known.items()}


def storage_figure(trial: Trial, name: str, metric: str) -> float | None:
    """A figure of a workload in one trial; None where it has none."""
    found = _measured(trial, [name])
    return _figure(*found, metric) if found else None


def _measured(trial: Trial, members: Sequence[str]) -> tuple[dict[str, Any], float] | None:
    """The requests of workloads in one trial, and the time in seconds in which they were counted."""
    told = [(own, requests) for name in members if (own := trial.workload(name)) and (requests := _requests(own))]
    if not told:
        return None
    time_s = max(counted_ps(trial, own) for own, _ in told) / PS_PER_S
    return (told[0][1] if len(told) == 1 else _merged([requests for _, requests in told])), time_s


def _figure(requests: dict[str, Any], time_s: float, metric: str) -> float | None:
    if metric in DEVICE_METRICS:
        return _of_devices(requests["devices"], metric, time_s)
    if metric.startswith("waits_"):
        return _share(requests, metric.removeprefix("waits_").removesuffix("_percent"))
    op, _, figure = metric.partition("_")
    found = requests[op]
    if figure == "iops":
        return float(found["count"] / time_s) if time_s else 0.0
    if figure == "mbytes_per_s":
        return float(found["bytes"] / time_s / 1e6) if time_s else 0.0
    latency = found["latency"]
    key = figure.removeprefix("latency_").removesuffix("_ms")
    return float(latency[f"{key}_ps"]) / PS_PER_MS if latency else None


def _requests(own: dict[str, Any]) -> dict[str, Any] | None:
    found: dict[str, Any] | None = own.get("storage_requests")
    return found


def _merged(several: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The requests of several workloads, without their devices."""
    return {op: _merged_op([requests[op] for requests in several]) for op in OF_ALL} | {"devices": None}


def _merged_op(several: Sequence[dict[str, Any]]) -> dict[str, Any]:
    pooled = Histogram.from_outcomes(own["latency"] for own in several)
    waits = [own["waits_s"] for own in several if own["count"]] or [several[0]["waits_s"]]
    return {
        "count": sum(own["count"] for own in several),
        "bytes": sum(own["bytes"] for own in several),
        "latency": {f"{key}_ps": of(pooled).ms * PS_PER_MS for key, of in FIGURES.items()} if pooled else None,
        "waits_s": {part: sum(own[part] for own in waits) for part in waits[0] if all(part in own for own in waits)},
    }


def _share(requests: dict[str, Any], part: str) -> float | None:
    """Of the time of all requests that read or write; None where real programs do not tell what these waited for."""
    if not all(part in requests[op]["waits_s"] for op in OPS):
        return None
    sums = {each: sum(requests[op]["waits_s"][each] for op in OPS) for each in STORAGE_PARTS}
    whole = sum(sums.values())
    return float(sums[part] / whole * 100) if whole else None


def _of_devices(devices: dict[str, Any] | None, metric: str, time_s: float) -> float | None:
    """None where real programs do not tell what their devices did."""
    if devices is None:
        return None
    if metric == "device_await_ms":
        return float(devices["pieces_wait_s"] / devices["pieces"] * 1e3) if devices["pieces"] else None
    if not time_s:
        return None
    if metric == "device_requests_per_s":
        return float(devices["pieces"] / time_s)
    if metric == "device_queue_mean":
        return float(devices["pieces_wait_s"] / time_s / devices["count"])
    # A piece that was under way when the measured time began brings all of its time.
    return float(min(1.0, devices["busy_s"] / time_s / devices["count"]) * 100)
