"""The largest part of the latency of a workload's transactions, where a trial was explained or a
fabric measured it.

Counters of connections show why a connection waits. A user whose response waits in a queue has a
connection with nothing to send, which those counters attribute to the application. For workloads
whose users wait for responses, the verdict is therefore that of the critical path.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from tailrace.results.causes.causes import INTERFACE_QUEUE, PAUSED, SWITCH_QUEUE
from tailrace.results.causes.record import FABRIC
from tailrace.results.causes.sentence import (
    ADVERBIAL,
    NAMED_PERCENT_MIN,
    REPAIRS,
    STAGES,
    part_words,
    queue_times,
    shares_of,
)
from tailrace.results.causes.tail import ALL, TAILS, body, tail, tail_share
from tailrace.results.format.numbers import span_text
from tailrace.results.metrics.limiting import MIXED, VERDICT_LEAD_POINTS, VERDICT_PERCENT_MIN
from tailrace.results.metrics.sample_summary import summarise_sample
from tailrace.results.summary.causes import Band, Explained
from tailrace.results.summary.workload import LimitSummary, SubjectSummary

SIMULATOR = "simulator"
"""Source of the verdict of a trial that was simulated once more."""
MOST = 0.5
"""Least share of the wait in queues at one port, or behind one workload, for the verdict to name
it."""
OWN = "its own frames"
WHERE = {
    SWITCH_QUEUE: "queue of {}",
    INTERFACE_QUEUE: "queue of {}'s interface",
    PAUSED: "pauses of {}",
}
"""Parts whose verdict names the port."""
PATH = ("serialisation", "propagation", "receive")
"""Parts of a round trip on an idle path. They are a cause only where a small window makes more
round trips necessary."""
OUTSIDE = "outside"
"""The part of live trials that the fabric does not observe."""
AFTER_DROP = {*REPAIRS, "outside_after_drop"}
"""Parts that follow the drop of a frame."""
TOGETHER = (
    ("repairs of dropped frames", tuple(REPAIRS)),
    ("the virtual switch", ("virtual_switch_wait", "virtual_switch")),
    ("the vhost threads", ("vhost_wait", "vhost")),
    ("the server (waiting for a worker, and its work)", ("worker_wait", "server_work")),
)
"""Parts of one thing, which is the cause where none of them alone is."""
SLOW_SHARE = TAILS[1][0]


@dataclass(frozen=True)
class Largest:
    """The part that takes most of a time, and clearly so."""

    parts: Collection[str]
    words: str
    time_ps: float


def causes_of(own: SubjectSummary) -> Explained | None:
    """The explanation that decides the verdict of a workload in an arm; None where counters of
    connections decide it."""
    return own.causes if own.limits and own.limits.measured_by in (SIMULATOR, FABRIC) else None


def path_limits(causes: Explained | None, members: Collection[str]) -> LimitSummary | None:
    """Limits of workloads whose users wait for responses: shares of the latency of all transactions
    of one trial."""
    if causes is None or not causes.transactions:
        return None
    of = all_of(causes)
    whole = largest(of, members)
    return LimitSummary(
        limited_by=verdict_of(causes.bands, members),
        limited_percent=100 * whole.time_ps / max(1.0, of.latency_ps) if whole else None,
        shares_percent={
            part: summarise_sample([100 * time / max(1.0, of.latency_ps)])
            for part, time in of.parts.items()
        },
        connections=[],
        measured_by=FABRIC if causes.is_live else SIMULATOR,
        trial=causes.trial,
    )


def all_of(causes: Explained) -> Band:
    """Means over all transactions."""
    return tail(causes.bands, 0.0)


def verdict_of(of: Sequence[Band], members: Collection[str] = ()) -> str:
    """`queue of leaf>client behind backup`, or another part as text, if it is large and clearly the
    largest; `mixed` otherwise.

    The verdict adds the part of the slowest transactions where it differs. `members` are the
    workloads of the transactions.
    """
    whole = largest(tail(of, 0.0), members)
    share, whose = tail_share(sum(band.count for band in of))
    slow = None if whose == ALL else largest(tail(of, share), members)
    rest = body(of, SLOW_SHARE)
    if whole and rest and 100 * _time_of(rest, whole) < NAMED_PERCENT_MIN * rest.latency_ps:
        return f"{whole.words}, in {TAILS[1][1]}"
    words = whole.words if whole else MIXED
    is_other = slow is not None and (whole is None or not set(slow.parts) & set(whole.parts))
    return f"{words}; in {whose}: {slow.words}" if slow and is_other else words


def largest(of: Band, members: Collection[str] = ()) -> Largest | None:
    """The part that takes at least half of a time and is far above the second. Where there is none,
    related parts together, or round trips for a window; None where these take less than half, too.

    Round trips for a window are the cause where they consist of the parts of an idle path.
    """
    percent = 100 / max(1.0, of.latency_ps)
    first = _clear(of.parts, percent)
    if first is None or first in PATH:
        together = next(
            (one for one in TOGETHER if _clear(_with(of.parts, one), percent) == one[0]), None
        )
        if together is not None:
            return Largest(
                together[1], f"{together[0]}{_drops(of, together[1][0])}", _sum(of, together[1])
            )
        most = max(of.parts, key=lambda part: of.parts[part], default="")
        if of.windowed_ps * percent >= VERDICT_PERCENT_MIN and most not in AFTER_DROP:
            whose = (
                "receiver's" if of.receive_windowed_ps >= MOST * of.windowed_ps else "congestion"
            )
            words = f"round trips for the {whose} window ({part_words(most)})"
            return Largest(PATH, words, of.windowed_ps)
    return (
        None
        if first is None
        else Largest((first,), _queue_words(of, first, members), of.parts[first])
    )


def _clear(times: Mapping[str, float], percent: float) -> str | None:
    first, second = sorted([*times.items(), ("", 0.0), ("", 0.0)], key=lambda part: -part[1])[:2]
    is_clear = (
        first[1] * percent >= VERDICT_PERCENT_MIN
        and (first[1] - second[1]) * percent >= VERDICT_LEAD_POINTS
    )
    return first[0] if is_clear else None


def _with(times: Mapping[str, float], together: tuple[str, Collection[str]]) -> dict[str, float]:
    """Times by part, where some parts are one."""
    name, parts = together
    rest = {part: time for part, time in times.items() if part not in parts}
    return rest | {name: sum(times.get(part, 0.0) for part in parts)}


def _sum(of: Band, parts: Collection[str]) -> float:
    return sum(of.parts.get(part, 0.0) for part in parts)


def _time_of(of: Band, whole: Largest) -> float:
    return of.windowed_ps if whole.parts == PATH else _sum(of, whole.parts)


def _queue_words(of: Band, part: str, members: Collection[str]) -> str:
    """Where, and behind whose frames."""
    if part not in WHERE:
        return f"{part_words(part)}{_drops(of, part)}"
    times, others = queue_times(of, part)
    # A fabric records for the slowest transactions behind which frames they waited; the simulator
    # records it for all, but its record may be incomplete.
    known = sum(others.values()) if OUTSIDE in of.parts else of.parts[part]
    port, culprit = _most(times, of.parts[part]), _most(others, known) if others else None
    behind = f" behind {OWN if culprit in members else culprit}" if culprit else ""
    return f"{WHERE[part].format(port) if port else part_words(part)}{behind}"


def _drops(of: Band, part: str) -> str:
    """The port with most drops whose repair is awaited, and the dropping component."""
    drop = _most(of.dropped, of.losses) if part in AFTER_DROP and of.losses else None
    return f" after drops {drop}" if drop else ""


def _most(times: Mapping[str, float], whole: float) -> str | None:
    name, time = max(times.items(), key=lambda one: one[1], default=("", 0.0))
    return name if time >= MOST * whole else None


def path_shares(causes: Explained) -> str:
    """`94 % queues of switches (most at leaf>client), 5 % outside the fabric (hosts, programs)`."""
    return ", ".join(shares_of(all_of(causes)))


def part_shares(limits: LimitSummary) -> str:
    """`55 % queues of switches, 42 % work of the server`: the parts of a verdict of the critical
    path, without ports."""
    parts = sorted(
        ((own.mean or 0.0, part) for part, own in limits.shares_percent.items()), reverse=True
    )
    named = [(share, part) for share, part in parts if share >= NAMED_PERCENT_MIN] or parts[:1]
    return ", ".join(f"{share:.0f} % {part_words(part)}" for share, part in named)


def path_words(causes: Explained, limits: LimitSummary) -> str:
    """The largest part of all transactions, and of the slowest, after `With fifo, orders`."""
    of = all_of(causes)
    by = f"measured by the fabric in {causes.where}" if causes.is_live else f"by {causes.where}"
    text = (
        f"{loses(limits.limited_by)}: {by}, its transactions take "
        f"{span_text(of.latency_ps)} on average,"
    )
    text += f" {path_shares(causes)}"
    share, whose = tail_share(causes.transactions)
    if whose == ALL:
        return f"{text}."
    slow = tail(causes.bands, share)
    return f"{text}; {whose} take {span_text(slow.latency_ps)}, {', '.join(shares_of(slow))}."


def loses(verdict: str) -> str:
    """`loses most of its time in the queue of leaf>client behind backup`, behind the name of a
    workload."""
    if verdict.startswith(MIXED):
        return "has no single cause of delay"
    if verdict.startswith(("waiting ", *ADVERBIAL)):
        return f"loses most of its time {verdict}"
    if verdict.startswith(("queue", *map(part_words, STAGES))):
        return f"loses most of its time in the {verdict}"
    return f"loses most of its time to {'the ' if verdict.startswith('work ') else ''}{verdict}"
