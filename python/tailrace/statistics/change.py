"""The change from one sample of trials to another: the ratio of a figure on the log scale, or its
difference.

The ratio of two positive figures has an interval that is neither zero nor negative. Trials that
share their seeds are paired: the effect of the seed on both does not count as their difference.
Each change has Student's p value by the same standard error as its interval, so that the two never
contradict each other.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import exp, log, sqrt

from tailrace.statistics.errors import (
    jackknife_error,
    mean_error,
    sectioning_error,
    t_ratio,
    welch_freedom,
)
from tailrace.statistics.interval import LEVEL, LOG_MAX, LOG_METHOD, VALUES_MIN, Interval
from tailrace.statistics.latencies import Latencies
from tailrace.statistics.percentile import (
    METHOD,
    PLAIN_MAX,
    logs_apart,
    logs_of,
    percentile_interval,
)
from tailrace.statistics.sample import mean
from tailrace.statistics.student import student_p_value, student_quantile

HALVINGS = 24
"""Of the logarithm of a ratio: a range of e^20 is resolved to a millionth."""
RESOLUTION = 2.0**-10
"""Latencies are recorded to a thousandth, and their ratio is known no better."""
TOLERANCE = 1e-9
"""Relative: numbers of latencies are far below a billion."""
LINEAR_METHOD = "difference of means"


@dataclass(frozen=True)
class Change:
    """From a first figure to a second one."""

    first: float
    second: float
    p_student: float
    """Two-sided; 1 where there are too few trials."""
    interval: Interval | None
    """Of the ratio, or of the difference where there is none."""
    is_ratio: bool
    """Whether the change is shown as a ratio: both figures are positive, and no shares."""

    @property
    def ratio(self) -> float | None:
        """Second over first figure; None where one of them is not positive, or they are shares."""
        return self.second / self.first if self.is_ratio else None


def mean_change(
    first: Sequence[float],
    second: Sequence[float],
    *,
    is_paired: bool,
    is_share: bool = False,
    level: float = LEVEL,
) -> Change:
    """The change of the means of two samples that are not empty; `is_paired` means that values at
    one index share their seed. Means of shares, and those of which one is zero, have a difference.
    """
    means = mean(first), mean(second)
    if is_share or min(*first, *second) < 0 or min(means) == 0:
        return _changed(
            means,
            means[1] - means[0],
            _combined(first, second, mean_error, is_paired=is_paired),
            level,
        )
    relative = [
        [value / scale for value in sample]
        for sample, scale in zip((first, second), means, strict=True)
    ]
    error = _combined(relative[0], relative[1], mean_error, is_paired=is_paired)
    return _changed(means, log(means[1] / means[0]), error, level, is_ratio=True)


def mean_latency_change(
    first: Latencies, second: Latencies, *, is_paired: bool, level: float = LEVEL
) -> Change:
    """Of the mean latencies in milliseconds; without an interval where one of them is a lower
    bound."""
    means = first.pooled.mean_ms(), second.pooled.mean_ms()
    apart = [logs_apart(own) for own in (first, second)]
    error = None
    if not any(found.is_bound for found in means) and apart[0] is not None and apart[1] is not None:
        error = _combined(
            apart[0], apart[1], lambda values: sectioning_error(values, 0.0), is_paired=is_paired
        )
    return _log_changed((means[0].ms, means[1].ms), error, level)


def percentile_change(
    first: Latencies, second: Latencies, percent: float, *, is_paired: bool, level: float = LEVEL
) -> Change:
    """Of a percentile in milliseconds; without an interval where one of them is a lower bound, or
    has none either.

    A ratio is in the interval where the shares of the trials do not contradict it: with the second
    latencies divided by it, trials of both are held to the percentile of all together. Of clustered
    tails they may contradict none: no ratio is in it that the intervals of the two percentiles
    exclude. Equal percentiles are no difference, whatever the shares beyond them.
    """
    found = _percentile_change(first, second, percent, is_paired=is_paired, level=level)
    is_equal = found.ratio is not None and abs(log(found.ratio)) <= RESOLUTION
    return replace(found, p_student=1.0) if is_equal else found


def _percentile_change(
    first: Latencies, second: Latencies, percent: float, *, is_paired: bool, level: float
) -> Change:
    values = (first.pooled.percentile_ms(percent).ms, second.pooled.percentile_ms(percent).ms)
    shares = _Shares(first, second, percent, is_paired)
    own = [percentile_interval(each, percent, level) for each in (first, second)]
    if not isinstance(own[0], Interval) or not isinstance(own[1], Interval):
        return Change(
            *values,
            _trials_p_value(first, second, percent, is_paired=is_paired),
            None,
            is_ratio=min(values) > 0,
        )
    ends = log(own[1].low / own[0].high), log(own[1].high / own[0].low)
    low, high = shares.interval(log(values[1] / values[0]), ends, level)
    p_value = shares.p_value()
    if percent > PLAIN_MAX:
        tail = _log_changed(
            values, _percentile_error(first, second, percent, is_paired=is_paired), level
        )
        if tail.interval is None:
            return tail
        low, high = min(low, tail.interval.low), max(high, tail.interval.high)
        # Where the two intervals exclude a common percentile, shares beyond one far in the tail of
        # either say little.
        p_value = max(p_value if ends[0] <= 0 <= ends[1] else 0.0, tail.p_student)
    return Change(*values, p_value, Interval(low, high, level, METHOD), is_ratio=True)


def _trials_p_value(
    first: Latencies, second: Latencies, percent: float, *, is_paired: bool
) -> float:
    """Student's p value of the logarithms of the trials' own percentiles, lower bounds as they are.

    Of too few transactions for an interval, those beyond the common percentile may all be in a few
    trials although every trial of one arm is far above all of the other.
    """
    logs = [
        logs_of([trial.percentile_ms(percent).ms for trial in own.trials])
        for own in (first, second)
    ]
    if logs[0] is None or logs[1] is None:
        return _Shares(first, second, percent, is_paired).p_value()
    error = _combined(logs[0], logs[1], mean_error, is_paired=is_paired)
    return (
        student_p_value(t_ratio(mean(logs[1]) - mean(logs[0]), error[0]), error[1])
        if error
        else 1.0
    )


def joint_scores(
    first: Latencies, second: Latencies, percent: float
) -> tuple[list[float], list[float]] | None:
    """Scores of the trials of both at the percentile of all together, which an exchange of trials
    does not move.

    The percentile of the second is the longer where the sum of its scores is positive. None where
    it is not known.
    """
    both = Latencies([*first.trials, *second.trials])
    at_ps = both.pooled.percentile_ps(percent)
    if at_ps is None:
        return None
    scores = both.scores(at_ps, percent)
    return scores[: len(first.trials)], scores[len(first.trials) :]


@dataclass(frozen=True)
class _Shares:
    """The shares of two arms beyond their common percentile, when the second latencies are divided
    by a ratio."""

    first: Latencies
    second: Latencies
    percent: float
    is_paired: bool

    def p_value(self) -> float:
        """Student's, of the ratio 1."""
        found = self._t_at(0.0)
        return student_p_value(*found) if found else 1.0

    def interval(
        self, centre: float, ends: tuple[float, float], level: float
    ) -> tuple[float, float]:
        """The ratios around `exp(centre)` that are not contradicted, between those of these
        logarithms."""
        low, high = (self._end(centre, end, level) for end in ends)
        return exp(min(low, centre - RESOLUTION)), exp(max(high, centre + RESOLUTION))

    def _end(self, inside: float, outside: float, level: float) -> float:
        for _ in range(HALVINGS):
            middle = (inside + outside) / 2
            inside, outside = (
                (inside, middle) if self._is_contradicted(middle, level) else (middle, outside)
            )
        return outside

    def _is_contradicted(self, log_ratio: float, level: float) -> bool:
        found = self._t_at(log_ratio)
        return found is not None and abs(found[0]) > student_quantile(found[1], level)

    def _t_at(self, log_ratio: float) -> tuple[float, int] | None:
        """The t of the difference of the shares, with its degrees of freedom; None where it is not
        known."""
        ratio = exp(log_ratio)
        at_ps = self._percentile_ps(ratio)
        if at_ps is None:
            return None
        first, second = (
            [
                score * len(own.trials) / own.pooled.values
                for score in own.scores(latency_ps, self.percent)
            ]
            for own, latency_ps in ((self.first, at_ps), (self.second, at_ps * ratio))
        )
        found = _combined(first, second, mean_error, is_paired=self.is_paired)
        return (t_ratio(mean(second) - mean(first), found[0]), found[1]) if found else None

    def _percentile_ps(self, ratio: float) -> float | None:
        """Of the first latencies and the second ones over the ratio together; None beyond what is
        known."""
        first, second = self.first.pooled, self.second.pooled
        most = (first.values + second.values) * (1 - self.percent / 100) + TOLERANCE

        def is_reached(latency_ps: float) -> bool:
            beyond = first.values * first.surviving(latency_ps) + second.values * second.surviving(
                latency_ps * ratio
            )
            return beyond <= most

        # Whatever ends has ended at an edge, and the last one may lie beyond the longest latency.
        last_ps = [own.edges_ps[-1] if own.edges_ps else 0 for own in (first, second)]
        high = max(last_ps[0], last_ps[1] / ratio) * (1 + TOLERANCE)
        low = 0.0
        if not is_reached(high):
            return None
        while high - low > TOLERANCE * high:
            middle = (low + high) / 2
            low, high = (low, middle) if is_reached(middle) else (middle, high)
        return high


Error = tuple[float, int]
"""Standard error and degrees of freedom."""


def _combined(
    first: Sequence[float],
    second: Sequence[float],
    error: Callable[[Sequence[float]], float],
    *,
    is_paired: bool,
) -> Error | None:
    """Of second minus first; None for too few trials."""
    if min(len(first), len(second)) < VALUES_MIN:
        return None
    if is_paired:
        return error([y - x for x, y in zip(first, second, strict=True)]), len(first) - 1
    variances = [error(first) ** 2, error(second) ** 2]
    return sqrt(sum(variances)), welch_freedom(variances, (len(first), len(second)))


def _changed(
    figures: tuple[float, float],
    centre: float,
    error: Error | None,
    level: float,
    *,
    is_ratio: bool = False,
) -> Change:
    """A change, or the logarithm of a ratio, with its standard error."""
    if error is None:
        return Change(*figures, 1.0, None, is_ratio)
    reach = student_quantile(error[1], level) * error[0]
    low, high = centre - reach, centre + reach
    if is_ratio:
        low, high = exp(max(low, -LOG_MAX)), exp(min(high, LOG_MAX))
    interval = Interval(low, high, level, LOG_METHOD if is_ratio else LINEAR_METHOD)
    return Change(
        *figures, student_p_value(t_ratio(centre, error[0]), error[1]), interval, is_ratio
    )


def _log_changed(figures: tuple[float, float], error: Error | None, level: float) -> Change:
    is_ratio = min(figures) > 0
    return _changed(
        figures, log(figures[1] / figures[0]) if is_ratio else 0.0, error, level, is_ratio=is_ratio
    )


def _percentile_error(
    first: Latencies, second: Latencies, percent: float, *, is_paired: bool
) -> Error | None:
    """Of the logarithm of a ratio of percentiles: the larger of jackknife and sectioning."""
    left_out = [logs_of(own.percentiles_without(percent)) for own in (first, second)]
    own_logs = [
        logs_of([trial.percentile_ps(percent) for trial in own.trials]) for own in (first, second)
    ]
    centres = logs_of([own.pooled.percentile_ps(percent) for own in (first, second)])
    if (
        left_out[0] is None
        or left_out[1] is None
        or own_logs[0] is None
        or own_logs[1] is None
        or centres is None
    ):
        return None
    apart = [
        [value - centre for value in logs]
        for logs, centre in zip(own_logs, centres, strict=True)
        if logs
    ]
    errors = [
        _combined(left_out[0], left_out[1], jackknife_error, is_paired=is_paired),
        _combined(
            apart[0], apart[1], lambda values: sectioning_error(values, 0.0), is_paired=is_paired
        ),
    ]
    return max((error for error in errors if error is not None), default=None)
