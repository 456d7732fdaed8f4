"""Which transactions are traced."""

import pytest

from tailrace.errors import RunRefusedError
from tailrace.results.causes.causes import Transaction
from tailrace.timeline.chosen import Chosen, at, by_id, slowest
from tailrace.timeline.simulate import apart

MS = 10**9


def transaction(start_ms: int, end_ms: int) -> Transaction:
    return Transaction(0, start_ms * MS, end_ms * MS, {}, 0, 0)


OF = {
    "a": [transaction(0, 9), transaction(10, 12)],
    "b": [transaction(11, 20), transaction(21, 22)],
}


def names(found: list[Chosen]) -> list[str]:
    return [each.name for each in found]


def test_the_slowest_of_all_workloads_after_the_warm_up_are_chosen() -> None:
    assert names(slowest(OF, 2, dict.fromkeys(OF, 0))) == ["a #0", "b #0"]
    assert names(slowest(OF, 2, dict.fromkeys(OF, 9 * MS))) == ["b #0", "a #1"]


def test_without_any_after_the_warm_up_it_is_refused() -> None:
    with pytest.raises(RunRefusedError, match="no transaction was complete after the warm-up"):
        slowest(OF, 1, dict.fromkeys(OF, 100 * MS))


def test_those_under_way_at_a_moment_are_chosen() -> None:
    assert names(at(OF, 11 * MS, 30 * MS)) == ["a #1", "b #0"]


def test_a_moment_without_any_names_the_next_start() -> None:
    with pytest.raises(
        RunRefusedError, match=r"under way at 9.5 ms \(hint: the next starts at 10 ms\)"
    ):
        at(OF, 95 * MS // 10, 30 * MS)


def test_a_moment_after_the_trial_is_refused() -> None:
    with pytest.raises(
        RunRefusedError, match=r"--at 31 ms is outside the trial \(hint: it ends at 30 ms\)"
    ):
        at(OF, 31 * MS, 30 * MS)


def test_a_number_needs_one_workload_that_has_it() -> None:
    assert names(by_id({"b": OF["b"]}, 1)) == ["b #1"]
    with pytest.raises(RunRefusedError, match="--id needs --workload"):
        by_id(OF, 0)
    with pytest.raises(RunRefusedError, match="numbers from 0 to 1"):
        by_id({"b": OF["b"]}, 2)


def test_a_window_begins_before_and_ends_after() -> None:
    (one,) = by_id({"b": OF["b"]}, 0)
    assert one.window_ps == (10_100_000_000, 20_900_000_000)
    (short,) = by_id({"b": [transaction(0, 1)]}, 0)
    assert short.window_ps == (0, 1_100_000_000)


def test_windows_that_touch_are_one() -> None:
    assert apart([(5, 6), (1, 3), (2, 4)]) == [(1, 4), (5, 6)]
