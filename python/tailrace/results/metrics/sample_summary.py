"""One quantity over the trials of one arm."""

from collections.abc import Sequence
from typing import Any

from tailrace.statistics import Interval, mean, mean_interval, mean_log_interval, median


def summarise_sample(values: Sequence[float]) -> dict[str, Any]:
    """Values, their centre, and the interval of their mean (null where so few trials allow none).

    The interval of a positive mean is one on the log scale.
    """
    return _summary(values, mean_log_interval(values) or mean_interval(values) if values else None)


def summarise_share(values: Sequence[float]) -> dict[str, Any]:
    """A sample of shares in percent, whose mean lies between 0 and 100."""
    return _summary(values, mean_interval(values, bounds=(0.0, 100.0)) if values else None)


def _summary(values: Sequence[float], interval: Interval | None) -> dict[str, Any]:
    return {
        "values": list(values),
        "mean": mean(values) if values else None,
        "median": median(values) if values else None,
        "min": min(values, default=None),
        "max": max(values, default=None),
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
