"""What the report of a sweep shows: curves, latency against load, heat maps, and every value in tables."""

from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from tailrace.report.charts import sweep as charts
from tailrace.report.drawing.arms import COLOURS, dash_of
from tailrace.results import Run
from tailrace.results.summary.summary import Summary
from tailrace.results.summary.sweep import ExcludedTrials, SweepAxis, SweepCurve, SweepSummary
from tailrace.results.sweep.curves import METRICS, axes_of, curve_title, is_drawn
from tailrace.results.sweep.text import has_bounds, subject_names, sweep_sentences
from tailrace.scenario.workloads.kinds import facts_of

PANELS_MAX = 24
"""Charts of one kind on one page."""
HEATS_MAX = 24
VALUES_TOLD_MAX = 24
VALUES_FIRST = 3
"""Values of an axis up to which the page lists all, and how many of more it lists."""
ROWS_MAX = 40
"""Rows of a table above which it scrolls in a box of its own."""
COLUMNS_MAX = 7
"""Arms beside each other in one table."""

Curves = Sequence[SweepCurve]


def sweep_section(run: Run, summary: Summary) -> dict[str, Any]:
    """The context of the template."""
    sweep = summary.swept
    arms = sweep.arms
    groups = _groups(summary)
    is_line = len(sweep.axes) == 1 or sweep.combine == "paired"
    return {
        "axes": [{"name": axis.name, "path": axis.path, "text": values_text(axis.values)} for axis in sweep.axes],
        "arms": [{"name": name, "colour": index % COLOURS, "dash": dash_of(index)} for index, name in enumerate(arms)],
        "sentences": sweep_sentences(summary),
        "workloads": summary.workloads,
        "is_crowded": len(arms) > charts.ARMS_IN_LEGEND_MAX,
        "facts": _facts(sweep),
        "has_bounds": has_bounds(sweep),
        "has_bare_cells": len(sweep.axes) == 2 and len(sweep.axes[1].values) > charts.COLUMNS_TOLD_MAX,
        "marked_every": charts.marked_every(max(len(axis.values) for axis in sweep.axes)),
        "panels": _numbered(_panels(run, sweep, groups) if is_line else _slices(run, sweep, groups), summary),
        "loads": _numbered(_loads(summary, sweep) if is_line else [], summary),
        "heats": _numbered([] if is_line or len(sweep.axes) != 2 else _heats(sweep, groups), summary),
        "tables": [_table(sweep, curves) for curves in groups],
        "notices": _notices(sweep.excluded),
    }


def values_text(values: Sequence[str]) -> str:
    """The values of an axis; of many the first ones, the last and their number."""
    if len(values) <= VALUES_TOLD_MAX:
        return ", ".join(values)
    return f"{', '.join(values[:VALUES_FIRST])}, … {values[-1]} ({len(values)} values)"


def _notices(excluded: Sequence[ExcludedTrials]) -> list[dict[str, Any]]:
    """Trials that are not valid: what did not finish stays in the curves, and anything else has no place there."""
    rests = {
        True: "and remain in the curves with the work that they completed.",
        False: "and are excluded from all averages.",
    }
    notices = []
    for is_told, rest in rests.items():
        points = [one for one in excluded if one.is_told == is_told]
        count = len({one.label for one in points})
        lead = f"Trials at {count} point{'s' * (count != 1)} {'did not finish' if is_told else 'are invalid'}"
        notices += [{"lead": lead, "rest": rest, "points": points}] if points else []
    return notices


def _facts(sweep: SweepSummary) -> list[str]:
    """`20 points x 3 arms`."""
    points, arms = len(sweep.points), len(sweep.arms)
    return [f"{points} point{'s' * (points != 1)} × {arms} arm{'s' * (arms != 1)}"]


def _groups(summary: Summary) -> list[Curves]:
    """The curves that are shown, those of one workload and metric together, in the order of the scenario."""
    return [
        found
        for name in subject_names(summary)
        for metric in METRICS
        if (
            found := [
                curve
                for curve in summary.swept.curves
                if (curve.workload, curve.metric) == (name, metric) and is_drawn(curve)
            ]
        )
    ]


def _panels(run: Run, sweep: SweepSummary, groups: Sequence[Curves]) -> list[dict[str, Any]]:
    """A chart for each workload and metric against the first axis."""
    axis = sweep.axes[0]
    x = charts.axis_scale(axis, axes_of(run)[0].numbers)
    return [_panel(curves, axis, x, sweep.arms, axis.values) for curves in groups[:PANELS_MAX]]


def _numbered(panels: list[dict[str, Any]], summary: Summary) -> list[dict[str, Any]]:
    """With the classes by which the page hides a workload, or an arm."""
    places, arms = {name: at for at, name in enumerate(summary.workloads)}, summary.swept.arms
    for panel in panels:
        about = [f"of-workload-{places[panel['title']]}"] if panel["title"] in places else []
        about += [f"of-arm-{arms.index(panel['arm'])}"] if "arm" in panel else []
        panel["about"] = " ".join(about)
    return panels


def _panel(
    curves: Curves, axis: SweepAxis, x: charts.Ticks, arms: Sequence[str], labels: Sequence[str], where: str = ""
) -> dict[str, Any]:
    first = curves[0]
    return {
        "title": first.workload,
        "what": where,
        "y_title": curve_title(first),
        "x_title": axis.path,
        "chart": charts.curve_chart(curves, axis, x, arms),
        "csv": charts.curve_csv(curves, axis, labels),
    }


def _slices(run: Run, sweep: SweepSummary, groups: Sequence[Curves]) -> list[dict[str, Any]]:
    """With several axes: a chart over the axis with most values for each combination of the others."""
    axes = axes_of(run)
    longest = max(range(len(axes)), key=lambda index: len(axes[index].values))
    axis = sweep.axes[longest]
    x = charts.axis_scale(axis, axes[longest].numbers)
    panels = []
    for curves in groups:
        for label, positions in _positions(sweep, axis.path).items():
            part = [replace(curve, values=[curve.values[at] for at in positions]) for curve in curves]
            if any(value for curve in part for value in curve.values):
                panels.append(_panel(part, axis, x, sweep.arms, axis.values, label))
            if len(panels) == PANELS_MAX:
                return panels
    return panels


def _positions(sweep: SweepSummary, path: str) -> dict[str, list[int]]:
    """Positions of the points by the values of the other axes."""
    names = {axis.path: axis.name for axis in sweep.axes if axis.path != path}
    found: dict[str, list[int]] = {}
    for position, point in enumerate(sweep.points):
        label = ", ".join(f"{name} = {point.values[other]}" for other, name in names.items())
        found.setdefault(label, []).append(position)
    return found


def _loads(summary: Summary, sweep: SweepSummary) -> list[dict[str, Any]]:
    """Latency against the load that was carried, for workloads that have both."""
    panels = []
    for name in subject_names(summary):
        of = {metric: _of(sweep, name, metric) for metric in METRICS}
        kinds: Sequence[str] = next((curve.kinds for curves in of.values() for curve in curves), [])
        load = facts_of(kinds[0]).load_metric if len(kinds) == 1 else None
        if load is None or not of["latency_p99_ms"]:
            continue
        metric, title = load
        chart = charts.load_chart(of[metric], of["latency_p99_ms"], sweep.arms)
        if chart is not None:
            panels.append(
                {"title": name, "what": curve_title(of["latency_p99_ms"][0]), "x_title": title, "chart": chart}
            )
    return panels


def _of(sweep: SweepSummary, workload: str, metric: str) -> Curves:
    return [curve for curve in sweep.curves if (curve.workload, curve.metric) == (workload, metric)]


def _heats(sweep: SweepSummary, groups: Sequence[Curves]) -> list[dict[str, Any]]:
    """A heat map for each arm; arms of one workload and metric share their scale."""
    maps = []
    for curves in groups:
        means = [value.mean for curve in curves for value in curve.values if value]
        low, high = min(means), max(means)
        is_log = low > 0 and high / low >= charts.LOG_Y_RATIO
        if high <= low:
            high = low + 1
        for curve in curves:
            chart = charts.heat_map(curve, sweep, low, high, is_log=is_log)
            what = f"{curve_title(curve)}, {curve.arm}"
            maps.append({"title": curve.workload, "what": what, "chart": chart, "arm": curve.arm})
    return maps[:HEATS_MAX]


def _table(sweep: SweepSummary, curves: Curves) -> dict[str, Any]:
    """Every value of one workload and metric: points as rows, arms as columns, so many beside each other as fit."""
    first = curves[0]
    parts = [curves[at : at + COLUMNS_MAX] for at in range(0, len(curves), COLUMNS_MAX)]
    return {
        "title": f"{first.workload}: {curve_title(first)}",
        "parts": [_part(sweep, part) for part in parts],
    }


def _part(sweep: SweepSummary, curves: Curves) -> dict[str, Any]:
    rows = [
        {
            "values": [point.values[axis.path] for axis in sweep.axes],
            "cells": [curve.values[position] for curve in curves],
        }
        for position, point in enumerate(sweep.points)
    ]
    places = [sweep.arms.index(curve.arm) for curve in curves]
    arms = [{"name": sweep.arms[at], "at": at} for at in places]
    return {"arms": arms, "rows": rows, "is_long": len(rows) > ROWS_MAX}
