"""Laws of scalability fitted to throughput: Amdahl's, and the Universal Scalability Law.

Throughput of n users is X(n) = gain n / (1 + contention (n - 1) + coherency n (n - 1)): N. Gunther,
*Guerrilla Capacity Planning* (2007), chapters 4 and 5. Without the last term it is Amdahl's law
(1967), whose serial share is `contention`.

The fit is least squares of the throughput with both coefficients at least zero, as in the R package
`usl`, and with contention, a share, at most one: then one user at a time does all of the work, and
throughput does not grow. Intervals are the estimate plus and minus a number of standard errors from
the residuals (`student_quantile`); they describe noise and misfit of the law together, and exist
from two more points than coefficients on.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from math import fsum, inf, sqrt

from tailrace.statistics.interval import LEVEL, Interval
from tailrace.statistics.linear import inverse, solved
from tailrace.statistics.student import student_quantile

STEPS_MAX = 200
HALVINGS_MAX = 40
CONVERGED = 1e-12
"""Relative decrease of the squared error below which the fit ends."""
FREEDOM_MIN = 2
LINEARISED_LEVEL = 0.95
"""Whose quantile makes intervals cover at `LEVEL`: the law is linear in its coefficients only near
the best ones."""
CONTENTION_MAX = 1.0
NEGLIGIBLE = 1e-9
"""A smaller coefficient is the rounding of the fit."""
METHOD = "standard error of the residuals"

Point = tuple[float, float]
"""Number of users, throughput."""
Coefficients = tuple[float, float, float]
"""Throughput of one user, contention, coherency."""
BOUNDS: Coefficients = (inf, CONTENTION_MAX, inf)
"""The most that each coefficient can be."""


@dataclass(frozen=True)
class Law:
    """A fitted law, with intervals where there are enough points."""

    gain: float
    """Throughput of one user."""
    contention: float
    """Share of the work that is done by one user at a time."""
    coherency: float
    """Cost of every pair of users, as a share of the work of one."""
    gain_interval: Interval | None
    contention_interval: Interval | None
    coherency_interval: Interval | None
    """None also in Amdahl's law, where it is zero by definition."""
    deviation: float
    """Largest distance of a point from the law, as a share of the point."""

    def throughput(self, users: float) -> float:
        """Throughput that the law predicts."""
        return throughput((self.gain, self.contention, self.coherency), users)

    @property
    def limit(self) -> float:
        """Throughput that no number of users exceeds; infinite for linear scaling."""
        if self.peak_users is not None:
            return self.throughput(self.peak_users)
        return self.gain / self.contention if self.contention > NEGLIGIBLE else inf

    @property
    def peak_users(self) -> float | None:
        """Number of users with the most throughput, beyond which it falls; None where it never
        does."""
        if self.coherency <= NEGLIGIBLE or self.contention >= 1:
            return None
        return max(1.0, sqrt((1 - self.contention) / self.coherency))


def throughput(coefficients: Coefficients, users: float) -> float:
    """The law."""
    gain, contention, coherency = coefficients
    return gain * users / (1 + contention * (users - 1) + coherency * users * (users - 1))


def fit_amdahl(points: Sequence[Point]) -> Law | None:
    """Amdahl's law; None for fewer than two different numbers of users."""
    return _fit(points, (True, True, False))


def fit_usl(points: Sequence[Point]) -> Law | None:
    """The Universal Scalability Law; None for fewer than three different numbers of users."""
    return _fit(points, (True, True, True))


def _fit(points: Sequence[Point], free: tuple[bool, bool, bool]) -> Law | None:
    """Of all choices of coefficients at their bounds, the one with the least error whose others are
    within them."""
    if len({users for users, _ in points}) < sum(free) or not all(
        users > 0 < value for users, value in points
    ):
        return None
    choices = product([True], *([True, False] if is_free else [False] for is_free in free[1:]))
    starts = [(chosen, 0.01 if chosen[1] else 0.0) for chosen in choices]
    starts += [(chosen, CONTENTION_MAX) for chosen, contention in starts if contention == 0.0]
    found = [
        fitted for chosen, contention in starts if (fitted := _descent(points, chosen, contention))
    ]
    feasible = [fitted for fitted in found if min(fitted[1:]) >= 0 and fitted[1] <= CONTENTION_MAX]
    best = min(feasible, key=lambda fitted: _error(points, fitted))
    gain, contention, coherency = best
    gains, contentions, coherencies = _intervals(points, best, free)
    deviation = max(abs(throughput(best, users) / value - 1) for users, value in points)
    return Law(gain, contention, coherency, gains, contentions, coherencies, deviation)


def _descent(
    points: Sequence[Point], free: tuple[bool, ...], contention: float
) -> Coefficients | None:
    """Gauss and Newton's method with halved steps, from a contention; None where the equations have
    no solution."""
    users, value = min(points)
    at: Coefficients = (value / users, contention, 0.0001 * free[2])
    error = _error(points, at)
    for _ in range(STEPS_MAX):
        rows = [_slopes(at, free, users) for users, _ in points]
        rests = [value - throughput(at, users) for users, value in points]
        step = solved(*_normal(rows, rests))
        if step is None:
            return None
        following = _shortened(points, at, free, step, error)
        if following is None:
            return at
        before, at, error = error, following, _error(points, following)
        if before - error <= CONVERGED * before:
            return at
    return at


def _shortened(
    points: Sequence[Point],
    at: Coefficients,
    free: tuple[bool, ...],
    step: Sequence[float],
    error: float,
) -> Coefficients | None:
    """The first of the halved steps with a smaller error and positive throughput everywhere."""
    for halving in range(HALVINGS_MAX):
        left = iter(step)
        moved = [
            old + (next(left) / 2**halving if is_free else 0.0)
            for old, is_free in zip(at, free, strict=True)
        ]
        candidate = (moved[0], moved[1], moved[2])
        if _is_sound(points, candidate) and _error(points, candidate) < error:
            return candidate
    return None


def _is_sound(points: Sequence[Point], at: Coefficients) -> bool:
    return at[0] > 0 and all(
        1 + at[1] * (users - 1) + at[2] * users * (users - 1) > 0 for users, _ in points
    )


def _error(points: Sequence[Point], at: Coefficients) -> float:
    return fsum((value - throughput(at, users)) ** 2 for users, value in points)


def _slopes(at: Coefficients, free: Sequence[bool], users: float) -> list[float]:
    """Derivatives of the throughput by the coefficients that are free."""
    value = throughput(at, users)
    loss = value * value / (at[0] * users)
    every = (value / at[0], -loss * (users - 1), -loss * users * (users - 1))
    return [slope for slope, is_free in zip(every, free, strict=True) if is_free]


def _normal(rows: list[list[float]], rests: list[float]) -> tuple[list[list[float]], list[float]]:
    """The normal equations of least squares."""
    columns = list(zip(*rows, strict=True))
    matrix = [
        [fsum(a * b for a, b in zip(one, other, strict=True)) for other in columns]
        for one in columns
    ]
    return matrix, [fsum(a * b for a, b in zip(column, rests, strict=True)) for column in columns]


def _intervals(
    points: Sequence[Point], at: Coefficients, free: Sequence[bool]
) -> list[Interval | None]:
    """Intervals of all coefficients, also of those whose estimate is at its bound."""
    freedom = len(points) - sum(free)
    rows = [_slopes(at, free, users) for users, _ in points]
    covariance = inverse(_normal(rows, [0.0] * len(rows))[0]) if freedom >= FREEDOM_MIN else None
    if covariance is None:
        return [None] * len(free)
    scale = student_quantile(freedom, LINEARISED_LEVEL) * sqrt(_error(points, at) / freedom)
    reaches = [scale * sqrt(max(0.0, covariance[index][index])) for index in range(sum(free))]
    found = [
        _around(value, reach, most) for value, reach, most in zip(at, reaches, BOUNDS, strict=False)
    ]
    return [*found, *[None] * (len(free) - len(found))]


def _around(value: float, reach: float, most: float) -> Interval:
    return Interval(max(0.0, value - reach), min(most, value + reach), LEVEL, METHOD)
