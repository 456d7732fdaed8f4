"""Scenarios whose intervals are held to the truth by `coverage.py`, with what is known of them in
theory."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import log
from typing import Any

Scenario = dict[str, Any]
QUIET: Scenario = {
    "nic": {"tso": "0B", "gro": "0B", "rx_coalesce": "0us", "rx_jitter": "0us"},
    "tcp": {"delayed_ack": "0s"},
}
"""Hosts that add nothing to the time of a server."""


@dataclass(frozen=True)
class Case:
    """A scenario with one arm, and the workload whose figures are looked at."""

    title: str
    scenario: Scenario
    workload: str
    truth: Mapping[str, float] = field(default_factory=dict)
    """By figure what theory says, in its unit; others come from one very long run."""


def _scenario(
    hosts: list[str], workloads: Scenario, *, link: Scenario, duration: str, **more: Any
) -> Scenario:
    return {
        "tailrace": 1,
        "name": "coverage",
        "network": {"link": link, "topology": {"kind": "star", "switch": "sw", "hosts": hosts}},
        "hosts": {"defaults": QUIET},
        "workloads": workloads,
        "experiment": {
            "duration": duration,
            "warm_up": "500ms",
            "trials": 1,
            "clock": "0ppm",
            "invalid_if": [],
        },
        "observe": {"series_bins": 0, "transactions": 0, "digest": False},
        **more,
    }


FAST = {"rate": "100Gbit/s", "delay": "0ns"}
GIGABIT = {"rate": "1Gbit/s"}


def _server(arrivals: str, server_time: str, duration: str) -> Scenario:
    """An open queue before one server."""
    requests = {
        "kind": "requests",
        "client": "c",
        "server": "s",
        "request": "50B",
        "response": "50B",
        "arrivals": arrivals,
        "server_time": server_time,
        "concurrency": 1,
    }
    return _scenario(["c", "s", "s2"], {"w": requests}, link=FAST, duration=duration) | {
        "switches": {"sw": {"latency": "0us"}}
    }


def _shop(**more: Any) -> Scenario:
    trips = [{"request": "200B", "response": "8kB", "server_time": "exponential(200us)"}]
    return {
        "kind": "oltp",
        "client": "web",
        "server": "db",
        "users": 10,
        "round_trips": trips,
        **more,
    }


def _beside_flows(
    own: Scenario, queue: str, *, load: str = "50%", duration: str = "3s"
) -> Scenario:
    """A workload `w` beside flows with the sizes of a web search, whose arrivals differ in every
    trial."""
    flows = {
        "kind": "flows",
        "sources": ["bak"],
        "destinations": ["web"],
        "sizes": "web-search",
        "load": load,
    }
    scenario = _scenario(
        ["web", "db", "bak"], {"w": own, "flows": flows}, link=GIGABIT, duration=duration
    )
    return scenario | {
        "switches": {"sw": {"policy": "q"}},
        "policies": {"q": {"queues": {"all": {"limit": queue}}}},
    }


def _tiers() -> Scenario:
    call = {
        "servers": ["back"],
        "request": "200B",
        "response": "4kB",
        "server_time": "exponential(500us)",
    }
    asking = {
        "kind": "requests",
        "client": "client",
        "server": "front",
        "request": "100B",
        "response": "4kB",
        "arrivals": "exponential(1250us)",
        "server_time": "exponential(400us)",
        "concurrency": 1,
        "calls": [call],
    }
    return _scenario(["client", "front", "back"], {"w": asking}, link=GIGABIT, duration="9500ms")


MM1_RATE = 200.0
"""Of the response time of M/M/1 with 800 arrivals and 1000 services per second."""
STREAM = {"kind": "stream", "source": "db", "destination": "web", "connections": 2}
CASES: dict[str, Case] = {
    "mm1": Case(
        "M/M/1, load 0.8",
        _server("exponential(1250us)", "exponential(1ms)", "9500ms"),
        "w",
        {"p50": log(2) / MM1_RATE * 1000, "p99": log(100) / MM1_RATE * 1000, "rate": 800.0},
    ),
    "half": Case(
        "M/M/1, load 0.5",
        _server("exponential(2ms)", "exponential(1ms)", "15500ms"),
        "w",
        {"p50": log(2) / 0.5, "p99": log(100) / 0.5, "rate": 500.0},
    ),
    "skewed": Case(
        "database with skewed service times",
        _server("exponential(2ms)", "lognormal(600us, 1.2)", "15500ms"),
        "w",
        {"rate": 500.0},
    ),
    "stream": Case(
        "stream beside flows", _beside_flows(STREAM, "300kB", load="30%", duration="2s"), "w"
    ),
    "tiers": Case("two tiers of servers", _tiers(), "w", {"rate": 800.0}),
    "loop": Case(
        "closed loop", _scenario(["web", "db"], {"w": _shop()}, link=GIGABIT, duration="1s"), "w"
    ),
    "flows": Case(
        "closed loop beside flows, large buffer",
        _beside_flows(_shop(gap="exponential(4ms)"), "300kB"),
        "w",
    ),
    "loss": Case(
        "closed loop beside flows, small buffer",
        _beside_flows(_shop(gap="exponential(4ms)"), "40kB"),
        "w",
    ),
}


def many_shops(count: int) -> Scenario:
    """`aa`: so many closed loops with a pair of hosts each, beside flows that cross all of their
    links."""
    hosts = [f"{kind}{number}" for number in range(count) for kind in ("web", "db")]
    shops = {
        f"shop{number}": _shop(gap="exponential(4ms)")
        | {"client": f"web{number}", "server": f"db{number}"}
        for number in range(count)
    }
    webs = [host for host in hosts if host.startswith("web")]
    flows = {
        "kind": "flows",
        "sources": ["bak"],
        "destinations": webs,
        "sizes": "web-search",
        "load": "50%",
    }
    scenario = _scenario([*hosts, "bak"], shops | {"flows": flows}, link=GIGABIT, duration="400ms")
    scenario["experiment"]["warm_up"] = "50ms"
    return scenario | {
        "switches": {"sw": {"policy": "q"}},
        "policies": {"q": {"queues": {"all": {"limit": "300kB"}}}},
    }
