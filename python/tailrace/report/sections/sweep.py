"""The page of a sweep: curves, latency against load, heat maps, and every value in tables."""

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup
from msgspec.structs import replace

from tailrace.report.charts import sweep as charts
from tailrace.report.drawing.arms import COLOURS, dash_of
from tailrace.report.limits import ARMS_DRAWN_MAX
from tailrace.report.sections.limited_by import LimitedBy, ShownArm, limited_by
from tailrace.results import Run
from tailrace.results.summary.summary import Summary
from tailrace.results.summary.sweep import (
    CurveValue,
    ExcludedTrials,
    SweepAxis,
    SweepCurve,
    SweepSummary,
)
from tailrace.results.sweep.curves import METRICS, axes_of, curve_title, is_drawn
from tailrace.results.sweep.headline import sweep_headline
from tailrace.results.sweep.text import has_bounds, subject_names, sweep_findings, sweep_notes
from tailrace.results.text.order import judged_effects, worst_first
from tailrace.scenario.sweep import AT
from tailrace.scenario.workloads.kinds import facts_of

PANELS_MAX = 24
"""Charts of one kind on one page."""
HEATS_MAX = 24
MAPS_FIRST = 2
"""Maps on the first screen."""
VALUES_LISTED_MAX = 24
VALUES_FIRST = 3
"""Values of an axis up to which the page lists all, and how many of more it lists."""
ROWS_MAX = 40
"""Rows of a table above which it scrolls in a box of its own."""
COLUMNS_MAX = 7
"""Arms beside each other in one table."""

Curves = Sequence[SweepCurve]


@dataclass(frozen=True)
class ListedAxis:
    """An axis with its values as text."""

    name: str
    path: str
    text: str


@dataclass(frozen=True)
class KeyArm:
    """An arm with the style of its lines."""

    name: str
    colour: int
    dash: int


@dataclass(frozen=True)
class Panel:
    """A chart of one workload."""

    title: str
    """The workload."""
    what: str
    about: str
    """Classes by which the page hides a workload, or an arm."""
    chart: Markup
    y_title: str = ""
    x_title: str = ""
    csv: str = ""


@dataclass(frozen=True)
class Notice:
    """Trials that are not valid."""

    lead: str
    rest: str
    points: list[ExcludedTrials]


@dataclass(frozen=True)
class ArmIndex:
    """An arm and its index among the arms."""

    name: str
    at: int


@dataclass(frozen=True)
class ValueRow:
    """A point: its values of the axes, and the figures of the arms."""

    values: list[str]
    cells: list[CurveValue | None]


@dataclass(frozen=True)
class TablePart:
    """The arms that fit beside each other."""

    arms: list[ArmIndex]
    rows: list[ValueRow]

    @property
    def is_long(self) -> bool:
        """Whether it scrolls in a box of its own."""
        return len(self.rows) > ROWS_MAX


@dataclass(frozen=True)
class ValueTable:
    """Every value of one workload and metric."""

    title: str
    parts: list[TablePart]


@dataclass(frozen=True)
class SweepSection:
    """The content of the page of a sweep."""

    axes: list[ListedAxis]
    arms: list[KeyArm]
    sentences: list[str]
    workloads: list[str]
    is_crowded: bool
    """Whether the number of arms requires a key in a row of its own."""
    size: str
    has_bounds: bool
    has_bare_cells: bool
    """Whether the cells of maps are too small for their values."""
    marked_every: int
    """Distance between points with a marker."""
    picture: list[Panel]
    """The curves by which the worst of the workloads is judged; of a grid a map for each of the
    first arms."""
    limited_by: LimitedBy
    """At the last point, or at the explained point."""
    is_map: bool
    """Whether the picture is one of maps."""
    point: str
    """Of `limited_by`."""
    panels: list[Panel]
    """All other curves."""
    loads: list[Panel]
    heats: list[Panel]
    tables: list[ValueTable]
    notices: list[Notice]


def sweep_section(run: Run, summary: Summary) -> SweepSection:
    """Curves over a line of points, or slices and maps of a grid, with every value in tables."""
    sweep = summary.swept
    groups = _first_first(summary, _groups(summary))
    is_line = len(sweep.axes) == 1 or sweep.combine == "paired"
    is_map = not is_line and len(sweep.axes) == 2
    point = _shown_point(summary)
    arms = {
        f"{arm}{AT}{point}": ShownArm(arm, at) for at, arm in enumerate(sweep.arms[:ARMS_DRAWN_MAX])
    }
    panels = (_panels if is_line else _slices)(run, summary, groups)
    maps = _heats(summary, groups) if is_map else []
    picture = maps[: min(MAPS_FIRST, len(sweep.arms))] if is_map else panels[:1]
    return SweepSection(
        axes=[ListedAxis(axis.name, axis.path, values_text(axis.values)) for axis in sweep.axes],
        arms=[
            KeyArm(name, index % COLOURS, dash_of(index)) for index, name in enumerate(sweep.arms)
        ],
        sentences=[*sweep_headline(summary), *sweep_findings(summary), *sweep_notes(summary)],
        workloads=summary.workloads,
        is_crowded=len(sweep.arms) > charts.ARMS_IN_LEGEND_MAX,
        size=_size(sweep),
        has_bounds=has_bounds(sweep),
        has_bare_cells=len(sweep.axes) == 2
        and len(sweep.axes[1].values) > charts.COLUMNS_LABELLED_MAX,
        marked_every=charts.marked_every(max(len(axis.values) for axis in sweep.axes)),
        picture=picture,
        limited_by=limited_by(summary, arms),
        is_map=is_map,
        point=point,
        panels=[panel for panel in panels if panel not in picture],
        loads=_loads(summary) if is_line else [],
        heats=[panel for panel in maps if panel not in picture],
        tables=[_table(sweep, curves) for curves in groups],
        notices=_notices(sweep.excluded),
    )


def values_text(values: Sequence[str]) -> str:
    """The values of an axis; of many the first ones, the last and their number."""
    if len(values) <= VALUES_LISTED_MAX:
        return ", ".join(values)
    return f"{', '.join(values[:VALUES_FIRST])}, … {values[-1]} ({len(values)} values)"


def _notices(excluded: Sequence[ExcludedTrials]) -> list[Notice]:
    """Trials that are not valid: unfinished ones stay in the curves, all others are excluded."""
    rests = {
        True: "and remain in the curves with the work that they completed.",
        False: "and are excluded from all averages.",
    }
    notices: list[Notice] = []
    for is_in_curves, rest in rests.items():
        points = [one for one in excluded if one.is_in_curves == is_in_curves]
        count = len({one.label for one in points})
        lead = (
            f"Trials at {count} point{'s' * (count != 1)} "
            f"{'did not finish' if is_in_curves else 'are invalid'}"
        )
        notices += [Notice(lead, rest, points)] if points else []
    return notices


def _size(sweep: SweepSummary) -> str:
    """`20 points × 3 arms`."""
    points, arms = len(sweep.points), len(sweep.arms)
    return f"{points} point{'s' * (points != 1)} × {arms} arm{'s' * (arms != 1)}"


def _groups(summary: Summary) -> list[Curves]:
    """The curves that are shown, those of one workload and metric together, in the order of the
    scenario."""
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


def _first_first(summary: Summary, groups: list[Curves]) -> list[Curves]:
    """The curves by which the worst of the workloads is judged before the others; without a
    comparison as they are."""
    judged = judged_effects(summary)
    wanted = next(
        (
            (one.name, judged[one.name][0].metric)
            for one in worst_first(summary)
            if judged.get(one.name)
        ),
        None,
    )
    return sorted(groups, key=lambda curves: (curves[0].workload, curves[0].metric) != wanted)


def _shown_point(summary: Summary) -> str:
    """The label of the last point that is explained, or of the last one."""
    labels = [point.label for point in summary.swept.points]
    explained = [
        label
        for label in labels
        if any(_is_explained(summary, f"{arm}{AT}{label}") for arm in summary.swept.arms)
    ]
    return (explained or labels)[-1]


def _is_explained(summary: Summary, arm: str) -> bool:
    own = summary.arms.get(arm)
    return own is not None and any(workload.causes for workload in own.workloads.values())


def _panels(run: Run, summary: Summary, groups: Sequence[Curves]) -> list[Panel]:
    """A chart for each workload and metric against the first axis."""
    axis = summary.swept.axes[0]
    x = charts.axis_scale(axis, axes_of(run)[0].numbers)
    return [_panel(summary, curves, axis, x) for curves in groups[:PANELS_MAX]]


def _about(summary: Summary, workload: str) -> list[str]:
    """The class by which the page hides a workload; groups are not hidden."""
    return (
        [f"of-workload-{summary.workloads.index(workload)}"]
        if workload in summary.workloads
        else []
    )


def _panel(
    summary: Summary, curves: Curves, axis: SweepAxis, x: charts.Ticks, where: str = ""
) -> Panel:
    first = curves[0]
    return Panel(
        title=first.workload,
        what=where,
        about=" ".join(_about(summary, first.workload)),
        chart=charts.curve_chart(curves, axis, x, summary.swept.arms),
        y_title=curve_title(first),
        x_title=axis.path,
        csv=charts.curve_csv(curves, axis, axis.values),
    )


def _slices(run: Run, summary: Summary, groups: Sequence[Curves]) -> list[Panel]:
    """With several axes: a chart over the axis with most values for each combination of the
    others."""
    axes, sweep = axes_of(run), summary.swept
    longest = max(range(len(axes)), key=lambda index: len(axes[index].values))
    axis = sweep.axes[longest]
    x = charts.axis_scale(axis, axes[longest].numbers)
    panels: list[Panel] = []
    for curves in groups:
        for label, positions in _positions(sweep, axis.path).items():
            part = [
                replace(curve, values=[curve.values[at] for at in positions]) for curve in curves
            ]
            if any(value for curve in part for value in curve.values):
                panels.append(_panel(summary, part, axis, x, label))
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


def _loads(summary: Summary) -> list[Panel]:
    """Latency against the load that was carried, for workloads that have both."""
    sweep = summary.swept
    panels: list[Panel] = []
    for name in subject_names(summary):
        of = {metric: _of(sweep, name, metric) for metric in METRICS}
        kinds: Sequence[str] = next((curve.kinds for curves in of.values() for curve in curves), [])
        load = facts_of(kinds[0]).load_metric if len(kinds) == 1 else None
        if load is None or not of["latency_p99_ms"]:
            continue
        metric, title = load
        chart = charts.load_chart(of[metric], of["latency_p99_ms"], sweep.arms)
        if chart is not None:
            what = curve_title(of["latency_p99_ms"][0])
            panels.append(Panel(name, what, " ".join(_about(summary, name)), chart, x_title=title))
    return panels


def _of(sweep: SweepSummary, workload: str, metric: str) -> Curves:
    return [curve for curve in sweep.curves if (curve.workload, curve.metric) == (workload, metric)]


def _heats(summary: Summary, groups: Sequence[Curves]) -> list[Panel]:
    """A heat map for each arm; arms of one workload and metric share their scale."""
    sweep = summary.swept
    maps: list[Panel] = []
    for curves in groups:
        means = [value.mean for curve in curves for value in curve.values if value]
        low, high = min(means), max(means)
        is_log = low > 0 and high / low >= charts.LOG_Y_RATIO
        if high <= low:
            high = low + 1
        for curve in curves:
            chart = charts.heat_map(curve, sweep, low, high, is_log=is_log)
            about = [*_about(summary, curve.workload), f"of-arm-{sweep.arms.index(curve.arm)}"]
            maps.append(
                Panel(curve.workload, f"{curve_title(curve)}, {curve.arm}", " ".join(about), chart)
            )
    return maps[:HEATS_MAX]


def _table(sweep: SweepSummary, curves: Curves) -> ValueTable:
    """Every value of one workload and metric: points as rows, arms as columns, as many beside each
    other as fit."""
    first = curves[0]
    parts = [curves[at : at + COLUMNS_MAX] for at in range(0, len(curves), COLUMNS_MAX)]
    return ValueTable(
        f"{first.workload}: {curve_title(first)}", [_part(sweep, part) for part in parts]
    )


def _part(sweep: SweepSummary, curves: Curves) -> TablePart:
    rows = [
        ValueRow(
            values=[point.values[axis.path] for axis in sweep.axes],
            cells=[curve.values[position] for curve in curves],
        )
        for position, point in enumerate(sweep.points)
    ]
    return TablePart([ArmIndex(curve.arm, sweep.arms.index(curve.arm)) for curve in curves], rows)
