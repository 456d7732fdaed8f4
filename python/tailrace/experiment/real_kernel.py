"""Settings that only simulated hosts have: hosts with a real Linux kernel, live or exact, do
without them."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

from tailrace.errors import KeyPath, Problem, ScenarioError
from tailrace.scenario.loading import Loaded
from tailrace.scenario.network.host import Host, Tcp
from tailrace.scenario.network.network import Framing
from tailrace.scenario.scenario import Scenario
from tailrace.scenario.workloads.base import WorkloadKind

Found = Iterator[tuple[KeyPath, str, str]]
"""Path, problem, hint."""

TCP_FIXED = {
    "window_cap": "Linux does not have this setting",
    "rto_max": "Linux always uses 120s",
}
"""TCP settings that only the simulator supports, and the behaviour of Linux."""
RTO_MIN_PS = 10**9
"""Smallest minimum of the retransmission timeout that a route can have: 1 ms."""


def problems_of(
    loaded: Loaded, arms: Mapping[str, Scenario], find: Callable[[Scenario], Found]
) -> list[Problem]:
    """The problems that `find` reports for any of these arms, each once, in that order."""
    found: dict[tuple[KeyPath, str], str] = {}
    for scenario in arms.values():
        for path, what, hint in find(scenario):
            found.setdefault((path, what), hint)
    return [loaded.document.problem(path, what, hint) for (path, what), hint in found.items()]


def raise_found(
    loaded: Loaded, arms: Mapping[str, Scenario], find: Callable[[Scenario], Found]
) -> None:
    """Raises `ScenarioError` with the problems that `find` reports for any of these arms."""
    if problems := problems_of(loaded, arms, find):
        raise ScenarioError(problems)


def framing(scenario: Scenario, engine: str) -> Found:
    """Frames of another size than Ethernet's."""
    if scenario.network.framing != Framing():
        yield (
            ("network", "framing"),
            f"frames of {engine} runs have the sizes of Ethernet",
            "omit framing",
        )


def hypervisors(scenario: Scenario, engine: str) -> Found:
    """Virtual machines, which only the simulator has."""
    for name in scenario.hypervisors:
        yield (
            ("hypervisors", name),
            f"{engine} runs do not have virtual machines",
            "omit it, or simulate the scenario",
        )


def network(scenario: Scenario, engine: str) -> Found:
    """Network features that real kernels do not have, whatever program uses them."""
    yield from framing(scenario, engine)
    yield from hypervisors(scenario, engine)
    for name, host in scenario.hosts.items():
        yield from _bond(("hosts", name), host, engine)


def _bond(at: KeyPath, host: Host, engine: str) -> Found:
    if host.nic.bond is not None:
        what = (
            f"hosts of {engine} runs have one interface: bonds need the kernel's bonding "
            "module, which they do without"
        )
        yield (*at, "nic", "bond"), what, "omit it and its further links, or simulate the scenario"


PROCESSOR = {
    "steal": "a hypervisor that takes cores away",
    "groups": "control groups of a host's programs",
}
"""Settings of a processor that would change results and that only a simulated host has."""


def host_settings(at: KeyPath, host: Host, engine: str) -> Found:
    """Settings of a host that only a simulated one has, and settings of TCP that Linux does not
    have."""
    for key, what in PROCESSOR.items():
        if getattr(host.cpu, key):
            yield (
                (*at, "cpu", key),
                f"{engine} runs do not have {what}",
                "omit it, or simulate the scenario",
            )
    yield from _bond(at, host, engine)
    own, usual = host.tcp, Tcp()
    if own.rto_min < RTO_MIN_PS:
        yield (*at, "tcp", "rto_min"), "Linux counts it in milliseconds", "write at least 1ms"
    for key, fact in TCP_FIXED.items():
        if getattr(own, key) != getattr(usual, key):
            yield (*at, "tcp", key), f"not adjustable in {engine} runs: {fact}", "omit it"


def client_ports(scenario: Scenario, most: int, *, are_shared: bool) -> Found:
    """More connections than a host has ports for clients. The simulator lets connections share
    ports.

    Where they are shared, one port serves connections to different servers: only workloads of the
    same hosts add up.
    """
    used: dict[tuple[str, frozenset[str]], int] = {}
    for name, workload in scenario.running.items():
        ends = (
            frozenset(end for _, end in workload.named_ends()) if are_shared else frozenset[str]()
        )
        for host, key, count in workload.held_ports():
            before = used.get((host, ends), 0)
            used[host, ends] = before + count
            if before <= most < before + count:
                what = (
                    f"host {host} would have {before + count} client ports, and a kernel has {most}"
                )
                others = f", with {before} of other workloads" if before else ""
                hint = (
                    f"write at most {most - before}"
                    if before < most and count > 1
                    else "use another host"
                )
                yield ("workloads", name, key), what + others, hint


class Asking(NamedTuple):
    """A workload whose clients send requests to a real server program."""

    name: str
    workload: WorkloadKind
    service: str
    host: str


def servers(asking: Iterable[Asking]) -> Found:
    """Servers that would listen at two ports, and ports at which two servers would listen."""
    services: dict[tuple[str, str], Asking] = {}
    addresses: dict[tuple[str, int], Asking] = {}
    for each in asking:
        port, at = each.workload.server_port, ("workloads", each.name, "port")
        first = services.setdefault((each.service, each.host), each)
        other = addresses.setdefault((each.host, port), each)
        if first.workload.server_port != port:
            known = first.workload.server_port
            what = (
                f"{each.service} on '{each.host}' listens at port {known}, where workload "
                f"'{first.name}' asks it"
            )
            yield at, what, f"write port: {known}, or use two hosts"
        elif other.service != each.service:
            what = (
                f"host '{each.host}' would have two servers at port {port}: "
                f"{other.service} of workload"
            )
            yield (
                at,
                f"{what} '{other.name}', and {each.service}",
                "write another port, or use two hosts",
            )


def fixed_client_ports(program: str, workload: WorkloadKind, hint: str) -> Found:
    """Ports of clients, for a program that lets the kernel choose them."""
    if workload.client_ports is not None:
        yield ("client_ports",), f"the kernel chooses the ports of the clients of {program}", hint
