"""Numbers as people read them: one sign, and one rule for changes."""

import pytest

from tailrace.results.compare.effect_words import size_words
from tailrace.results.format.numbers import (
    change_interval_text,
    change_text,
    digits_text,
    plain_text,
)


@pytest.mark.parametrize(
    ("percent", "text"),
    [
        (42.56, "+42.6 %"),
        (-96.9, "−96.9 %"),
        (299.9, "+299.9 %"),
        (300, "× 4.00"),
        (1325, "× 14.2"),
        (0.01, "0.0 %"),
    ],
)
def test_a_change_is_a_percentage_or_a_ratio(percent: float, text: str) -> None:
    assert change_text(percent) == text


def test_an_interval_is_told_as_its_change_is() -> None:
    assert change_interval_text((-5.0, 50.2), 20) == "−5.0 to +50.2 %"
    assert change_interval_text((250, 1500), 1325) == "× 3.50 to 16.0"
    assert change_interval_text(None, 3) == "–"


def test_words_say_one_of_the_two() -> None:
    assert size_words(1325, 5) == "14.2 times as high"
    assert size_words(-31.84, -2) == "31.8 % lower"
    assert size_words(None, 2.5) == "2.50 higher"


def test_negative_numbers_have_a_true_minus() -> None:
    assert digits_text(-0.8) == "−0.800"
    assert digits_text(-81234) == "−81\u202f234"
    assert plain_text(-2.3) == "−2.3"
    assert digits_text(-0.0000823, 2) == "−8.2e−5"
