"""Bisection and its conclusions, without a simulator."""

from collections.abc import Collection

import pytest

from tailrace.results.summary.expectation import End
from tailrace.search.bisection import Bisected, bisect, concluded, steps_max
from tailrace.search.deciding import Tried
from tailrace.search.rule import rule_of


def bisected(
    count: int, met: set[int], undecided: Collection[int] = (), *, centre: int = 0
) -> tuple[Bisected, list[int]]:
    """Settings are the better the nearer they are to `centre`."""

    def excess(one: Tried) -> float:
        return abs(one.positions[0] - centre)

    tried: list[int] = []

    def at(position: int) -> Tried:
        tried.append(position)
        end: End = (
            "undecided" if position in undecided else "meets" if position in met else "misses"
        )
        return Tried((position,), {}, "", [], 6, end)

    return concluded(bisect(count, at, excess)), tried


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


def test_undecided_settings_are_neither_met_nor_missed() -> None:
    found, _ = bisected(10, {7, 8, 9}, undecided={4, 5, 6})
    assert (found.state, found.best) == ("found", 7)
    assert found.missed is not None
    assert found.missed <= 3
    assert set(found.undecided) <= {4, 5, 6}
    assert not found.contradictions


def test_a_worse_setting_that_is_undecided_contradicts_nothing() -> None:
    found, _ = bisected(5, {1, 2, 4}, undecided={3})
    assert (found.best, found.undecided, found.contradictions) == (1, [3], [])
    assert found.state == "found", "not every setting that was tried meets the goal"


def test_where_nothing_is_certain_nothing_is_met() -> None:
    found, _ = bisected(4, set(), undecided={0, 1, 2, 3})
    assert (found.state, found.best, found.missed, len(found.undecided)) == ("none", None, None, 4)


def test_the_error_of_a_setting_is_shared_by_its_looks() -> None:
    assert rule_of(0.05, 16).looks == (6, 8, 12, 16)
    assert rule_of(0.05, 10).looks == (6, 8, 10)
    assert rule_of(0.05, 4).looks == (4,)
    assert rule_of(0.05, 30).looks == (6, 8, 12, 16, 24, 30)
    assert rule_of(0.05, 16, is_early=True).looks == (3, 6, 8, 12, 16)
    assert rule_of(0.05, 16).error_of_look == pytest.approx(0.05 / 4)
    later = rule_of(0.05, 16).from_trials(9)
    assert later.looks == (9, 12, 16)
    assert later.error_of_look == pytest.approx(0.05 / 4)


def test_a_goal_that_is_met_between_two_ends_that_miss_it_is_found() -> None:
    found, tried = bisected(580, set(range(350, 361)), centre=355)
    assert found.best is not None
    assert found.missed is not None
    assert 350 <= found.best <= 360
    assert found.contradictions[-1] == 579, "the largest misses it"
    assert len(tried) <= steps_max(580)


def test_ends_that_are_nearest_to_the_goal_are_not_looked_behind() -> None:
    found, tried = bisected(580, set(), centre=1000)
    assert found.state == "none"
    assert len(tried) == 4
