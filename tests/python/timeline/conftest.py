"""A log made by hand: a request and a response of two segments, of which one is lost, beside a bulk
transfer."""

import pytest

from tailrace.timeline.log import (
    Drop,
    Frame,
    Hop,
    Log,
    Members,
    PathInterval,
    Pause,
    Socket,
    SocketSample,
)

US = 1_000_000
"""Picoseconds."""
ACK = 2
SENT_AT_US = {0: 10, 1: 30, 2: 30, 3: 230, 4: 260}


def frame(
    number: int, sender: int, payload: int, *, delivered_us: int | None, **more: object
) -> Frame:
    """A frame with what the tests do not ask about."""
    at_us = SENT_AT_US[number]
    values: dict[str, object] = {
        "id": number,
        "sender": sender,
        "handed_ps": at_us * US,
        "delivered_ps": None if delivered_us is None else delivered_us * US,
        "prior": None,
        "prior_part": None,
        "repeats": None,
        "seq": 1,
        "ack": 1,
        "window_bytes": 200_000,
        "flags": ACK,
        "ecn": 0,
        "dscp": 10,
        "priority": 3,
        "vlan": 0,
        "tag_bytes": 0,
        "frame_bytes": 66 + payload,
        "payload_bytes": payload,
        "sack": (),
    }
    return Frame(**{**values, **more})  # type: ignore[arg-type]  # values are those of the fields


def hop(
    number: int | None,
    times_us: tuple[int | None, int, int],
    size: int = 1066,
    workload: str = "orders",
) -> Hop:
    since, start, end = times_us
    since_ps = None if since is None else since * US
    return Hop(number, workload, 3, size, since_ps, start * US, end * US, (end + 5) * US)


@pytest.fixture
def log() -> Log:
    frames = [
        frame(0, 0, 200, delivered_us=28),
        frame(1, 1, 1000, delivered_us=120, prior=0, prior_part="server_work", ack=201),
        frame(2, 1, 1000, delivered_us=None, prior=0, prior_part="server_work", seq=1001, ack=201),
        frame(
            3,
            1,
            1000,
            delivered_us=255,
            prior=2,
            prior_part="timeout",
            repeats=2,
            seq=1001,
            ack=201,
        ),
        frame(4, 0, 0, delivered_us=280, prior=3, prior_part="delayed_ack", seq=201, ack=2001),
    ]
    return Log(
        windows_ps=[(0, 300 * US)],
        sockets=[Socket("orders", 7, "client", 0, 40_000), Socket("orders", 7, "server", 1, 5432)],
        frames={each.id: each for each in frames},
        hops={
            "client>leaf": [hop(0, (10, 10, 12), 266), hop(4, (260, 260, 261), 66)],
            "leaf>server": [hop(0, (17, 17, 19), 266), hop(4, (266, 266, 267), 66)],
            "server>leaf": [hop(1, (30, 30, 40)), hop(2, (30, 40, 50)), hop(3, (230, 230, 240))],
            "leaf>client": [
                hop(None, (None, 20, 60), 5000, "bulk"),
                hop(None, (40, 60, 100), 5000, "bulk"),
                hop(1, (45, 100, 110)),
                hop(3, (245, 245, 250)),
            ],
        },
        drops={"leaf>client": [Drop(2, "orders", 3, 1066, 55 * US, 55 * US, "tail-drop")]},
        marks={},
        pauses={"leaf>client": [Pause(70 * US, 3, 100)]},
        samples={
            1: [
                SocketSample(30 * US, 14_480, 2000, 0, 0, 0, 0),
                SocketSample(230 * US, 1448, 1000, 0, 1, 0, 1),
            ]
        },
        steps={
            ("orders", 12): [
                PathInterval("wait_to_start", 8 * US, 10 * US, None),
                PathInterval("timeout", 10 * US, 230 * US, None),
                PathInterval("switch_queue", 230 * US, 255 * US, "leaf>client"),
            ]
        },
        rates_bps=dict.fromkeys(
            ("client>leaf", "leaf>client", "server>leaf", "leaf>server"), 10**9
        ),
        left_out=0,
        whole_until_ps=None,
        members={("orders", 12): Members(0, 3, frozenset({0, 1, 2, 3}))},
    )
