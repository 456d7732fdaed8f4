"""All ports of switches with the few figures by which a reader finds the one that matters: means over trials."""

from collections import defaultdict
from collections.abc import Iterable
from typing import Any, NamedTuple

from tailrace.results.directory.run_directory import Trial
from tailrace.results.format.numbers import PS_PER_S

WIRE_OVERHEAD_BYTES = 24
"""Preamble, check sequence and gap of an Ethernet frame (IEEE 802.3), which a link carries and a queue does not."""
BITS_PER_BYTE = 8


class PortFigures(NamedTuple):
    """One port of one arm, means over its trials; the peak is the deepest of all trials."""

    name: str
    drops_frames: float
    queue_bytes_max: int
    utilisation_percent: float
    """Of the link's rate, with the overhead of frames on the wire."""


def listed_ports(trials: Iterable[Trial]) -> list[PortFigures]:
    """Ports that sent or lost a frame: most drops first, then the deepest queue, then the busiest."""
    found: dict[str, list[tuple[int, int, float]]] = defaultdict(list)
    count = 0
    for trial in trials:
        count += 1
        for name, numbers in trial.port_numbers.items():
            for parallel, number in enumerate(numbers, start=1):
                port = trial.outcome["ports"][number]
                if port["tx_frames"] or any(queue["drops"] for queue in port["queues"]) or port.get("mtu_drops"):
                    own = name if parallel == 1 else f"{name} ({parallel})"
                    found[own].append(_figures(port, trial.counted_ps))
    ports = [
        PortFigures(
            name,
            sum(drops for drops, _, _ in seen) / count,
            max(peak for _, peak, _ in seen),
            100 * sum(busy for _, _, busy in seen) / count,
        )
        for name, seen in found.items()
    ]
    return sorted(ports, key=lambda one: (-one.drops_frames, -one.queue_bytes_max, -one.utilisation_percent, one.name))


def _figures(port: dict[str, Any], counted_ps: int) -> tuple[int, int, float]:
    drops = sum(lost["frames"] for queue in port["queues"] for lost in queue["drops"].values())
    drops += sum((port.get("mtu_drops") or {}).values())
    peak = max((queue.get("depth_max_bytes") or 0 for queue in port["queues"]), default=0)
    bits = BITS_PER_BYTE * (port["tx_bytes"] + WIRE_OVERHEAD_BYTES * port["tx_frames"])
    rate_bps = port.get("rate_bps") or 0
    return drops, peak, bits * PS_PER_S / (rate_bps * counted_ps) if rate_bps and counted_ps else 0.0
