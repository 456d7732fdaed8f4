"""Base types for the parts of a summary."""

from collections.abc import Sequence

from msgspec import Struct

from tailrace.statistics import Interval


class Part(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A part of a summary. A key that is not known is refused."""


class Sample(Part, frozen=True, kw_only=True):
    """One quantity over the trials of one arm."""

    values: Sequence[float]
    """Of each trial."""
    mean: float | None
    """None without a value, as all others."""
    median: float | None
    min: float | None
    max: float | None
    interval: Interval | None
    """Of the mean; None for too few trials."""
