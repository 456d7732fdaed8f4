"""When a candidate helps."""

from typing import Any

import pytest

from tailrace.advice.judging import Judged


def judged(verdict: str, bounds: tuple[int, int] = (0, 0)) -> Judged:
    effect: dict[str, Any] = {"metric": "latency_p99_ms", "verdict": verdict, "bounds": bounds, "is_same": False}
    return Judged("dpp", {"values": [1.0]}, effect | {"improvement_percent": 40.0}, 0, [])


@pytest.mark.parametrize("verdict", ["no significant difference", "unclear size", "too few trials", "higher"])
def test_what_differs_by_chance_does_not_help(verdict: str) -> None:
    assert not judged(verdict).helps


def test_what_is_significantly_better_helps() -> None:
    assert judged("lower").helps
    assert not judged("lower", bounds=(0, 2)).helps, "a figure that is a lower bound may be higher"
