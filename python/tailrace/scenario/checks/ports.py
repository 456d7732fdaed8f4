"""Ports of workloads: servers that meet at one host and port, and clients with more connections
than ports."""

from collections.abc import Iterator, Mapping, Sequence

from tailrace.errors import KeyPath
from tailrace.scenario.network.topology import Graph
from tailrace.scenario.scenario import Scenario
from tailrace.scenario.workloads.base import WorkloadKind
from tailrace.scenario.workloads.ports import PORT_MAX, Protocol, Serving

Found = Iterator[tuple[KeyPath, str, str]]
Servings = Mapping[str, Sequence[Serving]]
"""By workload."""
Address = tuple[str, int, Protocol, int]
"""Host, VLAN, protocol, port."""


def problems(scenario: Scenario, graph: Graph) -> Found:
    """Problems of the ports of enabled workloads whose other values are valid."""
    servings = {name: list(workload.servings(graph)) for name, workload in scenario.running.items()}
    yield from _servers(scenario, servings)
    yield from _clients(scenario, servings)


def _servers(scenario: Scenario, servings: Servings) -> Found:
    """Servers of different services at one address, which no system has."""
    known: dict[Address, tuple[str, WorkloadKind]] = {}
    for name, workload in scenario.running.items():
        at: KeyPath = ("workloads", name, "port")
        for serving in servings[name]:
            if serving.port > PORT_MAX:
                what = f"a further server of the workload would have port {serving.port}"
                yield at, what, f"write a lower port than {workload.server_port}"
                break
            addresses = [
                (host, workload.vlan or 0, serving.protocol, serving.port) for host in serving.hosts
            ]
            met = next((address for address in addresses if address in known), None)
            other, first = known[met] if met else ("", workload)
            if met and not _share(first, workload):
                what = (
                    f"host {met[0]} would have two servers at {met[2]} port {met[3]}: "
                    f"{first.service_name()} of workload '{other}', and {workload.service_name()}"
                )
                yield (
                    at,
                    what,
                    f"write another one, such as port: {_free(met, known)}; or the same in "
                    "both, to share it",
                )
                break
            known |= {address: (name, workload) for address in addresses if address not in known}


def _share(one: WorkloadKind, other: WorkloadKind) -> bool:
    """Whether two workloads may have servers at one address: those of one service, or where both
    name the port."""
    return one.service_name() == other.service_name() or None not in (one.port, other.port)


def _free(address: Address, known: dict[Address, tuple[str, WorkloadKind]]) -> int:
    """The next port above that of an address at which nothing listens there."""
    host, vlan, protocol, port = address
    return next(
        free
        for free in range(port + 1, port + 1 + len(known) + 1)
        if (host, vlan, protocol, free) not in known
    )


def _clients(scenario: Scenario, servings: Servings) -> Found:
    """Ranges of clients that overlap on a host, or are too small for the connections that a host
    keeps."""
    ranges: dict[str, dict[tuple[int, int], str]] = {}
    held: dict[tuple[str, tuple[int, int]], int] = {}
    for name, workload in scenario.running.items():
        own = workload.client_ports
        if own is None:
            continue
        at: KeyPath = ("workloads", name, "client_ports")
        hosts = {host for serving in servings[name] for host in (*serving.clients, *serving.hosts)}
        for host in sorted(hosts):
            known = ranges.setdefault(host, {})
            over = next(
                (each for each in known if each != own and each[0] <= own[1] and own[0] <= each[1]),
                None,
            )
            if over is not None:
                what = (
                    f"{_shown(own)} overlaps {_shown(over)} of workload "
                    f"'{known[over]}' on host {host}"
                )
                yield at, what, "write the same range, or one that is apart"
                break
            known[own] = name
        for host, _, count in workload.held_ports():
            before = held.get((host, own), 0)
            held[host, own] = before + count
            most = own[1] - own[0] + 1
            if before <= most < before + count:
                ports = (
                    f"{_shown(own)} are {most} ports" if most > 1 else f"{_shown(own)} is one port"
                )
                what = f"host {host} keeps {before + count} connections, and {ports}"
                yield at, what, "write a wider range, or fewer connections"


def _shown(ports: tuple[int, int]) -> str:
    return f"{ports[0]}-{ports[1]}" if ports[0] < ports[1] else str(ports[0])
