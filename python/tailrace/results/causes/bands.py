"""Transactions by percentile: what the middle and the tail of latencies consist of."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tailrace.results.causes.causes import Transaction

ENDS = (("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("p99.9", 0.999), ("max", 1.0))
"""The upper end of each band. Percentiles are by nearest rank, as those of latencies are."""


@dataclass(frozen=True)
class Band:
    """Means over transactions whose latency is above the band before and at most at this percentile."""

    name: str
    count: int
    latency_ps: float
    parts: dict[str, float]
    """Picoseconds by part; together the mean latency."""
    windowed_ps: float
    queues: dict[str, float]
    behind: dict[str, float]
    losses: float
    """Dropped frames of the critical path, per transaction."""


def bands(transactions: Sequence[Transaction]) -> list[Band]:
    """The bands that have transactions: of few, the outer ones are empty and left out. The last one ends with `max`."""
    ordered = sorted(transactions, key=lambda one: (one.latency_ps, one.start_ps, one.user))
    found, before = [], 0
    for name, share in ENDS:
        until = math.ceil(share * len(ordered) - 1e-9)
        if until > before:
            found.append(_band(name if until < len(ordered) else ENDS[-1][0], ordered[before:until]))
            before = until
    return found


def _band(name: str, of: Sequence[Transaction]) -> Band:
    return Band(
        name,
        len(of),
        sum(one.latency_ps for one in of) / len(of),
        _mean([one.parts for one in of]),
        sum(one.windowed_ps for one in of) / len(of),
        _mean([one.queues for one in of]),
        _mean([one.behind for one in of]),
        sum(len(one.losses) for one in of) / len(of),
    )


def _mean(of: Sequence[Mapping[str, int]]) -> dict[str, float]:
    total: Counter[str] = Counter()
    for one in of:
        total.update(one)
    return {key: time / len(of) for key, time in total.items()}
