"""Goals: what they say, and what is wrong with others."""

import pytest

from tailrace.errors import RunRefusedError
from tailrace.results.metrics.goal import Goal, parse_goal

SUBJECTS = ["shop", "backup"]


@pytest.mark.parametrize(
    ("text", "goal"),
    [
        ("shop.p99 < 5ms", Goal("shop", "latency_p99_ms", 5.0)),
        ("shop.p99<=500us", Goal("shop", "latency_p99_ms", 0.5)),
        ("shop.latency_p99_9_ms < 5", Goal("shop", "latency_p99_9_ms", 5.0)),
        ("shop.p99.9", Goal("shop", "latency_p99_9_ms")),
        ("backup.goodput > 4Gbit/s", Goal("backup", "goodput_gbps", 4.0)),
        ("backup.completion < 2min", Goal("backup", "completion_s", 120.0)),
        ("shop.loss < 0.1 %", Goal("shop", "loss_percent", 0.1)),
        ("shop.rate > 1000", Goal("shop", "rate_per_s", 1000.0)),
        ("shop.loss <= 0", Goal("shop", "loss_percent", 0.0)),
    ],
)
def test_a_goal_is_a_workload_a_metric_and_a_bound(text: str, goal: Goal) -> None:
    assert parse_goal(text, SUBJECTS) == goal


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("shop", "this is no goal"),
        ("shop.p99 = 5ms", "this is no goal"),
        ("chop.p99 < 5ms", "there is no workload 'chop' (hint: did you mean 'shop'?"),
        ("shop.p98 < 5ms", "there is no metric 'p98'"),
        ("shop.p99 > 5ms", "less of it is better"),
        ("backup.goodput < 4", "more of it is better"),
        ("shop.p99 < 5 parsecs", "parsecs"),
        ("backup.goodput > 4ms", "is no value of this metric (hint: write a number of Gbit/s)"),
        ("shop.p99 < 0ms", "greater than zero"),
    ],
)
def test_what_is_wrong_with_a_goal_is_said(text: str, words: str) -> None:
    with pytest.raises(RunRefusedError, match="--goal") as refused:
        parse_goal(text, SUBJECTS)
    assert words in str(refused.value)


def test_a_bound_is_kept_on_its_own_side() -> None:
    latency, goodput = Goal("shop", "latency_p99_ms", 5.0), Goal("backup", "goodput_gbps", 4.0)
    assert [latency.is_met(value) for value in (4.9, 5.0, 5.1)] == [True, True, False]
    assert [goodput.is_met(value) for value in (3.9, 4.0, 4.1)] == [False, True, True]
    assert str(latency) == "shop.p99 < 5 ms"


def test_a_lower_bound_keeps_no_upper_bound() -> None:
    low, high, best = (
        parse_goal("shop.p99 < 5ms", SUBJECTS),
        Goal("shop", "rate_per_s", 4.0),
        Goal("shop", "latency_p99_ms"),
    )
    assert [goal.is_met(4.5, is_lower_bound=False) for goal in (low, high, best)] == [True] * 3
    assert [goal.is_met(4.5, is_lower_bound=True) for goal in (low, high, best)] == [False, True, True]
