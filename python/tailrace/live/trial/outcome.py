"""The outcome of a live trial in the format of the simulator's, from the fabric's counters and the programs' logs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tailrace.experiment.native import Columns, column
from tailrace.live.lab.program import Program
from tailrace.live.measure import closings, probe
from tailrace.live.measure.chronographs import busy_permille
from tailrace.live.measure.closings import Seen
from tailrace.live.measure.costs import Counted
from tailrace.live.measure.probe import INTERFACE, Connections, Counters, Used
from tailrace.live.neighbours import Neighbours
from tailrace.programs.command import Ended
from tailrace.programs.measured import Measured, MeasuredInterval
from tailrace.programs.series import cut_off_table, goodput_table, transactions_table

PS_PER_S = 10**12
FABRIC_TABLES = ("port_series", "queue_depth")
FABRIC_COLUMNS = {
    "port_series": {
        "port": "u32",
        "bin": "u32",
        "start_ps": "u64",
        "queue_mean_bytes": "f64",
        "queue_max_bytes": "u64",
        "tx_bytes": "u64",
        "drop_frames": "u64",
        "mark_frames": "u64",
    },
    "queue_depth": {"port": "u32", "depth_bytes": "u64", "time_ps": "u64"},
}
"""Tables that the fabric keeps as the simulator does, and the types of their columns."""


@dataclass(frozen=True)
class Readings:
    """What was read around the measured interval."""

    interval: MeasuredInterval
    counted: Mapping[str, Counters]
    """By host, what the kernel counted from before the interval until the connections of the workloads had ended."""
    cpu: Used
    """Of the machine."""
    samples: Sequence[Connections]
    programs: Sequence[Program]
    """Of the load generators."""
    closed: Mapping[str, Seen]
    """By workload, what its sending and its receiving host knew of its connections."""
    limits: Mapping[str, Mapping[str, int] | None]
    """By workload, what limited its connections."""
    spent: Counted
    """By the programs of the lab."""
    ports: Mapping[str, Counters]
    """Of the interfaces of a foreign switch, by name."""
    backlog: Counters
    """Of the machine's receive queues."""
    meant: Mapping[str, closings.Meant | None] = field(default_factory=dict)
    """By workload, its connections; None of those without."""


@dataclass(frozen=True)
class Around:
    """What is known of the workloads and servers besides what they measured."""

    ends: Mapping[str, tuple[str, str]]
    """By workload, the host that most of its bytes come from, and the one that they go to."""
    servers: Sequence[tuple[str, Ended]]
    """Host of every server, and the server's resource usage."""
    round_trips: Mapping[str, Mapping[str, float]]
    """Of pings before the trial, by place."""


def assemble(
    plan: Mapping[str, Any],
    fabric: Mapping[str, Any],
    measured: Sequence[Measured],
    readings: Readings,
    around: Around,
) -> dict[str, Any]:
    """The outcome, without wall time."""
    fabric = _without_refused(fabric, measured)
    workloads = [
        _with_tcp(around.ends, one.outcome, readings) | {"limits": _limits(around.ends, one.outcome["name"], readings)}
        for one in measured
    ]
    complete = [one["completion_ps"] for one in workloads]
    span_ps = round(readings.interval.span_s * PS_PER_S)
    end_ps = span_ps if None in complete or not complete else max(complete)
    return {
        **fabric,
        "name": plan["name"],
        "seed": plan["seed"],
        "finished": None not in complete,
        "cancelled": False,
        "end_ps": end_ps,
        "workloads": workloads,
        "hosts": [_host(host["name"], fabric, readings, around.servers) for host in plan["hosts"]],
        "live": _live(measured, readings, around),
    }


def tables(
    plan: Mapping[str, Any], fabric: Mapping[str, Any], measured: Sequence[Measured], end_ps: int
) -> dict[str, Columns]:
    """The tables of the trial: two from the programs, two from the fabric."""
    observe = plan["observe"]
    made = {
        "transactions": transactions_table([one.rows for one in measured], observe["transactions_max"]),
        "cut_off": cut_off_table([one.cut_off for one in measured], observe["transactions_max"]),
        "workload_series": goodput_table(
            [one.moved for one in measured], end_ps, observe["series_bin_ps"], observe["series_bins"]
        ),
    }
    for name in FABRIC_TABLES:
        columns = (fabric.get("tables") or {}).get(name)
        if columns:
            made[name] = {key: column(kind, columns[key]) for key, kind in FABRIC_COLUMNS[name].items()}
    return made


def _without_refused(fabric: Mapping[str, Any], measured: Sequence[Measured]) -> Mapping[str, Any]:
    """The counts of the fabric, in which a frame is not lost outside of the model that its sender has counted as
    refused.
    """
    refused: dict[str, int] = {}
    for each in measured:
        for host, frames in each.refused.items():
            refused[host] = refused.get(host, 0) + frames
    counted = fabric.get("fabric") or {}
    lost = counted.get("frames_lost_outside")
    if not lost or not any(refused.values()):
        return fabric
    left = {
        host: own | {"tx_dropped": max(0, int(own["tx_dropped"]) - refused[host])}
        if host in refused and "tx_dropped" in own
        else own
        for host, own in lost.items()
    }
    return {**fabric, "fabric": {**counted, "frames_lost_outside": left, "frames_refused": refused}}


def _with_tcp(ends: Mapping[str, tuple[str, str]], outcome: dict[str, Any], readings: Readings) -> dict[str, Any]:
    """A workload's TCP counters: its connections', and where its hosts are its own those that Linux has by host.

    There are none where some of its connections were not seen to end: those of a host count other things.
    """
    closed = readings.closed.get(outcome["name"])
    if closed is not None and not closed.is_whole:
        return outcome | {"tcp": None}
    sender, receiver = ends[outcome["name"]]
    tcp = closings.tcp_outcome(closed) if closed is not None else {}
    if [pair[0] for pair in ends.values()].count(sender) == 1:
        has_receiver = [pair[1] for pair in ends.values()].count(receiver) == 1
        tcp = probe.tcp_outcome(readings.counted[sender], readings.counted[receiver] if has_receiver else {}) | tcp
    return outcome | {"tcp": tcp or None}


def _limits(ends: Mapping[str, tuple[str, str]], name: str, readings: Readings) -> dict[str, int] | None:
    """What limited a workload's connections, with how busy the busiest program of its sending host was."""
    found = readings.limits.get(name)
    if not found:
        return None
    sending = [one.ended for one in readings.programs if one.command.host == ends[name][0] and one.ended]
    used_s = [one.user_s + one.system_s for one in sending]
    return dict(found) | {"sender_busy_permille": busy_permille(used_s, readings.interval.span_s)}


def _host(
    name: str, fabric: Mapping[str, Any], readings: Readings, servers: Sequence[tuple[str, Ended]]
) -> dict[str, Any]:
    """A host's counters. Receiving costs what the kernel did for its programs, the rest is the programs' own."""
    counted = fabric.get("fabric") or {}
    lost = (counted.get("frames_lost_outside") or {}).get(name, {})
    refused = (counted.get("frames_refused") or {}).get(name, 0)
    ended = [one.ended for one in readings.programs if one.command.host == name]
    ended += [server for host, server in servers if host == name]
    return {
        "name": name,
        "rx_frames": readings.counted[name].get("rx_frames", 0),
        "nic_queue_drops": int(lost.get("tx_dropped", 0)) + refused,
        "rx_ring_drops": int(lost.get("rx_dropped", 0)) + int(lost.get("write_failed", 0)),
        "cpu_busy_ps": round(sum(one.system_s for one in ended if one) * PS_PER_S),
        "program_busy_ps": round(sum(one.user_s for one in ended if one) * PS_PER_S),
    }


def _live(measured: Sequence[Measured], readings: Readings, around: Around) -> dict[str, Any]:
    """Entries that only a live trial has."""
    begun = [one.begun_ps for one in measured if one.begun_ps is not None]
    controls = sorted(set().union(*(sample.congestion_controls for sample in readings.samples)))
    windows = [window for sample in readings.samples for window in sample.windows]
    trips = [trip for sample in readings.samples for trip in sample.round_trips_ms]
    return {
        "span_s": readings.interval.span_s,
        "begun_within_us": readings.interval.begun_within_us,
        "idle_share": readings.cpu.shares["idle_share"],
        "steal_share": readings.cpu.shares["steal_share"],
        "steal_by_core": list(readings.cpu.steal_by_core),
        "round_trip_us": {place: dict(trip) for place, trip in around.round_trips.items()},
        "begin_skew_ms": (max(begun) - min(begun)) / 1e9 if begun else 0.0,
        "offsets_ps": {one.outcome["name"]: one.offset_ps for one in measured if one.offset_ps},
        "client_ports": {one.outcome["name"]: one.client_ports for one in measured if one.client_ports},
        "start_skew_ms": {one.outcome["name"]: one.start_skew_ms for one in measured if one.start_skew_ms is not None},
        "generator_lag_us": {one.outcome["name"]: one.lag_us for one in measured if one.lag_us is not None},
        "connections": {name: closings.summary(ends) for name, ends in readings.closed.items()},
        "ends": {name: one.as_data() for name, one in readings.meant.items() if one is not None},
        "congestion_controls": controls,
        "window_mean_segments": _mean(windows),
        "smoothed_round_trip_mean_ms": _mean(trips),
        "server_rss_max_bytes": _largest(around.servers),
        "counters": {host: dict(counted) for host, counted in readings.counted.items()},
    }


def costs(readings: Readings, neighbours: Neighbours, kind: str) -> dict[str, Any]:
    """What the switch, the neighbours and the whole machine spent, and where interfaces lost frames."""
    taken = {program.command.name: readings.spent.of(program.pid).as_data() for program in neighbours.programs}
    hosts = {host: {key: counted.get(key, 0) for key in INTERFACE} for host, counted in readings.counted.items()}
    return {
        "machine": {**readings.cpu.machine, "backlog": dict(readings.backlog)},
        "switch": readings.spent.switch(kind),
        "neighbours": taken,
        "interfaces": {"hosts": hosts, "switch": {name: dict(own) for name, own in readings.ports.items()}},
    }


def _largest(servers: Sequence[tuple[str, Ended]]) -> dict[str, int]:
    """Largest resident memory of a server of each host."""
    found: dict[str, int] = {}
    for host, ended in servers:
        found[host] = max(found.get(host, 0), ended.max_rss_bytes)
    return found


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None
