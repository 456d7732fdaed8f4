"""The limit of each workload, as text and as a table."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tailrace.results.causes.sentence import shares_of
from tailrace.results.causes.tail import tail, tail_share
from tailrace.results.causes.verdict import causes_of, part_shares, path_words
from tailrace.results.format.columns import Row, listed
from tailrace.results.format.numbers import count_text, digits_text, span_text
from tailrace.results.metrics.limiting import MIXED
from tailrace.results.metrics.subject_rows import subject_rows
from tailrace.results.summary.causes import Explained
from tailrace.results.summary.summary import Summary
from tailrace.results.summary.workload import (
    LimitSummary,
    SubjectSummary,
    TcpMeans,
    WorkloadOrGroup,
)
from tailrace.results.text.outcome_text import WIDTH
from tailrace.results.text.unexplained import counters_of
from tailrace.scenario.vocabulary import LIMITS

NAMED_PERCENT_MIN = 5.0
"""Causes with smaller shares are not named."""
HEAD = ("limited by", "arm", "time", "")
ROWS_MAX = 40
"""Rows of the table in a terminal."""


@dataclass(frozen=True)
class LimitRow:
    """A row of the table, and the shares behind it."""

    name: str
    """The workload or group."""
    arm: str
    index: int
    """Of the arm."""
    limits: LimitSummary
    row: Row
    """As in a terminal: name, arm, the largest share, and its cause."""


def percents_of(limits: LimitSummary) -> dict[str, float]:
    """Mean shares by cause, the largest first."""
    means = {cause: limits.shares_percent[cause].mean or 0.0 for cause in LIMITS}
    return dict(sorted(means.items(), key=lambda item: -item[1]))


def verdict_words(limits: LimitSummary) -> str:
    """`receiver's window`, or `mixed`; a verdict of a fabric is text already."""
    return LIMITS.get(limits.limited_by, limits.limited_by)


def share_words(limits: LimitSummary, without: str = "") -> str:
    """`receiver's window 97 %, application 3 %`, without one of the causes."""
    named = [
        (cause, share)
        for cause, share in percents_of(limits).items()
        if share >= NAMED_PERCENT_MIN and cause != without
    ]
    return ", ".join(f"{LIMITS[cause]} {share:.0f} %" for cause, share in named)


def limiting_sentence(arm: str, name: str, own: WorkloadOrGroup) -> str | None:
    """The limit of a workload in an arm, with its goodput, its losses, and the differences between
    its connections.

    Where a trial was explained, or the fabric of a live trial measured the transactions, that
    verdict comes first, and counters of connections follow.
    """
    limits, causes = _counted(own), causes_of(own)
    begin = f"With {arm}, {name} ({digits_text(own.goodput_gbps.mean)} Gbit/s{_lost(own.tcp)})"
    if causes and own.limits:
        kernel = (
            f" Its connections, {counters_of(own)}: {share_words(limits)} of the time."
            if limits
            else ""
        )
        return f"{begin} {path_words(causes, own.limits)}{kernel}"
    if not limits:
        return None
    verdict, by = limits.limited_by, counters_of(own)
    of_time = f"of the time, {by}" if by else "of the time"
    if verdict == MIXED:
        said = f"has no single limit ({share_words(limits)} {of_time})"
    else:
        others = share_words(limits, without=verdict)
        rest = f"; also {others}" if others else ""
        said = (
            f"is limited by {_article(LIMITS[verdict])} for {percents_of(limits)[verdict]:.0f} "
            f"% {of_time}{rest}"
        )
    return f"{begin} {said}{_differing(limits)}.{_explained(own.causes)}"


def _counted(own: SubjectSummary) -> LimitSummary | None:
    """The counts of connections from the kernel or the simulator."""
    return own.connection_limits if causes_of(own) else own.limits


def _explained(causes: Explained | None) -> str:
    """Parts of the slowest transactions of the explained trial, where one is recorded."""
    if not causes or not causes.transactions:
        return ""
    share, whose = tail_share(causes.transactions)
    of = tail(causes.bands, share)
    begin = f"In {causes.where}, {whose} take {span_text(of.latency_ps)} on average"
    return f" {begin}: {', '.join(shares_of(of))}."


def _article(words: str) -> str:
    return words if words.startswith(("pacing", "congestion")) else f"the {words}"


def _lost(tcp: TcpMeans | None) -> str:
    if tcp is None or tcp.retransmits is None or not tcp.segments_sent:
        return ""
    if not tcp.retransmits:
        return ", nothing retransmitted"
    percent = 100 * tcp.retransmits / tcp.segments_sent
    timeouts = f", {count_text(tcp.timeouts)} timeouts" if tcp.timeouts else ""
    return f", {digits_text(percent, 2)} % retransmitted{timeouts}"


def _differing(limits: LimitSummary) -> str:
    """Connections of a workload may be limited by different things."""
    counted = Counter(one.limited_by for one in limits.connections)
    if len(counted) < 2:
        return ""
    listed = [
        f"{count} by {LIMITS.get(cause, cause)}" if cause != MIXED else f"{count} mixed"
        for cause, count in counted.most_common()
    ]
    return f" (of its connections {', '.join(listed)})"


def limiting_text(summary: Summary) -> str:
    """A line for each workload and arm, for a terminal; empty where no engine reports limits."""
    rows = _all_rows(summary)
    if not rows:
        return ""
    more = (
        f"\n{count_text(len(rows) - ROWS_MAX)} more rows in result.json"
        if len(rows) > ROWS_MAX
        else ""
    )
    return listed([HEAD, *rows[:ROWS_MAX]], WIDTH) + more


def limiting_rows(summary: Summary, names: Sequence[str], most: int) -> tuple[list[str], int]:
    """The same in about `most` lines, for the first of these workloads and groups; and the number
    of omitted rows."""
    order = {name: index for index, name in enumerate(names)}
    rows = _all_rows(summary)
    first = sorted(range(len(rows)), key=lambda at: order.get(rows[at][0], len(order)))
    for count in range(min(most, len(rows)), 0, -1):
        lines = listed([HEAD, *(rows[at] for at in sorted(first[:count]))], WIDTH).splitlines()
        if len(lines) <= most + 1 or count == 1:
            return lines, len(rows) - count
    return [], 0


def explained_in(summary: Summary) -> str:
    """`Times of transactions are from trial 1.`; empty where none was explained."""
    explained = [
        causes
        for one in subject_rows(summary, lambda own: own.limits)
        if (causes := causes_of(one.own))
    ]
    if not explained:
        return ""
    wheres = dict.fromkeys(causes.where for causes in explained)
    where = (
        next(iter(wheres)) if len(wheres) == 1 else f"trial {explained[0].trial} or its beginning"
    )
    return (
        "Times of transactions are from "
        f"{where}{', by the log of the fabric' if explained[0].is_live else ''}."
    )


def _all_rows(summary: Summary) -> list[Row]:
    return [one.row for one in limit_rows(summary)]


def limit_rows(summary: Summary) -> list[LimitRow]:
    """The rows of the table with their shares, in the order of tables."""
    found = subject_rows(summary, lambda own: own.limits)
    return [
        LimitRow(one.name, one.arm, one.index, limits, row)
        for one in found
        for limits, row in _rows(one.name, one.arm, one.own)
    ]


def _rows(name: str, arm: str, own: WorkloadOrGroup) -> Iterator[tuple[LimitSummary, Row]]:
    """The limits by the critical path or the fabric, and the kernel's counts of connections."""
    causes, limits = causes_of(own), _counted(own)
    if causes and own.limits:
        by = " (of transactions, by the fabric)" if causes.is_live else ""
        yield own.limits, _row(name, arm, own.limits, part_shares(own.limits), by)
    if limits and (causes is None or causes.is_live):
        by = f" (of connections, {counters_of(own)})" if counters_of(own) else ""
        others = share_words(limits, without=limits.limited_by)
        yield limits, _row(name, arm, limits, others, by)


def _row(name: str, arm: str, limits: LimitSummary, others: str, by: str) -> Row:
    """`shop`, `fifo`, `97 %`, `queue of leaf>web behind backup`; without a clear cause the shares
    of all."""
    if limits.limited_by.startswith(MIXED):
        slow = limits.limited_by.removeprefix(MIXED)
        return [name, arm, "", f"{MIXED}: {others}{slow}{by}"]
    rest = f"; {others}" if others and not limits.measured_by else ""
    return [
        name,
        arm,
        f"{limits.limited_percent or 0.0:.0f} %",
        f"{verdict_words(limits)}{rest}{by}",
    ]
