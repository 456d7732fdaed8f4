"""Warnings about MTUs of switches below those of hosts."""

from collections.abc import Iterator

from tailrace.errors import KeyPath
from tailrace.scenario.network.topology import Graph
from tailrace.scenario.scenario import Scenario

Found = Iterator[tuple[KeyPath, str, str]]


def cautions(scenario: Scenario, graph: Graph) -> Found:
    """For each switch, the first port that drops the longest packets of a host without notifying
    the sender."""
    largest = max(graph.hosts, key=lambda host: scenario.host(host).mtu, default=None)
    for name in graph.switches:
        switch = scenario.switch(name)
        if switch.mtu is None and not switch.port_mtu:
            continue
        for towards in graph.neighbours(name):
            mtu = switch.port_mtu.get(towards, switch.mtu)
            host = towards if towards in graph.host_names else largest
            if mtu is not None and host is not None and scenario.host(host).mtu > mtu:
                is_own = towards in switch.port_mtu
                what = (
                    f"port '{name}>{towards}' has an MTU of {mtu} bytes, and host '{host}' one of "
                    f"{scenario.host(host).mtu}: longer packets are dropped silently, so that TCP "
                    "with full segments delivers nothing"
                )
                at: KeyPath = ("switches", name if name in scenario.switches else "defaults")
                yield (
                    (*at, *(("port_mtu", towards) if is_own else ("mtu",))),
                    what,
                    f"lower hosts.{host}.mtu",
                )
                break
