"""One variable: bisection between a setting that meets the goal and a better one that does not.

Positions count from the best setting (the smallest, where the variable is minimised) to the worst.
The search expects that the goal is missed up to some position, undecided in a range above it, and
met from there on. It tries settings on both sides as well, and reports a setting that contradicts
the expectation.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import ceil, log2

from tailrace.search.deciding import Tried

PROBES = 2
"""Settings that are tried on each side of the result."""
FOUND, ALL, NONE = "found", "all", "none"


@dataclass(frozen=True)
class Bisected:
    """The conclusion from the tried settings, over positions."""

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
    """Maximum number of decided settings: both ends, halves, and the settings on both sides of the
    result."""
    return 2 + max(0, ceil(log2(max(1, count - 1)))) + 2 * PROBES


def bisect(
    count: int, try_at: Callable[[int], Tried], excess: Callable[[Tried], float]
) -> dict[int, Tried]:
    """Tries settings among `count` positions. `excess` is the distance of a setting beyond the
    goal."""
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
    # The goal may be missed at both ends and met between them.
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
    """The next position where the ends do not meet the goal.

    It lies towards the edge below the best position that meets the goal; where none does, in the
    larger gap beside the position nearest to the goal. None where that position is an end, or no
    position is left.
    """
    positions = sorted(tried)
    best = next((position for position in positions if tried[position].is_met), None)
    nearest = min(positions, key=lambda position: excess(tried[position])) if best is None else best
    at = positions.index(nearest)
    if at in (0, len(positions) - 1):
        return None
    gaps = [(positions[at - 1], nearest)]
    if best is None:
        gaps.append((nearest, positions[at + 1]))
    low, high = max(gaps, key=lambda gap: gap[1] - gap[0])
    return (low + high) // 2 if high - low > 1 else None


def _between(low: int, high: int) -> list[int]:
    """Positions that divide the interval between two positions."""
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
