"""Ranges of values that are swept, searched or varied: `100kB..16MB`, `1..64`, `10%..90%`,
`log(1MB..64MB, 7)`.

Their values are those of a scenario file: with units, whole where the ends are, and exact in the
plan's unit.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil, exp, log

from tailrace.scenario.text.units import (
    DATA_RATE,
    FINE_TIME,
    FRAMES,
    FREQUENCY,
    LENGTH,
    NUMBER_CHARACTERS_MAX,
    OFFSET,
    RATE,
    REQUEST_RATE,
    SHARE,
    SIZE,
    TIME,
    Dimension,
    QuantityError,
    split,
)

BETWEEN = ".."
DIGITS = 4
"""Significant digits of the values between the ends."""
LOGARITHMIC_FROM = 10
"""Bare numbers whose ends are this many times apart are spaced by factors; fewer times, by
steps."""
ALL_LISTED = 1024
"""Ranges of fewer whole numbers have all of them as values."""
DECIMALS_MAX = 4
SEARCHED = (
    TIME,
    SIZE,
    RATE,
    DATA_RATE,
    REQUEST_RATE,
    OFFSET,
    SHARE,
    FREQUENCY,
    FRAMES,
    LENGTH,
    FINE_TIME,
)
AXIS_MAX = 100_000
"""Values of one key, at most; they are in memory."""
HINT = (
    "write a list (1MB,2MB,4MB), a range (1MB..64MB, 1..8), or values spaced in one "
    "(log(1MB..64MB, 7))"
)
"""The one notation of values that vary: of a search, of a study of assumptions, and of a sweep."""
SPACED = (
    r"^\s*(?P<spacing>linear|log)\s*\((?P<ends>[^(),]*\.\.[^(),]*),\s*(?P<number>\d{1,9})\s*\)\s*$"
)
_SPACED = re.compile(SPACED)
_CALL = re.compile(
    r"^\s*(?P<name>lin|linear|linspace|log|logspace|range)\s*\((?P<arguments>[^()]*)\)\s*$"
)
_ENDS = re.compile(r"^\s*[-+]?\.?\d[^,()]*\.\.[^,()]*$")


@dataclass(frozen=True)
class Extent:
    """A range of one kind of quantity, or of bare numbers."""

    low: Fraction
    """In the plan's unit."""
    high: Fraction
    dimension: Dimension | None = None
    """None for bare numbers."""
    units: tuple[str, ...] = ()
    """Units in which values are written: those of the ends, largest first."""
    finest: tuple[str, ...] = ()
    """The plan's unit, where the dimension has it, for values without a short form in the others.
    """
    is_whole: bool = False
    """Of bare numbers, whether both ends are whole, so that all values are."""
    spacing: str | None = None
    """linear or log, where it is stated."""

    @property
    def is_logarithmic(self) -> bool:
        """Whether values are spaced by factors: quantities other than shares, and numbers far
        apart."""
        if self.spacing is not None:
            return self.spacing == "log"
        if self.low <= 0 or self.dimension is SHARE:
            return False
        return self.dimension is not None or self.high / self.low >= LOGARITHMIC_FROM

    def at(self, share: float) -> object:
        """The value at a share (0 to 1) of the range, as a scenario file has it; the ends are
        exact."""
        if share <= 0 or share >= 1:
            return self._written(self.low if share <= 0 else self.high)
        low, high = float(self.low), float(self.high)
        between = (
            exp(log(low) + share * log(high / low))
            if self.is_logarithmic
            else low + share * (high - low)
        )
        whole = self.dimension is not None or self.is_whole
        rounded = Fraction(f"{between:.{DIGITS}g}")
        exact = Fraction(round(rounded)) if whole else rounded
        return self._written(min(max(exact, self.low), self.high))

    def number_of(self, value: object) -> float | None:
        """A value of a scenario file in the plan's unit, or a bare number; None where it is
        neither."""
        found = split(str(value))
        if found is None or (found[1] != "") != (self.dimension is not None):
            return None
        size = self.dimension.suffixes.get(found[1]) if self.dimension is not None else Fraction(1)
        return float(Fraction(found[0]) * size) if size is not None else None

    def share_of(self, number: float | None) -> float:
        """Position of a number in the range, 0 to 1; the middle for None."""
        if number is None:
            return 0.5
        low, high = float(self.low), float(self.high)
        inside = min(max(number, low), high)
        return (
            log(inside / low) / log(high / low)
            if self.is_logarithmic
            else (inside - low) / (high - low)
        )

    def values(self, precision: float) -> list[object]:
        """Values of which neighbours differ by at most this share of themselves, of steps by this
        share of the end.

        Few whole numbers are all listed.
        """
        if self.is_whole and self.high - self.low < ALL_LISTED:
            return list(range(int(self.low), int(self.high) + 1))
        if self.is_logarithmic:
            steps = ceil(log(self.high / self.low) / log(1 + precision))
        else:
            steps = ceil((self.high - self.low) / (Fraction(precision) * self.high))
        return list(dict.fromkeys(self.at(step / steps) for step in range(steps + 1)))

    def _written(self, exact: Fraction) -> object:
        if self.dimension is None:
            return int(exact) if exact.denominator == 1 else float(exact)
        sizes = {unit: self.dimension.suffixes[unit] for unit in self.units}
        fitting = [unit for unit, size in sizes.items() if exact >= size]
        # Below one of the smallest unit of the ends, a fraction of it where that is short,
        # otherwise the plan's unit.
        for unit in [*fitting, *reversed(self.units), *self.finest]:
            if (text := _decimal(exact / self.dimension.suffixes[unit])) is not None:
                return f"{text}{_gap(self.dimension)}{unit}"
        last = self.units[-1]
        return f"{float(exact / sizes[last])}{_gap(self.dimension)}{last}"


def is_range(text: str) -> bool:
    """Whether a text has the form of a range, or of values spaced in one, rather than a list; it
    may be invalid."""
    return bool(_CALL.fullmatch(text) or _ENDS.fullmatch(text))


def values_of(text: str) -> list[object]:
    """The values of `log(1MB..64MB, 7)`, `linear(1..9, 5)`, or a range of few whole numbers such as
    `1..8`.

    Raises `QuantityError` with the fault, also for a range without a number of values.
    """
    if (spaced := _SPACED.match(text)) is not None:
        extent, number = (
            replace(parse_extent(spaced["ends"]), spacing=spaced["spacing"]),
            int(spaced["number"]),
        )
        if extent.is_logarithmic and extent.low <= 0:
            raise QuantityError(
                f"'{text}' cannot begin at zero", "write a first value above zero, or linear"
            )
        if not 2 <= number <= AXIS_MAX:
            raise QuantityError(f"{number} values are out of range", f"write 2 to {AXIS_MAX}")
        return list(dict.fromkeys(extent.at(step / (number - 1)) for step in range(number)))
    if (call := _CALL.fullmatch(text)) is not None:
        first, last, *rest = (*(part.strip() for part in call["arguments"].split(",")), "", "")
        is_old = call["name"] in ("linear", "log") and len(rest) == 3 and ".." not in first
        raise QuantityError(
            f"'{text}' is no range",
            f"write {call['name']}({first}..{last}, {rest[0]})" if is_old else HINT,
        )
    extent = parse_extent(text)
    if extent.is_whole and extent.high - extent.low < ALL_LISTED:
        return list(range(int(extent.low), int(extent.high) + 1))
    spacing = "log" if extent.is_logarithmic else "linear"
    raise QuantityError(
        f"'{text}' does not say how many values", f"write {spacing}({text.strip()}, 7)"
    )


def parse_extent(text: str) -> Extent:
    """The range in a text such as `100kB..16MB`; raises `QuantityError` with the fault."""
    ends = [part.strip() for part in text.split(BETWEEN)]
    if len(ends) != 2 or not all(ends):
        raise QuantityError(f"'{text}' is no range", HINT)
    (low, low_unit), (high, high_unit) = (_end(end) for end in ends)
    if bool(low_unit) != bool(high_unit):
        bare, other = (ends[0], high_unit) if not low_unit else (ends[1], low_unit)
        raise QuantityError(f"{bare} has no unit", f"write {bare}{other}")
    if not low_unit:
        extent = Extent(low, high, is_whole=low.denominator == 1 and high.denominator == 1)
    else:
        dimension = _dimension(ends, low_unit, high_unit)
        sizes = dimension.suffixes
        units = dict.fromkeys(sorted((low_unit, high_unit), key=sizes.__getitem__, reverse=True))
        finest = tuple(unit for unit, size in sizes.items() if size == 1)[:1]
        extent = Extent(
            low * sizes[low_unit], high * sizes[high_unit], dimension, tuple(units), finest
        )
    if extent.low == extent.high:
        raise QuantityError(f"both ends are {ends[0]}", HINT)
    if extent.low > extent.high:
        raise QuantityError(
            f"{ends[0]} is above {ends[1]}", f"the smaller end comes first: {ends[1]}..{ends[0]}"
        )
    return extent


def _end(text: str) -> tuple[Fraction, str]:
    found = split(text)
    if found is None or len(found[0]) > NUMBER_CHARACTERS_MAX:
        raise QuantityError(f"'{text}' is not a number with a unit", HINT)
    number, unit = found
    if number.startswith("-"):
        raise QuantityError(f"'{text}' is negative", HINT)
    return Fraction(number), unit


def _dimension(ends: list[str], low: str, high: str) -> Dimension:
    both = [
        dimension
        for dimension in SEARCHED
        if low in dimension.suffixes and high in dimension.suffixes
    ]
    if both:
        return both[0]
    for unit in (low, high):
        if not any(unit in dimension.suffixes for dimension in SEARCHED):
            raise QuantityError(
                f"'{unit}' is no unit", "; ".join(_likely(unit)) or "see the scenario reference"
            )
    nouns = [next(one.noun for one in SEARCHED if unit in one.suffixes) for unit in (low, high)]
    raise QuantityError(
        f"{ends[0]} is a {nouns[0]} and {ends[1]} a {nouns[1]}",
        "write both ends in units of one kind",
    )


def _likely(unit: str) -> Iterator[str]:
    for dimension in SEARCHED[:-1]:
        meant = dimension.aliases.get(unit) or next(
            (suffix for suffix in dimension.suffixes if suffix.lower() == unit.lower()), None
        )
        if meant is not None:
            yield f"as a {dimension.noun} write {meant}"


def _decimal(number: Fraction) -> str | None:
    """Digits without an exponent; None where they are too many."""
    scaled = number * 10**DECIMALS_MAX
    if scaled.denominator != 1:
        return None
    text = f"{int(scaled) // 10**DECIMALS_MAX}.{int(scaled) % 10**DECIMALS_MAX:0{DECIMALS_MAX}d}"
    return text.rstrip("0").rstrip(".")


def _gap(dimension: Dimension) -> str:
    return " " if dimension is FRAMES else ""
