"""Blocks: what is refused, what presets set, and what stands in the plan."""

from typing import Any

import pytest

from lab import load, problems, sound
from tailrace.errors import RunRefusedError
from tailrace.scenario.lowering.plan import lower
from tailrace.scenario.workloads.blocks import Blocks
from tailrace.scenario.workloads.division import Divisor

RAC: dict[str, Any] = {"kind": "blocks", "nodes": ["client", "db"], "users": 4, "block": "1kB"}
OPEN = RAC | {"users": ..., "arrivals": "exponential(1ms)"}


def merged(base: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in (base | changes).items() if value is not ...}


def workload(base: dict[str, Any], **changes: Any) -> Blocks:
    found = load(workloads__rac=merged(base, changes)).scenario.workloads["rac"]
    assert isinstance(found, Blocks)
    return found


@pytest.mark.parametrize(
    ("base", "changes", "key", "what"),
    [
        (RAC, {"nodes": ["db"]}, ".nodes", "at least two nodes"),
        (RAC, {"nodes": []}, ".nodes", "at least two nodes"),
        (RAC, {"nodes": ["db", "db"]}, ".nodes", "a host is named twice"),
        (RAC, {"nodes": ["db", "dbb"]}, ".nodes.1", "there is no host 'dbb'"),
        (RAC, {"nodes": [f"n{number}" for number in range(65)]}, ".nodes", "64"),
        (RAC, {"clients": ["bulk"]}, ".clients.0", "is not one of the nodes"),
        (RAC, {"clients": []}, ".clients", "the list of hosts is empty"),
        (RAC, {"clients": ["db", "db"]}, ".clients", "a host is named twice"),
        (RAC, {"users": 1}, ".users", "fewer than the 2 clients"),
        (RAC, {"users": 60_000}, ".users", "more than its 28232 ports"),
        (RAC, {"users": ...}, "", "blocks need either users or arrivals"),
        (RAC, {"arrivals": "1ms"}, "", "blocks need either users or arrivals"),
        (
            RAC,
            {"spikes": [{"factor": 2, "at": "1s", "for": "1s"}]},
            ".spikes",
            "no effect without `arrivals`",
        ),
        (OPEN, {"gap": "1ms"}, ".gap", "no effect without `users`"),
        (
            OPEN,
            {"spikes": [{"factor": 2, "at": "1s", "for": "0s"}]},
            ".spikes.0.for",
            "must be greater than zero",
        ),
        (RAC, {"blocks": 0}, "", "neither asks for blocks nor sends messages"),
        (RAC, {"blocks": 1.2345}, ".blocks", "finer than a thousandth"),
        (RAC, {"blocks": 1001}, ".blocks", "1000"),
        (RAC, {"messages": -1}, ".messages", "0"),
        (RAC, {"block": "65508B"}, ".block", "at most 65507 bytes, not 65508"),
        (RAC, {"block": "0B"}, ".block", "must be greater than zero"),
        (RAC, {"message": "7B"}, ".message", "no room for the number of its query"),
        (RAC, {"message": "66kB"}, ".message", "at most 65507 bytes"),
        (RAC, {"timeout": "999ns"}, ".timeout", "shorter than any round trip"),
        (RAC, {"server_time": "1000s"}, ".server_time", "not shorter than the trial"),
        (RAC, {"message_work": "1000s"}, ".message_work", "not shorter than the trial"),
        (RAC, {"timeout": "0s"}, ".timeout", "must be greater than zero"),
        (RAC, {"retries": 101}, ".retries", "100"),
        (RAC, {"concurrency": 0}, ".concurrency", "at least 1"),
        (RAC, {"transactions": 0}, ".transactions", "at least 1"),
        (RAC, {"preset": "awr"}, ".preset", "awr-example"),
        (RAC, {"start": "1000s"}, ".start", "after the end of the trial"),
    ],
)
def test_what_makes_no_sense_is_refused_with_its_key(
    base: dict[str, Any], changes: dict[str, Any], key: str, what: str
) -> None:
    found = problems(sound(workloads__rac=merged(base, changes)))
    assert any(
        problem.startswith(f"workloads.rac{key}: ") and what in problem for problem in found
    ), found


def test_the_plan_has_every_value_and_a_preset_the_published_profile() -> None:
    scenario = load(workloads__rac=merged(RAC, {"preset": "awr-example", "retries": 2})).scenario
    planned = next(
        own for own in lower(scenario, "t", 1)["workloads"] if own["header"]["name"] == "rac"
    )
    body = planned["body"]["blocks"]
    assert (body["nodes"], body["clients"], body["users"]) == (
        ["client", "db"],
        ["client", "db"],
        4,
    )
    assert (body["blocks_milli"], body["messages_milli"], body["is_parallel"]) == (975, 1000, False)
    assert (body["block"], body["message"]) == ({"constant": 1000}, {"constant": 200})
    assert (body["timeout_ps"], body["retries"]) == (500 * 10**9, 2)
    received_and_sent = 2 * (0.975 * (6 + 1) + 2)
    assert received_and_sent == pytest.approx(17.65), "packets of a transaction at an MTU of 1500"
    assert pytest.approx(7.90) == 2 * (0.975 * (1 + 1) + 2), "and at 9000"


def test_keys_of_the_workload_override_its_preset() -> None:
    assert workload(RAC).profile == (1.0, 0.0)
    assert workload(RAC, preset="awr-example", blocks=2).profile == (2.0, 1.0)


def test_a_user_has_two_sockets_with_each_other_node() -> None:
    three = RAC | {"nodes": ["client", "db", "bulk"], "users": 7}
    assert workload(three).held_ports() == [
        ("client", "users", 12),
        ("db", "users", 8),
        ("bulk", "users", 8),
    ]
    assert workload(OPEN).held_ports() == [("client", "nodes", 2), ("db", "nodes", 2)]


def test_a_shorter_trial_has_fewer_transactions_and_a_divided_one_fewer_users() -> None:
    assert workload(RAC, transactions=100).scaled(0.25).transactions == 25
    divisor = Divisor(2, 1)
    assert workload(RAC).divided("rac", {}, divisor).users == 2
    with pytest.raises(RunRefusedError, match="too few to divide"):
        workload(RAC, users=2).divided("rac", {}, divisor)


def test_nodes_that_are_slower_than_the_timeout_are_a_warning() -> None:
    for key, messages in (("server_time", 0), ("message_time", 1)):
        slow = RAC | {key: "600ms", "messages": messages}
        assert any(
            "most transactions fail" in str(caution)
            for caution in load(workloads__rac=slow).warnings
        )
    assert not any(
        "transactions fail" in str(caution) for caution in load(workloads__rac=RAC).warnings
    )


def test_too_few_processes_for_the_arrivals_are_a_warning() -> None:
    busy = merged(OPEN, {"server_time": "10ms", "concurrency": 2})
    found = [str(caution) for caution in load(workloads__rac=busy).warnings]
    assert any("2.5 times the blocks that 2 processes" in said for said in found), found
