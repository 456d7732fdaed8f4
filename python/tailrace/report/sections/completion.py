"""Completion times, and the effects by which arms differ from the baseline."""

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from tailrace.report.charts import completion as completion_chart
from tailrace.report.charts import improvement
from tailrace.report.limits import ARMS_DRAWN_MAX, EFFECTS_MAX
from tailrace.results.compare.effect_words import correction_words, family_words
from tailrace.results.metrics.definitions import name_of
from tailrace.results.metrics.subject_rows import SubjectRow, subject_rows
from tailrace.results.summary.effect import ArmEffect
from tailrace.results.summary.summary import Summary


@dataclass(frozen=True)
class ArmEffects:
    """How one arm differs from the baseline."""

    arm: str
    what: str
    """What the percentages are percentages of."""
    told: list[ArmEffect]
    """Those of main metrics, as sentences."""
    tabulated: list[ArmEffect]
    chart: Markup | None
    """None of arms beyond the first, and where an effect is no ratio."""


@dataclass(frozen=True)
class Completion:
    """The section."""

    chart: Markup | None
    """None where nothing completes."""
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
    for place, arm in enumerate(summary.arms):
        every = [effect for effect in summary.comparisons if effect.arm == arm]
        told = [effect for effect in every if effect.is_main]
        if told:
            is_drawn = len(found) < ARMS_DRAWN_MAX
            is_chart = is_drawn and all(effect.ratio is not None for effect in told)
            chart = improvement.improvement_chart(told, summary.expectations, f"arm-{place % 6}") if is_chart else None
            tabulated = every if is_whole and is_drawn else told
            found.append(ArmEffects(arm, _what_improves(told), told, tabulated, chart))
    return found


def _what_improves(effects: Sequence[ArmEffect]) -> str:
    metrics = {effect.metric for effect in effects}
    names = dict.fromkeys(name_of(effect.metric, effect.noun) for effect in effects)
    return "acceleration" if metrics == {"completion_s"} else ", ".join(names)
