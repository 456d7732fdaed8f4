"""One quantity over the trials of one arm."""

from collections.abc import Sequence
from math import inf
from typing import Any

from tailrace.statistics import Interval, mean, mean_interval, median


def summarise_sample(values: Sequence[float]) -> dict[str, Any]:
    """Values, their centre, and the interval of their mean (null where so few trials allow none)."""
    if not values:
        return {"values": [], "mean": None, "median": None, "min": None, "max": None, "interval": None}
    # A mean of what is never negative is not negative.
    interval = mean_interval([values], bounds=(0.0 if min(values) >= 0 else -inf, inf))
    return {
        "values": list(values),
        "mean": mean(values),
        "median": median(values),
        "min": min(values),
        "max": max(values),
        "interval": interval_dict(interval),
    }


def summarise_figure(values: Sequence[float], bounds: int) -> dict[str, Any]:
    """A sample of which so many values are lower bounds: where one is, the mean is one too, and has no interval."""
    found = summarise_sample(values) | {"bounds": bounds}
    return found | {"interval": None} if bounds else found


def interval_dict(interval: Interval | None, factor: float = 1.0) -> dict[str, Any] | None:
    """An interval as it stands in `result.json`, of so many times the figure; a negative factor turns it round."""
    if interval is None:
        return None
    low, high = sorted((interval.low * factor, interval.high * factor))
    return {"low": low, "high": high, "level": interval.level, "method": interval.method}
