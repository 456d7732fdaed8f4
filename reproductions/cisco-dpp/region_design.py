"""Which points the map has: every value alone, pairs, all fitted values at once."""

import math
from collections.abc import Iterator
from itertools import combinations, product

from region_values import (
    ASSUMED,
    BY_KEY,
    FIT_PERCENT,
    FITTED_KEYS,
    PARAMETERS,
    Parameter,
    Point,
    Value,
)
from tailrace.statistics import named_stream

BASE: Point = {}
LABEL_OF_BASE = "base"
DRAWS = 12
"""Points at which all fitted values are drawn at once."""
FINE_PAIRS = (("cores", "rate_mbps"),)
"""Pairs with a grid of five by five: the two values with the narrowest ranges. The others have the
ends of theirs."""
WIDEST: dict[str, tuple[Value, Value]] = {"large_percent": (97, 103)}
"""The assumed value of which the least change moves the figures when varied alone, with two values
for pairs."""


def label(point: Point) -> str:
    """`cores=23 queue_mb=4`, in the order of the parameters."""
    named = [
        f"{p.key}={_short(point[p.key])}"
        for p in PARAMETERS
        if p.key in point and point[p.key] != p.base
    ]
    return " ".join(named) or LABEL_OF_BASE


def singles() -> Iterator[Point]:
    """Every value of every parameter alone."""
    for parameter in PARAMETERS:
        yield from ({parameter.key: value} for value in parameter.values)


def pairs() -> Iterator[Point]:
    """Every two fitted values on their coarse grids."""
    for first, second in dict.fromkeys([*FINE_PAIRS, *combinations(FITTED_KEYS, 2)]):
        yield from ({first: a, second: b} for a, b in product(*pair_grids(first, second)))


def pair_grids(first: str, second: str) -> tuple[tuple[Value, ...], tuple[Value, ...]]:
    """The values of each of two fitted parameters that are run together."""
    parameters = BY_KEY[first], BY_KEY[second]
    if (first, second) in FINE_PAIRS:
        return parameters[0].coarse, parameters[1].coarse
    return _ends_and_base(parameters[0]), _ends_and_base(parameters[1])


def _ends_and_base(parameter: Parameter) -> tuple[Value, ...]:
    low, high = parameter.stated or (parameter.base, parameter.base)
    return low, parameter.base, high


def mixed_pairs() -> Iterator[Point]:
    """Ends of each fitted value's range of `FIT_PERCENT` with the ends of the most influential
    assumed ones."""
    for fitted, (assumed, ends) in product(FITTED_KEYS, WIDEST.items()):
        if BY_KEY[assumed].kind == ASSUMED:
            yield from ({fitted: a, assumed: b} for a, b in product(near_ends(fitted), ends))


def corners() -> Iterator[Point]:
    """Half of the corners of plus and minus `FIT_PERCENT`, such that every two values meet in all
    four ways.

    An even number of values is at its lower end: a fractional factorial design of resolution V.
    """
    for lows in product((True, False), repeat=len(FITTED_KEYS)):
        if sum(lows) % 2 == 0:
            yield {
                key: near_ends(key)[0 if low else 1]
                for key, low in zip(FITTED_KEYS, lows, strict=True)
            }


def draws(seed: int = 1) -> Iterator[Point]:
    """All fitted values at once, each uniform in the logarithm over the range that the scenario
    states."""
    for index in range(DRAWS):
        stream = named_stream(seed, f"cisco-dpp/map/{index}")
        point: dict[str, Value] = {}
        for key in FITTED_KEYS:
            low, high = (float(end) for end in BY_KEY[key].stated or ())
            drawn = math.exp(stream.uniform(math.log(low), math.log(high)))
            point[key] = round(drawn) if high > 20 else round(drawn, 2)
        yield point


def near_ends(key: str) -> tuple[Value, Value]:
    """The outermost of a fitted value's points that are within `FIT_PERCENT` of the base, and at
    least one step " "away."""
    parameter = BY_KEY[key]
    limit = FIT_PERCENT / 100 * float(parameter.base) + 1e-9
    near = [
        value for value in parameter.values if abs(float(value) - float(parameter.base)) <= limit
    ]
    return near[0], near[-1]


def design() -> dict[str, list[Point]]:
    """Parts of the map in the order in which they are run; a point may belong to several."""
    return {
        "base": [BASE],
        "singles": list(singles()),
        "pairs": list(pairs()),
        "corners": list(corners()),
        "draws": list(draws()),
        "mixed": list(mixed_pairs()),
    }


def _short(value: Value) -> str:
    return value.replace(" ", "_").replace(",", "") if isinstance(value, str) else f"{value:g}"
