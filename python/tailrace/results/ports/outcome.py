"""Counters of ports and hosts, as means over the valid trials of an arm.

Foreign switches have fewer counters: those that a trial lacks are None, such as the bytes of its drops.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable
from heapq import nsmallest
from typing import Any, TypedDict

from tailrace.results.directory.run_directory import Trial

# A fat tree has hundreds of ports; the report and `result.json` keep those where something happened.
PORTS_MAX = 48
DPP_COUNTERS = (
    "prioritised_frames",
    "normal_frames",
    "new_flows",
    "resets",
    "deferred_resets",
    "reordering_resets",
    "evictions",
    "untracked_frames",
)


class Lost(TypedDict):
    """Frames that one cause lost, mean over trials, and their bytes; None where a trial did not count those."""

    frames: float
    bytes: float | None


def summarise_ports(trials: list[Trial]) -> tuple[list[dict[str, Any]], int]:
    """Switch ports, most drops first and then busiest, and how many were left out."""
    groups: dict[tuple[str, str], list[tuple[dict[str, Any], int]]] = defaultdict(list)
    for trial in trials:
        for port in trial.outcome.get("ports", []):
            groups[port["node"], port["towards"]].append((port, trial.counted_ps))
    kept = nsmallest(PORTS_MAX, groups.items(), key=lambda item: _rank(item[1]))
    ports = [_port(node, towards, seen, len(trials)) for (node, towards), seen in kept]
    return ports, max(0, len(groups) - PORTS_MAX)


def _rank(seen: list[tuple[dict[str, Any], int]]) -> tuple[float, int]:
    """What comes first has the least: most drops, then most bytes sent."""
    queues = [queue for port, _ in seen for queue in port["queues"]]
    lost = sum(cause["frames"] for queue in queues for cause in queue["drops"].values())
    lost += sum(_too_long(port) for port, _ in seen)
    return -lost, -sum(port["tx_bytes"] for port, _ in seen)


def drops_by_cause(trials: list[Trial]) -> dict[str, Lost]:
    """Frames and bytes lost in switches and hosts by cause, mean over trials, most first."""
    causes: dict[str, Lost] = {}
    for trial in trials:
        for cause, frames, size in _drops(trial.outcome):
            _add(causes, cause, frames, size, len(trials))
    lost = {cause: count for cause, count in causes.items() if count["frames"] > 0}
    return dict(sorted(lost.items(), key=lambda item: -item[1]["frames"]))


def early_drops(trials: list[Trial]) -> list[dict[str, Any]]:
    """What switches dropped before any queue (no route, policed, no room at the ingress), mean over trials."""
    found: dict[str, dict[str, Lost]] = {}
    for trial in trials:
        for switch in trial.outcome.get("switches", []):
            causes = found.setdefault(switch["name"], {})
            for cause, lost in switch.get("early_drops", {}).items():
                _add(causes, cause, lost["frames"], lost.get("bytes"), len(trials))
    return [{"switch": name, "drops": causes} for name, causes in found.items() if causes]


def count_drops(trial: Trial, port: str | None, queue: str | None, cause: str | None) -> float:
    """Frames that queues of one trial dropped; of all ports together also those that were dropped before any queue."""
    places = [at["drops"] for at in queues_of(trial, port, queue)]
    if port is None and queue is None:
        places += [switch.get("early_drops", {}) for switch in trial.outcome.get("switches", [])]
    found = sum(lost["frames"] for drops in places for name, lost in drops.items() if cause in (None, name))
    if port is not None and queue is None and cause in (None, "mtu"):
        found += sum(_too_long(at) for at in trial.ports(port))
    return float(found)


def _too_long(port: dict[str, Any]) -> int:
    """Frames that arrived at a port, or were to leave by it, above its MTU. They came to no queue."""
    return sum((port.get("mtu_drops") or {}).values())


def queues_of(trial: Trial, port: str | None, queue: str | None) -> list[dict[str, Any]]:
    """Queues of one trial at a port `node>neighbour` (all ports where None) with a name (all queues where None)."""
    return [at for p in trial.ports(port) for at in p["queues"] if queue in (None, at["name"])]


def summarise_hosts(trials: list[Trial]) -> list[dict[str, Any]]:
    """Host counters, mean over trials, in the order of the scenario."""
    groups: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for trial in trials:
        for host in trial.outcome.get("hosts", []):
            counted_ps = max(1, trial.outcome["end_ps"] - host.get("counted_from_ps", 0))
            busy = {
                "cpu_busy_share": host["cpu_busy_ps"] / counted_ps,
                "program_busy_cores": host.get("program_busy_ps", 0) / counted_ps,
            }
            groups[host["name"]].append(host | busy)
    keys = ("rx_frames", "nic_queue_drops", "rx_ring_drops", "cpu_busy_share", "program_busy_cores")
    return [
        {"name": name} | {key: _mean(h[key] for h in seen) for key in keys} | {"bond": _bond(seen), "ip": _ip(seen)}
        for name, seen in groups.items()
    ]


def _ip(seen: list[dict[str, Any]]) -> dict[str, float] | None:
    """Counters of fragments, mean over all trials, with or without fragments; None for a host without any."""
    counted = [host["ip"] for host in seen if host.get("ip")]
    if not counted:
        return None
    return {key: sum(float(one[key]) for one in counted) / len(seen) for key in counted[0]}


def _bond(seen: list[dict[str, Any]]) -> list[dict[str, float]] | None:
    """Counters of each interface of a bond, mean over trials; None for a host with one interface."""
    bonds = [host["bond"] for host in seen if host.get("bond")]
    if not bonds:
        return None
    return [
        {key: _mean(one[key] for one in interfaces) for key in interfaces[0]} for interfaces in zip(*bonds, strict=True)
    ]


def _port(node: str, towards: str, seen: list[tuple[dict[str, Any], int]], trials: int) -> dict[str, Any]:
    ports = [port for port, _ in seen]
    queues = [_queue([port["queues"][i] for port in ports]) for i in range(len(ports[0]["queues"]))]
    dpp = [port["dpp"] for port in ports if port.get("dpp")]
    return {
        "node": node,
        "towards": towards,
        "rate_bps": ports[0]["rate_bps"],
        "tx_bytes": sum(port["tx_bytes"] for port in ports) / trials,
        "throughput_gbps": _mean(
            port["tx_bytes"] * 8_000 / counted_ps if counted_ps else 0.0 for port, counted_ps in seen
        ),
        "drops_frames": sum(queue["drops_frames"] for queue in queues),
        "mtu_drops": _mtu_drops(ports),
        "queues": queues,
        "dpp": {key: _mean(counters.get(key, 0) for counters in dpp) for key in DPP_COUNTERS} if dpp else None,
    }


def _mtu_drops(ports: list[dict[str, Any]]) -> dict[str, float] | None:
    """Frames above the MTU of a port that has one, by direction."""
    found = [drops for port in ports if (drops := port.get("mtu_drops"))]
    return {way: _mean(drops[way] for drops in found) for way in ("ingress", "egress")} if found else None


def _queue(queues: list[dict[str, Any]]) -> dict[str, Any]:
    causes: dict[str, Lost] = {}
    for queue in queues:
        for cause, lost in queue["drops"].items():
            _add(causes, cause, lost["frames"], lost.get("bytes"), len(queues))
    return {
        "name": queues[0]["name"],
        "tx_frames": _mean(queue["tx_frames"] for queue in queues),
        "tx_bytes": _mean(queue["tx_bytes"] for queue in queues),
        "drops": causes,
        "drops_frames": sum(lost["frames"] for lost in causes.values()),
        "marked_frames": _known(queues, "marked_frames", _mean),
        "depth_mean_bytes": _known(queues, "depth_mean_bytes", _mean),
        "depth_max_bytes": _known(queues, "depth_max_bytes", max),
    }


def _known(queues: list[dict[str, Any]], key: str, of: Callable[[list[float]], float]) -> float | None:
    """One figure of a counter over the trials; None where a trial does not have it."""
    values = [queue.get(key) for queue in queues]
    return None if None in values else of([value for value in values if value is not None])


def _add(causes: dict[str, Lost], cause: str, frames: float, size: float | None, trials: int) -> None:
    """Adds what one of several trials lost to the mean; bytes that one of them did not count are not known."""
    mean = causes.setdefault(cause, {"frames": 0.0, "bytes": 0.0})
    mean["frames"] += frames / trials
    mean["bytes"] = None if size is None or mean["bytes"] is None else mean["bytes"] + size / trials


def _drops(outcome: dict[str, Any]) -> Iterable[tuple[str, float, float | None]]:
    """Cause, frames and bytes of every loss; hosts count frames alone."""
    for port in outcome.get("ports", []):
        for queue in port["queues"]:
            for cause, lost in queue["drops"].items():
                yield cause, lost["frames"], lost.get("bytes")
    for switch in outcome.get("switches", []):
        for cause, lost in switch.get("early_drops", {}).items():
            yield cause, lost["frames"], lost.get("bytes")
    for host in outcome.get("hosts", []):
        yield "nic_queue", host["nic_queue_drops"], None
        yield "rx_ring", host["rx_ring_drops"], None


def _mean(values: Iterable[float]) -> float:
    listed = list(values)
    return sum(listed) / len(listed) if listed else 0.0
