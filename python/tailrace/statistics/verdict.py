"""The comparison of two samples of trials, in numbers and in words."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import comb, log
from typing import Literal

from tailrace.statistics.change import Change
from tailrace.statistics.errors import t_of
from tailrace.statistics.holm import holm_adjusted
from tailrace.statistics.interval import VALUES_MIN
from tailrace.statistics.permutation import TestResult, permutation_test, sign_flip_test
from tailrace.statistics.stream import named_stream
from tailrace.statistics.student import student_p_value

Verdict = Literal[
    "lower", "higher", "no significant difference", "not comparable", "too few trials", "not tested"
]

# The customary threshold. A verdict names its p value, so that readers can hold it to another.
SIGNIFICANCE = 0.05
STUDENT = "Student's test"
Samples = tuple[Sequence[float], Sequence[float]]


@dataclass(frozen=True)
class Effect:
    """From a baseline to another sample of trials."""

    change: Change
    is_paired: bool
    """Whether trials at one index share their seed."""
    trials: tuple[int, int]
    test: TestResult | None = None
    """None for an effect that is only described."""
    p_adjusted: float | None = None
    """By Holm's method over `tests` tests."""
    tests: int = 0
    verdict: Verdict = "not tested"
    looked_needed: int | None = None
    """`trials_needed`, for trials with several looks (`tailrace.statistics.looks`)."""

    @property
    def trials_needed(self) -> int:
        """Trials of each arm with which one of `tests` effects can be significant."""
        return self.looked_needed or trials_to_decide(self.tests)

    @property
    def difference(self) -> float:
        """In the unit of the figure; negative is lower."""
        return self.change.second - self.change.first

    @property
    def change_percent(self) -> float | None:
        """In percent of the baseline; negative is lower. None for a baseline of zero."""
        return (self.change.second / self.change.first - 1) * 100 if self.change.first else None


def with_test(effect: Effect, samples: Samples, *, seed: int, address: str, tests: int) -> Effect:
    """The effect with the p value of one of `tests` tests: the larger of a permutation test and
    Student's.

    The one is valid where trials of equal arms can be exchanged, the other where their differences
    are symmetric; and Student's is that of the interval of the change, so that a verdict never
    contradicts it. `samples` are fixed numbers of the trials, such as their scores at one latency.
    Pairs that are too few for their permutation test have `student_test` instead. Exchanging the
    trials of all pairs would include the randomness that both arms share, which the interval
    excludes: p may be 0.2 beside 25 to 32 %.
    """
    random = named_stream(seed, f"statistics/{address}")
    first, second = samples
    if not effect.is_paired:
        found = permutation_test(first, second, random)
    elif can_flip(len(first), tests):
        found = sign_flip_test(differences(samples), random)
    else:
        found = student_test(differences(samples))
    return replace(effect, test=replace(found, p_value=max(found.p_value, effect.change.p_student)))


def differences(samples: Samples) -> list[float]:
    """Second minus first of each pair."""
    return [y - x for x, y in zip(*samples, strict=True)]


def student_test(apart: Sequence[float]) -> TestResult:
    """Student's test of the differences of pairs, which are symmetric where the arms are equal.

    It uses logarithms or scores, as a permutation test would: the test of the ratio of two means
    rejects too often for arms with very skewed values. Its p value is not below the minimum for
    this number of trials without pairs, so that equal differences of a few trials do not prove
    everything, and pairs need as many trials for a decision.
    """
    count = len(apart)
    p_value = student_p_value(t_of(apart), count - 1) if count >= VALUES_MIN else 1.0
    smallest = 2 / comb(2 * count, count)
    return TestResult(max(p_value, smallest), smallest, STUDENT, is_exact=False)


def logs_or_values(first: Sequence[float], second: Sequence[float]) -> Samples:
    """Logarithms of positive figures of trials; where one of them is not positive, the figures."""
    if min(*first, *second) > 0:
        return [log(value) for value in first], [log(value) for value in second]
    return first, second


def adjusted(effects: Sequence[Effect]) -> list[Effect]:
    """The same tested effects as one family: p values by Holm's method, and verdicts by those.

    Where not even the most extreme outcome of all trials could be significant among this number of
    tests, there are too few trials; that is known before any of them has run.
    """
    known = [effect.test for effect in effects if effect.test]
    p_values = holm_adjusted([test.p_value for test in known])
    return [
        replace(
            effect,
            p_adjusted=p,
            tests=len(effects),
            verdict=_verdict(effect, test, p, len(effects)),
        )
        for effect, test, p in zip(effects, known, p_values, strict=True)
    ]


def _verdict(effect: Effect, test: TestResult, p_adjusted: float, tests: int) -> Verdict:
    if test.p_smallest * tests >= SIGNIFICANCE:
        return "too few trials"
    if p_adjusted >= SIGNIFICANCE:
        return "no significant difference"
    return "lower" if effect.difference < 0 else "higher"


def bounded_verdict(verdict: Verdict, bounds: tuple[int, int]) -> Verdict:
    """A verdict on two samples with these numbers of lower bounds: the direction of a difference is
    known only where larger values than the bounds would make it larger."""
    of_baseline, of_other = bounds
    is_certain = {
        "higher": not of_baseline,
        "lower": not of_other,
        "too few trials": True,
        "not tested": True,
    }
    return verdict if is_certain.get(verdict, bounds == (0, 0)) else "not comparable"


def can_flip(pairs: int, tests: int = 1) -> bool:
    """Whether the permutation test of `pairs` pairs, which reaches 2 / 2^n at best, can reach p <
    0.05 among `tests` tests: six pairs can as one test."""
    return tests * 2 * 0.5**pairs < SIGNIFICANCE


def trials_to_decide(tests: int) -> int:
    """The smallest number of trials of each arm with which one of `tests` tests can be significant,
    by Holm's method. Without pairs, n trials against n reach 2 / C(2n, n) at best."""
    trials = 1
    while tests * 2 / comb(2 * trials, trials) >= SIGNIFICANCE:
        trials += 1
    return trials
