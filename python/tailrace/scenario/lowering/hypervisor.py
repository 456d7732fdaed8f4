"""Lowers hypervisors."""

from typing import Any

from tailrace.scenario.network.hypervisor import Hypervisor, Neighbour, Pins
from tailrace.scenario.network.topology import Graph
from tailrace.scenario.scenario import Scenario

Raw = dict[str, Any]
MERGE_BYTES = 65_536
"""A super-frame has at most 64 KB of payload (Linux `GSO_MAX_SIZE`)."""


def lower_hypervisors(scenario: Scenario, graph: Graph) -> Raw:
    """The `hypervisors` of a plan; none where the scenario has none."""
    found = [_hypervisor(name, own, scenario, graph) for name, own in scenario.hypervisors.items()]
    return {"hypervisors": found} if found else {}


def without_offloads(scenario: Scenario, graph: Graph) -> frozenset[str]:
    """Virtual machines that send single frames."""
    bare = [name for name, own in scenario.hypervisors.items() if not own.offloads]
    return frozenset(node for name in bare for node in graph.neighbours(name))


def _hypervisor(name: str, own: Hypervisor, scenario: Scenario, graph: Graph) -> Raw:
    machines = [node for node in graph.neighbours(name) if node in graph.host_names]
    return {
        "switch": name,
        "cores": own.cores,
        "slice_ps": own.effective_slice,
        "tick_ps": own.tick,
        "switching": "polling" if own.polls else "kernel",
        "costs": _costs(own),
        "merge_bytes": MERGE_BYTES if own.offloads else 0,
        "machines": [_machine(node, own, scenario.host(node).cpu.cores) for node in machines],
        "irq_cores": own.irq_cores or own.free_cores[:1],
        "polling_cores": own.polling_cores if own.polls else [],
        "backlog_frames": own.backlog,
        "tap_frames": own.queue,
        "sent_frames": own.queue + own.ring,
        "guest_ring_frames": own.ring,
        "uplink_ring_frames": own.uplink_ring,
        "coalesce_ps": own.coalesce,
        "halt_poll_ps": own.halt_poll,
        **(
            {"neighbours": [_neighbour(key, own) for key in own.neighbours]}
            if own.neighbours
            else {}
        ),
    }


def _costs(own: Hypervisor) -> Raw:
    return {
        "switch_ps": own.cost("switch_frame"),
        "merge_ps": own.cost("merge_frame"),
        "copy_byte_fs": own.cost("copy_byte"),
        "vhost_ps": own.cost("vhost_frame"),
        "interrupt_ps": own.cost("interrupt"),
        "exit_ps": own.cost("exit"),
        "entry_ps": own.cost("entry"),
        "wake_up_ps": own.cost("wake_up"),
        "context_switch_ps": own.cost("context_switch"),
        "signal_ps": own.cost("signal"),
        "poll_ps": own.cost("poll"),
    }


def _machine(name: str, own: Hypervisor, virtual_cores: int) -> Raw:
    pins = own.pins.get(name, Pins())
    free = own.free_cores
    pinned = pins.cores
    cores = [[pinned[core % len(pinned)]] if pinned else free for core in range(virtual_cores)]
    return {"host": name, "cores": cores, "vhost_cores": pins.vhost or free}


def _neighbour(name: str, own: Hypervisor) -> Raw:
    neighbour: Neighbour = own.neighbours[name]
    waits = neighbour.kind == "disk"
    return {
        "name": name,
        "tasks": neighbour.tasks,
        "cores": neighbour.cores or own.free_cores,
        "nice": neighbour.nice,
        **({"work_ps": neighbour.work, "wait_ps": neighbour.wait} if waits else {}),
    }
