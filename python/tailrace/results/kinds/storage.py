"""Storage workloads: rates and latencies by operation, waits, and devices."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tailrace.outcome.types import StorageDevices, StorageOp, StorageRequests, StorageWaits
from tailrace.results.directory.run_directory import Trial
from tailrace.results.format.numbers import PS_PER_S, number
from tailrace.results.kinds.contribution import Contribution, KindFigure, TableOfRows
from tailrace.results.metrics.definitions import counted_ps
from tailrace.results.metrics.latency import latency_figures, workloads_of
from tailrace.results.metrics.subject_rows import subject_rows
from tailrace.results.summary.kinds import LatencyFigures, StorageFigures
from tailrace.results.summary.summary import Summary
from tailrace.scenario.vocabulary import STORAGE_METRICS, STORAGE_PARTS
from tailrace.statistics import mean

DEVICE_METRICS = (
    "device_requests_per_s",
    "device_await_ms",
    "device_queue_mean",
    "device_busy_percent",
)
RATES = {
    "reads/s": "read_iops",
    "MB/s": "read_mbytes_per_s",
    "p50 ms": "read_latency_p50_ms",
    "p99 ms": "read_latency_p99_ms",
    "writes/s": "write_iops",
    "MB/s ": "write_mbytes_per_s",
    "p50 ms ": "write_latency_p50_ms",
    "p99 ms ": "write_latency_p99_ms",
    "device/s": "device_requests_per_s",
    "await ms": "device_await_ms",
    "busy %": "device_busy_percent",
}
"""Columns with their figures."""
WAITS = {f"{part} %": f"waits_{part}_percent" for part in STORAGE_PARTS}
TABLES = {"Requests of storage": RATES, "Time of requests of storage": WAITS}
"""Tables with their columns."""


@dataclass(frozen=True)
class _Op:
    """Requests of workloads together with the same operation."""

    count: int
    bytes: int
    latency_ms: LatencyFigures | None
    waits_s: Mapping[str, float]
    """By part; without parts that a program does not report."""


@dataclass(frozen=True)
class _Measured:
    """Requests of workloads together in one trial."""

    ops: Mapping[str, _Op]
    devices: StorageDevices | None
    """Devices of one workload alone: several workloads may share them. Real programs do not report
    device counters."""
    time_s: float
    """In which they were counted: the longest of the workloads' times."""


def summarise_storage(trials: Sequence[Trial], members: Sequence[str]) -> StorageFigures | None:
    """Means over the trials that have the figure; None for workloads without storage requests.

    For several workloads, rates are the sum of their requests over the longest of their times, and
    percentiles are those of all requests.
    """
    measured = [found for trial in trials if (found := _measured(trial, members))]
    if not measured:
        return None
    figures = {metric: [_figure(found, metric) for found in measured] for metric in STORAGE_METRICS}
    known = {
        metric: [value for value in values if value is not None]
        for metric, values in figures.items()
    }
    return StorageFigures(
        **{metric: mean(values) if values else None for metric, values in known.items()}
    )


def storage_figure(trial: Trial, name: str, metric: str) -> float | None:
    """A figure of a workload in one trial; None where it has none."""
    found = _measured(trial, [name])
    return _figure(found, metric) if found else None


def _measured(trial: Trial, members: Sequence[str]) -> _Measured | None:
    measured = [
        (own, own.storage_requests) for own in workloads_of(trial, members) if own.storage_requests
    ]
    if not measured:
        return None
    requests = [found for _, found in measured]
    time_s = max(counted_ps(trial, own) for own, _ in measured) / PS_PER_S
    return _Measured(_ops(requests), requests[0].devices if len(requests) == 1 else None, time_s)


def _ops(requests: Sequence[StorageRequests]) -> dict[str, _Op]:
    return {
        "read": _together([one.read for one in requests]),
        "write": _together([one.write for one in requests]),
        "flush": _together([one.flush for one in requests]),
    }


def _together(several: Sequence[StorageOp]) -> _Op:
    waits = [_waits(own.waits_s) for own in several if own.count] or [_waits(several[0].waits_s)]
    return _Op(
        sum(own.count for own in several),
        sum(own.bytes for own in several),
        latency_figures([own.latency for own in several]),
        {
            part: sum(own[part] for own in waits)
            for part in waits[0]
            if all(part in own for own in waits)
        },
    )


def _waits(of: StorageWaits) -> dict[str, float]:
    return {part: wait for part in STORAGE_PARTS if (wait := getattr(of, part)) is not None}


def _figure(of: _Measured, metric: str) -> float | None:
    if metric in DEVICE_METRICS:
        return _of_devices(of.devices, metric, of.time_s) if of.devices else None
    if metric.startswith("waits_"):
        return _share(of, metric.removeprefix("waits_").removesuffix("_percent"))
    op, _, figure = metric.partition("_")
    found = of.ops[op]
    if figure == "iops":
        return found.count / of.time_s if of.time_s else 0.0
    if figure == "mbytes_per_s":
        return found.bytes / of.time_s / 1e6 if of.time_s else 0.0
    key = figure.removeprefix("latency_").removesuffix("_ms")
    return float(getattr(found.latency_ms, key)) if found.latency_ms else None


def _share(of: _Measured, part: str) -> float | None:
    """Share of the time of all reads and writes; None where real programs do not report their
    waits."""
    waits = [of.ops[op].waits_s for op in ("read", "write")]
    if not all(part in own for own in waits):
        return None
    sums = {each: sum(own.get(each, 0.0) for own in waits) for each in STORAGE_PARTS}
    whole = sum(sums.values())
    return sums[part] / whole * 100 if whole else None


def _of_devices(devices: StorageDevices, metric: str, time_s: float) -> float | None:
    if metric == "device_await_ms":
        return devices.pieces_wait_s / devices.pieces * 1e3 if devices.pieces else None
    if not time_s:
        return None
    if metric == "device_requests_per_s":
        return devices.pieces / time_s
    if metric == "device_queue_mean":
        return devices.pieces_wait_s / time_s / devices.count
    # A piece that was under way when the measured time began brings all of its time.
    return min(1.0, devices.busy_s / time_s / devices.count) * 100


def storage_tables(summary: Summary) -> list[TableOfRows]:
    """Two tables of the workloads and arms with requests of storage; none where no workload has
    any."""
    found = [
        (row, figures)
        for row in subject_rows(summary, lambda own: own.storage_figures)
        if (figures := row.own.storage_figures)
    ]
    return [
        TableOfRows(
            title,
            title.lower(),
            [name.strip() for name in columns],
            [(row, _cells(figures, columns)) for row, figures in found],
        )
        for title, columns in TABLES.items()
        if found
    ]


def _cells(figures: StorageFigures, columns: Mapping[str, str]) -> list[str]:
    return [
        "-" if (value := getattr(figures, key)) is None else number(value)
        for key in columns.values()
    ]


def _figure_named(metric: str) -> KindFigure:
    return lambda trial, name, _: storage_figure(trial, name, metric)


STORAGE = Contribution(
    figures={metric: _figure_named(metric) for metric in STORAGE_METRICS},
    tables=storage_tables,
)
