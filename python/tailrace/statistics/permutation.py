"""Exact permutation tests of means: the probability of a difference at least as large under the
null hypothesis.

The only assumption is exchangeability: if the arms are equal, the labels of the trials can be
permuted.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, product
from math import comb, fsum
from random import Random

# Nine against nine trials have 48 620 arrangements; beyond this, arrangements are sampled.
ARRANGEMENTS_MAX = 50_000
# With the observed one 20 000: the smallest p value is 1/20 000, and at 0.05 the error is 0.003
# (two standard errors).
DRAWS = 19_999
# Sums in another order differ in the last bits; such arrangements count as equal.
TOLERANCE_RELATIVE = 1e-12


@dataclass(frozen=True)
class TestResult:
    """`p_value` is two-sided; `p_smallest` is the smallest that this number of trials can reach."""

    # pytest would collect the class by its name.
    __test__ = False

    p_value: float
    p_smallest: float
    name: str
    is_exact: bool


def permutation_test(a: Sequence[float], b: Sequence[float], random: Random) -> TestResult:
    """Two independent samples, difference of means."""
    values = [*a, *b]
    arrangements = comb(len(values), len(a))
    expected = fsum(values) * len(a) / len(values)
    observed = abs(fsum(a) - expected) - _tolerance(values)
    smallest = min(1.0, 2 / arrangements) if len(a) == len(b) else 1 / arrangements
    if arrangements <= ARRANGEMENTS_MAX:
        extreme = sum(
            abs(fsum(chosen) - expected) >= observed for chosen in combinations(values, len(a))
        )
        return TestResult(extreme / arrangements, smallest, "exact permutation test", is_exact=True)
    extreme = sum(
        abs(fsum(random.sample(values, len(a))) - expected) >= observed for _ in range(DRAWS)
    )
    return TestResult(
        (extreme + 1) / (DRAWS + 1), 1 / (DRAWS + 1), "permutation test, drawn", is_exact=False
    )


def sign_flip_test(differences: Sequence[float], random: Random) -> TestResult:
    """Paired samples, mean of the differences: the labels within each pair are permuted."""
    arrangements = 2 ** len(differences)
    observed = abs(fsum(differences)) - _tolerance(differences)
    smallest = min(1.0, 2 / arrangements)
    if arrangements <= ARRANGEMENTS_MAX:
        flips = product(*((value, -value) for value in differences))
        extreme = sum(abs(fsum(flipped)) >= observed for flipped in flips)
        return TestResult(
            extreme / arrangements, smallest, "exact paired permutation test", is_exact=True
        )
    extreme = sum(
        abs(fsum(random.choice((v, -v)) for v in differences)) >= observed for _ in range(DRAWS)
    )
    return TestResult(
        (extreme + 1) / (DRAWS + 1),
        1 / (DRAWS + 1),
        "paired permutation test, drawn",
        is_exact=False,
    )


def _tolerance(values: Sequence[float]) -> float:
    return TOLERANCE_RELATIVE * fsum(abs(value) for value in values)
