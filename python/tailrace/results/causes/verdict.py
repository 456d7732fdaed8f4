"""What takes the time of a workload's transactions, where a trial was explained or a fabric has measured it.

Counters of connections tell what a connection waits for. A user who waits for a response that stands in a queue has a
connection with nothing to send, which those counters call the application's time. Of whoever waits for answers the
verdict is therefore that of the critical path.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from tailrace.results.causes.record import FABRIC
from tailrace.results.causes.sentence import TOLD_PERCENT, part_words, shares_of
from tailrace.results.causes.tail import ALL, TAILS, body, tail, tail_share
from tailrace.results.format.numbers import span_text
from tailrace.results.metrics.limiting import MIXED, VERDICT_LEAD_POINTS, VERDICT_PERCENT_MIN
from tailrace.results.metrics.sample_summary import summarise_sample
from tailrace.results.summary.causes import Band, Explained
from tailrace.results.summary.workload import LimitSummary, SubjectSummary

SIMULATOR = "simulator"
"""Source of the verdict of a trial that was simulated once more."""
MOST = 0.5
"""Least share of the wait in queues at one port, or behind one workload, for the verdict to name it."""
OWN = "its own frames"
WINDOW = "window"
"""Round trips that transactions wait for a window, whatever these consist of."""
SLOW_SHARE = TAILS[1][0]


@dataclass(frozen=True)
class Largest:
    """The part that takes most of a time, and clearly so."""

    part: str
    words: str


def causes_of(own: SubjectSummary) -> Explained | None:
    """What decides the verdict of a workload in an arm; None where counters of connections do."""
    return own.causes if own.limits and own.limits.measured_by else None


def path_limits(causes: Explained | None, members: Collection[str]) -> LimitSummary | None:
    """What limits workloads that wait for answers: shares of the latency of all transactions of one trial."""
    if causes is None or not causes.transactions:
        return None
    of = all_of(causes)
    return LimitSummary(
        limited_by=verdict_of(causes, members),
        shares_percent={
            part: summarise_sample([100 * time / max(1.0, of.latency_ps)]) for part, time in of.parts.items()
        },
        connections=[],
        measured_by=FABRIC if causes.is_live else SIMULATOR,
        trial=causes.trial,
    )


def all_of(causes: Explained) -> Band:
    """Means over all transactions."""
    return tail(causes.bands, 0.0)


def verdict_of(causes: Explained, members: Collection[str] = ()) -> str:
    """`queue of leaf>client behind backup`, or another part in words, if it is large and clearly the largest; `mixed`
    otherwise. Where only the slow transactions have it, or where it is another one in the slowest, that is told.

    `members` are the workloads whose transactions they are.
    """
    whole = largest(all_of(causes), members)
    share, whose = tail_share(causes.transactions)
    slow = None if whose == ALL else largest(tail(causes.bands, share), members)
    rest = body(causes.bands, SLOW_SHARE)
    if whole and rest and 100 * _time_of(rest, whole.part) < TOLD_PERCENT * rest.latency_ps:
        return f"{whole.words}, in {TAILS[1][1]}"
    told = whole.words if whole else MIXED
    return f"{told}; in {whose}: {slow.words}" if slow and (whole is None or slow.part != whole.part) else told


def largest(of: Band, members: Collection[str] = ()) -> Largest | None:
    """The largest part of a time; None where it is less than half, or not far above the second."""
    percent = 100 / max(1.0, of.latency_ps)
    first, second = sorted([*of.parts.items(), ("", 0.0), ("", 0.0)], key=lambda part: -part[1])[:2]
    if of.windowed_ps * percent >= VERDICT_PERCENT_MIN:
        return Largest(WINDOW, f"round trips for a window ({_place(of, first, members)})")
    if first[1] * percent < VERDICT_PERCENT_MIN or (first[1] - second[1]) * percent < VERDICT_LEAD_POINTS:
        return None
    return Largest(first[0], _place(of, first, members))


def _time_of(of: Band, part: str) -> float:
    return of.windowed_ps if part == WINDOW else of.parts.get(part, 0.0)


def _place(of: Band, part: tuple[str, float], members: Collection[str]) -> str:
    """Where, and behind whose frames."""
    if part[0] != "switch_queue":
        return part_words(part[0])
    port, culprit = _most(of.queues, part[1]), _most(of.behind, part[1])
    behind = f" behind {OWN if culprit in members else culprit}" if culprit else ""
    return f"queue of {port}{behind}" if port else f"{part_words(part[0])}{behind}"


def _most(times: Mapping[str, float], whole: float) -> str | None:
    name, time = max(times.items(), key=lambda one: one[1], default=("", 0.0))
    return name if time >= MOST * whole else None


def path_shares(causes: Explained) -> str:
    """`94 % queues of switches (most at leaf>client), 5 % outside the fabric (hosts, programs)`."""
    return ", ".join(shares_of(all_of(causes)))


def part_shares(limits: LimitSummary) -> str:
    """`55 % queues of switches, 42 % work of the server`: of a verdict of the critical path, without places."""
    parts = sorted(((own.mean or 0.0, part) for part, own in limits.shares_percent.items()), reverse=True)
    told = [(share, part) for share, part in parts if share >= TOLD_PERCENT] or parts[:1]
    return ", ".join(f"{share:.0f} % {part_words(part)}" for share, part in told)


def path_words(causes: Explained, limits: LimitSummary) -> str:
    """What takes the time of all transactions, and of the slowest, behind `With fifo, orders`."""
    of = all_of(causes)
    by = f"measured by the fabric in {causes.where}" if causes.is_live else f"by {causes.where}"
    text = f"{loses(limits.limited_by)}: {by}, its transactions take {span_text(of.latency_ps)} on average,"
    text += f" {path_shares(causes)}"
    share, whose = tail_share(causes.transactions)
    if whose == ALL:
        return f"{text}."
    slow = tail(causes.bands, share)
    return f"{text}; {whose} take {span_text(slow.latency_ps)}, {', '.join(shares_of(slow))}."


def loses(verdict: str) -> str:
    if verdict.startswith(MIXED):
        return "has no single cause of delay"
    if verdict.startswith(("outside", "until", "waiting")):
        return f"loses most of its time {verdict}"
    return f"loses most of its time {'in the' if verdict.startswith('queue') else 'to'} {verdict}"
