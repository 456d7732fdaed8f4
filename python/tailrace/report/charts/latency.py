"""Latency distributions: one panel per workload, all arms in it, each trial thin and all trials
together thick."""

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from tailrace.report.drawing.arms import arm_class
from tailrace.report.drawing.plain_csv import csv_text
from tailrace.report.drawing.scale import MILLISECONDS, AxisScale, Share, Tail, log_around
from tailrace.report.drawing.svg import lines, percent, plot, steps, tag, x_axis, y_axis
from tailrace.report.limits import ARMS_DRAWN_MAX, PANELS_MAX
from tailrace.report.plan_facts import PlanFacts
from tailrace.results import Run
from tailrace.results.directory.run_directory import Trial
from tailrace.results.format.numbers import PS_PER_MS
from tailrace.results.metrics.latency import workloads_of
from tailrace.results.metrics.subjects import subjects_of
from tailrace.scenario.experiment import SOLO
from tailrace.scenario.workloads.kinds import facts_of
from tailrace.statistics import Estimate, Histogram

HEIGHT_PX = 260
# Enough for a smooth curve in a panel of 900 pixels; a trial's thin line needs fewer.
POOLED_POINTS_MAX = 120
TRIAL_POINTS_MAX = 40
# More thin lines of one arm are a band of their own.
TRIAL_LINES_MAX = 6
# All curves of a page share the points of a page; a curve with fewer points has visible corners.
POINTS_OF_PAGE = 5_000
POINTS_MIN = 30
# The name of a line that stands farther right than this ends at the line.
NAME_AT_LEFT_FROM = 0.8
# Maximum number of curves with which the trials are drawn as well.
CURVES_WITH_TRIALS_MAX = 12

Points = list[tuple[float, float]]
Facts = dict[str, PlanFacts]


@dataclass(frozen=True)
class Detail:
    """Points of a thick curve, and how many trials have a thin one."""

    points: int
    trial_lines: int


@dataclass(frozen=True)
class Curve:
    """A cumulative distribution: (milliseconds, share). `arm_index` is -1 for the workload
    alone."""

    name: str
    arm_index: int
    pooled: Points
    trials: list[Points]
    highest: float
    median: Estimate


@dataclass(frozen=True)
class LatencyPanel:
    """Distributions of one workload, or of the members of a group together."""

    workload: str
    what: str
    curves: list[Curve]
    timeouts_ms: list[float]
    """Minimum retransmission timeouts of the hosts, of all drawn arms."""


def latency_panels(run: Run, facts: Facts) -> list[LatencyPanel]:
    """Panels of all workloads and groups that recorded latencies; `facts` are those of the drawn
    arms."""
    panels = []
    arms = run.arms[:ARMS_DRAWN_MAX]
    subjects = subjects_of(run)[:PANELS_MAX]
    detail = _detail(len(arms) * len(subjects))
    for subject in subjects:
        members = subject.members
        curves = [
            _curve(run.with_outcome(arm), members, arm, index, detail)
            for index, arm in enumerate(arms)
        ]
        solo = _curve(run.with_outcome(f"{SOLO}{subject.name}"), members, "alone", -1, detail)
        found = [curve for curve in [solo, *curves] if curve]
        if any(curve.arm_index >= 0 for curve in found):
            least = (facts[arm].rto_min_ms.get(name) for arm in arms for name in members)
            timeouts = sorted({rto for rto in least if rto is not None})
            panels.append(LatencyPanel(subject.name, _what(run, members), found, timeouts))
    return panels


def latency_chart(panel: LatencyPanel, *, is_tail: bool) -> Markup:
    """The panel with a linear axis of shares, or with the tail drawn out."""
    low = min(curve.pooled[0][0] for curve in panel.curves)
    high = max(curve.highest for curve in panel.curves)
    x = log_around(low, high, MILLISECONDS)
    y: AxisScale = Tail(4) if is_tail else Share()
    paths = []
    for curve in panel.curves:
        colour = arm_class(curve.arm_index) if curve.arm_index >= 0 else "alone-line"
        paths += [steps(points, x, y, class_=f"line thin {colour}") for points in curve.trials]
        paths.append(steps(curve.pooled, x, y, class_=f"line {colour}"))
    medians = ", ".join(
        f"{curve.name} {'over ' if curve.median.is_bound else ''}{curve.median.ms:.3g} ms"
        for curve in panel.curves
    )
    label = f"Cumulative distribution of the {panel.what} of {panel.workload}. Medians: {medians}."
    drawn = [rto for rto in panel.timeouts_ms if x.low <= rto <= x.high]
    if drawn:
        label += f" A vertical line marks the minimum retransmission timeout of {drawn[0]:g} ms."
    marks = [
        *x_axis(x, HEIGHT_PX),
        *y_axis(y, HEIGHT_PX),
        lines(paths),
        *(m for rto in drawn for m in _timeout(x, rto)),
    ]
    return plot(
        marks, height=HEIGHT_PX, label=label, left=58 if is_tail else 46, top=20 if drawn else 6
    )


def _timeout(x: AxisScale, rto_ms: float) -> list[Markup]:
    """The line at a minimum retransmission timeout, with its name above the plot."""
    at = x(rto_ms)
    anchor = "end" if at > NAME_AT_LEFT_FROM else "middle"
    return [
        tag("line", x1=percent(at), x2=percent(at), y1=-4, y2=HEIGHT_PX, class_="timeout"),
        tag(
            "text",
            f"minimum RTO {rto_ms:g} ms",
            x=percent(at),
            y=-8,
            class_="timeout-name",
            text_anchor=anchor,
        ),
    ]


def latency_csv(panel: LatencyPanel) -> str:
    """The thick curves as text."""
    rows = ((curve.name, at, share) for curve in panel.curves for at, share in curve.pooled)
    return csv_text(("arm", "latency_ms", "share"), rows)


def thinned(points: Points, count: int) -> Points:
    """At most about `count` points: a point near its predecessor in x and in share is omitted.

    The distance is measured as drawn: the logarithm of x, the share, and the nines of the share.
    """
    if len(points) <= count:
        return points
    tail = Tail(5)
    positions = [tail(share) + share for _, share in points]
    total = positions[-1] - positions[0]
    kept = [points[0]]
    last = positions[0]
    for point, position in zip(points[1:-1], positions[1:-1], strict=True):
        if position - last >= total / count:
            kept.append(point)
            last = position
    return [*kept, points[-1]]


def _detail(curves: int) -> Detail:
    """A sweep of many arms draws each with fewer points and without single trials: the page has a
    limit of bytes."""
    points = max(POINTS_MIN, min(POOLED_POINTS_MAX, POINTS_OF_PAGE // max(1, curves)))
    return Detail(points, TRIAL_LINES_MAX if curves <= CURVES_WITH_TRIALS_MAX else 0)


def _curve(
    trials: list[Trial], members: Sequence[str], name: str, index: int, detail: Detail
) -> Curve | None:
    of_trials = [workloads_of(trial, members) for trial in trials]
    found = [own for own in of_trials if len(own) == len(members)]
    pooled = Histogram.from_workloads([w for own in found for w in own])
    if pooled is None or not pooled.count:
        return None
    singles = (
        [Histogram.from_workloads(own) for own in found[: detail.trial_lines]]
        if len(found) > 1
        else []
    )
    thin = [
        thinned(single.cdf(), TRIAL_POINTS_MAX) for single in singles if single and single.count
    ]
    return Curve(
        name,
        index,
        thinned(pooled.cdf(), detail.points),
        thin,
        pooled.max_ps / PS_PER_MS,
        pooled.percentile_ms(50),
    )


def _what(run: Run, members: Sequence[str]) -> str:
    words = {found for kind in run.kinds_of(members) if (found := facts_of(kind).latency)}
    return words.pop() if len(words) == 1 else "latency"
