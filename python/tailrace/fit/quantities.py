"""Measured numbers as a scenario states them."""

DIGITS = 4
"""Significant digits of a measured time or rate: a relative step of at most 0.1 %."""
TIME_UNITS = ((10**9, "s"), (10**6, "ms"), (10**3, "us"), (1, "ns"))
SIZE_UNITS = ((10**9, "GB"), (10**6, "MB"), (10**3, "kB"))
RATE_UNITS = ((10**9, "Gbit/s"), (10**6, "Mbit/s"), (10**3, "kbit/s"), (1, "bit/s"))


def time_text(ns: float) -> str:
    """A time in ns."""
    return _text(ns, TIME_UNITS, "0s")


def rate_text(bits_per_s: float) -> str:
    """A rate."""
    return _text(bits_per_s, RATE_UNITS, "0bit/s")


def size_text(size_bytes: float) -> str:
    """A size in bytes, as whole bytes; at least one."""
    whole = max(1, round(size_bytes))
    factor, unit = next((one for one in SIZE_UNITS if whole % one[0] == 0), (1, "B"))
    return f"{whole // factor}{unit}"


def rounded(value: float) -> float:
    """With the digits of `DIGITS`."""
    return float(f"{value:.{DIGITS}g}")


def _text(value: float, units: tuple[tuple[int, str], ...], zero: str) -> str:
    whole = rounded(value)
    for factor, unit in units:
        if whole >= factor:
            digits = f"{whole / factor:.{DIGITS}g}"
            return (f"{float(digits):.0f}" if "e" in digits else digits) + unit
    return zero if whole < 1 else f"1{units[-1][1]}"
