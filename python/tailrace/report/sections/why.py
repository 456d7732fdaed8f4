"""First sentences about why something is slow: limits of connections, timeouts, queues, and
deferred resets."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tailrace.plan.types import Dpp
from tailrace.report.limits import WHY_MAX
from tailrace.report.plan_facts import PlanFacts
from tailrace.results import Run
from tailrace.results.format.numbers import count_text, span_text
from tailrace.results.metrics.subject_rows import subject_rows
from tailrace.results.ports.timeouts import slowest_of, timeout_words
from tailrace.results.ports.waiting import Wait, prioritized_words, wait_words, waits_of
from tailrace.results.summary.network import PortMeans
from tailrace.results.summary.summary import Summary
from tailrace.results.summary.workload import WorkloadSummary
from tailrace.results.text.limiting_text import limiting_sentence
from tailrace.results.text.unexplained import unexplained_sentence
from tailrace.scenario.workloads.kinds import facts_of

PORTS_NAMED_MAX = 2
"""Ports of one arm and workload that are named: those where its frames wait longest."""


Pair = tuple[str, str, int, WorkloadSummary]
"""Arm, workload, its index among the workloads, and its summary."""


@dataclass(frozen=True)
class Said:
    """A sentence."""

    text: str
    about: str
    """Classes by which the page hides an arm, or a workload."""


@dataclass(frozen=True)
class Cause:
    """Sentences of one kind, of which the first are shown."""

    title: str
    shown: list[Said]
    omitted: int


@dataclass(frozen=True)
class Why:
    """The section."""

    causes: list[Cause]
    """Those with a sentence."""
    unexplained: str | None
    """Whose verdict is that of counters, and how to get the critical path."""

    @property
    def omitted(self) -> int:
        """Sentences that are not shown."""
        return sum(cause.omitted for cause in self.causes)


def why(run: Run, summary: Summary, facts: dict[str, PlanFacts]) -> Why:
    """Sentences about the drawn arms: timeouts of the slowest, waits in queues, and
    prioritization."""
    workloads: dict[str, dict[str, WorkloadSummary]] = {
        arm: summary.arms[arm].workloads for arm in facts
    }
    pairs = [
        (arm, name, position, own)
        for position, name in enumerate(summary.workloads)
        for arm, of_arm in workloads.items()
        if (own := of_arm.get(name)) and facts_of(own.kind).waits_are_explained
    ]
    # Workloads of every kind, and groups: their connections are limited by something, too.
    rows = [row for row in subject_rows(summary, lambda _: True) if row.arm in facts]
    causes = [
        _cause(
            "What limits the connections",
            (
                _said(run, row.arm, row.at, limiting_sentence(row.arm, row.name, row.own))
                for row in rows
            ),
        ),
        _cause(
            "Retransmission timeouts",
            (_said(run, pair[0], pair[2], _timeouts(run, pair, facts)) for pair in pairs),
        ),
        _cause(
            "Queues",
            [
                *(
                    _said(run, pair[0], pair[2], words)
                    for pair in pairs
                    for words in _queues(run, pair, facts)
                ),
                *_prioritized(run, pairs),
            ],
        ),
        _cause("Packet prioritization", _resets(run, summary, facts)),
    ]
    return Why([cause for cause in causes if cause.shown], unexplained_sentence(summary))


def _cause(title: str, every: Iterable[Said]) -> Cause:
    kept = [said for said in every if said.text]
    return Cause(title, kept[:WHY_MAX], max(0, len(kept) - WHY_MAX))


def _said(run: Run, arm: str, position: int | None, text: str | None) -> Said:
    of_workload = "" if position is None else f" of-workload-{position}"
    return Said(text or "", f"of-arm-{run.arms.index(arm)}{of_workload}")


def _resets(run: Run, summary: Summary, facts: dict[str, PlanFacts]) -> list[Said]:
    return [
        _said(
            run,
            arm,
            None,
            deferred_reset_words(arm, port, known.dpp.get((port.node, port.towards))),
        )
        for arm, known in facts.items()
        for port in summary.arms[arm].ports
        if port.dpp
    ]


def _timeouts(run: Run, pair: Pair, facts: dict[str, PlanFacts]) -> str | None:
    arm, name, _, own = pair
    rto_ms = facts[arm].rto_min_ms.get(name)
    slowest = slowest_of(run.with_outcome(arm), name, rto_ms) if rto_ms is not None else None
    return timeout_words(arm, name, slowest, facts_of(own.kind).noun) if slowest else None


def _queues(run: Run, pair: Pair, facts: dict[str, PlanFacts]) -> list[str]:
    arm, name, _, own = pair
    median_ms = own.latency_ms.p50 if own.latency_ms else None
    if not median_ms:
        return []
    crossings = facts[arm].crossings.get(name, 1)
    words = (
        wait_words(arm, name, wait, crossings, median_ms)
        for wait in waits_of(run.with_outcome(arm), name)
    )
    return [sentence for sentence in words if sentence][:PORTS_NAMED_MAX]


def _prioritized(run: Run, pairs: Sequence[Pair]) -> list[Said]:
    """One sentence for each arm and port with packet prioritization, whatever the number of
    workloads."""
    found: dict[tuple[str, str], tuple[Wait, dict[str, float]]] = {}
    for arm, name, _, own in pairs:
        if own.latency_ms and (median_ms := own.latency_ms.p50):
            for wait in waits_of(run.with_outcome(arm), name):
                if wait.own_ms is None:
                    found.setdefault((arm, wait.port), (wait, {}))[1][name] = median_ms
    return [
        _said(run, arm, None, prioritized_words(arm, wait, medians))
        for (arm, _), (wait, medians) in found.items()
    ]


def deferred_reset_words(arm: str, port: PortMeans, dpp: Dpp | None) -> str | None:
    """A description of deferred resets at a port of an arm, and advice; None where no reset was
    deferred. `dpp` are its settings."""
    counters = port.dpp
    if counters is None or counters.deferred_resets < 1:
        return None
    deferred = counters.deferred_resets
    age = f"the age of {span_text(dpp.age_ps)}" if dpp else "the age"
    express = dpp.express_queue if dpp else None
    normal = [queue for number, queue in enumerate(port.queues) if number != express]
    name = max(normal, key=lambda queue: queue.depth_mean_bytes or 0).name if normal else "normal"
    return (
        f"With {arm}, {count_text(deferred)} of {count_text(deferred + counters.resets)} silences "
        f"per trial ended while frames of the flow were still queued in {name} at {port.label}: "
        f"the flow had been silent for {age}, but its next packets were not prioritised, because "
        "they would have overtaken the queued ones. For bulk flows this is harmless. For "
        f"transactions, the queueing delay of {name} exceeds the age: reduce it (a smaller limit, "
        "or `aqm` with ECN), use a separate queue for the transactions, or accept reordering "
        "(`reset: naive`)."
    )
