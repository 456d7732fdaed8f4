"""The region of assumptions in which conclusions hold.

Starting from the box of all ranges, sides are cut off until no simulated point in the box
contradicts (the patient rule induction method; Friedman and Fisher 1999, Statistics and Computing
9). Each cut removes the largest number of contradicting points for each other point. New points in
the box then estimate the reliability of the result.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

CUTS_MAX = 100
FEW = 3
"""Points added to the count of points that a cut removes, so that a cut for a single contradicting
point has a low score."""


@dataclass(frozen=True)
class Box:
    """Ends of every factor as shares of its range, both inclusive."""

    lows: tuple[float, ...]
    highs: tuple[float, ...]

    def has(self, point: Sequence[float]) -> bool:
        """Whether a point lies in it."""
        return all(
            low <= at <= high for low, at, high in zip(self.lows, point, self.highs, strict=True)
        )

    @property
    def volume(self) -> float:
        """Share of the whole."""
        return prod(high - low for low, high in zip(self.lows, self.highs, strict=True))

    @property
    def cut(self) -> list[int]:
        """Factors whose range is restricted."""
        ends = zip(self.lows, self.highs, strict=True)
        return [number for number, (low, high) in enumerate(ends) if low > 0.0 or high < 1.0]

    def inside(self, point: Sequence[float]) -> list[float]:
        """Maps a point of the unit box to this box."""
        return [
            low + at * (high - low)
            for low, at, high in zip(self.lows, point, self.highs, strict=True)
        ]


def region(
    points: Sequence[Sequence[float]], holds: Sequence[bool], base: Sequence[float]
) -> Box | None:
    """A box around the base without a contradicting point; None where there is none."""
    count = len(base)
    box = Box((0.0,) * count, (1.0,) * count)
    for _ in range(CUTS_MAX):
        inside = [
            (point, held) for point, held in zip(points, holds, strict=True) if box.has(point)
        ]
        if all(held for _, held in inside):
            return _relaxed(box, points, holds)
        cuts = [cut for number in range(count) for cut in _cuts(box, inside, number, base[number])]
        if not cuts:
            return None
        _, box = max(cuts, key=lambda pair: (pair[0], pair[1].volume))
    return None


def _relaxed(box: Box, points: Sequence[Sequence[float]], holds: Sequence[bool]) -> Box:
    """The box without cuts that later cuts made unnecessary: each is undone where no contradicting
    point enters."""
    bad = [point for point, held in zip(points, holds, strict=True) if not held]
    for number in box.cut:
        for wider in (
            Box((*box.lows[:number], 0.0, *box.lows[number + 1 :]), box.highs),
            Box(box.lows, (*box.highs[:number], 1.0, *box.highs[number + 1 :])),
        ):
            box = box if any(wider.has(point) for point in bad) else wider
    return box


def _cuts(
    box: Box, inside: Sequence[tuple[Sequence[float], bool]], number: int, base: float
) -> list[tuple[float, Box]]:
    """Cuts of one factor's ends, just before the outermost contradicting points, each with its
    score."""
    bad = {point[number] for point, held in inside if not held}
    found = []
    every = sorted({point[number] for point, _ in inside} | {base})
    for edge in bad:
        if edge > base:
            high = max(value for value in every if value < edge)
            cut = Box(box.lows, (*box.highs[:number], (high + edge) / 2, *box.highs[number + 1 :]))
        elif edge < base:
            low = min(value for value in every if value > edge)
            cut = Box((*box.lows[:number], (low + edge) / 2, *box.lows[number + 1 :]), box.highs)
        else:
            continue
        gone = [held for point, held in inside if not cut.has(point)]
        wrong = sum(not held for held in gone)
        found.append((wrong / (len(gone) + FEW), cut))
    return found
