"""What limits each workload, in words and as a table."""

from collections import Counter
from collections.abc import Iterator

from tailrace.results.causes.sentence import shares_of
from tailrace.results.causes.tail import tail, tail_share
from tailrace.results.causes.verdict import (
    fabric_shares,
    fabric_verdict,
    fabric_words,
    measured_causes,
)
from tailrace.results.format.columns import Row, align
from tailrace.results.format.numbers import count_text, digits_text, span_text
from tailrace.results.metrics.limiting import MIXED
from tailrace.results.metrics.subject_rows import subject_rows
from tailrace.results.summary.causes import Explained
from tailrace.results.summary.summary import Summary
from tailrace.results.summary.workload import LimitSummary, SubjectSummary, TcpMeans
from tailrace.scenario.vocabulary import LIMITS

NAMED_PERCENT_MIN = 5.0
"""Causes with smaller shares are not named."""
ROWS_MAX = 40
"""Rows of the table in a terminal."""


def percents_of(limits: LimitSummary) -> dict[str, float]:
    """Mean shares by cause, the largest first."""
    means = {cause: limits.shares_percent[cause].mean or 0.0 for cause in LIMITS}
    return dict(sorted(means.items(), key=lambda item: -item[1]))


def verdict_words(limits: LimitSummary) -> str:
    """`receiver's window`, or `mixed`; what a fabric has measured is in words already."""
    return LIMITS.get(limits.limited_by, limits.limited_by)


def share_words(limits: LimitSummary, without: str = "") -> str:
    """`receiver's window 97 %, application 3 %`, without one of the causes."""
    named = [
        (cause, share)
        for cause, share in percents_of(limits).items()
        if share >= NAMED_PERCENT_MIN and cause != without
    ]
    return ", ".join(f"{LIMITS[cause]} {share:.0f} %" for cause, share in named)


def limiting_sentence(arm: str, name: str, own: SubjectSummary) -> str | None:
    """What limits a workload in an arm, with what it carried, what it lost, and how its connections differ.

    Where the fabric of a live trial has measured the transactions, what it knows comes first, and what the kernel's
    counters tell of connections is added.
    """
    limits, measured = _counted(own), measured_causes(own)
    begin = f"With {arm}, {name} ({digits_text(own.goodput_gbps.mean)} Gbit/s{_lost(own.tcp)})"
    if measured:
        kernel = f" Its connections, by the kernel's counters: {share_words(limits)} of the time." if limits else ""
        return f"{begin} {fabric_words(measured)}{kernel}"
    if not limits:
        return None
    verdict = limits.limited_by
    if verdict == MIXED:
        said = f"has no single limit ({share_words(limits)} of the time)"
    else:
        others = share_words(limits, without=verdict)
        rest = f"; also {others}" if others else ""
        said = f"is limited by {_article(LIMITS[verdict])} for {percents_of(limits)[verdict]:.0f} % of the time{rest}"
    return f"{begin} {said}{_differing(limits)}.{_explained(own.causes)}"


def _counted(own: SubjectSummary) -> LimitSummary | None:
    """What the kernel or the simulator counts of connections."""
    return own.kernel_limits if measured_causes(own) else own.limits


def _explained(causes: Explained | None) -> str:
    """What the slowest transactions of the explained trial consist of, where one is on record."""
    if not causes or not causes.transactions:
        return ""
    share, whose = tail_share(causes.transactions)
    of = tail(causes.bands, share)
    begin = f"In trial {causes.trial}, {whose} take {span_text(of.latency_ps)} on average"
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
    """The table for a terminal; empty where no engine tells."""
    found = subject_rows(summary, lambda own: measured_causes(own) or _counted(own))
    rows = [row for one in found for row in _rows(one.name, one.arm, one.own)]
    if not rows:
        return ""
    more = f"\n{count_text(len(rows) - ROWS_MAX)} more rows in result.json" if len(rows) > ROWS_MAX else ""
    return align([["limited by", "arm", "verdict", "shares of the time"], *rows[:ROWS_MAX]], left=4) + more


def _rows(name: str, arm: str, own: SubjectSummary) -> Iterator[Row]:
    """What the fabric has measured, and what the kernel or the simulator counts of connections."""
    measured, limits = measured_causes(own), _counted(own)
    if measured:
        yield [name, arm, fabric_verdict(measured), f"of transactions, by the fabric: {fabric_shares(measured)}"]
    if limits:
        shares = share_words(limits)
        yield [name, arm, verdict_words(limits), f"of connections, by the kernel: {shares}" if measured else shares]
