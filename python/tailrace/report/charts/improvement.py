"""Improvement of every workload by an arm: estimate, interval, and the published value with its tolerance."""

from collections.abc import Sequence

from markupsafe import Markup

from tailrace.report.drawing.scale import Linear
from tailrace.report.drawing.svg import label_room, percent, plot, row_label, tag, x_axis
from tailrace.results.compare.effect_words import bound_sign, bounded_change_text
from tailrace.results.format.numbers import is_told_as_ratio, signed_text
from tailrace.results.summary.effect import ArmEffect
from tailrace.results.summary.expectation import JudgedFigure

ROW_PX = 26


def improvement_chart(effects: Sequence[ArmEffect], expectations: Sequence[JudgedFigure], colour: str) -> Markup:
    """One row per effect of one arm against the baseline; percent, positive is better."""
    published = {
        (judged.arm, judged.workload): judged for judged in expectations if judged.metric == "acceleration_percent"
    }
    known = [
        published.get((effect.arm, effect.workload)) if effect.metric == "completion_s" else None for effect in effects
    ]
    x = _scale(effects, [judged for judged in known if judged])
    height = ROW_PX * len(effects) + 4
    zero = percent(x(0))
    marks = [tag("line", x1=zero, x2=zero, y1=0, y2=height, class_="zero")]
    for row, (effect, judged) in enumerate(zip(effects, known, strict=True)):
        marks += _row(effect, judged, x, row * ROW_PX + ROW_PX / 2 + 2, colour)
    label = "Improvement with intervals: " + " ".join(effect.words for effect in effects)
    left = label_room(effect.workload for effect in effects)
    return plot([*x_axis(x, height), *marks], height=height, label=label, left=left, right=66)


def _scale(effects: Sequence[ArmEffect], published: Sequence[JudgedFigure]) -> Linear:
    values = [0.0, *(_percent(effect) for effect in effects)]
    for effect in effects:
        if interval := effect.improvement_interval:
            values += [interval.low, interval.high]
    for judged in published:
        values += [bound for bound in (judged.low, judged.high) if bound is not None]
    low, high = min(values), max(values)
    room = max(1.0, (high - low) * 0.04)
    return Linear(low - room, high + room, 6, " %")


def _row(effect: ArmEffect, judged: JudgedFigure | None, x: Linear, y: float, colour: str) -> list[Markup]:
    marks = [row_label(effect.workload, y + 5)]
    if judged and judged.low is not None and judged.high is not None:
        low, width = percent(x(judged.low)), percent(x(judged.high) - x(judged.low))
        marks.append(tag("rect", x=low, y=y - 8, width=width, height=16, class_="band"))
    if judged and judged.published is not None:
        at = percent(x(judged.published))
        tip = tag("title", f"published: {judged.published:g} %")
        marks.append(tag("line", tip, x1=at, x2=at, y1=y - 8, y2=y + 8, class_="published"))
    if interval := effect.improvement_interval:
        low, high = percent(x(interval.low)), percent(x(interval.high))
        marks.append(tag("line", x1=low, x2=high, y1=y, y2=y, class_=f"interval {colour}"))
    at = percent(x(_percent(effect)))
    dot = tag("circle", tag("title", effect.words), cx=at, cy=y, r=4.2, class_=f"dot {colour}")
    text = tag("text", _text(effect), x="100%", dx=8, y=y + 4.5, class_="value")
    return [*marks, text] if bound_sign(effect) is None else [*marks, dot, text]


def _percent(effect: ArmEffect) -> float:
    assert effect.improvement_percent is not None, "charts are of ratios alone"
    return effect.improvement_percent


def _text(effect: ArmEffect) -> str:
    """The improvement; a change to the fourfold and beyond as a ratio, as everywhere."""
    change, sign = effect.change_percent, bound_sign(effect)
    if sign is None or (change is not None and is_told_as_ratio(change)):
        return bounded_change_text(effect)
    # Of times alone there are lower bounds: more of them is less of an improvement.
    turned = {"> ": "< ", "< ": "> "}.get(sign, sign)
    return turned + signed_text(effect.improvement_percent, "%")
