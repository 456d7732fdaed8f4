"""Weights of a scheduler are in the ratio of the shares, exactly where whole numbers can be."""

import pytest

from tailrace.scenario.policies.weights import ratio, weights


@pytest.mark.parametrize(
    ("shares", "expected"),
    [
        ((300_000_000, 700_000_000), (300, 700)),
        ((333_333_333,) * 3, (333, 333, 333)),
        ((66_666_666,) * 6 + (133_333_333, 466_666_666), (67,) * 6 + (134, 469)),
        ((318_181_818, 340_909_090, 340_909_090), (322, 345, 345)),
        ((123_400_000, 876_600_000), (123, 877)),
        ((1_000_000, 999_000_000), (1, 999)),
    ],
)
def test_weights_of_shares(shares: tuple[int, ...], expected: tuple[int, ...]) -> None:
    assert weights(shares) == expected


def test_two_of_fifteen_are_exactly_twice_one_of_fifteen() -> None:
    ones, two = (
        weights((66_666_666,) * 13 + (133_333_333,))[:13],
        weights((66_666_666,) * 13 + (133_333_333,))[13],
    )
    assert {2 * one for one in ones} == {two}


def test_a_ratio_is_the_smallest_one() -> None:
    assert ratio((400_000_000, 600_000_000), 100) == (2, 3)
    assert ratio((311_111_111, 333_333_333, 333_333_333, 22_222_222), 100) == (14, 15, 15, 1)
    assert ratio((123_400_000, 876_600_000), 100) is None
    assert ratio((0, 0), 100) is None
