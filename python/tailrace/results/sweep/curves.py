"""The curves of a sweep: every metric of every workload and arm against the axes, with intervals
and the knee."""

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from math import log
from typing import Any

from msgspec.structs import replace

from tailrace.results.directory.run_directory import Run
from tailrace.results.format.numbers import bound_mark, digits_text
from tailrace.results.metrics.definitions import noun_of, title_of
from tailrace.results.metrics.figure import figure_of
from tailrace.results.metrics.subjects import Subject, subjects_of
from tailrace.results.summary.sweep import (
    CurveValue,
    ExcludedTrials,
    Knee,
    SweepAxis,
    SweepCurve,
    SweepSummary,
)
from tailrace.results.sweep.knee import bend
from tailrace.results.sweep.scalability import summarise_scalability
from tailrace.scenario.sweep import number_of
from tailrace.scenario.workloads.kinds import facts_of

METRICS = (
    "rate_per_s",
    "latency_p50_ms",
    "latency_p99_ms",
    "goodput_gbps",
    "completion_s",
    "loss_percent",
    "failed_percent",
    "timeouts",
)
"""Metrics of a curve, in the order in which they are shown."""
LOG_RATIO_MIN = 50.0
"""An axis whose last value is this many times its first one is logarithmic."""
EVEN_MAX = 1.5
"""Steps, or factors, whose largest is at most this many times their smallest count as equal."""
KNEE_FACTOR_MIN = 2.0


@dataclass(frozen=True)
class Axis:
    """One axis of a sweep: the values as texts, in the order of the scenario."""

    path: str
    name: str
    values: list[str]

    @cached_property
    def numbers(self) -> list[float] | None:
        """The values as numbers of one unit; None where they are words or have several units."""
        found = [known for value in self.values if (known := number_of(value))]
        if len(found) < len(self.values) or len({unit for _, unit in found}) > 1:
            return None
        return [number for number, _ in found]

    @cached_property
    def unit(self) -> str:
        """The common unit of the numbers; empty where there is none."""
        known = number_of(self.values[0])
        return known[1] if known and self.numbers else ""

    @cached_property
    def is_log(self) -> bool:
        """Whether a logarithmic axis fits: equal factors and no equal steps, or a wide range."""
        numbers = sorted(self.numbers or [])
        if len(numbers) < 3 or numbers[0] <= 0:
            return False
        steps = [b - a for a, b in pairwise(numbers)]
        factors = [b / a for a, b in pairwise(numbers)]
        has_equal_factors = (
            log(max(factors)) <= EVEN_MAX * log(min(factors)) if min(factors) > 1 else False
        )
        return numbers[-1] / numbers[0] >= LOG_RATIO_MIN or (
            has_equal_factors and max(steps) > EVEN_MAX * min(steps)
        )


def axes_of(run: Run) -> list[Axis]:
    """The axes of a run; none where it is no sweep."""
    return (
        [Axis(axis.path, axis.name, list(axis.values)) for axis in run.sweep.axes]
        if run.sweep
        else []
    )


def summarise_sweep(run: Run) -> SweepSummary | None:
    """Axes, points, arms and curves; None where the run is no sweep."""
    sweep = run.sweep
    if sweep is None:
        return None
    axes = axes_of(run)
    curves = [
        _curve(run, subject, metric, arm)
        for subject in subjects_of(run)
        for metric in METRICS
        for arm in sweep.arms
    ]
    known = [curve for curve in curves if any(value is not None for value in curve.values)]
    return SweepSummary(
        axes=[
            SweepAxis(
                path=axis.path,
                name=axis.name,
                values=axis.values,
                unit=axis.unit,
                is_log=axis.is_log,
            )
            for axis in axes
        ],
        combine=sweep.combine,
        points=sweep.points,
        arms=sweep.arms,
        curves=[replace(curve, knee=knee_of(curve, axes)) for curve in known],
        scalability=summarise_scalability(run),
        excluded=_excluded(run),
    )


def is_drawn(curve: SweepCurve) -> bool:
    """Whether a chart shows this curve; the tables hold every metric. Workloads of several kinds
    have their goodput in common.
    """
    kinds = curve.kinds
    shown = (
        facts_of(kinds[0]).sweep_metrics if len(kinds) == 1 else ("goodput_gbps",) if kinds else ()
    )
    return curve.metric in shown


COLUMNS = ("mean", "low", "high", "trials", "bounds")
"""Of a point in the table; `bounds` is the number of trials whose figure is a lower bound."""


def mean_text(value: CurveValue, digits: int = 3) -> str:
    """The mean of a point; `> 1.86` where it is a lower bound, because transactions that were
    running at the end are slower."""
    return bound_mark(value.bounds) + digits_text(value.mean, digits)


def curve_title(curve: SweepCurve) -> str:
    """`requests per second`: the quantity of a curve, with the unit."""
    return title_of(curve.metric, noun_of(curve.kinds))


def _curve(run: Run, subject: Subject, metric: str, arm: str) -> SweepCurve:
    """One metric of a workload or group in one arm; null at points without a valid trial."""
    assert run.sweep is not None, "only sweeps have curves"
    kinds = sorted(run.kinds_of(subject.members))
    has_metric = metric != "completion_s" or not any(facts_of(kind).is_open_loop for kind in kinds)
    values: list[CurveValue | None] = []
    for point in run.sweep.points:
        name = run.arm_at(arm, point.label)
        # A point whose trials did not finish has rates and latencies, and no completion time.
        trials = run.with_outcome(name)
        figure = figure_of(trials, subject.members, metric) if has_metric else None
        if figure is None or figure.value is None:
            values.append(None)
            continue
        found = figure.interval
        values.append(
            CurveValue(
                mean=figure.value,
                low=found.low if found else None,
                high=found.high if found else None,
                trials=len(figure.values),
                bounds=figure.bounds,
            )
        )
    return SweepCurve(
        workload=subject.name, metric=metric, arm=arm, kinds=kinds, values=values, knee=None
    )


def _excluded(run: Run) -> list[ExcludedTrials]:
    """Points at which trials are not valid, with the reason. Trials that merely did not finish
    stay in the curves (`is_in_curves`)."""
    assert run.sweep is not None, "only sweeps have points"
    found = []
    for point in run.sweep.points:
        for arm in run.sweep.arms:
            trials = run.trials.get(run.arm_at(arm, point.label), [])
            for is_in_curves in (False, True):
                bad = [
                    trial
                    for trial in trials
                    if trial.status != "ok" and trial.is_unfinished == is_in_curves
                ]
                if bad:
                    found.append(
                        ExcludedTrials(
                            label=point.label,
                            arm=arm,
                            trials=len(bad),
                            of=len(trials),
                            is_in_curves=is_in_curves,
                            reason=bad[0].reason or bad[0].status,
                        )
                    )
    return found


def knee_of(curve: SweepCurve, axes: list[Axis]) -> Knee | None:
    """The point at which a latency over one axis bends most. None also where the latency changes by
    less than a factor of two, and where a point is a lower bound, above which the figure could lie
    anywhere."""
    if (
        len(axes) != 1
        or (numbers := axes[0].numbers) is None
        or not curve.metric.startswith("latency_")
    ):
        return None
    known = [
        (x, value.mean) for x, value in zip(numbers, curve.values, strict=True) if value is not None
    ]
    known.sort()
    if any(value is not None and value.bounds for value in curve.values):
        return None
    ys = [y for _, y in known]
    if not ys or max(ys) < KNEE_FACTOR_MIN * min(ys) or (found := bend(known)) is None:
        return None
    position = numbers.index(known[found[0]][0])
    return Knee(value=axes[0].values[position], position=position, distance=abs(found[1]))


def sweep_rows(sweep: SweepSummary) -> tuple[list[str], list[list[Any]]]:
    """The curves as one long table: a row for each point, arm, workload and metric."""
    paths = [axis.path for axis in sweep.axes]
    head = [*paths, "arm", "workload", "metric", *COLUMNS]
    rows = [
        [
            *(point.values[path] for path in paths),
            curve.arm,
            curve.workload,
            curve.metric,
            *_cells(value),
        ]
        for curve in sweep.curves
        for point, value in zip(sweep.points, curve.values, strict=True)
    ]
    return head, rows


def _cells(value: CurveValue | None) -> list[Any]:
    return [None, None, None, 0, 0] if value is None else [getattr(value, key) for key in COLUMNS]
