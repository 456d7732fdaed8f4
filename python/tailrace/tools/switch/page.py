"""The result of a measurement as one offline page, with charts against the line's theoretical
rate."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from markupsafe import Markup

from tailrace.files import write_text
from tailrace.report.charts.sweep import Ticks
from tailrace.report.drawing.arms import arm_class
from tailrace.report.drawing.scale import AxisScale, linear_from_zero, log_around
from tailrace.report.drawing.svg import line, lines, percent, plot, tag, x_axis, y_axis
from tailrace.report.page import asset, environment
from tailrace.results.format.numbers import THIN_SPACE, digits_text
from tailrace.tools.switch.procedure import fps_text

HEIGHT_PX = 220
DOT_PX = 3
RATES = ((1e6, "M"), (1e3, "k"), (1.0, ""))
LATENCIES = ((1e6, "ms"), (1e3, "µs"), (1.0, "ns"))

Point = tuple[float, float | None]


def write_page(data: Mapping[str, Any], path: Path) -> None:
    """Writes it, whole or not at all."""
    write_text(path, render(data))


def render(data: Mapping[str, Any]) -> str:
    """The page as text."""
    sizes = [one for one in data["sizes"] if one["throughput"]]
    panels = [_rates(sizes), *_latencies(sizes), *_losses(sizes)] if sizes else []
    context = {
        "data": data,
        "sizes": sizes,
        "panels": panels,
        "fps": _fps,
        "theme": asset("theme.css"),
    }
    return environment().get_template("switch.html.j2").render(context)


def _fps(value: float | None) -> str:
    """Whole frames a second, rounded down as in the text: a line does not carry what is above its
    rate."""
    return "–" if value is None else fps_text(value).replace(" ", THIN_SPACE)


def _rates(sizes: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Throughput by size: the line's theoretical rate, RFC 2544, and the goals of MLRsearch."""
    x = _size_ticks(sizes)
    series: list[tuple[str, list[float | None]]] = [
        ("line, theoretical", [one["throughput"]["theoretical_fps"] for one in sizes]),
        ("throughput (RFC 2544)", [one["throughput"]["throughput_fps"] or None for one in sizes]),
    ]
    ratios = [
        goal["goal_loss_ratio"]
        for one in sizes
        if one["mlrsearch"]
        for goal in one["mlrsearch"]["goals"]
    ]
    for ratio in dict.fromkeys(ratios):
        series.append(
            (f"MLRsearch, {ratio * 100:g} % loss", [_conditional(one, ratio) for one in sizes])
        )
    known = [value for _, values in series for value in values if value]
    y = log_around(min(known), max(known), RATES)
    label = "Frames per second by size of frames, beside the theoretical rate of the line."
    lines_of = [(name, list(zip(x.positions, values, strict=True))) for name, values in series]
    return {
        "title": "Throughput",
        "what": "frames per second by size",
        "x_title": "bytes of a frame",
        "y_title": "frames/s",
        "key": _key([name for name, _ in series]),
        "chart": _chart(lines_of, x, y, label, lambda value: f"{value:,.0f} frames/s"),
    }


def _latencies(sizes: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Median and 99th percentile by load, a line for each size."""
    panels = []
    for key, title in (("p50", "Median latency"), ("p99", "99th percentile of the latency")):
        series = [
            (
                f"{one['frame_bytes']} B",
                [
                    (p["percent_of_throughput"], p["latency_ns"][key])
                    for p in one["latency"]
                    if p["latency_ns"]
                ],
            )
            for one in sizes
            if one["latency"]
        ]
        known = [value for _, points in series for _, value in points if value > 0]
        if known:
            panels.append(
                _by_load(
                    title,
                    "of the throughput",
                    series,
                    log_around(min(known), max(known), LATENCIES),
                )
            )
    return panels


def _losses(sizes: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    series = [
        (
            f"{one['frame_bytes']} B",
            [(p["percent_of_maximum"], p["loss_ratio"] * 100) for p in reversed(one["frame_loss"])],
        )
        for one in sizes
        if one["frame_loss"]
    ]
    if not series:
        return []
    y = linear_from_zero([value for _, points in series for _, value in points])
    return [_by_load("Frame loss", "of the largest load", series, y, "% of the frames")]


def _by_load(
    title: str,
    of: str,
    series: Sequence[tuple[str, Sequence[tuple[float, float]]]],
    y: AxisScale,
    y_title: str = "",
) -> dict[str, Any]:
    x = _Percent()
    points: list[tuple[str, list[Point]]] = [
        (name, [(at, value) for at, value in found]) for name, found in series
    ]
    return {
        "title": title,
        "what": f"by load in % {of}",
        "x_title": f"% {of}",
        "y_title": y_title,
        "key": _key([name for name, _ in series]),
        "chart": _chart(
            points,
            x,
            y,
            f"{title} by load, a line for each size of frames.",
            lambda v: digits_text(v, 4),
        ),
    }


class _Percent:
    """0 to 100 %."""

    def __call__(self, value: float) -> float:
        return value / 104

    def ticks(self) -> list[tuple[float, str]]:
        return [(value, str(value)) for value in range(0, 101, 20)]


def _size_ticks(sizes: Sequence[Mapping[str, Any]]) -> Ticks:
    """Evenly spread: RFC 2544's sizes lie close at the end."""
    count = len(sizes)
    places = [0.04 + 0.92 * (index / (count - 1) if count > 1 else 0.5) for index in range(count)]
    return Ticks(places, [str(one["frame_bytes"]) for one in sizes], room=10)


def _conditional(one: Mapping[str, Any], ratio: float) -> float | None:
    goals = one["mlrsearch"]["goals"] if one["mlrsearch"] else []
    return next(
        (goal["conditional_throughput_fps"] for goal in goals if goal["goal_loss_ratio"] == ratio),
        None,
    )


def _key(names: Sequence[str]) -> list[dict[str, Any]]:
    return [
        {"name": name, "colour": index % 6, "dash": index // 6 % 4}
        for index, name in enumerate(names)
    ]


def _chart(
    series: Sequence[tuple[str, Sequence[Point]]],
    x: AxisScale,
    y: AxisScale,
    label: str,
    words: Callable[[float], str],
) -> Markup:
    marks: list[Markup] = [*x_axis(x, HEIGHT_PX), *y_axis(y, HEIGHT_PX)]
    paths = []
    for index, (name, points) in enumerate(series):
        style = arm_class(index)
        paths.append(line(points, x, y, class_=f"line {style}"))
        for at, value in points:
            if value is not None:
                height = round(HEIGHT_PX * (1 - min(max(y(value), 0.0), 1.0)), 1)
                tip = tag("title", f"{name}: {words(value)}")
                marks.append(
                    tag(
                        "circle", tip, cx=percent(x(at)), cy=height, r=DOT_PX, class_=f"dot {style}"
                    )
                )
    return plot([*marks, lines(paths)], height=HEIGHT_PX, label=label, left=64, right=18)
