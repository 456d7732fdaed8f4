"""The order of a screen: groups and whoever is in none first, from the worst change; members by the
group's metric."""

from parts import part
from tailrace.results.summary.effect import ArmEffect
from tailrace.results.summary.figure import TableSubject
from tailrace.results.summary.summary import ArmSummary, Summary
from tailrace.results.text.order import judged_effects, worst_first
from tailrace.statistics import Interval


def effect(
    workload: str,
    ratio: float,
    verdict: str,
    *,
    metric: str = "latency_p99_ms",
    is_main: bool = True,
) -> ArmEffect:
    ends = Interval(ratio * 0.9, ratio * 1.1, 0.9, "")
    return part(
        ArmEffect,
        metric=metric,
        workload=workload,
        arm="b",
        baseline="a",
        ratio=ratio,
        ratio_interval=ends,
        difference=ratio - 1,
        verdict=verdict,
        is_main=is_main,
        is_same=False,
        bounds=(0, 0),
    )


def subject(name: str, *members: str, is_member: bool = False) -> TableSubject:
    own = list(members) or [name]
    return part(
        TableSubject,
        name=name,
        members=own,
        is_group=bool(members),
        is_member=is_member,
        lead="rate_per_s",
    )


def test_the_worst_comes_first_and_members_last() -> None:
    subjects = [
        subject("g", "a", "b"),
        subject("a", is_member=True),
        subject("b", is_member=True),
        subject("c"),
        subject("d"),
    ]
    summary = part(
        Summary,
        subjects=subjects,
        arms={"b": part(ArmSummary, figures={one.name: {} for one in subjects})},
        comparisons=[
            effect("g", 1.5, "higher"),
            effect("a", 1.2, "not tested", is_main=False),
            effect("b", 30.0, "not tested", is_main=False),
            effect("b", 90.0, "not tested", metric="rate_per_s", is_main=False),
            effect("c", 8.0, "higher"),
            effect("d", 0.01, "lower"),
        ],
    )
    assert [one.name for one in worst_first(summary)] == ["c", "g", "d", "b", "a"]
    assert [one.metric for one in judged_effects(summary)["b"]] == ["latency_p99_ms"], (
        "as its group"
    )


def test_whoever_has_no_figure_is_not_told() -> None:
    subjects = [subject("c"), subject("d")]
    summary = part(
        Summary, subjects=subjects, arms={"b": part(ArmSummary, figures={"d": {}})}, comparisons=[]
    )
    assert [one.name for one in worst_first(summary)] == ["d"]
