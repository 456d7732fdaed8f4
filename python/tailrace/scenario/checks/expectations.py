"""Semantic checks for expectations: unknown metrics and names, keys that a metric does not accept,
missing bounds."""

import re
from collections.abc import Collection, Iterator

from tailrace.errors import KeyPath, closest
from tailrace.scenario.experiment import SOLO, Expectation
from tailrace.scenario.figures import refuse_without_figure
from tailrace.scenario.goal import METRICS as GOALS
from tailrace.scenario.goal import Goal
from tailrace.scenario.network.topology import Graph
from tailrace.scenario.scenario import Scenario
from tailrace.scenario.text.units import QuantityError
from tailrace.scenario.vocabulary import (
    BLOCK_METRICS,
    DROP_CAUSES,
    METRICS,
    NARROWING,
    STORAGE_METRICS,
    Metric,
)
from tailrace.scenario.workloads.kinds import KINDS

OF_SOME_KINDS = (
    "connections_spread_percent",
    "lost_queries",
    "timed_out",
    "connections_opened",
    *BLOCK_METRICS,
    *STORAGE_METRICS,
)
"""Metrics that no goal can name and that only workloads of some kinds have."""

Found = Iterator[tuple[KeyPath, str, str]]


def check(scenario: Scenario) -> Found:
    """Problems of every expectation that do not depend on the network."""
    if not scenario.expect:
        return
    arms = dict.fromkeys((*scenario.arm_names, *(SOLO + name for name in scenario.workloads)))
    for index, expected in enumerate(scenario.expect):
        at: KeyPath = ("expect", index)
        metric = METRICS.get(expected.metric)
        if metric is None:
            hint = closest(expected.metric, list(METRICS), "metrics")
            yield (*at, "metric"), f"there is no metric '{expected.metric}'", hint
        else:
            yield from _keys(at, expected, metric, scenario)
        yield from _figure(at, expected, scenario)
        yield from _names(at, expected, scenario, arms)
        yield from _time(at, expected, scenario)
        yield from _bounds(at, expected)


def check_ports(scenario: Scenario, graph: Graph) -> Found:
    """Problems of expectations with ports or queues that do not exist."""
    queues = list(
        dict.fromkeys(name for policy in scenario.policies.values() for name in policy.queues)
    )
    for index, expected in enumerate(scenario.expect):
        is_of_hosts_too = expected.metric == "paused_percent"
        if expected.port is not None and not _is_port(
            expected.port, graph, of_hosts_too=is_of_hosts_too
        ):
            nodes = [*graph.switches, *(graph.hosts if is_of_hosts_too else [])]
            known = [
                f"{node}>{towards}"
                for node in nodes
                for towards in dict.fromkeys(graph.neighbours(node))
            ]
            hint = closest(expected.port, known, "ports")
            yield ("expect", index, "port"), f"no switch has a port '{expected.port}'", hint
        if expected.queue is not None and expected.queue not in (*queues, "default"):
            yield (
                ("expect", index, "queue"),
                f"there is no queue '{expected.queue}'",
                closest(expected.queue, queues, "queues"),
            )


def _is_port(port: str, graph: Graph, *, of_hosts_too: bool) -> bool:
    node, _, towards = port.partition(">")
    is_known = node in graph.switch_names or (of_hosts_too and node in graph.host_names)
    return is_known and graph.are_joined(node, towards)


def _keys(at: KeyPath, expected: Expectation, metric: Metric, scenario: Scenario) -> Found:
    for key in metric.needs:
        is_only = key == "workload" and len(scenario.workloads) == 1
        if getattr(expected, key) is None and not is_only:
            example = next(iter(scenario.workloads), "name") if key == "workload" else "name"
            yield at, f"{metric.name} requires `{key}`", f"add {key}: {example}"
    for key in NARROWING:
        if getattr(expected, key) is not None and key not in (*metric.needs, *metric.takes):
            accepted = ", ".join((*metric.needs, *metric.takes)) or "none of these keys"
            yield (*at, key), f"{metric.name} does not accept `{key}`", f"it accepts {accepted}"
    if metric.name in OF_SOME_KINDS:
        workload = scenario.workloads.get(expected.workload or next(iter(scenario.workloads), ""))
        if workload is not None and not workload.facts().has_metric(metric.name):
            kinds = " or ".join(
                kind for kind, own in KINDS.items() if own.facts().has_metric(metric.name)
            )
            what = f"a workload of kind {workload.kind} has no {metric.name}"
            yield (*at, "workload"), what, f"name a workload of kind {kinds}"


def _figure(at: KeyPath, expected: Expectation, scenario: Scenario) -> Found:
    """A goal whose workloads never have its figure; disabled workloads are a matter of the arm."""
    name = expected.workload or (
        next(iter(scenario.workloads)) if len(scenario.workloads) == 1 else None
    )
    members = scenario.members(name) if name is not None else []
    if expected.metric not in GOALS or name is None or not members:
        return
    # That of arrivals says nothing of the network, and is no goal, but it is there.
    if expected.metric == "completion_s" and all(scenario.has_end(member) for member in members):
        return
    try:
        refuse_without_figure(Goal(name, expected.metric), scenario)
    except QuantityError as error:
        yield (*at, "metric"), error.what, error.hint


def _names(at: KeyPath, expected: Expectation, scenario: Scenario, arms: Collection[str]) -> Found:
    if expected.workload is not None and expected.workload not in (
        known := subjects(scenario, expected.metric)
    ):
        hint = closest(expected.workload, known, "workloads")
        yield (*at, "workload"), f"there is no workload '{expected.workload}'", hint
    if expected.cause is not None and expected.cause not in DROP_CAUSES:
        hint = closest(expected.cause, DROP_CAUSES, "causes")
        yield (*at, "cause"), f"there is no cause '{expected.cause}'", hint
    for key in ("arm", "baseline"):
        name = getattr(expected, key)
        if name is not None and name not in arms:
            yield (*at, key), f"there is no arm '{name}'", closest(name, list(arms), "arms")
    needs_solo = expected.metric == "slowdown" or (expected.arm or "").startswith(SOLO)
    if needs_solo and not scenario.experiment.has_solo:
        yield (
            at,
            "this metric requires solo runs of each workload",
            "write solo: true in experiment",
        )


def subjects(scenario: Scenario, metric: str) -> list[str]:
    """Names that `workload` of a figure may have: workloads, and groups where the metric is one of
    all members."""
    groups = (
        [own.group for own in scenario.workloads.values() if own.group] if metric in GOALS else []
    )
    return list(dict.fromkeys([*scenario.workloads, *groups]))


def _time(at: KeyPath, expected: Expectation, scenario: Scenario) -> Found:
    if expected.after is None:
        return
    if expected.workload in scenario.groups:
        yield (
            (*at, "after"),
            "`after` is for one workload, not for a group",
            "name a workload of the group",
        )
    if expected.after >= scenario.experiment.duration:
        yield (
            (*at, "after"),
            "`after` must be less than the duration of a trial",
            "write a time below experiment.duration",
        )
    if scenario.observe.series_bins == 0:
        yield (
            (*at, "after"),
            "no time series are recorded",
            "omit observe.series_bins, or write a number above 0",
        )
    if expected.metric.startswith("queue_") and (
        expected.port is None or expected.queue is not None
    ):
        yield (
            (*at, "after"),
            "depth over time is recorded per port, not per queue",
            "name the port and omit the queue",
        )


def _bounds(at: KeyPath, expected: Expectation) -> Found:
    has_range = expected.at_least is not None or expected.at_most is not None
    if expected.value is None and not has_range:
        yield at, "the expectation has no bounds", "add value and tolerance, at_least or at_most"
    if expected.value is not None and has_range:
        yield (
            at,
            "a value and a range exclude each other",
            "keep value and tolerance, or at_least and at_most",
        )
    if (
        expected.at_least is not None
        and expected.at_most is not None
        and expected.at_least > expected.at_most
    ):
        yield (
            (*at, "at_most"),
            "it is below `at_least`: no result can hold",
            "exchange the two numbers",
        )
    if expected.value is None or has_range:
        return
    if (expected.tolerance is None) == (expected.tolerance_points is None):
        yield (
            at,
            "`value` requires exactly one tolerance",
            "add tolerance: 10% or tolerance_points: 5",
        )
    elif expected.tolerance is not None and not re.fullmatch(
        r"^\d+(\.\d+)?\s*%$", expected.tolerance
    ):
        yield (
            (*at, "tolerance"),
            f"'{expected.tolerance}' is not a share",
            "write a share such as 10%",
        )
    elif expected.metric == "acceleration_percent" and expected.kind in ("independent", "derived"):
        yield from _includes_zero(at, expected, expected.value)


def _includes_zero(at: KeyPath, expected: Expectation, value: float) -> Found:
    """Problems of bands around a change that include zero, which proves nothing."""
    if expected.tolerance_points is not None and abs(value) <= expected.tolerance_points:
        what = (
            f"the band of this {expected.kind} change contains 0, so a mechanism without "
            "effect would pass"
        )
        yield (*at, "tolerance_points"), what, "write a smaller tolerance, or kind: bound"
