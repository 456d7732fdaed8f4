"""What limits each workload, in words and as a table."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

from tailrace.results.causes.bands import Band
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
from tailrace.scenario.vocabulary import LIMITS

NAMED_PERCENT_MIN = 5.0
"""Causes with smaller shares are not named."""
ROWS_MAX = 40
"""Rows of the table in a terminal."""

Summary = dict[str, Any]


def percents_of(limits: Summary) -> dict[str, float]:
    """Mean shares by cause, the largest first."""
    means = {cause: limits["shares_percent"][cause]["mean"] for cause in LIMITS}
    return dict(sorted(means.items(), key=lambda item: -item[1]))


def verdict_words(limits: Summary) -> str:
    """`receiver's window`, or `mixed`; what a fabric has measured is in words already."""
    verdict: str = limits["limited_by"]
    return LIMITS.get(verdict, verdict)


def share_words(limits: Summary) -> str:
    """`receiver's window 97 %, application 3 %`."""
    named = [(cause, share) for cause, share in percents_of(limits).items() if share >= NAMED_PERCENT_MIN]
    return ", ".join(f"{LIMITS[cause]} {share:.0f} %" for cause, share in named)


def limiting_sentence(arm: str, name: str, workload: Summary) -> str | None:
    """What limits a workload in an arm, with what it carried, what it lost, and how its connections differ.

    Where the fabric of a live trial has measured the transactions, what it knows comes first, and what the kernel's
    counters tell of connections is added.
    """
    limits, measured = _counted(workload), measured_causes(workload)
    if measured:
        rate = f"{digits_text(workload['goodput_gbps']['mean'])} Gbit/s"
        kernel = f" Its connections, by the kernel's counters: {share_words(limits)} of the time." if limits else ""
        return f"With {arm}, {name} ({rate}{_lost(workload)}) {fabric_words(measured)}{kernel}"
    if not limits:
        return None
    verdict = limits["limited_by"]
    shares = percents_of(limits)
    rate = f"{digits_text(workload['goodput_gbps']['mean'])} Gbit/s"
    if verdict == MIXED:
        said = f"has no single limit ({share_words(limits)} of the time)"
    else:
        others = share_words(limits | {"shares_percent": limits["shares_percent"] | {verdict: {"mean": 0.0}}})
        rest = f"; also {others}" if others else ""
        said = f"is limited by {_article(LIMITS[verdict])} for {shares[verdict]:.0f} % of the time{rest}"
    return f"With {arm}, {name} ({rate}{_lost(workload)}) {said}{_differing(limits)}.{_explained(workload)}"


def _counted(workload: Summary) -> Summary | None:
    """What the kernel or the simulator counts of connections."""
    limits: Summary | None = workload.get("kernel_limits" if measured_causes(workload) else "limits")
    return limits


def _explained(workload: Summary) -> str:
    """What the slowest transactions of the explained trial consist of, where one is on record."""
    causes = workload.get("causes")
    if not causes or not causes["transactions"]:
        return ""
    share, whose = tail_share(causes["transactions"])
    of = tail([Band(**band) for band in causes["bands"]], share)
    begin = f"In trial {causes['trial']}, {whose} take {span_text(of.latency_ps)} on average"
    return f" {begin}: {', '.join(shares_of(of))}."


def _article(words: str) -> str:
    return words if words.startswith(("pacing", "congestion")) else f"the {words}"


def _lost(workload: Summary) -> str:
    tcp = workload.get("tcp") or {}
    if tcp.get("retransmits") is None or not tcp.get("segments_sent"):
        return ""
    if not tcp["retransmits"]:
        return ", nothing retransmitted"
    percent = 100 * tcp["retransmits"] / tcp["segments_sent"]
    timeouts = f", {count_text(tcp['timeouts'])} timeouts" if tcp.get("timeouts") else ""
    return f", {digits_text(percent, 2)} % retransmitted{timeouts}"


def _differing(limits: Summary) -> str:
    """Connections of a workload may be limited by different things."""
    counted = Counter(one["limited_by"] for one in limits["connections"])
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


def _rows(name: str, arm: str, workload: Summary) -> Iterator[Row]:
    """What the fabric has measured, and what the kernel or the simulator counts of connections."""
    measured, limits = measured_causes(workload), _counted(workload)
    if measured:
        yield [name, arm, fabric_verdict(measured), f"of transactions, by the fabric: {fabric_shares(measured)}"]
    if limits:
        shares = share_words(limits)
        yield [name, arm, verdict_words(limits), f"of connections, by the kernel: {shares}" if measured else shares]
