"""Effects in sentences."""

from collections.abc import Mapping, Sequence
from typing import Any

from tailrace.results.metrics import NAMES
from tailrace.statistics import Effect

TIMES_FROM_PERCENT = 300.0


def effect_words(
    effect: Effect, *, metric: str, workload: str, names: tuple[str, str], bounds: tuple[int, int] = (0, 0)
) -> str:
    """One sentence for people. The test that stands behind it is in `method_words`."""
    baseline, arm = names
    what = NAMES[metric]
    if effect.verdict == "too few trials":
        smallest = f"even the most extreme outcome would have p = {min(1.0, effect.test.p_smallest * effect.tests):.2g}"
        return f"{workload}: too few trials to tell a difference in {what} between {arm} and {baseline} ({smallest})."
    interval = effect.change_interval
    ends = f"{_signed(interval.low)} to {_signed(interval.high)} %, " if interval else ""
    evidence = f"({ends}p = {effect.p_adjusted:.2g}{_bound_words(bounds, names)})"
    if effect.verdict == "no difference seen":
        return f"{workload}: no difference in {what} seen between {arm} and {baseline} {evidence}."
    change = effect.change_percent
    size = size_words(change) if change is not None else f"{abs(effect.other_mean - effect.baseline_mean):.3g}"
    return f"{workload}: {what} is {size} {effect.verdict} with {arm} than with {baseline} {evidence}."


def same_words(*, metric: str, workload: str, names: tuple[str, str]) -> str:
    """Where nothing at all changed, the number of trials is not the question."""
    baseline, arm = names
    same = f"{NAMES[metric]} is exactly the same with {arm} as with {baseline} in every trial"
    return f"{workload}: {same}; does {arm} change what it is meant to?"


def size_words(percent: float) -> str:
    """`31.8 %`; `38 times` from fourfold on, where percentages are hard to read. Without a sign."""
    size = abs(percent)
    return f"{size / 100:.3g} times" if size >= TIMES_FROM_PERCENT else f"{size:.1f} %"


def method_words(effect: Effect) -> str:
    """What the sentence of an effect rests on."""
    first, second = effect.trials
    pairs = f"{first} pairs of trials that share a seed" if effect.is_paired else f"{second} against {first} trials"
    return f"{effect.test.name} of the means, {pairs}"


def correction_words(effects: Sequence[Mapping[str, Any]]) -> str:
    """How the p values of sentences were adjusted; empty for a single test."""
    tests = max((effect["tests"] for effect in effects if effect["is_main"]), default=1)
    return (
        f", adjusted by Holm's method for the {tests} comparisons of what workloads are judged by" if tests > 1 else ""
    )


def family_words(effects: Sequence[Mapping[str, Any]]) -> str:
    """Over which tests the p values of a table were adjusted."""
    mains = sum(effect["is_main"] for effect in effects)
    return (
        f"p adjusted by Holm's method: over the {mains} comparisons of what workloads are judged by, in all arms; for "
        f"other metrics over all {len(effects)} comparisons."
    )


def _bound_words(bounds: tuple[int, int], names: tuple[str, str]) -> str:
    """Trials whose figure is larger by an amount that is not known."""
    listed = [
        f"{count} trial{'s' if count > 1 else ''} of {name}" for count, name in zip(bounds, names, strict=True) if count
    ]
    return f"; a lower bound in {' and '.join(listed)}" if listed else ""


def _signed(percent: float) -> str:
    text = f"{percent:+.1f}".replace("-", "−")
    return text[1:] if float(text[1:]) == 0 else text
