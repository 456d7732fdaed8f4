"""What runs when a live trial ends: told with how long it had waited, from the log of transactions
that end later."""

from typing import Any

from tailrace.programs.measured import MeasuredInterval
from tailrace.programs.series import cut_off_table
from tailrace.programs.transactions import measured
from tailrace.programs.work import Transaction, Work

BEGUN_US = 1_000_000
RAW: dict[str, Any] = {
    "name": "orders",
    "users": 3,
    "transactions": 0,
    "warmup_transactions": 1,
    "round_trips": [{"response_bytes": 18_000}],
}


def one(user: int, number: int, intended_us: int, ended_us: int) -> Transaction:
    return Transaction(
        user, number, BEGUN_US + intended_us, BEGUN_US + intended_us, BEGUN_US + ended_us
    )


def test_a_transaction_that_ends_after_the_trial_is_cut_off() -> None:
    log = [
        one(0, 2, 100, 200),
        one(0, 3, 300, 5_000),  # runs at the end
        one(1, 2, 900, 1_000),  # ends with the trial
        one(1, 3, 1_500, 2_000),  # begins later
        one(2, 1, 100, 4_000),  # of the warm-up
    ]
    found_all = measured(Work(RAW, 1, {18_000: 7}), log, None, MeasuredInterval(BEGUN_US, 0.001))
    assert found_all.outcome.transactions == 2
    found = found_all.outcome.cut_off
    assert (found.count, found.longest_ps) == (1, 700 * 10**6)
    [(edge, count)] = found.buckets
    assert (count, 700 * 10**6 <= edge <= 701 * 10**6) == (1, True)
    [row] = found_all.cut_off
    assert (row.user, row.start_ps, row.latency_ps) == (0, 300 * 10**6, 700 * 10**6)
    assert list(cut_off_table([found_all.cut_off], 10)) == [
        "workload",
        "user",
        "start_ps",
        "waited_ps",
    ]
