"""Semantic checks for groups of workloads and for the headline."""

from collections.abc import Iterator

from tailrace.errors import KeyPath, closest
from tailrace.scenario.goal import METRICS
from tailrace.scenario.scenario import Scenario

Found = Iterator[tuple[KeyPath, str, str]]


def check(scenario: Scenario) -> Found:
    """Unknown or duplicate names, and metrics that the named workload does not have."""
    groups = scenario.groups
    for name, workload in scenario.workloads.items():
        if workload.group in scenario.workloads:
            yield (
                ("workloads", name, "group"),
                f"group and workload have the same name, '{workload.group}'",
                "rename the group",
            )
    seen: set[tuple[str, str | None]] = set()
    for index, one in enumerate(scenario.headline):
        at: KeyPath = ("headline", index)
        members = groups.get(
            one.workload, [one.workload] if one.workload in scenario.workloads else []
        )
        if not members:
            known = [*groups, *scenario.workloads]
            yield (
                (*at, "workload"),
                f"there is no workload or group '{one.workload}'",
                closest(one.workload, known, "workloads and groups"),
            )
            continue
        if (one.workload, one.metric) in seen:
            yield at, f"'{one.workload}' is listed twice", "remove one of the two"
        seen.add((one.workload, one.metric))
        lacking = [
            name for name in members if one.metric and not scenario.has_metric(name, one.metric)
        ]
        if lacking:
            known = [
                metric
                for metric in METRICS
                if all(scenario.has_metric(name, metric) for name in members)
            ]
            yield (
                (*at, "metric"),
                f"'{lacking[0]}' has no {one.metric}",
                f"it has {', '.join(known)}",
            )
