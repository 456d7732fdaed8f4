"""The tornado plot: for every figure, the factors with the largest effects alone, as bars around
the present value."""

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from tailrace.report.drawing.svg import tag
from tailrace.results.format.numbers import digits_text
from tailrace.sensitivity.figures import Figure
from tailrace.sensitivity.study import Study

COLUMNS = 3
BARS_MAX = 8
WIDTH, LABEL, VALUE, GAP = 430, 170, 46, 22
ROW, HEAD, FOOT = 15, 34, 8
LABEL_MAX = 28
LOW, HIGH, BAND, INK, FAINT = "#2f6db3", "#d9822b", "#d8dce2", "#1a1d21", "#5b6470"
"""Colours: the lower and the upper end of a range, noise, text, secondary text."""


@dataclass(frozen=True)
class Bar:
    """The effect of one factor alone: the figure at the lower and at the upper end of its range, or
    lowest and highest."""

    factor: int
    low: float
    high: float

    def size(self, base: float) -> float:
        """The larger distance from the present value."""
        return max(abs(self.low - base), abs(self.high - base))


def bars(study: Study, figure: Figure) -> list[Bar]:
    """The bars of a figure, the longest first; a factor without all of its values has none."""
    base, found = study.base_mean(figure), []
    for number, factor in enumerate(study.factors):
        values = [study.alone[number, share][figure] for share in factor.ends]
        known = [value for value in values if value is not None]
        if len(known) < len(values):
            continue
        is_range = not factor.variation.listed
        low, high = (
            (known[0], known[-1]) if is_range else (min([base, *known]), max([base, *known]))
        )
        found.append(Bar(number, low, high))
    return sorted(found, key=lambda bar: (-bar.size(base), bar.factor))


def tornado(study: Study) -> str:
    """A standalone SVG with a panel for every figure."""
    panels = [(figure, bars(study, figure)[:BARS_MAX]) for figure in study.figures]
    rows = [panels[start : start + COLUMNS] for start in range(0, len(panels), COLUMNS)]
    y, drawn = GAP, []
    for row in rows:
        height = HEAD + FOOT + ROW * max(len(listed) for _, listed in row)
        drawn += [
            _panel(study, figure, listed, GAP + n * (WIDTH + GAP), y)
            for n, (figure, listed) in enumerate(row)
        ]
        y += height + GAP
    width = GAP + min(COLUMNS, len(panels)) * (WIDTH + GAP)
    key = _key(y)
    height = y + 24
    words = f"Tornado plot of {study.scenario}: what each assumption does alone to each figure"
    return str(
        tag(
            "svg",
            tag("rect", width=width, height=height, fill="#ffffff"),
            *drawn,
            *key,
            xmlns="http://www.w3.org/2000/svg",
            viewBox=f"0 0 {width} {height}",
            role="img",
            aria_label=words,
            font_family="system-ui, sans-serif",
            font_size=11,
        )
    ) + "\n"  # fmt: skip


def _panel(study: Study, figure: Figure, listed: Sequence[Bar], left: int, top: int) -> Markup:
    base, noise = study.base_mean(figure), study.least(figure)
    reach = max([*(bar.size(base) for bar in listed), noise, abs(base) * 1e-6, 1e-12]) * 1.05
    half = (WIDTH - LABEL - VALUE) / 2

    def x(value: float) -> float:
        return round(LABEL + half + (value - base) / reach * half, 1)

    height = ROW * len(listed)
    unit = f" {figure.unit}" if figure.unit else ""
    marks = [
        _text(0, -18, figure.name, size=12, weight="600"),
        _text(
            LABEL + half, -5, f"{digits_text(base)}{unit} at present", anchor="middle", fill=FAINT
        ),
        tag(
            "rect",
            x=x(base - noise),
            y=0,
            width=round(x(base + noise) - x(base - noise), 1),
            height=height,
            fill=BAND,
        ),
    ]
    for index, bar in enumerate(listed):
        marks += _row(study, bar, x, base, index * ROW, unit)
    marks.append(tag("line", x1=x(base), x2=x(base), y1=0, y2=height, stroke=INK, stroke_width=1))
    return tag("g", *marks, transform=f"translate({left} {top + HEAD - 8})")


def _row(study: Study, bar: Bar, x: "object", base: float, y: int, unit: str) -> list[Markup]:
    assert callable(x), "the scale of the panel"
    factor = study.factors[bar.factor]
    name = factor.name if len(factor.name) <= LABEL_MAX else f"{factor.name[: LABEL_MAX - 1]}…"
    tip = (
        f"{factor.name}: {factor.range_text}: {digits_text(bar.low)} to "
        f"{digits_text(bar.high)}{unit}"
    )
    marks = [
        tag("text", tag("title", tip), name, x=LABEL - 6, y=y + 11, text_anchor="end", fill=INK)
    ]
    for value, colour in ((bar.low, LOW), (bar.high, HIGH)):
        ends = sorted((x(base), x(value)))
        marks.append(
            tag(
                "rect",
                tag("title", tip),
                x=ends[0],
                y=y + 2,
                width=round(ends[1] - ends[0], 1),
                height=ROW - 4,
                fill=colour,
                fill_opacity="0.85",
            )
        )
    change = max((bar.low - base, bar.high - base), key=abs)
    text = f"{'+' if change > 0 else '−'}{digits_text(abs(change), 2)}"
    return [*marks, _text(WIDTH, y + 11, text, anchor="end", fill=FAINT)]


def _key(y: int) -> list[Markup]:
    listed = (
        (LOW, "lower end of the range, lowest of a list"),
        (HIGH, "upper end, highest"),
        (BAND, "may be noise"),
    )
    marks, left = [], GAP
    for colour, words in listed:
        marks += [
            tag("rect", x=left, y=y, width=12, height=10, fill=colour),
            _text(left + 18, y + 9, words),
        ]
        left += 40 + 6 * len(words)
    return marks


def _text(
    x: float,
    y: float,
    words: str,
    *,
    anchor: str = "start",
    fill: str = INK,
    size: int = 11,
    weight: str = "400",
) -> Markup:
    return tag(
        "text", words, x=x, y=y, text_anchor=anchor, fill=fill, font_size=size, font_weight=weight
    )
