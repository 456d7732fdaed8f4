"""Transactions of live trials, taken apart by the fabric: each picosecond in one part; whose
connection is whose."""

from dataclasses import replace
from typing import Any

import pytest

from tailrace.results.causes.causes import Loss, Transaction
from tailrace.timeline.attribution import AFTER_DROP, OUTSIDE, connections_by_user, taken_apart
from tailrace.timeline.crossings import (
    CLIENT,
    SERVER,
    AtQueue,
    Connection,
    Crossing,
    Paths,
    Wait,
    at_queues,
    connections_of,
    merged_queues,
)
from tailrace.timeline.explained import OVERLAP_PS, merged_logs
from tailrace.timeline.live import read_replay
from tailrace.timeline.log import NONE_32, NONE_64, Hop, Log

US = 1_000_000
"""Picoseconds."""
MS = 1000 * US
PLAN: dict[str, Any] = {
    "hosts": [{"name": "client"}, {"name": "db"}],
    "links": [
        {"a": host, "b": "leaf", "rate_bps": 10**9, "delay_ps": US} for host in ("client", "db")
    ],
    "switches": [{"name": "leaf", "latency_ps": US}],
    "framing": {"overhead_bytes": 24},
    "workloads": [{"header": {"name": "orders"}}],
}
TO_CLIENT, TO_DB = 1, 3
REQUEST, ANSWER, ACK = 226, 1476, 66
"""Bytes of frames: with 24 of overhead 2, 12 and 0.72 us on the line."""


def columns(keys: str, *rows: tuple[int, ...]) -> dict[str, list[int]]:
    return {name: [row[place] for row in rows] for place, name in enumerate(keys.split())}


def connections(*, quanta: int = 0) -> list[Connection]:
    """A request, and an answer that waits 40 us for its wire, of which the port may be paused; one
    is dropped."""
    of = "frame source class bytes wire since_ps"
    told = {
        "sources": [[0]],
        "frames": columns(
            "id from to source_port destination_port protocol bytes entered_ps delivered_ps",
            (0, 0, 1, 40_000, 5432, 6, REQUEST, 10 * US, 14 * US),
            (1, 1, 0, 5432, 40_000, 6, ANSWER, 30 * US, 84 * US),
            (2, 1, 0, 5432, 40_000, 6, ANSWER, 42 * US, NONE_64),
        ),
        "hops": columns(
            f"{of} start_ps end_ps arrival_ps",
            (0, 0, 0, REQUEST, TO_DB, 10 * US, 11 * US, 13 * US, 14 * US),
            (1, 0, 2, ANSWER, TO_CLIENT, 30 * US, 71 * US, 83 * US, 84 * US),
        ),
        "drops": columns(f"{of} at_ps cause", (2, 0, 2, ANSWER, TO_CLIENT, 42 * US, 42 * US, 0)),
        "marks": columns(f"{of} at_ps cause"),
        "pauses": columns(
            "wire at_ps class quanta", *([(TO_CLIENT, 40 * US, 2, quanta)] if quanta else [])
        ),
        "left_out": columns("rows from_ps", (0, NONE_64)),
    }
    assert NONE_32
    return connections_of(read_replay(told, PLAN, [(0, 100 * US)], {"orders"}), Paths(PLAN))


def transaction(start: int, end: int, user: int = 0) -> Transaction:
    return Transaction(user, start, end, {}, 0, 0)


def test_a_crossing_begins_on_the_link_of_its_host_and_waits_behind_the_latency_of_the_switch() -> (
    None
):
    [one] = connections()
    [request], [answer] = one.to[SERVER], one.to[CLIENT]
    assert (request.begun_ps, request.delivered_ps) == (7 * US, 14 * US)
    assert (request.serialisation_ps, request.propagation_ps) == (4 * US, 3 * US)
    assert answer.waits == (Wait("leaf>client", 2, 31 * US, 71 * US, 0),)
    assert answer.begun_ps == (30 - 12 - 1) * US
    assert one.lost == ([Loss("leaf>client", 42 * US)], [])


def test_the_parts_are_the_logged_latency() -> None:
    [one] = connections()
    whole, waits = taken_apart(transaction(5 * US, 90 * US), one)
    assert whole.parts == {
        OUTSIDE: (6 + 3 + 2) * US,
        "switch_queue": 40 * US,
        "serialisation": (12 + 12 + 4) * US,
        "propagation": (3 + 3) * US,
    }
    assert sum(whole.parts.values()) == whole.latency_ps
    assert whole.queues == {"leaf>client class 2": 40 * US}
    assert whole.losses == [Loss("leaf>client", 42 * US)]
    assert [wait.wire for wait in waits] == ["leaf>client", "leaf>db"]


def test_the_frame_that_ended_a_transaction_may_come_later_by_the_clock_of_the_fabric() -> None:
    [one] = connections()
    early = transaction(5 * US, 80 * US)
    assert taken_apart(early, one)[0].parts == {OUTSIDE: early.latency_ps}, "none had come by then"
    whole, _ = taken_apart(early, one, apart_ps=4 * US)
    assert whole.parts["switch_queue"] == 40 * US
    assert sum(whole.parts.values()) == whole.latency_ps
    assert "switch_queue" not in taken_apart(early, one, apart_ps=3 * US)[0].parts


def test_a_wait_while_the_class_was_paused_is_no_queue() -> None:
    # 20 quanta of 512 bits are 10.24 us at 1 Gbit/s.
    [one] = connections(quanta=20)
    whole, _ = taken_apart(transaction(5 * US, 90 * US), one)
    assert whole.parts["paused"] == 10_240_000
    assert whole.parts["switch_queue"] == 40 * US - 10_240_000
    assert sum(whole.parts.values()) == whole.latency_ps
    [at] = [found for queue, found in at_queues([one]).items() if queue == "leaf>client class 2"]
    assert (at.waited_ps, at.paused_frames, at.dropped) == ([40 * US], 1, 1)


def test_what_came_before_a_transaction_is_no_part_of_it() -> None:
    [one] = connections()
    whole, _ = taken_apart(transaction(20 * US, 90 * US), one)
    assert whole.parts == {OUTSIDE: 70 * US}, "the answer began before the request of this one"


def crossing(begun: int, delivered: int, size: int) -> Crossing:
    return Crossing(begun, delivered, size, (), delivered - begun, 0)


def test_the_time_until_a_repetition_is_told_apart_from_the_work_of_programs() -> None:
    one = Connection((0, 40_000), (1, 5432))
    # The server has an acknowledgement of its first frame; the second was dropped, and is sent
    # again 200 ms later.
    one.to[SERVER].extend([crossing(0, 10 * US, REQUEST), crossing(60 * US, 70 * US, ACK)])
    one.to[CLIENT].extend(
        [crossing(20 * US, 50 * US, ANSWER), crossing(200 * MS, 200 * MS + 30 * US, ANSWER)]
    )
    one.lost[CLIENT].append(Loss("leaf>client", 40 * US))
    whole, _ = taken_apart(transaction(0, 201 * MS), one)
    assert whole.parts[AFTER_DROP] == 200 * MS - 70 * US
    assert sum(whole.parts.values()) == 201 * MS
    one.lost[CLIENT].clear()
    assert AFTER_DROP not in taken_apart(transaction(0, 201 * MS), one)[0].parts


def test_a_request_that_was_dropped_whole_is_no_work_of_the_client() -> None:
    one = Connection((0, 40_000), (1, 5432))
    one.to[SERVER].append(crossing(30 * MS, 31 * MS, REQUEST))
    one.to[CLIENT].append(crossing(32 * MS, 33 * MS, ANSWER))
    one.lost[SERVER].append(Loss("leaf>db", MS))
    whole, _ = taken_apart(transaction(0, 33 * MS), one)
    assert whole.parts == {OUTSIDE: 2 * MS, AFTER_DROP: 29 * MS, "serialisation": 2 * MS}


def busy(client_port: int, shift: int) -> Connection:
    """A request every 10 ms, answered after 3 ms."""
    one = Connection((0, client_port), (1, 5432))
    for start in range(shift, shift + 100 * MS, 10 * MS):
        one.to[SERVER].append(crossing(start + 20 * US, start + 40 * US, REQUEST))
        one.to[CLIENT].append(crossing(start + 2 * MS, start + 3 * MS, ANSWER))
    return one


def users(count: int) -> list[Transaction]:
    return [
        transaction(start, start + 3 * MS + 50 * US, user)
        for user in range(count)
        for start in range(user * MS, user * MS + 100 * MS, 10 * MS)
    ]


def test_a_connection_is_that_of_the_user_whose_transactions_it_follows() -> None:
    found = [busy(40_002, 2 * MS), busy(40_000, 0), busy(40_001, MS)]
    of = connections_by_user(users(3), found, [])
    assert {user: one.client[1] for user, one in of.items()} == {0: 40_000, 1: 40_001, 2: 40_002}


def test_connections_that_cannot_be_told_apart_are_nobodys() -> None:
    found = [busy(40_000, 0), busy(40_001, 0), busy(40_002, 2 * MS)]
    of = connections_by_user(users(1) + [one for one in users(3) if one.user == 2], found, [])
    assert {user: one.client[1] for user, one in of.items()} == {2: 40_002}


def test_a_program_that_tells_its_ports_is_believed() -> None:
    found = [busy(40_000, 0), busy(40_001, MS)]
    of = connections_by_user(users(2), found, [40_001, 40_000])
    assert {user: one.client[1] for user, one in of.items()} == {0: 40_001, 1: 40_000}


@pytest.mark.parametrize("count", [1, 2])
def test_a_user_with_few_transactions_has_no_known_connection(count: int) -> None:
    few = users(2)[:count] + users(2)[-1:]
    assert connections_by_user(few, [busy(40_000, 0), busy(40_001, MS)], []) == {}


def test_frames_of_two_replays_that_overlap_are_taken_once(log: Log) -> None:
    until_ps = 10 * OVERLAP_PS
    times_ps = [until_ps - 9 * OVERLAP_PS // 10, until_ps - OVERLAP_PS // 10, until_ps + OVERLAP_PS]
    frames = {
        number: log.frames[0]._replace(id=number, handed_ps=at)
        for number, at in enumerate(times_ps)
    }
    hops = [
        Hop(number, "orders", 0, 266, at, at, at + US, at + US)
        for number, at in enumerate(times_ps)
    ]
    both = replace(
        log,
        frames={n: frames[n] for n in (0, 1)},
        hops={"client>leaf": hops[:2]},
        drops={},
        pauses={},
    )
    first = replace(both, windows_ps=[(0, 20 * OVERLAP_PS)], whole_until_ps=until_ps)
    second = replace(
        both,
        windows_ps=[(until_ps - OVERLAP_PS, 20 * OVERLAP_PS)],
        whole_until_ps=None,
        frames=frames,
        hops={"client>leaf": hops},
    )
    merged = merged_logs([first, second])
    assert sorted(merged.frames) == [0, 1, 2]
    assert [hop.frame for hop in merged.hops["client>leaf"]] == [0, 1, 2]
    assert merged.sockets == log.sockets


def test_queues_of_the_members_of_a_group_are_told_together() -> None:
    first = {"leaf>a": AtQueue([1, 2], 5, 1, 1), "leaf>b": AtQueue([9])}
    second = {"leaf>a": AtQueue([30], 7, 2, 3)}
    assert merged_queues([first, second]) == {
        "leaf>a": AtQueue([1, 2, 30], 12, 3, 4),
        "leaf>b": AtQueue([9]),
    }
    assert list(merged_queues([second, first])) == ["leaf>a", "leaf>b"], "the longest waits first"
    assert first["leaf>a"].waited_ps == [1, 2], "what is merged stays as it is"
