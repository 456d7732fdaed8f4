"""The distribution of many values in little memory, in the language of scenarios."""

import math
from collections.abc import Callable, Iterator
from typing import Any

EXACT_MAX = 4096
"""Different values that are kept; more of them are kept in classes."""
CLASS = math.log(1.01)
"""Classes are 1 % wide, and have the mean of their values."""
STEPS_MAX = 24
"""A sample with at most this many different values has a step for each."""
ALIKE = 0.02
"""One whose standard deviation is at most this share of its mean is one value."""
SHARES = (0, 1, 2, 5, *range(10, 100, 10), 95, 98, 99, 99.5, 99.9, 100)
"""Percentiles of one with more values."""


class Sample:
    """Values that are not negative, with weights."""

    def __init__(self) -> None:
        """Without values."""
        self.count = 0.0
        self.total = 0.0
        self.squares = 0.0
        self._exact: dict[int, float] = {}
        self._classes: dict[int, list[float]] = {}

    def add(self, value: int, weight: float = 1) -> None:
        """Adds one."""
        self.count += weight
        self.total += weight * value
        self.squares += weight * value * value
        if not self._classes:
            self._exact[value] = self._exact.get(value, 0) + weight
            if len(self._exact) <= EXACT_MAX:
                return
            for kept, its in self._exact.items():
                self._classify(kept, its)
            self._exact.clear()
        else:
            self._classify(value, weight)

    def _classify(self, value: int, weight: float) -> None:
        of = self._classes.setdefault(
            round(math.log(value) / CLASS) if value > 0 else -1, [0.0, 0.0]
        )
        of[0] += weight
        of[1] += weight * value

    @property
    def mean(self) -> float:
        """Of all values; 0 without any."""
        return self.total / self.count if self.count else 0.0

    def values(self) -> list[tuple[int, float]]:
        """Values, or means of classes, with their weights, in order."""
        if self._classes:
            return sorted(
                (round(total / weight), weight) for weight, total in self._classes.values()
            )
        return sorted(self._exact.items())

    def stated(self, write: Callable[[int], str]) -> Any:
        """A value, steps, or percentiles with straight lines between them; `write` makes a quantity
        of a value."""
        deviation = math.sqrt(max(0.0, self.squares / self.count - self.mean**2))
        if deviation <= ALIKE * self.mean or len(self.values()) == 1:
            return write(round(self.mean))
        points = self._steps() if len(self.values()) <= STEPS_MAX else self._percentiles()
        return {"cdf": [[write(value), f"{share:.6g}%"] for value, share in points]}

    def _steps(self) -> Iterator[tuple[int, float]]:
        below = 0.0
        for value, weight in self.values():
            yield value, 100 * below / self.count
            below += weight
            yield value, min(100.0, 100 * below / self.count)

    def _percentiles(self) -> Iterator[tuple[int, float]]:
        values = self.values()
        at, below = 0, 0.0
        for share in SHARES:
            while at < len(values) - 1 and below + values[at][1] < share * self.count / 100:
                below += values[at][1]
                at += 1
            yield values[at][0], share
