"""Checks that real programs and this machine can run a scenario, made before anything starts."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tailrace.errors import KeyPath
from tailrace.experiment.engine import LIVE
from tailrace.experiment.real_kernel import (
    Asking,
    Found,
    client_ports,
    fixed_client_ports,
    framing,
    host_settings,
    hypervisors,
    raise_found,
    servers,
)
from tailrace.live import registry
from tailrace.live.service import Service
from tailrace.programs.envelope import MEMORY
from tailrace.programs.needed import path_of
from tailrace.scenario.loading import Loaded
from tailrace.scenario.network.cpu import Cpu
from tailrace.scenario.network.device import known_devices
from tailrace.scenario.network.topology import Graph, expand
from tailrace.scenario.programs import CHOICE_KEY, SERVICE_KEY
from tailrace.scenario.scenario import Scenario
from tailrace.scenario.workloads.base import WorkloadKind

VLANS_MAX = 178
"""Networks 10.78.0.0/16 to 10.255.0.0/16, one for each VLAN."""
KERNEL_NAMES = {"new-reno": "reno"}
"""Where Linux has another name for a congestion control."""
CLIENT_PORTS = 61_000 - 32_768
"""Of a host: Linux's `ip_local_port_range`, from which connections take theirs; one port can serve
connections to different servers."""
GROUPS_NEEDED = "control groups of version 2, which this machine or user does not have"
FRAMES_PER_DATA_FRAME = 1.5
"""Linux acknowledges every second segment, more rarely with GRO: a data frame is at most this many
frames."""


@dataclass(frozen=True)
class Machine:
    """Capabilities of this machine; None where unknown or not requested."""

    frames_per_s_max: float | None = None
    congestion_controls: frozenset[str] | None = None
    """By the kernel's names."""
    has_priorities: bool | None = None
    """Whether this user may make control groups that give the sockets of programs a priority and a
    code point: those of version 2."""
    can_limit_cpus: bool | None = None
    """Whether control groups limit the time of processors."""
    can_limit_io: bool | None = None
    """Whether control groups limit reads from and writes to disks."""
    cores: frozenset[int] | None = None
    """Numbers of the cores that programs may use."""

    @classmethod
    def of(cls, found: Mapping[str, Any], frames_per_s_max: float) -> "Machine":
        """The machine as the fabric's doctor describes it."""
        controls = found.get("congestion_controls")
        return cls(
            frames_per_s_max,
            frozenset(controls) if controls else None,
            has_priorities=False
            if found.get("cgroup_usable") is False
            else found.get("priorities"),
            can_limit_cpus=found.get("cpu_limits"),
            can_limit_io=found.get("io_limits"),
            cores=frozenset(os.sched_getaffinity(0)),
        )


def refuse(loaded: Loaded, arms: Mapping[str, Scenario]) -> None:
    """Raises `ScenarioError` with everything in these arms that real programs do not support on any
    machine, and with the chosen programs that are not installed and not packaged.
    """
    raise_found(loaded, arms, _programs)


def refuse_machine(loaded: Loaded, arms: Mapping[str, Scenario], machine: Machine) -> None:
    """Raises `ScenarioError` with everything in these arms that this machine does not support."""
    raise_found(loaded, arms, lambda scenario: _machine(scenario, machine))


def _programs(scenario: Scenario) -> Found:
    yield from framing(scenario, LIVE)
    yield from hypervisors(scenario, LIVE)
    for name, workload in scenario.running.items():
        yield from _workload(("workloads", name), workload)
    yield from client_ports(scenario, CLIENT_PORTS, are_shared=True)
    yield from _servers(scenario)
    yield from _clusters(scenario)
    yield from _vlans(scenario)
    yield from _devices(scenario)
    yield from _marked_datagrams(scenario)
    for name, host in scenario.hosts.items():
        yield from host_settings(("hosts", name), host, LIVE)


def _machine(scenario: Scenario, machine: Machine) -> Found:
    if machine.congestion_controls is not None:
        yield from _congestion_controls(scenario, machine.congestion_controls)
    yield from _groups(scenario, machine)
    if machine.can_limit_io is False:
        yield from _disks(scenario)
    if machine.cores is not None:
        yield from _cores(scenario, machine.cores)
    if machine.frames_per_s_max is not None:
        yield from _rates(scenario, expand(scenario.network), machine.frames_per_s_max)


def _cores(scenario: Scenario, known: frozenset[int]) -> Found:
    """Programs and neighbours on cores that this machine does not have: core n of a host is core n
    of the machine."""
    for name, host in scenario.hosts.items():
        yield from _named_cores(
            ("hosts", name, "cpu", "program_cores"), pinned_cores(host.cpu) or [], known
        )
        for other, neighbour in host.neighbours.items():
            yield from _named_cores(
                ("hosts", name, "neighbours", other, "cores"), neighbour.cores or [], known
            )


def _named_cores(at: KeyPath, cores: list[int], known: frozenset[int]) -> Found:
    for index, core in enumerate(cores):
        if core not in known:
            numbers = ", ".join(map(str, sorted(known)))
            yield (
                (*at, index),
                f"this machine has no core {core} for programs",
                f"write one of: {numbers}",
            )


def pinned_cores(cpu: Cpu) -> list[int] | None:
    """The cores on which a host's programs must stay; None where they may use all cores of the
    host."""
    return cpu.program_cores_list if cpu.cores and len(cpu.program_cores_list) < cpu.cores else None


def _groups(scenario: Scenario, machine: Machine) -> Found:
    """Settings that need control groups that this machine or user does not have."""
    if machine.can_limit_cpus is False:
        for name, host in scenario.hosts.items():
            if host.cpu.program_cores and pinned_cores(host.cpu) is None:
                what = (
                    "limits of CPU time need a control group, which this "
                    "machine or user does not have"
                )
                yield (
                    ("hosts", name, "cpu", "program_cores"),
                    what,
                    "omit it; see `tailrace lab doctor`",
                )
    if machine.has_priorities is False:
        for name, workload in scenario.running.items():
            if workload.priority and not _writes_headers(workload):
                what = f"priorities of programs need {GROUPS_NEEDED}"
                yield ("workloads", name, "priority"), what, "omit it; see `tailrace lab doctor`"
            if workload.dscp and not _marks_itself(workload):
                what = f"code points of connections need {GROUPS_NEEDED}"
                yield ("workloads", name, "dscp"), what, "omit it; see `tailrace lab doctor`"


def _workload(at: KeyPath, workload: WorkloadKind) -> Found:
    refusal = workload.facts().live_refusal
    if refusal is not None:
        yield (*at, "kind"), refusal, "omit --live to simulate it"
        return
    load = registry.load_class(workload.kind, workload)
    for key, what, hint in load.refusals(workload):
        yield (*at, *key), what, hint
    if not load.binds_clients:
        for key, what, hint in fixed_client_ports(
            load.load_name, workload, "omit it, or omit --live to simulate it"
        ):
            yield (*at, *key), what, hint
    foreign = registry.foreign_service(workload.kind, workload)
    if foreign is not None:
        what = f"{load.load_name} cannot use {foreign}"
        yield (
            (*at, SERVICE_KEY),
            what,
            f"write one of: {', '.join(load.services)}; or choose another {CHOICE_KEY}",
        )
        return
    for needed in registry.choice(workload.kind, workload).needs:
        if needed.package is None and path_of(needed) is None:
            yield (
                (*at, CHOICE_KEY),
                f"{needed.title or needed.program} is not installed",
                needed.hint,
            )


def _servers(scenario: Scenario) -> Found:
    """A server has one port, and one priority for all of its responses."""
    seen: dict[tuple[str, str], int] = {}
    names = {id(workload): name for name, workload in scenario.running.items()}
    running = ((workload.kind, workload) for workload in scenario.running.values())
    workloads = (each for each in running if registry.foreign_service(*each) is None)
    asking = [
        Asking(names[id(own)], own, of.service_name, host)
        for _, of, host, own in registry.sharing(workloads)
    ]
    yield from servers(asking)
    for name, workload, service, host in asking:
        first = seen.setdefault((service, host), workload.priority)
        if first != workload.priority:
            what = (
                f"the server on '{host}' already responds to another workload with priority {first}"
            )
            yield (
                ("workloads", name, "priority"),
                what,
                "give both workloads the same priority, or use two hosts",
            )


def _clusters(scenario: Scenario) -> Found:
    """Too few or too many servers of a service whose servers depend on each other."""
    names = {id(workload): name for name, workload in scenario.running.items()}
    running = [(workload.kind, workload) for workload in scenario.running.values()]
    found: dict[type[Service], dict[str, str]] = {}
    for _, service, host, workload in registry.sharing(
        each for each in running if not registry.foreign_service(*each)
    ):
        found.setdefault(service, {}).setdefault(host, names[id(workload)])
    for service, hosts in found.items():
        at: KeyPath = ("workloads", next(iter(hosts.values())), SERVICE_KEY)
        what = (
            f"a cluster of {service.service_name} has {len(hosts)} "
            f"{'node' if len(hosts) == 1 else 'nodes'}"
        )
        if len(hosts) < service.nodes_min:
            few = f"{what}, and needs at least {service.nodes_min}"
            yield (
                at,
                few,
                f"add a workload with {SERVICE_KEY}: {service.service_name} and another server",
            )
        elif service.nodes_max is not None and len(hosts) > service.nodes_max:
            yield at, f"{what}, and at most {service.nodes_max} are supported", "use fewer servers"


def _devices(scenario: Scenario) -> Found:
    """Devices that limits on a disk cannot stand for, and several of them behind one target."""
    known, first = known_devices(scenario.devices), dict[str, str]()
    for name, workload in scenario.running.items():
        at: KeyPath = ("workloads", name, "device")
        for host, device in workload.used_devices():
            if device != MEMORY and known[device].effective.rotation is not None:
                what = (
                    f"the times of '{device}' depend on where its head is, which no limit on a "
                    "disk imposes"
                )
                yield at, what, "write a device without rotation, or omit --live to simulate it"
                break
            other = first.setdefault(host, device)
            if other != device:
                what = (
                    f"'{other}' and '{device}' are on host '{host}', whose devices share one "
                    "disk and its limits"
                )
                yield at, what, "use one device for each host"
                break


def _disks(scenario: Scenario) -> Found:
    """Devices whose rates nothing on this machine imposes."""
    for name, workload in scenario.running.items():
        if any(device != MEMORY for _, device in workload.used_devices()):
            what = (
                "limits on a disk need the controller `blkio` or `io`, which this machine or "
                "user does not have"
            )
            yield (
                ("workloads", name, "device"),
                what,
                f"write device: {MEMORY}; see `tailrace lab doctor`",
            )


def _vlans(scenario: Scenario) -> Found:
    """Each VLAN of a lab is a separate IP network."""
    used = {workload.vlan for workload in scenario.running.values() if workload.vlan}
    if len(used) > VLANS_MAX:
        yield (
            ("workloads",),
            f"the workloads use {len(used)} VLANs",
            f"use at most {VLANS_MAX} in a live network",
        )


def _marked_datagrams(scenario: Scenario) -> Found:
    """The option that marks a datagram changes the priority of its socket, which Linux uses to
    select queues."""
    has_queues = any(workload.priority for workload in scenario.running.values())
    for name, workload in scenario.running.items():
        if (
            has_queues
            and workload.dscp
            and _marks_itself(workload)
            and not _writes_headers(workload)
        ):
            what = "Linux gives a marked datagram the priority of its code point"
            yield ("workloads", name, "dscp"), what, "omit the dscp of datagrams, or all priorities"


def _marks_itself(workload: WorkloadKind) -> bool:
    """Whether the program of a workload writes code points itself."""
    return (
        workload.facts().live_load is not None
        and registry.load_class(workload.kind, workload).marks_itself
    )


def _writes_headers(workload: WorkloadKind) -> bool:
    """Whether the program of a workload writes the headers of its frames."""
    return (
        workload.facts().live_load is not None
        and registry.load_class(workload.kind, workload).writes_headers
    )


def _congestion_controls(scenario: Scenario, known: frozenset[str]) -> Found:
    for name, host in scenario.hosts.items():
        wanted = host.tcp.congestion_control
        if KERNEL_NAMES.get(wanted, wanted) not in known:
            at: KeyPath = ("hosts", name, "tcp", "congestion_control")
            yield at, f"this kernel has no {wanted}", f"available: {', '.join(sorted(known))}"


def _rates(scenario: Scenario, graph: Graph, frames_per_s_max: float) -> Found:
    """The switch program has a maximum frame rate that does not depend on the number of ports."""
    receivers = {
        host
        for workload in scenario.running.values()
        for host in workload.bulk_receivers(graph.host_names)
    }
    frames_per_s = sum(
        graph.rates_bps[host] / (8 * frame_bytes(scenario, host)) * FRAMES_PER_DATA_FRAME
        for host in receivers
    )
    if frames_per_s > frames_per_s_max:
        what = f"its ports carry up to {frames_per_s:,.0f} frames/s".replace(",", " ")
        most = f"this machine sustains {frames_per_s_max:,.0f}".replace(",", " ")
        path: KeyPath = ("network", "link", "rate")
        yield path, f"{what}, but {most}", "divide the rates, or raise the MTU; keep the ratios"


def frame_bytes(scenario: Scenario, host: str) -> int:
    """Bytes of a full frame on the wire towards a host."""
    framing = scenario.network.framing
    return scenario.host(host).mtu + framing.header + framing.overhead
