"""The answer in at most three sentences: the largest change and its cause, the other arms, and the
other workloads.

The sentences use the main metrics of workloads and groups; only these are tested. Other figures
follow in brackets. Every number and direction is one of the tables.
"""

from collections.abc import Iterable, Sequence
from math import inf

from tailrace.results.causes.verdict import causes_of, loses
from tailrace.results.compare.effect_words import are, few_words
from tailrace.results.compare.phrases import change_beside, listed, moved, unit_behind, values_of
from tailrace.results.compare.reason import reason
from tailrace.results.compare.tone import LARGE, change_size, direction, tone_of, visible_change
from tailrace.results.format.numbers import digits_text
from tailrace.results.metrics.definitions import noun_of
from tailrace.results.summary.effect import ArmEffect
from tailrace.results.summary.figure import Figures, TableSubject
from tailrace.results.summary.summary import ArmSummary, Summary
from tailrace.results.summary.workload import WorkloadSummary
from tailrace.scenario.goal import BETTER_HIGHER
from tailrace.scenario.workloads.kinds import facts_of
from tailrace.statistics import mean

Effects = Sequence[ArmEffect]
DESCRIBED = ("failed_percent", "rate_per_s", "latency_p50_ms", "latency_p99_ms", "loss_percent")
"""Figures that stand beside a sentence: failed requests are in no rate and no latency."""
BESIDE_MAX = 3
ARMS_NAMED_MAX = 4
OTHERS_NAMED_MAX = 2
"""Other workloads up to which each has a clause; of more they are counted."""
WORKLOADS_NAMED_MAX = 4
SENTENCES_MAX = 3
LISTED_VERDICTS = ("lower", "higher", "too few trials")
"""Verdicts of arms whose values are listed: all verdicts except that of no difference."""


def headline(summary: Summary) -> list[str]:
    """At most three sentences about the arms compared with the baseline, or about a run with one
    arm."""
    mains = [effect for effect in summary.comparisons if effect.is_main]
    if not mains:
        return _alone(summary)
    if all(tone_of(effect) == "same" for effect in mains):
        return [_no_difference(summary, mains)]
    first = max(mains, key=lambda effect: _rank(summary, effect))
    arms = [
        e
        for e in mains
        if (e.workload, e.metric) == (first.workload, first.metric) and e is not first
    ]
    rest = [effect for effect in mains if effect.workload != first.workload]
    found = [_first(summary, first), _other_arms(summary, first, arms), _others(summary, rest)]
    return [sentence for sentence in found if sentence]


def _no_difference(summary: Summary, mains: Effects) -> str:
    """States that no main figure differs, and names the largest other change, if it is large."""
    arms = list(dict.fromkeys(effect.arm for effect in mains))
    subjects = {effect.workload for effect in mains}
    described = _described(
        [e for e in summary.comparisons if e.workload in subjects and not e.is_main], ()
    )
    found = [e for e in described if e.metric == DESCRIBED[0] or change_size(e) >= LARGE]
    beside = max(
        found, key=lambda effect: (effect.metric == DESCRIBED[0], change_size(effect)), default=None
    )
    whose = f" with {beside.arm}" if beside and len(arms) > 1 else ""
    why = reason(summary, beside.arm, beside.workload, beside.metric) if beside else None
    but = f", but{whose} {moved(summary, beside)}{f', {why}' if why else ''}" if beside else ""
    differ = (
        "are the same" if all(effect.is_same for effect in mains) else "do not differ significantly"
    )
    return (
        f"With {_arms(arms)} instead of {mains[0].baseline}, the main figures of all workloads "
        f"{differ}{but}."
    )


def _rank(summary: Summary, effect: ArmEffect) -> tuple[float, ...]:
    """Sort key of the leading effect: decided and large changes first, then workloads whose users
    wait for responses, then the largest."""
    size = change_size(effect)
    waits = any(
        own.subject(effect.workload) and _waits(own, effect.workload)
        for own in summary.arms.values()
    )
    return (
        bool(direction(effect)) and size >= LARGE,
        not effect.is_same,
        waits,
        bool(direction(effect)),
        size,
    )


def _waits(own: ArmSummary, name: str) -> bool:
    """Whether a workload or group has latencies, and so users that wait."""
    found = own.subject(name)
    return found is not None and found.latency_ms is not None


def _first(summary: Summary, effect: ArmEffect) -> str:
    """`With dpp instead of fifo, the p99 of shop falls from 221 to 7 ms (× ..), because ..`."""
    against = [
        e for e in _own(summary, effect) if e.is_main and direction(e) * direction(effect) < 0
    ]
    text = moved(summary, effect, _beside(summary, effect, BESIDE_MAX, without=against))
    against += _members_against(summary, effect)[: 1 if not against else 0]
    for other in against[:1]:
        text += f", while {moved(summary, other)}"
    is_explained = not against and tone_of(effect) != "same"
    why = reason(summary, effect.arm, effect.workload, effect.metric) if is_explained else None
    few = (
        f"; {few_words(effect.trials, effect.tests, effect.trials_needed)}"
        if effect.trials_needed
        else ""
    )
    return (
        f"With {effect.arm} instead of {effect.baseline}, {text}{f', {why}' if why else ''}{few}."
    )


def _own(summary: Summary, effect: ArmEffect) -> list[ArmEffect]:
    """Effects of the arm on other figures of the same workload."""
    of = (effect.arm, effect.workload)
    return [e for e in summary.comparisons if (e.arm, e.workload) == of and e is not effect]


def _beside(summary: Summary, effect: ArmEffect, most: int, without: Effects = ()) -> list[str]:
    return [change_beside(one) for one in _described(_own(summary, effect), without)[:most]]


def _described(own: Effects, without: Effects) -> list[ArmEffect]:
    """Figures that changed visibly and have no clause."""
    order = {metric: index for index, metric in enumerate(DESCRIBED)}
    found = [
        e
        for e in own
        if e.metric in order and e not in without and not e.is_same and visible_change(e)
    ]
    return sorted(found, key=lambda e: order[e.metric])


def _members_against(summary: Summary, effect: ArmEffect) -> list[ArmEffect]:
    """Members of a group whose figure visibly moved the other way, the largest change first."""
    members = next(
        (subject.members for subject in summary.subjects if subject.name == effect.workload), []
    )
    own = [
        e
        for e in summary.comparisons
        if (e.arm, e.metric) == (effect.arm, effect.metric) and not e.is_group
    ]
    against = [
        e for e in own if e.workload in members and direction(effect) * visible_change(e) < 0
    ]
    return sorted(against, key=change_size, reverse=True)


def _other_arms(summary: Summary, first: ArmEffect, arms: Effects) -> str:
    """`It is 7.1 ms with strict and 20 ms with ecn; with red it does not differ significantly.`"""
    listed_effects = sorted(
        (effect for effect in arms if not effect.is_same and effect.verdict in LISTED_VERDICTS),
        key=lambda effect: (
            effect.arm_value if effect.metric not in BETTER_HIGHER else -effect.arm_value
        ),
    )
    they, verb = ("They", "do") if are(first.metric) == "are" else ("It", "does")
    unit = unit_behind(first.metric)
    parts = []
    if listed_effects:
        values = (
            f"{values_of(summary, effect)[1]}{unit} with {effect.arm}" for effect in listed_effects
        )
        parts.append(
            f"{they} {are(first.metric)} {listed(values, ARMS_NAMED_MAX, 'values in the table')}"
        )
    if same := [effect.arm for effect in arms if effect.is_same]:
        parts.append(
            f"with {_arms(same)} {they.lower()} {are(first.metric)} exactly as with "
            f"{first.baseline}"
        )
    if bounds := [effect.arm for effect in arms if tone_of(effect) == "censored"]:
        parts.append(f"with {_arms(bounds)} {they.lower()} cannot be compared")
    if rest := [effect.arm for effect in arms if not effect.is_same and tone_of(effect) == "same"]:
        parts.append(f"with {_arms(rest)} {they.lower()} {verb} not differ significantly")
    return _sentence("; ".join(parts))


def _arms(arms: Sequence[str]) -> str:
    return listed(arms, ARMS_NAMED_MAX, "arms")


def _others(summary: Summary, mains: Effects) -> str:
    """Effects on the other workloads and groups: a clause for each of two, or the numbers of worse
    and better ones."""
    by_name: dict[str, list[ArmEffect]] = {}
    for effect in mains:
        by_name.setdefault(effect.workload, []).append(effect)
    has_arms = len({effect.arm for effect in mains}) > 1
    if len(by_name) <= OTHERS_NAMED_MAX:
        clauses = [_other(summary, own, has_arms=has_arms) for own in by_name.values()]
        return f"Meanwhile {', and '.join(clauses)}." if clauses else ""
    ways = {name: {direction(e) for e in own} - {0} for name, own in by_name.items()}
    both, worse, better, still = (
        {name: own for name, own in by_name.items() if ways[name] == way}
        for way in ({-1, 1}, {-1}, {1}, set[int]())
    )
    few = {name: own for name, own in still.items() if any(tone_of(e) == "few" for e in own)}
    bounds = {
        name
        for name, own in still.items()
        if name not in few and any(tone_of(e) == "censored" for e in own)
    }
    some = " with at least one arm" if has_arms else ""
    once, again = ("with one arm", "with another") if has_arms else ("in one figure", "in another")
    parts = [
        (len(both), f"better {once} and worse {again}{_most_both(both, has_arms=has_arms)}"),
        (len(worse), f"worse{some}{_most(worse, -1, has_arms=has_arms)}"),
        (len(better), f"better{some}{_most(better, 1, has_arms=has_arms)}"),
        (len(few), f"undecided{_most(few, 0, has_arms=has_arms)}"),
        (len(bounds), "known as lower bounds alone"),
        (len(still) - len(few) - len(bounds), "without a significant difference"),
    ]
    counts = [f"{count} {'is' if count == 1 else 'are'} {words}" for count, words in parts if count]
    if len(counts) == 1:
        return f"All {counts[0].replace(' ', ' others ', 1)}."
    return f"Of the {len(by_name)} others, {listed(counts, len(counts), '')}."


def _other(summary: Summary, own: Effects, *, has_arms: bool) -> str:
    effect = max(own, key=lambda e: (bool(direction(e)), not e.is_same, change_size(e)))
    return f"{f'with {effect.arm} ' if has_arms else ''}{moved(summary, effect, _beside(summary, effect, BESIDE_MAX - 1))}"  # noqa: E501


def _most(found: dict[str, list[ArmEffect]], way: int, *, has_arms: bool) -> str:
    """` (most of all db7 with tonight: transactions per second −60.0 %)`: the largest of these
    changes."""
    effects = [e for own in found.values() for e in own if direction(e) == way and not e.is_same]
    if not effects:
        return ""
    most = max(effects, key=change_size)
    return (
        f" ({'most of all ' if len(found) > 1 else ''}{most.workload}{_with(most, has_arms)}: "
        f"{change_beside(most)})"
    )


def _most_both(found: dict[str, list[ArmEffect]], *, has_arms: bool) -> str:
    """` (db with strict: transactions per second +20.2 %, with big-buffer: ... −19.3 %)`: both of
    the largest one."""
    if not found:
        return ""
    own = max(found.values(), key=lambda own: max(change_size(e) for e in own if direction(e)))
    ends = [max((e for e in own if direction(e) == way), key=change_size) for way in (1, -1)]
    changes = ",".join(f"{_with(end, has_arms)}: {change_beside(end)}" for end in ends)
    return f" ({'most of all ' if len(found) > 1 else ''}{own[0].workload}{changes})"


def _with(effect: ArmEffect, has_arms: bool) -> str:
    return f" with {effect.arm}" if has_arms else ""


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}." if text else ""


def _alone(summary: Summary) -> list[str]:
    """The figures of each arm without a comparison, and the cause for the workload with the largest
    wait."""
    named = [one.workload for one in summary.headline]
    subjects = [
        one for one in summary.subjects if (one.name in named if named else not one.is_member)
    ]
    did = {
        arm: parts for arm, own in summary.arms.items() if (parts := _parts(summary, subjects, own))
    }
    if not did:
        return ["No trial is valid; all trials are listed below."]
    most = SENTENCES_MAX - 1
    sentences = [
        f"With {arm}, {listed(parts, WORKLOADS_NAMED_MAX, 'workloads')}."
        for arm, parts in did.items()
    ]
    if len(sentences) > most:
        return [*sentences[:most], f"{len(sentences) - most} more arms are in the table."]
    return [*sentences, *_causes(summary, subjects)][:SENTENCES_MAX]


def _parts(summary: Summary, subjects: Iterable[TableSubject], own: ArmSummary) -> list[str]:
    parts = [part for subject in subjects if (part := _did(subject, own))]
    has_times = any(
        _has_time(found) for subject in subjects if (found := own.workloads.get(subject.name))
    )
    if parts and has_times and summary.run.scale != 1:
        parts[-1] += " (completion times at full scale)"
    return parts


def _did(subject: TableSubject, own: ArmSummary) -> str:
    name = subject.name
    figures: Figures = own.figures.get(name, {})
    workload, found = own.workloads.get(name), own.subject(name)
    if workload and _has_time(workload):
        return f"{name} took {digits_text(mean(workload.completion_full_scale_s))} s"
    if "rate_per_s" in figures:
        noun = noun_of(one.kind for member in subject.members if (one := own.workloads.get(member)))
        failed = found.failed_percent.mean if found else None
        lost = f", and {digits_text(failed)} % of its requests failed" if failed else ""
        return f"{name} did {digits_text(figures['rate_per_s'].value)} {noun} per second{lost}"
    return (
        f"{name} carried {digits_text(figures['goodput_gbps'].value)} Gbit/s"
        if "goodput_gbps" in figures
        else ""
    )


def _has_time(workload: WorkloadSummary) -> bool:
    return bool(workload.completion_full_scale_s) and not facts_of(workload.kind).is_open_loop


def _causes(summary: Summary, subjects: Sequence[TableSubject]) -> list[str]:
    """`shop loses most of its time in the queue of leaf>web behind backup.`, of the clearest of the
    first arm."""
    own = next(iter(summary.arms.values()))
    found = [
        (
            max((share.mean or 0.0 for share in limits.shares_percent.values()), default=-inf),
            -at,
            subject.name,
            limits,
        )
        for at, subject in enumerate(subjects)
        if (of := own.subject(subject.name)) and causes_of(of) and (limits := of.limits)
    ]
    if not found:
        return []
    *_, name, limits = max(found, key=lambda one: one[:2])
    return [f"{name} {loses(limits.limited_by)}."]
