"""A live trial leaves the warm-up out of what it reports of workloads without end, and counts the
others whole."""

import json
from pathlib import Path
from typing import Any, cast

from tailrace.live.load import Task
from tailrace.live.programs.iperf3 import Iperf3, Iperf3Stream
from tailrace.programs.measured import MeasuredInterval
from tailrace.programs.series import Moved, bytes_after
from tailrace.programs.transactions import measured as measured_of
from tailrace.programs.work import Transaction, Work

BEGUN_US = 1_000_000
PS_PER_S = 10**12
MS = 10**9
RAW: dict[str, Any] = {
    "name": "orders",
    "users": 1,
    "transactions": 0,
    "warmup_transactions": 0,
    "round_trips": [{"response_bytes": 1000}],
}
STREAM: dict[str, Any] = {
    "name": "backup",
    "source": "a",
    "destination": "b",
    "connections": 1,
    "bytes": 0,
    "start_ps": 0,
    "stagger_ps": 0,
    "priority": 0,
}


LOG = [
    Transaction(0, number, BEGUN_US + start, BEGUN_US + start, BEGUN_US + start + 10 * number)
    for number, start in enumerate((0, 100, 195, 300), 1)
]


def measured(transactions: int, warm_up_s: float) -> Any:
    work = Work(RAW | {"transactions": transactions}, 1, {1000: 7})
    return measured_of(work, LOG, None, MeasuredInterval(BEGUN_US, 0.001, warm_up_s))


def test_transactions_that_ended_in_the_warm_up_are_left_out() -> None:
    found = measured(0, 0.0002)
    outcome = found.outcome
    assert (outcome.counted_from_ps, outcome.transactions, outcome.goodput_bytes) == (
        200 * 10**6,
        2,
        2000,
    )
    assert (outcome.latency and outcome.latency.count, outcome.latency.mean_ps) == (2, 35 * 10**6)
    assert [row.start_ps for row in found.rows] == [195 * 10**6, 300 * 10**6]
    assert len(found.moved) == 4, "the series shows the warm-up"


def test_a_number_to_do_is_counted_whole() -> None:
    outcome = measured(4, 0.0002).outcome
    assert (
        outcome.counted_from_ps,
        outcome.transactions,
        outcome.latency and outcome.latency.count,
    ) == (0, 4, 4)
    assert outcome.completion_ps == 340 * 10**6


def test_a_trial_that_ended_within_the_warm_up_counts_nothing() -> None:
    outcome = measured(0, 5.0).outcome
    assert (outcome.counted_from_ps, outcome.transactions, outcome.latency) == (MS, 0, None)


def test_bytes_of_the_interval_in_which_the_warm_up_ends_count_in_part() -> None:
    moved = [Moved(0, 100, 1000), Moved(100, 200, 1000), Moved(200, 300, 1000)]
    assert [bytes_after(moved, at) for at in (0, 100, 150, 300)] == [3000, 2000, 1500, 0]


def ran(tmp_path: Path, *, size: int = 0) -> Iperf3:
    """A pair that sent 10 kB in four seconds and was cut off there."""
    bulk = Iperf3Stream(Task(STREAM | {"bytes": size}, 1, 4))
    [pair] = bulk._pairs
    report = {
        "intervals": [
            {"sum": {"start": n, "end": n + 1, "bytes": 1000 * (n + 1)}} for n in range(4)
        ]
    }
    path = tmp_path / "server.out"
    path.write_text(json.dumps(report), encoding="utf-8")

    class Server:
        out_path = path

    bulk._servers[pair] = cast("Any", Server())
    bulk._clients[pair] = cast("Any", Server())
    bulk._begun_s[pair] = 0.0
    bulk._is_cut = True
    return bulk


def test_a_stream_without_end_counts_from_the_warm_up_on(tmp_path: Path) -> None:
    bulk = ran(tmp_path)
    whole, rest = (
        bulk.measured(MeasuredInterval(BEGUN_US, 4.0, warm)).outcome for warm in (0.0, 1.0)
    )
    assert (whole.goodput_bytes, whole.counted_from_ps) == (10_000, 0)
    assert (rest.goodput_bytes, rest.counted_from_ps) == (9_000, PS_PER_S)
    assert rest.cut_off.count == 0, "it has no end that it could have missed"


def test_a_stream_with_a_size_is_counted_whole_and_cut_off(tmp_path: Path) -> None:
    outcome = ran(tmp_path, size=1_000_000).measured(MeasuredInterval(BEGUN_US, 4.0, 1.0)).outcome
    assert (outcome.goodput_bytes, outcome.counted_from_ps, outcome.completion_ps) == (
        10_000,
        0,
        None,
    )
    assert (outcome.cut_off.count, outcome.cut_off.longest_ps) == (1, 4 * PS_PER_S)
