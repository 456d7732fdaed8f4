"""The tail of an explained workload: the slowest share of its transactions that has enough of them
to be reported."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from tailrace.results.summary.causes import Band

ALL = "all transactions"
TAILS = (
    (0.99, "the slowest 1 % of transactions"),
    (0.9, "the slowest 10 % of transactions"),
    (0.0, ALL),
)
"""Percentiles at which a tail begins, as text; the first one with enough transactions is used."""
TAIL_COUNT_MIN = 10
"""Of fewer transactions a mean says more about one of them than about a tail."""


def tail_share(*counts: int) -> tuple[float, str]:
    """The percentile at which the tail of workloads with this many transactions begins, and its
    text."""
    return next(
        (
            (at, words)
            for at, words in TAILS
            if _beyond(min(counts, default=0), at) >= TAIL_COUNT_MIN
        ),
        TAILS[-1],
    )


def tail(of: Sequence[Band], at: float) -> Band:
    """Means over the transactions above this percentile, which must be a limit of bands."""
    beyond = _beyond(sum(band.count for band in of), at)
    kept: list[Band] = []
    while sum(band.count for band in kept) < beyond:
        kept.insert(0, of[-1 - len(kept)])
    return _together(kept)


def _together(kept: Sequence[Band]) -> Band:
    count = sum(band.count for band in kept)
    return replace(
        kept[-1],
        count=count,
        latency_ps=sum(band.latency_ps * band.count for band in kept) / count,
        parts=_mean(kept, [band.parts for band in kept]),
        windowed_ps=sum(band.windowed_ps * band.count for band in kept) / count,
        receive_windowed_ps=sum(band.receive_windowed_ps * band.count for band in kept) / count,
        queues=_mean(kept, [band.queues for band in kept]),
        behind=_mean(kept, [band.behind for band in kept]),
        interfaces=_mean(kept, [band.interfaces for band in kept]),
        interfaces_behind=_mean(kept, [band.interfaces_behind for band in kept]),
        pauses=_mean(kept, [band.pauses for band in kept]),
        losses=sum(band.losses * band.count for band in kept) / count,
        dropped=_mean(kept, [band.dropped for band in kept]),
    )


def body(of: Sequence[Band], at: float) -> Band | None:
    """Means over the transactions up to this percentile, which must be a limit of bands; None for
    none."""
    count = sum(band.count for band in of)
    kept, held = [], 0
    for band in of:
        if held + band.count > count - _beyond(count, at):
            break
        kept.append(band)
        held += band.count
    return _together(kept) if kept else None


def _beyond(count: int, at: float) -> int:
    """Transactions above a percentile, by nearest rank as in `bands`."""
    return count - math.ceil(at * count - 1e-9)


def _mean(of: Sequence[Band], times: Sequence[Mapping[str, float]]) -> dict[str, float]:
    sums: Counter[str] = Counter()
    for band, own in zip(of, times, strict=True):
        sums.update({name: time * band.count for name, time in own.items()})
    count = sum(band.count for band in of)
    return {name: time / count for name, time in sums.items()}
