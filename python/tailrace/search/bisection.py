"""One variable: bisection between a setting that meets the goal and a better one that does not.

Positions here count from the best setting (the smallest, where the variable is minimised) to the
worst. The goal is expected to be missed up to some position, undecided in a range above it, and met
from there on; settings on both sides are tried as well, and one that contradicts the expectation is
told.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import ceil, log2

from tailrace.search.deciding import Tried

PROBES = 2
"""Settings that are tried on each side of what was found."""
FOUND, ALL, NONE = "found", "all", "none"


@dataclass(frozen=True)
class Bisected:
    """What the settings that were tried say, over positions."""

    state: str
    """found, all (every tried setting meets the goal) or none."""
    best: int | None
    """The best position that meets the goal."""
    missed: int | None
    """The worst position that misses the goal and is better than every one that meets it."""
    undecided: list[int]
    """Positions that neither meet nor miss it."""
    contradictions: list[int]
    """Positions that miss the goal although a better one meets it."""


def steps_max(count: int) -> int:
    """Settings that are decided at most: both ends, halves, and those on both sides of what was
    found."""
    return 2 + max(0, ceil(log2(max(1, count - 1)))) + 2 * PROBES


def bisect(
    count: int, try_at: Callable[[int], Tried], excess: Callable[[Tried], float]
) -> dict[int, Tried]:
    """Tries settings among `count` positions; `excess` says how far one is beyond the goal."""
    tried: dict[int, Tried] = {}

    def is_met(position: int) -> bool:
        if position not in tried:
            tried[position] = try_at(position)
        return tried[position].is_met

    last = count - 1
    low, high = 0, last
    if is_met(last) and not is_met(0):
        low, high = _edge(low, high, is_met)
        for position in [*_between(0, low), *_between(high, last)]:
            is_met(position)
        return tried
    for position in [0, *_between(0, last)]:
        is_met(position)
    # Both ends may miss a goal that is met between them.
    while len(tried) < steps_max(count) and (inside := _inside(tried, excess)) is not None:
        is_met(inside)
    return tried


def _edge(low: int, high: int, is_met: Callable[[int], bool]) -> tuple[int, int]:
    """Neighbours between one that does not meet the goal and one that does."""
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_met(middle) else (middle, high)
    return low, high


def _inside(tried: Mapping[int, Tried], excess: Callable[[Tried], float]) -> int | None:
    """The next position where the ends do not meet the goal: towards the edge below the best one
    that meets it, and in the larger gap beside the one that is nearest to it where none does. None
    where that one is an end, or nothing is left.
    """
    places = sorted(tried)
    best = next((position for position in places if tried[position].is_met), None)
    nearest = min(places, key=lambda position: excess(tried[position])) if best is None else best
    at = places.index(nearest)
    if at in (0, len(places) - 1):
        return None
    gaps = [(places[at - 1], nearest)]
    if best is None:
        gaps.append((nearest, places[at + 1]))
    low, high = max(gaps, key=lambda gap: gap[1] - gap[0])
    return (low + high) // 2 if high - low > 1 else None


def _between(low: int, high: int) -> list[int]:
    """Positions that divide what lies between two."""
    found = [low + (high - low) * part // (PROBES + 1) for part in range(1, PROBES + 1)]
    return [position for position in dict.fromkeys(found) if low < position < high]


def concluded(tried: Mapping[int, Tried]) -> Bisected:
    """The conclusion from settings by position."""
    meeting = [position for position in sorted(tried) if tried[position].is_met]
    missing = [position for position in sorted(tried) if tried[position].is_missed]
    best = min(meeting, default=None)
    missed = max(
        (position for position in missing if best is None or position < best), default=None
    )
    undecided = [position for position in sorted(tried) if tried[position].end == "undecided"]
    state = NONE if best is None else ALL if len(meeting) == len(tried) else FOUND
    contradictions = [position for position in missing if best is not None and position > best]
    return Bisected(state, best, missed, undecided, contradictions)
