"""One quantity over the trials of one arm."""

from collections.abc import Sequence
from typing import Any

from tailrace.statistics import bootstrap_interval, mean, median, named_stream


def summarise_sample(values: Sequence[float], *, seed: int, address: str) -> dict[str, Any]:
    """Values, their centre, and the interval of their mean (null where so few trials allow none)."""
    if not values:
        return {"values": [], "mean": None, "median": None, "min": None, "max": None, "interval": None}
    interval = bootstrap_interval([values], named_stream(seed, f"statistics/{address}"), reduce=mean)
    return {
        "values": list(values),
        "mean": mean(values),
        "median": median(values),
        "min": min(values),
        "max": max(values),
        "interval": interval_dict(interval.low, interval.high, interval.level, interval.method) if interval else None,
    }


def interval_dict(low: float, high: float, level: float, method: str) -> dict[str, Any]:
    """An interval as it stands in `result.json`."""
    return {"low": low, "high": high, "level": level, "method": method}
