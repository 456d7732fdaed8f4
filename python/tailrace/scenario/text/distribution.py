"""Distributions as text: `8ms`, `exponential(8ms)`, `uniform(1ms, 9ms)`, `normal(8ms, 1ms)`,
`lognormal(8ms, 0.5)`, `erlang(8ms, 4)`, parameters also by their names (`PARAMETERS`), the name of
a published flow-size distribution, or a mapping `cdf: [[10kB, 15%], ...]`.
"""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from statistics import NormalDist
from typing import Any

from tailrace.scenario.text import flow_sizes, tails
from tailrace.scenario.text.units import SHARE, Dimension, QuantityError, amount_of, parse

ONE_PPB = 10**9
"""A probability of one in a plan."""
SIZE_BYTES_LEAST = 1
"""Least size of a draw, in bytes: distributions that start at 0 bytes start at this, because a flow
has at least one byte.
"""
ERLANG_SHAPE_MAX = 1000
CDF_POINTS_MAX = 1000
SIGMA_MAX = 5
Z_99 = NormalDist().inv_cdf(0.99)
"""Deviations of a normal distribution between its mean and its 99th percentile."""
PARAMETERS: dict[str, tuple[tuple[str, ...], ...]] = {
    "constant": (("value",),),
    "exponential": (("mean",),),
    "uniform": (("low", "high"),),
    "normal": (("mean", "deviation"),),
    "lognormal": (("median", "sigma"), ("mean", "sigma"), ("median", "p99"), ("mean", "p99")),
    "erlang": (("mean", "shape"),),
}
"""The parameters of each shape; the first are those of values without names, in this order."""

_CALL = re.compile(r"^\s*(?P<name>[a-z][a-z-]*)\s*\((?P<arguments>.*)\)\s*$")

Points = list[tuple[int, int]]


@dataclass(frozen=True)
class Distribution:
    """A distribution in the format of a plan, with its mean in the plan's unit (picoseconds or
    bytes)."""

    raw: dict[str, Any]
    mean: float
    text: str

    @property
    def largest(self) -> float:
        """The largest value that can be drawn; infinity for an unbounded distribution."""
        [(kind, value)] = self.raw.items()
        if kind == "constant":
            return float(value)
        if kind == "uniform":
            return float(value["high"])
        return float(value[-1][0]) if kind == "cumulative" else math.inf

    @property
    def smallest(self) -> float:
        """The smallest value that can be drawn."""
        [(kind, value)] = self.raw.items()
        if kind == "constant":
            return float(value)
        if kind == "uniform":
            return float(value["low"])
        return float(value[0][0]) if kind == "cumulative" else 0.0

    def above(self, bound: float) -> float:
        """The probability of a value above `bound`."""
        return tails.above(self.raw, bound)

    def mean_up_to(self, bound: float) -> float:
        """The mean if every larger value is replaced by `bound`."""
        return tails.mean_up_to(self.raw, bound)

    def scaled(self, factor: float) -> "Distribution":
        """The same shape with every value times `factor`."""
        [(kind, value)] = self.raw.items()

        def times(x: int) -> int:
            return max(0, round(x * factor))

        if kind == "constant":
            raw: Any = times(value)
        elif kind == "cumulative":
            raw = [[times(x), p] for x, p in value]
        else:
            raw = {k: x if k in ("shape", "sigma_milli") else times(x) for k, x in value.items()}
        return Distribution({kind: raw}, self.mean * factor, f"{self.text} x {factor:.6g}")


def parse_distribution(value: object, dimension: Dimension) -> Distribution:
    """Parses a distribution of quantities of `dimension`; raises `QuantityError` with a hint."""
    if isinstance(value, Distribution):
        return value
    if isinstance(value, dict):
        return _from_cdf(value, dimension)
    if isinstance(value, str):
        if value.strip() in flow_sizes.NAMED and dimension.noun == "size":
            return _from_name(value.strip())
        call = _CALL.fullmatch(value)
        if call:
            return _from_call(call["name"], call["arguments"], value, dimension)
        if re.match(r"^\s*[A-Za-z]", value):
            raise QuantityError(f"'{value}' is not a distribution", _hint(dimension))
    constant = parse(value, dimension)
    return Distribution({"constant": constant}, float(constant), str(value))


def sense_of(text: str) -> object:
    """The normalised meaning of a value, equal for `exponential(1ms)` and `exponential(1000us)`,
    and for `1ms` and `constant(1ms)`: a quantity, or a name with its quantities; any other text
    stands for itself."""
    if (call := _CALL.fullmatch(text)) is None:
        return amount_of(text) or text
    parts = (part.strip() for part in call["arguments"].split(","))
    arguments = tuple(amount_of(part) or part for part in parts)
    return (
        arguments[0]
        if call["name"] == "constant" and len(arguments) == 1
        else (call["name"], *arguments)
    )


def _hint(dimension: Dimension) -> str:
    example = dimension.examples[0]
    shapes = f"{example}, exponential({example}), uniform(low, high), normal(mean, deviation)"
    shapes += ", lognormal(median, sigma), lognormal(mean=.., p99=..), erlang(mean, shape)"
    named = f", or one of {', '.join(flow_sizes.NAMED)}" if dimension.noun == "size" else ""
    return f"write {shapes}{named}"


def _from_call(name: str, arguments: str, text: str, dimension: Dimension) -> Distribution:
    build = {
        "constant": _constant,
        "exponential": _exponential,
        "uniform": _uniform,
        "normal": _normal,
        "lognormal": _lognormal,
        "erlang": _erlang,
    }.get(name)
    if build is None:
        raise QuantityError(f"unknown distribution '{name}'", _hint(dimension))
    parts = [part.strip() for part in arguments.split(",")]
    raw, mean = build(_named(name, parts, dimension), dimension)
    return Distribution(raw, mean, text)


def _named(shape: str, parts: list[str], dimension: Dimension) -> dict[str, str]:
    """The parameters of a shape by their names."""
    allowed = PARAMETERS[shape]
    names = allowed[0]
    if any("=" in part for part in parts):
        pairs = [part.partition("=") for part in parts]
        given = {name.strip(): value.strip() for name, _, value in pairs}
        if len(given) < len(parts) or not any(set(given) == set(one) for one in allowed):
            ways = " or ".join(" and ".join(one) for one in allowed)
            raise QuantityError(f"'{shape}' takes {ways}, not {', '.join(parts)}", _hint(dimension))
        return given
    if len(parts) != len(names) or not all(parts):
        count = sum(1 for part in parts if part)
        raise QuantityError(
            f"'{shape}' takes {len(names)} value{'s' if len(names) > 1 else ''}, not {count}",
            _hint(dimension),
        )
    return dict(zip(names, parts, strict=True))


Built = tuple[dict[str, Any], float]
"""A distribution in the format of a plan, and its mean."""


def _constant(given: Mapping[str, str], dimension: Dimension) -> Built:
    value = parse(given["value"], dimension)
    return {"constant": value}, float(value)


def _exponential(given: Mapping[str, str], dimension: Dimension) -> Built:
    mean = parse(given["mean"], dimension)
    return {"exponential": {"mean": mean}}, float(mean)


def _uniform(given: Mapping[str, str], dimension: Dimension) -> Built:
    low, high = parse(given["low"], dimension), parse(given["high"], dimension)
    if low > high:
        raise QuantityError(
            f"the lower bound of uniform({given['low']}, {given['high']}) is above the upper bound",
            f"write uniform({given['high']}, {given['low']})",
        )
    return {"uniform": {"low": low, "high": high}}, (low + high) / 2


def _normal(given: Mapping[str, str], dimension: Dimension) -> Built:
    mean, deviation = parse(given["mean"], dimension), parse(given["deviation"], dimension)
    return {"normal": {"mean": mean, "deviation": deviation}}, float(mean)


def _lognormal(given: Mapping[str, str], dimension: Dimension) -> Built:
    """With median m and sigma s, the mean is m exp(s^2/2) and the 99th percentile m exp(z s)."""
    centre = "median" if "median" in given else "mean"
    of_centre = parse(given[centre], dimension)
    if "p99" in given:
        sigma = _sigma(centre, of_centre, parse(given["p99"], dimension))
    else:
        sigma = _plain(given["sigma"], "sigma, the deviation of the logarithm")
    if not 0 <= sigma <= SIGMA_MAX:
        raise QuantityError(
            f"sigma {sigma:g} is outside 0 to {SIGMA_MAX}", "write for example 0.2 to 1.5"
        )
    to_mean = math.exp(sigma * sigma / 2)
    median = of_centre if centre == "median" else max(1, round(of_centre / to_mean))
    raw = {"log-normal": {"median": median, "sigma_milli": round(sigma * 1000)}}
    return raw, median * to_mean


def _sigma(centre: str, value: int, p99: int) -> float:
    """Sigma of the lognormal distribution with this median or mean and this 99th percentile.

    Of a mean, ln(p99 / mean) = z s - s^2/2; the smaller root is meant, and beyond exp(z^2/2) = 15
    times the mean there is none.
    """
    ratio = p99 / value if value > 0 else math.inf
    most = math.exp(Z_99 * (SIGMA_MAX if centre == "median" else Z_99 / 2))
    if not 1 <= ratio <= most:
        raise QuantityError(
            f"p99 is {ratio:.3g} times the {centre}, outside 1 to {most:.3g}",
            "write a larger p99" if ratio < 1 else f"write a smaller p99, or a larger {centre}",
        )
    if centre == "median":
        return math.log(ratio) / Z_99
    return Z_99 - math.sqrt(max(0.0, Z_99**2 - 2 * math.log(ratio)))


def _erlang(given: Mapping[str, str], dimension: Dimension) -> Built:
    mean, shape = parse(given["mean"], dimension), _plain(given["shape"], "shape, a whole number")
    if shape != int(shape) or not 1 <= shape <= ERLANG_SHAPE_MAX:
        raise QuantityError(
            f"shape {shape:g} is not a whole number from 1 to {ERLANG_SHAPE_MAX}",
            "1 is exponential",
        )
    return {"erlang": {"mean": mean, "shape": int(shape)}}, float(mean)


def _plain(text: str, meaning: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise QuantityError(
            f"'{text}' is not a number", f"the second value is {meaning}, without a unit"
        ) from None


def _from_name(name: str) -> Distribution:
    points = [
        (size, round(percent * ONE_PPB / 100)) for size, percent in flow_sizes.NAMED[name].points
    ]
    return _cumulative(points, name)


def _from_cdf(value: dict[Any, Any], dimension: Dimension) -> Distribution:
    rows = value.get("cdf")
    if (
        set(value) != {"cdf"}
        or not isinstance(rows, list)
        or not rows
        or len(rows) > CDF_POINTS_MAX
    ):
        raise QuantityError(
            "a mapping must be a cumulative distribution", "write cdf: [[10kB, 15%], [1MB, 100%]]"
        )
    points: Points = []
    for row in rows:
        if not isinstance(row, list) or len(row) != 2:
            raise QuantityError(f"{row} is not a pair of value and share", "write [10kB, 15%]")
        points.append((parse(row[0], dimension), parse(row[1], SHARE)))
    return _cumulative(points, "cdf")


def _cumulative(points: Points, text: str) -> Distribution:
    for (x, p), (x_next, p_next) in pairwise(points):
        if x_next < x or p_next < p:
            raise QuantityError(
                "the points of a cumulative distribution must be in ascending order",
                "sort them by value and share",
            )
    if points[-1][1] != ONE_PPB:
        raise QuantityError(
            "the last share of a cumulative distribution must be 100%",
            "add the largest value with 100%",
        )
    points = [(max(x, SIZE_BYTES_LEAST), p) for x, p in points]
    mean = points[0][0] * points[0][1] / ONE_PPB
    for (x, p), (x_next, p_next) in pairwise(points):
        mean += (x + x_next) / 2 * (p_next - p) / ONE_PPB
    return Distribution({"cumulative": [[x, p] for x, p in points]}, mean, text)
