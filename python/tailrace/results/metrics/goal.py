"""What a user wants: a figure of a workload, and the value that it should have."""

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal

from tailrace.errors import RunRefusedError, closest
from tailrace.results.metrics.definitions import BETTER_HIGHER, METRICS, UNITS
from tailrace.scenario.scenario import Scenario
from tailrace.scenario.text.units import TIME, QuantityError, parse
from tailrace.scenario.workloads.kinds import facts_of

PS_PER_MS, PS_PER_S = 10**9, 10**12
SHORT = {
    "p50": "latency_p50_ms",
    "p99": "latency_p99_ms",
    "p99.9": "latency_p99_9_ms",
    "mean": "latency_mean_ms",
    "completion": "completion_s",
    "rate": "rate_per_s",
    "goodput": "goodput_gbps",
    "loss": "loss_percent",
    "failed": "failed_percent",
}
"""Short names of metrics."""
MAY_BE_ZERO = frozenset({"loss_percent", "failed_percent"})
"""Metrics of which none at all is a goal."""
_GOAL = re.compile(r"^\s*(?P<workload>[^\s.<>=]+)\.(?P<metric>[\w.]+?)\s*(?:(?P<sign>[<>])=?\s*(?P<value>\S.*?)\s*)?$")
HINT = "write, for example, --goal 'shop.p99 < 5ms', 'backup.goodput > 4' or 'shop.p99' for as low as possible"
BARE = re.compile(r"^\d+(\.\d+)?$")
UNIT_OF_PERCENT = re.compile(r"^(\d+(?:\.\d+)?)\s*%$")
RATE = re.compile(r"^(\d+(?:\.\d+)?)\s*Gbit/s$")


@dataclass(frozen=True)
class Goal:
    """A figure of a workload or group, and the bound that it should keep; None for as good as possible."""

    subject: str
    metric: str
    bound: float | None = None
    """In the unit of the metric."""

    @property
    def is_higher_better(self) -> bool:
        """Whether more of it is better."""
        return self.metric in BETTER_HIGHER

    @property
    def is_floor(self) -> bool:
        """Whether the bound is one from below."""
        return self.is_higher_better

    @property
    def sign(self) -> Literal["<", ">"]:
        """How the bound is written."""
        return ">" if self.is_higher_better else "<"

    def __str__(self) -> str:
        unit = unit_of(self.metric)
        sign = "<=" if self.bound == 0 else self.sign
        bound = f" {sign} {self.bound:g}{f' {unit}' if unit else ''}" if self.bound is not None else ""
        return f"{self.subject}.{short_of(self.metric)}{bound}"


def unit_of(metric: str) -> str:
    """The unit of a metric as it is written after a number."""
    return UNITS.get(metric, "ms" if metric.startswith("latency_") else "")


def short_of(metric: str) -> str:
    """The short name of a metric."""
    return next(short for short, long in SHORT.items() if long == metric)


def parse_goal(text: str, subjects: Collection[str], option: str = "--goal") -> Goal:
    """The goal in a text such as `shop.p99 < 5ms`; raises `RunRefusedError` with what is wrong."""
    place = f"{option} '{text}'"
    found = _GOAL.match(text)
    if found is None:
        raise RunRefusedError(f"{place}: this is no goal (hint: {HINT})")
    subject, name = found["workload"], found["metric"]
    if subject not in subjects:
        hint = closest(subject, list(subjects), "workloads and groups")
        raise RunRefusedError(f"{place}: there is no workload '{subject}' (hint: {hint})")
    metric = SHORT.get(name, name)
    if metric not in METRICS:
        raise RunRefusedError(
            f"{place}: there is no metric '{name}' (hint: {closest(name, [*SHORT, *METRICS], 'metrics')})"
        )
    goal = Goal(subject, metric)
    if found["sign"] is None:
        return goal
    if found["sign"] != goal.sign:
        way = "more" if goal.is_higher_better else "less"
        raise RunRefusedError(
            f"{place}: {way} of it is better (hint: write {subject}.{name} {goal.sign} {found['value']})"
        )
    return Goal(subject, metric, _bound(place, metric, found["value"]))


def refuse_without_figure(goal: Goal, scenario: Scenario, option: str = "--goal") -> None:
    """Raises `RunRefusedError` where the goal's workloads never have its figure.

    Latencies of several are pooled, so that one of them is enough.
    """
    members = scenario.members(goal.subject)
    lacking = [name for name in members if not scenario.has_metric(name, goal.metric)]
    is_pooled = goal.metric.startswith("latency_")
    if not lacking or (is_pooled and len(lacking) < len(members)):
        return
    kind = scenario.workloads[lacking[0]].kind
    told = f"workloads of kind {kind} have no such figure"
    if facts_of(kind).has_metric(goal.metric):
        told = f"'{lacking[0]}' has no end, so that it has no such figure"
    raise RunRefusedError(f"{option} '{goal}': {told} (hint: choose another metric)")


def _bound(place: str, metric: str, text: str) -> float:
    """The bound in the unit of the metric; a bare number is in it already."""
    value: float | None = float(text) if BARE.match(text) else None
    if value is None and (metric.startswith("latency_") or metric == "completion_s"):
        try:
            value = parse(text, TIME) / (PS_PER_S if metric == "completion_s" else PS_PER_MS)
        except QuantityError as error:
            raise RunRefusedError(f"{place}: {error.what} (hint: {error.hint})") from None
    elif value is None:
        pattern = RATE if metric == "goodput_gbps" else UNIT_OF_PERCENT if unit_of(metric) == "%" else None
        matched = pattern.match(text) if pattern else None
        if matched is None:
            of = f" of {unit_of(metric)}" if unit_of(metric) else ""
            raise RunRefusedError(f"{place}: '{text}' is no value of this metric (hint: write a number{of})")
        value = float(matched[1])
    if value < 0 or (value == 0 and metric not in MAY_BE_ZERO):
        raise RunRefusedError(f"{place}: the bound must be greater than zero (hint: {HINT})")
    return value
