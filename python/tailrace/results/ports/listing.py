"""All ports of switches with a few figures that identify the important one: means over trials."""

from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple

from tailrace.outcome.types import Port
from tailrace.results.directory.run_directory import Trial
from tailrace.results.format.numbers import PS_PER_S
from tailrace.results.ports.outcome import queue_drops, too_long

WIRE_OVERHEAD_BYTES = 24
"""Preamble, check sequence and gap of an Ethernet frame (IEEE 802.3), which a link carries and a
queue does not."""
BITS_PER_BYTE = 8


class PortFigures(NamedTuple):
    """One port of one arm, means over its trials; the peak is the deepest of all trials."""

    name: str
    drops_frames: float
    queue_bytes_max: int
    utilisation_percent: float
    """Of the link's rate, with the overhead of frames on the wire."""


def listed_ports(trials: Iterable[Trial]) -> list[PortFigures]:
    """Ports that sent or lost a frame: most drops first, then the deepest queue, then the
    busiest."""
    found: dict[str, list[tuple[int, int, float]]] = defaultdict(list)
    count = 0
    for trial in trials:
        count += 1
        for name in trial.port_numbers:
            for parallel, port in enumerate(trial.ports(name), start=1):
                if port.tx_frames or port.mtu_drops or any(queue.drops for queue in port.queues):
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
    return sorted(
        ports,
        key=lambda one: (
            -one.drops_frames,
            -one.queue_bytes_max,
            -one.utilisation_percent,
            one.name,
        ),
    )


def _figures(port: Port, counted_ps: int) -> tuple[int, int, float]:
    drops = queue_drops(port) + too_long(port)
    peak = max((queue.depth_max_bytes or 0 for queue in port.queues), default=0)
    bits = BITS_PER_BYTE * (port.tx_bytes + WIRE_OVERHEAD_BYTES * port.tx_frames)
    return (
        drops,
        peak,
        bits * PS_PER_S / (port.rate_bps * counted_ps) if port.rate_bps and counted_ps else 0.0,
    )
