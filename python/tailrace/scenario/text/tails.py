"""Tails of distributions: the probability beyond a bound, and the mean of the truncated
distribution."""

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from statistics import NormalDist
from typing import Any

ONE_PPB = 10**9
STEPS = 4096
"""Intervals of the numerical integral; the error is below 1e-5 of the bound for the shapes that
scenarios have."""


def above(raw: dict[str, Any], bound: float) -> float:
    """The probability of a value above `bound`, 0 to 1. `raw` is the distribution as plans hold
    it."""
    [(kind, value)] = raw.items()
    match kind:
        case "constant":
            return float(value > bound)
        case "uniform":
            return _above_points([(value["low"], 0), (value["high"], ONE_PPB)], bound)
        case "cumulative":
            return _above_points(value, bound)
        case "exponential":
            return math.exp(-bound / value["mean"]) if value["mean"] else 0.0
        case "normal":
            return _above_normal(bound - value["mean"], value["deviation"])
        case "log-normal":
            if bound <= 0 or not value["median"]:
                return float(value["median"] > bound)
            return _above_normal(math.log(bound / value["median"]), value["sigma_milli"] / 1000)
        case "erlang":
            return _above_erlang(value["mean"], value["shape"], bound)
        case _:
            raise AssertionError(f"plans have no distribution '{kind}'")


def mean_up_to(raw: dict[str, Any], bound: float) -> float:
    """The mean with values clipped to 0 and `bound`: the integral of the tail probability."""
    width = bound / STEPS
    # Simpson's rule.
    weights = ((4 if step % 2 else 2) * above(raw, step * width) for step in range(1, STEPS))
    return width / 3 * (above(raw, 0.0) + sum(weights) + above(raw, bound))


def mean_of(raw: Mapping[str, Any]) -> float:
    """The mean of a distribution in a plan; that of a normal one before negative values are cut."""
    [(kind, value)] = raw.items()
    match kind:
        case "constant":
            return float(value)
        case "uniform":
            return float(value["low"] + value["high"]) / 2
        case "log-normal":
            return float(value["median"]) * math.exp((value["sigma_milli"] / 1000) ** 2 / 2)
        case "cumulative":
            first = value[0][0] * value[0][1]
            return (
                float(first + sum((x + y) / 2 * (q - p) for (x, p), (y, q) in pairwise(value)))
                / ONE_PPB
            )
        case "exponential" | "normal" | "erlang":
            return float(value["mean"])
    raise AssertionError(f"plans have no distribution '{kind}'")


def _above_points(points: Sequence[Sequence[int]], bound: float) -> float:
    """Piecewise linear between (value, cumulative probability in parts per billion)."""
    (first, first_ppb), (last, _) = points[0], points[-1]
    if bound >= last:
        return 0.0
    if bound < first:
        return 1.0
    below: float = first_ppb
    for (x, p), (x_next, p_next) in pairwise(points):
        if x <= bound < x_next:
            below = p + (p_next - p) * (bound - x) / (x_next - x)
    return float(1 - below / ONE_PPB)


def _above_normal(distance: float, deviation: float) -> float:
    if deviation == 0:
        return float(distance < 0)
    return NormalDist().cdf(-distance / deviation)


def _above_erlang(mean: float, shape: int, bound: float) -> float:
    """Probability of fewer than `shape` arrivals of a Poisson process; computed with logarithms, as
    powers overflow."""
    if not mean or bound <= 0:
        return float(mean > bound)
    expected = bound * shape / mean
    return min(
        1.0,
        math.fsum(
            math.exp(n * math.log(expected) - expected - math.lgamma(n + 1)) for n in range(shape)
        ),
    )
