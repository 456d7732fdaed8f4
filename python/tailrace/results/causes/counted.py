"""Which explained transactions a run counts."""

from tailrace.outcome.types import Outcome


def counted_from_ps(outcome: Outcome, workload: str) -> int:
    """When a trial begins to count what a workload completes: after the warm-up, or at once if it
    has an end."""
    found = (one.counted_from_ps for one in outcome.workloads if one.name == workload)
    return next(found, 0)
