"""Advice as text and as data."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from msgspec import to_builtins

from tailrace.advice.advise import Advice, Confirmed
from tailrace.advice.configuration import Configuration
from tailrace.advice.judging import Judged
from tailrace.advice.screening import LEAST_PERCENT, Screened
from tailrace.results.compare.effect_words import (
    at_least,
    change_percent,
    size_words,
    unit_of_difference,
)
from tailrace.results.format.columns import WIDTH, align, fill
from tailrace.results.format.numbers import bound_mark, digits_text, p_text, signed_text
from tailrace.results.metrics.definitions import name_of
from tailrace.results.summary.effect import ArmEffect
from tailrace.results.summary.figure import FigureSummary
from tailrace.scenario.goal import unit_of

END_WORDS = {
    "meets": "meets the goal",
    "misses": "misses the goal",
    "undecided": "may meet the goal or miss it",
}
"""The words for the end of a figure."""
SIDE_EFFECTS_MAX = 6
"""Side effects of a candidate that a sentence lists; `--json` has all."""


def advice_text(advice: Advice) -> str:
    """The answer in one sentence, the ranking, the costs, and the configuration of the best
    candidate."""
    lines = [fill(answer(advice), WIDTH), ""]
    if advice.makeup is not None:
        band = (
            f"the {advice.makeup.band} band" if advice.makeup.band != "all" else "all transactions"
        )
        lines += [
            fill(f"Where the time goes at present ({band}): {advice.makeup.words}.", WIDTH),
            "",
        ]
    if advice.confirmed:
        lines += [_ranking(advice), ""]
    for number, one in enumerate(advice.confirmed, 1):
        lines += [*(fill(line, WIDTH) for line in _candidate_lines(number, one)), ""]
    if advice.helpful:
        lines += [*_configuration(advice), ""]
    lines += [*_rest(advice)]
    lines += [fill(f"Outside of what was validated: {doubt}", WIDTH) for doubt in advice.doubts]
    return "\n".join(lines).rstrip() + "\n"


def answer(advice: Advice) -> str:
    """The best candidate, or the statement that no candidate helps."""
    goal = advice.goal
    now = f"At present {possessive(goal.subject)} {name_of(goal.metric, 'transactions')} is"
    now += f" {_figure(advice.present, goal.metric)}"
    if goal.bound is not None:
        now += f", which {END_WORDS[advice.end]}"
    if not advice.helpful:
        return f"{now}. {_not_helped(advice)}"
    best = advice.helpful[0]
    interval = best.judged.figure.interval
    ends = (
        f" ({_value(interval.low, goal.metric)} to {_value(interval.high, goal.metric)})"
        if interval
        else ""
    )
    reached = _figure(best.judged.figure, goal.metric)
    sentence = f"{now}. Best: {best.candidate.title} ({best.candidate.name}): {reached}{ends}."
    return f"{sentence} {_reached(advice)}" if goal.bound is not None else sentence


def _not_helped(advice: Advice) -> str:
    """The statement that no candidate helps, or that it is undecided."""
    tried = f"of {len(advice.screened)} candidates that were tried"
    if not advice.confirmed:
        return f"Nothing helps: {tried}, none improves it by {LEAST_PERCENT:g} % or more."
    effect = advice.confirmed[0].judged.effect
    p = "" if effect.p_adjusted is None else f", p {p_text(effect.p_adjusted)}"
    first = f"{advice.confirmed[0].candidate.name} comes first ({_size(effect)}{p})"
    return (
        f"No candidate is certain to help: {tried}, {first}. More trials may decide it "
        "(--trials-max)."
    )


def _reached(advice: Advice) -> str:
    """Whether the best candidate meets the goal."""
    best = advice.helpful[0].judged
    if best.end == "undecided":
        return (
            f"Whether it meets the goal {advice.goal} is undecided: it takes {best.takes} "
            "(--trials-max)."
        )
    if best.end == "meets":
        return f"It meets the goal {advice.goal}."
    return f"No candidate meets the goal {advice.goal}."


def possessive(name: str) -> str:
    """`shop's`, `answers'`."""
    return f"{name}'" if name.endswith("s") else f"{name}'s"


def _figure(figure: FigureSummary, metric: str) -> str:
    """The goal's figure, marked where it is a lower bound."""
    return bound_mark(figure.bounds) + _value(figure.value, metric)


def _size(effect: ArmEffect) -> str:
    """The size of a change, where lower bounds allow one."""
    if effect.verdict == "not comparable":
        return "–"
    size = size_words(
        change_percent(effect), effect.difference, unit=unit_of_difference(effect.metric)
    )
    return at_least(effect.bounds) + size


def _value(value: float | None, metric: str) -> str:
    unit = unit_of(metric)
    return f"{digits_text(value)}{f' {unit}' if unit else ''}"


def _ranking(advice: Advice) -> str:
    goal = advice.goal
    is_bounded = goal.bound is not None
    rows = [["", str(goal), "interval", "change", "p", *(["goal"] if is_bounded else [])]]
    rows.append(
        [
            "present",
            _figure(advice.present, goal.metric),
            "",
            "",
            "",
            *([advice.end] if is_bounded else []),
        ]
    )
    for one in advice.confirmed:
        effect, figure = one.judged.effect, one.judged.figure
        interval = figure.interval
        row = [
            one.candidate.name,
            _figure(figure, goal.metric),
            f"{digits_text(interval.low)} to {digits_text(interval.high)}" if interval else "–",
            _size(effect),
            "–" if effect.p_adjusted is None else p_text(effect.p_adjusted),
        ]
        rows.append([*row, *([one.judged.end] if is_bounded else [])])
    return align(rows)


def _candidate_lines(number: int, one: Confirmed) -> Iterator[str]:
    verdict = (
        ""
        if one.judged.helps
        else f" Its effect on the goal is not certain ({one.judged.effect.verdict})."
    )
    yield f"{number}. {one.candidate.title} ({one.candidate.name}).{verdict}"
    yield f"   Others: {_side_effects(one.judged)}."
    yield f"   Costs: {one.candidate.costs} Evidence: {one.candidate.evidence}."


def _side_effects(judged: Judged) -> str:
    shown = [
        f"{possessive(effect.workload)} {name_of(effect.metric, effect.noun)} {_size(effect)}"
        for effect in judged.side_effects[:SIDE_EFFECTS_MAX]
    ]
    more = len(judged.side_effects) - len(shown)
    few = (
        f" (too few trials to tell for {judged.undetermined} of {len(judged.others)} figures)"
        if judged.undetermined
        else ""
    )
    return (
        ", ".join(shown) + (f" and {more} more" if more > 0 else "")
        if shown
        else "no significant change"
    ) + few


def _configuration(advice: Advice) -> Iterator[str]:
    best = advice.helpful[0]
    found = best.configuration
    folder = advice.path / "apply" / best.candidate.name
    if not found.switches and not found.settings:
        yield f"{best.candidate.name} has no configuration: it is another machine or device."
        return
    yield (
        f"To apply {best.candidate.name} (tailrace has changed nothing; the commands are also "
        f"in {folder}):"
    )
    able = [lines for lines in found.switches if lines.is_change]
    for lines in able:
        if lines.vendor != able[0].vendor:
            continue
        yield (
            f"--- {lines.switch}, {lines.vendor}: first `{lines.before}`; back with `{lines.undo}`"
        )
        yield lines.text.rstrip()
        yield from (f"! {lines.vendor} differs: {remark}" for remark in lines.remarks)
    if others := sorted({lines.vendor for lines in able} - {lines.vendor for lines in able[:1]}):
        yield f"(for {', '.join(others)}: see the files)"
    for lines in found.switches:
        if not lines.is_change:
            yield f"--- {lines.switch}, {lines.vendor}: no line of it makes this change"
            yield from (f"! {remark}" for remark in lines.remarks)
    if script := found.script():
        yield "--- elsewhere"
        yield script.rstrip()


def _rest(advice: Advice) -> Iterator[str]:
    confirmed = {one.candidate.name for one in advice.confirmed}
    others = [one for one in advice.screened if one.candidate.name not in confirmed]
    how = advice.screening
    trials = (
        f"{how.trials} {'trial' if how.trials == 1 else 'trials'} of "
        f"{digits_text(how.duration_s)} s"
    )
    if better := [one for one in others if one.is_better]:
        yield fill(f"Tried in {trials}, and behind those above: {_changes(better)}.", WIDTH)
    if dismissed := [one for one in others if not one.is_better]:
        what = f"dismissed because the figure improved by less than {LEAST_PERCENT:g} %"
        yield fill(f"Tried in {trials}, and {what}: {_changes(dismissed)}.", WIDTH)
    by_reason: dict[str, list[str]] = {}
    for candidate, reason in advice.not_possible:
        by_reason.setdefault(reason, []).append(candidate.name)
    if by_reason:
        refused = [f"{', '.join(names)} ({reason})" for reason, names in by_reason.items()]
        yield fill(f"Cannot be tried in this scenario: {'; '.join(refused)}.", WIDTH)


def _changes(screened: Sequence[Screened]) -> str:
    return ", ".join(
        f"{one.candidate.name} {_percent(one.improvement_percent)}" for one in screened
    )


def _percent(value: float | None) -> str:
    return "without a figure (its trials did not end)" if value is None else signed_text(value, "%")


def advice_data(advice: Advice) -> dict[str, Any]:
    """The advice as JSON values."""
    return {
        "scenario": advice.scenario,
        "arm": advice.arm,
        "goal": {
            **asdict(advice.goal),
            "text": str(advice.goal),
            "unit": unit_of(advice.goal.metric),
        },
        "path": str(advice.path),
        "answer": answer(advice),
        "makeup": asdict(advice.makeup) if advice.makeup else None,
        "present": to_builtins(advice.present),
        "end": advice.end,
        "takes": advice.takes or None,
        "confirmed": [_confirmed_data(one) for one in advice.confirmed],
        "screening": asdict(advice.screening),
        "screened": [
            {
                "name": one.candidate.name,
                "title": one.candidate.title,
                "improvement_percent": one.improvement_percent,
            }
            for one in advice.screened
        ],
        "not_possible": [
            {"name": one.name, "title": one.title, "reason": reason}
            for one, reason in advice.not_possible
        ],
        "doubts": advice.doubts,
    }


def _confirmed_data(one: Confirmed) -> dict[str, Any]:
    return {
        "name": one.candidate.name,
        "title": one.candidate.title,
        "changes": dict(one.candidate.changes),
        "costs": one.candidate.costs,
        "evidence": one.candidate.evidence,
        "helps": one.judged.helps,
        "end": one.judged.end,
        "takes": one.judged.takes or None,
        "figure": to_builtins(one.judged.figure),
        "effect": to_builtins(one.judged.effect),
        "side_effects": to_builtins(one.judged.side_effects),
        "configuration": _configuration_data(one.configuration),
    }


def _configuration_data(found: Configuration) -> dict[str, Any]:
    return {
        "switches": [asdict(lines) for lines in found.switches],
        "settings": [asdict(settings) for settings in found.settings],
    }
