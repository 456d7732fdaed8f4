"""From a scenario to the plan of one trial of one arm: the only input of the simulator."""

import hashlib
import json
from typing import Any

from tailrace.scenario.distribution import Distribution
from tailrace.scenario.host import Host, SocketBuffer, Tcp
from tailrace.scenario.scenario import Scenario
from tailrace.scenario.switch import Aqm, Codel, Dpp, NoAqm, Policy, Queue, Red, Step, Switch
from tailrace.scenario.topology import Graph, expand
from tailrace.scenario.workload import Datagrams, Flows, Oltp, RoundTrip, Stream, start_of

PLAN_VERSION = 1
OBSERVED_PORTS_MAX = 64
"""`observe.ports: auto` records at most this many queues over time."""
PS_PER_SECOND = 10**12
FS_BITS_PER_BYTE_SECOND = 8 * 10**15
"""Femtoseconds per second times bits per byte."""
PPB_PER_MILLE = 10**6

Raw = dict[str, Any]


def lower(scenario: Scenario, arm: str, trial: int) -> Raw:
    """The plan of trial number `trial` (from 1) of `arm`; `scenario` is that of the arm and has been checked."""
    graph = expand(scenario.network)
    framing = scenario.network.framing
    return {
        "version": PLAN_VERSION,
        "name": f"{scenario.name}/{arm}/trial-{trial}",
        "seed": trial_seed(scenario.experiment.seed, trial),
        "stop_at_ps": scenario.experiment.duration,
        "framing": {"header_bytes": framing.header, "overhead_bytes": framing.overhead},
        "clock_offset_ppb": scenario.experiment.clock,
        "hosts": [_host(name, scenario.host(name)) for name in graph.hosts],
        "switches": [_switch(name, scenario.switch(name), scenario) for name in graph.switches],
        "links": [{"a": k.a, "b": k.b, "rate_bps": k.rate_bps, "delay_ps": k.delay_ps} for k in graph.links],
        "workloads": [_workload(name, workload, graph) for name, workload in scenario.workloads.items()],
        "observe": _observe(scenario, graph),
    }


def trial_seed(seed: int, trial: int) -> int:
    """Trial n has the same seed in every arm, so that arms can be compared pair by pair."""
    digest = hashlib.sha256(f"tailrace/{seed}/trial/{trial}".encode()).digest()
    return int.from_bytes(digest[:8], "big") >> 1


def plan_hash(plan: Raw) -> str:
    """SHA-256 of the canonical JSON of a plan without its seed and name: equal for all trials of an arm."""
    same = {key: value for key, value in plan.items() if key not in ("seed", "name")}
    return hashlib.sha256(canonical_json(same).encode()).hexdigest()


def canonical_json(value: object) -> str:
    """JSON with sorted keys and no spaces."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True)


def _host(name: str, host: Host) -> Raw:
    nic = host.nic
    return {
        "name": name,
        "mtu_bytes": host.mtu,
        "nic": {
            "queue_bytes": nic.queue,
            "tso_bytes": nic.tso,
            "gro_bytes": nic.gro,
            "rx_coalesce_ps": nic.rx_coalesce,
            "rx_jitter": nic.rx_jitter.raw,
            "rx_ring_frames": nic.rx_ring,
        },
        "cpu": {"per_packet_ps": host.cpu.per_packet, "per_byte_fs": host.cpu.per_byte},
        "tcp": _tcp(host.tcp),
    }


def _tcp(tcp: Tcp) -> Raw:
    return {
        "congestion_control": tcp.congestion_control,
        "slow_start_exit": tcp.slow_start_exit,
        "initial_window_segments": tcp.initial_window,
        "window_cap_bytes": tcp.window_cap,
        "ecn": tcp.ecn or tcp.congestion_control == "dctcp",
        "sack": tcp.sack,
        "tail_loss_probe": tcp.tail_loss_probe,
        "rto_min_ps": tcp.rto_min,
        "rto_max_ps": tcp.rto_max,
        "delayed_ack_ps": tcp.delayed_ack,
        "slow_start_after_idle": tcp.slow_start_after_idle,
        "small_queue_ps": tcp.small_queue,
        "send_buffer": _buffer(tcp.send_buffer),
        "receive_buffer": _buffer(tcp.receive_buffer),
    }


def _buffer(buffer: SocketBuffer) -> Raw:
    return {"initial_bytes": buffer.initial, "maximum_bytes": buffer.maximum}


def _switch(name: str, switch: Switch, scenario: Scenario) -> Raw:
    def policy(policy_name: str) -> Raw:
        found = scenario.policy(policy_name)
        assert found is not None, "checks refuse unknown policies"
        return _policy(found)

    return {
        "name": name,
        "switching": switch.switching,
        "latency_ps": switch.latency,
        "buffer_bytes": switch.buffer,
        "policy": policy(switch.policy),
        "port_policies": [{"towards": towards, "policy": policy(used)} for towards, used in switch.ports.items()],
    }


def _policy(policy: Policy) -> Raw:
    names = list(policy.queues)
    usual = next((name for name, queue in policy.queues.items() if queue.strict is None), names[-1])
    shares = shares_of(policy)
    return {
        "queues": [_queue(name, queue, shares.get(name, 0)) for name, queue in policy.queues.items()],
        "queue_of_priority": [names.index(policy.priorities.get(priority, usual)) for priority in range(8)],
        "dpp": _dpp(policy.dpp, names) if policy.dpp else None,
    }


def shares_of(policy: Policy) -> dict[str, int]:
    """Share of each weighted queue in parts per billion; those that state none divide what is left."""
    weighted = {name: queue.share for name, queue in policy.queues.items() if queue.strict is None}
    stated = sum(share for share in weighted.values() if share is not None)
    open_names = [name for name, share in weighted.items() if share is None]
    left = max(0, 1000 * PPB_PER_MILLE - stated) // max(1, len(open_names))
    return {name: left if share is None else share for name, share in weighted.items()}


def _queue(name: str, queue: Queue, share_ppb: int) -> Raw:
    weight = max(1, round(share_ppb / PPB_PER_MILLE))
    limit_key = {"bytes": "bytes", "frames": "frames", "alpha-milli": "alpha-milli"}[queue.limit.unit]
    return {
        "name": name,
        "service": {"dwrr": weight} if queue.strict is None else {"strict": queue.strict},
        "limit": {limit_key: queue.limit.amount},
        "aqm": _aqm(queue.aqm),
    }


def _aqm(aqm: Aqm) -> str | Raw:
    match aqm:
        case NoAqm():
            return "none"
        case Step():
            return {"step": {"threshold_bytes": aqm.threshold}}
        case Red():
            return {
                "red": {
                    "minimum_bytes": aqm.minimum,
                    "maximum_bytes": aqm.maximum,
                    "probability_milli": round(aqm.probability / PPB_PER_MILLE),
                    "weight_exponent": aqm.weight_exponent,
                    "ecn": aqm.ecn,
                }
            }
        case Codel():
            return {
                "codel": {
                    "target_ps": aqm.target,
                    "interval_ps": aqm.interval,
                    "ecn": aqm.ecn,
                    "ce_threshold_ps": aqm.ce_threshold,
                }
            }


def _dpp(dpp: Dpp, queue_names: list[str]) -> Raw:
    return {
        "max_packets": dpp.max_packets,
        "age_ps": dpp.age,
        "express_queue": queue_names.index(dpp.express),
        "reset": dpp.reset,
        "table_entries": dpp.table_entries,
        "when_full": dpp.when_full,
    }


def _workload(name: str, workload: Oltp | Stream | Flows | Datagrams, graph: Graph) -> Raw:
    match workload:
        case Oltp():
            return {"oltp": _oltp(name, workload)}
        case Stream():
            return {"stream": _stream(name, workload)}
        case Flows():
            return {"flows": _flows(name, workload, graph)}
        case Datagrams():
            return {"datagrams": _datagrams(name, workload)}


def _oltp(name: str, oltp: Oltp) -> Raw:
    return {
        "name": name,
        "client": oltp.client,
        "server": oltp.server,
        "users": oltp.users,
        "transactions": oltp.transactions or 0,
        "warmup_transactions": oltp.warmup_transactions,
        "round_trips": [_round_trip(trip) for trip in oltp.round_trips for _ in range(trip.repeat)],
        "gap": oltp.gap.raw,
        "gap_from": oltp.gap_from,
        "start": start_of(oltp).raw,
        "priority": oltp.priority,
    }


def _round_trip(trip: RoundTrip) -> Raw:
    return {
        "request_bytes": trip.request,
        "response_bytes": trip.response,
        "server_time": trip.server_time.raw,
        "write_bytes": trip.write,
        "produce_fs_per_byte": _fs_per_byte(trip.produce_rate),
        "consume_fs_per_byte": _fs_per_byte(trip.consume_rate),
    }


def _fs_per_byte(rate_bps: int | None) -> int:
    return 0 if rate_bps is None else round(FS_BITS_PER_BYTE_SECOND / rate_bps)


def _stream(name: str, stream: Stream) -> Raw:
    return {
        "name": name,
        "source": stream.source,
        "destination": stream.destination,
        "connections": stream.connections,
        "bytes": stream.size or 0,
        "start_ps": stream.start,
        "stagger_ps": stream.stagger,
        "priority": stream.priority,
        "pin_forward": stream.pin_forward,
        "pin_backward": stream.pin_backward,
    }


def _flows(name: str, flows: Flows, graph: Graph) -> Raw:
    sources = graph.hosts if flows.sources == "all" else flows.sources
    destinations = graph.hosts if flows.destinations == "all" else flows.destinations
    return {
        "name": name,
        "sources": sources,
        "destinations": destinations,
        "sizes": flows.sizes.raw,
        "interarrival": _interarrival(flows, sum(graph.rate_of_host(host) for host in sources)),
        "flows": flows.flows or 0,
        "start_ps": flows.start,
        "priority": flows.priority,
    }


def _interarrival(flows: Flows, sources_bps: int) -> Raw:
    if flows.interarrival is not None:
        return flows.interarrival.raw
    assert flows.load is not None, "checks refuse flows without arrivals"
    offered_bps = sources_bps * flows.load / 10**9
    gap: Distribution = Distribution(
        {"exponential": {"mean": round(flows.sizes.mean * 8 * PS_PER_SECOND / offered_bps)}}, 0, ""
    )
    return gap.raw


def _datagrams(name: str, datagrams: Datagrams) -> Raw:
    return {
        "name": name,
        "source": datagrams.source,
        "destination": datagrams.destination,
        "sizes": datagrams.sizes.raw,
        "interarrival": datagrams.interarrival.raw,
        "count": datagrams.count or 0,
        "start_ps": datagrams.start,
        "priority": datagrams.priority,
    }


def _observe(scenario: Scenario, graph: Graph) -> Raw:
    observe = scenario.observe
    ports = _auto_ports(scenario, graph) if observe.ports == "auto" else [port.split(">", 1) for port in observe.ports]
    return {
        "ports": [[part.strip() for part in port] for port in ports],
        "series_bins": observe.series_bins,
        "series_bin_ps": observe.series_bin,
        "transactions_max": observe.transactions,
        "digest": observe.digest,
    }


def _auto_ports(scenario: Scenario, graph: Graph) -> list[list[str]]:
    """Ports towards hosts that receive the bulk of some workload, and ports between switches, where queues form."""
    receivers: set[str] = set()
    for workload in scenario.workloads.values():
        match workload:
            case Oltp():
                receivers.add(workload.client)
            case Stream() | Datagrams():
                receivers.add(workload.destination)
            case Flows():
                receivers.update(graph.hosts if workload.destinations == "all" else workload.destinations)
    switches = set(graph.switches)
    both_ways = [(k.a, k.b) for k in graph.links] + [(k.b, k.a) for k in graph.links]
    to_hosts = [[a, b] for a, b in both_ways if a in switches and b in receivers]
    between = [[a, b] for a, b in both_ways if a in switches and b in switches]
    return (to_hosts + between)[:OBSERVED_PORTS_MAX]
