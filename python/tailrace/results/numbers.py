"""Numbers as people read them: few digits, a unit, and a narrow space between thousands."""

from math import floor, log10

THIN_SPACE = "\u202f"
PS_PER_S = 10**12
PS_PER_MS = 10**9
PS_PER = (("s", PS_PER_S), ("ms", PS_PER_MS), ("µs", 10**6), ("ns", 10**3), ("ps", 1))
DECIMAL_PREFIXES = (("T", 10**12), ("G", 10**9), ("M", 10**6), ("k", 10**3), ("", 1))


def digits_text(value: float | None, digits: int = 3) -> str:
    """At least `digits` significant digits, without exponents; a dash for what is not known."""
    if value is None:
        return "–"
    if value == 0:
        return "0"
    decimals = digits - 1 - floor(log10(abs(value)))
    if decimals <= 0:
        return f"{value:,.0f}".replace(",", THIN_SPACE)
    # A value below a ten-thousandth keeps its exponent: a row of zeros is hard to count.
    return f"{value:.{decimals}f}" if decimals <= digits + 3 else f"{value:.{digits - 1}e}"


def count_text(value: float | None) -> str:
    """A count or a mean of counts: whole from ten on, one decimal below where it is not whole."""
    if value is None:
        return "–"
    is_whole = value >= 10 or float(value).is_integer()
    return f"{value:,.0f}".replace(",", THIN_SPACE) if is_whole else f"{value:.1f}"


def bytes_text(value: float | None, digits: int = 3) -> str:
    """Decimal bytes: `4.67 MB`. Means below one byte are told as such; a dash for what is not known."""
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
    return f"{'+' if value > 0 else '−'}{text} {unit}"


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
