"""The order in which a screen shows workloads and groups: the worst change first."""

from tailrace.results.compare.tone import LARGE, change_size, tone_of, visible_change
from tailrace.results.summary.effect import ArmEffect
from tailrace.results.summary.figure import TableSubject
from tailrace.results.summary.summary import Summary
from tailrace.results.text.outcome_table import DEFAULT_LEAD

ORDER = {"worse": 0, "better": 1}
UNCHANGED = 2
UNKNOWN = 3
"""Without any effect."""


def worst_first(summary: Summary) -> list[TableSubject]:
    """Subjects with a figure in some arm: groups and workloads outside groups first, from the worst
    large change; members after them."""
    judged = judged_effects(summary)

    def rank(subject: TableSubject) -> tuple[float, ...]:
        own = [(_severity(effect), -change_size(effect)) for effect in judged.get(subject.name, ())]
        return (subject.is_member, *min(own, default=(UNKNOWN, 0.0)))

    rows = [
        one
        for one in summary.subjects
        if any(one.name in arm.figures for arm in summary.arms.values())
    ]
    return sorted(rows, key=rank)


def judged_effects(summary: Summary) -> dict[str, list[ArmEffect]]:
    """By workload or group, the effects that judge it: those of its main metrics. A member without
    any has those of its group's metrics, and otherwise of the metric that leads its table."""
    found: dict[str, list[ArmEffect]] = {}
    for effect in summary.comparisons:
        found.setdefault(effect.workload, []).append(effect)
    mains = {
        name: {effect.metric for effect in own if effect.is_main} for name, own in found.items()
    }
    groups = {
        member: one.name for one in summary.subjects if one.is_group for member in one.members
    }
    chosen = {
        one.name: mains.get(one.name)
        or mains.get(groups.get(one.name, ""))
        or {one.lead or DEFAULT_LEAD}
        for one in summary.subjects
    }
    return {
        name: own
        for name, effects in found.items()
        if (own := [effect for effect in effects if effect.metric in chosen.get(name, ())])
    }


def _severity(effect: ArmEffect) -> int:
    """0 for worse, 1 for better, if by much; an effect that is not tested by the interval of its
    change."""
    if change_size(effect) < LARGE:
        return UNCHANGED
    if effect.is_main:
        return ORDER.get(tone_of(effect), UNCHANGED)
    return {-1: 0, 1: 1}.get(visible_change(effect), UNCHANGED)
