"""Numbers of fio: sizes with `kb_base`, times, arithmetic in parentheses, ranges."""

import re
from collections.abc import Callable
from fractions import Fraction

Unit = Callable[[Fraction, str], Fraction | None]
"""The value of a number with a suffix."""
DIGITS_MAX = 30
TEXT_MAX = 200
"""Characters of a number or an expression."""
MICROSECOND = Fraction(1, 10**6)
KB_BASES = (1024, 1000)
PREFIXES = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4, "p": 5}
TIMES = {
    "d": Fraction(86_400),
    "h": Fraction(3600),
    "m": Fraction(60),
    "s": Fraction(1),
    "sec": Fraction(1),
    "": Fraction(1),
    "ms": Fraction(1, 1000),
    "msec": Fraction(1, 1000),
    "us": Fraction(1, 10**6),
    "usec": Fraction(1, 10**6),
}
"""Seconds by suffix (HOWTO, "time")."""
NUMBER = re.compile(r"^(0x[0-9a-f]+|\d+(?:\.\d+)?)\s*([a-z]*)$")
TOKEN = re.compile(r"\s*(?:(\d+(?:\.\d+)?[a-z]*)|(.))")
DEPTH_MAX = 20
POWER_MAX = 64
RESULT_MAX = 10**24


def size_of(text: str, kb_base: int = 1024) -> Fraction | None:
    """Bytes; with `kb_base` 1024, `k` is 1024 and `ki` 1000, and with 1000 the other way round
    (HOWTO, "int")."""
    return _value(text, lambda number, suffix: _size(number, suffix, kb_base))


def time_of(text: str, usual: Fraction = Fraction(1)) -> Fraction | None:
    """Seconds; `usual` is the unit of a number without one. The value of an expression is in
    microseconds."""
    if text.strip().startswith("("):
        value = _value(
            text, lambda number, suffix: _time(number, suffix, MICROSECOND, in_unit=MICROSECOND)
        )
        return None if value is None else value * MICROSECOND
    return _value(text, lambda number, suffix: _time(number, suffix, usual))


def int_of(text: str, kb_base: int = 1024) -> int | None:
    """A whole number."""
    value = size_of(text, kb_base)
    return int(value) if value is not None and value.denominator == 1 else None


def _size(number: Fraction, suffix: str, kb_base: int) -> Fraction | None:
    unit = suffix.removesuffix("b")
    is_other = unit.endswith("i")
    prefix = unit.removesuffix("i")
    if prefix not in PREFIXES or (is_other and not prefix):
        return None
    base = (1000 if kb_base == 1024 else 1024) if is_other else kb_base
    return number * Fraction(base) ** PREFIXES[prefix]


def _time(
    number: Fraction, suffix: str, usual: Fraction, in_unit: Fraction = Fraction(1)
) -> Fraction | None:
    if not suffix:
        return number * usual / in_unit
    return number * TIMES[suffix] / in_unit if suffix in TIMES else None


def _value(text: str, unit: Unit) -> Fraction | None:
    text = text.strip().lower()
    if len(text) > TEXT_MAX:
        return None
    if text.startswith("("):
        return _Arithmetic(text, unit).value()
    match = NUMBER.fullmatch(text)
    if not match or len(match[1]) > DIGITS_MAX:
        return None
    number = Fraction(int(match[1], 16)) if match[1].startswith("0x") else Fraction(match[1])
    return unit(number, match[2])


class _Arithmetic:
    """`+ - * / % ^` with parentheses."""

    def __init__(self, text: str, unit: Unit) -> None:
        self.tokens = [
            number or sign for number, sign in TOKEN.findall(text) if (number or sign).strip()
        ]
        self.unit = unit
        self.depth = 0

    def value(self) -> Fraction | None:
        """The value of the whole text, or None."""
        found = self._sum()
        if self.tokens or found is None or abs(found) > RESULT_MAX:
            return None
        return found

    def _next(self, signs: str) -> str | None:
        return self.tokens.pop(0) if self.tokens and self.tokens[0] in signs else None

    def _sum(self) -> Fraction | None:
        found = self._product()
        while found is not None and (sign := self._next("+-")):
            right = self._product()
            found = None if right is None else (found + right if sign == "+" else found - right)
        return found

    def _product(self) -> Fraction | None:
        found = self._power()
        while found is not None and (sign := self._next("*/%")):
            right = self._power()
            if right is None or (sign != "*" and right == 0):
                return None
            found = (
                found * right if sign == "*" else found / right if sign == "/" else found % right
            )
        return found

    def _power(self) -> Fraction | None:
        found = self._atom()
        if found is not None and self._next("^"):
            right = self._atom()
            if (
                right is None
                or right.denominator != 1
                or not 0 <= right <= POWER_MAX
                or abs(found) > RESULT_MAX
            ):
                return None
            return Fraction(found**right.numerator)
        return found

    def _atom(self) -> Fraction | None:
        self.depth += 1
        if self.depth > DEPTH_MAX or not self.tokens:
            return None
        token = self.tokens.pop(0)
        if token == "(":
            found = self._sum()
            self.depth -= 1
            return found if self._next(")") else None
        match = NUMBER.fullmatch(token)
        self.depth -= 1
        return (
            self.unit(Fraction(match[1]), match[2])
            if match and len(match[1]) <= DIGITS_MAX
            else None
        )
