"""Table and sentences of effects between two sides: two runs, or two arms of a run."""

from collections.abc import Callable, Sequence
from typing import Any

from tailrace.results.compare.effect_words import bounded_change_text
from tailrace.results.format.columns import align
from tailrace.results.format.numbers import bound_mark, change_interval_text, number
from tailrace.statistics import LEVEL_TEXT

SHOWN = frozenset({"latency_p50_ms", "latency_p99_ms"})
"""Metrics shown besides the main one of a workload."""

Effect = dict[str, Any]
Place = tuple[tuple[str, Callable[[Effect], str]], ...]
"""Columns that say of what an effect is: the head of each, and its cell."""


def effects_table(effects: Sequence[Effect], place: Place, names: tuple[str, str]) -> str:
    """A row for each of these effects, with the figures of both sides by name; empty without one."""
    first, second = names
    heads = [head for head, _ in place]
    rows = [[*heads, first, second, f"{second} is", f"{LEVEL_TEXT} interval", "p adjusted", "verdict"]]
    rows += [[*(cell(effect) for _, cell in place), *_cells(effect)] for effect in effects]
    return align(rows, left=len(place)) if effects else ""


def is_shown(effect: Effect) -> bool:
    """Effects on the main metric of a workload and its common percentiles, where there are enough trials."""
    return has_enough(effect) and (effect["is_main"] or effect["metric"] in SHOWN)


def has_enough(effect: Effect) -> bool:
    """Whether there are enough trials for a verdict."""
    return bool(effect["verdict"] != "too few trials")


def _cells(effect: Effect) -> list[str]:
    means = zip((effect["baseline_mean"], effect["arm_mean"]), effect["bounds"], strict=True)
    interval = effect["change_interval"]
    return [
        *(bound_mark(bounds) + number(mean) for mean, bounds in means),
        bounded_change_text(effect),
        change_interval_text((interval["low"], interval["high"]) if interval else None, effect["change_percent"]),
        f"{effect['p_adjusted']:.2g}",
        effect["verdict"],
    ]
