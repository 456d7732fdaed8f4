"""Upper bound on the slowest transactions that waited for a retransmission timeout.

A trial counts timeouts and records latencies, but not which transaction had which timeout. A
transaction that waited for one took at least the minimum retransmission timeout of its hosts, and
in a closed loop each timeout delays at most one transaction. The smaller of both counts is
therefore an upper bound.
"""

from dataclasses import dataclass
from math import ceil

from tailrace.plan.types import Plan
from tailrace.results.directory.run_directory import Trial
from tailrace.results.format.numbers import PS_PER_MS, count_text
from tailrace.results.ports.outcome import known
from tailrace.scenario.workloads.planned import workloads_of
from tailrace.statistics import Histogram

SLOWEST_SHARE = 0.01
SLOWEST_MIN = 5
"""Of fewer slowest ones nothing is said."""


@dataclass(frozen=True)
class Slowest:
    """The slowest hundredth of the transactions of one workload in one arm, all valid trials
    together."""

    count: int
    of: int
    at_least_rto: int
    """Those of `count` that took at least the minimum retransmission timeout."""
    timeouts: int
    """Timeouts of all connections of the workload."""
    probes: int
    """Tail loss probes of all connections of the workload."""
    rto_min_ms: float
    median_ms: float

    @property
    def waited_max(self) -> int:
        """Upper bound of the number of transactions, of `count`, that waited for a timeout."""
        return min(self.at_least_rto, self.timeouts)


def minimum_timeouts_ms(plan: Plan) -> dict[str, float]:
    """By workload the smallest minimum retransmission timeout of its hosts."""
    hosts_ps = {host.name: host.tcp.rto_min_ps for host in plan.hosts}
    found: dict[str, float] = {}
    for own in workloads_of(plan):
        named = [
            name
            for value in own.body.values()
            for name in (value if isinstance(value, list) else [value])
        ]
        ends_ps = [hosts_ps[name] for name in named if isinstance(name, str) and name in hosts_ps]
        found[own.name] = min(ends_ps or hosts_ps.values()) / PS_PER_MS
    return found


def slowest_of(trials: list[Trial], workload: str, rto_ms: float) -> Slowest | None:
    """The slowest hundredth; None where latencies or timeouts were not recorded."""
    outcomes = [outcome for trial in trials if (outcome := trial.workloads.get(workload))]
    counters = [outcome.tcp for outcome in outcomes if outcome.tcp]
    timeouts = known([tcp.timeouts for tcp in counters])
    pooled = Histogram.from_workloads(outcomes)
    if pooled is None or not pooled.count or timeouts is None or len(counters) < len(outcomes):
        return None
    count = ceil(pooled.count * SLOWEST_SHARE)
    slow = sum(
        many
        for outcome in outcomes
        if outcome.latency
        for edge_ps, many in outcome.latency.buckets
        if edge_ps >= rto_ms * PS_PER_MS
    )
    probes = sum(tcp.tail_loss_probes or 0 for tcp in counters)
    median_ms = pooled.percentile_ms(50).ms
    return Slowest(count, pooled.count, min(slow, count), sum(timeouts), probes, rto_ms, median_ms)


def timeout_words(arm: str, workload: str, slowest: Slowest, noun: str) -> str | None:
    """One sentence: exact where there was no timeout, else a bound with its evidence. None for too
    few."""
    if slowest.median_ms >= slowest.rto_min_ms:
        return (
            f"With {arm}, the connections of {workload} had {_timeouts(slowest)} over all trials; "
            f"which {noun} waited for one cannot be determined, because the median latency exceeds "
            f"the minimum timeout, {slowest.rto_min_ms:g} ms."
        )
    if slowest.count < SLOWEST_MIN:
        return None
    of = (
        f"{count_text(slowest.count)} slowest of "
        f"{count_text(slowest.of)} {noun} of {workload} (1 %)"
    )
    reached = f"{slowest.at_least_rto} took at least {slowest.rto_min_ms:g} ms, the minimum timeout"
    if not slowest.timeouts:
        seen = (
            f"; {reached}, with {_probes(slowest)}"
            if slowest.at_least_rto and slowest.probes
            else ""
        )
        return (
            f"With {arm}, none of the {of} waited for a retransmission timeout: none "
            f"occurred{seen}."
        )
    probes = (
        f" and {_probes(slowest)}"
        if slowest.at_least_rto > slowest.timeouts and slowest.probes
        else ""
    )
    most = f"at most {slowest.waited_max}" if slowest.waited_max else "none"
    return (
        f"With {arm}, {most} of the {of} waited for a retransmission timeout: {reached}, and the "
        f"connections had {_timeouts(slowest)}{probes} over all trials."
    )


def _timeouts(slowest: Slowest) -> str:
    return f"{count_text(slowest.timeouts)} timeout{'s' * (slowest.timeouts != 1)}"


def _probes(slowest: Slowest) -> str:
    """The alternative cause: Linux (`tcp_schedule_loss_probe`) adds the minimum timeout where one
    segment is out."""
    return f"{count_text(slowest.probes)} tail loss probe{'s' * (slowest.probes != 1)}"
