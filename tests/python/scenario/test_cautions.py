"""What runs as it is written and would not do what it says: told before anything runs."""

from typing import Any

import pytest

from tailrace.scenario.loading import load_scenario
from tailrace.scenario.text.distribution import parse_distribution
from tailrace.scenario.text.units import SIZE


def warnings(data: dict[str, Any]) -> list[str]:
    """Every warning of a scenario, without the file's name."""
    return [str(warning).removeprefix("scenario: ") for warning in load_scenario(data).warnings]


def fair(
    connections: int = 8, *, rate: str = "10Gbit/s", tso: str = "64kB", **etrap: object
) -> dict[str, Any]:
    """Two senders with half of the connections each, through a port with fair drop."""
    stream = {"kind": "stream", "destination": "sink", "connections": connections // 2}
    queues = {"all": {"limit": "4MB", "aqm": {"kind": "afd", "desired": "150kB"}}}
    return {
        "tailrace": 1,
        "name": "fair",
        "network": {
            "topology": {"kind": "star", "switch": "leaf", "hosts": ["sink", "a", "b"]},
            "link": {"rate": rate},
        },
        "hosts": {"defaults": {"nic": {"tso": tso}}},
        "switches": {"leaf": {"policy": "fair"}},
        "policies": {"fair": {"queues": queues, "etrap": etrap}},
        "workloads": {name: stream | {"source": name} for name in ("a", "b")},
        "experiment": {"duration": "1s"},
    }


def alone() -> dict[str, Any]:
    """One connection, whose bursts follow each other without a gap."""
    case = fair(connections=2)
    del case["workloads"]["b"]
    return case


def test_bursts_with_longer_silences_than_the_trap_allows_are_told_with_the_age_that_works() -> (
    None
):
    [told] = warnings(fair())
    assert (
        "policies.fair.etrap.age: each of 8 connections that take turns may be idle for 358.4 us"
        in told
    )
    assert "the elephant trap evicts elephants that are idle for 50 us" in told
    assert "write etrap: {age: 1230us}, three rounds of the connections" in told


@pytest.mark.parametrize(
    "case",
    [
        fair(age="820us"),
        fair(tso="0B", age="120us"),
        fair(rate="400Gbit/s"),
        fair(connections=2, rate="100Gbit/s"),
        alone(),
    ],
)
def test_fair_drop_that_has_elephants_is_not_warned_of(case: dict[str, Any]) -> None:
    assert warnings(case) == []


def test_without_bursts_a_turn_is_as_long_as_the_queue_at_its_desired_depth() -> None:
    [told] = warnings(fair(tso="0B"))
    assert "may be idle for 105 us" in told
    assert "write etrap: {age: 360us}" in told


def test_a_policy_without_fair_drop_has_no_trap_to_be_warned_of() -> None:
    case = fair()
    case["policies"] = {"fair": {"queues": {"all": {"limit": "4MB"}}}}
    assert warnings(case) == []


def test_the_port_between_two_switches_is_looked_at_too() -> None:
    case = fair()
    sides = {"left": ["a", "b"], "right": ["sink"]}
    case["network"]["topology"] = {"kind": "dumbbell", **sides, "bottleneck_rate": "1Gbit/s"}
    case["switches"] = {"left": {"policy": "fair"}}
    [told] = warnings(case)
    assert "may be idle for 3584 us" in told


def datagrams(sizes: str) -> dict[str, Any]:
    """Datagrams of these sizes from `a` to `b`."""
    return {
        "tailrace": 1,
        "name": "datagrams",
        "network": {"topology": {"kind": "star", "hosts": ["a", "b"]}},
        "workloads": {
            "hog": {
                "kind": "datagrams",
                "source": "a",
                "destination": "b",
                "sizes": sizes,
                "interarrival": "40us",
            }
        },
        "experiment": {"duration": "1s"},
    }


def test_sizes_that_are_truncated_are_told_with_the_mean_that_is_left() -> None:
    [told] = warnings(datagrams("exponential(42kB)"))
    assert "workloads.hog.sizes: a datagram has at most 65507 bytes" in told
    assert (
        "21 % of them are truncated to that size, and the mean is 33172 instead of 42000 bytes"
        in told
    )
    assert "write sizes that fit, such as uniform(64B, 65507B)" in told


@pytest.mark.parametrize(
    "sizes", ["934B", "uniform(64B, 65507B)", "exponential(934B)", "normal(9kB, 100B)"]
)
def test_sizes_that_fit_are_not_warned_of(sizes: str) -> None:
    assert warnings(datagrams(sizes)) == []


@pytest.mark.parametrize(
    ("text", "bound", "above", "mean"),
    [
        ("exponential(934B)", 1472, 0.20679, 740.86),
        ("uniform(0B, 1000B)", 500, 0.5, 375.0),
        ("500B", 1472, 0.0, 500.0),
        ("normal(1000B, 100B)", 1000, 0.5, 1000 - 100 * 0.398942),
        # The density of the logarithm is that of a normal: E min = m e^(s^2/2) F(-s) + m / 2 at the
        # median.
        ("lognormal(1000B, 0.5)", 1000, 0.5, 1000 * (1.133148 * 0.308538 + 0.5)),
        # Two exponentials of 500: 1000 (1 - e^-2 (1 + 2 + 2)) + 1000 e^-2 (1 + 2).
        ("erlang(1000B, 2)", 1000, 3 * 0.135335, 1000 * (1 - 2 * 0.135335)),
        ("erlang(1000B, 1000)", 2000, 0.0, 1000.0),
    ],
)
def test_what_lies_beyond_a_bound_is_known(
    text: str, bound: int, above: float, mean: float
) -> None:
    found = parse_distribution(text, SIZE)
    assert found.above(bound) == pytest.approx(above, abs=1e-4)
    assert found.mean_up_to(bound) == pytest.approx(mean, rel=1e-3)


@pytest.mark.parametrize(
    ("own", "told"),
    [
        ({"mtu": "9000B"}, None),
        (
            {"mtu": "1500B"},
            "switches.leaf.mtu: port 'leaf>sink' has an MTU of 1500 bytes, "
            "and host 'sink' one of 9000",
        ),
        (
            {"mtu": "9000B", "port_mtu": {"a": "1500B"}},
            "switches.leaf.port_mtu.a: port 'leaf>a' has an MTU of 1500 "
            "bytes, and host 'a' one of 9000",
        ),
    ],
)
def test_a_port_that_swallows_what_a_host_sends_is_told(
    own: dict[str, Any], told: str | None
) -> None:
    case = alone()
    case["hosts"]["defaults"]["mtu"] = "9000B"
    case["switches"]["leaf"] = own
    found = warnings(case)
    assert (told is None and found == []) or (
        told is not None and [told in line for line in found] == [True]
    )
