"""The part of a summary that one page shows: a sweep of arms over a thousand workloads would make a page of 100 MB.

What is left out stands in `result.json`.
"""

from typing import Any

from tailrace.report.limits import ARMS_MAX, EXPECTATIONS_MAX, PAIRS_MAX, PANELS_MAX, SWITCHES_MAX

Summary = dict[str, Any]


def limited(summary: Summary) -> Summary:
    """The first arms, of them the first workloads, and the expectations that failed before others."""
    arms = list(summary["arms"])[:ARMS_MAX]
    workloads = summary["workloads"][: max(PANELS_MAX, PAIRS_MAX // max(1, len(arms)))]
    shown = set(workloads)
    subjects = [one for one in summary["subjects"] if shown.issuperset(one["members"])]
    told = {one["name"] for one in subjects}
    return summary | {
        "run": summary["run"] | {"plan_hashes": _hashes(summary, {*arms, *(f"solo:{name}" for name in workloads)})},
        "arms": {arm: _arm(summary["arms"][arm], shown) for arm in arms},
        "workloads": workloads,
        "subjects": subjects,
        "solo": {name: arm for name, arm in summary["solo"].items() if name in shown},
        "comparisons": [e for e in summary["comparisons"] if e["arm"] in arms and e["workload"] in told],
        "expectations": _expectations(summary["expectations"]),
    }


def omissions(summary: Summary, shown: Summary) -> list[dict[str, str]]:
    """What is left out, as facts of the run."""
    return [
        {"text": f"{len(shown[key])} of {len(summary[key])} {key} shown, all in result.json", "tone": ""}
        for key in ("arms", "workloads", "expectations")
        if len(shown[key]) < len(summary[key])
    ]


def _hashes(summary: Summary, names: set[str]) -> dict[str, str]:
    return {arm: text for arm, text in (summary["run"]["plan_hashes"] or {}).items() if arm in names}


def _arm(arm: Summary, workloads: set[str]) -> Summary:
    early = sorted(arm["early_drops"], key=lambda entry: -sum(lost["frames"] for lost in entry["drops"].values()))
    return arm | {
        "workloads": {name: summary for name, summary in arm["workloads"].items() if name in workloads},
        "groups": {name: own for name, own in arm["groups"].items() if workloads.issuperset(own["members"])},
        "early_drops": early[:SWITCHES_MAX] if len(early) > SWITCHES_MAX else arm["early_drops"],
    }


def _expectations(judged: list[Summary]) -> list[Summary]:
    if len(judged) <= EXPECTATIONS_MAX:
        return judged
    failed = [one for one in judged if one["passed"] is False]
    return [*failed, *(one for one in judged if one["passed"] is not False)][:EXPECTATIONS_MAX]
