"""What makes no sense about expectations: unknown metrics, arms and workloads, nothing to compare with."""

import re
from collections.abc import Iterator

from tailrace.errors import KeyPath, closest
from tailrace.scenario.experiment import Expectation
from tailrace.scenario.scenario import Scenario

LATENCIES = tuple(f"latency_{name}_ms" for name in ("mean", "min", "p50", "p90", "p95", "p99", "p99_9", "max"))
OF_A_WORKLOAD = (
    "completion_s",
    "acceleration_percent",
    "slowdown",
    "goodput_gbps",
    "transactions",
    "retransmits",
    "timeouts",
    "users_jain",
    *LATENCIES,
)
OF_THE_NETWORK = (
    "fairness_jain",
    "drops_frames",
    "marked_frames",
    "queue_depth_mean_bytes",
    "queue_depth_max_bytes",
)
METRICS = OF_A_WORKLOAD + OF_THE_NETWORK
SOLO = "solo:"

Found = Iterator[tuple[KeyPath, str, str]]


def check(scenario: Scenario) -> Found:
    """Problems of every expectation."""
    for index, expected in enumerate(scenario.expect):
        at: KeyPath = ("expect", index)
        yield from _names(at, expected, scenario)
        yield from _bounds(at, expected)


def _names(at: KeyPath, expected: Expectation, scenario: Scenario) -> Found:
    if expected.metric not in METRICS:
        yield (*at, "metric"), f"there is no metric '{expected.metric}'", closest(expected.metric, METRICS, "metrics")
    elif expected.metric in OF_A_WORKLOAD and expected.workload is None and len(scenario.workloads) > 1:
        yield at, f"{expected.metric} is of one workload", "add workload: " + next(iter(scenario.workloads))
    if expected.workload is not None and expected.workload not in scenario.workloads:
        hint = closest(expected.workload, list(scenario.workloads), "workloads")
        yield (*at, "workload"), f"there is no workload '{expected.workload}'", hint
    arms = (*scenario.arm_names, *(SOLO + name for name in scenario.workloads))
    for key in ("arm", "baseline"):
        name = getattr(expected, key)
        if name is not None and name not in arms:
            yield (*at, key), f"there is no arm '{name}'", closest(name, arms, "arms")
    needs_solo = expected.metric == "slowdown" or (expected.arm or "").startswith(SOLO)
    if needs_solo and not scenario.experiment.has_solo:
        yield at, "it needs each workload alone", "write solo: true in experiment"


def _bounds(at: KeyPath, expected: Expectation) -> Found:
    has_range = expected.at_least is not None or expected.at_most is not None
    if expected.value is None and not has_range:
        yield at, "there is nothing to compare with", "add value and tolerance, at_least or at_most"
    if expected.value is not None and has_range:
        yield at, "a value and a range exclude each other", "keep value and tolerance, or at_least and at_most"
    if expected.value is None or has_range:
        return
    if (expected.tolerance is None) == (expected.tolerance_points is None):
        yield at, "a value needs one tolerance", "add tolerance: 10% or tolerance_points: 5"
    elif expected.tolerance is not None and not re.match(r"^\d+(\.\d+)?\s*%$", expected.tolerance):
        yield (*at, "tolerance"), f"'{expected.tolerance}' is not a share", "such as 10%"
