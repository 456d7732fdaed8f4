"""The knee of a curve: the point farthest from the straight line between its ends.

Both axes are scaled to 0 to 1 (Satopaa et al., "Finding a Kneedle in a Haystack", 2011, without the
smoothing).
"""

from collections.abc import Sequence
from itertools import pairwise

POINTS_MIN = 5
DISTANCE_MIN = 0.2
"""Distance of a knee from the straight line between the ends, in units of the plot (0 to 1)."""
MONOTONE_SLACK = 0.1


def bend(known: Sequence[tuple[float, float]]) -> tuple[int, float] | None:
    """Position of the knee among ascending points, and its distance from the line, above it
    positive.

    None with fewer than five points, and where the curve is nearly straight, or goes up and down.
    """
    ys = [y for _, y in known]
    if len(known) < POINTS_MIN or max(ys) == min(ys) or not _is_monotone(ys):
        return None
    (x_first, y_first), (x_last, y_last) = known[0], known[-1]
    height = abs(y_last - y_first)
    if height == 0:
        return None
    chord = [y_first + (y_last - y_first) * (x - x_first) / (x_last - x_first) for x, _ in known]
    distances = [(y - at) / height for y, at in zip(ys, chord, strict=True)]
    best = max(range(len(distances)), key=lambda index: abs(distances[index]))
    return (best, distances[best]) if abs(distances[best]) >= DISTANCE_MIN else None


def _is_monotone(ys: Sequence[float]) -> bool:
    """Whether a curve only rises or only falls, but for a tenth of its height."""
    slack = (max(ys) - min(ys)) * MONOTONE_SLACK
    steps = [b - a for a, b in pairwise(ys)]
    return all(step >= -slack for step in steps) or all(step <= slack for step in steps)
