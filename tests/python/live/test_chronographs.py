"""What limits live connections, from the words of `ss`."""

from typing import Any

import pytest
from msgspec import to_builtins

from tailrace.live.measure.chronographs import Chronographs, busy_permille, parse
from tailrace.live.measure.closings import Meant

MEANT = Meant(
    "a", "10.77.0.1", frozenset(), "b", "10.77.0.2", frozenset({5201}), server_sends=False, count=1
)
SENDER = "0 4344 10.77.0.1:40000 10.77.0.2:5201\n"
RECEIVER = "0 0 10.77.0.2:5201 10.77.0.1:40000\n"


def ss(ends: str, unread: int = 0, sent: int = 0, queued: int = 0, **told: Any) -> str:
    """As iproute2 6.1 writes it."""
    more = " ".join(f"{name}:{value}" for name, value in told.items())
    memory = f"skmem:(r{unread},rb131072,t{sent},tb90000,f0,w{queued},o0,bl0,d0)"
    return f"{ends}\t {memory} cubic mss:1000 wscale:7,7 rto:204 {more}\n"


def shares(looks: list[tuple[float, str, str]], warm_up_s: float = 0.0) -> dict[str, int]:
    chronographs = Chronographs(warm_up_s)
    for at_s, sender, receiver in looks:
        chronographs.sample("a", at_s, sender)
        chronographs.sample("b", at_s, receiver)
    found = chronographs.of(MEANT)
    assert found is not None
    return {name: ps // 10**9 for name, ps in to_builtins(found).items()}


def test_the_kernels_chronographs_are_taken_between_looks() -> None:
    before = ss(SENDER, busy="100ms", rwnd_limited="90ms(90.0%)", data_segs_out=10)
    after = ss(
        SENDER,
        busy="1100ms",
        rwnd_limited="990ms(90.0%)",
        sndbuf_limited="10ms(1.0%)",
        data_segs_out=90,
    )
    found = shares([(1.0, before, ss(RECEIVER)), (2.0, after, ss(RECEIVER))])
    assert (found["open_ps"], found["receive_window_ps"], found["send_buffer_ps"]) == (
        1000,
        900,
        10,
    )
    assert found["reader_late_ps"] == 0


@pytest.mark.parametrize(
    ("told", "name"),
    [
        ({"notsent": 5, "cwnd": 30, "unacked": 20}, "congestion_ps"),
        ({"notsent": 5, "cwnd": 30, "unacked": 20, "sent": 11_000}, "interface_ps"),
        ({"notsent": 5, "cwnd": 30, "unacked": 19, "queued": 60_000}, "send_buffer_ps"),
        ({"cwnd": 30, "unacked": 20, "queued": 60_000}, "send_buffer_ps"),
        ({"notsent": 5, "cwnd": 30, "unacked": 20, "retrans": "1/4"}, "recovery_ps"),
        ({"notsent": 5, "cwnd": 30, "unacked": 20, "lost": 2}, "recovery_ps"),
    ],
)
def test_the_rest_goes_by_what_the_connection_looks_like(told: dict[str, Any], name: str) -> None:
    looks = [
        (1.0, ss(SENDER), ss(RECEIVER)),
        (2.0, ss(SENDER, busy="800ms", data_segs_out=5, **told), ss(RECEIVER)),
    ]
    assert shares(looks)[name] == 800


def test_a_sender_without_more_to_send_and_a_reader_that_is_late() -> None:
    looks = [
        (1.0, ss(SENDER), ss(RECEIVER)),
        (2.0, ss(SENDER, busy="800ms", data_segs_out=5), ss(RECEIVER, 70_000)),
    ]
    found = shares(looks)
    assert sum(found[f"{name}_ps"] for name in ("congestion", "interface", "recovery")) == 0
    assert found["reader_late_ps"] == 1000


def test_what_was_before_the_warm_up_ended_does_not_count() -> None:
    looks = [
        (
            at_s,
            ss(
                SENDER,
                busy=f"{at_s * 1000:.0f}ms",
                data_segs_out=5,
                rwnd_limited=f"{at_s * 1000:.0f}ms",
            ),
            "",
        )
        for at_s in (0.5, 1.0, 3.0)
    ]
    assert shares(looks, warm_up_s=1.0)["receive_window_ps"] == 2000


def test_a_control_connection_does_not_count() -> None:
    other = "0 0 10.77.0.1:40001 10.77.0.2:5201\n"
    looks = [
        (1.0, ss(SENDER) + ss(other), ""),
        (
            2.0,
            ss(SENDER, busy="1000ms", data_segs_out=900) + ss(other, busy="4ms", data_segs_out=3),
            "",
        ),
    ]
    assert shares(looks)["open_ps"] == 1000
    assert Chronographs(0).of(MEANT) is None


def test_waiting_and_programs() -> None:
    [(_, looked)] = parse(ss(SENDER, rtt="4.0/0.2", minrtt="1"))
    assert looked.waiting_share == 0.75
    assert (busy_permille([0.5, 0.9], 1.0), busy_permille([], 1.0), busy_permille([1.0], 0.0)) == (
        900,
        0,
        0,
    )
