"""The one picture of a run: a line with a dot for each arm, or a map of colours where there are
many workloads."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor, log, log10

from markupsafe import Markup

from tailrace.report.drawing.scale import MILLISECONDS, AxisScale, Log, Tick, log_around
from tailrace.report.drawing.svg import label_room, percent, plot, tag, x_axis
from tailrace.results.compare.tone import Tone
from tailrace.results.format.numbers import is_shown_as_ratio, signed_text

ROW_PX, TEXT_PX = {3: 44, 5: 36, 8: 30}, 12
"""Height of a line with its dots by the number of dots, and of the name above it."""
DODGE_PX = 4
"""Between the dots of neighbouring arms, so that none hides another."""
DOT_PX, BOUND_PX = 4.2, 11
HEAT_PX, HEAD_PX = 21, 16
NAME_MAX, HEAT_NAME_MAX, HEAD_MAX = 24, 13, 11
"""Characters of names."""
HEAT_LEFT_PX = 148
TEXTS_MAX = 3
"""Arms whose changes stand beside the name of a workload; of more the largest alone."""
INK_MAX = 0.45
"""Of the colour of a cell, so that the text on it can be read."""
LOW_EDGE, HIGH_EDGE = 1e-4, 1e4
"""Ratios beyond are drawn at these."""
REACH = 30.0
"""Ends of intervals beyond this many times the outermost dot are drawn at the edge."""
TICKS_MAX = 6
CHARACTERS_MAX = (50, 64)
"""That fit beside each other on a telephone, and on half of a screen of 1280 pixels."""
PLAIN_LOW, PLAIN_HIGH = 0.45, 2.1
"""Between these ratios the ticks are whole steps of percent."""
STEPS_PERCENT = (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50)
DECADES: tuple[tuple[float, ...], ...] = ((1, 2, 4), (1, 4), (1,))
"""Of ratios above one, which ticks a decade has; those below one are their inverses."""


@dataclass(frozen=True)
class Mark:
    """One arm on the line of a workload."""

    arm: str
    index: int
    """Of the arm."""
    value: float | None
    """A ratio to the baseline, or a figure; None where the axis cannot show it."""
    low: float | None
    high: float | None
    bound: str
    """`> ` or `< ` where the value is a bound."""
    text: str
    tone: Tone
    way: int
    """1 for better, -1 for worse, 0 for an unknown direction."""
    tip: str
    """A sentence."""


@dataclass(frozen=True)
class PictureRow:
    """A workload or group."""

    name: str
    is_group: bool
    is_member: bool
    what: str
    """The metric, in short."""
    base: str
    """The baseline with its figure."""
    marks: list[Mark]


@dataclass(frozen=True)
class Ratios:
    """A logarithmic axis of ratios, with its ticks in the words of changes."""

    low: float
    high: float

    def __call__(self, value: float) -> float:
        """Share of the axis; values outside are drawn at the edge."""
        return Log(self.low, self.high)(value)

    def ticks(self) -> list[Tick]:
        """The finest steps of which few enough fit."""
        return [(value, change_tick(value)) for value in self._values()]

    def _values(self) -> list[float]:
        if self.low >= PLAIN_LOW and self.high <= PLAIN_HIGH:
            for step in STEPS_PERCENT:
                first, last = ceil((self.low - 1) * 100 / step), floor((self.high - 1) * 100 / step)
                if last - first < TICKS_MAX:
                    return [1 + number * step / 100 for number in range(first, last + 1)]
        found: list[float] = []
        for digits in DECADES:
            top = ceil(max(log10(self.high), -log10(self.low))) + 1
            above = [digit * 10.0**decade for decade in range(top) for digit in digits]
            every = sorted({*above, *(1 / value for value in above)})
            found = [value for value in every if self.low <= value <= self.high]
            if len(found) <= TICKS_MAX:
                break
        return found[:: ceil(len(found) / TICKS_MAX)] if len(found) > TICKS_MAX else found


def change_tick(ratio: float) -> str:
    """`same`, `−50 %`, `+100 %`, `× 10`."""
    change = (ratio - 1) * 100
    if abs(change) < 1e-6:
        return "same"
    if is_shown_as_ratio(change):
        return f"× {ratio:,.4g}".replace(",", "\u202f")
    decimals = 0 if abs(change - round(change)) < 1e-6 else 1
    return signed_text(change, "%", decimals)


def lines_chart(
    shown: Sequence[PictureRow], every: Sequence[PictureRow], baseline: str | None, metric: str
) -> Markup:
    """A line for each workload on one logarithmic axis, which all rows share: of ratios to the
    baseline, or of a metric where there is no baseline.
    """
    x = _axis(every, is_ratio=baseline is not None, metric=metric)
    room = next((px for most, px in ROW_PX.items() if len(every) <= most), min(ROW_PX.values()))
    row_px = room + DODGE_PX * max(0, max(len(row.marks) for row in every) - 3)
    marks: list[Markup] = []
    height = row_px * len(shown) + 4
    if baseline is not None:
        at = percent(x(1.0))
        marks.append(tag("line", x1=at, x2=at, y1=0, y2=height, class_="zero"))
    for number, row in enumerate(shown):
        marks += _line(row, x, number * row_px, row_px)
    described = "; ".join(
        f"{' '.join((row.name, row.what)).strip()}: {_texts(row.marks)}" for row in shown
    )
    what = f"Changes against {baseline}" if baseline is not None else metric
    label = (
        f"{what}, a line for each workload and a dot for each arm on a logarithmic axis: "
        f"{described}."
    )
    return plot([*x_axis(x, height), *marks], height=height, label=label, left=6, right=10)


def _axis(every: Sequence[PictureRow], *, is_ratio: bool, metric: str) -> AxisScale:
    marks = [mark for row in every for mark in row.marks if mark.value is not None]
    values = [
        min(max(mark.value or 0.0, LOW_EDGE), HIGH_EDGE) if is_ratio else mark.value or 0.0
        for mark in marks
    ]
    low, high = min(values), max(values)
    ends = [end for mark in marks for end in (mark.low, mark.high) if end is not None and end > 0]
    low = min([low, *(max(end, low / REACH) for end in ends)])
    high = max([high, *(min(end, high * REACH) for end in ends)])
    if not is_ratio:
        return log_around(low, high, MILLISECONDS if metric.startswith("latency_") else ())
    low, high = min(low, 0.98), max(high, 1.02)
    room = (high / low) ** 0.06
    return Ratios(low / room, high * room)


def _line(row: PictureRow, x: AxisScale, top: int, height: int) -> list[Markup]:
    middle = top + TEXT_PX + (height - TEXT_PX) / 2 + 1
    shown = _cut(row.name, NAME_MAX)
    beside = [part for part in (row.what, row.base) if part]
    characters = sum(
        len(part) + 3 for part in (shown, *beside, *(mark.text for mark in row.marks[:TEXTS_MAX]))
    )
    # What there is no room for on a telephone, or on a narrow screen, is left out there.
    room = (
        ""
        if characters <= CHARACTERS_MAX[0]
        else " roomy"
        if characters <= CHARACTERS_MAX[1]
        else None
    )
    more = [] if room is None else [tag("tspan", "  ".join(beside), class_=f"beside{room}", dx=7)]
    name = tag("text", tag("title", row.name), shown, *more, x=0, y=top + TEXT_PX)
    weight = "picture-name member" if row.is_member else "picture-name"
    marks = [tag("g", name, class_=weight), _change_marks(row.marks, top + TEXT_PX)]
    marks.append(tag("line", x1=0, x2="100%", y1=middle, y2=middle, class_="grid"))
    drawn = [mark for mark in row.marks if mark.value is not None]
    for index, mark in enumerate(drawn):
        y = round(middle + (index - (len(drawn) - 1) / 2) * DODGE_PX, 1)
        marks.append(tag("g", *_dot(mark, x, y), class_=f"of-arm-{mark.index}"))
    return marks


def _dot(mark: Mark, x: AxisScale, y: float) -> list[Markup]:
    """The value with its interval; a bound is an open circle with a stroke to the side on which the
    value lies."""
    assert mark.value is not None, "marks without a value are not drawn"
    colour, at = f"arm-{mark.index % 6}", percent(x(mark.value))
    tip = tag("title", mark.tip)
    found = []
    if mark.low is not None and mark.high is not None:
        found.append(
            tag(
                "line",
                x1=percent(x(mark.low)),
                x2=percent(x(mark.high)),
                y1=y,
                y2=y,
                class_=f"interval {colour}",
            )
        )
    if not mark.bound:
        return [*found, tag("circle", tip, cx=at, cy=y, r=DOT_PX, class_=f"dot {colour}")]
    reach = BOUND_PX if mark.bound.startswith(">") else -BOUND_PX
    # A length of pixels after a share of the width: a stroke that begins at the dot.
    stroke = tag("path", d=f"M0 0H{reach}", class_=f"upward {colour}", fill="none")
    crossed = tag("svg", stroke, x=at, y=y, overflow="visible")
    return [crossed, tag("circle", tip, cx=at, cy=y, r=DOT_PX, class_=f"dot bound {colour}")]


def _change_marks(marks: Sequence[Mark], y: int) -> Markup:
    """The changes of a workload at the right end, in the colours of their tones; of many arms the
    largest."""
    if len(marks) <= TEXTS_MAX:
        parts = [part for mark in marks for part in _part(mark, "")]
    else:
        largest = min(marks, key=lambda mark: (mark.way, -_size(mark)))
        parts = _part(largest, f"{_cut(largest.arm, HEAD_MAX)} ")
    return tag("text", *parts, x="100%", y=y, class_="picture-told", text_anchor="end")


def _part(mark: Mark, name: str) -> list[Markup]:
    dot = tag("tspan", "●", class_=f"arm-{mark.index % 6} of-arm-{mark.index}", dx=9)
    return [
        dot,
        tag("tspan", f" {name}{mark.text}", class_=f"tone-{_tone(mark)} of-arm-{mark.index}"),
    ]


def _tone(mark: Mark) -> str:
    return mark.tone or "none"


def heat_chart(
    shown: Sequence[PictureRow], every: Sequence[PictureRow], baseline: str | None, _metric: str
) -> Markup:
    """A row for each workload and a column for each arm: the colour says better or worse, its
    strength how much on a logarithmic scale, which all rows share.
    """
    arms = list({mark.arm: mark.index for row in every for mark in row.marks}.items())
    width = 1 / len(arms)
    largest = max((_size(mark) for row in every for mark in row.marks), default=0.0)
    marks: list[Markup] = []
    for column, (arm, index) in enumerate(arms):
        head = tag(
            "text",
            tag("title", arm),
            _cut(arm, HEAD_MAX),
            x=percent((column + 0.5) * width),
            y=HEAD_PX - 5,
        )
        marks.append(tag("g", head, class_=f"heat-head of-arm-{index}"))
    for number, row in enumerate(shown):
        top = HEAD_PX + number * HEAT_PX
        what = [tag("tspan", row.what, class_="beside", dx=6)] if row.what else []
        name = tag(
            "text", tag("title", row.name), _cut(row.name, HEAT_NAME_MAX), *what, x=-8, y=top + 14
        )
        marks.append(
            tag("g", name, class_="picture-name heat-name" + (" member" if row.is_member else ""))
        )
        for column, (arm, _) in enumerate(arms):
            mark = next((one for one in row.marks if one.arm == arm), None)
            marks += _cell(mark, (column * width, width), top, largest)
    described = "; ".join(
        f"{' '.join((row.name, row.what)).strip()}: {_texts(row.marks)}" for row in shown
    )
    label = (
        f"Changes against {baseline}, a row for each workload, the worst first, and a column "
        f"for each arm: {described}."
    )
    height = HEAD_PX + HEAT_PX * len(shown)
    left = HEAT_LEFT_PX if any(row.what for row in every) else label_room(row.name for row in every)
    crowded = " crowded-heat" if len(arms) > TEXTS_MAX else ""
    return plot(
        [tag("g", *marks, class_=f"heat-map{crowded}")],
        height=height,
        label=label,
        left=left,
        bottom=4,
    )


def _cell(mark: Mark | None, across: tuple[float, float], top: int, largest: float) -> list[Markup]:
    left, width = across
    box = {"x": percent(left), "y": top, "width": percent(width), "height": HEAT_PX - 2}
    at = {
        "x": percent(left + width / 2),
        "y": top + 14,
        "text_anchor": "middle",
        "class_": "heat-text",
    }
    if mark is None:
        return [tag("rect", **box, class_="heat-nothing"), tag("text", "–", **at)]
    strength = INK_MAX * (_size(mark) / largest if largest else 0.0)
    kind = "few" if mark.tone == "few" else {1: "better", -1: "worse"}.get(mark.way, "none")
    of_arm = f"of-arm-{mark.index}"
    rect = tag(
        "rect",
        tag("title", mark.tip),
        **box,
        class_=f"heat-{kind} {of_arm}",
        fill_opacity=round(strength, 3),
    )
    return [rect, tag("text", mark.text, **{**at, "class_": f"heat-text {of_arm}"})]


def _size(mark: Mark) -> float:
    """Of a change, on a logarithmic scale."""
    return abs(log(min(max(mark.value, LOW_EDGE), HIGH_EDGE))) if mark.value else 0.0


def _texts(marks: Sequence[Mark]) -> str:
    return ", ".join(f"{mark.arm} {mark.text}" for mark in marks)


def _cut(name: str, most: int) -> str:
    return name if len(name) <= most else f"{name[: most - 1]}…"
