"""The delay of the links: the shortest round trip without the part of the modelled hosts."""

from collections.abc import Iterable
from dataclasses import dataclass

from tailrace.fit.conversations import Connection
from tailrace.fit.network import Stated
from tailrace.fit.quantities import rate_text, time_text
from tailrace.fit.simulated import simulate
from tailrace.fit.workload import Origin

CROSSINGS = 4
"""Links that a round trip crosses in a star: two to the server and two back."""
PROBES_FOR = "200ms"
"""Requests of one byte are sent each millisecond for this long. The noise of some of them is close
to none, so the shortest latency is the part of the hosts."""
DEFAULT_PS = 500_000
"""Delay of links for which no round trip was seen: the default of scenarios, 100 m of fibre."""
PS_PER_NS = 1000
NS_PER_MS = 1e6
QUICK_HOSTS = {"rx_coalesce": "0s", "rx_jitter": "0s"}
"""Interfaces without interrupt moderation: round trips shorter than the default hosts allow."""


@dataclass(frozen=True)
class Timing:
    """Delay of every link, and settings of interfaces that it requires."""

    delay: Stated
    interfaces: dict[str, str]


def timing_of(connections: Iterable[Connection], line_bps: int, stated_ps: int | None) -> Timing:
    """The timing of the network, from the shortest round trip of all connections."""
    if stated_ps is not None:
        return Timing(Stated(stated_ps, Origin.STATED, "--delay"), {})
    shortest = shortest_round_trip_ns(connections)
    if not shortest:
        return Timing(
            Stated(DEFAULT_PS, Origin.ASSUMED, "no round trip was seen; 100 m of fibre"), {}
        )
    interfaces: dict[str, str] = {}
    hosts_ns = _of_hosts_ns(line_bps, interfaces)
    if shortest < hosts_ns:
        interfaces = QUICK_HOSTS
        hosts_ns = _of_hosts_ns(line_bps, interfaces)
    delay_ps = round(max(0.0, shortest - hosts_ns) * PS_PER_NS / CROSSINGS / PS_PER_NS) * PS_PER_NS
    note = (
        f"shortest round trip {time_text(shortest)}, of which the model's hosts take "
        f"{time_text(hosts_ns)}"
    )
    return Timing(Stated(delay_ps, Origin.ESTIMATED, note), interfaces)


def shortest_round_trip_ns(connections: Iterable[Connection]) -> int:
    """Of all connections with round trips to both ends; 0: none was seen."""
    trips = (
        one.client_rtt_ns + one.server_rtt_ns
        for one in connections
        if one.client_rtt_ns and one.server_rtt_ns
    )
    return min(trips, default=0)


def _of_hosts_ns(line_bps: int, interfaces: dict[str, str]) -> float:
    """The shortest latency of a request of one byte without propagation."""
    arm = simulate(
        {
            "tailrace": 1,
            "name": "round-trip",
            "network": {
                "link": {"rate": rate_text(line_bps), "delay": "0s"},
                "topology": {"kind": "star", "hosts": ["client", "server"]},
            },
            "hosts": {"defaults": {"nic": interfaces}},
            "workloads": {
                "one": {
                    "kind": "requests",
                    "client": "client",
                    "server": "server",
                    "users": 1,
                    "gap": "1ms",
                    "request": "1B",
                    "response": "1B",
                }
            },
            "experiment": {"trials": 1, "duration": PROBES_FOR},
        }
    )
    latency = arm.workloads["one"].latency_ms
    assert latency is not None and latency.min is not None, "requests were answered"  # noqa: PT018  both or none
    return latency.min * NS_PER_MS
