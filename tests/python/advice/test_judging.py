"""When a candidate helps."""

from dataclasses import replace

import pytest
from msgspec import structs

from parts import part
from tailrace.advice.judging import Judged, ranked
from tailrace.results.summary.effect import ArmEffect
from tailrace.results.summary.expectation import End
from tailrace.results.summary.figure import FigureSummary


def judged(verdict: str, bounds: tuple[int, int] = (0, 0)) -> Judged:
    effect = part(
        ArmEffect, metric="latency_p99_ms", verdict=verdict, bounds=bounds, improvement_percent=40.0
    )
    return Judged("dpp", part(FigureSummary, values=[1.0]), effect, "meets", "", [])


@pytest.mark.parametrize(
    "verdict", ["no significant difference", "too few trials", "not tested", "higher"]
)
def test_what_differs_by_chance_does_not_help(verdict: str) -> None:
    assert not judged(verdict).helps


def test_what_is_significantly_better_helps() -> None:
    assert judged("lower").helps
    assert not judged("lower", bounds=(0, 2)).helps, "a figure that is a lower bound may be higher"


def improving(arm: str, percent: float, end: End = "meets") -> Judged:
    one = judged("lower")
    return replace(
        one, arm=arm, effect=structs.replace(one.effect, improvement_percent=percent), end=end
    )


@pytest.mark.parametrize(("percent", "first"), [(42.0, "one"), (44.0, "both")])
def test_two_changes_have_to_do_more_than_one(percent: float, first: str) -> None:
    found = ranked([improving("both", percent), improving("one", 40.0)], {"both"})
    assert found[0].arm == first


def test_what_meets_the_goal_is_better_than_what_improves_more() -> None:
    arms = [
        improving("more", 60.0, "misses"),
        improving("open", 55.0, "undecided"),
        improving("meets", 50.0),
    ]
    assert [one.arm for one in ranked(arms)] == ["meets", "open", "more"]
    assert ranked([improving("less", 40.0), improving("more", 60.0)])[0].arm == "more"
