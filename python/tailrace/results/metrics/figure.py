"""A figure of workloads over the trials of an arm: its value, its interval, and its values in each
trial.

A latency is that of all transactions together, any other figure is a mean over trials.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf

from tailrace.results.directory.run_directory import Trial
from tailrace.results.metrics.definitions import (
    SHARES,
    bounds_of_trials,
    key_of_latency,
    metric_of_members,
)
from tailrace.results.metrics.latency import (
    FIGURES,
    PERCENTILES,
    latencies_of,
    latency_interval,
    latency_of_trial,
)
from tailrace.results.summary.figure import FigureSummary
from tailrace.statistics import (
    LEVEL,
    Interval,
    Latencies,
    TrialsNeeded,
    mean,
    mean_interval,
    mean_latency_low,
    mean_log_interval,
    percentile_low,
)
from tailrace.statistics.interval import VALUES_MIN

Found = Interval | TrialsNeeded | None


@dataclass(frozen=True)
class Figure:
    """The figure over trials."""

    value: float | None
    """None where it is not known in all of them."""
    values: Sequence[float]
    """Of the trials that have it."""
    trials: int
    bounds: int
    """Trials because of which the value is a lower bound: transactions were running when they
    ended."""
    interval_at: Callable[[float], Found]
    """By level."""
    low_at: Callable[[float], float | None]
    """Of a latency that has no interval, because it is a lower bound or of few transactions: what
    it certainly exceeds.

    Few transactions beyond a percentile underestimate it, so that they can show that it is long,
    not that it is short.
    """

    @property
    def is_bound(self) -> bool:
        """Whether the value is a lower bound."""
        return self.bounds > 0

    @cached_property
    def interval(self) -> Interval | None:
        """The printed interval, where the trials allow one."""
        return self._found if isinstance(self._found, Interval) else None

    @cached_property
    def trials_needed(self) -> int | None:
        """The number of trials that an interval takes; None where it has one, or none could have
        one."""
        return self._found.trials if isinstance(self._found, TrialsNeeded) else None

    @cached_property
    def _found(self) -> Found:
        return self.interval_at(LEVEL)

    def data(self) -> FigureSummary:
        """For the summary of a run."""
        return FigureSummary(
            value=self.value,
            values=list(self.values),
            interval=self.interval,
            trials_needed=self.trials_needed,
            bounds=self.bounds,
        )


def figure_of(trials: Sequence[Trial], members: Sequence[str], metric: str) -> Figure:
    """A metric of workloads together."""
    if (key := key_of_latency(metric)) is not None:
        return _latency(trials, members, key)
    known = [
        value
        for trial in trials
        if (value := metric_of_members(trial, members, metric)) is not None
    ]
    if not known or len(known) < len(trials):
        return _unknown(trials, known)
    is_share = metric in SHARES
    return Figure(
        mean(known),
        known,
        len(trials),
        0,
        lambda level: _of_mean(known, level, is_share=is_share),
        _nothing,
    )


def bounds_of(trials: Sequence[Trial], members: Sequence[str], metric: str) -> int:
    """Trials because of which the figure of all is a lower bound; 0 where it is none."""
    key, latencies = key_of_latency(metric), latencies_of(trials, members)
    if key is None or latencies is None or not FIGURES[key](latencies.pooled).is_bound:
        return 0
    return max(1, bounds_of_trials(trials, members, metric))


def _unknown(trials: Sequence[Trial], known: Sequence[float]) -> Figure:
    return Figure(None, known, len(trials), 0, _nothing, _nothing)


def _latency(trials: Sequence[Trial], members: Sequence[str], key: str) -> Figure:
    latencies = latencies_of(trials, members)
    if latencies is None:
        return _unknown(trials, [])
    return Figure(
        FIGURES[key](latencies.pooled).ms,
        [own.ms for trial in trials if (own := latency_of_trial(trial, members, key))],
        len(trials),
        bounds_of(trials, members, f"latency_{key}_ms"),
        lambda level: latency_interval(latencies, key, level),
        lambda level: _low(latencies, key, level),
    )


def _low(latencies: Latencies, key: str, level: float) -> float | None:
    if len(latencies.trials) < VALUES_MIN:
        return None
    if key in PERCENTILES:
        return percentile_low(latencies, PERCENTILES[key], level)
    return mean_latency_low(latencies, level) if key == "mean" else None


def _of_mean(values: Sequence[float], level: float, *, is_share: bool) -> Found:
    """On the log scale where all values are positive and no shares."""
    if len(values) < VALUES_MIN:
        return TrialsNeeded(VALUES_MIN)
    plain = mean_interval(values, bounds=(0.0, 100.0 if is_share else inf), level=level)
    return plain if is_share else mean_log_interval(values, level=level) or plain


def _nothing(_level: float) -> None:
    return None
