"""Workloads of blocks: rates, latencies and losses of blocks, packets and processor time for
each."""

from collections.abc import Sequence

from tailrace.outcome.types import BlockCounts, Workload
from tailrace.results.directory.run_directory import Trial
from tailrace.results.format.numbers import PS_PER_MS, PS_PER_S, number
from tailrace.results.kinds.contribution import Contribution, KindFigure, Nodes, TableOfRows
from tailrace.results.metrics.definitions import counted_ps
from tailrace.results.metrics.latency import FIGURES, latency_figures, recorded_ps, workloads_of
from tailrace.results.metrics.processors import workload_figure
from tailrace.results.metrics.subject_rows import subject_rows
from tailrace.results.summary.kinds import BlockFigures, LatencyFigures
from tailrace.results.summary.summary import Summary
from tailrace.results.summary.workload import SubjectSummary
from tailrace.scenario.vocabulary import BLOCK_METRICS
from tailrace.statistics import mean

COUNTERS = ("received_blocks", "lost_blocks", "failed_blocks", "messages")
OF_PROCESSORS = {
    "cpu_us_per_block": ("cpu_s", 1e6),
    "switches_per_block": ("context_switches", 1.0),
}
"""Metric, that of the whole workload, and how many of its units are one of that."""
HEAD = ("per second", "p50 ms", "p99 ms", "max ms", "lost", "failed", "failed transactions")

TrialBlocks = tuple[Workload, BlockCounts]


def summarise_blocks(trials: Sequence[Trial], members: Sequence[str]) -> BlockFigures | None:
    """Means over trials of the blocks of workloads together, with the percentiles of all of them;
    None for workloads without blocks.
    """
    blocks = [(trial, own) for trial in trials if (own := _with_blocks(trial, members))]
    if not blocks:
        return None
    latencies = [
        found
        for _, own in blocks
        if (found := latency_figures([one.block_latency for one, _ in own]))
    ]
    return BlockFigures(
        **{
            key: mean([float(sum(getattr(counts, key) for _, counts in own)) for _, own in blocks])
            for key in COUNTERS
        },
        blocks_per_s=mean([sum(_rate_per_s(trial, *one) for one in own) for trial, own in blocks]),
        latency_ms=_means(latencies) if latencies else None,
    )


def _with_blocks(trial: Trial, members: Sequence[str]) -> list[TrialBlocks]:
    return [(own, own.block_counts) for own in workloads_of(trial, members) if own.block_counts]


def _means(of: Sequence[LatencyFigures]) -> LatencyFigures:
    return LatencyFigures(**{key: mean([getattr(found, key) for found in of]) for key in FIGURES})


def block_figure(trial: Trial, name: str, nodes: Nodes, metric: str) -> float | None:
    """A figure of a workload in one trial; None where it has none."""
    found = _with_blocks(trial, [name])
    if not found:
        return None
    [(own, counts)] = found
    if metric in COUNTERS:
        return float(getattr(counts, metric))
    if metric == "blocks_per_s":
        return _rate_per_s(trial, own, counts)
    if metric == "packets_per_transaction":
        return _packets(trial, nodes, own)
    if metric in OF_PROCESSORS:
        whole, units = OF_PROCESSORS[metric]
        spent = workload_figure(trial, name, whole)
        return (
            None
            if spent is None or not counts.received_blocks
            else spent * units / counts.received_blocks
        )
    key = metric.removeprefix("block_latency_").removesuffix("_ms")
    return recorded_ps(own.block_latency, key) / PS_PER_MS if own.block_latency else None


def _rate_per_s(trial: Trial, own: Workload, counts: BlockCounts) -> float:
    time_ps = counted_ps(trial, own)
    return counts.received_blocks * PS_PER_S / time_ps if time_ps else 0.0


def _packets(trial: Trial, nodes: Nodes, own: Workload) -> float | None:
    """Packets that a node sends and receives for each transaction of its own, where all nodes are
    alike: each packet is received by one node, and sent by one.
    """
    named = nodes()
    ports = [port for port in trial.ports(None) if port.towards in named]
    received = sum(queue.tx_frames for port in ports for queue in port.queues)
    return 2 * received / own.transactions if own.transactions and ports else None


def block_tables(summary: Summary) -> list[TableOfRows]:
    """Tables of arrived blocks, their times, and losses; none where no workload has blocks."""
    found = subject_rows(summary, lambda own: own.block_figures)
    rows = [(row, _cells(row.own, blocks)) for row in found if (blocks := row.own.block_figures)]
    return [TableOfRows("Blocks, per trial", "blocks", HEAD, rows)] if rows else []


def _cells(own: SubjectSummary, blocks: BlockFigures) -> list[str]:
    latency = blocks.latency_ms
    waits = (
        [number(wait) for wait in (latency.p50, latency.p99, latency.max)] if latency else ["-"] * 3
    )
    failed = own.request_counts.failed if own.request_counts else 0
    counts = (number(count) for count in (blocks.lost_blocks, blocks.failed_blocks, failed))
    return [number(blocks.blocks_per_s), *waits, *counts]


def _figure_named(metric: str) -> KindFigure:
    return lambda trial, name, nodes: block_figure(trial, name, nodes, metric)


BLOCKS = Contribution(
    figures={metric: _figure_named(metric) for metric in BLOCK_METRICS},
    tables=block_tables,
)
