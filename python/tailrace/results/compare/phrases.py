"""One effect as a clause: whose figure rises or falls, from which value to which, and how sure that
is."""

from collections.abc import Iterable

from tailrace.results.compare.effect_words import are, bounded_change_text
from tailrace.results.format.numbers import digits_text
from tailrace.results.metrics.definitions import PLURAL, name_of
from tailrace.results.summary.effect import ArmEffect
from tailrace.results.summary.summary import Summary
from tailrace.scenario.goal import unit_of

SHORT = {
    "latency_p50_ms": "p50",
    "latency_p99_ms": "p99",
    "latency_p99_9_ms": "p99.9",
    "loss_percent": "loss",
}
"""Names in brackets, and of percentiles everywhere: those of the tables."""
DIGITS = (3, 4, 5, 6)
"""Significant digits of both values: the first number of them with which the values show their
difference."""
ROUNDING_MAX = 0.25
"""Share of the difference by which rounded values may show another one."""


def metric_words(effect: ArmEffect) -> str:
    """`transactions per second`, `p99`: as in the tables."""
    return named(effect.metric, effect.noun)


def named(metric: str, noun: str) -> str:
    """The same of a metric whose rates count `noun`."""
    return SHORT.get(metric) or name_of(metric, noun)


def unit_behind(metric: str) -> str:
    """The unit after a value, with a space before it; empty where the name of the metric contains
    it."""
    unit = unit_of(metric)
    return f" {unit}" if unit else ""


def values_of(summary: Summary, effect: ArmEffect) -> tuple[str, str]:
    """The baseline's value and the arm's, with as many digits as show the difference; completion at
    full scale."""
    is_scaled = effect.metric == "completion_s"
    factor = 1 / summary.run.workload_scale.get(effect.workload, 1.0) if is_scaled else 1.0
    texts = apart(effect.baseline_value * factor, effect.arm_value * factor)
    least = [
        f"at least {text}" if bounds else text
        for text, bounds in zip(texts, effect.bounds, strict=True)
    ]
    return least[0], least[1]


def apart(before: float, after: float) -> tuple[str, str]:
    """Two values with as many digits as show their difference."""
    digits = next((digits for digits in DIGITS if _is_shown(before, after, digits)), DIGITS[-1])
    return digits_text(before, digits), digits_text(after, digits)


def _is_shown(before: float, after: float, digits: int) -> bool:
    shown = [float(f"{value:.{digits}g}") for value in (before, after)]
    return abs(shown[1] - shown[0] - (after - before)) <= ROUNDING_MAX * abs(after - before)


def moved(summary: Summary, effect: ArmEffect, beside: Iterable[str] = ()) -> str:
    """`the p99 of shop rises from 2.30 to 221 ms (× 96.1)`; other changes follow in the same
    brackets."""
    before, after = values_of(summary, effect)
    unit, name = unit_behind(effect.metric), f"the {metric_words(effect)} of {effect.workload}"
    if effect.is_same:
        return (
            f"{name} {are(effect.metric)} exactly the same "
            f"({'; '.join([f'{after}{unit}', *beside])})"
        )
    if effect.verdict == "not comparable":
        return (
            f"{name} cannot be compared: there are only lower bounds ({before} and {after}{unit})"
        )
    change = [bounded_change_text(effect)] if effect.ratio is not None else []
    brackets = "; ".join(part for part in [*change, ", ".join(beside)] if part)
    unclear = ", which is not significant" if effect.verdict == "no significant difference" else ""
    return (
        f"{name} {_verb(effect)} from {before} to "
        f"{after}{unit}{f' ({brackets})' if brackets else ''}{unclear}"
    )


def _verb(effect: ArmEffect) -> str:
    verb = "rise" if effect.difference > 0 else "fall"
    return verb if effect.metric in PLURAL else f"{verb}s"


def change_beside(effect: ArmEffect) -> str:
    """`p99 × 52.0`: a change without its values, in brackets."""
    return f"{metric_words(effect)} {bounded_change_text(effect)}"


def listed(parts: Iterable[str], most: int, more: str) -> str:
    """`a, b and c`; of many the first, and the number of the others: `a, b and 4 more arms`."""
    named = list(parts)
    if len(named) > most + 1:
        named = [*named[:most], f"{len(named) - most} more {more}"]
    return " and ".join([", ".join(named[:-1]), named[-1]]) if len(named) > 1 else "".join(named)
