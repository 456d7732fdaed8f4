"""The answer in one sentence for each arm, made from the main metrics of its workloads.

These alone are tested, and are better, worse or unchanged. Where one workload has several that moved in opposite
directions, the sentence reports both. Other figures stand beside them as numbers.
"""

from collections.abc import Iterable, Sequence
from math import log

from tailrace.results.compare.effect_words import (
    are,
    at_least,
    bounded_change_text,
    few_words,
    is_ratio,
    size_words,
    told_percent,
    unit_of_difference,
)
from tailrace.results.compare.reason import reasons
from tailrace.results.compare.tone import direction, visible_change
from tailrace.results.format.numbers import digits_text
from tailrace.results.metrics.definitions import UNITS, name_of, noun_of
from tailrace.results.summary.effect import ArmEffect
from tailrace.results.summary.figure import Figures, TableSubject
from tailrace.results.summary.summary import ArmSummary, Summary
from tailrace.results.summary.workload import WorkloadSummary
from tailrace.scenario.workloads.kinds import facts_of
from tailrace.statistics import mean

Effects = Sequence[ArmEffect]
# Metric, and the phrases for a decrease, an increase and a multiple; `{noun}` is what the workload does.
VERBS = {
    "completion_s": ("finishes", "sooner", "later", "takes {{}} times as long as"),
    "goodput_gbps": ("carries", "less", "more", "carries {{}} times as much as"),
    "rate_per_s": (
        "does",
        "fewer {noun} per second",
        "more {noun} per second",
        "does {{}} times as many {noun} per second as",
    ),
}
UNCLEAR = {
    "no significant difference": "no significant difference in {}",
    "not comparable": "only lower bounds of {}",
    "too few trials": "too few trials to detect a difference in {}",
}
SHORT = {"latency_p50_ms": "p50", "latency_p99_ms": "p99", "loss_percent": "loss"}
"""Names in brackets."""
DESCRIBED = ("failed_percent", "rate_per_s", *SHORT)
"""Figures that stand beside a sentence: failed requests are in no rate and no latency."""
PACE = ("completion_s", "rate_per_s", "goodput_gbps")
"""Of these metrics, one is sufficient."""
ARMS_NAMED_MAX = 4
WORKLOADS_NAMED_MAX = 5
"""Workloads that a sentence lists at most; the table has all of them."""
BRIEF_MAX = 2
"""Workloads up to which a sentence reports percentiles of each."""


def headline(summary: Summary) -> list[str]:
    """One sentence for each arm compared with the baseline, or a description of a run with one arm."""
    members = {subject.name: subject.members for subject in summary.subjects if subject.is_group}
    arms_of: dict[str, list[str]] = {}
    for arm in summary.arms:
        effects = [e for e in summary.comparisons if e.arm == arm]
        mains = [e for e in effects if e.is_main]
        if mains:
            arms_of.setdefault("; ".join(_parts(mains, effects, members)), []).append(arm)
    sentences = [" ".join([f"With {_arms(arms)}, {words}.", *_why(summary, arms)]) for words, arms in arms_of.items()]
    return sentences or _alone(summary)


def _why(summary: Summary, arms: Sequence[str]) -> list[str]:
    """Reasons from the explanations on record, for the workloads by which the arms are judged."""
    judged = dict.fromkeys(e.workload for e in summary.comparisons if e.is_main)
    return [why for arm in arms[:ARMS_NAMED_MAX] for why in reasons(summary, arm, list(judged))]


def _arms(arms: list[str]) -> str:
    """`a, b and c`; the first of many."""
    more = len(arms) - ARMS_NAMED_MAX
    return _list(arms) if more <= 0 else f"{', '.join(arms[:ARMS_NAMED_MAX])} and {more} more arms"


def contradictions(main: ArmEffect, mains: Effects, members: Sequence[str] = ()) -> list[ArmEffect]:
    """Main metrics of the same workload, or of members of the same group, that moved against this one."""
    against = -direction(main)
    related = [e for e in mains if e is not main and (e.workload == main.workload or e.workload in members)]
    return [effect for effect in related if against and direction(effect) == against]


def _parts(mains: Effects, effects: Effects, members: dict[str, list[str]]) -> list[str]:
    """Parts of a sentence: differences by metric and direction, mixed results, no differences, too few trials."""
    mixed: list[tuple[ArmEffect, list[ArmEffect]]] = []
    for main in mains:
        is_told = any(main is other for _, others in mixed for other in others)
        if not is_told and (others := contradictions(main, mains, members.get(main.workload, ()))):
            mixed.append((main, others))
    told = {id(effect) for main, others in mixed for effect in (main, *others)}
    plain = [main for main in mains if id(main) not in told]
    is_brief = len({main.workload for main in mains}) <= BRIEF_MAX
    beside = _beside(mains, effects, members) if is_brief else {}
    parts: list[str] = []
    for metric in dict.fromkeys(effect.metric for effect in plain):
        for verdict in ("lower", "higher"):
            if found := [e for e in plain if (e.metric, e.verdict) == (metric, verdict)]:
                has_than = not any(" with " in part for part in parts)
                parts.append(_difference(found, beside, has_than=has_than))
    if len(mixed) > BRIEF_MAX:
        parts.append(f"mixed for {_few(_mixed_brief(main, others) for main, others in mixed)}")
    else:
        parts += [_mixed(main, others) for main, others in mixed]
    for metric in dict.fromkeys(effect.metric for effect in plain):
        parts += _unclear([effect for effect in plain if effect.metric == metric], beside)
    return parts if is_brief else [*parts, *_largest(mains, effects)]


def _unclear(found: Effects, beside: dict[str, str]) -> list[str]:
    """What is the same, not significant, only a lower bound, or has too few trials, of one metric."""
    parts = []
    if same := [effect for effect in found if effect.is_same]:
        whose = _few(effect.workload + beside.get(effect.workload, "") for effect in same)
        parts.append(f"{_name(same[0])} {are(same[0].metric)} exactly the same for {whose}")
    for verdict, words in UNCLEAR.items():
        own = [effect for effect in found if (effect.verdict, effect.is_same) == (verdict, False)]
        if own:
            whose = _few(effect.workload + beside.get(effect.workload, "") for effect in own)
            few = f" ({_few_words(own[0])})" if verdict == "too few trials" else ""
            parts.append(f"{words.format(_name(own[0]))} for {whose}{few}")
    return parts


def _few_words(effect: ArmEffect) -> str:
    assert effect.trials_needed is not None, "there are too few"
    return few_words(effect.trials, effect.tests, effect.trials_needed)


def _beside(mains: Effects, effects: Effects, members: dict[str, list[str]]) -> dict[str, str]:
    """By workload ` (p50 −96.9 %, p99 × 52.0)`: what its sentence does not tell, and what changed visibly."""
    found = {}
    for name in dict.fromkeys(main.workload for main in mains):
        own = _described([effect for effect in effects if effect.workload == name], mains)
        told = [_change(effect) for effect in own] + _against(name, mains, effects, members.get(name, ()))
        if told:
            found[name] = f" ({', '.join(told)})"
    return found


def _against(group: str, mains: Effects, effects: Effects, members: Sequence[str]) -> list[str]:
    """`transactions per second of S −50.0 %`: members whose figure moved against that of their group."""
    own = {main.metric: direction(main) for main in mains if main.workload == group and direction(main)}
    against = (e for e in effects if e.workload in members and own.get(e.metric) == -visible_change(e))
    return [_change(effect, f" of {effect.workload}") for effect in against]


def _largest(mains: Effects, effects: Effects) -> list[str]:
    """`largest changes, not tested: p99 of db7 × 52.0`: of each figure, among many workloads."""
    names = {main.workload for main in mains}
    own = _described([effect for effect in effects if effect.workload in names], mains)
    largest = [
        max((effect for effect in own if effect.metric == metric), key=_distance)
        for metric in dict.fromkeys(effect.metric for effect in own)
    ]
    told = ", ".join(_change(effect, f" of {effect.workload}") for effect in largest)
    return [f"largest changes, not tested: {told}"] if told else []


def _described(effects: Effects, mains: Effects) -> list[ArmEffect]:
    """Figures that are not tested, or could not be, and are told as numbers: their change is visible."""
    tested = {(main.workload, metric) for main in mains if main.metric in PACE for metric in PACE}
    untold = [
        effect
        for effect in effects
        if effect.verdict == "too few trials"
        or (effect.verdict == "not tested" and (effect.workload, effect.metric) not in tested)
    ]
    found = [effect for effect in untold if not effect.is_same and visible_change(effect)]
    places = {metric: place for place, metric in enumerate(DESCRIBED)}
    known = [effect for effect in found if effect.is_main or effect.metric in places]
    return sorted(known, key=lambda effect: (not effect.is_main, places.get(effect.metric, 0)))


def _distance(effect: ArmEffect) -> float:
    return abs(log(effect.ratio)) if effect.ratio else abs(float(effect.difference))


def _change(effect: ArmEffect, of: str = "") -> str:
    """`p99 × 52.0`; of a main metric the change alone, whose name the sentence has."""
    name = SHORT.get(effect.metric, "" if effect.is_main and not of else _name(effect))
    return f"{name}{of} {bounded_change_text(effect)}".strip()


def _mixed(main: ArmEffect, others: Effects) -> str:
    """`mixed for shop: transactions per second fell by 51.0 %, while the median latency fell by 23.0 %`."""
    after = _list(f"{_article(effect)}{_move(effect, main.workload)}" for effect in others)
    return f"mixed for {main.workload}: {_article(main)}{_move(main, main.workload)}, while {after}"


def _name(effect: ArmEffect) -> str:
    return name_of(effect.metric, effect.noun)


def _article(effect: ArmEffect) -> str:
    return "the " if effect.metric.startswith("latency_") else ""


def _mixed_brief(main: ArmEffect, others: Effects) -> str:
    """`XS (completion time −31.5 %, p99 +12.0 %)`."""
    changes = ", ".join(
        f"{SHORT.get(e.metric, _name(e))}{_of(e, main.workload)} {bounded_change_text(e)}" for e in (main, *others)
    )
    return f"{main.workload} ({changes})"


def _of(effect: ArmEffect, workload: str) -> str:
    return "" if effect.workload == workload else f" of {effect.workload}"


def _move(effect: ArmEffect, workload: str) -> str:
    """`median latency rose by 130.0 %`."""
    percent = told_percent(effect)
    least = at_least(effect.bounds)
    verb = "rose" if effect.difference > 0 else "fell"
    if percent is None:
        unit = f" {UNITS[effect.metric]}" if effect.metric in UNITS else ""
        size = f"from {digits_text(effect.baseline_value)} to {digits_text(effect.arm_value)}{unit}"
    elif is_ratio(percent):
        size = f"to {least}{digits_text(1 + percent / 100)} times"
    else:
        size = f"by {least}{abs(percent):.1f} %"
    return f"{_name(effect)}{_of(effect, workload)} {verb} {size}"


def _difference(found: Effects, beside: dict[str, str], *, has_than: bool) -> str:
    """`XS finishes 31.8 % sooner than with fifo, S 32.3 % and M 28.7 %`."""
    first, *others = found
    has = f"has a {_name(first)} that is"
    phrases = VERBS.get(first.metric, (has, "lower", "higher", f"{has} {{{{}}}} times as high as"))
    verb, lower, higher, multiple = (phrase.format(noun=first.noun) for phrase in phrases)
    percent, least = told_percent(first), at_least(first.bounds)
    if percent is not None and is_ratio(percent):
        start = f"{first.workload} {multiple.format(least + digits_text(1 + percent / 100))} with {first.baseline}"
    else:
        size = size_words(
            percent,
            first.difference,
            lower=lower,
            higher=higher,
            unit=unit_of_difference(first.metric),
        )
        start = f"{first.workload} {verb} {least}{size}" + (f" than with {first.baseline}" if has_than else "")
    rest = [f"{effect.workload} {_size(effect)}{beside.get(effect.workload, '')}" for effect in others]
    return _few([start + beside.get(first.workload, ""), *rest])


def _size(effect: ArmEffect) -> str:
    percent, least = told_percent(effect), at_least(effect.bounds)
    if percent is None:
        return least + digits_text(abs(effect.difference))
    return least + (f"{digits_text(1 + percent / 100)} times" if is_ratio(percent) else f"{abs(percent):.1f} %")


def _alone(summary: Summary) -> list[str]:
    """A run with one arm: the figures of its workloads, of groups as totals, or only of those in the scenario's
    headline.
    """
    named = [one.workload for one in summary.headline]
    subjects: list[TableSubject] = summary.subjects
    told = [one for one in subjects if (one.name in named if named else not one.is_member)]
    sentences = []
    for arm, own in summary.arms.items():
        parts = [part for subject in told if (part := _did(subject, own))]
        if parts:
            has_times = any(_has_time(workload) for subject in told if (workload := own.workloads.get(subject.name)))
            scaled = " (completion times at full scale)" if has_times and summary.run.scale != 1 else ""
            sentences.append(f"With {arm}, {_few(parts)}{scaled}.")
    return sentences or ["No trial is valid; all trials are listed below."]


def _did(subject: TableSubject, own: ArmSummary) -> str:
    name = subject.name
    figures: Figures = own.figures.get(name, {})
    workloads: dict[str, WorkloadSummary] = own.workloads
    workload, told = workloads.get(name), own.subject(name)
    if workload and _has_time(workload):
        return f"{name} took {digits_text(mean(workload.completion_full_scale_s))} s"
    if "rate_per_s" in figures:
        noun = noun_of(one.kind for member in subject.members if (one := workloads.get(member)))
        failed = told.failed_percent.mean if told else None
        lost = f", and {digits_text(failed)} % of its requests failed" if failed else ""
        return f"{name} did {digits_text(figures['rate_per_s'].value)} {noun} per second{lost}"
    return f"{name} carried {digits_text(figures['goodput_gbps'].value)} Gbit/s" if "goodput_gbps" in figures else ""


def _has_time(workload: WorkloadSummary) -> bool:
    return bool(workload.completion_full_scale_s) and not facts_of(workload.kind).is_open_loop


def _few(parts: Iterable[str]) -> str:
    """`a, b and c`; of many workloads the first, and the number of the others."""
    listed = list(parts)
    more = len(listed) - WORKLOADS_NAMED_MAX
    return _list(listed) if more <= 1 else f"{', '.join(listed[:WORKLOADS_NAMED_MAX])} and {more} more workloads"


def _list(parts: Iterable[str]) -> str:
    """`a, b and c`."""
    listed = list(parts)
    return " and ".join([", ".join(listed[:-1]), listed[-1]]) if len(listed) > 1 else "".join(listed)
