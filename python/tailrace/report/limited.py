"""The part of a summary that one page shows: a sweep of arms over a thousand workloads would make a
page of 100 MB. `result.json` contains the omitted parts."""

from msgspec.structs import replace

from tailrace.report.limits import ARMS_MAX, EXPECTATIONS_MAX, PAIRS_MAX, PANELS_MAX, SWITCHES_MAX
from tailrace.report.sections.facts import Fact
from tailrace.results.summary.expectation import JudgedFigure
from tailrace.results.summary.summary import ArmSummary, Summary
from tailrace.scenario.experiment import SOLO


def limited(summary: Summary) -> Summary:
    """The first arms, of them the first workloads, and the expectations that failed before
    others."""
    arms = list(summary.arms)[:ARMS_MAX]
    workloads = summary.workloads[: max(PANELS_MAX, PAIRS_MAX // max(1, len(arms)))]
    shown = set(workloads)
    subjects = [one for one in summary.subjects if shown.issuperset(one.members)]
    names = {one.name for one in subjects}
    hashes = _hashes(summary, {*arms, *(f"{SOLO}{name}" for name in workloads)})
    return replace(
        summary,
        run=replace(summary.run, plan_hashes=hashes),
        arms={arm: _arm(summary.arms[arm], shown) for arm in arms},
        workloads=workloads,
        subjects=subjects,
        solo={name: arm for name, arm in summary.solo.items() if name in shown},
        comparisons=[e for e in summary.comparisons if e.arm in arms and e.workload in names],
        expectations=_expectations(summary.expectations),
    )


def omissions(summary: Summary, shown: Summary) -> list[Fact]:
    """The omitted parts, as facts of the run."""
    counts = {
        "arms": (len(shown.arms), len(summary.arms)),
        "workloads": (len(shown.workloads), len(summary.workloads)),
        "expectations": (len(shown.expectations), len(summary.expectations)),
    }
    return [
        Fact(f"{few} of {all_} {what} shown, all in result.json")
        for what, (few, all_) in counts.items()
        if few < all_
    ]


def _hashes(summary: Summary, names: set[str]) -> dict[str, str]:
    return {arm: text for arm, text in (summary.run.plan_hashes or {}).items() if arm in names}


def _arm(arm: ArmSummary, workloads: set[str]) -> ArmSummary:
    early = sorted(
        arm.early_drops, key=lambda entry: -sum(lost.frames for lost in entry.drops.values())
    )
    return replace(
        arm,
        workloads={name: summary for name, summary in arm.workloads.items() if name in workloads},
        groups={name: own for name, own in arm.groups.items() if workloads.issuperset(own.members)},
        early_drops=early[:SWITCHES_MAX] if len(early) > SWITCHES_MAX else arm.early_drops,
    )


def _expectations(judged: list[JudgedFigure]) -> list[JudgedFigure]:
    if len(judged) <= EXPECTATIONS_MAX:
        return judged
    failed = [one for one in judged if one.passed is False]
    return [*failed, *(one for one in judged if one.passed is not False)][:EXPECTATIONS_MAX]
