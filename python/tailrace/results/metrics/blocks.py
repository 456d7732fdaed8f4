"""Figures of workloads of blocks: rates, latencies and losses of blocks, packets and processor time for each."""

from collections.abc import Collection, Sequence
from typing import Any

from tailrace.results.directory.run_directory import Trial
from tailrace.results.format.numbers import PS_PER_MS, PS_PER_S
from tailrace.results.metrics.definitions import counted_ps
from tailrace.results.metrics.latency import FIGURES
from tailrace.results.metrics.processors import workload_figure
from tailrace.statistics import Histogram, mean

COUNTERS = ("received_blocks", "lost_blocks", "failed_blocks", "messages")
OF_PROCESSORS = {"cpu_us_per_block": ("cpu_s", 1e6), "switches_per_block": ("context_switches", 1.0)}
"""Metric, that of the whole workload, and how many of its units are one of that."""


def summarise_blocks(trials: Sequence[Trial], members: Sequence[str]) -> dict[str, Any] | None:
    """Means over trials of the blocks of workloads together, with the percentiles of all of them; None for workloads
    without blocks.
    """
    told = [(trial, own) for trial in trials if (own := _with_blocks(trial, members))]
    if not told:
        return None
    latencies = [latency for _, own in told if (latency := _latency_ms([one["block_latency"] for one in own]))]
    return {
        **{key: mean([float(sum(one["block_counts"][key] for one in own)) for _, own in told]) for key in COUNTERS},
        "blocks_per_s": mean([sum(_rate_per_s(trial, one) for one in own) for trial, own in told]),
        "latency_ms": {key: mean([found[key] for found in latencies]) for key in FIGURES} if latencies else None,
    }


def _with_blocks(trial: Trial, members: Sequence[str]) -> list[dict[str, Any]]:
    return [own for name in members if (own := trial.workload(name)) and own.get("block_counts")]


def _latency_ms(recorded: Sequence[dict[str, Any] | None]) -> dict[str, float] | None:
    """Figures of one trial; None where no block has come."""
    if len(recorded) == 1:
        return {key: recorded[0][f"{key}_ps"] / PS_PER_MS for key in FIGURES} if recorded[0] else None
    pooled = Histogram.from_outcomes(recorded)
    return {key: of(pooled).ms for key, of in FIGURES.items()} if pooled else None


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
