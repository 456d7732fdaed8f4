"""Counters of ports and hosts, as means over the valid trials of an arm. Foreign switches have
fewer counters: absent ones are None, such as the bytes of their drops."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from heapq import nsmallest
from typing import TypeVar

from tailrace.outcome.types import Host, Outcome, Port, Queue
from tailrace.results.directory.run_directory import Trial
from tailrace.results.summary.hosts import BondMeans, HostMeans, IpMeans
from tailrace.results.summary.means import means_of
from tailrace.results.summary.network import (
    DppMeans,
    EarlyDrops,
    Lost,
    MtuDropMeans,
    PortMeans,
    QueueMeans,
)

# A fat tree has hundreds of ports; the report and `result.json` keep those where something
# happened.
PORTS_MAX = 48
Number = TypeVar("Number", bound=float)
NOTHING = Lost(frames=0.0, bytes=0.0)


def summarise_ports(trials: list[Trial]) -> tuple[list[PortMeans], int]:
    """Switch ports, most drops first and then busiest, and how many were left out."""
    groups: dict[tuple[str, str], list[tuple[Port, int]]] = defaultdict(list)
    for trial in trials:
        for port in trial.outcome.ports:
            groups[port.node, port.towards].append((port, trial.counted_ps))
    kept = nsmallest(PORTS_MAX, groups.values(), key=_rank)
    return [_port(seen, len(trials)) for seen in kept], max(0, len(groups) - PORTS_MAX)


def _rank(seen: list[tuple[Port, int]]) -> tuple[float, int]:
    """Sort key, ascending: most drops first, then most bytes sent."""
    lost = sum(queue_drops(port) + too_long(port) for port, _ in seen)
    return -lost, -sum(port.tx_bytes for port, _ in seen)


def drops_by_cause(trials: list[Trial]) -> dict[str, Lost]:
    """Frames and bytes lost in switches and hosts by cause, mean over trials, most first."""
    causes: dict[str, Lost] = {}
    for trial in trials:
        for cause, frames, size in _drops(trial.outcome):
            _add(causes, cause, frames, size, len(trials))
    lost = {cause: count for cause, count in causes.items() if count.frames > 0}
    return dict(sorted(lost.items(), key=lambda item: -item[1].frames))


def early_drops(trials: list[Trial]) -> list[EarlyDrops]:
    """Drops of switches before any queue (no route, policed, no room at the ingress), mean over
    trials."""
    found: dict[str, dict[str, Lost]] = {}
    for trial in trials:
        for switch in trial.outcome.switches:
            causes = found.setdefault(switch.name, {})
            for cause, lost in switch.early_drops.items():
                _add(causes, cause, lost.frames, lost.bytes, len(trials))
    return [EarlyDrops(switch=name, drops=causes) for name, causes in found.items() if causes]


def count_drops(trial: Trial, port: str | None, queue: str | None, cause: str | None) -> float:
    """Frames that queues of one trial dropped; for all ports together including drops before any
    queue."""
    counters = [at.drops for at in queues_of(trial, port, queue)]
    if port is None and queue is None:
        counters += [switch.early_drops for switch in trial.outcome.switches]
    found = sum(
        lost.frames for drops in counters for name, lost in drops.items() if cause in (None, name)
    )
    if port is not None and queue is None and cause in (None, "mtu"):
        found += sum(too_long(at) for at in trial.ports(port))
    return float(found)


def queue_drops(port: Port) -> int:
    """Frames that the queues of a port dropped, of all causes."""
    return sum(lost.frames for queue in port.queues for lost in queue.drops.values())


def too_long(port: Port) -> int:
    """Frames that arrived at a port, or were to leave by it, above its MTU. They came to no
    queue."""
    return port.mtu_drops.ingress + port.mtu_drops.egress if port.mtu_drops else 0


def queues_of(trial: Trial, port: str | None, queue: str | None) -> list[Queue]:
    """Queues of one trial at a port `node>neighbour` (all ports where None) with a name (all queues
    where None)."""
    return [at for p in trial.ports(port) for at in p.queues if queue in (None, at.name)]


def summarise_hosts(trials: list[Trial]) -> list[HostMeans]:
    """Host counters, mean over trials, in the order of the scenario."""
    groups: dict[str, list[tuple[Host, int]]] = defaultdict(list)
    for trial in trials:
        for host in trial.outcome.hosts:
            groups[host.name].append(
                (host, max(1, trial.outcome.end_ps - (host.counted_from_ps or 0)))
            )
    return [_host(name, seen) for name, seen in groups.items()]


def _host(name: str, seen: list[tuple[Host, int]]) -> HostMeans:
    """`seen`: of each trial, with the time for which it was counted."""
    hosts = [host for host, _ in seen]
    return HostMeans(
        name=name,
        rx_frames=_mean(host.rx_frames for host in hosts),
        nic_queue_drops=_mean(host.nic_queue_drops for host in hosts),
        rx_ring_drops=_mean(host.rx_ring_drops for host in hosts),
        cpu_busy_share=_mean(host.cpu_busy_ps / counted_ps for host, counted_ps in seen),
        program_busy_cores=_mean(host.program_busy_ps / counted_ps for host, counted_ps in seen),
        bond=_bond(hosts),
        ip=_ip(hosts),
    )


def _ip(hosts: list[Host]) -> IpMeans | None:
    """Counters of fragments, mean over all trials, with or without fragments; None for a host
    without any."""
    counted = [host.ip for host in hosts if host.ip]
    return means_of(IpMeans, counted, len(hosts)) if counted else None


def _bond(hosts: list[Host]) -> list[BondMeans] | None:
    """Counters of each interface of a bond, mean over trials; None for a host with one
    interface."""
    bonds = [host.bond for host in hosts if host.bond]
    return (
        [means_of(BondMeans, interfaces) for interfaces in zip(*bonds, strict=True)]
        if bonds
        else None
    )


def _port(seen: list[tuple[Port, int]], trials: int) -> PortMeans:
    ports = [port for port, _ in seen]
    first = ports[0]
    queues = [
        _queue([port.queues[number] for port in ports]) for number in range(len(first.queues))
    ]
    dpp = [port.dpp for port in ports if port.dpp]
    mtu_drops = [port.mtu_drops for port in ports if port.mtu_drops]
    return PortMeans(
        node=first.node,
        towards=first.towards,
        rate_bps=first.rate_bps,
        tx_bytes=sum(port.tx_bytes for port in ports) / trials,
        throughput_gbps=_mean(
            port.tx_bytes * 8_000 / counted_ps if counted_ps else 0.0 for port, counted_ps in seen
        ),
        drops_frames=sum(queue.drops_frames for queue in queues),
        mtu_drops=means_of(MtuDropMeans, mtu_drops) if mtu_drops else None,
        queues=queues,
        dpp=means_of(DppMeans, dpp) if dpp else None,
    )


def _queue(queues: list[Queue]) -> QueueMeans:
    causes: dict[str, Lost] = {}
    for queue in queues:
        for cause, lost in queue.drops.items():
            _add(causes, cause, lost.frames, lost.bytes, len(queues))
    marked = known([queue.marked_frames for queue in queues])
    depths_mean = known([queue.depth_mean_bytes for queue in queues])
    depths_max = known([queue.depth_max_bytes for queue in queues])
    return QueueMeans(
        name=queues[0].name,
        tx_frames=_mean(queue.tx_frames for queue in queues),
        tx_bytes=_mean(queue.tx_bytes for queue in queues),
        drops=causes,
        drops_frames=sum(lost.frames for lost in causes.values()),
        marked_frames=None if marked is None else _mean(marked),
        depth_mean_bytes=None if depths_mean is None else _mean(depths_mean),
        depth_max_bytes=None if depths_max is None else max(depths_max),
    )


def known(values: Sequence[Number | None]) -> list[Number] | None:
    """The values of a counter; None where one is not known."""
    found = [value for value in values if value is not None]
    return found if len(found) == len(values) else None


def _add(
    causes: dict[str, Lost], cause: str, frames: float, size: float | None, trials: int
) -> None:
    """Adds the losses of one trial to the mean. Bytes are unknown where one of the trials did not
    count them."""
    mean = causes.get(cause, NOTHING)
    causes[cause] = Lost(
        frames=mean.frames + frames / trials,
        bytes=None if size is None or mean.bytes is None else mean.bytes + size / trials,
    )


def _drops(outcome: Outcome) -> Iterable[tuple[str, float, float | None]]:
    """Cause, frames and bytes of every loss; hosts count frames alone."""
    for port in outcome.ports:
        for queue in port.queues:
            for cause, lost in queue.drops.items():
                yield cause, lost.frames, lost.bytes
    for switch in outcome.switches:
        for cause, lost in switch.early_drops.items():
            yield cause, lost.frames, lost.bytes
    for host in outcome.hosts:
        yield "nic_queue", host.nic_queue_drops, None
        yield "rx_ring", host.rx_ring_drops, None


def _mean(values: Iterable[float]) -> float:
    listed = list(values)
    return sum(listed) / len(listed) if listed else 0.0
