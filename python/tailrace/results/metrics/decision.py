"""Decides whether trials show that a goal is met, that it is missed, or neither.

A goal is about the population: `shop.p99 < 5ms` is a statement about the 99th percentile of all
transactions, and `backup.goodput > 4` about the mean over trials. It is met where the whole
interval of the figure keeps the bound, missed where the whole interval lies beyond it, and
undecided otherwise.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, log

from tailrace.results.metrics.figure import Figure
from tailrace.results.metrics.latency import PERCENTILES
from tailrace.results.summary.expectation import End
from tailrace.scenario.goal import Goal
from tailrace.statistics import LEVEL, Interval, TrialsNeeded
from tailrace.statistics.percentile import PLAIN_MAX

TAIL_FACTOR = 3.0
"""Of percentiles above `PLAIN_MAX`, "meets" has this fraction of an error: few trials underestimate
tails. With it a percentile that lies at the bound is said to meet it in 2 to 4 % of simulated
searches whose error is 5 %."""
TRIALS_NAMED_MAX = 1000
LONGER = "a longer experiment.duration"


@dataclass(frozen=True)
class Errors:
    """Largest probabilities of wrong decisions: that the goal is met, and that it is missed."""

    meets: float
    misses: float


PRINTED = Errors((1 - LEVEL) / 2, (1 - LEVEL) / 2)
"""Those of the interval that is printed."""


def decide(goal: Goal, figure: Figure, errors: Errors = PRINTED) -> End:
    """The end of a goal. Where no trial has the figure, nothing is delivered, and the goal is
    missed. Without a bound every figure meets the goal."""
    if figure.value is None:
        return "undecided" if figure.values else "misses"
    if goal.bound is None:
        return "meets"
    if is_broken(goal, figure):
        return "misses"
    if (
        _is_above(figure, goal.bound, errors.meets)
        if goal.is_floor
        else _is_below(figure, goal.bound, errors.meets)
    ):
        return "meets"
    if (
        _is_below(figure, goal.bound, errors.misses)
        if goal.is_floor
        else _is_above(figure, goal.bound, errors.misses)
    ):
        return "misses"
    return "undecided"


def is_broken(goal: Goal, figure: Figure) -> bool:
    """Whether a single event has decided: of a goal that allows none."""
    return goal.bound == 0 and not goal.is_floor and any(value > 0 for value in figure.values)


def decide_all(cases: Sequence[tuple[Goal, Figure, Errors]]) -> tuple[End, str]:
    """The end of several goals that must be met together, and the trials that would decide the
    first undecided one; empty where they are decided."""
    ends = [decide(*case) for case in cases]
    end = together(ends)
    return end, takes(*cases[ends.index("undecided")]) if end == "undecided" else ""


def together(ends: Sequence[End]) -> End:
    """The end of several goals that have to be met together."""
    if "misses" in ends:
        return "misses"
    return "undecided" if "undecided" in ends else "meets"


def errors_of(goal: Goal, error: float) -> Errors:
    """The two errors of a decision that is wrong with at most this probability."""
    percent = PERCENTILES.get(goal.metric.removeprefix("latency_").removesuffix("_ms"), 0.0)
    return Errors(error / TAIL_FACTOR if percent > PLAIN_MAX else error, error)


def takes(goal: Goal, figure: Figure, errors: Errors = PRINTED) -> str:
    """Text about the trials that would decide an undecided goal; where there is no interval, about
    the trials for one."""
    found = figure.interval_at(1 - 2 * (errors.meets if _keeps(goal, figure) else errors.misses))
    if isinstance(found, TrialsNeeded):
        return f"about {max(found.trials, figure.trials + 1)} trials of this length for an interval"
    if figure.value is None or goal.bound is None or found is None or figure.is_bound:
        return LONGER
    needed = _trials_needed(goal.bound, figure, found)
    if needed is None or needed > TRIALS_NAMED_MAX:
        return f"more than {TRIALS_NAMED_MAX} trials"
    return f"about {max(needed, figure.trials + 1)} trials"


def _keeps(goal: Goal, figure: Figure) -> bool:
    """Whether the value keeps the bound, so that more trials are likely to show that the goal is
    met."""
    if figure.value is None or goal.bound is None:
        return True
    return figure.value >= goal.bound if goal.is_floor else figure.value <= goal.bound


def _trials_needed(bound: float, figure: Figure, interval: Interval) -> int | None:
    """The number of trials at which the interval, whose width shrinks with the root of their
    number, ends at the bound."""
    assert figure.value is not None, "there is an interval"
    end = interval.high if bound > figure.value else interval.low
    width, distance = end - figure.value, bound - figure.value
    if min(end, figure.value, bound) > 0:
        width, distance = log(end / figure.value), log(bound / figure.value)
    return ceil(figure.trials * (width / distance) ** 2) if distance else None


def _is_below(figure: Figure, bound: float, error: float) -> bool:
    found = figure.interval_at(1 - 2 * error)
    return isinstance(found, Interval) and found.high <= bound


def _is_above(figure: Figure, bound: float, error: float) -> bool:
    found = figure.interval_at(1 - 2 * error)
    low = found.low if isinstance(found, Interval) else figure.low_at(1 - 2 * error)
    return low is not None and low >= bound
