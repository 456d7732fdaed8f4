"""Transactions by percentile: the parts of the median latency and of the tail."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence

from tailrace.results.causes.causes import Transaction
from tailrace.results.causes.sentence import drop_text
from tailrace.results.summary.causes import Band

ENDS = (("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("p99.9", 0.999), ("max", 1.0))
"""The upper end of each band. Percentiles are by nearest rank, as those of latencies are."""


def bands(transactions: Sequence[Transaction]) -> list[Band]:
    """The bands that have transactions: of few, the outer ones are empty and left out. The last one
    ends with `max`."""
    ordered = sorted(transactions, key=lambda one: (one.latency_ps, one.start_ps, one.user))
    found, before = [], 0
    for name, share in ENDS:
        until = math.ceil(share * len(ordered) - 1e-9)
        if until > before:
            found.append(
                _band(name if until < len(ordered) else ENDS[-1][0], ordered[before:until])
            )
            before = until
    return found


def _band(name: str, of: Sequence[Transaction]) -> Band:
    return Band(
        name=name,
        count=len(of),
        latency_ps=sum(one.latency_ps for one in of) / len(of),
        parts=_mean([one.parts for one in of]),
        windowed_ps=sum(one.windowed_ps for one in of) / len(of),
        receive_windowed_ps=sum(one.receive_windowed_ps for one in of) / len(of),
        queues=_mean([one.queues for one in of]),
        behind=_mean([one.behind for one in of]),
        interfaces=_mean([one.interfaces for one in of]),
        interfaces_behind=_mean([one.interfaces_behind for one in of]),
        pauses=_mean([one.pauses for one in of]),
        losses=sum(len(one.losses) for one in of) / len(of),
        dropped=_mean([Counter(map(drop_text, one.losses)) for one in of]),
    )


def _mean(of: Sequence[Mapping[str, int]]) -> dict[str, float]:
    total: Counter[str] = Counter()
    for one in of:
        total.update(one)
    return {key: time / len(of) for key, time in total.items()}
