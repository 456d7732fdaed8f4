"""What waited before a wire."""

from dataclasses import replace

import pytest

from tailrace.timeline.log import Log
from tailrace.timeline.queues import behind, depth_at, depths

US = 1_000_000


def test_frames_wait_from_their_arrival_to_their_transmission(log: Log) -> None:
    found = [(at_ps // US, depth) for at_ps, depth in depths(log, "leaf>client")]
    assert found == [(0, 5000), (20, 0), (40, 5000), (45, 6066), (60, 1066), (100, 0)]


def test_the_queue_at_a_drop_is_what_waited_then(log: Log) -> None:
    assert depth_at(depths(log, "leaf>client"), 55 * US) == 6066
    assert depth_at(depths(log, "leaf>client"), -1) == 0


def test_classes_are_counted_apart(log: Log) -> None:
    assert depths(log, "leaf>client", class_=3) == depths(log, "leaf>client")
    assert depths(log, "leaf>client", class_=0) == []


def test_nothing_is_told_after_what_the_log_has_whole(log: Log) -> None:
    assert depths(replace(log, whole_until_ps=45 * US), "leaf>client")[-1] == (40 * US, 5000)


@pytest.mark.parametrize(
    ("from_us", "to_us", "expected"),
    [
        (45, 100, {"bulk": 55}),
        (15, 25, {"bulk": 5}),
        (90, 105, {"bulk": 10, "orders": 5}),
        (120, 200, {}),
    ],
)
def test_a_wait_is_behind_what_was_sent_meanwhile(
    log: Log, from_us: int, to_us: int, expected: dict[str, int]
) -> None:
    found = behind(log.hops["leaf>client"], from_us * US, to_us * US)
    assert {name: time // US for name, time in found.items()} == expected
