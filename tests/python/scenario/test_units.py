"""Quantities: exact, with their unit, or refused with a hint."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tailrace.scenario.schema import quantity_text
from tailrace.scenario.text import units
from tailrace.scenario.text.units import (
    OFFSET,
    RATE,
    SHARE,
    SIZE,
    TIME,
    Dimension,
    QuantityError,
    parse,
)

pytestmark = pytest.mark.smoke


@pytest.mark.parametrize(
    ("text", "dimension", "expected"),
    [
        ("8ms", TIME, 8 * 10**9),
        ("0.5us", TIME, 500_000),
        ("1.5 µs", TIME, 1_500_000),
        ("5min", TIME, 300 * 10**12),
        ("0s", TIME, 0),
        ("18kB", SIZE, 18_000),
        ("64KiB", SIZE, 65_536),
        ("1.5MB", SIZE, 1_500_000),
        ("10Gbit/s", RATE, 10**10),
        ("2.5 Gbps", RATE, 2_500_000_000),
        ("20ppm", OFFSET, 20_000),
        ("33%", SHARE, 330_000_000),
        ("0.1%", SHARE, 1_000_000),
        ("4096 frames", units.FRAMES, 4096),
        ("0.2ns", units.FINE_TIME, 200_000),
    ],
)
def test_a_quantity_is_its_exact_number_in_the_unit_of_the_plan(
    text: str, dimension: Dimension, expected: int
) -> None:
    assert parse(text, dimension) == expected


@pytest.mark.parametrize(
    ("value", "dimension", "what", "hint"),
    [
        (5, TIME, "5 has no unit", "5ms"),
        ("1e999999999Gbit/s", RATE, "too many digits", "10Gbit/s"),
        ("9" * 5000 + "ms", TIME, "too many digits", "8ms"),
        ("5", TIME, "5 has no unit", "5ms"),
        (10.0, RATE, "has no unit", "10.0Gbit/s"),
        ("18KB", SIZE, "'KB' is not a unit of size", "KiB"),
        ("10GB/s", RATE, "'GB/s' is not a unit", "multiply bytes by 8"),
        ("10gbit/s", RATE, "is not a unit", "10Gbit/s"),
        ("8 sec", TIME, "'sec' is not a unit", "8s"),
        ("-8ms", TIME, "negative", "8ms"),
        (-1, RATE, "-1 is negative", "10Gbit/s"),
        ("eight ms", TIME, "not a time", "8ms"),
        ("0.1ps", TIME, "not a whole number of picoseconds", "round"),
        ("1.5B", SIZE, "not a whole number of bytes", "round"),
        ("9999999h", TIME, "too large", "limit"),
        (True, SIZE, "true is not a size", "18kB"),
        (None, SIZE, "nothing is not a size", "18kB"),
        (["1B"], SIZE, "one value, not a list", "18kB"),
    ],
)
def test_what_is_no_quantity_is_refused_with_a_hint(
    value: object, dimension: Dimension, what: str, hint: str
) -> None:
    with pytest.raises(QuantityError) as refused:
        parse(value, dimension)
    assert what in refused.value.what
    assert hint in refused.value.hint


@given(
    value=st.integers(0, 2**62),
    dimension=st.sampled_from([TIME, SIZE, RATE, OFFSET, SHARE, units.FRAMES]),
)
def test_a_value_written_for_people_reads_back_as_itself(value: int, dimension: Dimension) -> None:
    if dimension is SHARE:
        value -= value % 10**7  # a share is written in whole percent
    assert parse(quantity_text(value, dimension), dimension) == value or value % min_size(dimension)


def min_size(dimension: Dimension) -> int:
    """Plan units in the smallest unit that people write."""
    return int(min(dimension.suffixes.values(), default=Fraction(1)))


def test_sizes_for_people_have_a_decimal_unit() -> None:
    assert units.format_size(18_000) == "18 kB"
