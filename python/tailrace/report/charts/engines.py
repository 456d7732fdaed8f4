"""Simulated, live and published figures of each workload and arm on one axis."""

from collections.abc import Sequence
from typing import Any

from markupsafe import Markup

from tailrace.report.drawing.scale import Linear, linear_from_zero
from tailrace.report.drawing.svg import label_room, percent, plot, row_label, tag, x_axis
from tailrace.results.directory.run_directory import SOLO
from tailrace.results.format.numbers import digits_text

ROW_PX = 30
ENGINES = (("simulated", -5, "arm-0"), ("live", 5, "arm-1"))
"""Key, distance from the row's middle in pixels, colour."""


def engines_chart(rows: Sequence[dict[str, Any]]) -> Markup:
    """A row for each workload and arm: a dot with its interval for each engine, a line for the published value."""
    x = linear_from_zero([value for row in rows for value in _values(row)], count=6)
    marks: list[Markup] = []
    for index, row in enumerate(rows):
        middle = index * ROW_PX + ROW_PX / 2
        marks.append(row_label(name_of(row), middle + 4))
        marks += _row(row, x, middle)
    height = len(rows) * ROW_PX + 4
    words = "; ".join(
        f"{name_of(row)}: simulated {digits_text(row['simulated'])}, live {digits_text(row['live'])}" for row in rows
    )
    label = f"Values of both engines: {words}. The table below lists the values."
    return plot([*x_axis(x, height), *marks], height=height, label=label, left=label_room(map(name_of, rows)))


def name_of(row: dict[str, Any]) -> str:
    """`XS fifo`."""
    arm = "alone" if row["arm"].startswith(SOLO) else row["arm"]
    return f"{row['workload']} {arm}"


def _values(row: dict[str, Any]) -> list[float]:
    intervals = [row[f"{engine}_interval"] for engine, _, _ in ENGINES]
    return [row["simulated"], row["live"], row["published"] or 0.0, *(i["high"] for i in intervals if i)]


def _row(row: dict[str, Any], x: Linear, middle: float) -> list[Markup]:
    marks = []
    if row["published"] is not None:
        at = percent(x(row["published"]))
        tip = tag("title", f"{name_of(row)}: published {digits_text(row['published'])}")
        marks.append(tag("line", tip, x1=at, x2=at, y1=middle - 11, y2=middle + 11, class_="published"))
    for engine, shift, colour in ENGINES:
        y = middle + shift
        if interval := row[f"{engine}_interval"]:
            low, high = (percent(x(max(0.0, interval[end]))) for end in ("low", "high"))
            marks.append(tag("line", x1=low, x2=high, y1=y, y2=y, class_="whisker"))
        tip = tag("title", f"{name_of(row)}: {engine} {digits_text(row[engine], 4)}")
        marks.append(tag("circle", tip, cx=percent(x(row[engine])), cy=y, r=4, class_=f"dot bar {colour}"))
    return marks
