"""Bisection and the sequential test, without a simulator."""

import random
from math import comb

import pytest

from tailrace.search.bisection import Bisected, bisect, steps_max
from tailrace.search.deciding import Tried
from tailrace.statistics.proportion import share_interval
from tailrace.statistics.sequential import SHARE, SequentialTest


def bisected(count: int, met: set[int]) -> tuple[Bisected, list[int]]:
    tried: list[int] = []

    def at(position: int) -> Tried:
        tried.append(position)
        return Tried((position,), {}, "", [], 0, 2, decision=position in met)

    return bisect(count, at), tried


@pytest.mark.parametrize("count", [2, 3, 10, 511])
def test_every_edge_is_found_with_no_more_settings_than_are_corrected_for(count: int) -> None:
    for edge in range(1, count, max(1, count // 40)):
        found, tried = bisected(count, set(range(edge, count)))
        assert (found.state, found.best, found.missed) == ("found", edge, edge - 1)
        assert not found.contradictions
        assert len(tried) == len(set(tried)) <= steps_max(count)


def test_a_setting_in_the_middle_that_meets_the_goal_alone_is_found_by_the_probes() -> None:
    found, _ = bisected(100, {33})
    assert (found.state, found.best) == ("found", 33)
    assert 99 in found.contradictions


def test_a_gap_above_what_was_found_is_told() -> None:
    found, _ = bisected(100, set(range(20, 100)) - {46, 73})
    assert found.best == 20
    assert found.contradictions == [46]


def test_a_clear_case_takes_two_trials_up_to_eighteen_decisions() -> None:
    assert [SequentialTest(0.05 / steps).lead for steps in (1, 15, 18, 19)] == [2, 2, 2, 3]
    test = SequentialTest(0.05 / 15)
    assert [test.decide(*counts) for counts in ((1, 0), (2, 0), (0, 2), (3, 2), (4, 2))] == [
        None,
        True,
        False,
        None,
        True,
    ]


def test_the_error_is_at_most_the_stated_one() -> None:
    test, draws = SequentialTest(0.02), random.Random(1)
    wrong = 0
    for _ in range(20_000):
        held = failed = 0
        while (decision := test.decide(held, failed)) is None:
            is_held = draws.random() < 1 - SHARE
            held, failed = held + is_held, failed + (not is_held)
        wrong += decision
    assert wrong / 20_000 <= 0.02


def test_the_interval_of_a_share_covers_at_its_level() -> None:
    assert share_interval(6, 6).low == pytest.approx(0.05 ** (1 / 6))
    for share in (0.1, 0.37, 0.9):
        covered = sum(
            comb(8, held) * share**held * (1 - share) ** (8 - held)
            for held in range(9)
            if share_interval(held, 8).low <= share <= share_interval(held, 8).high
        )
        assert covered >= 0.9
