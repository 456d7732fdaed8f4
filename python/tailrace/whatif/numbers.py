"""Numbers that the reader of a page types: their form, and their changes in a plan.

A plan follows a number when each of its fields that the number changes is a whole number `(a + b *
value) / c`; a line of a configuration follows when each of its numbers does. This is derived from
plans lowered at a few values, and verified at others.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from tailrace.scenario.sweep import number_of
from tailrace.scenario.text.units import DIMENSIONS
from tailrace.whatif.patch import PatchStep, digits_of, name_of

DECIMALS_MAX = 12
"""Decimal places of a number that the page writes."""
_FUNCTION = re.compile(r"^([a-z]+\()([^(),:]*)(\))$")


@dataclass(frozen=True)
class Form:
    """The form of a number: the text around it, and its units in multiples of one of them."""

    head: str
    tail: str
    unit: str
    units: dict[str, Fraction]

    def value(self, text: str) -> Fraction | None:
        """The number, in the common unit; None for another form."""
        found = form_of(text)
        if (
            found is None
            or (found.head, found.tail) != (self.head, self.tail)
            or found.unit not in self.units
        ):
            return None
        inner = text[len(self.head) : len(text) - len(self.tail)]
        number = inner[: len(inner) - len(found.unit)] if found.unit else inner
        return Fraction(number.strip()) * self.units[found.unit]

    def text(self, value: Fraction) -> str | None:
        """The number as in a scenario file, in its own unit where that takes few digits; None where
        no unit does."""
        own = self.unit
        alike = [
            ("i" in unit[:2]) == ("i" in own[:2]) and ("bit" in unit) == ("bit" in own)
            for unit in self.units
        ]
        known = [unit for unit, is_alike in zip(self.units, alike, strict=True) if is_alike]
        smaller = [unit for unit in known if self.units[unit] <= self.units[own] and unit != own]
        for unit in (own, *sorted(smaller, key=lambda one: -self.units[one])):
            number = _decimal(value / self.units[unit])
            if number is not None:
                return f"{self.head}{number}{unit}{self.tail}"
        return None

    def data(self) -> dict[str, Any]:
        """As it is written into the page."""
        units = {unit: [size.numerator, size.denominator] for unit, size in self.units.items()}
        return {"head": self.head, "tail": self.tail, "unit": self.unit, "units": units}


def form_of(text: str) -> Form | None:
    """The form of a value's text: a number with or without a unit, or the one argument of a
    function."""
    match = _FUNCTION.fullmatch(text)
    head, inner, tail = match.groups() if match else ("", text, "")
    found = number_of(inner)
    if found is None:
        return None
    unit = found[1]
    if not unit:
        return Form(head, tail, "", {"": Fraction(1)})
    known = next((one.suffixes for one in DIMENSIONS.values() if unit in one.suffixes), None)
    return None if known is None else Form(head, tail, unit, dict(known))


def _decimal(value: Fraction) -> str | None:
    """Digits without an exponent; None where they do not end soon."""
    scaled = value * 10**DECIMALS_MAX
    if scaled.denominator != 1:
        return None
    digits = f"{int(scaled):0{DECIMALS_MAX + 1}d}"
    return f"{digits[:-DECIMALS_MAX]}.{digits[-DECIMALS_MAX:]}".rstrip("0").rstrip(".")


@dataclass(frozen=True)
class Line:
    """A whole number of a plan that follows a value: `(a + b * value) / c`."""

    a: int
    b: int
    c: int

    def at(self, value: Fraction) -> int | None:
        """The number at a value; None where it would not be whole, or negative."""
        found = (self.a + self.b * value) / self.c
        return int(found) if found.denominator == 1 and found >= 0 else None

    def of(self, number: int) -> Fraction | None:
        """The value at which it is this number; None for a constant."""
        return Fraction(number * self.c - self.a, self.b) if self.b else None


Follow = tuple[str, list[Any], Line]
"""The kind and the path of a step, and its number at each value."""
Sample = tuple[Fraction, Sequence[PatchStep]]


def follows(plan: Any, samples: Sequence[Sample]) -> list[Follow] | None:
    """The value of every field that the samples' steps change, at any value; None where there is no
    such rule."""
    replaced: dict[str, tuple[str, list[Any]]] = {}
    for _, steps in samples:
        for step in steps:
            if (
                step[0] not in ("set", "digits")
                or isinstance(step[2], bool)
                or not isinstance(step[2], int)
            ):
                return None
            replaced[repr(step[:2])] = (step[0], step[1])
    found: list[Follow] = []
    for key, (kind, path) in replaced.items():
        line = _line([(value, _number(plan, steps, key, kind, path)) for value, steps in samples])
        if line is None:
            return None
        found.append((kind, path, line))
    return found


def written(configuration: Any, samples: Sequence[Sample]) -> tuple[list[Follow], set[str]]:
    """The lines of each vendor's configuration at any value, and the vendors without such a
    rule."""
    found: list[Follow] = []
    without: set[str] = set()
    for vendor in configuration:
        lines = [
            (value, [step for step in steps if step[1][0] == vendor and "remarks" not in step[1]])
            for value, steps in samples
        ]
        fields = follows(configuration, lines)
        if fields is None:
            without.add(vendor)
        found += fields or []
    return found, without


def _number(plan: Any, steps: Sequence[PatchStep], key: str, kind: str, path: list[Any]) -> Any:
    """The value at a path after the steps."""
    for step in steps:
        if repr(step[:2]) == key:
            return step[2]
    if kind == "set":
        return at_path(plan, path)
    return int(digits_of(at_path(plan, path[:-1]))[path[-1]])


def at_path(plan: Any, path: Sequence[Any]) -> Any:
    """The value of a plan at the path of a step; None where there is none."""
    for key in path:
        if isinstance(key, dict):
            plan = next((one for one in plan if name_of(one) == key["name"]), None)
        elif isinstance(plan, dict):
            plan = plan.get(key)
        elif isinstance(plan, list) and isinstance(key, int) and key < len(plan):
            plan = plan[key]
        else:
            return None
    return plan


def _line(values: Sequence[tuple[Fraction, Any]]) -> Line | None:
    if any(isinstance(one, bool) or not isinstance(one, int) for _, one in values):
        return None
    (low, at_low), (high, at_high) = min(values), max(values)
    if low == high:
        return None
    slope = Fraction(at_high - at_low) / (high - low)
    base = at_low - slope * low
    c = base.denominator * slope.denominator
    line = Line(int(base * c), int(slope * c), c)
    return line if all(line.at(value) == number for value, number in values) else None


def steps_at(follow: Sequence[Follow], value: Fraction) -> list[PatchStep] | None:
    """The steps at a value; None where a number of the plan would not be whole."""
    numbers = [line.at(value) for _, _, line in follow]
    if None in numbers:
        return None
    return [[kind, path, number] for (kind, path, _), number in zip(follow, numbers, strict=True)]


def follow_data(follow: Sequence[Follow]) -> list[list[Any]]:
    """As it is written into the page."""
    return [[kind, path, [line.a, line.b, line.c]] for kind, path, line in follow]
