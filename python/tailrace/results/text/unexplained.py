"""The sentence for workloads whose users wait for responses where the verdict is that of counters:
no trial was explained."""

from tailrace.errors import few
from tailrace.results.causes.verdict import causes_of
from tailrace.results.compare.fidelity import TAP
from tailrace.results.metrics.limiting import KERNEL
from tailrace.results.summary.summary import RunFacts, Summary
from tailrace.results.summary.workload import GroupSummary, WorkloadOrGroup
from tailrace.scenario.workloads.kinds import facts_of

NAMES_MAX = 3
"""Workloads that the sentence names."""


def counters_of(own: WorkloadOrGroup) -> str:
    """`by the kernel's counters`: the source of a verdict of connections; empty for modelled
    streams, where that is the intended source."""
    if own.limits and KERNEL in (
        own.limits.measured_by,
        own.connection_limits and own.connection_limits.measured_by,
    ):
        return "by the kernel's counters"
    return "by TCP's counters" if _waits_for_answers(own) else ""


def _waits_for_answers(own: WorkloadOrGroup) -> bool:
    """Whether it has completed something that was waited for, which has a critical path."""
    kinds = own.kinds if isinstance(own, GroupSummary) else [own.kind]
    return any(facts_of(kind).latency for kind in kinds) and bool(own.transactions.mean)


def unexplained_sentence(summary: Summary) -> str | None:
    """Names the workloads whose verdict is that of counters, and the command for the critical path;
    None where there is none."""
    by_reason = {
        name: counters_of(own)
        for of_arm in summary.arms.values()
        for name, own in of_arm.workloads.items()
        if own.limits and not causes_of(own) and _waits_for_answers(own)
    }
    if not by_reason:
        return None
    names = list(by_reason)
    return (
        f"What limits {few(names, NAMES_MAX)} is told {by_reason[names[0]]}, which do not see the "
        "queues and servers that an"
        f" answer waits in: {_why(summary.run)}."
    )


def _why(run: RunFacts) -> str:
    if run.engine == "simulated":
        return "no trial was explained (hint: `tailrace explain RUN` finds the critical path)"
    simulate = (
        f"run the same scenario without --{run.engine}: the simulator tells the critical path"
    )
    if run.engine == "exact":
        return f"real kernels tell no critical path (hint: {simulate})"
    if run.fabric != TAP:
        return (
            f"the fabric '{run.fabric}' keeps no log of frames (hint: omit --fabric; or {simulate})"
        )
    return (
        "no trial was explained by a log of the fabric (hint: run it with "
        f"--log-ingress; or {simulate})"
    )
