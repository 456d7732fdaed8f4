"""What two samples of trials say about each other, in numbers and in words."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from math import fsum
from typing import Any, Literal

from tailrace.statistics.bootstrap import Interval, bootstrap_interval
from tailrace.statistics.permutation import TestResult, permutation_test, sign_flip_test
from tailrace.statistics.rank import Shift, cliffs_delta, hodges_lehmann, mann_whitney_test
from tailrace.statistics.sample import mean, median
from tailrace.statistics.stream import named_stream

Verdict = Literal["lower", "higher", "no difference seen", "too few trials"]

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
    verdict: Verdict

    def to_dict(self) -> dict[str, Any]:
        """Plain dictionary for `result.json`."""
        return asdict(self)


def compare_samples(
    baseline: Sequence[float], other: Sequence[float], *, is_paired: bool, seed: int, address: str
) -> Effect:
    """Compares two samples of trials, neither of them empty.

    `is_paired` says that trial i of both arms shared its seed. Pairs are used from six on: fewer could not reach
    p < 0.05. The rule looks at the number of trials only, never at the outcome.
    """
    is_paired = is_paired and len(baseline) == len(other) >= PAIRS_MIN
    luck = named_stream(seed, f"statistics/{address}")
    if is_paired:
        test = sign_flip_test([y - x for x, y in zip(baseline, other, strict=True)], luck)
    else:
        test = permutation_test(baseline, other, luck)
    return Effect(
        baseline_mean=mean(baseline),
        other_mean=mean(other),
        change_percent=_percent(mean(baseline), mean(other)),
        change_interval=_change_interval(baseline, other, is_paired=is_paired, seed=seed, address=address),
        median_change_percent=_percent(median(baseline), median(other)),
        shift=hodges_lehmann(baseline, other, paired=is_paired),
        cliffs_delta=cliffs_delta(baseline, other),
        test=test,
        rank_test=mann_whitney_test(baseline, other, luck),
        is_paired=is_paired,
        trials=(len(baseline), len(other)),
        verdict=_verdict(baseline, other, test),
    )


def _verdict(baseline: Sequence[float], other: Sequence[float], test: TestResult) -> Verdict:
    if test.p_smallest >= SIGNIFICANCE:
        return "too few trials"
    if test.p_value >= SIGNIFICANCE:
        return "no difference seen"
    return "lower" if mean(other) < mean(baseline) else "higher"


def _change_interval(
    baseline: Sequence[float], other: Sequence[float], *, is_paired: bool, seed: int, address: str
) -> Interval | None:
    luck = named_stream(seed, f"statistics/{address}/change")
    if is_paired:
        pairs = list(zip(baseline, other, strict=True))
        return bootstrap_interval([pairs], luck, reduce=_change_of_pairs)
    return bootstrap_interval([baseline, other], luck, reduce=mean, combine=_change)


def _change(baseline_mean: float, other_mean: float) -> float:
    return (other_mean / baseline_mean - 1) * 100


def _change_of_pairs(pairs: Sequence[tuple[float, float]]) -> float:
    return _change(fsum(x for x, _ in pairs), fsum(y for _, y in pairs))


def _percent(baseline: float, other: float) -> float | None:
    return (other / baseline - 1) * 100 if baseline != 0 else None
