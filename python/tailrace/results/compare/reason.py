"""Why a workload is faster or slower in an arm than in the baseline, from the explanations that are on record.

It is told only where the trials say that the workload changed, and the explained trials say the same.
"""

from collections.abc import Iterator, Mapping, Sequence

from tailrace.results.causes.sentence import part_words
from tailrace.results.causes.tail import ALL, tail, tail_share
from tailrace.results.compare.tone import direction, visible_change
from tailrace.results.format.numbers import span_text
from tailrace.results.summary.causes import Band, Explained
from tailrace.results.summary.summary import Summary

CHANGE_MIN = 0.05
"""Share of the baseline's latency below which a change is not explained."""
TOLD_SHARE = 0.5
"""Parts are named, from the largest, until they make this share of the change."""
PARTS_MAX = 2
TAIL_METRICS = ("latency_p99_ms", "latency_p99_9_ms")
MEAN_METRICS = ("latency_mean_ms", "latency_p50_ms", "completion_s", "rate_per_s")
"""Figures of all trials, of which one must have changed as the explained tail or mean did, and none the other way."""
REASONS_MAX = 2
"""Workloads of one arm whose change is explained in a headline."""

Times = Mapping[str, float]


def reasons(summary: Summary, arm: str, workloads: Sequence[str]) -> list[str]:
    """A sentence for each of these workloads whose change in this arm is explained, the first of them."""
    found = (_reason(summary, arm, workload) for workload in workloads)
    return [sentence for sentence in found if sentence][:REASONS_MAX]


def _reason(summary: Summary, arm: str, workload: str) -> str | None:
    effects = [e for e in summary.comparisons if e.arm == arm and e.workload == workload]
    if not effects:
        return None
    baseline = effects[0].baseline
    causes = (_causes(summary, baseline, workload), _causes(summary, arm, workload))
    if causes[0] is None or causes[1] is None:
        return None
    share, tail_words = tail_share(causes[0].transactions, causes[1].transactions)
    wholes = [(0.0, ALL, MEAN_METRICS), (share, tail_words, TAIL_METRICS)]
    if any(effect.is_main and effect.metric in TAIL_METRICS for effect in effects):
        wholes.reverse()
    for at, whose, metrics in wholes:
        before, after = (tail(found.bands, at) for found in causes if found)
        change = after.latency_ps - before.latency_ps
        # The explained trial may differ from all trials together: then it explains nothing.
        ways = {direction(effect) or visible_change(effect) for effect in effects if effect.metric in metrics}
        way = 1 if change < 0 else -1
        if abs(change) >= CHANGE_MIN * before.latency_ps and way in ways and -way not in ways:
            who = f"{whose[0].upper()}{whose[1:]} of {workload}"
            return f"{who} {_because(before, after, arm)} ({causes[1].where})."
    return None


def _because(before: Band, after: Band, arm: str) -> str:
    change = after.latency_ps - before.latency_ps
    told = list(_parts(before.parts, after.parts, change))
    because = " and ".join(_goes(part, before, after, change) for part in told)
    made = sum(after.parts.get(part, 0.0) - before.parts.get(part, 0.0) for part in told)
    mostly = "" if made / change > 1 - CHANGE_MIN else "mostly "
    return (
        f"take {_span(after.latency_ps)} instead of {_span(before.latency_ps)} on average with {arm},"
        f" {mostly}because {because}"
    )


def _causes(summary: Summary, arm: str, workload: str) -> Explained | None:
    of_arm = summary.arms.get(arm)
    own = of_arm.subject(workload) if of_arm else None
    return own.causes if own and own.causes and own.causes.transactions else None


def _parts(before: Times, after: Times, change: float) -> Iterator[str]:
    """Those that changed like the latency, from the largest, until they make most of its change."""
    changes = {part: after.get(part, 0.0) - before.get(part, 0.0) for part in dict.fromkeys([*before, *after])}
    ordered = sorted(changes, key=lambda part: -changes[part] / change)
    made = 0.0
    for part in ordered[:PARTS_MAX]:
        if changes[part] / change <= 0 or made / change >= TOLD_SHARE:
            return
        made += changes[part]
        yield part


def _goes(part: str, before: Band, after: Band, change: float) -> str:
    """`the wait in the queue of leaf>client, behind bulk, falls from 11 ms to 0.3 ms`."""
    if part != "switch_queue":
        return f"{part_words(part)} {_from_to(before.parts, after.parts, part)}"
    of_part = after.parts.get(part, 0.0) - before.parts.get(part, 0.0)
    port = _most(before.queues, after.queues, change)
    culprit = _most(before.behind, after.behind, change) if _is_known(before) and _is_known(after) else None
    behind = f", behind {culprit}," if culprit else ""
    if port and (after.queues.get(port, 0.0) - before.queues.get(port, 0.0)) / of_part >= TOLD_SHARE:
        return f"the wait in the queue of {port}{behind} {_from_to(before.queues, after.queues, port)}"
    return f"the wait in queues of switches{behind} {_from_to(before.parts, after.parts, part)}"


def _is_known(of: Band) -> bool:
    """Whether the bounded record still had the frames that stood in the queues for nearly all of the wait."""
    return sum(of.behind.values()) >= (1 - CHANGE_MIN) * of.parts.get("switch_queue", 0.0)


def _most(before: Times, after: Times, change: float) -> str | None:
    """The name whose time changed most in the direction of the change."""
    changes = {name: after.get(name, 0.0) - before.get(name, 0.0) for name in dict.fromkeys([*before, *after])}
    name = max(changes, key=lambda each: changes[each] / change, default=None)
    return name if name is not None and changes[name] / change > 0 else None


def _from_to(before: Times, after: Times, name: str) -> str:
    first, second = before.get(name, 0.0), after.get(name, 0.0)
    return f"{'falls' if second < first else 'rises'} from {_span(first)} to {_span(second)}"


def _span(picoseconds: float) -> str:
    """With three digits: it is a mean of one trial."""
    return span_text(float(f"{picoseconds:.3g}"))
