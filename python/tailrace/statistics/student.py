"""Student's t distribution for whole degrees of freedom."""

from functools import cache
from math import atan, cos, pi, sin, sqrt

# Bisection halves an interval of 2000 down to the last bits of a float.
BISECTIONS = 80
# With one degree of freedom this is the quantile of 0.9997.
QUANTILE_MAX = 1_000.0


def t_cdf(t: float, freedom: int) -> float:
    """Probability of a value of at most `t` (Abramowitz and Stegun 1964, 26.7.3 and 26.7.4)."""
    angle = atan(t / sqrt(freedom))
    if freedom % 2 == 0:
        term = total = 1.0
        for k in range(1, freedom // 2):
            term *= cos(angle) ** 2 * (2 * k - 1) / (2 * k)
            total += term
        return (1 + sin(angle) * total) / 2
    term = total = cos(angle) if freedom > 1 else 0.0
    for k in range(1, (freedom - 1) // 2):
        term *= cos(angle) ** 2 * (2 * k) / (2 * k + 1)
        total += term
    return (1 + 2 / pi * (angle + sin(angle) * total)) / 2


@cache
def t_quantile(fraction: float, freedom: int) -> float:
    """The value that `fraction` (0 to 1) of the distribution does not exceed."""
    low, high = -QUANTILE_MAX, QUANTILE_MAX
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        if t_cdf(middle, freedom) < fraction:
            low = middle
        else:
            high = middle
    return (low + high) / 2
