"""Completion times, and the effects by which arms differ from the baseline."""

from dataclasses import dataclass

from markupsafe import Markup

from tailrace.report.charts import completion as completion_chart
from tailrace.report.limits import ARMS_DRAWN_MAX, BARS_OPEN_MAX, EFFECTS_MAX
from tailrace.results.compare.effect_words import correction_words, family_words
from tailrace.results.metrics.subject_rows import SubjectRow, subject_rows
from tailrace.results.summary.effect import ArmEffect
from tailrace.results.summary.summary import Summary


@dataclass(frozen=True)
class ArmEffects:
    """How one arm differs from the baseline."""

    arm: str
    described: list[ArmEffect]
    """Those of main metrics, as sentences."""
    tabulated: list[ArmEffect]


@dataclass(frozen=True)
class Completion:
    """The section."""

    chart: Markup | None
    """None where nothing completes."""
    is_long: bool
    """Whether the chart is folded."""
    has_late: bool
    """Whether a bar is a lower bound."""
    has_published: bool
    has_solo: bool
    rows: list[SubjectRow]
    effects: list[ArmEffects]
    correction: str
    """How the p values were adjusted, in words."""
    family: str


def completion(summary: Summary) -> Completion:
    """Completion bars, their table, and the effects by which arms differ from the baseline."""
    bars = completion_chart.completion_bars(summary)
    return Completion(
        chart=completion_chart.completion_chart(bars) if bars else None,
        is_long=len(bars) > BARS_OPEN_MAX,
        has_late=any(bar.late for bar in bars),
        has_published=any(bar.published_s is not None for bar in bars),
        has_solo=any(bar.alone_s is not None for bar in bars),
        rows=subject_rows(summary, lambda _: True),
        effects=_effects(summary),
        correction=correction_words(summary.comparisons),
        family=family_words(summary.comparisons),
    )


def _effects(summary: Summary) -> list[ArmEffects]:
    is_whole = len(summary.comparisons) <= EFFECTS_MAX
    found: list[ArmEffects] = []
    for arm in summary.arms:
        every = [effect for effect in summary.comparisons if effect.arm == arm]
        main = [effect for effect in every if effect.is_main]
        if main:
            is_drawn = len(found) < ARMS_DRAWN_MAX
            found.append(ArmEffects(arm, main, every if is_whole and is_drawn else main))
    return found
