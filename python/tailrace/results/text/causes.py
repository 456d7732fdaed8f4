"""Where the time of transactions went, as tables."""

from collections.abc import Collection, Mapping, Sequence

from tailrace.results.causes.bands import bands
from tailrace.results.causes.causes import Transaction, in_order
from tailrace.results.causes.sentence import lost_sentence, part_words, queue_times, sentence
from tailrace.results.causes.verdict import verdict_of
from tailrace.results.format.columns import WIDTH, align, fill
from tailrace.results.format.numbers import count_text, span_text
from tailrace.results.summary.causes import Band, LostDatagrams

PORTS_MAX = 3
"""Ports whose queueing time is listed, in descending order."""


def causes_text(
    arm: str,
    workload: str,
    transactions: Sequence[Transaction],
    slowest: Sequence[Transaction],
    lost: Sequence[LostDatagrams] = (),
    members: Collection[str] = (),
) -> str:
    """The verdict, parts by percentile band, lost datagrams, and a sentence for each of the slowest
    transactions. `members` are the workloads of the transactions."""
    counted = (
        "1 transaction"
        if len(transactions) == 1
        else f"{count_text(len(transactions))} transactions"
    )
    found = bands(transactions)
    verdict = fill(f"{workload} {arm}: {verdict_of(found, members)}", WIDTH)
    title = f"{counted}; mean times by percentile of latency, and their share"
    lines = [verdict, title, _table(found)]
    if lost:
        lines.append(fill(lost_sentence(lost), WIDTH))
    if slowest:
        lines.append(f"The slowest {len(slowest)}:" if len(slowest) > 1 else "The slowest:")
        lines += [fill(f"- {sentence(one)}", WIDTH) for one in slowest]
    return "\n".join(lines)


def _table(of: Sequence[Band]) -> str:
    rows = [["", *(f"to {band.name}" for band in of)]]
    rows.append(["transactions", *(str(band.count) for band in of)])
    rows.append(["latency", *(span_text(band.latency_ps) for band in of)])
    for part in in_order(part for band in of for part in band.parts):
        rows.append([part_words(part), *_cells(of, [band.parts for band in of], part)])
        ports, others = zip(*(queue_times(band, part) for band in of), strict=True)
        rows += [[f"  at {name}", *_cells(of, ports, name)] for name in _ordered(ports)[:PORTS_MAX]]
        rows += [[f"  behind {name}", *_cells(of, others, name)] for name in _ordered(others)]
    if any(band.windowed_ps for band in of):
        rows.append(
            [
                "of all, waiting for a window",
                *_cells(of, [{"": band.windowed_ps} for band in of], ""),
            ]
        )
    if any(band.losses for band in of):
        rows.append(
            ["dropped frames each", *(f"{band.losses:.3g}" if band.losses else "–" for band in of)]
        )
    return align(rows)


def _ordered(times: Sequence[Mapping[str, float]]) -> list[str]:
    """Names, from that with the longest time in the last band."""
    return sorted(
        {name for band in times for name in band}, key=lambda name: -times[-1].get(name, 0.0)
    )


def _cells(of: Sequence[Band], times: Sequence[Mapping[str, float]], key: str) -> list[str]:
    return [
        _cell(time.get(key, 0.0), band.latency_ps) for band, time in zip(of, times, strict=True)
    ]


def _cell(time_ps: float, latency_ps: float) -> str:
    return f"{span_text(time_ps)}  {100 * time_ps / latency_ps:3.0f} %" if time_ps else "–"
