"""Percentiles of all transactions of several trials together, with intervals that take trials as a
whole.

Transactions of one trial depend on each other, so that trials are resampled, never transactions. A
latency is in the interval of a percentile where the share of transactions beyond it does not
contradict the percentile (Woodruff 1952, `Confidence Intervals for Medians and Other Position
Measures`, JASA 47; Francisco and Fuller 1991, `Quantile Estimation with a Complex Survey Design`,
Annals of Statistics 19): trial i has the score x_i = transactions beyond the latency, more than
expected, and the sum of the scores is held to Student's quantile. This holds where the distribution
has a gap at the percentile, too. Far in the tail the scores beyond the longest latencies hardly
vary; above `PLAIN_MAX` the interval is therefore the hull with one on the log scale, whose standard
error is the larger of the jackknife over trials (Efron and Stein 1981, `The Jackknife Estimate of
Variance`, Annals of Statistics 9) and of sectioning around the percentile of all (Nakayama 2014,
`Confidence Intervals for Quantiles Using Sectioning When Applying Variance-Reduction Techniques`,
ACM TOMACS 24).

Where fewer than `BEYOND_MIN` transactions are expected beyond the percentile nothing covers, and
there is no interval.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, exp, log

from tailrace.statistics.errors import jackknife_error, sectioning_error, t_of
from tailrace.statistics.histogram import PS_PER_MS
from tailrace.statistics.interval import LEVEL, LOG_MAX, VALUES_MIN, Interval
from tailrace.statistics.latencies import Latencies
from tailrace.statistics.student import student_quantile

BEYOND_MIN = 200
"""Transactions expected beyond a percentile above the median, all trials together, from which its
interval covers."""
MEDIAN = 50.0
PLAIN_MAX = 90.0
"""Percentile up to which the inversion of shares covers by itself."""
LONGEST_FACTOR = 2.0
"""The upper end of an interval is at most this many times the longest latency."""
METHOD = "shares of trials, inverted"


@dataclass(frozen=True)
class TrialsNeeded:
    """There is no interval yet: it requires about this number of trials of the same length."""

    trials: int


def percentile_interval(
    latencies: Latencies, percent: float, level: float = LEVEL
) -> Interval | TrialsNeeded | None:
    """Interval of a percentile (above 0, below 100) in milliseconds; None where the percentile is a
    lower bound."""
    estimate = latencies.pooled.percentile_ms(percent)
    if estimate.is_bound:
        return None
    needed = trials_needed(latencies, percent)
    if needed:
        return needed
    quantile = student_quantile(len(latencies.trials) - 1, level)
    low, high = _lower_end(latencies, percent, quantile), _upper_end(latencies, percent, quantile)
    if percent > PLAIN_MAX:
        error = percentile_error(latencies, percent)
        if error is None:
            return None
        reach, at_ps = exp(min(quantile * error, LOG_MAX)), estimate.ms * PS_PER_MS
        low = min(low, at_ps / reach)
        high = max(high, min(at_ps * reach, LONGEST_FACTOR * latencies.longest_ps))
    return Interval(low / PS_PER_MS, high / PS_PER_MS, level, METHOD)


def percentile_low(latencies: Latencies, percent: float, level: float = LEVEL) -> float:
    """Lower end of the interval of a percentile in milliseconds, of at least two trials, also where
    it has no interval: shorter latencies are contradicted by the shares of the trials beyond them.

    It holds for few transactions, too: their numbers beyond a latency are skewed to the right, so
    that the t of scores is rarely too large.
    """
    return (
        _lower_end(latencies, percent, student_quantile(len(latencies.trials) - 1, level))
        / PS_PER_MS
    )


def mean_latency_interval(
    latencies: Latencies, level: float = LEVEL
) -> Interval | TrialsNeeded | None:
    """Interval of the mean latency in milliseconds, by sectioning of its logarithm; None for a
    lower bound."""
    if len(latencies.trials) < VALUES_MIN:
        return TrialsNeeded(VALUES_MIN)
    estimate, reach = latencies.pooled.mean_ms(), _mean_reach(latencies, level)
    if estimate.is_bound or reach is None:
        return None
    return Interval(estimate.ms / reach, estimate.ms * reach, level, "sectioning, log scale")


def logs_apart(latencies: Latencies) -> list[float] | None:
    """How far the logarithm of the mean latency of each trial is from that of all; None where one
    is not known."""
    logs = logs_of([own.mean_ms().ms for own in (latencies.pooled, *latencies.trials)])
    return None if logs is None else [value - logs[0] for value in logs[1:]]


def mean_latency_low(latencies: Latencies, level: float = LEVEL) -> float | None:
    """Lower end of the interval of the mean latency in milliseconds, also where the mean is a lower
    bound; None where it is not known.
    """
    reach = _mean_reach(latencies, level) if len(latencies.trials) >= VALUES_MIN else None
    return latencies.pooled.mean_ms().ms / reach if reach else None


def _mean_reach(latencies: Latencies, level: float) -> float | None:
    """Factor between the mean latency and the ends of its interval."""
    apart = logs_apart(latencies)
    if apart is None:
        return None
    return exp(
        min(
            student_quantile(len(latencies.trials) - 1, level) * sectioning_error(apart, 0.0),
            LOG_MAX,
        )
    )


def trials_needed(latencies: Latencies, percent: float) -> TrialsNeeded | None:
    """How many trials of this length an interval of a percentile takes; None where there are
    enough."""
    trials = len(latencies.trials)
    # Rounded, so that 99 % of 20 000 leaves 200 and not a little less.
    beyond = round(latencies.pooled.values * (1 - percent / 100), 6)
    if percent <= MEDIAN or beyond >= BEYOND_MIN:
        return TrialsNeeded(VALUES_MIN) if trials < VALUES_MIN else None
    return TrialsNeeded(max(VALUES_MIN, ceil(BEYOND_MIN * trials / beyond)))


def percentile_error(latencies: Latencies, percent: float) -> float | None:
    """Standard error of the logarithm of a percentile; None where it is not known in each trial,
    and without each."""
    centre = logs_of([latencies.pooled.percentile_ps(percent)])
    own = logs_of([trial.percentile_ps(percent) for trial in latencies.trials])
    left_out = logs_of(latencies.percentiles_without(percent))
    if centre is None or own is None or left_out is None:
        return None
    return max(jackknife_error(left_out), sectioning_error(own, centre[0]))


def logs_of(values: Sequence[float | None]) -> list[float] | None:
    """Logarithms; None where one of the values is not known, or zero."""
    return [log(value) for value in values if value] if all(values) else None


def _lower_end(latencies: Latencies, percent: float, quantile: float) -> float:
    """The last latency in picoseconds that is certainly shorter than a percentile, by the shares of
    the trials.

    The t of the scores falls as the latency grows.
    """
    edges = latencies.pooled.edges_ps
    low, high = -1, latencies.pooled.position(percent)
    while high - low > 1:
        at = (low + high) // 2
        low, high = (
            (at, high) if t_of(latencies.scores(edges[at], percent)) > quantile else (low, at)
        )
    return float(edges[low] if low >= 0 else latencies.pooled.min_ps)


def _upper_end(latencies: Latencies, percent: float, quantile: float) -> float:
    """The first latency in picoseconds that is certainly longer than a percentile."""
    edges = latencies.pooled.edges_ps
    low, high = latencies.pooled.position(percent) - 1, len(edges)
    while high - low > 1:
        at = (low + high) // 2
        low, high = (
            (low, at) if t_of(latencies.scores(edges[at], percent)) < -quantile else (at, high)
        )
    return float(edges[high] if high < len(edges) else latencies.longest_ps)
