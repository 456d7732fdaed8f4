"""The answer in one sentence for each arm, made from all figures of its workloads.

A sentence never reports that a workload is better, worse or unchanged where another of its figures moved significantly
in the other direction: it then reports both.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from tailrace.results.compare.effect_words import are, at_least, bounded_change_text, is_ratio, size_words
from tailrace.results.compare.reason import reasons
from tailrace.results.compare.tone import direction
from tailrace.results.format.numbers import digits_text
from tailrace.results.metrics.definitions import UNITS, name_of, noun_of
from tailrace.results.metrics.subject_rows import subject_of_arm
from tailrace.scenario.workloads.kinds import facts_of
from tailrace.statistics import mean

Summary = dict[str, Any]
Effects = Sequence[Summary]
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
    "unclear size": "a difference of unclear size in {}",
    "no significant difference": "no significant difference in {}",
    "not comparable": "only lower bounds of {}",
    "too few trials": "too few trials to detect a difference in {}",
}
OTHERS = (
    "failed_percent",
    "rate_per_s",
    "goodput_gbps",
    "completion_s",
    "latency_p50_ms",
    "latency_p99_ms",
    "loss_percent",
    "latency_mean_ms",
    "latency_p99_9_ms",
    "timeouts",
)
"""Metrics that may contradict a sentence, the most informative first: failed requests are in no rate and no latency."""
SHORT = {"latency_p50_ms": "p50", "latency_p99_ms": "p99", "loss_percent": "loss"}
"""Names in brackets."""
SAME_THING = ({"completion_s", "rate_per_s", "goodput_gbps"},)
"""Of these metrics, one is sufficient."""
IMPLIED = {"latency_mean_ms": "latency_p50_ms", "latency_p99_9_ms": "latency_p99_ms"}
"""Metrics that are omitted if another one is reported."""
OTHERS_MAX = 3
ARMS_NAMED_MAX = 4
WORKLOADS_NAMED_MAX = 5
"""Workloads that a sentence lists at most; the table has all of them."""
BRIEF_MAX = 2
"""Workloads up to which a sentence also reports percentiles."""


def headline(summary: Summary) -> list[str]:
    """One sentence for each arm compared with the baseline, or a description of a run with one arm."""
    members = {subject["name"]: subject["members"] for subject in summary["subjects"] if subject["is_group"]}
    arms_of: dict[str, list[str]] = {}
    for arm in summary["arms"]:
        effects = [e for e in summary["comparisons"] if e["arm"] == arm]
        mains = [e for e in effects if e["is_main"]]
        if mains:
            arms_of.setdefault("; ".join(_parts(mains, effects, members)), []).append(arm)
    sentences = [" ".join([f"With {_arms(arms)}, {words}.", *_why(summary, arms)]) for words, arms in arms_of.items()]
    return sentences or _alone(summary)


def _why(summary: Summary, arms: Sequence[str]) -> list[str]:
    """Reasons from the explanations on record, for the workloads by which the arms are judged."""
    judged = dict.fromkeys(e["workload"] for e in summary["comparisons"] if e["is_main"])
    return [why for arm in arms[:ARMS_NAMED_MAX] for why in reasons(summary, arm, list(judged))]


def _arms(arms: list[str]) -> str:
    """`a, b and c`; the first of many."""
    more = len(arms) - ARMS_NAMED_MAX
    return _list(arms) if more <= 0 else f"{', '.join(arms[:ARMS_NAMED_MAX])} and {more} more arms"


def contradictions(main: Summary, effects: Effects, members: Sequence[str] = ()) -> list[Summary]:
    """Figures of the same workload, or of members of the same group, that moved against what the main one says.

    Where the main one says nothing, every figure that moved.
    """
    own = direction(main)
    related = [e for e in effects if e["workload"] == main["workload"] and e["metric"] != main["metric"]]
    related += [e for e in effects if e["workload"] in members]
    moved = [e for e in related if (way := direction(e)) and way != own]
    found: list[Summary] = []
    for effect in sorted(moved, key=lambda e: OTHERS.index(e["metric"])):
        told = {(other["workload"], other["metric"]) for other in found}
        is_told = (effect["workload"], IMPLIED.get(effect["metric"])) in told or any(
            (effect["workload"], other) in told for same in SAME_THING if effect["metric"] in same for other in same
        )
        if not is_told:
            found.append(effect)
    return found[:OTHERS_MAX]


def _parts(mains: Effects, effects: Effects, members: dict[str, list[str]]) -> list[str]:
    """Parts of a sentence: differences by metric and direction, mixed results, no differences, too few trials."""
    against = {id(main): contradictions(main, effects, members.get(main["workload"], ())) for main in mains}
    parts: list[str] = []
    plain = [main for main in mains if not against[id(main)]]
    is_brief = len({main["workload"] for main in mains}) <= BRIEF_MAX
    first = {main["workload"]: main["metric"] for main in reversed(mains)}
    for metric in dict.fromkeys(effect["metric"] for effect in plain):
        for verdict in ("lower", "higher"):
            if found := [e for e in plain if (e["metric"], e["verdict"]) == (metric, verdict)]:
                has_than = not any(" with " in part for part in parts)
                own = [e for e in effects if is_brief and first.get(e["workload"]) == metric]
                parts.append(_difference(found, own, has_than=has_than))
    mixed = [main for main in mains if against[id(main)]]
    if len(mixed) > BRIEF_MAX:
        is_alone = any(e["verdict"] == "too few trials" for main in mixed for e in against[id(main)])
        words = _few(_mixed_brief(main, against[id(main)]) for main in mixed)
        parts.append(f"mixed for {words}{' (unadjusted p values)' if is_alone else ''}")
    else:
        parts += [_mixed(main, against[id(main)]) for main in mixed]
    for metric in dict.fromkeys(effect["metric"] for effect in plain):
        if found := [e for e in plain if e["metric"] == metric and e["is_same"]]:
            parts.append(
                f"{_name(found[0])} {are(metric)} exactly the same for {_few(effect['workload'] for effect in found)}"
            )
        for verdict, words in UNCLEAR.items():
            if found := [e for e in plain if (e["metric"], e["verdict"], e["is_same"]) == (metric, verdict, False)]:
                parts.append(f"{words.format(_name(found[0]))} for {_few(effect['workload'] for effect in found)}")
    return parts


def _mixed(main: Summary, others: Effects) -> str:
    """`mixed for shop: transactions per second fell by 51.0 %, while the median latency fell by 23.0 %`."""
    moves = _list(_move(effect, main["workload"]) for effect in others)
    if direction(main):
        after = _list(f"{_article(effect)}{_move(effect, main['workload'])}" for effect in others)
        return f"mixed for {main['workload']}: {_article(main)}{_move(main, main['workload'])}, while {after}"
    words = UNCLEAR.get(main["verdict"], "no significant difference in {}")
    return f"{words.format(_name(main))} for {main['workload']}, but its {moves}"


def _name(effect: Summary) -> str:
    return name_of(effect["metric"], effect["noun"])


def _article(effect: Summary) -> str:
    return "the " if effect["metric"].startswith("latency_") else ""


def _mixed_brief(main: Summary, others: Effects) -> str:
    """`XS (completion time −31.5 %, p99 +12.0 %)`."""
    changes = ", ".join(
        f"{SHORT.get(e['metric'], _name(e))}{_of(e, main['workload'])} {bounded_change_text(e)}"
        for e in ([main, *others] if direction(main) else others)
    )
    return f"{main['workload']} ({changes})"


def _of(effect: Summary, workload: str) -> str:
    return "" if effect["workload"] == workload else f" of {effect['workload']}"


def _alone_words(effect: Summary) -> str:
    return f" (p = {effect['p_value']:.2g}, unadjusted)" if effect["verdict"] == "too few trials" else ""


def _move(effect: Summary, workload: str) -> str:
    """`median latency rose by 130.0 %`, with the p value where the verdict was not reached by it."""
    percent = effect["change_percent"]
    least = at_least(effect["bounds"])
    verb = "rose" if effect["arm_mean"] > effect["baseline_mean"] else "fell"
    if percent is None:
        unit = f" {UNITS[effect['metric']]}" if effect["metric"] in UNITS else ""
        size = f"from {digits_text(effect['baseline_mean'])} to {digits_text(effect['arm_mean'])}{unit}"
    elif is_ratio(percent):
        size = f"to {least}{digits_text(1 + percent / 100)} times"
    else:
        size = f"by {least}{abs(percent):.1f} %"
    return f"{_name(effect)}{_of(effect, workload)} {verb} {size}{_alone_words(effect)}"


def _difference(found: Effects, effects: Effects, *, has_than: bool) -> str:
    """`XS finishes 31.8 % sooner than with fifo, S 32.3 % and M 28.7 %`."""
    first, *others = found
    has = f"has a {_name(first)} that is"
    phrases = VERBS.get(first["metric"], (has, "lower", "higher", f"{has} {{{{}}}} times as high as"))
    verb, lower, higher, multiple = (phrase.format(noun=first["noun"]) for phrase in phrases)
    percent, least = first["change_percent"], at_least(first["bounds"])
    if is_ratio(percent):
        start = (
            f"{first['workload']} {multiple.format(least + digits_text(1 + percent / 100))} with {first['baseline']}"
        )
    else:
        size = size_words(percent, first["arm_mean"] - first["baseline_mean"], lower=lower, higher=higher)
        start = f"{first['workload']} {verb} {least}{size}" + (f" than with {first['baseline']}" if has_than else "")
    rest = [f"{effect['workload']} {_size(effect)}{_agreeing(effect, effects)}" for effect in others]
    return _few([start + _agreeing(first, effects), *rest])


def _agreeing(main: Summary, effects: Effects) -> str:
    """` (p50 −96.9 %, p99 −6.0 %)`: what moved the same way."""
    own = {e["metric"]: e for e in effects if e["workload"] == main["workload"] and e["metric"] != main["metric"]}
    moved = [
        own[metric]
        for metric in SHORT
        if metric in own and not own[metric]["is_main"] and direction(own[metric]) == direction(main)
    ]
    words = ", ".join(
        f"{SHORT[effect['metric']]} {bounded_change_text(effect)}"
        for effect in moved
        if effect["change_percent"] is not None
    )
    return f" ({words})" if words else ""


def _size(effect: Summary) -> str:
    percent, least = effect["change_percent"], at_least(effect["bounds"])
    if percent is None:
        return least + digits_text(abs(effect["arm_mean"] - effect["baseline_mean"]))
    return least + (f"{digits_text(1 + percent / 100)} times" if is_ratio(percent) else f"{abs(percent):.1f} %")


def _alone(summary: Summary) -> list[str]:
    """A run with one arm: the figures of its workloads, of groups as totals, or only of those in the scenario's
    headline.
    """
    named = [one["workload"] for one in summary["headline"]]
    told = [one for one in summary["subjects"] if (one["name"] in named if named else not one["is_member"])]
    sentences = []
    for arm, own in summary["arms"].items():
        parts = [part for subject in told if (part := _did(subject, own))]
        if parts:
            has_times = any(
                _has_time(workload) for subject in told if (workload := own["workloads"].get(subject["name"]))
            )
            scaled = " (completion times at full scale)" if has_times and summary["run"]["scale"] != 1 else ""
            sentences.append(f"With {arm}, {_few(parts)}{scaled}.")
    return sentences or ["No trial is valid; all trials are listed below."]


def _did(subject: Summary, own: Summary) -> str:
    name, figures = subject["name"], own["figures"].get(subject["name"], {})
    workload, told = own["workloads"].get(name), subject_of_arm(own, name)
    if workload and _has_time(workload):
        return f"{name} took {digits_text(mean(workload['completion_full_scale_s']))} s"
    if "rate_per_s" in figures:
        noun = noun_of(one["kind"] for member in subject["members"] if (one := own["workloads"].get(member)))
        failed = ((told or {}).get("failed_percent") or {}).get("mean")
        lost = f", and {digits_text(failed)} % of its requests failed" if failed else ""
        return f"{name} did {digits_text(figures['rate_per_s']['mean'])} {noun} per second{lost}"
    return f"{name} carried {digits_text(figures['goodput_gbps']['mean'])} Gbit/s" if "goodput_gbps" in figures else ""


def _has_time(workload: Summary) -> bool:
    return bool(workload["completion_full_scale_s"]) and not facts_of(workload["kind"]).is_open_loop


def _few(parts: Iterable[str]) -> str:
    """`a, b and c`; of many workloads the first, and the number of the others."""
    listed = list(parts)
    more = len(listed) - WORKLOADS_NAMED_MAX
    return _list(listed) if more <= 1 else f"{', '.join(listed[:WORKLOADS_NAMED_MAX])} and {more} more workloads"


def _list(parts: Iterable[str]) -> str:
    """`a, b and c`."""
    listed = list(parts)
    return " and ".join([", ".join(listed[:-1]), listed[-1]]) if len(listed) > 1 else "".join(listed)
