"""One quantity over the trials of one arm."""

from collections.abc import Sequence

from tailrace.results.summary.base import Sample
from tailrace.statistics import Interval, mean, mean_interval, mean_log_interval, median


def summarise_sample(values: Sequence[float]) -> Sample:
    """Values, their centre, and the interval of their mean.

    The interval of a positive mean is one on the log scale.
    """
    return sample_with(
        values, mean_log_interval(values) or mean_interval(values) if values else None
    )


def summarise_share(values: Sequence[float]) -> Sample:
    """A sample of shares in percent, whose mean lies between 0 and 100."""
    return sample_with(values, mean_interval(values, bounds=(0.0, 100.0)) if values else None)


def sample_with(values: Sequence[float], interval: Interval | None) -> Sample:
    """Values, their centre, and this interval of their mean."""
    return Sample(
        values=list(values),
        mean=mean(values) if values else None,
        median=median(values) if values else None,
        min=min(values, default=None),
        max=max(values, default=None),
        interval=interval,
    )
