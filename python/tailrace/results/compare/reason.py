"""The reason for which a workload is faster or slower in an arm than in the baseline, from recorded
explanations.

A reason is given only where the trials show that the workload changed, and the explained trials
show the same.
"""

from collections.abc import Iterator, Mapping, Sequence

from tailrace.results.causes.causes import INTERFACE_QUEUE, PAUSED, SWITCH_QUEUE
from tailrace.results.causes.sentence import queue_times, time_words
from tailrace.results.causes.tail import ALL, tail, tail_share
from tailrace.results.compare.tone import direction, visible_change
from tailrace.results.format.numbers import span_text
from tailrace.results.summary.causes import Band, Explained
from tailrace.results.summary.effect import ArmEffect
from tailrace.results.summary.summary import Summary

CHANGE_MIN = 0.05
"""Share of the baseline's latency below which a change is not explained."""
NAMED_SHARE_MIN = 0.5
"""Parts are named, from the largest, until they make this share of the change."""
PARTS_MAX = 2
TAIL_METRICS = ("latency_p99_ms", "latency_p99_9_ms")
MEAN_METRICS = ("latency_mean_ms", "latency_p50_ms", "completion_s", "rate_per_s")
"""Figures of all trials, of which one must have changed as the explained tail or mean did, and none
the other way."""

TOO_LONG = "mtu"
"""The limit of a workload whose frames exceed an MTU on their path."""

WAITS = {
    SWITCH_QUEUE: ("the wait in the queue of {}", "the wait in queues of switches"),
    INTERFACE_QUEUE: (
        "the wait in the queue of {}'s interface",
        "the wait in queues of interfaces",
    ),
    PAUSED: ("the wait for pauses of {}", "the wait for pauses"),
}
"""Parts whose port is named."""

Times = Mapping[str, float]


def reason(summary: Summary, arm: str, workload: str, metric: str) -> str | None:
    """`because the wait in the queue of leaf>client behind bulk falls from 11 ms to 0.3 ms on
    average`; None where the explanations on record do not show the change of this metric. `(the
    first 0.4 s of trial 1)` where it is a part.
    """
    effects = [e for e in summary.comparisons if e.arm == arm and e.workload == workload]
    if not effects:
        return None
    if (too_long := _too_long(summary, effects, metric)) is not None:
        return too_long
    pair = (_causes(summary, effects[0].baseline, workload), _causes(summary, arm, workload))
    if (causes := [found for found in pair if found is not None]) != list(pair):
        return None
    groups = {name: of.name for of in summary.subjects if of.is_group for name in of.members}
    share, slowest = tail_share(causes[0].transactions, causes[1].transactions)
    wholes = [(0.0, ALL, MEAN_METRICS), (share, slowest, TAIL_METRICS)]
    if metric in TAIL_METRICS:
        wholes.reverse()
    for at, whose, metrics in wholes:
        before, after = (tail(found.bands, at) for found in causes)
        change = after.latency_ps - before.latency_ps
        # The explained trial may differ from all trials together: then it explains nothing.
        ways = {
            direction(effect) or visible_change(effect)
            for effect in effects
            if effect.metric in metrics
        }
        way = 1 if change < 0 else -1
        if abs(change) >= CHANGE_MIN * before.latency_ps and way in ways and -way not in ways:
            begun = next(
                (f" ({found.where})" for found in reversed(causes) if found.until_s is not None), ""
            )
            return (
                f"{_because(before, after, groups)}{'' if whose == ALL else f' in {whose}'}{begun}"
            )
    return None


def _too_long(summary: Summary, effects: Sequence[ArmEffect], metric: str) -> str | None:
    """The sentence for frames of one or both arms that exceed an MTU: no transaction completes
    there, and no path is known."""
    baseline, arm, workload = effects[0].baseline, effects[0].arm, effects[0].workload
    stuck = [name for name in (baseline, arm) if _limited_by(summary, name, workload) == TOO_LONG]
    ways = {
        direction(effect) or visible_change(effect) for effect in effects if effect.metric == metric
    }
    if len(stuck) != 1 or ways != {-1 if stuck == [arm] else 1}:
        return None
    return f"because frames longer than an MTU are dropped with {stuck[0]}"


def _limited_by(summary: Summary, arm: str, workload: str) -> str | None:
    own = summary.arms[arm].subject(workload) if arm in summary.arms else None
    return own.limits.limited_by if own and own.limits else None


def _because(before: Band, after: Band, groups: Mapping[str, str]) -> str:
    change = after.latency_ps - before.latency_ps
    named = list(_parts(before.parts, after.parts, change))
    because = " and ".join(_goes(part, before, after, groups) for part in named)
    made = sum(after.parts.get(part, 0.0) - before.parts.get(part, 0.0) for part in named)
    mostly = "" if made / change > 1 - CHANGE_MIN else "mostly "
    return f"{mostly}because {because} on average"


def _causes(summary: Summary, arm: str, workload: str) -> Explained | None:
    of_arm = summary.arms.get(arm)
    own = of_arm.subject(workload) if of_arm else None
    return own.causes if own and own.causes and own.causes.transactions else None


def _parts(before: Times, after: Times, change: float) -> Iterator[str]:
    """Parts that changed in the direction of the latency, in descending order, until they make most
    of its change."""
    changes = {
        part: after.get(part, 0.0) - before.get(part, 0.0)
        for part in dict.fromkeys([*before, *after])
    }
    ordered = sorted(changes, key=lambda part: -changes[part] / change)
    made = 0.0
    for part in ordered[:PARTS_MAX]:
        if changes[part] / change <= 0 or made / change >= NAMED_SHARE_MIN:
            return
        made += changes[part]
        yield part


def _goes(part: str, before: Band, after: Band, groups: Mapping[str, str]) -> str:
    """`the wait in the queue of leaf>client behind bulk falls from 11 ms to 0.3 ms`."""
    if part not in WAITS:
        return f"{time_words(part)} {_from_to(before.parts, after.parts, part)}"
    of_part = after.parts.get(part, 0.0) - before.parts.get(part, 0.0)
    (times, others), (times_after, others_after) = (
        queue_times(before, part),
        queue_times(after, part),
    )
    port = _most(times, times_after, of_part)
    is_known = _is_known(before, part) and _is_known(after, part)
    culprit = (
        _most(_of_groups(others, groups), _of_groups(others_after, groups), of_part)
        if is_known
        else None
    )
    behind = f" behind {culprit}" if culprit else ""
    at, anywhere = WAITS[part]
    if port:
        return f"{at.format(port)}{behind} {_from_to(times, times_after, port)}"
    return f"{anywhere}{behind} {_from_to(before.parts, after.parts, part)}"


def _is_known(of: Band, part: str) -> bool:
    """Whether the bounded record still had the frames that stood in the queues for nearly all of
    the wait."""
    return sum(queue_times(of, part)[1].values()) >= (1 - CHANGE_MIN) * of.parts.get(part, 0.0)


def _of_groups(times: Times, groups: Mapping[str, str]) -> Times:
    """Waiting times behind workloads, with the members of a group summed: either of two similar
    workloads may have the larger time."""
    found: dict[str, float] = {}
    for name, time in times.items():
        group = groups.get(name, name)
        found[group] = found.get(group, 0.0) + time
    return found


def _most(before: Times, after: Times, change: float) -> str | None:
    """The name whose time makes at least `NAMED_SHARE_MIN` of the change; None without one."""
    changes = {
        name: after.get(name, 0.0) - before.get(name, 0.0)
        for name in dict.fromkeys([*before, *after])
    }
    name = max(changes, key=lambda each: changes[each] / change, default=None)
    return name if name is not None and changes[name] / change >= NAMED_SHARE_MIN else None


def _from_to(before: Times, after: Times, name: str) -> str:
    first, second = before.get(name, 0.0), after.get(name, 0.0)
    return f"{'falls' if second < first else 'rises'} from {_span(first)} to {_span(second)}"


def _span(picoseconds: float) -> str:
    """With three digits: it is a mean of one trial."""
    return span_text(float(f"{picoseconds:.3g}"))
