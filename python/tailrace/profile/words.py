"""Numbers of a profile in words."""

from tailrace.results.format.numbers import digits_text, span_text

PS_PER_NS = 1000
SHARE_SHOWN_MIN = 0.001
"""Smaller shares have significant digits."""


def ns_text(ns: float) -> str:
    """A time in its largest unit."""
    return span_text(ns * PS_PER_NS)


def share_text(value: float) -> str:
    """A share in percent: one decimal, more below 0.1 %."""
    return (
        f"{value * 100:.1f} %"
        if value == 0 or value >= SHARE_SHOWN_MIN
        else f"{digits_text(value * 100, 2)} %"
    )
