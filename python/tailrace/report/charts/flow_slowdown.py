"""Slowdown of flows against their size: median and 99th percentile of every arm."""

from dataclasses import dataclass

from markupsafe import Markup

from tailrace.report.drawing.plain_csv import csv_text
from tailrace.report.drawing.scale import Log, log_around
from tailrace.report.drawing.svg import line, lines, plot, x_axis, y_axis
from tailrace.report.limits import ARMS_DRAWN_MAX, PANELS_MAX
from tailrace.results.summary.summary import Summary
from tailrace.results.summary.workload import SizeClass

HEIGHT_PX = 190
BYTES = ((1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1.0, "B"))
# The last class has no end; a point at twice its start stands for it.
OPEN_CLASS = 2


@dataclass(frozen=True)
class SlowdownPanel:
    """One workload: `(size in bytes, slowdown)` of every arm."""

    workload: str
    chart: Markup
    csv: str


def slowdown_panels(summary: Summary) -> list[SlowdownPanel]:
    """Panels of all workloads whose flows have sizes."""
    found = []
    for name in (subject.name for subject in summary.subjects):
        arms = {
            arm: own.flow_slowdown.sizes
            for arm, arm_summary in list(summary.arms.items())[:ARMS_DRAWN_MAX]
            if (own := arm_summary.subject(name)) and own.flow_slowdown
        }
        if arms:
            found.append(SlowdownPanel(name, _chart(name, arms, list(summary.arms)), _csv(arms)))
    return found[:PANELS_MAX]


def size_of(row: SizeClass) -> float:
    """Where a class of sizes stands on the axis: at its end."""
    return float(row.to_bytes or row.from_bytes * OPEN_CLASS)


def class_text(row: SizeClass) -> str:
    """`5 kB to 10 kB`."""
    if row.to_bytes is None:
        return f"above {x_name(row.from_bytes)}"
    return (
        f"{x_name(row.from_bytes)} to {x_name(row.to_bytes)}"
        if row.from_bytes
        else f"up to {x_name(row.to_bytes)}"
    )


def _chart(name: str, arms: dict[str, list[SizeClass]], order: list[str]) -> Markup:
    rows = [row for sizes in arms.values() for row in sizes]
    x: Log = log_around(min(map(size_of, rows)), max(map(size_of, rows)), BYTES)
    highest = max(row.p99 or row.p50 for row in rows)
    y = Log(1.0, max(10.0, highest * 1.1))
    paths = []
    for arm, sizes in arms.items():
        colour = f"arm-{order.index(arm) % 6}"
        tail = [(size_of(row), row.p99) for row in sizes if row.p99 is not None]
        paths.append(line(tail, x, y, class_=f"line {colour} dash-2"))
        paths.append(
            line([(size_of(row), row.p50) for row in sizes], x, y, class_=f"line {colour}")
        )
    words = "; ".join(
        f"{arm} up to {x_name(size_of(row))}: {row.p50:.3g}"
        for arm, s in arms.items()
        for row in s[:1]
    )
    label = f"Slowdown of the flows of {name} against their size. Medians of the smallest: {words}."
    return plot(
        [*x_axis(x, HEIGHT_PX), *y_axis(y, HEIGHT_PX), lines(paths)],
        height=HEIGHT_PX,
        label=label,
        left=46,
    )


def x_name(size_bytes: float) -> str:
    """`10 kB`."""
    unit, name = next((unit, name) for unit, name in BYTES if size_bytes >= unit or unit == 1.0)
    return f"{size_bytes / unit:g} {name}"


def _csv(arms: dict[str, list[SizeClass]]) -> str:
    rows = (
        (arm, row.from_bytes, row.to_bytes or "", row.count, row.p50, row.p99 or "")
        for arm, sizes in arms.items()
        for row in sizes
    )
    return csv_text(("arm", "above_bytes", "up_to_bytes", "flows", "p50", "p99"), rows)
