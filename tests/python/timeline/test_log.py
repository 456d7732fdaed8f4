"""The log is what the tables of the simulator say."""

from collections.abc import Sequence

from tailrace.results.causes.causes import (
    OF_SWITCHES,
    PARTS,
)
from tailrace.timeline.log import (
    INTERFACE,
    NONE_32,
    NONE_64,
    Members,
    PathInterval,
    Pause,
    Socket,
    read_log,
)

PLAN = {
    "hosts": [{"name": "client"}, {"name": "server"}],
    "links": [
        {"a": "client", "b": "leaf", "rate_bps": 10**9},
        {"a": "server", "b": "leaf", "rate_bps": 10**10},
    ],
    "workloads": [{"header": {"name": "bulk"}}, {"header": {"name": "orders"}}],
}
OF = ("frame", "workload", "class", "bytes")
HEADER = (
    "seq",
    "ack",
    "window_bytes",
    "flags",
    "ecn",
    "dscp",
    "priority",
    "vlan",
    "tag_bytes",
    "frame_bytes",
)
BLOCKS = (
    "sack0_offset",
    "sack0_bytes",
    "sack1_offset",
    "sack1_bytes",
    "sack2_offset",
    "sack2_bytes",
)
FRAME = (
    "id",
    "to_socket",
    "handed_ps",
    "delivered_ps",
    "prior",
    "prior_part",
    "repeats",
    *HEADER,
    "payload_bytes",
    *BLOCKS,
)
LOOK = (
    "at_ps",
    "socket",
    "cwnd_bytes",
    "in_flight_bytes",
    "unsent_bytes",
    "timeouts",
    "probes",
    "retransmits",
)
WHOLE_HEADER = (1, 1001, 65_535, 2, 0, 0, 0, 0, 0, 66)
MINUS_200 = 2**32 - 200


def table(names: Sequence[str], *rows: Sequence[int]) -> dict[str, list[int]]:
    return {name: [row[place] for row in rows] for place, name in enumerate(names)}


TABLES = {
    "causes": table(("workload", "user", "start_ps"), (1, 3, 5), (1, 4, 6)),
    "timeline_sockets": table(
        ("workload", "user", "host", "port"), (1, 4, 0, 40_000), (1, 4, 1, 5432)
    ),
    "timeline_frames": table(
        FRAME,
        (
            7,
            1,
            10,
            NONE_64,
            NONE_64,
            NONE_32,
            NONE_64,
            *WHOLE_HEADER,
            0,
            1000,
            500,
            MINUS_200,
            100,
            0,
            0,
        ),
        (8, 0, 20, 30, 7, 2, 7, *WHOLE_HEADER, 100, 0, 0, 0, 0, 0, 0),
    ),
    "timeline_hops": table(
        (*OF, "wire", "since_ps", "start_ps", "end_ps", "arrival_ps"),
        (NONE_64, NONE_32, 0, 60, 3, 40, 50, 60, 70),
        (7, 1, 2, 66, 3, NONE_64, 20, 30, 40),
    ),
    "timeline_drops": table(
        (*OF, "wire", "since_ps", "at_ps", "cause"),
        (7, 1, 2, 66, 1, 5, 6, 1),
        (NONE_64, 0, 2, 66, 0, 5, 6, NONE_32),
    ),
    "timeline_marks": table((*OF, "wire", "at_ps"), (NONE_64, 0, 1, 1500, 1, 9)),
    "timeline_pauses": table(("wire", "at_ps", "class", "quanta"), (2, 8, 3, 100)),
    "timeline_looks": table(LOOK, (9, 1, 10, 11, 12, 0, 1, 2)),
    "timeline_steps": table(
        ("transaction", "part", "from_ps", "to_ps", "wire"),
        (1, PARTS.index("switch_queue"), 6, 7, 2),
        (1, 0, 7, 9, NONE_32),
    ),
    "timeline_transactions": table(
        ("transaction", "first_frame", "last_frame"), (1, 7, 8), (0, NONE_64, NONE_64)
    ),
    "timeline_members": table(("transaction", "frame"), (1, 7), (1, 8)),
    "timeline_left_out": table(("rows", "from_ps", "connections", "cores"), (2, 55, 3, 0)),
}
LOG = read_log(TABLES, PLAN, [(0, 100)], ["tail-drop", "buffer-full"])


def test_frames_have_the_socket_that_sent_them_and_what_they_followed() -> None:
    first, second = LOG.frames[7], LOG.frames[8]
    assert (first.sender, first.delivered_ps, first.prior, first.prior_part, first.repeats) == (
        0,
        None,
        None,
        None,
        None,
    )
    assert (second.sender, second.delivered_ps, second.prior, second.prior_part) == (
        1,
        30,
        7,
        "server_work",
    )
    assert second.repeats == 7


def test_blocks_are_edges_in_the_stream() -> None:
    assert LOG.frames[7].sack == ((2001, 2501), (801, 901)), (
        "a block may lie below what is acknowledged"
    )
    assert LOG.frames[8].sack == ()


def test_hops_stand_at_their_wires_in_the_order_of_transmission() -> None:
    assert [(hop.frame, hop.workload, hop.since_ps) for hop in LOG.hops["leaf>server"]] == [
        (7, "orders", None),
        (None, OF_SWITCHES, 40),
    ]
    assert LOG.rates_bps["leaf>server"] == 10**10


def test_drops_have_their_causes() -> None:
    assert LOG.drops["leaf>client"][0].cause == "buffer-full"
    assert LOG.drops["client>leaf"][0].cause == INTERFACE


def test_the_rest_stands_where_it_happened() -> None:
    assert LOG.marks["leaf>client"][0].workload == "bulk"
    assert LOG.pauses == {"server>leaf": [Pause(8, 3, 100)]}
    assert LOG.samples[1][0].retransmits == 2
    assert LOG.sockets == [
        Socket("orders", 4, "client", 0, 40_000),
        Socket("orders", 4, "server", 1, 5432),
    ]
    assert (LOG.left_out, LOG.whole_until_ps, LOG.connections_left_out) == (2, 55, 3)


def test_frames_are_found_by_their_transaction() -> None:
    assert LOG.members == {
        ("orders", 1): Members(7, 8, frozenset({7, 8})),
        ("orders", 0): Members(None, None, frozenset()),
    }


def test_steps_are_found_by_their_transaction() -> None:
    assert LOG.steps == {
        ("orders", 1): [
            PathInterval("switch_queue", 6, 7, "server>leaf"),
            PathInterval("wait_to_start", 7, 9, None),
        ]
    }
