"""Ranges: values with units, and what is wrong with others."""

from itertools import pairwise

import pytest

from tailrace.scenario.text.extent import parse_extent
from tailrace.scenario.text.units import SIZE, QuantityError, parse


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("100kB..16MB", ["100kB", "105kB"], "16MB"),
        ("1..4", [1, 2, 3, 4], 4),
        ("10%..90%", ["10%", "14.44%"], "90%"),
        ("750us..12ms", ["750us", "787.4us"], "12ms"),
        ("0.75ms..12ms", ["0.75ms", "0.7874ms"], "12ms"),
        ("0.1..8", [0.1, 0.105], 8.0),
        ("0B..10kB", ["0B", "500B"], "10kB"),
        ("10 frames..1000 frames", ["10 frames", "11 frames"], "1000 frames"),
    ],
)
def test_values_have_the_units_of_the_ends(text: str, first: list[object], last: object) -> None:
    values = parse_extent(text).values(0.05)
    assert values[: len(first)] == first
    assert values[-1] == last


def test_neighbours_are_as_close_as_asked_and_whole_in_the_plan() -> None:
    numbers = [parse(value, SIZE) for value in parse_extent("8KiB..64MiB").values(0.01)]
    assert numbers == sorted(set(numbers))
    assert max(after / before for before, after in pairwise(numbers)) < 1.012


def test_a_value_is_found_again_at_its_share() -> None:
    for text in ("100kB..16MB", "20..28", "10%..90%"):
        extent = parse_extent(text)
        assert [
            extent.share_of(extent.number_of(extent.at(share))) for share in (0, 0.5, 1)
        ] == pytest.approx([0, 0.5, 1], abs=1e-3)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("16MB..100kB", "16MB is above 100kB"),
        ("1MB..5ms", "1MB is a size and 5ms a time"),
        ("1KB..2kB", "'KB' is no unit"),
        ("1..2..3", "is no range"),
        ("5MB..5MB", "both ends are 5MB"),
        ("-1..5", "is negative"),
        ("1..5MB", "1 has no unit"),
    ],
)
def test_what_is_wrong_with_a_range_is_said(text: str, told: str) -> None:
    with pytest.raises(QuantityError, match=told.replace("(", r"\(")):
        parse_extent(text)
