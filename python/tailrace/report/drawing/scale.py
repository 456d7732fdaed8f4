"""Scales: from a value to a share of the axis (0 to 1), and the values at which to put ticks."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor, inf, log10
from typing import Protocol

from tailrace.results.format.numbers import THIN_SPACE, digits_text

Tick = tuple[float, str]
# The digits of each decade that have room for a label in a narrow panel, by the decades that an
# axis spans.
LABELLED = ((0.9, (1, 2, 4, 6)), (1.8, (1, 2, 5)), (2.4, (1, 3)), (inf, (1,)))
# Nice steps of a linear axis.
STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)


class AxisScale(Protocol):
    """The interface of an axis for plots."""

    def __call__(self, value: float) -> float:
        """Share of the axis."""
        ...

    def ticks(self) -> list[Tick]:
        """Values with their labels; an empty label marks a minor tick."""
        ...


@dataclass(frozen=True)
class Linear:
    """From `low` to `high`, with about `count` ticks."""

    low: float
    high: float
    count: int = 5
    unit: str = ""

    def __call__(self, value: float) -> float:
        """Share of the axis."""
        return (value - self.low) / (self.high - self.low)

    def ticks(self) -> list[Tick]:
        """Round values."""
        step = _nice((self.high - self.low) / self.count)
        first, last = ceil(self.low / step - 1e-9), floor(self.high / step + 1e-9)
        decimals = max(
            0, -floor(log10(step) + 1e-9) + (step / 10 ** floor(log10(step) + 1e-9) == STEPS[2])
        )
        return [(n * step, _label(n * step, decimals) + self.unit) for n in range(first, last + 1)]


@dataclass(frozen=True)
class Log:
    """Decades from `low` to `high`, both above zero."""

    low: float
    high: float
    names: Sequence[tuple[float, str]] = ()

    def __call__(self, value: float) -> float:
        """Share of the axis; values outside are drawn at the edge."""
        clipped = min(max(value, self.low), self.high)
        return (log10(clipped) - log10(self.low)) / (log10(self.high) - log10(self.low))

    def ticks(self) -> list[Tick]:
        """More digits of each decade where there are few decades; those without a label are
        minor."""
        decades = range(floor(log10(self.low)), ceil(log10(self.high)) + 1)
        span = log10(self.high / self.low)
        labelled = next(digits for decades, digits in LABELLED if span < decades)
        values = [
            (digit * 10.0**decade, digit in labelled)
            for decade in decades
            for digit in range(1, 10)
        ]
        inside = [
            (value, is_major)
            for value, is_major in values
            if self.low * 0.999 <= value <= self.high * 1.001
        ]
        return [(value, self._name(value) if is_major else "") for value, is_major in inside]

    def _name(self, value: float) -> str:
        for size, unit in self.names:
            if value >= size * 0.999:
                return f"{digits_text(value / size, 1)} {unit}"
        return digits_text(value, 1)


MILLISECONDS = ((1_000.0, "s"), (1.0, "ms"), (0.001, "µs"), (0.000_001, "ns"))


@dataclass(frozen=True)
class Share:
    """Shares 0 to 1, labelled in percent."""

    def __call__(self, value: float) -> float:
        """Share of the axis."""
        return value

    def ticks(self) -> list[Tick]:
        """Quarters."""
        return [(quarter / 4, f"{quarter * 25} %" if quarter else "0") for quarter in range(5)]


@dataclass(frozen=True)
class Tail:
    """Shares 0 to 1 with the upper end drawn out: each nine takes as much room as the first nine
    tenths."""

    nines: int

    def __call__(self, value: float) -> float:
        """Share of the axis."""
        return min(-log10(max(1 - value, 10.0**-self.nines)) / self.nines, 1.0)

    def ticks(self) -> list[Tick]:
        """50 %, 90 %, 99 % ..."""
        major: list[Tick] = [(0.0, "0"), (0.5, "50 %")]
        return major + [
            (1 - 10.0**-n, f"{100 - 10.0 ** (2 - n):g} %") for n in range(1, self.nines + 1)
        ]


def linear_from_zero(values: Sequence[float], *, count: int = 5) -> Linear:
    """A linear scale from zero to just above the largest value; 0 to 1 where all are zero."""
    highest = max(values, default=0.0)
    return Linear(0.0, highest * 1.04 if highest > 0 else 1.0, count)


def log_around(low: float, high: float, names: Sequence[tuple[float, str]] = ()) -> Log:
    """A logarithmic scale that holds both ends and spans at least a factor of four."""
    middle = (low * high) ** 0.5
    return Log(min(low, middle / 2) * 0.97, max(high, middle * 2) * 1.03, names)


def _label(value: float, decimals: int) -> str:
    return f"{value:,.{decimals}f}".replace(",", THIN_SPACE).replace("-", "−")


def _nice(step: float) -> float:
    size = 10.0 ** floor(log10(step))
    return next(candidate * size for candidate in STEPS if candidate * size >= step * 0.999)
