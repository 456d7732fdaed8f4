"""Which explained transactions a run counts."""

from collections.abc import Mapping
from typing import Any


def counted_from_ps(outcome: Mapping[str, Any], workload: str) -> int:
    """When a trial begins to count what a workload completes: after the warm-up, or at once if it has an end."""
    found = (one for one in outcome["workloads"] if one["name"] == workload)
    return next((int(one["counted_from_ps"]) for one in found), 0)
