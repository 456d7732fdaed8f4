"""Formats of numbers: few digits, a unit, and a narrow space between thousands."""

from math import floor, log10

THIN_SPACE = "\u202f"
MINUS = "\u2212"
"""The sign of negative numbers wherever people read them; files for programs have the hyphen of
ASCII."""
TIMES_FROM_PERCENT = 300.0
"""Changes by this percentage or more (the fourfold) are shown as a ratio: larger percentages are
hard to read."""
PS_PER_S = 10**12
PS_PER_MS = 10**9
PS_PER_US = 10**6
PS_PER = (("s", PS_PER_S), ("ms", PS_PER_MS), ("µs", PS_PER_US), ("ns", 10**3), ("ps", 1))
DECIMAL_PREFIXES = (("T", 10**12), ("G", 10**9), ("M", 10**6), ("k", 10**3), ("", 1))


def digits_text(value: float | None, digits: int = 3) -> str:
    """At least `digits` significant digits, and exponents for very small values alone; a dash for
    unknown values."""
    if value is None:
        return "–"
    if value == 0:
        return "0"
    decimals = digits - 1 - floor(log10(abs(value)))
    if decimals <= 0:
        return f"{value:,.0f}".replace(",", THIN_SPACE).replace("-", MINUS)
    # A value below a ten-thousandth keeps its exponent: a row of zeros is hard to count.
    text = f"{value:.{decimals}f}" if decimals <= digits + 3 else _exponent_text(value, digits)
    return f"{MINUS}{text[1:]}" if value < 0 else text


def _exponent_text(value: float, digits: int) -> str:
    """`8.2e−5`."""
    number, _, exponent = f"{value:.{digits - 1}e}".partition("e")
    return f"{number}e{MINUS}{abs(int(exponent))}"


def bound_mark(bounds: int) -> str:
    """The prefix of a figure that contains this many lower bounds."""
    return "> " if bounds else ""


def count_text(value: float | None) -> str:
    """A count or a mean of counts: whole from ten on, one decimal below where it is not whole."""
    if value is None:
        return "–"
    is_whole = value >= 10 or float(value).is_integer()
    return f"{value:,.0f}".replace(",", THIN_SPACE) if is_whole else f"{value:.1f}"


def bytes_text(value: float | None, digits: int = 3) -> str:
    """Decimal bytes: `4.67 MB`. Means below one byte keep their fraction; a dash for unknown
    values."""
    if value is None:
        return "–"
    if 0 < value < 1:
        return "< 1 B"
    return _prefixed(value, digits, "B")


def size_text(value: float) -> str:
    """Decimal bytes of a setting, which is exact: `5 MB`."""
    return _trimmed(bytes_text(value, 4))


def rate_text(bits_per_s: float) -> str:
    """Decimal bits per second: `10 Gbit/s`."""
    return _trimmed(_prefixed(bits_per_s, 4, "bit/s"))


def span_text(picoseconds: float) -> str:
    """A span in the largest unit that keeps it at one or more: `5 ms`."""
    for unit, size in PS_PER:
        if abs(picoseconds) >= size:
            return _trimmed(f"{digits_text(picoseconds / size, 4)} {unit}")
    return "0 s"


def signed_text(value: float | None, unit: str, decimals: int = 1) -> str:
    """With its sign, a true minus and the unit: `−0.3 points`. Rounded zeros have no sign."""
    if value is None:
        return "–"
    text = f"{abs(value):.{decimals}f}"
    if float(text) == 0:
        return f"{text} {unit}"
    return f"{'+' if value > 0 else MINUS}{text} {unit}"


def plain_text(value: float | None) -> str:
    """A figure with all of its published digits; a dash for None."""
    return "–" if value is None else f"{value:g}".replace("-", MINUS)


def is_shown_as_ratio(percent: float) -> bool:
    """Whether a change is shown as a ratio: from the fourfold on."""
    return percent >= TIMES_FROM_PERCENT


def change_text(percent: float | None) -> str:
    """A change with its sign, `+42.6 %`; from the fourfold on the ratio, `× 14.3`. A dash where it
    is not known."""
    if percent is None:
        return "–"
    return (
        f"× {digits_text(1 + percent / 100)}"
        if is_shown_as_ratio(percent)
        else signed_text(percent, "%")
    )


def change_interval_text(ends: tuple[float, float] | None, percent: float | None) -> str:
    """The interval of a change in the words of the change itself: `+35.0 to +50.2 %`, or `× 12.1 to
    16.5`."""
    if ends is None or percent is None:
        return "–"
    if is_shown_as_ratio(percent):
        return f"× {digits_text(1 + ends[0] / 100)} to {digits_text(1 + ends[1] / 100)}"
    return f"{signed_text(ends[0], '').strip()} to {signed_text(ends[1], '%')}"


def p_text(p_value: float) -> str:
    """A p value with two digits, or a bound."""
    return "< 0.0001" if p_value < 0.0001 else digits_text(p_value, 2)


def _prefixed(value: float, digits: int, unit: str) -> str:
    for prefix, size in DECIMAL_PREFIXES:
        if abs(value) >= size:
            return f"{digits_text(value / size, digits)} {prefix}{unit}"
    return f"{digits_text(value, digits)} {unit}"


def _trimmed(text: str) -> str:
    """`10.00 Gbit/s` as `10 Gbit/s`: for settings, which are exact."""
    number, _, unit = text.partition(" ")
    return f"{number.rstrip('0').rstrip('.') if '.' in number else number} {unit}"


def number(value: float | None, digits: int = 4) -> str:
    """Significant digits without exponents, with plain spaces between thousands; a dash for unknown
    values."""
    return digits_text(value, digits).replace(THIN_SPACE, " ")
