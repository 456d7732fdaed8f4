"""Figures of workloads of blocks: rates, latencies and losses of blocks, packets and processor time for each."""

from collections.abc import Collection, Sequence
from typing import Any

from tailrace.results.directory.run_directory import Trial
from tailrace.results.format.numbers import PS_PER_MS, PS_PER_S
from tailrace.results.metrics.definitions import counted_ps
from tailrace.results.metrics.processors import workload_figure
from tailrace.statistics import mean

COUNTERS = ("received_blocks", "lost_blocks", "failed_blocks", "messages")
FIGURES = ("mean", "p50", "p90", "p95", "p99", "p99_9", "max")
OF_PROCESSORS = {"cpu_us_per_block": ("cpu_s", 1e6), "switches_per_block": ("context_switches", 1.0)}
"""Metric, that of the whole workload, and how many of its units are one of that."""


def summarise_blocks(trials: Sequence[Trial], name: str) -> dict[str, Any] | None:
    """Means over trials; None for a workload without blocks."""
    outcomes = [(trial, own) for trial in trials if (own := trial.workload(name)) and own.get("block_counts")]
    if not outcomes:
        return None
    counts = [own["block_counts"] for _, own in outcomes]
    latencies = [own["block_latency"] for _, own in outcomes if own["block_latency"]]
    return {
        **{key: mean([float(found[key]) for found in counts]) for key in COUNTERS},
        "blocks_per_s": mean([_rate_per_s(trial, own) for trial, own in outcomes]),
        "latency_ms": {key: mean([found[f"{key}_ps"] / PS_PER_MS for found in latencies]) for key in FIGURES}
        if latencies
        else None,
    }


def block_figure(trial: Trial, name: str, nodes: Collection[str], metric: str) -> float | None:
    """A figure of a workload in one trial; None where it has none."""
    own = trial.workload(name)
    counts = (own or {}).get("block_counts")
    if own is None or not counts:
        return None
    if metric in COUNTERS:
        return float(counts[metric])
    if metric == "blocks_per_s":
        return _rate_per_s(trial, own)
    if metric == "packets_per_transaction":
        return _packets(trial, nodes, own)
    if metric in OF_PROCESSORS:
        whole, units = OF_PROCESSORS[metric]
        found = workload_figure(trial, name, whole)
        return None if found is None or not counts["received_blocks"] else found * units / counts["received_blocks"]
    latency = own["block_latency"]
    key = metric.removeprefix("block_latency_").removesuffix("_ms")
    return float(latency[f"{key}_ps"]) / PS_PER_MS if latency else None


def _rate_per_s(trial: Trial, own: dict[str, Any]) -> float:
    time_ps = counted_ps(trial, own)
    return float(own["block_counts"]["received_blocks"] * PS_PER_S / time_ps) if time_ps else 0.0


def _packets(trial: Trial, nodes: Collection[str], own: dict[str, Any]) -> float | None:
    """Packets that a node sends and receives for each transaction of its own, where all nodes are alike: each packet
    is received by one node, and sent by one.
    """
    ports = [port for port in trial.ports(None) if port["towards"] in nodes]
    received = sum(queue["tx_frames"] for port in ports for queue in port["queues"])
    return 2 * received / own["transactions"] if own["transactions"] and ports else None
