"""Requests: what is refused, what presets set, and what stands in the plan."""

from typing import Any

import pytest

from lab import load, problems, sound
from tailrace.errors import RunRefusedError
from tailrace.scenario.lowering.plan import lower
from tailrace.scenario.workloads.division import Divisor
from tailrace.scenario.workloads.request_presets import (
    ACK_BYTES,
    DELIVER_BYTES,
    DNS_QUERY_BYTES,
    DNS_RESPONSE_BYTES,
    PRESETS,
    PUBLISH_BYTES,
)
from tailrace.scenario.workloads.requests import Requests

WEB: dict[str, Any] = {
    "kind": "requests",
    "preset": "http",
    "client": "client",
    "server": "db",
    "users": 4,
}
OPEN = WEB | {"users": ..., "arrivals": "exponential(1ms)"}
DNS = WEB | {"preset": "dns"}
CALL = {"server": "bulk", "request": "100B", "response": "1kB"}


def called(calls: list[dict[str, Any]]) -> dict[str, Any]:
    """A call to a server that makes these in turn."""
    return CALL | {"calls": calls}


def deep(tiers: int) -> dict[str, Any]:
    """Calls of so many tiers, to two hosts in turn."""
    return (
        CALL
        | ({"calls": [deep(tiers - 1)]} if tiers > 1 else {})
        | {"server": ("client", "bulk")[tiers % 2]}
    )


def web(**changes: Any) -> dict[str, Any]:
    return merged(WEB, changes)


def merged(base: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in (base | changes).items() if value is not ...}


def workload(base: dict[str, Any], **changes: Any) -> Requests:
    found = load(workloads__web=merged(base, changes)).scenario.workloads["web"]
    assert isinstance(found, Requests)
    return found


@pytest.mark.parametrize(
    ("base", "changes", "key", "what"),
    [
        (WEB, {"client": ...}, "", "name either `client` or `clients`"),
        (WEB, {"clients": ["client"]}, "", "`client` and `clients` exclude each other"),
        (WEB, {"server": ..., "servers": []}, ".servers", "the list of hosts is empty"),
        (WEB, {"server": ..., "servers": ["db", "db"]}, ".servers", "a host is named twice"),
        (WEB, {"server": "dB"}, ".server", "there is no host 'dB'"),
        (WEB, {"server": "client"}, "", "both ends are host 'client'"),
        (WEB, {"arrivals": "1ms"}, "", "need either users or arrivals"),
        (WEB, {"users": ...}, "", "need either users or arrivals"),
        (WEB, {"users": 0}, ".users", "at least 1"),
        (
            WEB,
            {"client": ..., "clients": ["client", "bulk"], "users": 1},
            ".users",
            "fewer than the 2 clients",
        ),
        (WEB, {"users": 30_000}, ".users", "more than its 28232 ports"),
        (
            WEB,
            {"spikes": [{"factor": 2, "at": "1s", "for": "1s"}]},
            ".spikes",
            "no effect without `arrivals`",
        ),
        (WEB, {"connections": 4}, ".connections", "no effect without `arrivals`"),
        (WEB, {"balance": "fair"}, ".balance", "round-robin"),
        (WEB, {"protocol": "sctp"}, ".protocol", "udp"),
        (WEB, {"preset": "htp"}, ".preset", "http"),
        (WEB, {"connection": "close"}, ".connection", "kept"),
        (WEB, {"gap": "soon"}, ".gap", "is not a distribution"),
        (WEB, {"requests": 0}, ".requests", "at least 1"),
        (WEB, {"start": "1000s"}, ".start", "after the end of the trial"),
        (WEB, {"preset": ..., "response": "1kB"}, "", "need `request`, or a preset"),
        (WEB, {"response": "0B"}, ".response", "must be greater than zero"),
        (WEB, {"pipeline": 0}, ".pipeline", "at least 1"),
        (WEB, {"pipeline": 2, "connection": "new"}, ".pipeline", "carries one request"),
        (WEB, {"concurrency": 0}, ".concurrency", "at least 1"),
        (WEB, {"server_time": "-1ms"}, ".server_time", "-1ms"),
        (WEB, {"server_work": "1kB"}, ".server_work", "is not a unit of time"),
        (WEB, {"timeout": "0s"}, ".timeout", "must be greater than zero"),
        (WEB, {"timeout": "soon"}, ".timeout", "is not a time"),
        (WEB, {"timeout": "1ps"}, ".timeout", "is shorter than any round trip"),
        (
            WEB,
            {"server_time": "1h"},
            ".server_time",
            "is not shorter than the trial: the server answers no request in it",
        ),
        (WEB, {"server_work": "uniform(1h, 2h)"}, ".server_work", "is not shorter than the trial"),
        (
            WEB,
            {"calls": [CALL | {"server_time": "1h"}]},
            ".calls.0.server_time",
            "is not shorter than the trial",
        ),
        (WEB, {"retries": 1}, ".retries", "only after a `timeout`"),
        (OPEN, {"arrivals": "0s"}, ".arrivals", "must be greater than zero"),
        (
            OPEN,
            {"arrivals": "exponential(9999ps)"},
            ".arrivals",
            "more than 100 million requests per second",
        ),
        (OPEN, {"gap": "1ms"}, ".gap", "no effect without `users`"),
        (
            OPEN,
            {"spikes": [{"factor": 0, "at": "1s", "for": "1s"}]},
            ".spikes.0.factor",
            "at least 0.001",
        ),
        (
            OPEN,
            {"spikes": [{"factor": 0.0004, "at": "1s", "for": "1s"}]},
            ".spikes.0.factor",
            "at least 0.001",
        ),
        (
            OPEN,
            {"spikes": [{"factor": 2, "at": "1s", "for": "0s"}]},
            ".spikes.0.for",
            "must be greater than zero",
        ),
        (
            OPEN,
            {"spikes": [{"factor": 2, "at": "999s", "for": "1s"}]},
            ".spikes.0.at",
            "after the end of the trial",
        ),
        (
            OPEN,
            {"start": "2s", "spikes": [{"factor": 2, "at": "1s", "for": "1s"}]},
            ".spikes.0",
            "before the workload starts",
        ),
        (
            OPEN,
            {"spikes": [{"factor": 1001, "at": "1s", "for": "1s"}]},
            ".spikes.0.factor",
            "at most 1000",
        ),
        (
            OPEN,
            {
                "spikes": [
                    {"factor": 2, "at": "1s", "for": "1s"},
                    {"factor": 2, "at": "1500ms", "for": "1s"},
                ]
            },
            ".spikes.1.at",
            "before the one above it has ended",
        ),
        (DNS, {"connection": "new"}, ".connection", "datagrams have no connections"),
        (DNS, {"pipeline": 2}, ".pipeline", "do not wait for each other"),
        (DNS, {"timeout": "0s"}, ".timeout", "must be greater than zero"),
        (DNS, {"timeout": "999ns"}, ".timeout", "is shorter than any round trip"),
        (DNS, {"retries": 101}, ".retries", "100"),
        (DNS, {"response": "66kB"}, ".response", "at most 65507 bytes"),
        (DNS, {"request": "7B"}, ".request", "no room for the number of its query"),
        (WEB, {"calls": [CALL | {"server": "db"}]}, ".calls.0.server", "both ends are host 'db'"),
        (WEB, {"calls": [CALL | {"server": "dbb"}]}, ".calls.0.server", "there is no host 'dbb'"),
        (WEB, {"calls": [CALL | {"servers": ["bulk"]}]}, ".calls.0", "exclude each other"),
        (
            WEB,
            {"calls": [CALL | {"response": "0B"}]},
            ".calls.0.response",
            "must be greater than zero",
        ),
        (WEB, {"calls": [CALL | {"count": 0}]}, ".calls.0.count", "at least 1"),
        (WEB, {"calls": [CALL | {"parallel": 3}]}, ".calls.0.parallel", "true or false"),
        (WEB, {"calls": [CALL | {"server_time": "x"}]}, ".calls.0.server_time", "x"),
        (WEB, {"calls": [CALL] * 17}, ".calls", "16"),
        (WEB, {"calls": [called([CALL])]}, ".calls.0.calls.0.server", "both ends are host 'bulk'"),
        (
            WEB,
            {"calls": [called([CALL | {"server": "bulkk"}])]},
            ".calls.0.calls.0.server",
            "there is no host 'bulkk'",
        ),
        (
            WEB,
            {"calls": [called([CALL | {"server": "db"}])]},
            ".calls.0.calls.0.server",
            "the calls form a cycle",
        ),
        (
            WEB,
            {"calls": [called([CALL | {"sever": "db"}])]},
            ".calls.0.calls.0.sever",
            "did you mean 'server'?",
        ),
        (
            WEB,
            {"calls": [called([CALL | {"request": "0B"}])]},
            ".calls.0.calls.0.request",
            "greater than zero",
        ),
        (
            WEB,
            {"calls": [deep(9)]},
            ".calls.0" + 7 * ".calls.0" + ".calls",
            "nested more than 8 deep",
        ),
        (
            WEB,
            {"replicas": {"servers": [], "bytes": "1kB"}},
            ".replicas.servers",
            "the list of replicas is empty",
        ),
        (
            WEB,
            {"replicas": {"servers": ["bulk"], "bytes": "1kB", "acks": 2}},
            ".replicas.acks",
            "more than the 1 replicas",
        ),
        (
            WEB,
            {"replicas": {"servers": ["db"], "bytes": "1kB"}},
            ".replicas.servers.0",
            "both ends are host 'db'",
        ),
        (
            WEB,
            {"replicas": {"servers": ["bulk"] * 2, "bytes": "1kB"}},
            ".replicas.servers",
            "a host is named twice",
        ),
        (
            WEB,
            {"replicas": {"servers": ["bulk"], "bytes": "1kB", "acks": 0}},
            ".replicas.acks",
            "at least 1",
        ),
        (
            WEB,
            {"replicas": {"servers": ["bulk"], "bytes": "0B"}},
            ".replicas.bytes",
            "must be greater than zero",
        ),
        (
            WEB,
            {"replicas": {"servers": ["bul"], "bytes": "1kB"}},
            ".replicas.servers.0",
            "there is no host 'bul'",
        ),
        (WEB, {"reqests": 5}, ".reqests", "did you mean 'requests'?"),
    ],
)
def test_a_value_without_meaning_is_refused_with_its_key(
    base: dict[str, Any], changes: dict[str, Any], key: str, what: str
) -> None:
    found = problems(sound(workloads__web=merged(base, changes)))
    assert any(
        problem.startswith(f"workloads.web{key}: ") and what in problem for problem in found
    ), found


def test_more_arrivals_than_workers_serve_are_cautioned() -> None:
    slow = merged(OPEN, {"concurrency": 2, "server_time": "3ms"})
    assert any(
        "1.5 times what 2 workers serve" in str(caution)
        for caution in load(workloads__web=slow).warnings
    )
    given_up = WEB | {"server_time": "exponential(2ms)", "timeout": "1ms"}
    assert any(
        "most requests are given up" in str(caution)
        for caution in load(workloads__web=given_up).warnings
    )


def test_a_preset_sets_what_the_workload_does_not() -> None:
    dns = workload(DNS, retries=3)
    graph = load().scenario.graph
    assert (dns.is_udp, dns.lowered(graph)["retries"], dns.lowered(graph)["timeout_ps"]) == (
        True,
        3,
        5 * 10**12,
    )
    plain = workload(WEB, preset="mq-publish", response="50B")
    assert plain.depth == 100
    assert plain.sizes == (PRESETS["mq-publish"].request, plain.response)
    assert workload(WEB, preset="mq-publish", pipeline=7).depth == 7
    assert workload(WEB, preset="mq-publish", connection="new").depth == 1


def test_sizes_of_presets_are_those_of_their_standards() -> None:
    assert (DNS_QUERY_BYTES, DNS_RESPONSE_BYTES) == (44, 60)
    # AMQP 0-9-1: frames of a method, a content header and a body, with 8 bytes around each.
    assert PUBLISH_BYTES == (8 + 19) + (8 + 15) + (8 + 1024)
    assert (ACK_BYTES, DELIVER_BYTES) == (8 + 13, (8 + 57) + (8 + 15) + (8 + 1024))


def test_the_plan_has_every_key() -> None:
    spikes = [{"factor": 2.5, "at": "1s", "for": "500ms"}]
    replicas = {"servers": ["bulk"], "bytes": "2kB", "acks": 1, "server_time": "1ms"}
    scenario = load(
        workloads__web=merged(
            OPEN, {"spikes": spikes, "calls": [CALL | {"count": 3}], "replicas": replicas}
        )
    ).scenario
    [planned] = [
        entry
        for entry in lower(scenario, "base", 1)["workloads"]
        if entry["header"]["name"] == "web"
    ]
    body = planned["body"]["requests"]
    assert planned["header"]["live"] == {"preset": "http"}
    assert body["spikes"] == [{"factor_milli": 2500, "at_ps": 10**12, "for_ps": 5 * 10**11}]
    assert (body["users"], body["arrivals"]) == (0, {"exponential": {"mean": 10**9}})
    call, copy = body["stages"]
    assert (call["servers"], call["count"], call["is_parallel"], call["awaited"]) == (
        ["bulk"],
        3,
        True,
        0,
    )
    assert (copy["request"], copy["response"], copy["awaited"]) == (
        {"constant": 2000},
        {"constant": 64},
        1,
    )
    assert copy["service"]["time"] == {"constant": 10**9}


def test_calls_of_called_servers_stand_in_the_plan_below_theirs() -> None:
    inner = CALL | {"server": "client", "server_time": "2ms"}
    scenario = load(workloads__web=web(calls=[called([inner, inner])])).scenario
    body = scenario.workloads["web"].lowered(scenario.graph)
    [outer] = body["stages"]
    assert [one["servers"] for one in outer["stages"]] == [["client"], ["client"]]
    assert outer["stages"][0]["service"]["time"] == {"constant": 2 * 10**9}
    assert outer["stages"][0]["stages"] == []


def test_timeouts_over_tcp_are_those_of_the_workload_alone() -> None:
    graph = load().scenario.graph
    over_tcp = workload(DNS, protocol="tcp", timeout="2s", retries=1).lowered(graph)
    assert (over_tcp["is_udp"], over_tcp["timeout_ps"], over_tcp["retries"]) == (
        False,
        2 * 10**12,
        1,
    )
    assert workload(DNS, protocol="tcp").lowered(graph)["timeout_ps"] == 0


def test_each_client_has_a_port_for_each_connection_that_it_keeps() -> None:
    two = {"client": ..., "clients": ["client", "bulk"], "users": 5}
    assert workload(WEB, **two).held_ports() == [("client", "users", 3), ("bulk", "users", 2)]
    many = two | {"server": ..., "servers": ["db", "db2"], "balance": "random"}
    assert Requests.model_validate(merged(WEB, many)).held_ports()[0] == ("client", "users", 6)
    assert workload(OPEN).held_ports() == []
    assert workload(OPEN, connections=7).held_ports() == [("client", "connections", 7)]


def test_a_divided_network_has_fewer_users_or_arrivals() -> None:
    rates = {"client": 10**10, "db": 10**10}
    assert workload(WEB, users=40).divided("web", rates, Divisor(10, 1.0)).users == 4
    slower = workload(OPEN, requests=50).divided("web", rates, Divisor(10, 1.0))
    assert slower.arrivals is not None
    assert (slower.arrivals.mean, slower.requests) == (10**10, 5)
    with pytest.raises(RunRefusedError, match="too few to divide"):
        workload(WEB, users=4).divided("web", rates, Divisor(10, 1.0))


def test_the_least_time_is_that_of_arrivals_or_of_users() -> None:
    graph = load().scenario.graph
    arriving = workload(OPEN, requests=1000).least_time(graph)
    thinking = workload(WEB, requests=11, gap="2ms", server_time="1ms").least_time(graph)
    assert arriving is not None
    assert thinking is not None
    assert arriving.seconds == pytest.approx(1.0)
    assert thinking.seconds == pytest.approx(0.03)
    assert workload(WEB).least_time(graph) is None


def test_a_scaled_trial_keeps_its_spikes() -> None:
    spikes = [{"factor": 4, "at": "1s", "for": "500ms"}]
    [spike] = workload(OPEN, spikes=spikes).scaled(0.1).spikes
    assert (spike.factor, spike.at, spike.duration) == (4, 10**11, 5 * 10**10)
