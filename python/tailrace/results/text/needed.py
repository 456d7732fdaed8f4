"""Percentiles without an interval: a mark in tables, and how many trials would make one."""

from collections.abc import Iterable, Sequence

from tailrace.results.metrics.latency import PERCENTILES
from tailrace.results.summary.summary import Summary
from tailrace.statistics.interval import VALUES_MIN

MARK = "*"


def needed_mark(needed: int | None, trials: int) -> str:
    """The mark of a figure without an interval; none where this number of trials never gives
    one."""
    return MARK if needed and trials >= VALUES_MIN else ""


def needed_sentence(summary: Summary, keys: Sequence[str] = tuple(PERCENTILES)) -> str:
    """`* no interval: p99 needs about 13 trials of this length, p99.9 about 125`; empty where all
    have one."""
    found = {key: sorted(_needed(summary, key)) for key in keys}
    named = [(key.replace("_", "."), numbers) for key, numbers in found.items() if numbers]
    if not named:
        return ""
    of_first = f"{named[0][0]} needs about {_range(named[0][1])} trials of this length"
    return (
        f"{MARK} no interval: "
        f"{', '.join([of_first, *(f'{name} about {_range(all_)}' for name, all_ in named[1:])])}."
    )


def _needed(summary: Summary, key: str) -> Iterable[int]:
    for arm in summary.arms.values():
        for subject in (*arm.workloads.values(), *arm.groups.values()):
            latency = subject.latency_ms
            if latency and len(subject.trials) >= VALUES_MIN and key in latency.trials_needed:
                yield latency.trials_needed[key]


def _range(numbers: Sequence[int]) -> str:
    return f"{numbers[0]}" if numbers[0] == numbers[-1] else f"{numbers[0]} to {numbers[-1]}"
