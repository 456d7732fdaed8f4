"""Quantities in the notation of NX-OS."""

RATES = (("gbps", 10**9), ("mbps", 10**6), ("kbps", 1000), ("bps", 1))
TIMES_PS = (("sec", 10**12), ("msec", 10**9), ("usec", 10**6))


def rate_words(rate_bps: int) -> str:
    """A rate such as `5 gbps`, in the largest unit of which it is a whole number."""
    return next(f"{rate_bps // size} {unit}" for unit, size in RATES if rate_bps % size == 0)


def time_words(time_ps: int) -> str:
    """A time such as `5 msec`; less than a microsecond becomes one."""
    exact = (f"{time_ps // size} {unit}" for unit, size in TIMES_PS if time_ps % size == 0)
    return next(exact, f"{max(1, round(time_ps / 10**6))} usec")
