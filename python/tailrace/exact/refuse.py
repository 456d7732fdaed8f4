"""Checks that real kernels in virtual time can run a scenario, made before anything starts."""

from collections.abc import Iterator, Mapping
from itertools import chain

from tailrace.errors import KeyPath, Problem
from tailrace.exact import registry
from tailrace.experiment.real_kernel import (
    Asking,
    Found,
    client_ports,
    fixed_client_ports,
    framing,
    host_settings,
    hypervisors,
    network,
    problems_of,
    raise_found,
    servers,
)
from tailrace.programs.needed import path_of
from tailrace.scenario.checks import live_only, neighbours
from tailrace.scenario.loading import Loaded
from tailrace.scenario.network.cpu import COSTS, Cpu
from tailrace.scenario.network.host import Host, Nic, Tcp
from tailrace.scenario.programs import CHOICE_KEY, LIVE_ONLY, SERVICE_KEY
from tailrace.scenario.scenario import Scenario
from tailrace.scenario.workloads.base import WorkloadKind

ENGINE = "exact"
SIMULATE = "omit it, or omit --exact to simulate it"
INTERFACE = {
    "pfc": "priority flow control",
    "link_pause": "802.3x pauses",
    "qcn": "QCN",
    "ets": "traffic classes",
    "storm": "pause storms",
}
"""Settings of an interface that only a simulated host has."""
TCP_MODEL = {
    "growth": "Linux grows its window by the segments that an acknowledgement covers",
    "reno_friendly": "CUBIC of Linux always has its Reno-friendly region",
    "small_queue": "Linux always limits a socket to 1 ms at its pacing rate",
    "small_queue_bound": "Linux limits a socket by its pacing rate alone",
    "tick": "the kernels tick every 4 ms",
    "delayed_ack": "Linux always uses 40 ms",
}
"""TCP settings of the model that a kernel does not have, and the kernel's behaviour."""
WITHOUT_EFFECT = (
    *COSTS,
    "profile",
    "clock",
    "memory_share",
    "cores",
    "slice",
    "rx_queues",
    "irq_cores",
)
"""Costs and cores of a kernel that only a simulated host has. The traffic program shares out the
cores for programs by itself: as many as `program_cores` names, in one queue.
"""
SHARED = (
    "in an exact run, only programs use them, from one queue: a kernel takes no time of a processor"
)
TRAFFIC_INSTEAD = "the traffic program then does the same work"
CLIENT_PORTS = 2**16 - 2**15
"""Of a host, from 32768 on (`crates/host/src/ports.rs`): each connection of the traffic
program has one."""
HOSTS_MAX = 250
"""Guests are processes with their own memory; addresses of one network."""


def refuse(loaded: Loaded, arms: Mapping[str, Scenario]) -> None:
    """Raises `ScenarioError` with everything in these arms that exact runs do not support."""
    raise_found(loaded, arms, _find)


def refuse_network(loaded: Loaded, arms: Mapping[str, Scenario]) -> None:
    """Raises `ScenarioError` with everything in the networks of these arms that exact runs do not
    support."""
    raise_found(
        loaded, arms, lambda scenario: chain(network(scenario, ENGINE), _too_many_hosts(scenario))
    )


def ignored(loaded: Loaded, arms: Mapping[str, Scenario]) -> list[Problem]:
    """Settings of the scenario that have no effect in an exact run, with their paths."""
    return problems_of(loaded, arms, _ignored)


def _ignored(scenario: Scenario) -> Found:
    for name, host in scenario.hosts.items():
        for key in WITHOUT_EFFECT:
            if getattr(host.cpu, key) != getattr(Cpu(), key):
                what = (
                    SHARED
                    if key == "cores"
                    else "ignored in an exact run: a kernel takes no time of a processor"
                )
                yield ("hosts", name, "cpu", key), what, ""
    if scenario.observe.interfaces is not None:
        yield (
            ("observe", "interfaces"),
            "ignored in an exact run: interfaces are counted once, at its end",
            "",
        )


def _find(scenario: Scenario) -> Found:
    yield from framing(scenario, ENGINE)
    yield from hypervisors(scenario, ENGINE)
    for name, workload in scenario.running.items():
        yield from _program(("workloads", name), workload, scenario)
    yield from servers(_asking(scenario))
    yield from client_ports(scenario, CLIENT_PORTS, are_shared=False)
    for name, host in scenario.hosts.items():
        yield from host_settings(("hosts", name), host, ENGINE)
        yield from _host(("hosts", name), host)
    yield from neighbours.absent(scenario, ENGINE)
    yield from live_only.absent(scenario, ENGINE)
    yield from _too_many_hosts(scenario)


def _asking(scenario: Scenario) -> Iterator[Asking]:
    """Workloads whose real programs use a server with one port."""
    for name, workload in scenario.running.items():
        named = _named(workload)
        load = registry.loads().get(named) if named else None
        if named is not None and load is not None and load.has_one_port:
            service = next(iter(load.services), named[1])
            hosts = (
                host for serving in workload.servings(scenario.graph) for host in serving.hosts
            )
            yield from (Asking(name, workload, service, host) for host in hosts)


def _named(workload: WorkloadKind) -> tuple[str, str] | None:
    """Sort and name of the real program of a workload; None where the traffic program takes
    part."""
    keys = {CHOICE_KEY, SERVICE_KEY} & workload.model_fields_set
    return registry.chosen(workload.kind, workload.live_choices() if keys else {})


def _too_many_hosts(scenario: Scenario) -> Found:
    count = len(scenario.graph.hosts)
    if count > HOSTS_MAX:
        yield (
            ("network",),
            f"it has {count} hosts, each of which would be a kernel of its own",
            f"at most {HOSTS_MAX}",
        )


def _program(at: KeyPath, workload: WorkloadKind, scenario: Scenario) -> Found:
    """The real program that a workload names."""
    if (refusal := workload.exact_refusal()) is not None:
        yield (*at, "kind"), refusal, "omit --exact to simulate it"
        return
    if workload.live_choices().get(SERVICE_KEY) in LIVE_ONLY:
        return
    keys = [key for key in (CHOICE_KEY, SERVICE_KEY) if key in workload.model_fields_set]
    named = _named(workload)
    if named is None:
        return
    sort, name = named
    first, without = (
        (keys[0], f"omit it: {TRAFFIC_INSTEAD}")
        if keys
        else ("kind", "omit --exact to simulate it")
    )
    load = registry.loads().get(named)
    if load is None:
        known = ", ".join(registry.named(sort))
        yield (
            (*at, CHOICE_KEY),
            f"exact runs do not have {name}",
            f"write one of: {known}; or omit it: {TRAFFIC_INSTEAD}",
        )
        return
    refused = list(load.refusals(workload, scenario))
    for key, what, hint in refused:
        yield (*at, *key), what, hint
    if any(key == (SERVICE_KEY,) for key, _, _ in refused):
        return
    service = workload.live_choices().get(SERVICE_KEY)
    if service is not None and service not in load.services:
        what = f"{name} in an exact run cannot use {service}"
        yield (*at, SERVICE_KEY), what, f"write {' or '.join(load.services)}, or omit it"
    instead = f"omit {keys[0]}: {TRAFFIC_INSTEAD}" if keys else SIMULATE
    for key, what, hint in fixed_client_ports(name, workload, instead):
        yield (*at, *key), what, hint
    if workload.dscp:
        what = f"the packets of {name} have no code point of their own in an exact run"
        yield (*at, "dscp"), what, instead
        return
    for needed in load.needs_with(service):
        if path_of(needed) is None:
            what = f"{needed.title or needed.program} is not installed"
            yield (*at, first), what, f"install the package {needed.package}, or {without}"


def _host(at: KeyPath, host: Host) -> Found:
    for key, words in INTERFACE.items():
        if getattr(host.nic, key):
            yield (
                (*at, "nic", key),
                f"the interface of a host in an exact run does not take part in {words}",
                SIMULATE,
            )
    if host.nic.gro not in (0, Nic().gro):
        what = (
            "not adjustable in exact runs: Linux merges up to 64 kB of "
            "received segments, or nothing"
        )
        yield (*at, "nic", "gro"), what, "write 0B, or omit it"
    usual = Tcp()
    for key, fact in TCP_MODEL.items():
        if getattr(host.tcp, key) != getattr(usual, key):
            yield (*at, "tcp", key), f"not adjustable in exact runs: {fact}", "omit it"
    if (
        host.tcp.effective_exit
        != host.tcp.model_copy(update={"slow_start_exit": "auto"}).effective_exit
    ):
        what = (
            "not adjustable in exact runs: CUBIC of Linux has HyStart, other congestion "
            "controls do not"
        )
        yield (*at, "tcp", "slow_start_exit"), what, "omit it"
