"""Summaries of runs that hold no more than a table needs."""

from collections.abc import Mapping, Sequence
from typing import Any

Summary = dict[str, Any]


def summary_of(
    arms: Mapping[str, Mapping[str, Summary]],
    workloads: Sequence[str],
    groups: Mapping[str, Mapping[str, Summary]] | None = None,
) -> Summary:
    """By arm the summaries of workloads; `groups` are those of groups by arm, which stand before all workloads."""
    held = groups or {}
    names = list(dict.fromkeys(name for of_arm in held.values() for name in of_arm))
    return {
        "workloads": list(workloads),
        "subjects": [{"name": name} for name in [*names, *workloads]],
        "arms": {arm: {"workloads": dict(own), "groups": dict(held.get(arm, {}))} for arm, own in arms.items()},
    }
