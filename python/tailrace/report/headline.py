"""The answer in the first lines of the report."""

from typing import Any

from tailrace.results.effects import NAMES
from tailrace.results.numbers import digits_text
from tailrace.statistics import mean


def headline(summary: dict[str, Any]) -> list[str]:
    """One sentence per arm that is compared with the baseline; what happened where there is nothing to compare."""
    metric = main_metric(summary)
    if metric is None:
        return _alone(summary)
    return [_sentence(summary, arm, metric) for arm in summary["arms"] if arm != summary["baseline"]]


def main_metric(summary: dict[str, Any]) -> str | None:
    """What the arms are compared by: completion where workloads end, else latency."""
    compared = {effect["metric"] for effect in summary["comparisons"]}
    return next((metric for metric in ("completion_s", "latency_p99_ms") if metric in compared), None)


def facts(summary: dict[str, Any]) -> list[dict[str, str]]:
    """Short facts about the run, each with a tone: good, bad or none."""
    run = summary["run"]
    listed = [{"text": "partial run", "tone": "bad"}] if run["is_partial"] else []
    judged = [e["passed"] for e in summary["expectations"]]
    if judged:
        passed = sum(outcome is True for outcome in judged)
        text = f"{passed} of {len(judged)} expectations hold"
        listed.append({"text": text, "tone": "good" if passed == len(judged) else "bad"})
    counts = sorted({len(arm["trials"]) for arm in summary["arms"].values()})
    trials = " to ".join(str(count) for count in dict.fromkeys([counts[0], counts[-1]])) if counts else "no"
    listed.append({"text": f"{trials} valid trials per arm", "tone": "" if counts and counts[0] else "bad"})
    if run["scale"] != 1:
        listed.append({"text": f"{_fraction(run['scale'])} of the full counts, same rates", "tone": ""})
    return listed


def _sentence(summary: dict[str, Any], arm: str, metric: str) -> str:
    effects = [e for e in summary["comparisons"] if e["arm"] == arm and e["metric"] == metric]
    baseline = summary["baseline"]
    parts: list[str] = []
    for direction in ("lower", "higher"):
        if found := [e for e in effects if e["verdict"] == direction]:
            parts.append(_difference(found, metric, direction, baseline, is_first=not parts))
    if unclear := [e["workload"] for e in effects if e["verdict"] == "no difference seen"]:
        parts.append(f"no difference seen for {_list(unclear)}")
    if few := [e["workload"] for e in effects if e["verdict"] == "too few trials"]:
        parts.append(f"too few trials to tell for {_list(few)}")
    return f"With {arm}, {'; '.join(parts)}."


def _difference(found: list[dict[str, Any]], metric: str, direction: str, baseline: str, *, is_first: bool) -> str:
    """`XS finishes 31.8 % sooner than with fifo, S 32.3 % and M 28.7 %`."""
    than = f" than with {baseline}" if is_first else ""
    if metric == "completion_s":
        verb, word = "finishes", "sooner" if direction == "lower" else "later"
    else:
        verb, word = f"has a {NAMES[metric]}", direction
    first, *others = found
    start = f"{first['workload']} {verb} {_size(first)} {word}{than}"
    rest = [f"{effect['workload']} {_size(effect)}" for effect in others]
    return _list([start, *rest])


def _size(effect: dict[str, Any]) -> str:
    percent = effect["acceleration_percent"]
    return f"{abs(effect['arm_mean'] - effect['baseline_mean']):.3g}" if percent is None else f"{abs(percent):.1f} %"


def _alone(summary: dict[str, Any]) -> list[str]:
    """A run with one arm: what its workloads took."""
    sentences = []
    for arm, arm_summary in summary["arms"].items():
        parts = []
        for name, workload in arm_summary["workloads"].items():
            if times_s := workload["completion_full_scale_s"]:
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
