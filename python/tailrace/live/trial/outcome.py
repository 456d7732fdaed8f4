"""The outcome of a live trial in the format of the simulator's, from the fabric's counters and the
programs' logs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from msgspec import structs

from tailrace.experiment.native import Columns, column
from tailrace.live.lab.program import Program
from tailrace.live.measure import closings, probe
from tailrace.live.measure.chronographs import busy_permille
from tailrace.live.measure.closings import Seen
from tailrace.live.measure.costs import Counted
from tailrace.live.measure.probe import INTERFACE, Connections, Counters, Used
from tailrace.outcome import types
from tailrace.outcome.types import (
    CoreWait,
    Fabric,
    Host,
    HostSettings,
    Interfaces,
    Limits,
    Live,
    LivePrograms,
    LossesOutside,
    MachineTimes,
    NetworkOutcome,
    Outcome,
    RoundTrip,
    Tcp,
    Workload,
)
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
    """The readings around the measured interval."""

    interval: MeasuredInterval
    counted: Mapping[str, Counters]
    """By host, the kernel's counts from before the interval until the connections of the workloads
    had ended."""
    cpu: Used
    """Of the machine."""
    samples: Sequence[Connections]
    programs: Sequence[Program]
    """Of the load generators."""
    closed: Mapping[str, Seen]
    """By workload, the last state of its connections at its sending and its receiving host."""
    limits: Mapping[str, Limits | None]
    """By workload, the limits of its connections."""
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
    """Facts about the workloads and servers besides their measurements."""

    ends: Mapping[str, tuple[str, str]]
    """By workload, the host that sends most of its bytes, and the one that receives them."""
    servers: Sequence[tuple[str, Ended]]
    """Host of every server, and the server's resource usage."""
    round_trips: Mapping[str, RoundTrip]
    """Round trips of pings before the trial, by pair of hosts."""
    core_waits: Mapping[str, CoreWait]
    """By workload, the time that it lost because its programs waited for a core."""
    kernel_wait_share: Mapping[str, float]
    """By thread of the kernel, the share of the interval for which it waited for a core."""
    settings: Mapping[str, HostSettings]
    """By host."""
    programs: LivePrograms
    """The executed programs."""
    charged: Mapping[str, Sequence[types.Program]]
    """By host, the use of its programs."""
    neighbours: Sequence[Program]
    kind: str
    """Of the fabric."""
    warnings: Sequence[str]


def assemble(
    plan: Mapping[str, Any],
    network: NetworkOutcome,
    measured: Sequence[Measured],
    readings: Readings,
    around: Around,
    wall_s: float,
) -> Outcome:
    """The outcome, from the reports of the fabric and the programs."""
    fabric = _without_refused(network.fabric, measured) if network.fabric else None
    workloads = [_with_connections(around.ends, one.outcome, readings) for one in measured]
    complete = [one.completion_ps for one in workloads]
    known = [at for at in complete if at is not None]
    is_finished = len(known) == len(complete)
    return Outcome(
        name=plan["name"],
        seed=plan["seed"],
        finished=is_finished,
        cancelled=False,
        end_ps=max(known) if is_finished and known else round(readings.interval.span_s * PS_PER_S),
        wall_s=wall_s,
        workloads=workloads,
        hosts=[_host(host["name"], fabric, readings, around) for host in plan["hosts"]],
        live=_live(measured, readings, around),
        fabric=fabric,
        conservation=network.conservation,
        counted_from_ps=network.counted_from_ps,
        digest=network.digest,
        interfaces=network.interfaces,
        netstat=network.netstat,
        ports=network.ports,
        switches=network.switches,
    )


def tables(
    plan: Mapping[str, Any], network: NetworkOutcome, measured: Sequence[Measured], end_ps: int
) -> dict[str, Columns]:
    """The tables of the trial: two from the programs, two from the fabric."""
    observe = plan["observe"]
    made = {
        "transactions": transactions_table(
            [one.rows for one in measured], observe["transactions_max"]
        ),
        "cut_off": cut_off_table([one.cut_off for one in measured], observe["transactions_max"]),
        "workload_series": goodput_table(
            [one.moved for one in measured],
            end_ps,
            observe["series_bin_ps"],
            observe["series_bins"],
        ),
    }
    for name in FABRIC_TABLES:
        columns = (network.tables or {}).get(name)
        if columns:
            made[name] = {
                key: column(kind, columns[key]) for key, kind in FABRIC_COLUMNS[name].items()
            }
    return made


def _without_refused(fabric: Fabric, measured: Sequence[Measured]) -> Fabric:
    """The counts of the fabric, in which a frame is not lost outside of the model that its sender
    has counted as refused.
    """
    refused: dict[str, int] = {}
    for each in measured:
        for host, frames in each.refused.items():
            refused[host] = refused.get(host, 0) + frames
    lost = fabric.frames_lost_outside
    if not lost or not any(refused.values()):
        return fabric
    left = {
        host: structs.replace(own, tx_dropped=max(0, own.tx_dropped - refused[host]))
        if host in refused and own.tx_dropped is not None
        else own
        for host, own in lost.items()
    }
    return structs.replace(fabric, frames_lost_outside=left, frames_refused=refused)


def _with_connections(
    ends: Mapping[str, tuple[str, str]], own: Workload, readings: Readings
) -> Workload:
    """A workload with the known facts about its connections."""
    return structs.replace(
        own, tcp=_tcp(ends, own.name, readings), limits=_limits(ends, own.name, readings)
    )


def _tcp(ends: Mapping[str, tuple[str, str]], name: str, readings: Readings) -> Tcp | None:
    """A workload's TCP counters: those of its connections, and where its hosts are its own those
    that Linux has by host. There are none where the end of a connection was not observed, because
    the counters of a host include other traffic."""
    closed = readings.closed.get(name)
    if closed is not None and not closed.is_whole:
        return None
    sender, receiver = ends[name]
    tcp = closings.tcp_outcome(closed) if closed is not None else {}
    if [pair[0] for pair in ends.values()].count(sender) == 1:
        has_receiver = [pair[1] for pair in ends.values()].count(receiver) == 1
        tcp = (
            probe.tcp_outcome(
                readings.counted[sender], readings.counted[receiver] if has_receiver else {}
            )
            | tcp
        )
    return Tcp(**tcp) if tcp else None


def _limits(ends: Mapping[str, tuple[str, str]], name: str, readings: Readings) -> Limits | None:
    """The limits of a workload's connections, and the use of a core by the busiest program of its
    sending host."""
    found = readings.limits.get(name)
    if found is None:
        return None
    sending = [
        one.ended for one in readings.programs if one.command.host == ends[name][0] and one.ended
    ]
    used_s = [one.user_s + one.system_s for one in sending]
    return structs.replace(
        found, sender_busy_permille=busy_permille(used_s, readings.interval.span_s)
    )


def _host(name: str, fabric: Fabric | None, readings: Readings, around: Around) -> Host:
    """A host's counters. The kernel's work for its programs is the receive cost, the rest is the
    programs' own."""
    lost = (
        fabric and fabric.frames_lost_outside and fabric.frames_lost_outside.get(name)
    ) or LossesOutside()
    refused = ((fabric and fabric.frames_refused) or {}).get(name, 0)
    ended = [one.ended for one in readings.programs if one.command.host == name]
    ended += [server for host, server in around.servers if host == name]
    return Host(
        name=name,
        rx_frames=readings.counted[name].get("rx_frames", 0),
        nic_queue_drops=(lost.tx_dropped or 0) + refused,
        rx_ring_drops=(lost.rx_dropped or 0) + (lost.write_failed or 0),
        cpu_busy_ps=round(sum(one.system_s for one in ended if one) * PS_PER_S),
        program_busy_ps=round(sum(one.user_s for one in ended if one) * PS_PER_S),
        programs=list(around.charged.get(name, [])),
    )


def _live(measured: Sequence[Measured], readings: Readings, around: Around) -> Live:
    """Parts of an outcome that only live trials have."""
    begun = [one.begun_ps for one in measured if one.begun_ps is not None]
    samples = readings.samples
    return Live(
        span_s=readings.interval.span_s,
        begun_within_us=readings.interval.begun_within_us,
        idle_share=readings.cpu.shares["idle_share"],
        steal_share=readings.cpu.shares["steal_share"],
        steal_by_core=list(readings.cpu.steal_by_core),
        round_trip_us=dict(around.round_trips),
        begin_skew_ms=(max(begun) - min(begun)) / 1e9 if begun else 0.0,
        offsets_ps={one.outcome.name: one.offset_ps for one in measured if one.offset_ps},
        client_ports={one.outcome.name: one.client_ports for one in measured if one.client_ports},
        start_skew_ms={
            one.outcome.name: one.start_skew_ms for one in measured if one.start_skew_ms is not None
        },
        generator_lag_us={
            one.outcome.name: one.lag_us for one in measured if one.lag_us is not None
        },
        connections={name: closings.summary(ends) for name, ends in readings.closed.items()},
        ends={name: one.outcome for name, one in readings.meant.items() if one is not None},
        congestion_controls=sorted(
            set().union(*(sample.congestion_controls for sample in samples))
        ),
        window_mean_segments=_mean([window for sample in samples for window in sample.windows]),
        smoothed_round_trip_mean_ms=_mean(
            [trip for sample in samples for trip in sample.round_trips_ms]
        ),
        server_rss_max_bytes=_largest(around.servers),
        counters={host: dict(counted) for host, counted in readings.counted.items()},
        core_waits=dict(around.core_waits),
        kernel_wait_share=dict(around.kernel_wait_share),
        settings=dict(around.settings),
        programs=around.programs,
        warnings=list(around.warnings),
        machine=MachineTimes(backlog=dict(readings.backlog), **readings.cpu.machine),
        switch=readings.spent.switch(around.kind),
        neighbours={
            program.command.name: readings.spent.of(program.pid).times
            for program in around.neighbours
        },
        interfaces=_interfaces(readings),
    )


def _interfaces(readings: Readings) -> Interfaces:
    """Where interfaces lost frames."""
    hosts = {
        host: {key: counted.get(key, 0) for key in INTERFACE}
        for host, counted in readings.counted.items()
    }
    return Interfaces(hosts=hosts, switch={name: dict(own) for name, own in readings.ports.items()})


def _largest(servers: Sequence[tuple[str, Ended]]) -> dict[str, int]:
    """Largest resident memory of a server of each host."""
    found: dict[str, int] = {}
    for host, ended in servers:
        found[host] = max(found.get(host, 0), ended.max_rss_bytes)
    return found


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None
