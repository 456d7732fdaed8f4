"""The answer in the first lines of the report."""

from typing import Any

from tailrace.results.effect_words import size_words
from tailrace.results.kinds import count_text
from tailrace.results.metrics import NAMES, OPEN_LOOP
from tailrace.results.numbers import digits_text
from tailrace.statistics import mean

# What a workload does, and the words for less and for more of it.
VERBS = {"completion_s": ("finishes", "sooner", "later"), "goodput_gbps": ("carries", "less", "more")}

UNCLEAR = {
    "no difference seen": "no difference in {} seen",
    "too few trials": "too few trials to tell a difference in {}",
}


def headline(summary: dict[str, Any]) -> list[str]:
    """One sentence per arm that is compared with the baseline; what happened where there is nothing to compare."""
    sentences = []
    for arm in summary["arms"]:
        effects = [e for e in summary["comparisons"] if e["is_main"] and e["arm"] == arm]
        if effects:
            sentences.append(f"With {arm}, {'; '.join(_parts(effects))}.")
    return sentences or _alone(summary)


def facts(summary: dict[str, Any]) -> list[dict[str, str]]:
    """Short facts about the run, each with a tone: good, bad or none."""
    run = summary["run"]
    listed = [{"text": "partial run", "tone": "bad"}] if run["is_partial"] else []
    if any(arm["deadlocks"] for arm in summary["arms"].values()):
        listed.append({"text": "deadlock", "tone": "bad"})
    judged = [e["passed"] for e in summary["expectations"]]
    if judged:
        is_good = all(outcome is True for outcome in judged)
        listed.append({"text": count_text(summary["expectations"]), "tone": "good" if is_good else "bad"})
    counts = sorted({len(arm["trials"]) for arm in summary["arms"].values()})
    trials = " to ".join(str(count) for count in dict.fromkeys([counts[0], counts[-1]])) if counts else "no"
    listed.append({"text": f"{trials} valid trials per arm", "tone": "" if counts and counts[0] else "bad"})
    if run["live_scale"] != 1:
        listed.append({"text": f"rates, queues and users divided by {run['live_scale']}", "tone": ""})
    if run["scale"] != 1:
        listed.append({"text": f"{_fraction(run['scale'])} of the full counts, same rates", "tone": ""})
    return listed


def _parts(effects: list[dict[str, Any]]) -> list[str]:
    """Differences by metric and direction, then what shows none, then what cannot be told."""
    parts: list[str] = []
    for metric in dict.fromkeys(effect["metric"] for effect in effects):
        for direction in ("lower", "higher"):
            if found := [e for e in effects if (e["metric"], e["verdict"]) == (metric, direction)]:
                parts.append(_difference(found, metric, direction, is_first=not parts))
    for metric in dict.fromkeys(effect["metric"] for effect in effects):
        if found := [e for e in effects if e["metric"] == metric and e["is_same"]]:
            parts.append(f"{NAMES[metric]} is exactly the same for {_list(effect['workload'] for effect in found)}")
        for verdict, words in UNCLEAR.items():
            if found := [e for e in effects if (e["metric"], e["verdict"], e["is_same"]) == (metric, verdict, False)]:
                parts.append(f"{words.format(NAMES[metric])} for {_list(effect['workload'] for effect in found)}")
    return parts


def _difference(found: list[dict[str, Any]], metric: str, direction: str, *, is_first: bool) -> str:
    """`XS finishes 31.8 % sooner than with fifo, S 32.3 % and M 28.7 %`."""
    first, *others = found
    than = f" than with {first['baseline']}" if is_first else ""
    verb, lower, higher = VERBS.get(metric, (f"has a {NAMES[metric]} that is", "lower", "higher"))
    word = lower if direction == "lower" else higher
    start = f"{first['workload']} {verb} {_size(first)} {word}{than}"
    rest = [f"{effect['workload']} {_size(effect)}" for effect in others]
    return _list([start, *rest])


def _size(effect: dict[str, Any]) -> str:
    percent = effect["improvement_percent"]
    return f"{abs(effect['arm_mean'] - effect['baseline_mean']):.3g}" if percent is None else size_words(percent, 0)


def _alone(summary: dict[str, Any]) -> list[str]:
    """A run with one arm: what its workloads took."""
    sentences = []
    for arm, arm_summary in summary["arms"].items():
        parts = []
        for name, workload in arm_summary["workloads"].items():
            times_s = workload["completion_full_scale_s"]
            if times_s and workload["kind"] not in OPEN_LOOP:
                parts.append(f"{name} took {digits_text(mean(times_s))} s")
            elif workload["goodput_gbps"]["mean"] is not None:
                parts.append(f"{name} carried {digits_text(workload['goodput_gbps']['mean'])} Gbit/s")
        if parts:
            scaled = "" if summary["run"]["scale"] == 1 else " (completion times at full scale)"
            sentences.append(f"With {arm}, {_list(parts)}{scaled}.")
    return sentences or ["No trial came to a valid end: there is nothing to report but the trials below."]


def _list(parts: Any) -> str:
    """`a, b and c`."""
    listed = list(parts)
    return " and ".join([", ".join(listed[:-1]), listed[-1]]) if len(listed) > 1 else "".join(listed)


def _fraction(scale: float) -> str:
    """`1/20` where that is what it is."""
    return f"1/{round(1 / scale)}" if scale < 1 and abs(1 / scale - round(1 / scale)) < 1e-6 else f"{scale:g}"
