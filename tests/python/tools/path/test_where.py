"""Where frames ended, from the counters along a path."""

from typing import Any

from tailrace.outcome.types import Outcome
from tailrace.tools.path.where import Counted, located, points, shortest
from whole import part, whole

PLAN = {
    "links": [
        {"a": "client", "b": "leaf1"},
        {"a": "leaf1", "b": "spine"},
        {"a": "spine", "b": "leaf2"},
        {"a": "db", "b": "leaf2"},
    ]
}
ENDS = ("client", "db")


def row(node: str, towards: str | None, rx: int | None, tx: int | None) -> dict[str, Any]:
    counted = {"rx_frames": rx, "tx_frames": tx}
    return whole(
        {"node": node, "towards": towards, "name": "x", "flags": "BMRU", **counted}, "Interface"
    )


def counted(**parts: Any) -> Counted:
    return Counted.of(part(Outcome, **parts))


def test_a_path_is_followed_through_its_switches() -> None:
    assert shortest(PLAN, ENDS) == ["client", "leaf1", "spine", "leaf2", "db"]
    assert [(each.words, each.is_sent) for each in points(PLAN, ENDS)] == [
        ("the interface of client", True),
        ("leaf1>client", False),
        ("leaf1>spine", True),
        ("spine>leaf1", False),
        ("spine>leaf2", True),
        ("leaf2>spine", False),
        ("leaf2>db", True),
        ("the interface of db", False),
    ]
    assert points({"links": []}, ENDS) == []


def test_the_first_interface_that_did_not_count_the_probes_is_named() -> None:
    rows = [
        row("client", None, 0, 10),
        row("db", None, 0, 0),
        row("leaf1", "client", 10, 0),
        row("leaf1", "spine", 0, 10),
        row("spine", "leaf1", 10, 0),
        row("spine", "leaf2", 0, 0),
    ]
    found = located(PLAN, ENDS, counted(netstat=rows), 10)
    assert found is not None
    assert found["after"] == "spine>leaf1"
    assert found["before"] == "spine>leaf2"
    assert found["words"] == "lost between spine>leaf1 (received 10) and spine>leaf2 (sent 0 of 10)"


def test_what_an_engine_cannot_count_is_passed_over_and_other_traffic_hides_the_place() -> None:
    rows = [row("client", None, 0, 10), row("leaf1", "client", None, None), row("db", None, 500, 0)]
    assert located(PLAN, ENDS, counted(netstat=rows), 10) is None
    assert located(PLAN, ENDS, counted(), 10) is None


def test_a_port_that_counts_frames_above_its_mtu_is_named_with_it() -> None:
    before: dict[str, Any] = {
        "ports": [{"node": "leaf2", "towards": "db", "mtu_drops": {"ingress": 0, "egress": 5}}],
        "netstat": [row("leaf2", "db", 0, 7) | {"mtu_bytes": 1_500}],
    }
    now: dict[str, Any] = {
        "ports": [{"node": "leaf2", "towards": "db", "mtu_drops": {"ingress": 0, "egress": 15}}],
        "netstat": [row("leaf2", "db", 0, 9) | {"mtu_bytes": 1_500}],
    }
    found = located(PLAN, ENDS, counted(**now).since(counted(**before)), 10)
    assert found is not None
    assert (found["port"], found["side"], found["mtu_bytes"], found["frames"]) == (
        "leaf2>db",
        "egress",
        1_500,
        10,
    )
    assert found["words"] == (
        "dropped by leaf2, leaving by its port leaf2>db, whose MTU is 1500: the port counted 10"
    )


def test_of_several_ports_the_one_that_counts_most_is_named() -> None:
    ports = [
        {"node": node, "towards": "x", "mtu_drops": {"ingress": ingress, "egress": egress}}
        for node, ingress, egress in (("leaf1", 0, 3), ("leaf2", 10, 1), ("spine", 2, 0))
    ]
    found = located(PLAN, ENDS, counted(ports=ports), 10)
    assert found is not None
    assert (found["port"], found["side"], found["frames"]) == ("leaf2>x", "ingress", 10)


def test_what_interfaces_had_counted_before_is_taken_off() -> None:
    before: dict[str, Any] = {
        "ports": [],
        "netstat": [row("leaf1", "client", 500, 7) | {"mtu_bytes": 1_500}],
    }
    now: dict[str, Any] = {
        "ports": [],
        "netstat": [row("leaf1", "client", 510, None) | {"mtu_bytes": 1_500}],
    }
    [seen] = counted(**now).since(counted(**before)).rows
    assert (seen.rx_frames, seen.tx_frames, seen.mtu_bytes) == (10, None, 1_500)
