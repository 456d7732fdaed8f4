"""One variable: bisection between a setting that meets the goal and a better one that does not.

Positions here count from the best setting (the smallest, where the variable is minimised) to the worst. The goal is
expected to be missed up to some position and met from there on; settings on both sides are tried as well, and one that
contradicts the expectation is told.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil, log2

from tailrace.search.deciding import Tried

PROBES = 2
"""Settings that are tried on each side of what was found."""
FOUND, ALL, NONE = "found", "all", "none"


@dataclass(frozen=True)
class Bisected:
    """The result over positions."""

    state: str
    """found, all (every tried setting meets the goal) or none."""
    best: int | None
    """The best position that meets the goal."""
    missed: int | None
    """The nearest better position that was tried and does not."""
    contradictions: list[int]
    """Positions whose decisions contradict that the goal is met from some position on."""


def steps_max(count: int) -> int:
    """Settings that are decided at most: both ends, halves, and those on both sides of what was found."""
    return 2 + max(0, ceil(log2(max(1, count - 1)))) + 2 * PROBES


def bisect(count: int, try_at: Callable[[int], Tried]) -> Bisected:
    """Searches `count` positions."""
    met: dict[int, bool] = {}

    def is_met(position: int) -> bool:
        if position not in met:
            met[position] = try_at(position).is_met
        return met[position]

    last = count - 1
    low, high = 0, last
    if is_met(last) and not is_met(0):
        while high - low > 1:
            middle = (low + high) // 2
            if is_met(middle):
                high = middle
            else:
                low = middle
        probes = [*_between(0, low), *_between(high, last)]
    else:
        is_met(0)
        probes = _between(0, last)
    for position in probes:
        is_met(position)
    return _concluded(met)


def _between(low: int, high: int) -> list[int]:
    """Positions that divide what lies between two."""
    found = [low + (high - low) * part // (PROBES + 1) for part in range(1, PROBES + 1)]
    return [position for position in dict.fromkeys(found) if low < position < high]


def _concluded(met: dict[int, bool]) -> Bisected:
    tried = sorted(met)
    meeting = [position for position in tried if met[position]]
    if not meeting:
        return Bisected(NONE, None, max(tried), [])
    best = meeting[0]
    worse = [position for position in tried if position > best and not met[position]]
    better = [position for position in tried if position < best]
    state = ALL if len(meeting) == len(tried) else FOUND
    return Bisected(state, best, max(better, default=None), worse)
