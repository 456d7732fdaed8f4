"""Pauses that pgbench and the lab draw alike. That pgbench really does is a test with pgbench, in
tests/live."""

from statistics import fmean
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tailrace.programs.draws import Draw, UnknownDrawError, murmur2

MS = 10**9
DISTRIBUTIONS: list[tuple[dict[str, Any], float]] = [
    ({"constant": 3 * MS}, 3000),
    ({"uniform": {"low": MS, "high": 5 * MS}}, 3000),
    ({"exponential": {"mean": 3 * MS}}, 3000),
    ({"normal": {"mean": 3 * MS, "deviation": MS // 2}}, 3000),
    ({"log-normal": {"median": 3 * MS, "sigma_milli": 500}}, 3399),
    ({"erlang": {"mean": 3 * MS, "shape": 4}}, 3000),
    ({"cumulative": [[MS, 100_000_000], [2 * MS, 500_000_000], [6 * MS, 10**9]]}, 2700),
]


@pytest.mark.parametrize(
    ("raw", "mean_us"), DISTRIBUTIONS, ids=[next(iter(raw)) for raw, _ in DISTRIBUTIONS]
)
def test_a_draw_has_the_mean_of_its_distribution(raw: dict[str, Any], mean_us: float) -> None:
    draw = Draw(raw, seed=11)
    values = [draw.value_us(user, number) for user in range(20) for number in range(1, 501)]
    assert fmean(values) == pytest.approx(mean_us, rel=0.03)


@given(st.integers(0, 2**40), st.integers(0, 2**62))
def test_the_hash_is_a_number_of_64_bits_that_depends_on_both(value: int, seed: int) -> None:
    assert 0 <= murmur2(value, seed) < 2**64
    assert murmur2(value, seed) != murmur2(value + 1, seed)
    assert murmur2(value, seed) != murmur2(value, seed + 1)


def test_the_hash_is_that_of_pgbench() -> None:
    """Printed by pgbench 15: `\\set x debug(hash_murmur2(5432, 1))` and the same with the seed
    0."""
    assert murmur2(5432, 1) == 1959827292344295810
    assert murmur2(5432, 0) == 3045490949354742142


def test_users_and_transactions_have_luck_of_their_own() -> None:
    draw = Draw({"exponential": {"mean": MS}}, seed=3)
    values = {draw.value_us(user, number) for user in range(30) for number in range(30)}
    assert len(values) > 700


def test_a_shape_that_no_script_should_hold_is_unknown() -> None:
    with pytest.raises(UnknownDrawError, match="a shape of 17 is above 16"):
        Draw({"erlang": {"mean": MS, "shape": 17}}, seed=1)


def test_no_pause_is_negative() -> None:
    draw = Draw({"normal": {"mean": MS, "deviation": 2 * MS}}, seed=3)
    assert min(draw.value_us(0, number) for number in range(1, 400)) == 0
