"""Values of storage tests in the notation of a scenario: blocks, shares, gaps, names."""

from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from tailrace.importers.section import size, time, usable_name

SECTOR_BYTES = 512
"""Requests of vdbench and of direct I/O are multiples of it."""
BLOCKS_MAX = 200
"""Sizes of one distribution."""
SECOND_PS = 10**12
NAME_MAX = 60
RATE_MAX = 10**8
"""Requests per second from which on a rate is no limit: a scenario has gaps of at least 10 ns."""


def block_of(weights: Iterable[tuple[int, Fraction]]) -> Any:
    """Sizes with their weights: a size, or a cumulative distribution with a step at each size."""
    total: dict[int, Fraction] = {}
    for size_bytes, weight in weights:
        if weight > 0:
            total[size_bytes] = total.get(size_bytes, Fraction(0)) + weight
    if len(total) == 1:
        return size(next(iter(total)))
    whole = sum(total.values())
    points: list[list[str]] = []
    below = Fraction(0)
    for size_bytes in sorted(total):
        if points:
            points.append([size(size_bytes), _percent(below / whole)])
        below += total[size_bytes]
        points.append([size(size_bytes), _percent(below / whole)])
    return {"cdf": points}


def mean_bytes(weights: Iterable[tuple[int, Fraction]]) -> Fraction:
    """Mean size of sizes with their weights."""
    pairs = list(weights)
    return sum((Fraction(one) * weight for one, weight in pairs), Fraction(0)) / sum(
        weight for _, weight in pairs
    )


def steps(low: int, high: int, step: int) -> list[tuple[int, Fraction]]:
    """Multiples of `step` from `low` to `high`, equally likely; fewer of them if there are too
    many."""
    count = (high - low) // step + 1
    stride = step * (-(-count // BLOCKS_MAX))
    return [(one, Fraction(1)) for one in range(low, high + 1, stride)]


def _percent(part: Fraction) -> str:
    """A share with the resolution of a scenario, one part per billion, rounded; 100% stays 100%."""
    ppb = round(part * 10**9)
    text = f"{ppb // 10**7}.{ppb % 10**7:07d}".rstrip("0").rstrip(".")
    return f"{text}%"


def access_of(random_percent: Fraction) -> Any:
    """`sequential`, `random`, or the percentage of random requests."""
    if random_percent <= 0:
        return "sequential"
    return "random" if random_percent >= 100 else {"random": plain(random_percent)}


def plain(value: Fraction) -> int | float:
    """A whole number as such."""
    return int(value) if value.denominator == 1 else float(round(value, 6))


def exponential_gap(rate_per_s: Fraction) -> str:
    """Exponential arrivals at a rate."""
    return f"exponential({gap(rate_per_s)})"


def gap(rate_per_s: Fraction) -> str:
    """The gap between arrivals at a rate, in whole picoseconds."""
    return time(max(1, round(SECOND_PS / rate_per_s)))


def span(seconds: Fraction) -> str:
    """A time, in whole picoseconds."""
    return time(round(seconds * SECOND_PS))


def name_of(text: str, otherwise: str, taken: Iterable[str]) -> str:
    """A valid and unused name of a scenario that resembles `text`."""
    known = set(taken)
    first = usable_name(text[:NAME_MAX], otherwise)
    if not first[0].isalnum():
        first = otherwise
    name, number = first, 1
    while name in known:
        number += 1
        name = f"{first}-{number}"
    return name
