"""Effects in sentences."""

from collections.abc import Sequence

from tailrace.results.format.numbers import (
    change_interval_text,
    change_text,
    digits_text,
    is_shown_as_ratio,
)
from tailrace.results.metrics.definitions import PLURAL, SHARES
from tailrace.results.summary.effect import ArmEffect
from tailrace.statistics import STUDENT, Change, Effect, Verdict, bounded_verdict


def effect_words(
    effect: Effect,
    *,
    metric: str,
    what: str,
    workload: str,
    names: tuple[str, str],
    bounds: tuple[int, int] = (0, 0),
) -> str:
    """A sentence about an effect on a metric named `what`; `method_words` names the test."""
    baseline, arm = names
    if effect.verdict == "not comparable":
        of = _bound_words(bounds, names).removeprefix("; ")
        return f"{workload}: {what} cannot be compared between {arm} and {baseline} ({of})."
    if effect.verdict == "no significant difference":
        evidence = _evidence(effect, f"p = {effect.p_adjusted:.2g}", metric, bounds, names)
        return (
            f"{workload}: no significant difference in {what} between "
            f"{arm} and {baseline} {evidence}."
        )
    percent = effect.change_percent if effect.change.is_ratio else None
    size = f"{at_least(bounds)}{size_words(percent, effect.difference, unit=unit_of_difference(metric))}"  # noqa: E501
    than = f"with {arm} {'as' if is_ratio(percent) else 'than'} with {baseline}"
    sentence = f"{workload}: {what} {are(metric)} {size} {than}"
    if effect.verdict == "too few trials":
        evidence = _evidence(effect, "", metric, bounds, names)
        few = few_words(effect.trials, effect.tests, effect.trials_needed)
        return f"{sentence}{f' {evidence}' if evidence else ''}, but {few}."
    by = "not tested" if effect.p_adjusted is None else f"p = {effect.p_adjusted:.2g}"
    return f"{sentence} {_evidence(effect, by, metric, bounds, names)}."


def _evidence(
    effect: Effect, by: str, metric: str, bounds: tuple[int, int], names: tuple[str, str]
) -> str:
    """`(−40.1 to −35.2 %, p = 0.0022)`: interval, how it was tested, and lower bounds."""
    parts = [
        interval_words(effect.change, metric),
        by,
        _bound_words(bounds, names).removeprefix("; "),
    ]
    text = ", ".join(part for part in parts if part)
    return f"({text})" if text else ""


def interval_words(change: Change, metric: str) -> str:
    """The interval of a change: in percent, as a ratio, or in points; empty where there is none."""
    if change.interval is None:
        return ""
    ends = change.interval.low, change.interval.high
    if change.is_ratio:
        percent = (change.second / change.first - 1) * 100
        return change_interval_text(((ends[0] - 1) * 100, (ends[1] - 1) * 100), percent)
    return difference_interval_text(ends, metric)


def interval_text(effect: ArmEffect) -> str:
    """`interval_words` of an effect in `result.json`."""
    percent, apart = effect.change_interval, effect.difference_interval
    if percent is not None:
        return change_interval_text((percent.low, percent.high), effect.change_percent)
    return difference_interval_text((apart.low, apart.high), effect.metric) if apart else ""


def difference_interval_text(ends: tuple[float, float], metric: str) -> str:
    """`−0.12 to +0.35 points`."""
    unit = unit_of_difference(metric)
    return f"{_signed(ends[0])} to {_signed(ends[1])}{f' {unit}' if unit else ''}"


def _signed(value: float) -> str:
    return f"{'+' if value > 0 else ''}{digits_text(value)}"


def unit_of_difference(metric: str) -> str:
    """The unit after a difference."""
    return "points" if metric in SHARES else ""


def few_words(trials: tuple[int, int], tests: int, needed: int) -> str:
    """`4 trials cannot decide 12 comparisons: 6 would`."""
    what = f"{tests} comparisons" if tests > 1 else "a comparison"
    count = min(trials)
    return f"{count} {'trial' if count == 1 else 'trials'} cannot decide {what}: {needed} would"


def same_words(*, metric: str, what: str, workload: str, names: tuple[str, str]) -> str:
    """For identical trials, a sentence that does not depend on their number."""
    baseline, arm = names
    same = f"{what} {are(metric)} exactly the same with {arm} as with {baseline} in every trial"
    if metric == "loss_percent":  # in many networks no frame is lost in any arm
        return f"{workload}: {same}."
    return f"{workload}: {same}; check that the overrides of {arm} take effect."


def size_words(
    percent: float | None,
    difference: float,
    *,
    lower: str = "lower",
    higher: str = "higher",
    unit: str = "",
) -> str:
    """`31.8 % lower`, or from a factor of four on `14.3 times as high`. Without a percentage, the
    difference."""
    direction = lower if difference < 0 else higher
    if percent is None:
        return f"{digits_text(abs(difference))}{f' {unit}' if unit else ''} {direction}"
    if is_shown_as_ratio(percent):
        return f"{digits_text(1 + percent / 100)} times as high"
    return f"{abs(percent):.1f} % {direction}"


def at_least(bounds: Sequence[int]) -> str:
    """The prefix of a difference whose values are lower bounds."""
    return "at least " if any(bounds) else ""


def change_percent(effect: ArmEffect) -> float | None:
    """The change in percent, where an effect is shown as a ratio."""
    return None if effect.ratio is None else effect.change_percent


def bounded_change_text(effect: ArmEffect) -> str:
    """The change of an effect: `+42.6 %`, a difference of shares `+0.35 points`; where values are
    lower bounds `> +42.6 %`, or a dash where the direction is unknown."""
    percent = change_percent(effect)
    unit = unit_of_difference(effect.metric)
    text = (
        change_text(percent)
        if percent is not None
        else f"{_signed(effect.difference)}{f' {unit}' if unit else ''}"
    )
    sign = bound_sign(effect)
    return "–" if sign is None else sign + text


def bound_sign(effect: ArmEffect) -> str | None:
    """The prefix of a change: `> ` or `< ` for lower bounds, and None where the direction is
    unknown."""
    if not any(effect.bounds) or effect.is_same:
        return ""
    way: Verdict = "higher" if effect.difference > 0 else "lower"
    is_certain = bounded_verdict(way, effect.bounds) == way and effect.verdict != "not comparable"
    return {"higher": "> ", "lower": "< "}[way] if is_certain else None


def is_ratio(percent: float | None) -> bool:
    """Whether `size_words` makes a ratio, which is followed by `as` and not by `than`."""
    return percent is not None and is_shown_as_ratio(percent)


def are(metric: str) -> str:
    """The verb after the name of a metric."""
    return "are" if metric in PLURAL else "is"


def method_words(effect: Effect) -> str:
    """The test and the samples of an effect."""
    first, second = effect.trials
    pairs = (
        f"{first} pairs of trials that share a seed"
        if effect.is_paired
        else f"{second} against {first} trials"
    )
    if effect.test is None:
        return f"not tested, {pairs}"
    name = effect.test.name
    return (
        f"{name}, {pairs}"
        if name.endswith(STUDENT)
        else f"the larger of {name} and Student's, {pairs}"
    )


def correction_words(effects: Sequence[ArmEffect]) -> str:
    """The adjustment of the p values; empty for a single test."""
    tests = max((effect.tests for effect in effects if effect.is_main), default=1)
    return (
        f", adjusted by Holm's method for the {tests} comparisons of main metrics"
        if tests > 1
        else ""
    )


def family_words(effects: Sequence[ArmEffect], where: str = " in all arms") -> str:
    """Explanation of the adjustment of a table's p values; `where` names the comparisons of main
    metrics in the family."""
    mains = sum(effect.is_main for effect in effects)
    over = (
        f"the {mains} comparisons of main metrics"
        if mains != 1
        else "the one comparison of a main metric"
    )
    return (
        f"p adjusted by Holm's method over {over}{where}; other metrics "
        "are described and not tested."
    )


def _bound_words(bounds: tuple[int, int], names: tuple[str, str]) -> str:
    """Number of trials whose figure is a lower bound."""
    listed = [
        f"{count} trial{'s' if count > 1 else ''} of {name}"
        for count, name in zip(bounds, names, strict=True)
        if count
    ]
    return f"; a lower bound in {' and '.join(listed)}" if listed else ""
