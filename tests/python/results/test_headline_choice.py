"""What a headline leads with, in which order it names arms, how many figures stand in brackets, and
at which scale."""

from typing import Any

import pytest
from msgspec.structs import replace

from parts import part
from tailrace.report.sections.picture import picture
from tailrace.results.compare.headline import headline
from tailrace.results.compare.tone import visible_change
from tailrace.results.summary.effect import ArmEffect
from tailrace.results.summary.figure import TableSubject
from tailrace.results.summary.summary import ArmSummary, RunFacts, Summary
from tailrace.results.summary.sweep import (
    CurveValue,
    Knee,
    SweepAxis,
    SweepCurve,
    SweepPoint,
    SweepSummary,
)
from tailrace.results.summary.workload import LatencySummary, WorkloadSummary
from tailrace.results.sweep.headline import sweep_headline, way_of
from tailrace.statistics import Interval


def effect(
    arm: str, workload: str, metric: str, ratio: float, *, is_main: bool = True
) -> ArmEffect:
    return part(
        ArmEffect,
        arm=arm,
        baseline="base",
        workload=workload,
        metric=metric,
        noun="requests",
        is_main=is_main,
        verdict=("higher" if ratio > 1 else "lower") if is_main else "not tested",
        baseline_value=100.0,
        arm_value=100.0 * ratio,
        difference=100.0 * (ratio - 1),
        ratio=ratio,
        ratio_interval=Interval(ratio * 0.99, ratio * 1.01, 0.9, ""),
        change_percent=100 * (ratio - 1),
    )


def told(*effects: ArmEffect, waiting: tuple[str, ...] = (), **facts: Any) -> list[str]:
    own = {name: part(WorkloadSummary, latency_ms=part(LatencySummary)) for name in waiting}
    arms = {arm: part(ArmSummary, workloads=own) for arm in ("base", "dpp", "red", "ecn")}
    return headline(
        part(Summary, comparisons=list(effects), arms=arms, run=part(RunFacts, **facts))
    )


def test_whoever_waits_for_answers_leads_before_a_larger_change_of_a_stream() -> None:
    stream = effect("dpp", "backup", "goodput_gbps", 0.2)
    shop = effect("dpp", "shop", "latency_p99_ms", 0.8)
    first, rest = told(stream, shop, waiting=("shop",))
    assert first == "With dpp instead of base, the p99 of shop falls from 100 to 80.0 ms (−20.0 %)."
    assert rest.startswith("Meanwhile the goodput of backup falls")
    assert told(stream, shop)[0].startswith("With dpp instead of base, the goodput of backup"), (
        "neither waits"
    )


def test_other_arms_stand_from_the_best_to_the_worst() -> None:
    rates = [
        effect(arm, "shop", "rate_per_s", ratio)
        for arm, ratio in (("dpp", 9.0), ("red", 2.0), ("ecn", 3.0))
    ]
    assert told(*rates)[1] == "They are 300 with ecn and 200 with red."
    times = [
        effect(arm, "shop", "latency_p99_ms", ratio)
        for arm, ratio in (("dpp", 0.1), ("red", 0.9), ("ecn", 0.5))
    ]
    assert told(*times)[1] == "It is 50.0 ms with ecn and 90.0 ms with red."


def test_of_another_workload_two_more_figures_stand_in_the_brackets_and_of_the_first_three() -> (
    None
):
    metrics = ("failed_percent", "latency_p50_ms", "latency_p99_ms", "loss_percent")
    both = [
        effect("dpp", name, metric, ratio, is_main=metric == "rate_per_s")
        for name, ratio in (("shop", 0.1), ("orders", 0.5))
        for metric in ("rate_per_s", *metrics)
    ]
    first, other = told(*both)
    assert first.count("−90.0 %") == 4
    assert other.count("−50.0 %") == 3


def test_completion_times_are_told_at_full_scale() -> None:
    [sentence] = told(
        effect("dpp", "load", "completion_s", 0.5), scale=0.1, workload_scale={"load": 0.1}
    )
    assert "the completion time of load falls from 1\u202f000 to 500 s" in sentence


@pytest.mark.parametrize(("ratio", "way"), [(0.5, 1), (0.51, 0), (1.99, 0), (2.0, -1)])
def test_without_an_interval_a_change_is_visible_from_a_factor_of_two_on(
    ratio: float, way: int
) -> None:
    assert (
        visible_change(replace(effect("dpp", "shop", "latency_p99_ms", ratio), ratio_interval=None))
        == way
    )
    assert (
        visible_change(replace(effect("dpp", "shop", "rate_per_s", ratio), ratio_interval=None))
        == -way
    )


def test_the_picture_has_completion_times_at_full_scale_too() -> None:
    summary = part(
        Summary,
        subjects=[part(TableSubject, name="load", members=["load"])],
        arms={arm: part(ArmSummary, figures={"load": {}}) for arm in ("base", "dpp")},
        comparisons=[effect("dpp", "load", "completion_s", 0.5)],
        run=part(RunFacts, scale=0.1, workload_scale={"load": 0.1}),
    )
    found = picture(summary)
    assert found is not None
    assert [(row.base, row.marks[0].text) for row in found.rows] == [
        ("base 1\u202f000 s", "✓ −50.0 %")
    ]


@pytest.mark.parametrize(
    ("ratio", "difference", "way"),
    [
        ((0.5, 0.9), None, "lower"),
        ((1.1, 1.5), None, "higher"),
        ((0.9, 1.1), None, ""),
        (None, (-2.0, -1.0), "lower"),
        (None, (0.1, 0.5), "higher"),
        (None, (-0.1, 0.5), ""),
        (None, None, ""),
    ],
)
def test_the_way_of_a_figure_without_a_test_is_that_of_its_interval(
    ratio: tuple[float, float] | None, difference: tuple[float, float] | None, way: str
) -> None:
    ends = [None if one is None else Interval(*one, 0.9, "") for one in (ratio, difference)]
    untested = effect("dpp", "shop", "loss_percent", 2.0, is_main=False)
    assert way_of(replace(untested, ratio_interval=ends[0], difference_interval=ends[1])) == way


def test_a_change_between_lower_bounds_has_no_place_in_the_picture() -> None:
    known = effect("dpp", "shop", "latency_p99_ms", 0.5)
    unknown = replace(
        effect("red", "shop", "latency_p99_ms", 0.5), bounds=(1, 1), verdict="not comparable"
    )
    summary = part(
        Summary,
        subjects=[part(TableSubject, name="shop", members=["shop"])],
        arms={arm: part(ArmSummary, figures={"shop": {}}) for arm in ("base", "dpp", "red")},
        comparisons=[known, unknown],
        run=part(RunFacts, scale=1.0),
    )
    found = picture(summary)
    assert found is not None
    assert [mark.value for mark in found.rows[0].marks] == [0.5, None]


@pytest.mark.parametrize(
    ("of_base", "told_of"), [("8", "base is at users = 8"), ("", "dpp is at users = 4")]
)
def test_the_knee_is_that_of_the_baseline_if_it_has_one(of_base: str, told_of: str) -> None:
    def curve(arm: str, at: str) -> SweepCurve:
        values, knee = [part(CurveValue, mean=1.0)], part(Knee, value=at) if at else None
        return part(
            SweepCurve, workload="shop", metric="latency_p99_ms", arm=arm, values=values, knee=knee
        )

    sweep = part(
        SweepSummary,
        axes=[part(SweepAxis, name="users")],
        points=[part(SweepPoint, label="users=1")],
        arms=["dpp", "base"],
        curves=[curve("dpp", "4"), curve("base", of_base)],
    )
    subjects = [part(TableSubject, name="shop", lead="latency_p99_ms")]
    summary = part(Summary, sweep=sweep, subjects=subjects, baseline="base")
    assert sweep_headline(summary)[-1] == f"The knee of the p99 of shop with {told_of}."
