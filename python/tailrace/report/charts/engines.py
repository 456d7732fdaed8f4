"""Figures of every engine, and published ones, of each workload and arm on one axis."""

from collections.abc import Sequence

from markupsafe import Markup

from tailrace.report.drawing.scale import Linear, linear_from_zero
from tailrace.report.drawing.svg import label_room, percent, plot, row_label, tag, x_axis
from tailrace.results.format.numbers import bound_mark, digits_text
from tailrace.results.summary.engines import EngineFigures
from tailrace.scenario.experiment import SOLO

APART_PX = 10
"""Between the dots of two engines in a row."""
MARGIN_PX = 20


def engines_chart(rows: Sequence[EngineFigures]) -> Markup:
    """A row for each workload and arm: a dot with its interval for each engine, open where it is a
    lower bound, and a line for the published value.
    """
    x = linear_from_zero([value for row in rows for value in _values(row)], count=6)
    row_px = MARGIN_PX + APART_PX * (len(rows[0].values) - 1)
    marks: list[Markup] = []
    for index, row in enumerate(rows):
        middle = index * row_px + row_px / 2
        marks.append(row_label(name_of(row), middle + 4))
        marks += _row(row, x, middle)
    height = len(rows) * row_px + 4
    words = "; ".join(f"{name_of(row)}: {_words(row)}" for row in rows)
    label = f"Values of every engine: {words}. The table below lists the values."
    return plot(
        [*x_axis(x, height), *marks],
        height=height,
        label=label,
        left=label_room(map(name_of, rows)),
    )


def name_of(row: EngineFigures) -> str:
    """`XS fifo`."""
    arm = "alone" if row.arm.startswith(SOLO) else row.arm
    return f"{row.workload} {arm}"


def _words(row: EngineFigures) -> str:
    return ", ".join(_value(row, engine) for engine in row.values)


def _value(row: EngineFigures, engine: str, digits: int = 3) -> str:
    return f"{engine} {bound_mark(row.bounds[engine])}{digits_text(row.values[engine], digits)}"


def _values(row: EngineFigures) -> list[float]:
    return [
        *row.values.values(),
        row.published or 0.0,
        *(found.high for found in row.intervals.values() if found),
    ]


def _row(row: EngineFigures, x: Linear, middle: float) -> list[Markup]:
    marks = []
    if row.published is not None:
        at = percent(x(row.published))
        tip = tag("title", f"{name_of(row)}: published {digits_text(row.published)}")
        marks.append(
            tag("line", tip, x1=at, x2=at, y1=middle - 11, y2=middle + 11, class_="published")
        )
    first_px = middle - APART_PX * (len(row.values) - 1) / 2
    for index, (engine, value) in enumerate(row.values.items()):
        y = first_px + index * APART_PX
        if interval := row.intervals[engine]:
            low, high = (percent(x(max(0.0, end))) for end in (interval.low, interval.high))
            marks.append(tag("line", x1=low, x2=high, y1=y, y2=y, class_="whisker"))
        tip = tag("title", f"{name_of(row)}: {_value(row, engine, 4)}")
        kind = "bound" if row.bounds[engine] else "bar"
        marks.append(
            tag("circle", tip, cx=percent(x(value)), cy=y, r=4, class_=f"dot {kind} arm-{index}")
        )
    return marks
