"""Lowers a scenario to the plan of one trial of one arm, the only input of the simulator."""

import hashlib
import json
from collections.abc import Mapping, Set
from typing import Any

from tailrace.scenario.experiment import trial_seed
from tailrace.scenario.lowering.devices import lower_devices
from tailrace.scenario.lowering.hypervisor import lower_hypervisors, without_offloads
from tailrace.scenario.lowering.pause import mask
from tailrace.scenario.lowering.processor import lower_cpu
from tailrace.scenario.lowering.services import lower_services
from tailrace.scenario.lowering.switch import Lowered, lower_switch
from tailrace.scenario.lowering.trees import lower_trees
from tailrace.scenario.network.host import Host, Nic, NicClass, SocketBuffer, Tcp
from tailrace.scenario.network.ip import Ip
from tailrace.scenario.network.neighbour import HostNeighbour
from tailrace.scenario.network.topology import Graph, Joined
from tailrace.scenario.policies import headroom
from tailrace.scenario.scenario import Scenario

PLAN_VERSION = 2
"""Version of the plan format: workloads have a header, which every reader understands, and a body
of their kind."""
OBSERVED_PORTS_MAX = 64
BOND_POLICIES = {"layer3+4": "flow", "layer2+3": "hosts"}
"""`observe.ports: auto` records at most this many queues over time."""

Raw = dict[str, Any]


LoweredNetwork = dict[str, Any]
"""Hosts, switches and links of a plan, under its keys; empty before the first plan of this
network."""


def network_key(scenario: Scenario) -> tuple[int, ...]:
    """The inputs of the hosts, switches and links of a plan; solo runs have the same as the mix."""
    parts = (
        scenario.graph,
        scenario.network,
        scenario.hosts,
        scenario.hypervisors,
        scenario.switches,
        scenario.policies,
    )
    return *map(id, parts), scenario.frame_bytes


def lower(scenario: Scenario, arm: str, trial: int, network: LoweredNetwork | None = None) -> Raw:
    """The plan of trial number `trial` (from 1) of `arm`; `scenario` is that of the arm and has
    been checked.

    `network` is shared by scenarios with equal `network_key`, and filled in by the first of them.
    """
    graph = scenario.graph
    framing = scenario.network.framing
    lowered = {} if network is None else network
    if not lowered:
        lowered |= _network(scenario, graph)
    return {
        "version": PLAN_VERSION,
        "name": f"{scenario.name}/{arm}/trial-{trial}",
        "seed": trial_seed(scenario.experiment.seed, trial),
        "stop_at_ps": scenario.experiment.duration,
        **({"lasts_to_stop": True} if scenario.experiment.ends == "duration" else {}),
        "framing": {"header_bytes": framing.header, "overhead_bytes": framing.overhead},
        "clock_offset_ppb": scenario.experiment.clock,
        **lowered,
        **lower_devices(scenario),
        "workloads": [workload.planned(name, graph) for name, workload in scenario.running.items()],
        "observe": _observe(scenario, graph),
    }


def _network(scenario: Scenario, graph: Graph) -> LoweredNetwork:
    policies: Lowered = {}
    bare = without_offloads(scenario, graph)
    return {
        "hosts": [
            _host(name, scenario.host(name), graph.rates_bps[name], bare) for name in graph.hosts
        ],
        "switches": [
            lower_switch(name, scenario.switch(name), scenario, graph, policies)
            for name in graph.switches
        ],
        "links": [_link(link) for link in graph.links],
        **lower_hypervisors(scenario, graph),
        **lower_trees(scenario, graph),
    }


def _link(link: Joined) -> Raw:
    loss = {"loss_ppb": link.loss_ppb} if link.loss_ppb else {}
    kind = {"loses_later_fragments": True} if link.loses_later_fragments else {}
    return {
        "a": link.a,
        "b": link.b,
        "rate_bps": link.rate_bps,
        "delay_ps": link.delay_ps,
        **loss,
        **kind,
    }


def plan_hash(plan: Raw) -> str:
    """SHA-256 of the canonical JSON of a plan without its seed and name: equal for all trials of an
    arm."""
    same = {key: value for key, value in plan.items() if key not in ("seed", "name")}
    return hashlib.sha256(canonical_json(same).encode()).hexdigest()


def canonical_json(value: object) -> str:
    """JSON with sorted keys and no spaces."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True)


def _host(name: str, host: Host, rate_bps: int, bare: Set[str]) -> Raw:
    nic = host.nic
    return {
        "name": name,
        "mtu_bytes": host.mtu,
        "nic": {
            "queue_bytes": nic.queue,
            "tso_bytes": 0 if name in bare else nic.tso,
            "gro_bytes": nic.gro,
            "rx_coalesce_ps": nic.rx_coalesce,
            "rx_jitter": nic.rx_jitter.raw,
            "rx_ring_frames": nic.rx_ring,
            **({"bond": BOND_POLICIES[nic.bond]} if nic.bond else {}),
            **({"lossless": _lossless(nic, rate_bps)} if nic.is_lossless else {}),
        },
        "cpu": lower_cpu(host.cpu),
        "tcp": _tcp(host),
        **({"ip": _ip(host.ip)} if host.ip != Ip() else {}),
        **(
            {"neighbours": [_neighbour(*each) for each in host.neighbours.items()]}
            if host.neighbours
            else {}
        ),
    }


def _ip(ip: Ip) -> Raw:
    return {
        "reassembly_timeout_ps": ip.reassembly_timeout,
        "reassembly_memory_bytes": ip.reassembly_memory,
        "reassembly_distance": ip.reassembly_distance,
    }


def _neighbour(name: str, own: HostNeighbour) -> Raw:
    cores = {"cores": own.cores} if own.cores else {}
    return {"name": name, "kind": own.kind, "tasks": own.tasks, "nice": own.nice, **cores}


def _lossless(nic: Nic, rate_bps: int) -> Raw:
    response = nic.pause_response
    raw: Raw = {
        "obeys": mask(nic.pfc.priorities) if nic.pfc else 0,
        "obeys_link_pause": nic.link_pause,
        "response_ps": headroom.response_ps(rate_bps) if isinstance(response, str) else response,
    }
    if (storm := nic.storm) is not None:
        raw["storm"] = {
            "priorities": mask(storm.priorities),
            "from_ps": storm.start,
            "until_ps": storm.end,
        }
    if (qcn := nic.qcn) is not None:
        raw["qcn"] = {
            "timer_ps": qcn.timer,
            "byte_counter": qcn.byte_counter,
            "active_increase_bps": qcn.active_increase,
            "hyper_increase_bps": qcn.hyper_increase,
            "rate_min_bps": qcn.rate_min,
        }
    if nic.ets:
        raw["classes"] = _classes(nic.ets)
    return raw


def _classes(classes: Mapping[str, NicClass]) -> list[Raw]:
    services = lower_services(classes)
    return [
        {"name": name, "priorities": mask(each.priorities), "service": services[name]}
        for name, each in classes.items()
    ]


def _tcp(host: Host) -> Raw:
    tcp = host.tcp
    unusual = {
        "small_queue_by_pace": tcp.small_queue_bound == "pace",
        "growth_by_acknowledgement": tcp.growth == "acknowledgements",
        "without_reno_friendly": not tcp.reno_friendly,
        "without_autocorking": not tcp.autocorking,
    }
    return {key: True for key, is_set in unusual.items() if is_set} | {
        "congestion_control": tcp.congestion_control,
        "slow_start_exit": tcp.effective_exit,
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
        "send_buffer": _buffer(host.send_buffer()),
        "receive_buffer": _buffer(host.receive_buffer()),
        **({"tick_ps": tcp.tick} if tcp.tick != Tcp().tick else {}),
    }


def _buffer(buffer: SocketBuffer) -> Raw:
    return {"initial_bytes": buffer.initial, "maximum_bytes": buffer.maximum}


def _observe(scenario: Scenario, graph: Graph) -> Raw:
    observe = scenario.observe
    ports = (
        _auto_ports(scenario, graph)
        if observe.ports == "auto"
        else [port.split(">", 1) for port in observe.ports]
    )
    return {
        "ports": [[part.strip() for part in port] for port in ports],
        "series_bins": observe.series_bins,
        "series_bin_ps": observe.series_bin,
        "transactions_max": observe.transactions,
        "digest": observe.digest,
        **({"windows_ps": observe.windows} if observe.windows else {}),
        **({"interfaces_ps": observe.interfaces} if observe.interfaces else {}),
        **({"warm_up_ps": warm_up} if (warm_up := scenario.experiment.warm_up) else {}),
    }


def _receivers(scenario: Scenario, graph: Graph) -> Set[str]:
    """The hosts that receive most bytes of some workload."""
    receivers: set[str] = set()
    for workload in scenario.running.values():
        receivers |= workload.bulk_receivers(graph.host_names)
        if len(receivers) == len(graph.host_names):
            break
    return receivers


def _auto_ports(scenario: Scenario, graph: Graph) -> list[list[str]]:
    """Ports where queues form: towards hosts that receive most bytes of some workload, and between
    switches."""
    receivers = _receivers(scenario, graph)
    switches = graph.switch_names
    both_ways = [(k.a, k.b) for k in graph.links] + [(k.b, k.a) for k in graph.links]
    to_hosts = [[a, b] for a, b in both_ways if a in switches and b in receivers]
    between = [[a, b] for a, b in both_ways if a in switches and b in switches]
    return (to_hosts + between)[:OBSERVED_PORTS_MAX]
