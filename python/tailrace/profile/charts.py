"""The drawings of a profile: bars of shares, cumulative distributions, the rate over time."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from tailrace.profile.words import ns_text, share_text
from tailrace.report.charts.sweep import Ticks
from tailrace.report.drawing.arms import arm_class, dash_of
from tailrace.report.drawing.plain_csv import csv_text
from tailrace.report.drawing.scale import AxisScale, Linear, Share, linear_from_zero, log_around
from tailrace.report.drawing.svg import line, lines, percent, plot, steps, tag, x_axis, y_axis
from tailrace.results.format.numbers import rate_text

HEIGHT_PX = 220
DOT_PX = 3
ROW_PX, NAME_PX, BAR_PX = 31, 14, 9
"""Of bars: space between rows, height of the name above its bars, height of a bar."""
LEFT_PX, RIGHT_PX = 70, 18
NS_PER_S = 1e9
BYTES = ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1.0, "B"))
SPANS = ((1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1.0, "ns"))
RATES = ((1e12, "Tbit/s"), (1e9, "Gbit/s"), (1e6, "Mbit/s"), (1e3, "kbit/s"), (1.0, "bit/s"))

Data = dict[str, Any]


@dataclass(frozen=True)
class Panel:
    """One chart with its caption, key and data."""

    key: str
    title: str
    what: str
    names: tuple[str, ...]
    """Of its lines or bars, in the order of their colours."""
    x_title: str
    y_title: str
    chart: Markup
    csv: str
    has_boxes: bool = False

    @property
    def legend(self) -> list[dict[str, Any]]:
        """Names with colour and dash, where there is more than one."""
        if len(self.names) < 2:
            return []
        return [
            {"name": name, "colour": at % 6, "dash": dash_of(at)}
            for at, name in enumerate(self.names)
        ]


@dataclass(frozen=True)
class Bars:
    """Rows of shares: the name of each, and a share for each of `names`."""

    key: str
    title: str
    what: str
    names: tuple[str, ...]
    rows: Sequence[tuple[str, Sequence[float]]]


@dataclass(frozen=True)
class Curves:
    """Cumulative distributions of the same quantity, with the units of its axis."""

    key: str
    title: str
    what: str
    x_title: str
    units: Sequence[tuple[float, str]]
    curves: Sequence[tuple[str, Data]]
    """A name and the summary of a distribution, with its histogram."""


def bars(of: Bars) -> Panel | None:
    """Horizontal bars below the names of their rows, with their shares as text: the whole width is
    100 %, and a line stands there. None without rows.
    """
    if not of.rows:
        return None
    row_px = ROW_PX + BAR_PX * (len(of.names) - 1)
    marks: list[Markup] = []
    for at, (name, shares) in enumerate(of.rows):
        top = at * row_px
        texts = " · ".join(share_text(share) for share in shares)
        marks.append(tag("text", name, x=0, y=top + NAME_PX - 3, class_="label"))
        marks.append(
            tag("text", texts, x="100%", y=top + NAME_PX - 3, class_="tick", text_anchor="end")
        )
        for index, share in enumerate(shares):
            tip = tag("title", f"{name}, {of.names[index]}: {share_text(share)}")
            box = {
                "x": 0,
                "y": top + NAME_PX + index * BAR_PX,
                "width": percent(min(share, 1.0)),
                "height": BAR_PX - 1,
            }
            marks.append(tag("rect", tip, **box, class_=f"bar {arm_class(index)}"))
    marks.append(tag("line", x1="100%", x2="100%", y1=0, y2=row_px * len(of.rows), class_="axis"))
    label = (
        f"{of.title}: {of.what}, a bar for each row; the whole width is 100 %. The table below "
        "has the numbers."
    )
    drawing = plot(marks, height=row_px * len(of.rows), label=label, left=2, right=4, bottom=8)
    table = csv_text((of.title, *of.names), [(name, *shares) for name, shares in of.rows])
    return Panel(of.key, of.title, of.what, of.names, "", "", drawing, table, has_boxes=True)


def curves(of: Curves) -> Panel | None:
    """Cumulative shares on a logarithmic axis; None where no distribution has a number."""
    known = [(name, summary) for name, summary in of.curves if summary["count"]]
    values = [at for _, summary in known for at, _ in summary["histogram"] if at > 0]
    if not values:
        return None
    x, y = log_around(min(values), max(values), of.units), Share()
    paths, rows = [], []
    for index, (name, summary) in enumerate(known):
        points, seen = [], 0
        for at, count in summary["histogram"]:
            seen += count
            points.append((float(at), seen / summary["count"]))
            rows.append((name, float(at), seen / summary["count"]))
        paths.append(steps(points, x, y, class_=f"line {arm_class(index)}"))
    label = f"{of.title}: {of.what}, cumulative shares on a logarithmic axis."
    marks = [*x_axis(x, HEIGHT_PX), *y_axis(y, HEIGHT_PX), lines(paths)]
    drawing = plot(marks, height=HEIGHT_PX, label=label, left=52, right=RIGHT_PX)
    names = tuple(name for name, _ in known)
    return Panel(
        of.key,
        of.title,
        of.what,
        names,
        of.x_title,
        "share, cumulative",
        drawing,
        csv_text(("of", "at most", "share"), rows),
    )


def over_time(rates: Data, line_bps: int | None) -> Panel:
    """Mean rate of each cell and the highest rate of an interval within it, from the first frame
    on."""
    of = rates["over_time"]
    width_s, peak_s = of["width_ns"] / NS_PER_S, of["place_ns"] / NS_PER_S
    middles = [(at + 0.5) * width_s for at in range(len(of["line_bytes"]))]
    mean = [count * 8 / width_s for count in of["line_bytes"]]
    peak = [count * 8 / peak_s for count in of["peak_bytes"]]
    series = [("mean", mean)]
    if of["width_ns"] > of["place_ns"]:
        series.append((f"busiest {ns_text(of['place_ns'])} within it", peak))
    unit, unit_bps = _unit(max(peak))
    x = Linear(0.0, max(len(middles) * width_s, peak_s), 5)
    limits = [line_bps / unit_bps] if line_bps and max(peak) > line_bps / 20 else []
    y = linear_from_zero([value / unit_bps for _, values in series for value in values] + limits)
    paths = [
        line(
            [(at, value / unit_bps) for at, value in zip(middles, values, strict=True)],
            x,
            y,
            class_=f"line {arm_class(index)}",
        )
        for index, (_, values) in reversed(list(enumerate(series)))
    ]
    marks = [
        *x_axis(x, HEIGHT_PX),
        *y_axis(y, HEIGHT_PX),
        lines(paths),
        *(_line_speed(limit, y) for limit in limits),
    ]
    label = "Rate on the line over time: the mean of each cell, and the busiest interval within it."
    drawing = plot(marks, height=HEIGHT_PX, label=label, left=LEFT_PX, right=RIGHT_PX)
    names = tuple(name for name, _ in series)
    rows = zip(middles, *(values for _, values in series), strict=True)
    what = f"in cells of {ns_text(of['width_ns'])}" + (
        f"; dashed: the line, {rate_text(line_bps)}" if line_bps and limits else ""
    )
    return Panel(
        "over-time",
        "Rate over time",
        what,
        names,
        "time since the first frame, s",
        unit,
        drawing,
        csv_text(("time_s", *names), rows),
    )


def by_width(rates: Data) -> Panel | None:
    """Mean, 99th percentile and maximum of the rate by the width of the interval."""
    intervals = rates["intervals"]
    count = len(intervals)
    positions = [0.06 + 0.88 * (at / (count - 1) if count > 1 else 0.5) for at in range(count)]
    x = Ticks(positions, [ns_text(one["width_ns"]) for one in intervals])
    named = (("maximum", "max_bps"), ("99th percentile", "p99_bps"), ("mean", "mean_bps"))
    known = [one[key] for one in intervals for _, key in named if one[key] > 0]
    if not known:
        return None
    y = log_around(min(known), max(known), RATES)
    marks: list[Markup] = [*x_axis(x, HEIGHT_PX), *y_axis(y, HEIGHT_PX)]
    paths, rows = [], []
    for index, (name, key) in enumerate(named):
        points = [(at, one[key] or None) for at, one in zip(positions, intervals, strict=True)]
        paths.append(line(points, x, y, class_=f"line {arm_class(index)}"))
        for (at, value), one in zip(points, intervals, strict=True):
            rows.append((name, one["width_ns"] / NS_PER_S, one[key]))
            if value is not None:
                tip = tag("title", f"{name} per {ns_text(one['width_ns'])}: {rate_text(value)}")
                marks.append(
                    tag(
                        "circle",
                        tip,
                        cx=percent(at),
                        cy=round(HEIGHT_PX * (1 - y(value)), 1),
                        r=DOT_PX,
                        class_=f"dot {arm_class(index)}",
                    )
                )
    label = "Rate by width of the interval: maximum, 99th percentile and mean."
    drawing = plot(
        [*marks, lines(paths)], height=HEIGHT_PX, label=label, left=LEFT_PX, right=RIGHT_PX
    )
    names = tuple(name for name, _ in named)
    table = csv_text(("of", "width_s", "bits_per_s"), rows)
    return Panel(
        "by-width",
        "Rate by interval",
        "short intervals show bursts that long ones hide",
        names,
        "width of the interval",
        "",
        drawing,
        table,
    )


def _unit(bps: float) -> tuple[str, float]:
    return next(((name, size) for size, name in RATES if bps >= size), ("bit/s", 1.0))


def _line_speed(limit: float, y: AxisScale) -> Markup:
    at = round(HEIGHT_PX * (1 - y(limit)), 1)
    return tag(
        "line", tag("title", "speed of the line"), x1=0, x2="100%", y1=at, y2=at, class_="knee"
    )
