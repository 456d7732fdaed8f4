"""Table and sentences of effects between two sides: two runs, or two arms of a run."""

from collections.abc import Callable, Sequence

from tailrace.results.compare.effect_words import bounded_change_text, interval_text
from tailrace.results.format.columns import align
from tailrace.results.format.numbers import bound_mark, number
from tailrace.results.summary.effect import ArmEffect
from tailrace.statistics import LEVEL_TEXT
from tailrace.statistics.interval import VALUES_MIN

SHOWN = frozenset({"latency_p50_ms", "latency_p99_ms"})
"""Metrics shown besides the main one of a workload."""

ScopeColumns = tuple[tuple[str, Callable[[ArmEffect], str]], ...]
"""Columns that identify an effect: the head of each, and its cell."""


def effects_table(effects: Sequence[ArmEffect], scope: ScopeColumns, names: tuple[str, str]) -> str:
    """A row for each of these effects, with the figures of both sides by name; empty without
    one."""
    first, second = names
    heads = [head for head, _ in scope]
    rows = [
        [*heads, first, second, f"{second} is", f"{LEVEL_TEXT} interval", "p adjusted", "verdict"]
    ]
    rows += [[*(cell(effect) for _, cell in scope), *_cells(effect)] for effect in effects]
    return align(rows, left=len(scope)) if effects else ""


def is_shown(effect: ArmEffect) -> bool:
    """Effects on the main metric of a workload and its common percentiles, where trials allow an
    interval."""
    return has_enough(effect) and (effect.is_main or effect.metric in SHOWN)


def has_enough(effect: ArmEffect) -> bool:
    """Whether there are enough trials for an interval."""
    return min(effect.trials) >= VALUES_MIN


def _cells(effect: ArmEffect) -> list[str]:
    values = zip((effect.baseline_value, effect.arm_value), effect.bounds, strict=True)
    return [
        *(bound_mark(bounds) + number(value) for value, bounds in values),
        bounded_change_text(effect),
        interval_text(effect) or "–",
        "–" if effect.p_adjusted is None else f"{effect.p_adjusted:.2g}",
        effect.verdict,
    ]
