"""Explained transactions: by workload, by percentile, in words."""

from typing import Any

import pytest

from tailrace.outcome.types import Outcome
from tailrace.results.causes.bands import bands
from tailrace.results.causes.causes import OF_SWITCHES, PARTS, Causes, Transaction
from tailrace.results.causes.counted import counted_from_ps
from tailrace.results.causes.sentence import lost_sentence, sentence, slowest_of
from tailrace.results.summary.causes import LostDatagrams
from tailrace.results.text.causes import causes_text
from whole import part

MS = 10**9
PLAN = {
    "workloads": [{"header": {"name": "orders"}}, {"header": {"name": "backup"}}],
    "links": [{"a": "h1", "b": "leaf"}, {"a": "leaf", "b": "h2"}],
}

QUEUE = PARTS.index("switch_queue")
DROPPED_BY = ["receive_ring", "tail-drop"]


def tables(**parts: list[int]) -> dict[str, dict[str, list[int]]]:
    """Two transactions of 10 and 4 ms: of users 1 and 0 of `orders`, the second later."""
    causes = {f"{part}_ps": parts.get(part, [0, 0]) for part in PARTS}
    causes |= {
        "workload": [0, 0],
        "user": [1, 0],
        "start_ps": [0, 2 * MS],
        "end_ps": [10 * MS, 6 * MS],
    }
    causes |= {"windowed_ps": [9 * MS, 0], "window_rounds": [2, 0], "receive_windowed_ps": [0, 0]}
    return {
        "causes": causes,
        "causes_queues": {
            "transaction": [0, 0],
            "part": [QUEUE, QUEUE],
            "wire": [1, 2],
            "class": [0, 0],
            "time_ps": [MS, 7 * MS],
        },
        "causes_behind": {
            "transaction": [0, 0],
            "part": [QUEUE, QUEUE],
            "workload": [1, 2**32 - 1],
            "time_ps": [6 * MS, 2 * MS],
        },
        "causes_losses": {"transaction": [0], "wire": [2], "by": [1], "at_ps": [3 * MS]},
        "causes_lost": {
            "workload": [0, 0, 1],
            "wire": [2, 2, 1],
            "by": [0, 1, 1],
            "datagrams": [2, 40, 1],
        },
    }


def explained() -> list[Transaction]:
    sums = tables(switch_queue=[8 * MS, 0], timeout=[2 * MS, 0], server_work=[0, 4 * MS])
    return Causes(sums, PLAN, DROPPED_BY).by_workload["orders"]


def test_rows_of_all_tables_meet_in_their_transaction() -> None:
    slow, quick = explained()
    assert (slow.latency_ps, slow.queues) == (10 * MS, {"leaf>h1": MS, "leaf>h2": 7 * MS})
    assert slow.behind == {"backup": 6 * MS, OF_SWITCHES: 2 * MS}
    assert [(loss.port, loss.at_ps) for loss in slow.losses] == [("leaf>h2", 3 * MS)]
    assert (quick.parts, quick.queues, quick.losses) == ({"server_work": 4 * MS}, {}, [])


def test_parts_that_are_not_the_latency_are_an_error() -> None:
    with pytest.raises(ValueError, match="transaction 1"):
        _ = Causes(
            tables(switch_queue=[10 * MS, 0], server_work=[0, 4 * MS - 1]), PLAN, DROPPED_BY
        ).by_workload


def test_a_sentence_tells_parts_culprit_loss_and_window() -> None:
    slow, quick = explained()
    assert sentence(slow) == (
        "10 ms from 0 s, user 1: 80 % queues of switches (most at leaf>h2; 75 % of that behind "
        "backup), 20 % until a retransmission timeout. A frame was dropped before leaf>h2 "
        "(tail-drop) at 3 ms. 90 % of it in 2 round trips in which bytes waited for a window."
    )
    assert sentence(quick) == "4 ms from 2 ms, user 0: 100 % work of the server."


def test_a_sentence_tells_which_frames_a_receive_ring_dropped() -> None:
    sums = tables(timeout=[10 * MS, 0], server_work=[0, 4 * MS])
    sums["causes_losses"] = {
        "transaction": [0, 0],
        "wire": [2, 2],
        "by": [0, 1],
        "at_ps": [3 * MS, MS],
    }
    slow, _ = Causes(sums, PLAN, DROPPED_BY).by_workload["orders"]
    expected = (
        "2 frames were dropped before leaf>h2 (tail-drop), by the receive ring behind leaf>h2, "
        "the first at 1 ms."
    )
    assert expected in sentence(slow)


def test_lost_datagrams_are_told_with_their_places() -> None:
    lost = Causes(tables(switch_queue=[10 * MS, 0], server_work=[0, 4 * MS]), PLAN, DROPPED_BY).lost
    assert lost_sentence(lost["orders"]) == (
        "42 datagrams were lost and have no latency: 40 before leaf>h2 (tail-drop), 2 by the "
        "receive ring behind leaf>h2."
    )
    assert (
        lost_sentence(lost["backup"])
        == "1 datagram was lost and has no latency: 1 before leaf>h1 (tail-drop)."
    )
    assert lost_sentence([]) == ""
    many = [
        LostDatagrams(port=f"leaf>h{number}", by="tail-drop", datagrams=9 - number)
        for number in range(6)
    ]
    assert lost_sentence(many).endswith("6 before leaf>h3 (tail-drop), 9 elsewhere.")
    text = causes_text("base", "orders", explained(), [], lost["orders"])
    assert "42 datagrams were lost" in text


def test_a_class_is_named_with_its_port_and_a_window_of_the_receiver_as_such() -> None:
    sums = tables(switch_queue=[8 * MS, 0], timeout=[2 * MS, 0], server_work=[0, 4 * MS])
    sums["causes_queues"]["class"] = [0, 3]
    sums["causes"]["receive_windowed_ps"] = [3 * MS, 0]
    slow, _ = Causes(sums, PLAN, DROPPED_BY).by_workload["orders"]
    assert slow.queues == {"leaf>h1": MS, "leaf>h2 class 3": 7 * MS}
    assert sentence(slow).endswith(
        "in which bytes waited for a window (33 % of that for the receiver's)."
    )


def one(latency_ps: int, **parts: int) -> Transaction:
    return Transaction(0, 0, latency_ps, dict(parts), 0, 0)


@pytest.mark.parametrize(
    ("count", "expected"),
    [
        (1, [("max", 1)]),
        (2, [("p50", 1), ("max", 1)]),
        (11, [("p50", 6), ("p90", 4), ("max", 1)]),
        (1000, [("p50", 500), ("p90", 400), ("p99", 90), ("p99.9", 9), ("max", 1)]),
    ],
)
def test_every_transaction_is_in_one_band(count: int, expected: list[tuple[str, int]]) -> None:
    found = bands([one(number, propagation=number) for number in range(count, 0, -1)])
    assert [(band.name, band.count) for band in found] == expected
    assert sum(band.count * band.latency_ps for band in found) == pytest.approx(
        count * (count + 1) / 2
    )
    assert all(band.parts["propagation"] == band.latency_ps for band in found)


def test_a_part_of_some_is_a_mean_over_all_of_its_band() -> None:
    (band,) = bands([one(4, probe=4)])
    assert band.parts == {"probe": 4}
    lower, _ = bands(
        [one(2, probe=2), one(2, propagation=2), one(9, propagation=9), one(8, propagation=8)]
    )
    assert lower.parts == {"probe": 1, "propagation": 1}


def test_the_table_has_what_takes_time_and_no_empty_rows() -> None:
    text = causes_text("base", "orders", explained(), slowest_of(explained(), 1))
    lines: dict[str, Any] = {line[:24].strip(): line[24:].split() for line in text.splitlines()}
    assert lines["behind backup"] == ["–", "6", "ms", "60", "%"]
    assert lines["at leaf>h2"] == ["–", "7", "ms", "70", "%"]
    assert "serialisation" not in text
    assert text.count("\n- ") == 1


def test_a_plan_of_one_workload_has_no_others() -> None:
    assert Causes(tables(), PLAN, DROPPED_BY).names_of(["gone", "backup"]) == ["backup"]


def test_a_column_of_times_that_has_no_words_is_a_part_by_its_name() -> None:
    sums = tables(switch_queue=[8 * MS, 0], server_work=[0, 4 * MS])
    sums["causes"] = {"pause_of_a_class_ps": [2 * MS, 0], **sums["causes"]}
    slow, _ = Causes(sums, PLAN, DROPPED_BY).by_workload["orders"]
    assert slow.parts == {"switch_queue": 8 * MS, "pause_of_a_class": 2 * MS}
    assert "20 % pause of a class." in sentence(slow)
    assert "pause of a class" in causes_text("fifo", "orders", [slow], [])


def test_each_workload_is_counted_from_its_own_moment() -> None:
    parts: dict[str, Any] = {
        "counted_from_ps": 5 * MS,
        "workloads": [
            {"name": "endless", "counted_from_ps": 5 * MS},
            {"name": "finite", "counted_from_ps": 0},
        ],
    }
    assert [
        counted_from_ps(part(Outcome, **parts), name) for name in ("endless", "finite", "gone")
    ] == [5 * MS, 0, 0]
