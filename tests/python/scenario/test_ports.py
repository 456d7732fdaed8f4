"""Ports of workloads: that of the protocol, one of their own, and rules of switches about them."""

from dataclasses import replace
from itertools import product
from typing import Any

import msgspec
import pytest

from lab import load, problems
from tailrace.plan.types import Plan
from tailrace.results.ports.classification import classify_rules
from tailrace.results.ports.queuing_text import format_rules
from tailrace.scenario.checks.classify import traffic_of
from tailrace.scenario.checks.senders import class_of
from tailrace.scenario.classified import matched
from tailrace.scenario.loading import load_scenario
from tailrace.scenario.lowering.plan import canonical_json, lower
from tailrace.scenario.policies.classify import Rule
from tailrace.scenario.scenario import Scenario
from tailrace.scenario.workloads.ports import EPHEMERAL, Traffic

OLTP: dict[str, Any] = {
    "kind": "oltp",
    "client": "a",
    "server": "b",
    "users": 1,
    "round_trips": [{"response": "1kB"}],
}
STREAM: dict[str, Any] = {"kind": "stream", "source": "a", "destination": "b"}
DISK: dict[str, Any] = {"kind": "storage", "initiators": ["a"], "target": "b", "device": "nvme"}
REQUESTS: dict[str, Any] = {"kind": "requests", "client": "a", "server": "b", "users": 1}
SIZES = {"request": "100B", "response": "1kB"}
KINDS: dict[str, tuple[dict[str, Any], int]] = {
    "oltp": (OLTP, 5432),
    "mariadb": (OLTP | {"database": "mariadb"}, 3306),
    "stream": (STREAM, 5201),
    "flows": (
        {
            "kind": "flows",
            "sources": ["a"],
            "destinations": ["b"],
            "sizes": "1MB",
            "interarrival": "1ms",
        },
        5001,
    ),
    "datagrams": (
        {
            "kind": "datagrams",
            "source": "a",
            "destination": "b",
            "sizes": "1kB",
            "interarrival": "1ms",
        },
        5201,
    ),
    "frames": (
        {"kind": "frames", "source": "a", "destination": "b", "frame": "64B", "rate": 10},
        9,
    ),
    "iscsi": (DISK | {"protocol": "iscsi"}, 3260),
    "nvme-tcp": (DISK | {"protocol": "nvme-tcp"}, 4420),
    "nbd": (DISK | {"protocol": "nbd"}, 10_809),
    "requests": (REQUESTS | SIZES, 80),
    "http": (REQUESTS | {"preset": "http"}, 80),
    "redis": (REQUESTS | {"preset": "redis"}, 6379),
    "dns": (REQUESTS | {"preset": "dns"}, 53),
    "amqp": (REQUESTS | {"preset": "mq-confirm"}, 5672),
    "mpi": (
        {
            "kind": "mpi",
            "hosts": ["a", "b"],
            "pattern": "pingpong",
            "sizes": ["8B"],
            "iterations": 2,
        },
        1024,
    ),
}


def scenario_of(
    rules: list[dict[str, Any]] | None = None, **workloads: dict[str, Any]
) -> dict[str, Any]:
    return {
        "tailrace": 1,
        "name": "ports",
        "network": {"topology": {"kind": "star", "switch": "leaf", "hosts": ["a", "b", "c"]}},
        "switches": {"leaf": {"classify": rules or []}},
        "workloads": workloads,
        "experiment": {"trials": 1, "duration": "50ms"},
    }


def scenario(rules: list[dict[str, Any]] | None = None, **workloads: dict[str, Any]) -> Scenario:
    return load_scenario(scenario_of(rules, **workloads)).scenario


def headers(**workloads: dict[str, Any]) -> dict[str, Any]:
    planned = lower(scenario(None, **workloads), "base", 1)["workloads"]
    return {own["header"]["name"]: own["header"] for own in planned}


def warnings(rules: list[dict[str, Any]], **workloads: dict[str, Any]) -> list[str]:
    return [str(problem) for problem in load_scenario(scenario_of(rules, **workloads)).warnings]


@pytest.mark.parametrize("kind", KINDS)
def test_a_workload_has_the_port_of_its_protocol(kind: str) -> None:
    body, port = KINDS[kind]
    assert headers(w=body)["w"]["port"] == port
    own = headers(w=body | {"port": 7_000, "client_ports": "40000-40099"})["w"]
    assert (own["port"], own["client_ports"]) == (7_000, (40_000, 40_099))


def test_servers_that_servers_ask_have_the_ports_after_it_tier_by_tier() -> None:
    last = SIZES | {"server": "d"}
    calls = [SIZES | {"servers": ["c"], "calls": [last]}, SIZES | {"server": "e"}]
    data = scenario_of(web=REQUESTS | SIZES | {"calls": calls})
    data["network"]["topology"]["hosts"] = list("abcde")
    own = load_scenario(data).scenario
    found = [
        (list(one.hosts), one.port, list(one.clients))
        for one in own.workloads["web"].servings(own.graph)
    ]
    assert found == [(["b"], 80, ["a"]), (["c"], 81, ["b"]), (["e"], 82, ["b"]), (["d"], 83, ["c"])]


def test_workloads_of_one_service_share_a_port_and_others_only_where_both_name_it() -> None:
    assert problems(scenario_of(one=OLTP, two=OLTP, bulk=STREAM)) == []
    assert problems(scenario_of(one=OLTP, bulk=STREAM | {"port": 5432, "destination": "c"})) == []
    [found] = problems(scenario_of(one=OLTP, bulk=STREAM | {"port": 5432}))
    assert found == (
        "workloads.bulk.port: host b would have two servers at tcp port 5432: postgresql of "
        "workload 'one', and stream "
        "(hint: write another one, such as port: 5433; or the same in both, to share it)"
    )
    assert problems(scenario_of(one=OLTP | {"port": 5432}, bulk=STREAM | {"port": 5432})) == []
    assert problems(scenario_of(one=OLTP, bulk=STREAM | {"port": 5432, "vlan": 7})) == []
    datagrams, _ = KINDS["datagrams"]
    assert problems(scenario_of(bulk=STREAM, voice=datagrams)) == [], (
        "tcp and udp have ports of their own"
    )


def test_ports_beyond_the_last_and_none_at_all_are_refused() -> None:
    [high] = problems(
        scenario_of(web=REQUESTS | SIZES | {"port": 65_535, "calls": [SIZES | {"server": "c"}]})
    )
    assert "a further server of the workload would have port 65536" in high
    assert len(problems(scenario_of(bulk=STREAM | {"port": 0}))) == 1
    assert len(problems(scenario_of(bulk=STREAM | {"client_ports": "200-100"}))) == 1


def test_ranges_of_clients_do_not_overlap_and_hold_their_connections() -> None:
    one, two = OLTP | {"client_ports": "4000-4009"}, STREAM | {"client_ports": "4009-4020"}
    [found] = problems(scenario_of(one=one, two=two))
    assert found.startswith(
        "workloads.two.client_ports: 4009-4020 overlaps 4000-4009 of workload 'one' on host a"
    )
    assert problems(scenario_of(one=one, two=STREAM | {"client_ports": "4000-4009"})) == []
    [found] = problems(scenario_of(one=OLTP | {"users": 11, "client_ports": "4000-4009"}))
    assert "host a keeps 11 connections, and 4000-4009 are 10 ports" in found


def test_a_rule_that_no_workload_meets_and_one_that_services_share_are_warnings() -> None:
    iscsi, _ = KINDS["iscsi"]
    rules = [
        {"class": 5, "protocol": "tcp", "destination_port": 5432},
        {"class": 4, "protocol": "tcp", "destination_port": 3260},
    ]
    [found] = warnings(rules, backup=STREAM, disk=iscsi)
    assert "switches.leaf.classify.0: no frames of a workload meet this rule first" in found
    assert "(hint: ports are backup to tcp port 5201, disk to tcp port 3260)" in found
    assert warnings(rules, shop=OLTP, disk=iscsi) == []
    [found] = warnings([{"class": 5, "destination_port": "5000-6000"}], shop=OLTP, backup=STREAM)
    assert (
        "classify.0: this rule about ports matches frames of different services: shop to tcp port "
        "5432 (postgresql), backup to tcp port 5201 (stream)"
    ) in found
    assert warnings([{"class": 5, "protocol": "tcp"}], shop=OLTP, backup=STREAM) == [], (
        "it says nothing about ports"
    )
    [found] = warnings(
        [{"class": 5, "dscp": [46]}, {"class": 5, "dscp": [45]}, {"class": 4, "vlan": [7]}],
        shop=OLTP,
    )
    assert "classify.0: " in found
    assert "the same holds for entries 1, 2" in found


def test_a_rule_that_some_arm_needs_is_no_warning() -> None:
    data = scenario_of([{"class": 5, "destination_port": 5201}], shop=OLTP, backup=STREAM)
    data["arms"] = {"without": {"workloads.backup.enabled": False}, "with": {}}
    assert [str(one) for one in load_scenario(data).warnings] == []


def test_a_plan_says_which_rule_matches_which_frames() -> None:
    rules = [
        {"class": 5, "protocol": "tcp", "destination_port": 5432},
        {"class": 3, "source": "a", "source_port": "32768-40000"},
        {"class": 2, "protocol": "udp"},
    ]
    plan = msgspec.json.decode(
        canonical_json(lower(scenario(rules, shop=OLTP, backup=STREAM), "base", 1)), type=Plan
    )
    found = list(classify_rules(plan))
    assert [(rule.number, rule.to_class, rule.matches) for rule in found] == [
        (1, 5, ["shop to tcp port 5432"]),
        (2, 3, ["backup to tcp port 5201 (possibly)"]),
        (3, 2, []),
    ]
    text = format_rules(found).splitlines()
    assert (
        " ".join(text[4].split())
        == "leaf 1 5 destination_port 5432, protocol tcp shop to tcp port 5432"
    )
    assert text[6].endswith("nothing")


def test_the_sound_scenario_has_ports() -> None:
    assert {name: own.server_port for name, own in load().scenario.workloads.items()} == {
        "orders": 5432,
        "backup": 5201,
    }


def frames(**keys: Any) -> list[Traffic]:
    own = scenario(None, shop=OLTP | keys)
    return traffic_of(own, own.graph)


def test_the_frames_of_a_workload_have_its_marks_and_ports_in_both_directions() -> None:
    asking, answering = frames(priority=3, dscp=10, vlan=7, port=6000, client_ports="40000-40099")
    assert {
        (one.workload, one.priority, one.dscp, one.vlan, one.protocol)
        for one in (asking, answering)
    } == {("shop", 3, 10, 7, "tcp")}
    assert asking.sources == answering.destinations == frozenset("a")
    assert asking.destinations == answering.sources == frozenset("b")
    assert (asking.source_ports, asking.destination_ports) == ((40_000, 40_099), (6_000, 6_000))
    assert (answering.source_ports, answering.destination_ports) == (
        (6_000, 6_000),
        (40_000, 40_099),
    )
    assert frames()[0].source_ports == EPHEMERAL


RULES: dict[str, list[dict[str, Any]]] = {
    "hosts": [{"source": one} for one in "abc"] + [{"destination": one} for one in "abc"],
    "ingress": [{"ingress": one} for one in "abc"],
    "source ports": [
        {"source_port": f"{first}-{last}"} for first, last in ((1, 9), (10, 12), (12, 20), (9, 13))
    ],
    "destination ports": [{"destination_port": one} for one in (79, 80, "80-81")],
}


def matches(
    rule: Rule, source: str, destination: str, source_port: int, destination_port: int
) -> bool:
    """Whether a rule matches one frame, which the host that it comes from has sent straight to the
    switch."""
    named = ((rule.ingress, source), (rule.source, source), (rule.destination, destination))
    ranges = ((rule.source_port, source_port), (rule.destination_port, destination_port))
    return all(one in (None, own) for one, own in named) and all(
        one is None or one[0] <= own <= one[1] for one, own in ranges
    )


@pytest.mark.parametrize("about", RULES)
def test_a_rule_is_certain_exactly_where_it_matches_every_frame(about: str) -> None:
    [asking, _] = frames()
    asking = replace(
        asking, sources=frozenset("ab"), destinations=frozenset("bc"), source_ports=(10, 12)
    )
    asking = replace(asking, destination_ports=(80, 80))
    for keys, sources in product(RULES[about], ("ab", "a")):
        rule, own = (
            Rule.model_validate({"class": 1, **keys}),
            replace(asking, sources=frozenset(sources)),
        )
        every = product(own.sources, own.destinations, range(10, 13), [80])
        of_each = {matches(rule, *frame) for frame in every}
        found = [one.is_certain for one in matched([rule], [own], {"a", "b", "c"}) if one.rule == 0]
        assert found == ([] if of_each == {False} else [of_each == {True}]), (keys, sources)


def test_what_comes_from_a_switch_depends_on_the_way() -> None:
    found = list(
        matched(
            [Rule.model_validate({"class": 1, "ingress": "spine"})], frames()[:1], {"a", "b", "c"}
        )
    )
    assert [(one.rule, one.is_certain) for one in found] == [(0, False), (None, True)]


def test_the_class_of_frames_is_unknown_where_the_other_end_decides() -> None:
    own = scenario([{"class": 3, "destination": "b"}], shop=OLTP)
    [asking, _] = traffic_of(own, own.graph)
    switch, hosts = own.switch("leaf"), own.graph.host_names
    assert class_of([asking], "a", switch, hosts) == 3
    same = replace(asking, destinations=frozenset("bc"), priority=3)
    assert class_of([same], "a", switch, hosts) is None
