"""When a candidate helps."""

from dataclasses import replace
from typing import Any

import pytest

from tailrace.advice.judging import Judged, ranked
from tailrace.results.metrics.goal import parse_goal


def judged(verdict: str, bounds: tuple[int, int] = (0, 0)) -> Judged:
    effect: dict[str, Any] = {"metric": "latency_p99_ms", "verdict": verdict, "bounds": bounds, "is_same": False}
    return Judged("dpp", {"values": [1.0]}, effect | {"improvement_percent": 40.0}, 0, [])


@pytest.mark.parametrize("verdict", ["no significant difference", "unclear size", "too few trials", "higher"])
def test_what_differs_by_chance_does_not_help(verdict: str) -> None:
    assert not judged(verdict).helps


def test_what_is_significantly_better_helps() -> None:
    assert judged("lower").helps
    assert not judged("lower", bounds=(0, 2)).helps, "a figure that is a lower bound may be higher"


def improving(arm: str, percent: float, kept: int = 0) -> Judged:
    one = judged("lower")
    return replace(one, arm=arm, effect=one.effect | {"improvement_percent": percent}, kept=kept)


@pytest.mark.parametrize(("percent", "first"), [(42.0, "one"), (44.0, "both")])
def test_two_changes_have_to_do_more_than_one(percent: float, first: str) -> None:
    found = ranked([improving("both", percent), improving("one", 40.0)], parse_goal("shop.p99", ["shop"]), {"both"})
    assert found[0].arm == first


def test_what_keeps_the_bound_in_more_trials_is_better() -> None:
    arms = [improving("more", 60.0, kept=5), improving("kept", 50.0, kept=8)]
    assert ranked(arms, parse_goal("shop.p99 < 1ms", ["shop"]))[0].arm == "kept"
    assert ranked(arms, parse_goal("shop.p99", ["shop"]))[0].arm == "more"
