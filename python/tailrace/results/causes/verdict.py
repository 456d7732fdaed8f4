"""What takes the time of a workload's transactions, where the fabric of a live trial has measured it.

The kernel's counters tell what a connection waits for. A user who waits for a response that stands in a queue has a
connection with nothing to send, which those counters call the application's time.
"""

from tailrace.results.causes.record import FABRIC
from tailrace.results.causes.sentence import part_words, shares_of
from tailrace.results.causes.tail import ALL, tail, tail_share
from tailrace.results.format.numbers import span_text
from tailrace.results.metrics.limiting import MIXED, VERDICT_LEAD_POINTS, VERDICT_PERCENT_MIN
from tailrace.results.metrics.sample_summary import summarise_sample
from tailrace.results.summary.causes import Band, Explained
from tailrace.results.summary.workload import LimitSummary, SubjectSummary

ONE_PORT_MIN = 0.5
"""Least share of the wait in queues at one port, for the verdict to name it."""


def measured_causes(own: SubjectSummary) -> Explained | None:
    """What the fabric has measured of a workload in an arm; None where it has not."""
    return own.causes if own.causes and own.causes.is_live else None


def fabric_limits(causes: Explained | None) -> LimitSummary | None:
    """What limits a workload where the fabric has measured it: shares of the latency of all transactions of one trial.
    What the kernel counts of connections is another thing then.
    """
    if causes is None or not causes.is_live:
        return None
    of = all_of(causes)
    return LimitSummary(
        limited_by=fabric_verdict(causes),
        shares_percent={
            part: summarise_sample([100 * time / max(1.0, of.latency_ps)]) for part, time in of.parts.items()
        },
        connections=[],
        measured_by=FABRIC,
        trial=causes.trial,
    )


def all_of(causes: Explained) -> Band:
    """Means over all transactions."""
    return tail(causes.bands, 0.0)


def fabric_verdict(causes: Explained) -> str:
    """`queue of leaf>client`, or another part in words, if it is large and clearly the largest; `mixed` otherwise."""
    of = all_of(causes)
    first, second = sorted([*of.parts.items(), ("", 0.0), ("", 0.0)], key=lambda part: -part[1])[:2]
    percent = 100 / max(1.0, of.latency_ps)
    if first[1] * percent < VERDICT_PERCENT_MIN or (first[1] - second[1]) * percent < VERDICT_LEAD_POINTS:
        return MIXED
    port, time = max(of.queues.items(), key=lambda queue: queue[1], default=("", 0.0))
    if first[0] == "switch_queue" and time >= ONE_PORT_MIN * first[1]:
        return f"queue of {port}"
    return part_words(first[0])


def fabric_shares(causes: Explained) -> str:
    """`94 % queues of switches (most at leaf>client), 5 % outside the fabric (hosts, programs)`."""
    return ", ".join(shares_of(all_of(causes)))


def fabric_words(causes: Explained) -> str:
    """What takes the time of all transactions, and of the slowest, behind `With fifo, orders`."""
    of, verdict = all_of(causes), fabric_verdict(causes)
    if verdict == MIXED:
        said = "has no single cause of delay"
    elif verdict.startswith("outside"):
        said = f"loses most of its time {verdict}"
    else:
        said = (
            f"loses most of its time in the {verdict}" if "queue" in verdict else f"loses most of its time to {verdict}"
        )
    by = f"measured by the fabric in trial {causes.trial}"
    text = f"{said}: {by}, its transactions take {span_text(of.latency_ps)} on average, {fabric_shares(causes)}"
    share, whose = tail_share(causes.transactions)
    if whose == ALL:
        return f"{text}."
    slow = tail(causes.bands, share)
    return f"{text}; {whose} take {span_text(slow.latency_ps)}, {', '.join(shares_of(slow))}."
