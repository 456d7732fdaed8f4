"""Curves of a sweep: a metric against an axis, latency against load, and heat maps over two
axes."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import log10

from markupsafe import Markup

from tailrace.report.drawing.arms import arm_class
from tailrace.report.drawing.plain_csv import csv_text
from tailrace.report.drawing.scale import AxisScale, Linear, Log, linear_from_zero, log_around
from tailrace.report.drawing.svg import (
    LABEL_MAX,
    label_room,
    line,
    lines,
    percent,
    plot,
    row_label,
    tag,
    x_axis,
    y_axis,
)
from tailrace.results.format.numbers import digits_text
from tailrace.results.summary.sweep import CurveValue, SweepAxis, SweepCurve, SweepSummary
from tailrace.results.sweep.curves import curve_title, mean_text

HEIGHT_PX = 190
DOT_PX = 3
UPWARD_PX = 6
"""Length of the stroke above a lower bound."""
DODGE_PX = 3
"""Distance between intervals of neighbouring arms, so that none hides another."""
ARMS_DODGED_MAX = 8
ARMS_IN_LEGEND_MAX = 6
"""Of more arms colours repeat: each line has the name of its arm at its end."""
NAME_PX = 12
"""Height of a name at the end of a line."""
CELL_PX = 26
LOG_Y_RATIO = 30.0
"""A metric whose largest mean is this many times its smallest has a logarithmic axis."""
COLUMNS_LABELLED_MAX = 8
"""Columns of a map whose cells have their values as texts; of more columns the texts would stand on
each other."""
TEXT_RATIO = 0.7
"""Cells of a stronger colour than this have text in the colour of the page."""

LABELS_APART = 0.15
"""Share of an axis between two labels where not every value has one: on a telephone, more would
touch."""
TICKS_MAX = 100
"""Values of an axis up to which each of them has a tick."""
MARKERS_MAX = 200
"""Markers of a curve; of more points some have one, and the line goes through all."""

CSV_KEYS = ("mean", "low", "high", "bounds")
Point = tuple[float, CurveValue]


@dataclass(frozen=True)
class Ticks:
    """An axis whose ticks are the values of the sweep, evenly spread or where their numbers are."""

    positions: Sequence[float]
    labels: Sequence[str]
    room: int = 8

    def __call__(self, value: float) -> float:
        """Share of the axis."""
        return value

    def ticks(self) -> list[tuple[float, str]]:
        """A label at each value; where there are many, at values that are far enough apart, and of
        very many the others have no ticks."""
        every = sorted(zip(self.positions, self.labels, strict=True))
        if len(every) <= self.room:
            return every
        labelled: list[float] = []
        for position, _ in every:
            if not labelled or position - labelled[-1] >= LABELS_APART:
                labelled.append(position)
        of = set(labelled)
        ticks = [(position, label if position in of else "") for position, label in every]
        return [tick for tick in ticks if tick[1]] if len(every) > TICKS_MAX else ticks


@dataclass(frozen=True)
class End:
    """Where the line of an arm ends: a share of the width, and pixels from the top."""

    arm: str
    style: str
    x: float
    y: float


def axis_scale(axis: SweepAxis, numbers: Sequence[float] | None) -> Ticks:
    """Positions from 0 to 1: by the number or its logarithm where the values are numbers, otherwise
    evenly spaced."""
    values = axis.values
    if numbers is None or len(set(numbers)) < len(numbers):
        positions = (
            [0.5]
            if len(values) == 1
            else [index / (len(values) - 1) for index in range(len(values))]
        )
        return Ticks(_padded(positions), values)
    at = [log10(number) for number in numbers] if axis.is_log else list(numbers)
    low, high = min(at), max(at)
    return Ticks(_padded([(x - low) / (high - low) if high > low else 0.5 for x in at]), values)


def _padded(positions: Sequence[float]) -> list[float]:
    """With a little room at both ends."""
    return [0.03 + 0.94 * position for position in positions]


def curve_chart(
    curves: Sequence[SweepCurve], axis: SweepAxis, x: Ticks, arms: Sequence[str]
) -> Markup:
    """One metric of one workload: a line for each arm, the interval of each mean as a whisker."""
    found = [value for curve in curves for value in curve.values if value]
    y = _y_scale(found)
    height = chart_height(arms)
    marks: list[Markup] = [*x_axis(x, height), *y_axis(y, height)]
    paths = []
    ends: list[End] = []
    for curve in curves:
        style = arm_class(arms.index(curve.arm))
        points = [
            (position, value) for position, value in zip(x.positions, curve.values, strict=True)
        ]
        ordered = sorted(points, key=lambda point: point[0])
        means = [(position, value.mean if value else None) for position, value in ordered]
        paths.append(line(means, x, y, class_=f"line {style}"))
        shift = _dodge(arms.index(curve.arm), len(arms))
        for position, value in _marked(ordered):
            marks += _point(curve, position, value, (y, height), style, shift)
        marks += _knee_mark(curve, x, height, style)
        known = [(position, value) for position, value in ordered if value]
        ends += (
            [End(curve.arm, style, known[-1][0], _height(known[-1][1].mean, y, height))]
            if known
            else []
        )
    first = curves[0]
    label = f"{curve_title(first)} of {first.workload} against {axis.name}, a line for each arm."
    drawn = [*marks, lines(paths), *_names(ends, arms, height)]
    return plot(drawn, height=height, label=label, left=58, right=_right(arms))


def marked_every(points: int) -> int:
    """Distance between points with a marker."""
    return -(-points // MARKERS_MAX)


def _marked(points: Sequence[tuple[float, CurveValue | None]]) -> list[Point]:
    """Every `marked_every`-th point, and every lower bound: the line through a bound looks like the
    line through a figure."""
    every = marked_every(len(points))
    return [
        (x, value)
        for at, (x, value) in enumerate(points)
        if value and (at % every == 0 or value.bounds)
    ]


def chart_height(arms: Sequence[str]) -> int:
    """Taller where the names of many arms stand at the ends of their lines."""
    return (
        HEIGHT_PX
        if len(arms) <= ARMS_IN_LEGEND_MAX
        else max(HEIGHT_PX + 60, len(arms) * (NAME_PX + 1))
    )


def _right(arms: Sequence[str]) -> int:
    return 18 if len(arms) <= ARMS_IN_LEGEND_MAX else label_room(arms)


def _names(ends: Sequence[End], arms: Sequence[str], height: int) -> list[Markup]:
    """Names at the ends of lines, moved apart, each in the colour of its line with a thread to its
    end."""
    if len(arms) <= ARMS_IN_LEGEND_MAX:
        return []
    ordered = sorted(ends, key=lambda end: end.y)
    tops: list[float] = []
    for end in ordered:
        tops.append(max(end.y, tops[-1] + NAME_PX) if tops else end.y)
    over = max(0.0, tops[-1] - height) if tops else 0.0
    for index in reversed(range(len(tops))):
        limit = height if index == len(tops) - 1 else tops[index + 1] - NAME_PX
        tops[index] = min(tops[index], limit) if over else tops[index]
    marks = []
    for end, y in zip(ordered, tops, strict=True):
        shown = end.arm if len(end.arm) <= LABEL_MAX else f"{end.arm[: LABEL_MAX - 1]}…"
        left = percent(end.x)
        thread = tag(
            "line", x1=left, x2="100%", y1=end.y, y2=round(y, 1), class_=f"thread {end.style}"
        )
        tip = tag("title", end.arm)
        name = tag(
            "text", tip, shown, x="100%", dx=5, y=round(y + 4, 1), class_=f"end-name {end.style}"
        )
        marks += [thread, name]
    return marks


def _dodge(index: int, count: int) -> float:
    """Pixels by which the interval of an arm stands beside its point."""
    return (index - (count - 1) / 2) * DODGE_PX if count <= ARMS_DODGED_MAX else 0.0


def _y_scale(found: Sequence[CurveValue]) -> AxisScale:
    means = [value.mean for value in found]
    highest = [value.high if value.high is not None else value.mean for value in found]
    lowest = min(means)
    if lowest > 0 and max(means) / lowest >= LOG_Y_RATIO:
        return log_around(lowest, max(highest))
    return linear_from_zero(highest)


def _point(
    curve: SweepCurve,
    position: float,
    value: CurveValue,
    y: tuple[AxisScale, int],
    style: str,
    shift: float,
) -> list[Markup]:
    at = percent(position)
    height = _height(value.mean, *y)
    words = f"{curve.arm}: {mean_text(value, 4)}"
    marks = []
    if value.low is not None and value.high is not None:
        words += f" ({digits_text(value.low, 4)} to {digits_text(value.high, 4)})"
        top, bottom = _height(value.high, *y), _height(value.low, *y)
        moved = f"translate({shift:g} 0)" if shift else None
        marks.append(
            tag(
                "line", x1=at, x2=at, y1=top, y2=bottom, class_=f"interval {style}", transform=moved
            )
        )
    return [*marks, *_dot(words, at, height, style, is_bound=bool(value.bounds))]


def _dot(words: str, at: str, height: float, style: str, *, is_bound: bool) -> list[Markup]:
    """A point; a lower bound is an open circle with a stroke upwards."""
    tip = tag("title", words)
    if not is_bound:
        return [tag("circle", tip, cx=at, cy=height, r=DOT_PX, class_=f"dot {style}")]
    foot, top = round(height - DOT_PX, 1), round(height - DOT_PX - UPWARD_PX, 1)
    stroke = tag("line", x1=at, x2=at, y1=foot, y2=top, class_=f"upward {style}")
    return [stroke, tag("circle", tip, cx=at, cy=height, r=DOT_PX, class_=f"dot bound {style}")]


def _height(value: float, y: AxisScale, height: int = HEIGHT_PX) -> float:
    return round(height * (1 - min(max(y(value), 0.0), 1.0)), 1)


def _knee_mark(curve: SweepCurve, x: Ticks, height: int, style: str) -> list[Markup]:
    if not curve.knee:
        return []
    at = percent(x.positions[curve.knee.position])
    tip = tag("title", f"knee of {curve.arm} at {curve.knee.value}")
    return [tag("line", tip, x1=at, x2=at, y1=0, y2=height, class_=f"knee {style}")]


def load_chart(
    loads: Sequence[SweepCurve], latencies: Sequence[SweepCurve], arms: Sequence[str]
) -> Markup | None:
    """Latency against carried load, for each point of the sweep; None with fewer than three
    points."""
    pairs = {
        curve.arm: [
            (load.mean, value)
            for load, value in zip(other.values, curve.values, strict=True)
            if load and value
        ]
        for curve in latencies
        for other in loads
        if other.arm == curve.arm
    }
    every = [(load, value.mean) for points in pairs.values() for load, value in points]
    if len(every) < 3 or max(x for x, _ in every) <= min(x for x, _ in every):
        return None
    x = linear_from_zero([load for load, _ in every])
    ys = [latency for _, latency in every]
    y: AxisScale = (
        log_around(min(ys), max(ys))
        if min(ys) > 0 and max(ys) / min(ys) >= LOG_Y_RATIO
        else linear_from_zero(ys)
    )
    height = chart_height(arms)
    marks: list[Markup] = [*x_axis(x, height), *y_axis(y, height)]
    paths = []
    for arm, points in pairs.items():
        style = arm_class(arms.index(arm))
        paths.append(
            line([(load, value.mean) for load, value in points], x, y, class_=f"line {style}")
        )
        for load, value in _marked(points):
            words = f"{arm}: {mean_text(value, 3)} at {digits_text(load, 3)}"
            at, top = percent(x(load)), _height(value.mean, y, height)
            marks += _dot(words, at, top, style, is_bound=bool(value.bounds))
    label = "Latency against load, a line for each arm, points in the order of the sweep."
    return plot([*marks, lines(paths)], height=height, label=label, left=58, right=18)


def heat_map(
    curve: SweepCurve, sweep: SweepSummary, low: float, high: float, *, is_log: bool
) -> Markup:
    """The means of one arm over two axes, the first one downwards. Arms share the scale from `low`
    to `high`."""
    down, across = sweep.axes
    cells = {
        (point.values[down.path], point.values[across.path]): value
        for point, value in zip(sweep.points, curve.values, strict=True)
    }
    width = 1 / len(across.values)
    marks: list[Markup] = []
    for row, first in enumerate(down.values):
        marks.append(row_label(first, row * CELL_PX + CELL_PX * 0.66))
        for column, second in enumerate(across.values):
            value = cells.get((first, second))
            marks += _heat_cell(
                value, f"{first}, {second}", (column, row), width, (low, high), is_log=is_log
            )
    height = CELL_PX * len(down.values)
    columns = Ticks([(column + 0.5) * width for column in range(len(across.values))], across.values)
    for middle, label in columns.ticks():
        if label:
            marks.append(
                tag(
                    "text",
                    label,
                    x=percent(middle),
                    y=height + 16,
                    class_="tick",
                    text_anchor="middle",
                )
            )
    label = (
        f"{curve_title(curve)} of {curve.workload} in {curve.arm} over {down.name} and "
        f"{across.name}."
    )
    return plot(marks, height=height, label=label, left=74)


def _heat_cell(
    value: CurveValue | None,
    point: str,
    at: tuple[int, int],
    width: float,
    ends: tuple[float, float],
    *,
    is_log: bool,
) -> list[Markup]:
    left, top = percent(at[0] * width), at[1] * CELL_PX
    if value is None:
        tip = tag("title", f"{point}: no valid trial")
        rect = tag(
            "rect", tip, x=left, y=top, width=percent(width), height=CELL_PX, class_="heat-none"
        )
        return [
            rect,
            tag(
                "text",
                "–",
                x=percent((at[0] + 0.5) * width),
                y=top + 17,
                text_anchor="middle",
                class_="tick",
            ),
        ]
    share = _share(value.mean, ends, is_log=is_log)
    text = mean_text(value, 3)
    tip = tag("title", f"{point}: {text}")
    rect = tag(
        "rect",
        tip,
        x=left,
        y=top,
        width=percent(width),
        height=CELL_PX,
        class_="heat",
        fill_opacity=round(share, 3),
    )
    if width < 1 / COLUMNS_LABELLED_MAX:
        return [rect]
    ink = "heat-light" if share > TEXT_RATIO else "heat-dark"
    return [
        rect,
        tag(
            "text",
            text,
            x=percent((at[0] + 0.5) * width),
            y=top + 17,
            text_anchor="middle",
            class_=ink,
        ),
    ]


def _share(value: float, ends: tuple[float, float], *, is_log: bool) -> float:
    scale: AxisScale = Log(*ends) if is_log else Linear(*ends)
    return 0.06 + 0.9 * min(max(scale(value), 0.0), 1.0)


def curve_csv(curves: Sequence[SweepCurve], axis: SweepAxis, labels: Sequence[str]) -> str:
    """The points of a chart as text."""
    rows = (
        (
            curve.arm,
            label,
            *([getattr(value, key) for key in CSV_KEYS] if value else [None] * len(CSV_KEYS)),
        )
        for curve in curves
        for label, value in zip(labels, curve.values, strict=True)
    )
    return csv_text(("arm", axis.name, *CSV_KEYS), rows)
