"""What two samples of trials say about each other, in numbers and in words."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from math import fsum, inf
from typing import Any, Literal

from tailrace.statistics.holm import holm_adjusted
from tailrace.statistics.interval import Interval, mean_interval
from tailrace.statistics.permutation import TestResult, permutation_test, sign_flip_test
from tailrace.statistics.rank import Shift, cliffs_delta, hodges_lehmann, mann_whitney_test
from tailrace.statistics.sample import mean, median
from tailrace.statistics.stream import named_stream

Verdict = Literal["lower", "higher", "unclear size", "no significant difference", "not comparable", "too few trials"]

# The customary threshold. A verdict names its p value, so that readers can hold it to another.
SIGNIFICANCE = 0.05
# A paired test of n trials reaches p = 2 / 2^n at best: 0.0625 with five pairs, 0.031 with six.
PAIRS_MIN = 6


@dataclass(frozen=True)
class Effect:
    """From a baseline to another sample. Changes are in percent of the baseline's mean (median); negative is lower."""

    baseline_mean: float
    other_mean: float
    change_percent: float | None
    change_interval: Interval | None
    median_change_percent: float | None
    shift: Shift
    cliffs_delta: float
    test: TestResult
    rank_test: TestResult
    is_paired: bool
    trials: tuple[int, int]
    p_adjusted: float
    """By Holm's method over `tests` tests."""
    tests: int
    verdict: Verdict

    def to_dict(self) -> dict[str, Any]:
        """Plain dictionary for `result.json`."""
        return asdict(self)


def compare_samples(
    baseline: Sequence[float], other: Sequence[float], *, is_paired: bool, seed: int, address: str, tests: int = 1
) -> Effect:
    """Compares two samples of trials, neither of them empty.

    `is_paired` says that trial i of both arms shared its seed. Pairs are used where there are enough of them to reach
    p < 0.05 among `tests` comparisons, which are a family: `adjusted`. The rule looks at numbers of trials and tests,
    never at the outcome.
    """
    interval = change_interval(baseline, other, is_paired=is_paired)
    is_paired = is_pairing(baseline, other, is_paired=is_paired, tests=tests)
    random = named_stream(seed, f"statistics/{address}")
    if is_paired:
        test = sign_flip_test([y - x for x, y in zip(baseline, other, strict=True)], random)
    else:
        test = permutation_test(baseline, other, random)
    effect = Effect(
        baseline_mean=mean(baseline),
        other_mean=mean(other),
        change_percent=_percent(mean(baseline), mean(other)),
        change_interval=interval,
        median_change_percent=_percent(median(baseline), median(other)),
        shift=hodges_lehmann(baseline, other, paired=is_paired),
        cliffs_delta=cliffs_delta(baseline, other),
        test=test,
        rank_test=mann_whitney_test(baseline, other, random),
        is_paired=is_paired,
        trials=(len(baseline), len(other)),
        p_adjusted=test.p_value,
        tests=1,
        verdict="too few trials",
    )
    return adjusted([effect])[0]


def adjusted(effects: Sequence[Effect]) -> list[Effect]:
    """The same effects as one family: p values by Holm's method, and verdicts by those.

    Where not even the most extreme outcome of all trials could be told from chance among so many tests, there are too
    few trials; that is known before any of them has run. That the samples differ is said by the p value; by how much,
    and in which direction on average, by the interval. Of few and skewed trials it can hold zero where the test finds a
    difference, whose size is unclear then.
    """
    p_values = holm_adjusted([effect.test.p_value for effect in effects])
    return [
        replace(effect, p_adjusted=p, tests=len(effects), verdict=_verdict(effect, p, len(effects)))
        for effect, p in zip(effects, p_values, strict=True)
    ]


def with_bounds(effect: Effect, bounds: tuple[int, int]) -> Effect:
    """The same effect where so many values of the two samples are lower bounds: there is no interval, and a difference
    is told only where larger values than the bounds would make it larger.
    """
    if bounds == (0, 0):
        return effect
    shift = replace(effect.shift, low=None, high=None)
    effect = replace(effect, change_interval=None, shift=shift)
    # The interval that made the size unclear was one over bounds.
    return replace(effect, verdict=told_verdict(_verdict(effect, effect.p_adjusted, effect.tests), bounds))


def told_verdict(verdict: Verdict, bounds: tuple[int, int]) -> Verdict:
    """A verdict on two samples of which so many values are lower bounds."""
    of_baseline, of_other = bounds
    is_told = {"higher": not of_baseline, "lower": not of_other, "too few trials": True}
    return verdict if is_told.get(verdict, bounds == (0, 0)) else "not comparable"


def _verdict(effect: Effect, p_adjusted: float, tests: int) -> Verdict:
    if effect.test.p_smallest * tests >= SIGNIFICANCE:
        return "too few trials"
    if p_adjusted >= SIGNIFICANCE:
        return "no significant difference"
    if _holds_zero(effect.change_interval):
        return "unclear size"
    return "lower" if effect.other_mean < effect.baseline_mean else "higher"


def _holds_zero(interval: Interval | None) -> bool:
    """Whether no change is among the values of an interval: a verdict with a direction would contradict it."""
    return interval is not None and interval.low <= 0 <= interval.high


def change_interval(baseline: Sequence[float], other: Sequence[float], *, is_paired: bool) -> Interval | None:
    """Interval of the change of the mean in percent; `is_paired` as in `compare_samples`."""
    is_positive = min(*baseline, *other) >= 0
    bounds = (-100.0 if is_positive else -inf, inf)
    if is_pairing(baseline, other, is_paired=is_paired):
        pairs = list(zip(baseline, other, strict=True))
        return mean_interval([pairs], reduce=_change_of_pairs, bounds=bounds)
    return mean_interval([baseline, other], combine=_change, bounds=bounds)


def is_pairing(baseline: Sequence[float], other: Sequence[float], *, is_paired: bool, tests: int = 1) -> bool:
    """Whether pairs are used where there are pairs: from six on, and where their test can reach p < 0.05 among so many.

    Of n pairs it reaches 2 / 2^n at best. Without pairs the labels can be exchanged in more ways.
    """
    is_enough = len(baseline) == len(other) >= PAIRS_MIN
    return is_paired and is_enough and tests * 2 / 2 ** len(baseline) < SIGNIFICANCE


def _change(baseline_mean: float, other_mean: float) -> float:
    return (other_mean / baseline_mean - 1) * 100


def _change_of_pairs(pairs: Sequence[tuple[float, float]]) -> float:
    return _change(fsum(x for x, _ in pairs), fsum(y for _, y in pairs))


def _percent(baseline: float, other: float) -> float | None:
    return (other / baseline - 1) * 100 if baseline != 0 else None
