"""Which explained transactions a run counts."""

from tailrace.outcome.types import Outcome


def counted_from_ps(outcome: Outcome, workload: str) -> int:
    """Time from which a trial counts the completions of a workload: the end of the warm-up, or zero
    if the workload has an end."""
    found = (one.counted_from_ps for one in outcome.workloads if one.name == workload)
    return next(found, 0)
