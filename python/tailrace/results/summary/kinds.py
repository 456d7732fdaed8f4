"""Additional figures of single kinds of workloads: blocks, storage and MPI."""

from tailrace.results.summary.base import Part


class LatencyFigures(Part, frozen=True, kw_only=True):
    """Figures of latencies in milliseconds."""

    mean: float
    p50: float
    p90: float
    p95: float
    p99: float
    p99_9: float
    max: float


class BlockFigures(Part, frozen=True, kw_only=True):
    """Means over trials of the blocks of workloads together."""

    received_blocks: float
    lost_blocks: float
    failed_blocks: float
    messages: float
    blocks_per_s: float
    latency_ms: LatencyFigures | None
    """Of all blocks; None where none arrived."""


class StorageFigures(Part, frozen=True, kw_only=True):
    """Means over trials of requests of storage; None for a figure that no trial has."""

    read_iops: float | None
    read_mbytes_per_s: float | None
    read_latency_mean_ms: float | None
    read_latency_p50_ms: float | None
    read_latency_p99_ms: float | None
    read_latency_max_ms: float | None
    write_iops: float | None
    write_mbytes_per_s: float | None
    write_latency_mean_ms: float | None
    write_latency_p50_ms: float | None
    write_latency_p99_ms: float | None
    write_latency_max_ms: float | None
    flush_latency_mean_ms: float | None
    waits_turn_percent: float | None
    """Of the time of all requests that read or write."""
    waits_processor_percent: float | None
    waits_entry_percent: float | None
    waits_network_percent: float | None
    waits_r2t_percent: float | None
    waits_queue_percent: float | None
    waits_device_percent: float | None
    device_requests_per_s: float | None
    """Of one workload alone: several workloads may share their devices."""
    device_await_ms: float | None
    device_queue_mean: float | None
    device_busy_percent: float | None


class MpiSizeFigures(Part, frozen=True, kw_only=True):
    """Means over trials of one size of message, times of an iteration in microseconds."""

    bytes: int
    repetitions: float
    t_min_us: float
    """Of the fastest rank."""
    t_max_us: float
    """Of the slowest rank."""
    t_avg_us: float
    longest_us: float
    """The longest iteration of a rank in any trial."""
    mb_per_s: float | None
    """Megabytes (a million bytes) per second; None for patterns of which the benchmarks print
    none."""
    algorithm: str


class MpiFigures(Part, frozen=True, kw_only=True):
    """Times of a job, by size."""

    pattern: str
    ranks: int
    rows: list[MpiSizeFigures]
    """Sizes that a trial came to."""
