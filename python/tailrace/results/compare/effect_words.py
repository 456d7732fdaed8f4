"""Effects in sentences."""

from collections.abc import Mapping, Sequence
from typing import Any

from tailrace.results.format.numbers import change_interval_text, change_text, digits_text, is_told_as_ratio
from tailrace.results.metrics.definitions import PLURAL
from tailrace.statistics import Effect, told_verdict


def effect_words(
    effect: Effect, *, metric: str, what: str, workload: str, names: tuple[str, str], bounds: tuple[int, int] = (0, 0)
) -> str:
    """A sentence about an effect on a metric that is called `what`; `method_words` names the test."""
    baseline, arm = names
    if effect.verdict == "too few trials":
        smallest = f"even the most extreme outcome would have p = {min(1.0, effect.test.p_smallest * effect.tests):.2g}"
        return f"{workload}: too few trials to detect a difference in {what} between {arm} and {baseline} ({smallest})."
    if effect.verdict == "not comparable":
        of = _bound_words(bounds, names).removeprefix("; ")
        return f"{workload}: {what} cannot be compared between {arm} and {baseline} ({of})."
    interval = effect.change_interval
    change = effect.change_percent
    ends = f"{change_interval_text((interval.low, interval.high), change)}, " if interval else ""
    evidence = f"({ends}p = {effect.p_adjusted:.2g}{_bound_words(bounds, names)})"
    if effect.verdict == "no significant difference":
        return f"{workload}: no significant difference in {what} between {arm} and {baseline} {evidence}."
    if effect.verdict == "unclear size":
        differ = "differ" if metric in PLURAL else "differs"
        return f"{workload}: {what} {differ} between {arm} and {baseline}, by an unclear amount {evidence}."
    size = f"{at_least(bounds)}{size_words(change, effect.other_mean - effect.baseline_mean)}"
    than = f"with {arm} {'as' if is_ratio(change) else 'than'} with {baseline}"
    return f"{workload}: {what} {are(metric)} {size} {than} {evidence}."


def same_words(*, metric: str, what: str, workload: str, names: tuple[str, str]) -> str:
    """For identical trials, a sentence that does not depend on their number."""
    baseline, arm = names
    same = f"{what} {are(metric)} exactly the same with {arm} as with {baseline} in every trial"
    if metric == "loss_percent":  # in many networks no frame is lost in any arm
        return f"{workload}: {same}."
    return f"{workload}: {same}; check that the overrides of {arm} take effect."


def size_words(percent: float | None, difference: float, *, lower: str = "lower", higher: str = "higher") -> str:
    """`31.8 % lower`, or from a factor of four on `14.3 times as high`. For a baseline of zero, the difference."""
    direction = lower if difference < 0 else higher
    if percent is None:
        return f"{digits_text(abs(difference))} {direction}"
    if is_told_as_ratio(percent):
        return f"{digits_text(1 + percent / 100)} times as high"
    return f"{abs(percent):.1f} % {direction}"


def at_least(bounds: Sequence[int]) -> str:
    """What stands before the size of a difference that is told although values are lower bounds."""
    return "at least " if any(bounds) else ""


def bounded_change_text(effect: Mapping[str, Any]) -> str:
    """The change of an effect: where values are lower bounds `> +42.6 %`, or a dash where it cannot be told."""
    change = change_text(effect["change_percent"])
    return change if effect["change_percent"] is None else bounded_text(effect, change)


def bounded_text(effect: Mapping[str, Any], text: str) -> str:
    """How far an effect is from its baseline, marked as `bounded_change_text` does."""
    sign = bound_sign(effect)
    return "–" if sign is None else sign + text


def bound_sign(effect: Mapping[str, Any]) -> str | None:
    """What stands before a change: `> ` or `< ` for lower bounds, and None where it cannot be told."""
    if not any(effect["bounds"]) or effect["is_same"]:
        return ""
    verdict = effect["verdict"]
    if verdict == "too few trials":
        is_higher = effect["arm_mean"] > effect["baseline_mean"]
        verdict = told_verdict("higher" if is_higher else "lower", tuple(effect["bounds"]))
    return {"higher": "> ", "lower": "< "}.get(verdict)


def is_ratio(percent: float | None) -> bool:
    """Whether `size_words` makes a ratio, which is followed by `as` and not by `than`."""
    return percent is not None and is_told_as_ratio(percent)


def are(metric: str) -> str:
    """The verb after the name of a metric."""
    return "are" if metric in PLURAL else "is"


def method_words(effect: Effect) -> str:
    """The test and the samples of an effect."""
    first, second = effect.trials
    pairs = f"{first} pairs of trials that share a seed" if effect.is_paired else f"{second} against {first} trials"
    return f"{effect.test.name} of the means, {pairs}"


def correction_words(effects: Sequence[Mapping[str, Any]]) -> str:
    """The adjustment of the p values of sentences; empty for a single test."""
    tests = max((effect["tests"] for effect in effects if effect["is_main"]), default=1)
    return f", adjusted by Holm's method for the {tests} comparisons of main metrics" if tests > 1 else ""


def family_words(effects: Sequence[Mapping[str, Any]], where: str = " in all arms") -> str:
    """The adjustment of the p values of a table; `where` are the comparisons of main metrics that share it."""
    mains = sum(effect["is_main"] for effect in effects)
    over = f"the {mains} comparisons of main metrics" if mains != 1 else "the one comparison of a main metric"
    return (
        f"p adjusted by Holm's method: over {over}{where}; for each other metric over the comparisons of that metric."
    )


def _bound_words(bounds: tuple[int, int], names: tuple[str, str]) -> str:
    """Number of trials whose figure is a lower bound."""
    listed = [
        f"{count} trial{'s' if count > 1 else ''} of {name}" for count, name in zip(bounds, names, strict=True) if count
    ]
    return f"; a lower bound in {' and '.join(listed)}" if listed else ""
