"""Goals: a figure of a workload or group, and the bound that it should keep, as in `shop.p99 <
5ms`.

`advise`, `search`, `sensitivity` and the section `expect` read the same notation.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from tailrace.errors import closest
from tailrace.scenario.text.units import (
    RATE,
    REQUEST_RATE,
    SHARE,
    TIME,
    Dimension,
    QuantityError,
    parse,
    split,
)
from tailrace.scenario.workloads.facts import LATENCY

HeadlineMetric = Literal[
    "completion_s",
    "rate_per_s",
    "goodput_gbps",
    "latency_mean_ms",
    "latency_p50_ms",
    "latency_p90_ms",
    "latency_p95_ms",
    "latency_p99_ms",
    "latency_p99_9_ms",
    "loss_percent",
    "failed_percent",
]
"""Metrics of a workload or group that a goal and a headline can name."""
METRICS: tuple[str, ...] = get_args(HeadlineMetric)
BETTER_HIGHER = frozenset({"rate_per_s", "goodput_gbps"})
UNITS = {"completion_s": "s", "goodput_gbps": "Gbit/s", "loss_percent": "%", "failed_percent": "%"}
SHORT = {
    "p50": "latency_p50_ms",
    "p90": "latency_p90_ms",
    "p95": "latency_p95_ms",
    "p99": "latency_p99_ms",
    "p99.9": "latency_p99_9_ms",
    "mean": "latency_mean_ms",
    "completion": "completion_s",
    "rate": "rate_per_s",
    "goodput": "goodput_gbps",
    "loss": "loss_percent",
    "failed": "failed_percent",
}
"""Short names of all metrics of a goal."""
MAY_BE_ZERO = frozenset({"loss_percent", "failed_percent"})
"""Metrics of which none at all is a goal."""
LATENCIES = (TIME, "ms")
BOUNDS: dict[str, tuple[Dimension, str]] = {
    "completion_s": (TIME, "s"),
    "rate_per_s": (REQUEST_RATE, "/s"),
    "goodput_gbps": (RATE, "Gbit/s"),
    "loss_percent": (SHARE, "%"),
    "failed_percent": (SHARE, "%"),
}
"""By metric, the dimension of its bound and the unit of its figures; latencies are `LATENCIES`."""
_GOAL = re.compile(
    r"^\s*(?P<workload>[^\s.<>=]+)\.(?P<metric>[\w.]+?)\s*(?:(?P<sign>[<>])=?\s*(?P<value>\S.*?)\s*)?$"
)
HINT = (
    "write, for example, 'shop.p99 < 5ms', 'backup.goodput > 4Gbit/s', or 'shop.p99' for as "
    "low as possible"
)


@dataclass(frozen=True)
class Goal:
    """A figure of a workload or group, and the bound that it should keep; without a bound (None)
    the best possible value."""

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
        figure = f"{self.subject}.{short_of(self.metric)}"
        if self.bound is None:
            return figure
        unit = f" {unit_of(self.metric)}" if unit_of(self.metric) else BOUNDS[self.metric][1]
        return f"{figure} {'<=' if self.bound == 0 else self.sign} {self.bound:g}{unit}"


def unit_of(metric: str) -> str:
    """The unit of a metric as it is written after a number; empty where its name says it."""
    return UNITS.get(metric, "ms" if metric.startswith(LATENCY) else "")


def short_of(metric: str) -> str:
    """The short name of a metric."""
    return next(short for short, long in SHORT.items() if long == metric)


def read_goal(text: str) -> Goal:
    """The goal in a text such as `shop.p99 < 5ms`, for any workloads. Raises `QuantityError` with
    the fault and a hint."""
    found = _GOAL.fullmatch(text)
    if found is None:
        raise QuantityError("this is no goal", HINT)
    subject, name = found["workload"], found["metric"]
    metric = SHORT.get(name, name)
    if metric not in METRICS:
        raise QuantityError(
            f"there is no metric '{name}'", closest(name, [*SHORT, *METRICS], "metrics")
        )
    goal = Goal(subject, metric)
    if found["sign"] is None:
        return goal
    if found["sign"] != goal.sign:
        way = "more" if goal.is_higher_better else "less"
        raise QuantityError(
            f"{way} of it is better", f"write {subject}.{name} {goal.sign} {found['value']}"
        )
    return Goal(subject, metric, _bound(metric, found["value"]))


def names_of(goals: Sequence[Goal]) -> str:
    """Goals in a line."""
    return " and ".join(str(goal) for goal in goals)


def _bound(metric: str, text: str) -> float:
    """The bound in the unit of the metric."""
    dimension, unit = BOUNDS.get(metric, LATENCIES)
    number = split(text)
    if number is not None and not number[1] and float(number[0]) != 0:
        raise QuantityError(
            f"{text} has no unit", f"{short_of(metric)} is a {dimension.noun}: write {text}{unit}"
        )
    is_bare = number is not None and not number[1]
    value = 0.0 if is_bare else float(parse(text, dimension) / dimension.suffixes[unit])
    if value == 0 and metric not in MAY_BE_ZERO:
        raise QuantityError("the bound must be greater than zero", HINT)
    return value
