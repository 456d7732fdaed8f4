"""The picture of a run: the changes of each workload in each arm, or the figures where no arm is
compared.

It has the rows of the terminal's table in their order: the worst first.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from markupsafe import Markup

from tailrace.errors import few
from tailrace.report.charts.picture import Mark, PictureRow, heat_chart, lines_chart
from tailrace.report.drawing.plain_csv import csv_text
from tailrace.report.limits import ARMS_DRAWN_MAX
from tailrace.results.compare.effect_words import bound_sign, bounded_change_text
from tailrace.results.compare.phrases import unit_behind
from tailrace.results.compare.tone import tone_of, visible_change
from tailrace.results.format.numbers import bound_mark, digits_text
from tailrace.results.metrics.definitions import NAMES, noun_of, title_of
from tailrace.results.summary.effect import ArmEffect
from tailrace.results.summary.figure import FigureSummary, TableSubject
from tailrace.results.summary.summary import Summary
from tailrace.results.text.order import judged_effects, worst_first
from tailrace.results.text.outcome_table import SIGNS

LINES_MAX = 8
"""Rows up to which each has a line with dots; of more the picture is a map of colours."""
HEAT_ROWS = 8
"""Rows that are shown before the others are unfolded."""
SHORT = {
    "latency_p50_ms": "p50",
    "latency_p99_ms": "p99",
    "latency_p99_9_ms": "p99.9",
    "latency_mean_ms": "mean latency",
    "completion_s": "completion",
    "goodput_gbps": "goodput",
    "loss_percent": "loss",
    "failed_percent": "failed",
    "rate_per_s": "rate",
}
"""Names of metrics where there is little room."""
NAMED_MAX = 3
"""Workloads that are not drawn and are named."""
ABSOLUTE = ("latency_p99_ms", "completion_s", "rate_per_s", "goodput_gbps")
"""Metrics of the picture where no arm is compared: the first one that most workloads have."""


@dataclass(frozen=True)
class Picture:
    """The content of the picture on the page."""

    title: str
    rows: list[PictureRow]
    is_ratio: bool
    is_map: bool
    chart: Markup
    rest: Markup | None
    """Further rows of a map."""
    more: int
    arms: list[tuple[str, int]]
    """Of the key, with their positions."""
    has_bounds: bool
    note: str
    """Workloads that are not drawn."""
    csv: str


def picture(summary: Summary) -> Picture | None:
    """The picture of a run; None without a figure that could be drawn."""
    subjects = worst_first(summary)
    rows = list(_changes(summary, subjects))
    is_ratio = any(mark.value is not None for row in rows for mark in row.marks)
    title, metric = f"Change against {summary.baseline}", ""
    if len({row.what for row in rows}) == 1:
        title = f"Change of {rows[0].what} against {summary.baseline}"
        rows = [replace(row, what="") for row in rows]
    if not is_ratio:
        metric = _absolute_metric(summary, subjects)
        if not metric:
            return None
        rows = list(_figures(summary, subjects, metric))
        title = title_of(metric, _noun(summary))
    is_heat = len(rows) > LINES_MAX
    shown, rest = (rows[:HEAT_ROWS], rows[HEAT_ROWS:]) if is_heat else (rows, [])
    arms = list({mark.arm: mark.index for row in rows for mark in row.marks}.items())
    is_map = is_heat and is_ratio
    draw = heat_chart if is_map else lines_chart
    baseline = summary.baseline if is_ratio else None
    return Picture(
        title=title,
        rows=rows,
        is_ratio=is_ratio,
        is_map=is_map,
        chart=draw(shown, rows, baseline, metric),
        rest=draw(rest, rows, baseline, metric) if rest else None,
        more=len(rest),
        arms=arms,
        has_bounds=any(mark.bound for row in rows for mark in row.marks),
        note=_note(subjects, rows),
        csv=_csv(rows),
    )


def _changes(summary: Summary, subjects: Sequence[TableSubject]) -> Iterator[PictureRow]:
    judged = judged_effects(summary)
    drawn = list(summary.arms)[:ARMS_DRAWN_MAX]
    for subject in subjects:
        own = [effect for effect in judged.get(subject.name, ()) if effect.arm in drawn]
        for metric in dict.fromkeys(effect.metric for effect in own):
            effects = [effect for effect in own if effect.metric == metric]
            first = effects[0]
            base = f"{digits_text(first.baseline_value * _factor(summary, subject.name, metric))}{_unit(metric)}"  # noqa: E501
            yield PictureRow(
                subject.name,
                subject.is_group,
                subject.is_member,
                SHORT.get(metric) or NAMES[metric],
                f"{first.baseline} {base}",
                [_changed(effect, drawn.index(effect.arm)) for effect in effects],
            )


def _changed(effect: ArmEffect, index: int) -> Mark:
    sign, interval, tone = bound_sign(effect), effect.ratio_interval, tone_of(effect)
    has_ratio = sign is not None and effect.ratio is not None and effect.ratio > 0
    text = f"{SIGNS[tone]} {bounded_change_text(effect)}".strip()
    return Mark(
        arm=effect.arm,
        index=index,
        value=effect.ratio if has_ratio else None,
        low=interval.low if interval and has_ratio else None,
        high=interval.high if interval and has_ratio else None,
        bound=sign or "",
        text=text,
        tone=tone,
        way={"better": 1, "worse": -1}.get(
            tone, 0 if effect.is_main and tone != "few" else visible_change(effect)
        ),
        tip=effect.words,
    )


def _absolute_metric(summary: Summary, subjects: Sequence[TableSubject]) -> str:
    """Empty where no workload has any."""
    counts = {
        metric: sum(bool(_of(summary, subject, metric)) for subject in subjects)
        for metric in ABSOLUTE
    }
    best = max(ABSOLUTE, key=lambda metric: counts[metric])
    return best if counts[best] else ""


def _of(summary: Summary, subject: TableSubject, metric: str) -> dict[str, FigureSummary]:
    """The figures that a logarithmic axis can have, by arm."""
    found = {
        arm: own.figures.get(subject.name, {}).get(metric) for arm, own in summary.arms.items()
    }
    return {arm: one for arm, one in found.items() if one is not None and one.value}


def _figures(
    summary: Summary, subjects: Sequence[TableSubject], metric: str
) -> Iterator[PictureRow]:
    drawn = list(summary.arms)[:ARMS_DRAWN_MAX]
    for subject in subjects:
        factor = _factor(summary, subject.name, metric)
        marks = [
            _figure(subject.name, arm, drawn.index(arm), one, factor, metric)
            for arm, one in _of(summary, subject, metric).items()
            if arm in drawn
        ]
        if marks:
            yield PictureRow(subject.name, subject.is_group, subject.is_member, "", "", marks)


def _figure(
    name: str, arm: str, index: int, one: FigureSummary, factor: float, metric: str
) -> Mark:
    value = (one.value or 0.0) * factor
    text = f"{bound_mark(one.bounds)}{digits_text(value)}{_unit(metric)}"
    return Mark(
        arm=arm,
        index=index,
        value=value,
        low=one.interval.low * factor if one.interval and one.interval.low > 0 else None,
        high=one.interval.high * factor if one.interval and one.interval.low > 0 else None,
        bound=bound_mark(one.bounds),
        text=text,
        tone="",
        way=0,
        tip=f"{name}, {arm}: {text}",
    )


def _factor(summary: Summary, name: str, metric: str) -> float:
    """Factor to full scale, which applies to completion times."""
    return 1 / summary.run.workload_scale.get(name, 1.0) if metric == "completion_s" else 1.0


def _unit(metric: str) -> str:
    """The unit after a value; rates are counts per second."""
    return "/s" if metric == "rate_per_s" else unit_behind(metric)


def _noun(summary: Summary) -> str:
    return noun_of(own.kind for arm in summary.arms.values() for own in arm.workloads.values())


def _note(subjects: Sequence[TableSubject], rows: Sequence[PictureRow]) -> str:
    """Workloads that the picture does not have, with the reason: those of one arm alone cannot be
    compared."""
    shown = {row.name for row in rows}
    left = [subject.name for subject in subjects if subject.name not in shown]
    if not left:
        return ""
    return f"Not drawn, but in the table: {few(left, NAMED_MAX)}."


def _csv(rows: Sequence[PictureRow]) -> str:
    lines = (
        (row.name, row.what, mark.arm, mark.value, mark.low, mark.high)
        for row in rows
        for mark in row.marks
    )
    return csv_text(("workload", "metric", "arm", "value", "low", "high"), lines)
